//! A complete request and AWS to match, for the tests of this module: one line changes one thing.

use super::{
    desired::Desired,
    names::Names,
    observed::{
        Activity, Group, GroupMember, GroupTag, Image, Images, Instance, Known, Launch, Object, Observed,
        Template, TemplateUse, TemplateVersion,
    },
    resources::TemplateData,
    status::{Seen, Untold},
    userdata,
};
use crate::clock::Timestamp;
use crate::contract::{
    exports::Exports,
    payload::Payload,
    request::{Autoscaling, BootstrapFormat, MachineImage, Request, Scope, Tags},
};

/// Tags from pairs.
pub(crate) fn tags(pairs: &[(&str, &str)]) -> Tags {
    pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
}

/// The demo pool, changed by `edit`.
pub(crate) fn request(edit: impl FnOnce(&mut Request)) -> Request {
    let captf_tags = tags(&[
        ("captf.io/cluster", "demo"),
        ("captf.io/namespace", "team-a"),
        ("captf.io/kind", "TerraformMachinePool"),
        ("captf.io/name", "demo-pool-0"),
        ("captf.io/managed-by", "captf"),
        ("captf.io/template", ""),
    ]);
    let zones = ["us-east-1a", "us-east-1b", "us-east-1c"];
    let mut request = Request {
        scope: Scope {
            namespace: "team-a".into(),
            name: "demo-pool-0".into(),
            identity: tags(&[
                ("captf.io/cluster", "demo"),
                ("captf.io/namespace", "team-a"),
                ("captf.io/kind", "TerraformMachinePool"),
                ("captf.io/name", "demo-pool-0"),
            ]),
            region: "us-east-1".parse().ok(),
            bucket: "demo-bootstrap".parse().ok(),
            replicas: Some(3),
            node_labels: Tags::new(),
            kubernetes_version: None,
            machine_image_id: None,
        },
        captf_tags,
        exports: Exports {
            region: "us-east-1".parse().unwrap(),
            kubernetes_cluster_id: "demo".into(),
            failure_domains: zones
                .iter()
                .enumerate()
                .map(|(i, zone)| ((*zone).to_owned(), format!("subnet-0{i}").parse().unwrap()))
                .collect(),
            worker_security_groups: vec!["sg-0a".parse().unwrap()],
            worker_instance_profile: "demo-worker".into(),
            bootstrap_bucket: "demo-bootstrap".parse().unwrap(),
        },
        replicas: 3,
        bootstrap_data: Payload::new(b"#cloud-config\n".to_vec()),
        bootstrap_format: BootstrapFormat::CloudConfig,
        failure_domains: Vec::new(),
        cluster_failure_domains: Vec::new(),
        kubernetes_version: Some("v1.34.1".into()),
        node_labels: Tags::new(),
        autoscaling: Autoscaling::Off,
        additional_security_group_ids: Vec::new(),
        additional_tags: Tags::new(),
        instance_metadata_hop_limit: 1,
        instance_type: "m6i.large".into(),
        machine_image: MachineImage {
            id: None,
            owner: "819546954734".into(),
            name_format: "capa-ami-ubuntu-24.04-?{semver}-*".into(),
            architecture: "x86_64".into(),
            root_device_name: "/dev/sda1".into(),
        },
        looked_up_image: None,
        public_ip: false,
        rollout_instance_warmup_seconds: 300,
        root_volume_kms_key_id: None,
        root_volume_size_gib: 40,
        root_volume_type: "gp3".into(),
        spot: false,
        ssh_key_name: None,
        warnings: Vec::new(),
    };
    edit(&mut request);
    request
}

/// AWS with nothing of the pool in it, but with an image.
pub(crate) fn nothing() -> Observed {
    Observed {
        group: None,
        instances: Vec::new(),
        policies: Vec::new(),
        refreshes: Vec::new(),
        templates: Vec::new(),
        versions: Vec::new(),
        object: Object::Missing,
        images: Images::Found(vec![Image {
            id: "ami-01".into(),
            state: "available".into(),
            architecture: "x86_64".into(),
            root_device_name: "/dev/sda1".into(),
            ..Image::default()
        }]),
        known: Known::default(),
    }
}

