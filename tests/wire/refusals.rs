//! What is refused, and that nothing is written then.

use aws_sdk_ec2::types::{RequestLaunchTemplateData, ResourceType, Tag};
use machinepool::model::names::RollKey;
use serde_json::{Value, json};

use crate::{calls::writes, harness::Pool};

impl Pool {
    /// Plan, apply and destroy fail, say so, and write nothing.
    fn refuses_everything(&self, words: &str) {
        for args in [&["plan"][..], &["apply", "-auto-approve"], &["destroy", "-auto-approve"]] {
            self.refuses(args, words);
        }
    }

    fn refuses(&self, args: &[&str], words: &str) {
        let calls = self.calls_of(|pool| {
            let outcome = pool.run(args).exits(1).says(words);
            assert!(
                outcome.err.starts_with("Error: ") || outcome.err.contains("\nError: "),
                "{}",
                outcome.err
            );
        });
        assert!(writes(&calls).is_empty(), "{args:?}: {:?}", writes(&calls));
    }

    /// Whose the live group is: the tag edited as if by somebody else.
    async fn retag_group(&self, key: &str, value: &str) {
        let tag = aws_sdk_autoscaling::types::Tag::builder()
            .resource_id(&self.names.group)
            .resource_type("auto-scaling-group")
            .key(key)
            .value(value)
            .propagate_at_launch(false)
            .build();
        self.hand.autoscaling.create_or_update_tags().tags(tag).send().await.unwrap();
    }
}

#[tokio::test]
async fn a_group_of_another_pool() {
    let Some(pool) = Pool::applied().await else { return };
    for key in ["captf.io/cluster", "captf.io/namespace", "captf.io/kind", "captf.io/name"] {
        let before = pool.group_tags().await[key].clone();
        pool.retag_group(key, "another").await;
        pool.refuses_everything(key);
        pool.retag_group(key, &before).await;
    }
    pool.retag_group("captf.io/template", "another").await;
    pool.run(&["plan", "-detailed-exitcode"]).exits(2);
}

#[tokio::test]
async fn a_group_without_our_tags() {
    let Some(pool) = Pool::applied().await else { return };
    let group = pool.group().await;
    for tag in group.tags() {
        let tag = aws_sdk_autoscaling::types::Tag::builder()
            .resource_id(&pool.names.group)
            .resource_type("auto-scaling-group")
            .key(tag.key().unwrap())
            .build();
        pool.hand.autoscaling.delete_tags().tags(tag).send().await.unwrap();
    }
    pool.refuses_everything(&pool.names.group);
}

#[tokio::test]
async fn a_group_with_some_of_our_tags_is_ours() {
    let Some(pool) = Pool::applied().await else { return };
    let tag = aws_sdk_autoscaling::types::Tag::builder()
        .resource_id(&pool.names.group)
        .resource_type("auto-scaling-group")
        .key("captf.io/kind")
        .build();
    pool.hand.autoscaling.delete_tags().tags(tag).send().await.unwrap();
    pool.apply();
    assert_eq!(pool.group_tags().await["captf.io/kind"], "TerraformMachinePool");
    pool.is_settled();
}

#[tokio::test]
async fn a_template_of_another_pool() {
    for tags in [&[][..], &[("captf.io/namespace", "another"), ("captf.io/name", "pool-0")]] {
        let Some(pool) = Pool::new().await else { return };
        let key = RollKey { kubernetes_version: Some("v1.34.1+rke2r1".into()), machine_image_id: None };
        let data = RequestLaunchTemplateData::builder().instance_type("m6i.large".into()).build();
        let mut create = pool.hand.ec2.create_launch_template().launch_template_data(data);
        if !tags.is_empty() {
            let tags =
                tags.iter().map(|(key, value)| Tag::builder().key(*key).value(*value).build()).collect();
            let specification = aws_sdk_ec2::types::TagSpecification::builder()
                .resource_type(ResourceType::LaunchTemplate)
                .set_tags(Some(tags))
                .build();
            create = create.tag_specifications(specification);
        }
        create.launch_template_name(pool.names.template(&key)).send().await.unwrap();
        let name = pool.names.template(&key);
        for args in [&["plan"][..], &["apply", "-auto-approve"]] {
            pool.refuses(args, &name);
        }
        pool.destroy();
        assert_eq!(pool.templates().await.len(), 1, "a stranger's template stays");
    }
}

