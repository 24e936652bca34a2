#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

fn string(text: &str) -> Json {
    Json::String(text.to_owned())
}

#[test]
fn every_kind_of_value_keeps_what_was_written() {
    let json = Json::parse(br#" { "n": 1.10, "e": -1E+999999999, "s": "a\"\u00e9\\", "l": [ null , true,false, [] ], "o": {} } "#)
        .unwrap();
    assert!(json.get("n") == Some(&Json::Number("1.10".into())));
    assert!(json.get("e") == Some(&Json::Number("-1E+999999999".into())));
    assert!(json.get("s") == Some(&string("a\"é\\")));
    let list = vec![Json::Null, Json::Bool(true), Json::Bool(false), Json::Array(vec![])];
    assert!(json.get("l") == Some(&Json::Array(list)));
    assert!(json.get("o") == Some(&Json::Object(vec![])));
}

#[test]
fn malformed_texts_are_refused_with_a_position() {
    for (text, reason, position) in [
        (&b""[..], "is empty", None),
        (b" \n", "is empty", None),
        (b"{\n \"a\": 1", "ends too early", Some((2, 7))),
        (b"{\"a\": \"b", "ends too early", Some((1, 8))),
        (b"{} {}", "trailing characters", Some((1, 4))),
        (b"{\"a\":1,}", "key must be a string", Some((1, 8))),
        (b"{'a':1}", "key must be a string", Some((1, 2))),
        (b"{\"a\":01}", "invalid number", Some((1, 7))),
        (b"{\"a\":NaN}", "expected value", Some((1, 6))),
        (b"{\"a\":\"\x01\"}", "control character", Some((1, 6))),
        (b"\xef\xbb\xbf{}", "byte order mark", None),
        (b"\xff\xfe{\x00", "not UTF-8", Some((1, 1))),
        (b"{\"a\":\n\"x\xff\"}", "not UTF-8", Some((2, 3))),
        (b"{\"a\": \"\\ud800\"}", "escape", Some((1, 7))),
    ] {
        let error = Json::parse(text).unwrap_err();
        assert!(error.reason.contains(reason), "{}: {error:?}", String::from_utf8_lossy(text));
        assert_eq!(error.position, position, "{}", String::from_utf8_lossy(text));
    }
}

#[test]
fn a_key_that_occurs_twice_is_named_with_its_path() {
    // An escape does not hide that two keys are equal.
    let error = Json::parse(b"{\"a\": [0, {\"b\": {\"k\": 1,\n \"\\u006b\": \"s3cr3t\"}}]}").unwrap_err();
    let key = |name: &str| Step::Key(name.into());
    assert_eq!(error.path, [key("a"), Step::Index(1), key("b"), key("k")]);
    assert_eq!(error.position, Some((2, 2)));
    assert!(!error.reason.contains("s3cr3t"));
    // In different objects it is no fault.
    assert!(Json::parse(br#"{"a": {"k": 1}, "b": {"k": 1}, "k": 1}"#).is_ok());
}

#[test]
fn depth_is_bounded_without_recursion() {
    let nested = |depth: usize| [b"[".repeat(depth), b"]".repeat(depth)].concat();
    assert!(Json::parse(&nested(MAX_DEPTH)).is_ok());
    assert!(Json::parse(&nested(MAX_DEPTH + 1)).unwrap_err().reason.contains("nested deeper than 64"));
    assert!(Json::parse(&nested(1000)).unwrap_err().reason.contains("nested deeper than 64"));
    assert!(Json::parse(&nested(4_000_000)).is_err());
    assert!(Json::parse(&b"[".repeat(4_000_000)).unwrap_err().reason.contains("ends too early"));
    assert!(Json::parse(&b"{\"a\":".repeat(1_000_000)).is_err());
}

#[test]
fn size_is_bounded_and_time_is_linear() {
    let start = Instant::now();
    let error = Json::parse(&vec![b' '; 50_000_000]).unwrap_err();
    assert_eq!(error.reason, "is larger than 16 MiB");
    let many: Vec<String> = (0..200_000).map(|i| format!("\"k{i}\":{i}")).collect();
    let json = Json::parse(format!("{{{}}}", many.join(",")).as_bytes()).unwrap();
    assert!(matches!(json, Json::Object(fields) if fields.len() == 200_000));
    let deep = [b"[".repeat(60), b"1,".repeat(500_000), b"1".to_vec(), b"]".repeat(60)].concat();
    assert!(Json::parse(&deep).is_ok());
    assert!(start.elapsed() < Duration::from_mins(1), "a quadratic parser would take hours");
}

#[test]
fn the_number_of_values_is_bounded_for_small_ones_take_many_times_their_length() {
    let list = |count: usize| format!("[{}1]", "1,".repeat(count - 1)).into_bytes();
    assert!(
        matches!(Json::parse(&list(MAX_VALUES - 1)), Ok(Json::Array(items)) if items.len() == MAX_VALUES - 1)
    );
    let nested = format!("{{\"a\":[{}]}}", String::from_utf8(list(MAX_VALUES)).unwrap());
    for text in
        [list(MAX_VALUES), nested.into_bytes(), format!("[{}1]", "[],".repeat(MAX_VALUES)).into_bytes()]
    {
        let error = Json::parse(&text).unwrap_err();
        assert_eq!(error.reason, "holds more than 1000000 values");
        assert!(error.position.is_some() && error.path.is_empty());
    }
}

#[test]
fn debug_shows_no_content() {
    let json = Json::parse(br#"{"s3cr3t": "s3cr3t", "n": [12345]}"#).unwrap();
    assert_eq!(format!("{json:?}"), "an object of 2");
    assert_eq!(format!("{:?}", string("s3cr3t")), "a string");
    assert_eq!(format!("{:?}", Json::Number("12345".into())), "a number");
}

/// The same tree as `serde_json`'s, which knows nothing of our numbers' text.
fn plain(json: &Json) -> serde_json::Value {
    match json {
        Json::Null => serde_json::Value::Null,
        Json::Bool(b) => (*b).into(),
        Json::Number(text) => serde_json::from_str(text).unwrap(),
        Json::String(text) => text.clone().into(),
        Json::Array(items) => items.iter().map(plain).collect(),
        Json::Object(fields) => fields.iter().map(|(k, v)| (k.clone(), plain(v))).collect(),
    }
}

pub(crate) fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        ".{0,12}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map(".{0,6}", inner, 0..6)
                .prop_map(|map| map.into_iter().collect::<serde_json::Value>()),
        ]
    })
}

proptest! {
    #[test]
    fn well_formed_json_is_read_as_serde_json_reads_it(value in any_json(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        prop_assert_eq!(plain(&Json::parse(text.as_bytes()).unwrap()), value);
    }

    #[test]
    fn any_bytes_are_accepted_or_refused_as_serde_json_does(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        // Texts that serde_json takes may still be refused here (duplicate keys); never the other way.
        if Json::parse(&bytes).is_ok() {
            prop_assert!(serde_json::from_slice::<&RawValue>(&bytes).is_ok());
        }
    }

    #[test]
    fn json_like_text_never_panics(text in r#"[\[\]{},:"\\0-9eE.+\-u \ntruefalsn]{0,40}"#) {
        let ours = Json::parse(text.as_bytes());
        if ours.is_ok() {
            prop_assert!(serde_json::from_str::<&RawValue>(&text).is_ok());
        }
    }
}
