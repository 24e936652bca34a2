//! Words that a shell would obey. The inputs are checked before a script is made of them; these tests go around
//! the checks, and the script still only does what it is for.

use std::collections::BTreeMap;

use machinepool::{
    contract::ids::{BucketName, Region},
    model::userdata,
};

use super::host::{Boot, Host, INSTALLED, shells};

/// Each would make the file `$pwned`, if a shell took it for anything but text.
fn attacks(pwned: &str) -> Vec<String> {
    [
        "$(: >@)",
        "`: >@`",
        "'; : >@; '",
        "\"; : >@; \"",
        "'$(: >@)'",
        "\"$(: >@)\"",
        "a\n: >@\n",
        "a\r\n: >@\r\n",
        "; : >@ #",
        "&& : >@",
        "|| : >@",
        "| : >@",
        ">@",
        "$((a[$(: >@)]))",
        "${x:-$(: >@)}",
        "\\'; : >@; \\'",
        "'\\''; : >@; '\\''",
        "a b",
        "*",
        "~",
        "-n",
        "--",
        "$IFS",
        "%s%n",
        "\\",
        "'",
        "\"",
        "!!",
        "#",
    ]
    .map(|attack| attack.replace('@', pwned))
    .into()
}

fn made_of(key: &str, labels: &[(&str, &str)]) -> String {
    let labels: BTreeMap<String, String> = labels.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    let text =
        userdata::cloud_config(&"eu-west-1".parse().unwrap(), &"demo-bucket".parse().unwrap(), key, &labels);
    text.strip_prefix("#cloud-boothook").unwrap().trim_start().to_owned()
}

#[test]
fn a_key_is_one_word_whatever_is_in_it() {
    for shell in shells() {
        let host = Host::new(&shell);
        let pwned = host.path("pwned");
        for (number, attack) in attacks(pwned.to_str().unwrap()).into_iter().enumerate() {
            host.fake("aws", "for word; do printf '%s\\0' \"$word\" >>@/words; done\nfor to; do :; done\ncat @/payload >\"$to\"");
            let script = made_of(&format!("pool/{attack}"), &[]);
            Boot::of(&host.command(&script, Some(&format!("i-{number}"))).output().unwrap()).ok();
            assert!(!pwned.exists(), "{attack:?} was obeyed");
            assert!(host.read(INSTALLED).is_some(), "{attack:?}");
            let words = std::fs::read_to_string(host.note("words")).unwrap();
            let object = format!("s3://demo-bucket/pool/{attack}");
            assert!(words.split('\0').any(|word| word == object), "{attack:?} is not in {words:?}");
            std::fs::remove_file(host.note("words")).unwrap();
        }
    }
}

#[test]
fn labels_are_text_whatever_is_in_them() {
    for shell in shells() {
        let host = Host::new(&shell);
        let pwned = host.path("pwned");
        for (number, attack) in attacks(pwned.to_str().unwrap()).into_iter().enumerate() {
            for label in [("name", attack.as_str()), (attack.as_str(), "value")] {
                let script = made_of("pool/demo-pool-0", &[label]);
                // Whether it can be registered does not matter.
                let output = host.command(&script, Some(&format!("i-{number}"))).output().unwrap();
                assert!(output.status.code().is_some_and(|code| code < 2), "{label:?}: {output:?}");
                assert!(!pwned.exists(), "{label:?} was obeyed");
                assert!(host.read(INSTALLED).is_some(), "{label:?}: the bootstrap data is not installed");
            }
        }
    }
}

#[test]
fn regions_and_buckets_cannot_be_made_of_such_words() {
    for attack in attacks("/tmp/pwned") {
        for text in [attack.clone(), format!("us-east-1{attack}"), format!("{attack}us-east-1")] {
            assert!(text.parse::<Region>().is_err(), "{text:?} is no region");
        }
        for text in [attack.clone(), format!("demo-bucket{attack}"), format!("{attack}demo-bucket")] {
            // The only one of them that S3 could take, too.
            let fine = text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
                && !text.starts_with('-')
                && !text.ends_with('-');
            assert_eq!(text.parse::<BucketName>().is_ok(), fine, "{text:?}");
        }
    }
}