/// What the demo pool, changed by `edit`, should be in an empty AWS.
pub(crate) fn desired(edit: impl FnOnce(&mut Request)) -> Desired {
    super::desired::desired(&request(edit), &nothing().images, None, &[], &Known::default()).unwrap()
}

/// When the tests of a status look: 2026-01-01T12:00:00Z.
pub(crate) const NOW: Timestamp = Timestamp(1_767_268_800_000);

/// The launch template of [`seen`] in one of its versions; version 0 is another template.
pub(crate) fn used(version: u32) -> TemplateUse {
    let (id, name) = if version == 0 { ("lt-0old", "captf-old") } else { ("lt-0new", "captf-new") };
    TemplateUse { id: id.into(), name: name.into(), version: version.max(1).to_string() }
}

/// The demo pool as AWS shows it, with version 2 the latest and members on the versions given, in three zones
/// in turn, launched one hour after the other.
pub(crate) fn seen(versions: &[u32]) -> Seen {
    let request = request(|_| {});
    let zone = |at: usize| ["us-east-1a", "us-east-1b", "us-east-1c"][at % 3].to_owned();
    let id = |at: usize| format!("i-{at:017x}");
    let members: Vec<GroupMember> = versions
        .iter()
        .enumerate()
        .map(|(at, version)| GroupMember {
            id: id(at),
            zone: zone(at),
            lifecycle: "InService".into(),
            health: "Healthy".into(),
            protected: false,
            template: Some(used(*version)),
        })
        .collect();
    let instance = |at: usize| Instance {
        id: id(at),
        state: "running".into(),
        zone: zone(at),
        addresses: vec![format!("10.0.{}.{}", at / 250, at % 250)],
        launched: Some(Timestamp(NOW.0 - 3_600_000 * (i64::try_from(at).unwrap() + 1))),
    };
    let name = Names::of(&request.scope).group;
    let desired = u32::try_from(versions.len()).unwrap();
    Seen {
        instances: (0..versions.len()).map(instance).collect(),
        group: Some(Group {
            arn: format!("arn:aws:autoscaling:us-east-1:1:autoScalingGroup:x:autoScalingGroupName/{name}"),
            name,
            min: desired,
            max: desired,
            desired,
            launch: Launch::Template(TemplateUse { version: "$Latest".into(), ..used(2) }),
            suspended: ["AZRebalance".to_owned()].into(),
            tags: request
                .captf_tags
                .into_iter()
                .map(|(key, value)| (key, GroupTag { value, propagate: false }))
                .collect(),
            members,
            ..Group::default()
        }),
        refreshes: Vec::new(),
        templates: vec![Template {
            id: "lt-0new".into(),
            name: "captf-new".into(),
            default_version: 1,
            latest_version: 2,
            tags: tags(&[(super::records::VERSION, "v1.34.1"), (super::records::IMAGE, "")]),
            ..Template::default()
        }],
        versions: vec![TemplateVersion {
            template_id: "lt-0new".into(),
            template_name: "captf-new".into(),
            number: 2,
            data: TemplateData {
                user_data: Some(userdata::cloud_config(
                    &request.exports.region,
                    &request.exports.bootstrap_bucket,
                    "pool/demo-pool-0",
                    &tags(&[("team", "a")]),
                )),
                ..TemplateData::default()
            },
            ..TemplateVersion::default()
        }],
        activities: Some(Vec::new()),
        untold: Untold::default(),
    }
}

/// A launch that ended so, for this reason if it failed.
pub(crate) fn activity(status: &str, reason: &str) -> Activity {
    let message = (!reason.is_empty()).then(|| reason.to_owned());
    let description = match &message {
        Some(reason) => format!("Launching a new EC2 instance.  Status Reason: {reason}"),
        None => "Launching a new EC2 instance: i-00000000000000001".to_owned(),
    };
    Activity { start: NOW, status: status.into(), description, message }
}
