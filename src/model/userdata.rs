//! The user data of a launch template: a stub that fetches the bootstrap data from S3.
//!
//! The bootstrap data itself is never in it, so that a rotation makes no template version. What the
//! script does and why is told in `userdata/boothook.sh`. It installs cloud-config where cloud-init
//! looks once the boothooks have run; a jinja template is rendered there by cloud-init 22.4 or later.

use std::collections::BTreeMap;

use crate::contract::ids::{BucketName, Region};

/// EC2's limit on user data before base64, in bytes.
pub const LIMIT: usize = 16_384;

/// All of the script but its first lines: they hold what differs between pools.
const BODY: &str = include_str!("userdata/boothook.sh");

/// The first lines of the script, by which it is known again.
const HEAD: &str = "#cloud-boothook\n#!/bin/sh\n# Written by machinepool.";

/// The Ignition configuration up to the place of the object.
const IGNITION_HEAD: &str = r#"{"ignition":{"version":"3.0.0","config":{"replace":{"source":"#;

/// The `#cloud-boothook` script: registers the node labels on every boot, and once per instance
/// installs the bootstrap data found at `s3://<bucket>/<key>`.
///
/// `labels` are those a kubelet may set, already checked for syntax. The script is POSIX shell with
/// LF line ends; cloud-init takes the first line off and runs the rest with the second one's shell.
pub fn cloud_config(
    region: &Region,
    bucket: &BucketName,
    key: &str,
    labels: &BTreeMap<String, String>,
) -> String {
    let region = quoted(region.as_str());
    let object = quoted(&format!("s3://{bucket}/{key}"));
    let labels = quoted(&registration(labels));
    format!(
        "{HEAD} Runs on every boot, before cloud-init reads its configuration.\n\
         set -eu\n\
         region={region}\n\
         object={object}\n\
         labels={labels}\n\
         {BODY}"
    )
}

/// The Ignition configuration that replaces itself with the object `s3://<bucket>/<key>`.
pub fn ignition(bucket: &BucketName, key: &str) -> String {
    let source = serde_json::Value::from(format!("s3://{bucket}/{key}"));
    format!("{IGNITION_HEAD}{source}}}}}}}}}")
}

/// The labels that user data of this program registers; `None` if it is another's, or no longer as it was written.
pub fn registered(user_data: &str) -> Option<BTreeMap<String, String>> {
    if user_data.starts_with(IGNITION_HEAD) {
        return Some(BTreeMap::new());
    }
    let assignments = user_data.strip_prefix(HEAD)?.split_once("set -eu\n")?.1;
    let mut lines = assignments.lines().take_while(|line| line.contains("='"));
    let word = lines.find_map(|line| line.strip_prefix("labels='"))?.strip_suffix('\'')?;
    if word.contains('\'') {
        return None;
    }
    word.split(',').filter(|pair| !pair.is_empty()).map(|pair| pair.split_once('=')).try_fold(
        BTreeMap::new(),
        |mut labels, pair| {
            let (name, value) = pair?;
            labels.insert(name.to_owned(), value.to_owned());
            Some(labels)
        },
    )
}

/// Labels as the kubelet's `--node-labels` takes them: sorted `name=value`, joined by commas.
fn registration(labels: &BTreeMap<String, String>) -> String {
    let mut pairs: Vec<String> = labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
    // Not the order of the names: `a-b=` comes before `a=`.
    pairs.sort_unstable();
    pairs.join(",")
}

/// One word of POSIX shell that stands for exactly `text`.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn script(labels: &[(&str, &str)]) -> String {
        let labels = labels.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        cloud_config(&"eu-west-1".parse().unwrap(), &"some.bucket-1".parse().unwrap(), "pool/a.b", &labels)
    }

    #[test]
    fn begins_as_cloud_init_and_ec2_want_it() {
        let text = script(&[]);
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("#cloud-boothook"));
        assert_eq!(lines.next(), Some("#!/bin/sh"));
        assert!(text.is_ascii() && text.ends_with('\n'));
        assert!(!text.contains(['\r', '\0', '\t']));
    }

    #[test]
    fn leaves_most_of_the_room_to_labels() {
        assert!(script(&[]).len() < LIMIT / 2, "{} bytes without labels", script(&[]).len());
        let label = "example.com/name=0123456789";
        let with = script(&[("example.com/name", "0123456789")]).len();
        assert_eq!(with - script(&[]).len(), label.len(), "a label costs its own length");
    }

    #[test]
    fn carries_region_object_and_sorted_labels() {
        let text = script(&[("a", "1"), ("a-b", "2"), ("a.b/c", "")]);
        assert!(text.contains("\nregion='eu-west-1'\n"));
        assert!(text.contains("\nobject='s3://some.bucket-1/pool/a.b'\n"));
        assert!(text.contains("\nlabels='a-b=2,a.b/c=,a=1'\n"));
    }

    #[test]
    fn labels_are_read_back_from_our_user_data_alone() {
        let labels = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
        };
        for pairs in [&[][..], &[("a", "1")], &[("a", "1"), ("a-b", "2"), ("a.b/c", "")]] {
            assert_eq!(registered(&script(pairs)), Some(labels(pairs)));
        }
        let bucket = "demo-bucket".parse().unwrap();
        assert_eq!(registered(&ignition(&bucket, "pool/a")), Some(BTreeMap::new()), "it can register none");
        let ours = script(&[("a", "1")]);
        for foreign in [
            "",
            "#!/bin/sh\nlabels='a=1'\n",
            "#cloud-boothook\n#!/bin/sh\nset -eu\nlabels='a=1'\n",
            "{\"ignition\":{\"version\":\"3.3.0\"}}",
            &ours.replace("labels='a=1'", "labels=$(cat /labels)"),
            &ours.replace("labels='a=1'", "labels='a=1'\\''b=2'"),
            &ours.replace("labels='a=1'", "labels='a'"),
            &ours.replace("labels='a=1'\n", "\n"),
        ] {
            assert_eq!(registered(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn quotes_whatever_it_is_given() {
        for hostile in ["it's", "$(reboot)", "`reboot`", "\"", "\\", "a\nb", "''", "; reboot #"] {
            let word = quoted(hostile);
            let inner = word.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).unwrap();
            assert_eq!(inner.replace(r"'\''", "\u{1}").replace('\'', ""), hostile.replace('\'', "\u{1}"));
        }
    }

    #[test]
    fn ignition_known_answer() {
        assert_eq!(
            ignition(&"demo-bucket".parse().unwrap(), "pool/demo-pool-0"),
            r#"{"ignition":{"version":"3.0.0","config":{"replace":{"source":"s3://demo-bucket/pool/demo-pool-0"}}}}"#
        );
    }
}
