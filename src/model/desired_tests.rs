use super::*;
use crate::model::{observed::Image, testing};

fn found() -> Images {
    Images::Found(vec![Image {
        id: "ami-01".into(),
        state: "available".into(),
        architecture: "x86_64".into(),
        root_device_name: "/dev/sda1".into(),
        ..Image::default()
    }])
}

fn of(edit: impl FnOnce(&mut Request)) -> Result<Desired, Problems> {
    desired(&testing::request(edit), &found(), None, &[], &Known::default())
}

#[test]
fn what_is_wrong_with_several_inputs_is_told_with_what_is_wrong_with_one() {
    const DEMO: &[u8] = include_bytes!("../../testdata/demo.tfvars.json");
    let told = |edit: &str| {
        let mut inputs = Inputs::default();
        inputs.add_file("demo", DEMO).unwrap();
        inputs.add_file("edit", edit.as_bytes()).unwrap();
        let problems = request(&inputs).err().map(|problems| problems.0).unwrap_or_default();
        problems.into_iter().map(|problem| problem.summary).collect::<Vec<_>>()
    };
    let tags: Vec<String> = (0..40).map(|n| format!("\"k{n}\": \"v\"")).collect();
    let captf: Vec<String> = (0..10).map(|n| format!("\"c{n}\": \"v\"")).collect();
    let tags = format!(r#""additional_tags": {{{}}}, "captf_tags": {{{}}}"#, tags.join(","), captf.join(","));
    let ignition = r#""bootstrap_format": "ignition", "node_labels": {"a": "b"}"#;
    let zone = r#""failure_domains": ["us-east-1z"]"#;
    let no_image = r#""kubernetes_version": null"#;
    for faulty in [r#""replicas": -1"#, r#""nonsense": 1"#, r#""spot": "maybe""#, r#""instance_type": 5"#] {
        for (rest, words) in [
            (ignition, "node_labels cannot be used with Ignition"),
            (zone, "Unknown failure domain us-east-1z"),
            (no_image, "No image to launch"),
            (tags.as_str(), "Invalid value for additional_tags"),
            (tags.as_str(), "Too many captf_tags for the bootstrap object"),
        ] {
            let summaries = told(&format!("{{{faulty}, {rest}}}"));
            assert!(
                summaries.len() >= 2 && summaries.iter().any(|s| s == words),
                "{faulty} {words}: {summaries:?}"
            );
        }
    }
    // Nothing is said of what depends on a value that is not known.
    let exports = r#""captf_cluster_outputs": {"schema": "captf.io/aws-cluster/v1"}"#;
    for (faulty, rest) in [
        (exports, zone),
        (r#""bootstrap_format": "yaml""#, r#""node_labels": {"a": "b"}"#),
        (r#""machine_image": {"id": 5}"#, no_image),
        (r#""captf_tags": 5"#, r#""replicas": 3"#),
    ] {
        assert_eq!(told(&format!("{{{faulty}, {rest}}}")).len(), 1, "{faulty}");
    }
}

#[test]
fn captf_tags_win_over_additional_ones() {
    let desired = of(|r| {
        r.additional_tags = testing::tags(&[("team", "x"), ("captf.io/managed-by", "me"), ("Name", "mine")]);
    })
    .unwrap();
    assert_eq!(desired.group.tags["captf.io/managed-by"], "captf");
    assert_eq!(desired.group.tags["kubernetes.io/cluster/demo"], "owned");
    assert_eq!(desired.group.tags["Name"], "mine");
    assert_eq!(desired.template.data.tags["instance"]["Name"], "demo-pool-0");
    assert_eq!(desired.template.data.tags["volume"]["Name"], "demo-pool-0");
    assert_eq!(desired.template.data.tags["network-interface"]["Name"], "mine");
    assert_eq!(desired.object.tags.len(), 6);
    assert_eq!(desired.template.tags[records::BUCKET], "demo-bootstrap");
}

#[test]
fn the_identity_is_always_among_the_tags() {
    let desired = of(|r| r.captf_tags = testing::tags(&[("captf.io/managed-by", "captf")])).unwrap();
    for tags in [&desired.object.tags, &desired.group.tags, &desired.template.tags] {
        assert!(crate::model::ownership::is_ours(&desired.identity, tags));
        assert_eq!(tags["captf.io/name"], "demo-pool-0");
    }
    let problems = of(|r| r.captf_tags = (0..7).map(|i| (format!("t{i}"), String::new())).collect());
    assert!(problems.unwrap_err().0[0].detail.contains("there are 11"));
}

#[test]
fn no_resource_gets_more_tags_than_aws_allows() {
    let desired = of(|r| {
        r.additional_tags = (0..40).map(|i| (format!("tag-{i}"), String::new())).collect();
    })
    .unwrap();
    assert_eq!(desired.template.tags.len(), 50);
    assert!(!desired.template.tags.contains_key(records::ZONES));
    // The roll mark comes on top.
    assert_eq!(desired.group.tags.len() + 1, 49);
}

#[test]
fn security_groups_keep_their_order_and_no_duplicates() {
    let desired = of(|r| {
        r.exports.worker_security_groups = vec!["sg-0b".parse().unwrap(), "sg-0a".parse().unwrap()];
        r.additional_security_group_ids = vec!["sg-0a".parse().unwrap(), "sg-0c".parse().unwrap()];
    })
    .unwrap();
    assert_eq!(desired.template.data.interfaces[&0].security_groups, ["sg-0b", "sg-0a", "sg-0c"]);
}

#[test]
fn bounds_follow_replicas_or_the_scaler() {
    let off = of(|r| r.replicas = 0).unwrap().group;
    assert_eq!((off.min, off.max, off.initial, off.scaled), (0, 0, 0, false));
    let on = |replicas| {
        of(|r| {
            r.replicas = replicas;
            r.autoscaling = Autoscaling::On { min: 2, max: 5, by: Autoscaler::External };
        })
        .unwrap()
    };
    assert_eq!([on(1).group.initial, on(3).group.initial, on(9).group.initial], [2, 3, 5]);
    assert_eq!(on(3).policy, None);
}

#[test]
fn ignition_takes_no_labels_and_no_gzip() {
    let problems = of(|r| {
        r.bootstrap_format = BootstrapFormat::Ignition;
        r.node_labels = testing::tags(&[("team", "platform")]);
        r.bootstrap_data = Payload::new(vec![0x1f, 0x8b, 8]);
        r.failure_domains = vec!["us-east-1z".into()];
        r.kubernetes_version = None;
    })
    .unwrap_err();
    assert_eq!(problems.0.len(), 4, "all at once: {problems:?}");
}

#[test]
fn user_data_that_is_too_long_is_refused_with_both_numbers() {
    let problems = of(|r| {
        r.node_labels = (0..300)
            .map(|i| {
                (format!("team.example.com/label-number-{i:03}"), format!("value-{i:03}-of-some-length"))
            })
            .collect();
    })
    .unwrap_err();
    assert!(problems.0[0].detail.contains("16384"), "{}", problems.0[0].detail);
    assert!(problems.0[0].detail.contains("300"));
}
