//! Inputs of a pool, and its surroundings in AWS.

use serde_json::{Value, json};

/// What a cluster's own role would have made.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    pub(crate) zones: Vec<(String, String)>,
    pub(crate) security_group: String,
    pub(crate) other_security_group: String,
    pub(crate) bucket: String,
}

/// The images that the double knows; see `aws_double/images.json`.
pub(crate) const NEWEST_1_34_1: &str = "ami-000000000000000a2";
pub(crate) const OLDER_1_34_1: &str = "ami-000000000000000a1";
pub(crate) const NEWEST_1_34_2: &str = "ami-000000000000000a5";

/// The join token that must never show anywhere.
pub(crate) const TOKEN: &str = "planted.0123456789abcdef";

/// A pool of three in three zones. `namespace` sets pools apart.
pub(crate) fn base(surroundings: &Surroundings, namespace: &str) -> Value {
    let zones: Vec<&String> = surroundings.zones.iter().map(|(zone, _)| zone).collect();
    json!({
        "captf_contract": "v1alpha1",
        "captf_cluster": {"name": "demo", "namespace": namespace},
        "captf_object": {"kind": "TerraformMachinePool", "name": "pool-0", "namespace": namespace},
        "captf_cluster_outputs": exports(surroundings),
        "captf_tags": {
            "captf.io/cluster": "demo",
            "captf.io/namespace": namespace,
            "captf.io/kind": "TerraformMachinePool",
            "captf.io/name": "pool-0",
            "captf.io/managed-by": "captf",
            "captf.io/template": "workers",
        },
        "machinepool_name": "pool-0",
        "replicas": 3,
        "bootstrap_data": bootstrap(1),
        "bootstrap_format": "cloud-config",
        "failure_domains": [],
        "cluster_failure_domains": zones,
        "kubernetes_version": "v1.34.1+rke2r1",
        "node_labels": {"example.com/team": "a"},
        "autoscaling": {"enabled": false, "min": 0, "max": 0},
    })
}

/// The cluster's exports.
pub(crate) fn exports(surroundings: &Surroundings) -> Value {
    let zones: serde_json::Map<String, Value> = surroundings
        .zones
        .iter()
        .map(|(zone, subnet)| (zone.clone(), json!({"subnet_id": subnet})))
        .collect();
    json!({
        "schema": "captf.io/aws-cluster/v1",
        "region": "us-east-1",
        "vpc_id": "vpc-0a1b2c3d4e5f60718",
        "kubernetes_cluster_id": "demo",
        "failure_domains": zones,
        "security_group_ids": {"control_plane": [], "worker": [surroundings.security_group]},
        "instance_profiles": {"control_plane": "control-plane", "worker": "workers"},
        "api": {"host": "demo.example.com", "port": 6443},
        "bootstrap_bucket": surroundings.bucket,
    })
}

/// The payload of the `n`th rotation, as the controller sends it.
pub(crate) fn bootstrap(n: u32) -> String {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    STANDARD.encode(payload(n))
}

/// The same, decoded.
pub(crate) fn payload(n: u32) -> String {
    format!("#cloud-config\nruncmd:\n- [join, {TOKEN}, '{n}']\n")
}