#[tokio::test]
async fn an_object_of_another_pool() {
    for tagging in ["", "captf.io/namespace=another&captf.io/name=pool-0"] {
        let Some(pool) = Pool::new().await else { return };
        let put = pool.hand.s3.put_object().bucket(&pool.surroundings.bucket).key(&pool.names.object_key);
        put.body(b"theirs".to_vec().into()).tagging(tagging).send().await.unwrap();
        pool.refuses_everything(&pool.names.object_key);
        assert_eq!(pool.object_body().await, b"theirs");
    }
}

#[tokio::test]
async fn pools_of_one_name_live_side_by_side() {
    let Some(mut pool) = Pool::applied().await else { return };
    let first = pool.inputs.clone();
    pool.inputs = serde_json::from_str(&first.to_string().replace("\"team-", "\"other-")).unwrap();
    pool.set("captf_cluster_outputs", {
        let mut exports = first["captf_cluster_outputs"].clone();
        let bucket = format!("{}-other", pool.surroundings.bucket);
        pool.hand.s3.create_bucket().bucket(&bucket).send().await.unwrap();
        exports["bootstrap_bucket"] = bucket.into();
        exports
    });
    pool.apply().says("Apply complete! Resources: 5 added, 0 changed, 0 destroyed.");
    pool.is_settled();
    pool.destroy();
    pool.inputs = first;
    pool.is_settled();
}

#[tokio::test]
async fn wrong_settings_of_the_sdk_are_told_and_not_repeated() {
    let Some(pool) = Pool::new().await else { return };
    for (variable, value) in [
        ("AWS_MAX_ATTEMPTS", "0"),
        ("AWS_MAX_ATTEMPTS", "planted"),
        ("AWS_RETRY_MODE", "planted"),
        ("AWS_ENDPOINT_URL", "planted"),
        ("AWS_ENDPOINT_URL", "http://us er:planted@host"),
    ] {
        let calls = pool.calls_of(|pool| {
            let output = pool.command(&["plan"]).env(variable, value).output().unwrap();
            let told = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{variable}={value}: {told}");
            assert!(told.starts_with("Error: ") && told.contains(variable), "{variable}={value}: {told}");
            assert_eq!(told.matches("Error: ").count(), 1, "{variable}={value}: {told}");
            assert!(!told.contains("defect") && !told.contains("planted"), "{variable}={value}: {told}");
        });
        assert!(calls.is_empty(), "{variable}={value}: {calls:?}");
    }
    for (variable, value) in
        [("AWS_MAX_ATTEMPTS", ""), ("AWS_RETRY_MODE", "adaptive"), ("AWS_RETRY_MODE", "legacy")]
    {
        let output = pool.command(&["plan"]).env(variable, value).output().unwrap();
        assert!(output.status.success(), "{variable}={value}: {output:?}");
    }
}

#[tokio::test]
async fn wrong_inputs_ask_nothing_of_aws() {
    let Some(mut pool) = Pool::new().await else { return };
    let good = pool.inputs.clone();
    let wrong: [(&str, Value); 12] = [
        ("captf_contract", json!("v1")),
        ("replicas", json!(-1)),
        ("replicas", json!(1.5)),
        ("bootstrap_data", json!("%%%")),
        ("bootstrap_data", json!("")),
        ("bootstrap_format", json!("yaml")),
        ("machinepool_name", json!("Pool_0")),
        ("node_labels", json!({"a b": "c"})),
        ("autoscaling", json!({"enabled": true, "min": 3, "max": 2})),
        ("additional_tags", json!({"aws:x": "y"})),
        ("instance_typo", json!("m6i.large")),
        ("captf_cluster_outputs", json!({"schema": "captf.io/gcp-cluster/v1"})),
    ];
    for (name, value) in wrong {
        pool.inputs = good.clone();
        pool.set(name, value);
        for args in [&["plan"][..], &["apply", "-auto-approve"]] {
            let calls = pool.calls_of(|pool| drop(pool.run(args).exits(1).says(name)));
            assert!(calls.is_empty(), "{name}: {calls:?}");
        }
    }
}

