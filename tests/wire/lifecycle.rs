//! What an apply makes, what changes it in place, and what it leaves alone.

use std::collections::BTreeMap;

use aws_sdk_ec2::types::LaunchTemplateVersion;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use machinepool::model::names::RollKey;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::{
    calls::writes,
    harness::Pool,
    inputs::{self, NEWEST_1_34_1},
};

fn captf_tags(namespace: &str) -> BTreeMap<String, String> {
    let tags = [
        ("cluster", "demo"),
        ("namespace", namespace),
        ("kind", "TerraformMachinePool"),
        ("name", "pool-0"),
        ("managed-by", "captf"),
        ("template", "workers"),
    ];
    tags.into_iter().map(|(key, value)| (format!("captf.io/{key}"), value.to_owned())).collect()
}

fn namespace(pool: &Pool) -> String {
    pool.inputs["captf_object"]["namespace"].as_str().unwrap().to_owned()
}

fn roll_key(version: &str) -> RollKey {
    RollKey { kubernetes_version: Some(version.into()), machine_image_id: None }
}

#[tokio::test]
async fn a_new_pool_is_what_the_inputs_ask_for() {
    let Some(pool) = Pool::new().await else { return };
    pool.run(&["plan", "-detailed-exitcode"]).exits(2).says("Plan: 5 to add, 0 to change, 0 to destroy.");
    assert!(writes(&pool.calls()).is_empty());
    pool.apply().says("Apply complete! Resources: 5 added, 0 changed, 0 destroyed.");

    let template = pool.template().await;
    let name = pool.names.template(&roll_key("v1.34.1+rke2r1"));
    assert_eq!(template.launch_template_name(), Some(name.as_str()));
    let group = pool.group().await;
    let used = group.launch_template().unwrap();
    assert_eq!(used.launch_template_id(), template.launch_template_id());
    assert_eq!(used.version(), Some("$Latest"));
    assert_eq!(pool.capacity().await, [3, 3, 3]);
    assert_eq!(group.health_check_type(), Some("EC2"));
    assert_eq!(group.capacity_rebalance(), Some(false));
    let suspended: Vec<_> = group.suspended_processes().iter().map(|p| p.process_name().unwrap()).collect();
    assert_eq!(suspended, ["AZRebalance"]);
    assert_eq!(pool.subnets().await, pool.surroundings.zones.iter().map(|(_, s)| s.clone()).collect());
    let mut zones: Vec<_> = group.instances().iter().map(|m| m.availability_zone().unwrap()).collect();
    zones.sort_unstable();
    assert_eq!(zones, ["us-east-1a", "us-east-1b", "us-east-1c"]);
    assert!(pool.policies().await.is_empty());
    assert!(pool.refreshes().await.is_empty());
    pool.is_settled();
}

#[tokio::test]
async fn everything_is_tagged_as_ours() {
    let Some(pool) = Pool::applied_with(|pool| pool.set("additional_tags", json!({"cost": "42"}))).await
    else {
        return;
    };
    let captf = captf_tags(&namespace(&pool));
    assert_eq!(pool.object_tags().await, captf);
    let mut shared = captf;
    shared.insert("cost".into(), "42".into());
    shared.insert("kubernetes.io/cluster/demo".into(), "owned".into());
    let records = |tags: BTreeMap<String, String>| {
        tags.into_iter().partition::<BTreeMap<_, _>, _>(|(key, _)| key.starts_with("machinepool.captf.io/"))
    };
    let (kept, tags) = records(pool.group_tags().await);
    assert_eq!(tags, shared);
    assert_eq!(kept["machinepool.captf.io/inherited-zones"], "us-east-1a/us-east-1b/us-east-1c");
    let template = pool.template().await;
    let on_template =
        template.tags().iter().map(|t| (t.key().unwrap().to_owned(), t.value().unwrap().to_owned()));
    let (kept, tags) = records(on_template.collect());
    assert_eq!(tags, shared);
    assert_eq!(kept["machinepool.captf.io/kubernetes-version"], "v1.34.1+rke2r1");
    assert_eq!(kept["machinepool.captf.io/bootstrap-bucket"], pool.surroundings.bucket);
    for machine in pool.machines().await {
        let tags: BTreeMap<_, _> =
            machine.tags().iter().map(|t| (t.key().unwrap(), t.value().unwrap())).collect();
        assert_eq!(tags["Name"], "pool-0");
        assert!(
            shared.iter().all(|(key, value)| tags.get(key.as_str()) == Some(&value.as_str())),
            "{tags:?}"
        );
    }
}

