//! Which inputs the fields of a plan are made from.

use crate::{
    contract::known::BOOTSTRAP_DATA,
    model::{plan::Address, records},
};

/// What names a cluster's network, roles and bucket.
const EXPORTS: [&str; 2] = ["captf_cluster_outputs", "external_cluster_exports"];

/// What decides on zones.
const PLACE: [&str; 4] =
    ["failure_domains", "cluster_failure_domains", "captf_cluster_outputs", "external_cluster_exports"];

/// The inputs that the value of a field is made from. What a name has of them (`captf-<namespace>-...`, a
/// hash of the version) does not count: names are no secret in AWS.
pub fn sources(address: Address, field: &str) -> &'static [&'static str] {
    if field.starts_with("tags") {
        return tag(field);
    }
    // `volumes["/dev/sda1"].size_gib`, `interfaces[0].public_ip`, `metadata.hop_limit`
    let name = field.rsplit_once("].").map_or(field, |(_, name)| name);
    match (address, name) {
        (Address::Object, "sha256") => &[BOOTSTRAP_DATA],
        (Address::Template | Address::VersionRoll, "image_id" | "machine_image_id") => &["machine_image"],
        (Address::VersionRoll, "kubernetes_version") => &["kubernetes_version"],
        (Address::Template, "instance_type") => &["instance_type"],
        (Address::Template, "key_name") => &["ssh_key_name"],
        (Address::Template, "instance_profile") => &EXPORTS,
        (Address::Template, "user_data") => {
            &["node_labels", "captf_cluster_outputs", "external_cluster_exports"]
        }
        (Address::Template, "kms_key_id") => &["root_volume_kms_key_id"],
        (Address::Template, "size_gib") => &["root_volume_size_gib"],
        (Address::Template, "type") => &["root_volume_type"],
        (Address::Template, "public_ip") => &["public_ip"],
        (Address::Template, "security_groups") => {
            &["additional_security_group_ids", "captf_cluster_outputs", "external_cluster_exports"]
        }
        (Address::Template, "metadata.hop_limit") => &["instance_metadata_hop_limit"],
        (Address::Template, "market_type") | (Address::Group, "capacity_rebalance") => &["spot"],
        (Address::Group, "instance_refresh") => &["rollout_instance_warmup_seconds"],
        (Address::Group, "min_size" | "max_size" | "desired_capacity") => &["replicas", "autoscaling"],
        (Address::Group, "subnets") | (Address::InheritedZones, "zones") => &PLACE,
        (Address::Policy, "target_value") => &["autoscaling_target_cpu_percent"],
        _ => &[],
    }
}

/// `tags["team"]`, `tags.instance["Name"]`
fn tag(field: &str) -> &'static [&'static str] {
    let key = field.split_once("[\"").map_or("", |(_, key)| key);
    match key {
        key if key.starts_with(records::VERSION) => &["kubernetes_version"],
        key if key.starts_with(records::IMAGE) => &["machine_image"],
        key if key.starts_with(records::ZONES) => &PLACE,
        key if key.starts_with(records::BUCKET) => &EXPORTS,
        key if key.starts_with("machinepool.captf.io/") => &[],
        key if key.starts_with("captf.io/") => &["captf_tags"],
        key if key.starts_with("kubernetes.io/cluster/") || key == "Name\"]" => &[],
        _ => &["additional_tags", "captf_tags"],
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::BTreeMap;

    use super::*;
    use crate::{
        contract::{inputs::Inputs, known::KNOWN, request::Request},
        model::{planner, testing},
    };

    /// Another value than the demo pool's for each input whose value gets into a plan.
    const OTHER: [(&str, &str); 24] = [
        ("bootstrap_data", "bmV3IHRva2Vu"),
        ("replicas", "7"),
        ("kubernetes_version", "v1.35.0"),
        ("node_labels", "{\"a\": \"b\"}"),
        ("failure_domains", "[\"us-east-1b\"]"),
        ("cluster_failure_domains", "[\"us-east-1b\"]"),
        ("autoscaling", "{\"enabled\": true, \"min\": 1, \"max\": 9}"),
        ("additional_security_group_ids", "[\"sg-0abc\"]"),
        ("additional_tags", "{\"team\": \"b\"}"),
        ("captf_tags", "{\"captf.io/cluster\": \"demo\", \"captf.io/template\": \"x\", \"y\": \"z\"}"),
        ("autoscaling_target_cpu_percent", "61"),
        ("instance_metadata_hop_limit", "2"),
        ("instance_type", "m7i.large"),
        ("machine_image", "{\"id\": \"ami-0abc\"}"),
        ("public_ip", "true"),
        ("root_volume_kms_key_id", "arn:aws:kms:us-east-1:111122223333:key/k"),
        ("root_volume_size_gib", "41"),
        ("root_volume_type", "gp2"),
        ("spot", "true"),
        ("ssh_key_name", "ops"),
        // What no field has.
        ("autoscaler", "external"),
        ("rollout_instance_warmup_seconds", "1"),
        ("bootstrap_format", "cloud-config"),
        ("captf_contract", "v1alpha1"),
    ];

    /// Address and field of all that a creation sets, with its value.
    fn fields(vars: &[(&str, &str)]) -> BTreeMap<(Address, String), Option<String>> {
        let mut inputs = Inputs::default();
        inputs.add_file("t", include_bytes!("../../testdata/demo.tfvars.json")).unwrap();
        for (name, value) in vars {
            inputs.add_var(&format!("{name}={value}")).unwrap();
        }
        let request = Request::parse(&inputs).unwrap();
        let plan = planner::plan(&request, &testing::nothing()).unwrap().1;
        let changes = plan.changes.into_iter();
        changes
            .flat_map(|change| {
                let address = change.address;
                change.fields.into_iter().map(move |field| ((address, field.field), field.then))
            })
            .collect()
    }

    #[test]
    fn every_input_whose_value_shows_in_a_field_is_one_of_its_sources() {
        let scaled = ("autoscaling", "{\"enabled\": true, \"min\": 3, \"max\": 3}");
        for (name, value) in OTHER {
            assert!(KNOWN.iter().any(|(known, _)| *known == name), "{name}");
            // A policy has a target only while there is one.
            let base: &[_] = if name == "autoscaling_target_cpu_percent" { &[scaled] } else { &[] };
            let (before, after) = (fields(base), fields(&[base, &[(name, value)]].concat()));
            let mut seen = 0;
            for (key, then) in &after {
                let (address, field) = key;
                let named =
                    matches!(field.as_str(), "name" | "launch_template") || field.contains(records::ROLL);
                // The policy as such tells only that there is one.
                let policy = *address == Address::Policy && name != "autoscaling_target_cpu_percent";
                if before.get(key) == Some(then) || named || policy {
                    continue;
                }
                seen += 1;
                assert!(sources(*address, field).contains(&name), "{name}: {address} {field} {then:?}");
            }
            let silent =
                ["autoscaler", "rollout_instance_warmup_seconds", "bootstrap_format", "captf_contract"];
            assert_eq!(seen == 0, silent.contains(&name), "{name}: {seen}");
        }
    }
}