#[tokio::test]
async fn wrong_inputs_are_told_all_at_once() {
    let Some(mut pool) = Pool::new().await else { return };
    pool.set("replicas", json!(-1));
    pool.set("spot", json!("maybe"));
    pool.set("root_volume_size_gib", json!(4));
    pool.run(&["plan"]).exits(1).says("replicas").says("spot").says("root_volume_size_gib");
}

#[tokio::test]
async fn an_unknown_zone_or_image_writes_nothing() {
    let Some(mut pool) = Pool::new().await else { return };
    pool.set("failure_domains", json!(["us-east-1f"]));
    pool.refuses(&["apply", "-auto-approve"], "us-east-1f");
    pool.set("failure_domains", json!([]));
    pool.set("kubernetes_version", "v1.99.0".into());
    pool.refuses(&["apply", "-auto-approve"], "capa-ami-ubuntu-24.04-?1.99.0-*");
    pool.set("kubernetes_version", json!(null));
    pool.refuses(&["apply", "-auto-approve"], "kubernetes_version");
    // 1.31.4 is not 1.31.40, whose image is newer; and a stranger's image does not count.
    pool.set("kubernetes_version", "v1.31.4".into());
    pool.apply();
    let version = pool.version().await;
    assert_eq!(version.launch_template_data().unwrap().image_id(), Some("ami-000000000000000b1"));
}

#[tokio::test]
async fn forty_additional_tags_fit_and_one_more_is_refused() {
    let Some(mut pool) = Pool::new().await else { return };
    let tags =
        |count: u32| (0..count).map(|n| (format!("k{n}"), json!("v"))).collect::<serde_json::Map<_, _>>();
    pool.set("additional_tags", Value::Object(tags(41)));
    pool.refuses(&["apply", "-auto-approve"], "additional_tags");
    pool.set("additional_tags", Value::Object(tags(40)));
    pool.apply();
    pool.is_settled();
}

#[tokio::test]
async fn a_read_that_is_denied_names_the_permission() {
    let Some(pool) = Pool::applied().await else { return };
    for (operation, permission) in [
        ("DescribeAutoScalingGroups", "autoscaling:DescribeAutoScalingGroups"),
        ("DescribeInstanceRefreshes", "autoscaling:DescribeInstanceRefreshes"),
        ("DescribePolicies", "autoscaling:DescribePolicies"),
        ("DescribeInstances", "ec2:DescribeInstances"),
        ("DescribeLaunchTemplates", "ec2:DescribeLaunchTemplates"),
        ("DescribeLaunchTemplateVersions", "ec2:DescribeLaunchTemplateVersions"),
        ("DescribeImages", "ec2:DescribeImages"),
        ("HeadObject", "s3:GetObject"),
        ("GetObjectTagging", "s3:GetObjectTagging"),
    ] {
        pool.faults(&json!([{"operation": operation, "kind": "denied"}]));
        pool.refuses(&["apply", "-auto-approve"], permission);
    }
}

#[tokio::test]
async fn a_pinned_image_works_where_looking_is_denied() {
    let Some(mut pool) = Pool::new().await else { return };
    pool.set("machine_image", json!({"id": "ami-000000000000000a1"}));
    pool.faults(&json!([{"operation": "DescribeImages", "kind": "denied"}]));
    pool.apply();
    pool.is_settled();
}