#[tokio::test]
async fn instances_get_what_the_template_says() {
    let Some(pool) = Pool::applied().await else { return };
    let version = pool.version().await;
    let data = version.launch_template_data().unwrap();
    assert_eq!(data.image_id(), Some(NEWEST_1_34_1));
    assert_eq!(data.iam_instance_profile().unwrap().name(), Some("workers"));
    assert!(data.key_name().is_none());
    let volume = &data.block_device_mappings()[0];
    assert_eq!(volume.device_name(), Some("/dev/sda1"));
    let ebs = volume.ebs().unwrap();
    assert_eq!(
        (ebs.encrypted(), ebs.volume_size(), ebs.delete_on_termination()),
        (Some(true), Some(40), Some(true))
    );
    let interface = &data.network_interfaces()[0];
    assert_eq!(interface.groups(), std::slice::from_ref(&pool.surroundings.security_group));
    assert_eq!(interface.associate_public_ip_address(), Some(false));
    let metadata = data.metadata_options().unwrap();
    assert_eq!(metadata.http_tokens().unwrap().as_str(), "required");
    assert_eq!(metadata.http_put_response_hop_limit(), Some(1));
    let user_data = String::from_utf8(STANDARD.decode(data.user_data().unwrap()).unwrap()).unwrap();
    assert!(user_data.starts_with("#cloud-boothook\n"), "{user_data}");
    assert!(user_data.contains("example.com/team=a"), "{user_data}");
    assert!(user_data.contains(&pool.surroundings.bucket), "{user_data}");
    assert!(!user_data.contains(inputs::TOKEN));
    for machine in pool.machines().await {
        assert_eq!(machine.image_id(), Some(NEWEST_1_34_1));
        assert_eq!(machine.security_groups()[0].group_id(), Some(pool.surroundings.security_group.as_str()));
    }
}

#[tokio::test]
async fn a_rotation_rewrites_the_object_and_nothing_else() {
    let Some(mut pool) = Pool::applied().await else { return };
    let members = pool.members().await;
    for n in 2..4 {
        pool.set("bootstrap_data", inputs::bootstrap(n).into());
        let calls = pool.calls_of(|pool| {
            pool.apply().says("Apply complete! Resources: 0 added, 1 changed, 0 destroyed.");
        });
        assert_eq!(writes(&calls), ["PutObject"]);
        let body = pool.object_body().await;
        assert_eq!(body, inputs::payload(n).into_bytes());
        let head = pool.find_object().await.unwrap();
        assert_eq!(head.checksum_sha256(), Some(STANDARD.encode(Sha256::digest(&body)).as_str()));
        assert_eq!(head.content_type(), Some("application/octet-stream"));
        assert_eq!(head.server_side_encryption().unwrap().as_str(), "AES256");
        assert_eq!(pool.object_tags().await, captf_tags(&namespace(&pool)));
    }
    assert_eq!(pool.template().await.latest_version_number(), Some(1));
    assert_eq!(pool.members().await, members);
    pool.is_settled();
}

#[tokio::test]
async fn template_changes_make_one_version_and_replace_nobody() {
    let Some(mut pool) = Pool::applied().await else { return };
    let members = pool.members().await;
    let other = pool.surroundings.other_security_group.clone();
    let key = "arn:aws:kms:us-east-1:123456789012:key/0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f";
    let changes = [
        ("node_labels", json!({"example.com/team": "b", "tier": ""})),
        ("instance_type", json!("m6i.xlarge")),
        ("spot", json!(true)),
        ("root_volume_size_gib", json!(50)),
        ("root_volume_type", json!("gp2")),
        ("root_volume_kms_key_id", json!(key)),
        ("additional_security_group_ids", json!([other])),
        ("instance_metadata_hop_limit", json!(2)),
        ("public_ip", json!(true)),
        ("ssh_key_name", json!("operators")),
        ("additional_tags", json!({"cost": "42"})),
        ("machine_image", json!({"name_format": "capa-ami-ubuntu-22.04-?{semver}-*"})),
        ("machine_image", json!({"root_device_name": "/dev/sdb"})),
    ];
    for (n, (name, value)) in changes.into_iter().enumerate() {
        let before = pool.inputs[name].clone();
        pool.set(name, value);
        has_one_more_version(&pool, name, 2 + 2 * i64::try_from(n).unwrap()).await;
        // And back: what was sent before is sent again, and makes a version of its own.
        pool.set(name, before);
        has_one_more_version(&pool, name, 3 + 2 * i64::try_from(n).unwrap()).await;
        assert_eq!(pool.members().await, members, "{name}");
    }
    assert!(pool.refreshes().await.is_empty());
}

