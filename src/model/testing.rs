//! A complete request and AWS to match, for the tests of this module: one line changes one thing.

use super::{
    desired::Desired,
    observed::{Image, Images, Known, Object, Observed},
};
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
