//! What holds for any valid label map and any image.

use std::process::Command;

use proptest::{collection::btree_map, prelude::*};

use super::host::{Host, shells};

const FILE: &str = "etc/default/kubelet";

/// Kubernetes label names and values, as the inputs are checked for.
fn labels() -> impl Strategy<Value = std::collections::BTreeMap<String, String>> {
    let name = "([a-z]([a-z0-9-]{0,5}[a-z0-9])?(\\.[a-z0-9]{1,4}){0,3}/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,20}[A-Za-z0-9])?";
    let value = "([A-Za-z0-9]([A-Za-z0-9._-]{0,20}[A-Za-z0-9])?)?";
    btree_map(name, value, 1..12)
}

/// An image's file and the value that it gives the variable.
fn image() -> impl Strategy<Value = (String, String)> {
    let flags = "(--[a-z-]{1,8}(=[A-Za-z0-9/.,:=]{0,9})?( --[a-z]{1,5}(=[a-z,=]{0,6})?){0,3})?";
    let head = prop_oneof![Just(""), Just("X=1\n"), Just("# comment\n\n"), Just("KUBELET_EXTRA_ARGS=old\n")];
    let quote = prop_oneof![Just(""), Just("\""), Just("'")];
    (head, any::<bool>(), flags, quote, any::<bool>(), any::<bool>()).prop_map(
        |(head, export, flags, quote, carriage_return, newline)| {
            // A shell has to be able to read the line, so several words are quoted.
            let quote = if flags.contains(' ') && quote.is_empty() { "\"" } else { quote };
            let export = if export { "export " } else { "" };
            let end = match (carriage_return, newline) {
                (_, false) => "",
                (true, true) => "\r\n",
                (false, true) => "\n",
            };
            (format!("{head}{export}KUBELET_EXTRA_ARGS={quote}{flags}{quote}{end}"), flags)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn labels_survive_and_can_be_undone(labels in labels(), (original, value) in image()) {
        let labels: Vec<(&str, &str)> = labels.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        let mut pairs: Vec<String> = labels.iter().map(|(k, v)| format!("{k}={v}")).collect();
        pairs.sort();
        let flag = format!("--node-labels={}", pairs.join(","));
        let wanted = if value.is_empty() { flag } else { format!("{value} {flag}") };
        for shell in shells() {
            let host = Host::new(&shell);
            host.write(FILE, &original);
            host.boot(&labels, "i-1").ok();
            let first = host.text(FILE);
            prop_assert!(first.starts_with(&original));
            let read = Command::new("/bin/sh")
                .args(["-c", ". \"$0\"; printf %s \"$KUBELET_EXTRA_ARGS\""])
                .arg(host.path(FILE))
                .output()
                .unwrap();
            prop_assert_eq!(String::from_utf8(read.stdout).unwrap(), wanted.as_str());
            host.boot(&labels, "i-1").ok();
            prop_assert_eq!(host.text(FILE), first);
            host.boot(&[], "i-1").ok();
            prop_assert_eq!(host.text(FILE), original.as_str());
        }
    }
}