/// Applies; afterwards there is exactly one more version, and it is the default.
async fn has_one_more_version(pool: &Pool, name: &str, number: i64) {
    let calls = pool.calls_of(|pool| {
        pool.apply();
    });
    let made: Vec<&str> =
        writes(&calls).into_iter().filter(|w| *w == "CreateLaunchTemplateVersion").collect();
    assert_eq!(made.len(), 1, "{name}: {:?}", writes(&calls));
    let template = pool.template().await;
    assert_eq!(template.latest_version_number(), Some(number), "{name}");
    assert_eq!(template.default_version_number(), Some(number), "{name}");
    pool.is_settled();
}

#[tokio::test]
async fn a_newer_image_makes_a_version_and_replaces_nobody() {
    let Some(pool) = Pool::applied().await else { return };
    let members = pool.members().await;
    let image = json!({
        "like": NEWEST_1_34_1,
        "image": "ami-00000000000000ccc",
        "name": "capa-ami-ubuntu-24.04-v1.34.1-1790000000",
        "created": "2026-09-21T10:00:00",
    });
    pool.act("publish", image);
    pool.run(&["plan", "-detailed-exitcode"]).exits(2).says("ami-00000000000000ccc");
    has_one_more_version(&pool, "image", 2).await;
    let version: LaunchTemplateVersion = pool.version().await;
    assert_eq!(version.launch_template_data().unwrap().image_id(), Some("ami-00000000000000ccc"));
    assert_eq!(pool.members().await, members);
    assert!(pool.refreshes().await.is_empty());
}

#[tokio::test]
async fn versions_are_pruned_but_not_those_in_use() {
    let Some(mut pool) = Pool::applied().await else { return };
    for n in 0..24 {
        pool.set("node_labels", json!({"n": n.to_string()}));
        pool.apply();
    }
    pool.apply();
    let template = pool.template().await;
    let id = template.launch_template_id().unwrap();
    let answer =
        pool.hand.ec2.describe_launch_template_versions().launch_template_id(id).send().await.unwrap();
    let numbers: Vec<i64> =
        answer.launch_template_versions().iter().filter_map(|v| v.version_number()).collect();
    // The members run version 1; the newest twenty are kept for a look back.
    assert!(numbers.contains(&1) && numbers.contains(&25), "{numbers:?}");
    assert!((20..=22).contains(&numbers.len()), "{numbers:?}");
    pool.is_settled();
}

#[tokio::test]
async fn spot_rebalances_capacity() {
    let Some(mut pool) = Pool::applied_with(|pool| pool.set("spot", true.into())).await else { return };
    assert_eq!(pool.group().await.capacity_rebalance(), Some(true));
    let version = pool.version().await;
    let market = version.launch_template_data().unwrap().instance_market_options().unwrap();
    assert_eq!(market.market_type().unwrap().as_str(), "spot");
    pool.set("spot", false.into());
    pool.apply();
    assert_eq!(pool.group().await.capacity_rebalance(), Some(false));
    assert!(pool.version().await.launch_template_data().unwrap().instance_market_options().is_none());
    pool.is_settled();
}

#[tokio::test]
async fn answers_in_another_order_change_nothing() {
    let Some(pool) = Pool::applied_with(|pool| {
        pool.set("additional_security_group_ids", json!([pool.surroundings.other_security_group]));
        pool.set("autoscaling", json!({"enabled": true, "min": 1, "max": 5}));
    })
    .await
    else {
        return;
    };
    let usual = pool.run(&["plan", "-detailed-exitcode"]).ok();
    pool.reversed(true);
    let reversed = pool.run(&["plan", "-detailed-exitcode"]).ok();
    assert_eq!(usual.out, reversed.out);
}

#[tokio::test]
async fn absent_null_and_empty_are_the_same() {
    let Some(mut pool) = Pool::applied().await else { return };
    for name in ["ssh_key_name", "root_volume_kms_key_id"] {
        for value in [json!(null), json!("")] {
            pool.set(name, value);
            pool.is_settled();
        }
    }
    for value in [json!(null), json!({}), json!({"id": null}), json!({"id": ""})] {
        pool.set("machine_image", value);
        pool.is_settled();
    }
}

#[tokio::test]
async fn ignition_pools_live_too() {
    let Some(pool) = Pool::applied_with(|pool| {
        pool.set("bootstrap_format", "ignition".into());
        pool.set("node_labels", json!({}));
    })
    .await
    else {
        return;
    };
    let version = pool.version().await;
    let user_data = STANDARD.decode(version.launch_template_data().unwrap().user_data().unwrap()).unwrap();
    let config: serde_json::Value = serde_json::from_slice(&user_data).unwrap();
    let source = format!("s3://{}/pool/pool-0", pool.surroundings.bucket);
    assert_eq!(config["ignition"]["config"]["replace"]["source"], source);
    pool.is_settled();
}
