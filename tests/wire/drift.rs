//! Somebody else's hands: plan shows what they did, apply mends it, and the next plan is empty.

use aws_sdk_ec2::types::{RequestLaunchTemplateData, Tag};
use serde_json::json;

use crate::{harness::Pool, inputs};

impl Pool {
    /// Seen by a plan, mended by an apply, without replacing anybody.
    async fn is_mended(&self, what: &str) {
        let members = self.members().await;
        let plan = self.run(&["plan", "-detailed-exitcode"]);
        assert_eq!(plan.code, 2, "{what}: {}{}", plan.out, plan.err);
        self.apply();
        self.is_settled();
        assert_eq!(self.members().await, members, "{what}");
        assert!(self.refreshes().await.is_empty(), "{what}");
    }

    async fn template_id(&self) -> String {
        self.template().await.launch_template_id().unwrap().to_owned()
    }
}

#[tokio::test]
async fn a_version_added_by_hand() {
    let Some(pool) = Pool::applied().await else { return };
    let data =
        RequestLaunchTemplateData::builder().instance_type("c5.large".into()).image_id("ami-0123").build();
    let create = pool.hand.ec2.create_launch_template_version().launch_template_data(data);
    create.launch_template_id(pool.template_id().await).send().await.unwrap();
    pool.is_mended("version").await;
    let version = pool.version().await;
    assert_eq!(version.version_number(), Some(3));
    assert_eq!(version.default_version(), Some(true));
}

#[tokio::test]
async fn tags_edited_and_removed() {
    let Some(mut pool) = Pool::applied_with(|pool| pool.set("additional_tags", json!({"cost": "42"}))).await
    else {
        return;
    };
    let id = pool.template_id().await;
    let edit = pool.hand.ec2.create_tags().resources(&id).tags(Tag::builder().key("cost").value("7").build());
    edit.send().await.unwrap();
    pool.is_mended("edited on the template").await;
    let remove = pool.hand.ec2.delete_tags().resources(&id).tags(Tag::builder().key("cost").build());
    remove.send().await.unwrap();
    pool.is_mended("removed from the template").await;
    let theirs =
        pool.hand.ec2.create_tags().resources(&id).tags(Tag::builder().key("theirs").value("x").build());
    theirs.send().await.unwrap();
    pool.is_settled();

    let tag = aws_sdk_autoscaling::types::Tag::builder()
        .resource_id(&pool.names.group)
        .resource_type("auto-scaling-group")
        .key("cost")
        .build();
    pool.hand.autoscaling.delete_tags().tags(tag).send().await.unwrap();
    pool.is_mended("removed from the group").await;

    // One we no longer want goes; theirs stays.
    pool.set("additional_tags", json!({}));
    pool.apply();
    pool.is_settled();
    assert!(!pool.group_tags().await.contains_key("cost"));
    let keys: Vec<String> =
        pool.template().await.tags().iter().map(|tag| tag.key().unwrap().to_owned()).collect();
    assert!(keys.contains(&"theirs".to_owned()) && !keys.contains(&"cost".to_owned()), "{keys:?}");
}

#[tokio::test]
async fn the_policy_removed_or_edited() {
    let Some(pool) =
        Pool::applied_with(|pool| pool.set("autoscaling", json!({"enabled": true, "min": 1, "max": 5})))
            .await
    else {
        return;
    };
    let (group, name) = (&pool.names.group, "captf-cpu-target-tracking");
    let delete = pool.hand.autoscaling.delete_policy().auto_scaling_group_name(group);
    delete.policy_name(name).send().await.unwrap();
    pool.is_mended("removed").await;
    let metric = aws_sdk_autoscaling::types::PredefinedMetricSpecification::builder()
        .predefined_metric_type("ASGAverageCPUUtilization".into())
        .build();
    let target = aws_sdk_autoscaling::types::TargetTrackingConfiguration::builder()
        .predefined_metric_specification(metric)
        .target_value(10.0)
        .disable_scale_in(true)
        .build();
    let put = pool.hand.autoscaling.put_scaling_policy().auto_scaling_group_name(group).policy_name(name);
    let put = put.policy_type("TargetTrackingScaling").target_tracking_configuration(target);
    put.send().await.unwrap();
    pool.is_mended("edited").await;
    let policies = pool.policies().await;
    let target = policies[0].target_tracking_configuration().unwrap();
    assert_eq!((target.target_value(), target.disable_scale_in()), (Some(60.0), Some(false)));
}

