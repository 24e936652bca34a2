//! States that are refused.

use proptest::prelude::*;

use super::*;

fn refused(text: &[u8]) -> StateError {
    State::parse(text).expect_err(&String::from_utf8_lossy(text))
}

#[test]
fn encrypted_states_are_refused_by_name() {
    assert_eq!(refused(&read("opentofu-encrypted.json")), StateError::Encrypted);
    // Whatever else such a file may say.
    assert_eq!(refused(br#"{"version": 4, "encrypted_data": "AAAA"}"#), StateError::Encrypted);
    assert_eq!(refused(br#"{"version": 4, "encryption_version": "v1"}"#), StateError::Encrypted);
    let told = StateError::Encrypted.diagnostic();
    assert!(told.summary.contains("encrypted by OpenTofu"), "{told}");
}

#[test]
fn other_formats_are_refused_by_their_version() {
    for (version, advice) in [(5, "later release"), (400, "later release"), (3, "0.12"), (0, "0.12")] {
        let error = refused(format!("{{\"version\": {version}}}").as_bytes());
        assert_eq!(error, StateError::Version(version));
        assert!(error.diagnostic().summary.contains(&version.to_string()));
        assert!(error.diagnostic().detail.contains(advice), "{}", error.diagnostic());
    }
}

#[test]
fn foreign_json_is_no_state() {
    for text in [
        "[]",
        "4",
        "null",
        "{}",
        r#"{"kind": "Secret"}"#,
        r#"{"version": "4"}"#,
        r#"{"version": 4.5}"#,
        r#"{"version": -4}"#,
        r#"{"version": 4, "serial": -1}"#,
        r#"{"version": 4, "serial": "1"}"#,
        r#"{"version": 4, "serial": 18446744073709551615}"#,
        r#"{"version": 4, "lineage": 3}"#,
        r#"{"version": 4, "outputs": []}"#,
        r#"{"version": 4, "outputs": {"a": "b"}}"#,
        r#"{"version": 4, "outputs": {"a": {"value": 1}}}"#,
        r#"{"version": 4, "resources": {}}"#,
        r#"{"version": 4, "resources": [1]}"#,
        r#"{"version": 4, "resources": [{"mode": "managed", "type": "t", "name": "n"}]}"#,
        r#"{"version": 4, "resources": [{"mode": "managed", "type": "t", "name": "n", "instances": [1]}]}"#,
    ] {
        assert!(matches!(refused(text.as_bytes()), StateError::Foreign(_)), "{text}");
    }
}

#[test]
fn unreadable_json_is_refused_with_its_place_and_without_its_content() {
    let nested =
        [b"{\"version\": 4, \"x\": ".to_vec(), b"[".repeat(1000), b"]".repeat(1000), b"}".to_vec()].concat();
    for text in [
        b"".to_vec(),
        b"{\"version\": 4, \"lineage\": \"s3cr3t".to_vec(),
        b"{\"version\": 4, \"lineage\": \"a\", \"lineage\": \"s3cr3t\"}".to_vec(),
        b"{\"version\": 4, \"outputs\": {\"s3cr3t\": 1, \"s3cr3t\": 2}}".to_vec(),
        b"\xef\xbb\xbf{\"version\": 4}".to_vec(),
        b"{\"version\": 4, \"x\": \"\xff\"}".to_vec(),
        b"{\"version\": 4} s3cr3t".to_vec(),
        nested,
    ] {
        let error = refused(&text);
        assert!(matches!(error, StateError::Json(_)), "{error:?}");
        assert!(!format!("{error:?} {}", error.diagnostic()).contains("s3cr3t"), "{error:?}");
    }
    assert!(refused(b"{\"version\": 4,\n \"a\": [1,").diagnostic().detail.contains("line 2"));
}

#[test]
fn what_is_too_large_is_not_read() {
    assert_eq!(State::parse(&vec![b' '; MAX_BYTES + 1]).unwrap_err(), StateError::TooLarge(MAX_BYTES));
    // A state of more than an input may have is read.
    let mut large = read(MODULE);
    large.resize(17 * 1024 * 1024, b' ');
    assert_eq!(State::parse(&large).unwrap(), state(MODULE));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_damage_makes_it_panic(at in 0usize..20_000, byte: u8, cut: bool) {
        let mut text = read(MODULE);
        let at = at % text.len();
        if cut { text.truncate(at) } else { text[at] = byte }
        if let Ok(state) = State::parse(&text) {
            let again = State::parse(&state.render());
            prop_assert_eq!(again.as_ref(), Ok(&state));
            drop((facts(&state), state.addresses(), state.outputs()));
        }
    }
}
