//! Values in the place of refused ones, so that all else that can be judged is judged at once.

use std::collections::BTreeSet;

use super::cluster;
use crate::contract::{
    inputs::{Input, Inputs},
    json::Json,
    known::KNOWN,
};

const EXPORTS: &[u8] = br#"{
    "schema": "captf.io/aws-cluster/v1", "region": "us-east-1", "kubernetes_cluster_id": "a",
    "failure_domains": {"us-east-1a": {"subnet_id": "subnet-0"}}, "security_group_ids": {"worker": ["sg-0"]},
    "instance_profiles": {"worker": "a"}, "bootstrap_bucket": "aaa"
}"#;

/// The inputs with a valid value for each of these names, and without names that nobody knows. The names come
/// with those that can no longer be judged for the stand-in of another.
pub(super) fn mended(inputs: &Inputs, faulty: &BTreeSet<&'static str>) -> (Inputs, BTreeSet<&'static str>) {
    let mut faulty = faulty.clone();
    if cluster::INPUTS.iter().any(|name| faulty.contains(name)) {
        faulty.extend(cluster::INPUTS);
    }
    let mut mended = Inputs::default();
    for (name, _) in KNOWN {
        let value = match inputs.get(name) {
            _ if faulty.contains(name) => Json::parse(stand_in(name)).unwrap_or(Json::Null),
            Some(input) => input.value.clone(),
            None => continue,
        };
        mended.set(name, Input { value, origin: String::new() });
    }
    (mended, faulty)
}

/// Valid, and as small as may be. A variable's is its default.
fn stand_in(name: &str) -> &'static [u8] {
    match name {
        "captf_contract" => br#""v1alpha1""#,
        "captf_cluster" => br#"{"name": "a", "namespace": "a"}"#,
        "captf_object" => br#"{"kind": "TerraformMachinePool", "name": "a", "namespace": "a"}"#,
        "captf_cluster_outputs" => EXPORTS,
        "captf_tags" | "node_labels" => b"{}",
        "machinepool_name" => br#""a""#,
        "replicas" => b"0",
        "bootstrap_data" => br#""YQ==""#,
        "bootstrap_format" => br#""cloud-config""#,
        "failure_domains" | "cluster_failure_domains" => b"[]",
        "autoscaling" => br#"{"enabled": false, "min": 0, "max": 0}"#,
        _ => b"null",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::contract::request::Request;

    #[test]
    fn stand_ins_alone_are_valid_inputs() {
        let all = KNOWN.map(|(name, _)| name).into();
        let (inputs, faulty) = mended(&Inputs::default(), &all);
        assert_eq!(faulty, all);
        Request::parse(&inputs).unwrap();
    }
}