#[tokio::test]
async fn the_object_overwritten_retagged_or_deleted() {
    let Some(pool) = Pool::applied().await else { return };
    let (bucket, key) = (&pool.surroundings.bucket, &pool.names.object_key);
    let tags: Vec<String> =
        pool.object_tags().await.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let put = pool.hand.s3.put_object().bucket(bucket).key(key).tagging(tags.join("&"));
    put.body(b"#cloud-config\n".to_vec().into()).send().await.unwrap();
    pool.is_mended("overwritten").await;
    assert_eq!(pool.object_body().await, inputs::payload(1).into_bytes());
    let put = pool.hand.s3.put_object().bucket(bucket).key(key).tagging(format!("{}&more=1", tags.join("&")));
    put.body(inputs::payload(1).into_bytes().into()).send().await.unwrap();
    pool.is_mended("retagged, without a checksum").await;
    assert_eq!(pool.object_tags().await.len(), tags.len());
    pool.hand.s3.delete_object().bucket(bucket).key(key).send().await.unwrap();
    pool.is_mended("deleted").await;
    assert!(pool.find_object().await.is_some());
}

#[tokio::test]
async fn processes_suspended_and_resumed() {
    let Some(pool) = Pool::applied().await else { return };
    let resume = pool.hand.autoscaling.resume_processes().auto_scaling_group_name(&pool.names.group);
    resume.scaling_processes("AZRebalance").send().await.unwrap();
    pool.is_mended("resumed").await;
    let suspend = pool.hand.autoscaling.suspend_processes().auto_scaling_group_name(&pool.names.group);
    suspend.scaling_processes("ReplaceUnhealthy").send().await.unwrap();
    pool.is_settled();
    pool.run(&["plan"]).ok().says("ReplaceUnhealthy");
    pool.apply();
    let names: Vec<String> = pool
        .group()
        .await
        .suspended_processes()
        .iter()
        .map(|p| p.process_name().unwrap().to_owned())
        .collect();
    assert!(names.contains(&"ReplaceUnhealthy".to_owned()), "an operator's doing is left alone");
}

#[tokio::test]
async fn the_groups_own_fields() {
    let Some(pool) = Pool::applied().await else { return };
    let update =
        || pool.hand.autoscaling.update_auto_scaling_group().auto_scaling_group_name(&pool.names.group);
    update().capacity_rebalance(true).send().await.unwrap();
    pool.is_mended("capacity rebalance").await;
    update().health_check_type("ELB").send().await.unwrap();
    pool.is_mended("health check type").await;
    update().max_size(9).send().await.unwrap();
    pool.is_mended("maximum").await;
    let template = aws_sdk_autoscaling::types::LaunchTemplateSpecification::builder()
        .launch_template_id(pool.template_id().await)
        .version("1")
        .build();
    update().launch_template(template).send().await.unwrap();
    pool.is_mended("a fixed version").await;
    assert_eq!(pool.group().await.launch_template().unwrap().version(), Some("$Latest"));
}

#[tokio::test]
async fn the_default_version_moved() {
    let Some(mut pool) = Pool::applied().await else { return };
    pool.set("instance_type", "m6i.xlarge".into());
    pool.apply();
    let modify = pool.hand.ec2.modify_launch_template().launch_template_id(pool.template_id().await);
    modify.default_version("1").send().await.unwrap();
    pool.is_mended("default version").await;
    assert_eq!(pool.template().await.default_version_number(), Some(2));
}
