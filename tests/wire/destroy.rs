//! What a destroy leaves: nothing.

use aws_sdk_ec2::types::InstanceStateName;
use serde_json::json;

use crate::{calls::writes, harness::Pool};

impl Pool {
    async fn is_gone(&self) {
        assert!(self.find_group().await.is_none());
        assert!(self.templates().await.is_empty());
        assert!(self.find_object().await.is_none());
        for machine in self.machines().await {
            assert_eq!(machine.state().unwrap().name(), Some(&InstanceStateName::Terminated));
        }
    }

    /// Two destroys: one that has something to do, one that has not.
    async fn destroys_everything(&self) {
        self.destroy();
        self.is_gone().await;
        self.destroy().says("Destroy complete! Resources: 0 destroyed.");
    }
}

#[tokio::test]
async fn nothing_is_left() {
    let Some(mut pool) = Pool::applied_with(|pool| {
        pool.set("autoscaling", json!({"enabled": true, "min": 1, "max": 5}));
    })
    .await
    else {
        return;
    };
    pool.set("node_labels", json!({"second": "version"}));
    pool.apply();
    pool.run(&["plan", "-destroy"]).ok().says("Plan: 0 to add, 0 to change, 6 to destroy.");
    pool.destroy().says("Destroy complete! Resources: 6 destroyed.");
    pool.is_gone().await;
    let calls = pool.calls_of(|pool| {
        pool.destroy().says("Destroy complete! Resources: 0 destroyed.");
    });
    assert!(writes(&calls).is_empty(), "{:?}", writes(&calls));
}

#[tokio::test]
async fn a_destroy_can_be_followed_by_an_apply() {
    let Some(pool) = Pool::applied().await else { return };
    pool.destroys_everything().await;
    pool.apply().says("Apply complete! Resources: 5 added, 0 changed, 0 destroyed.");
    pool.is_settled();
}

#[tokio::test]
async fn members_are_waited_for() {
    let Some(pool) = Pool::applied().await else { return };
    pool.behaviour(json!({"terminating_looks": 2, "deleting_looks": 0}));
    let calls = pool.calls_of(|pool| drop(pool.destroy()));
    let update = calls.iter().find(|call| call.operation == "UpdateAutoScalingGroup").unwrap();
    for size in ["MinSize", "MaxSize", "DesiredCapacity"] {
        assert_eq!(update.parameters[size], "0", "the group is emptied first, so that hooks run");
    }
    assert!(calls.iter().all(|call| call.parameters["ForceDelete"] != "true"), "{calls:?}");
    pool.is_gone().await;
}

#[tokio::test]
async fn old_inputs_with_incomplete_exports_are_enough() {
    for exports in
        [json!({}), json!(null), json!({"schema": "captf.io/aws-cluster/v1", "region": "us-east-1"})]
    {
        let Some(mut pool) = Pool::applied().await else { return };
        pool.set("captf_cluster_outputs", exports);
        let run = |pool: &Pool| {
            let mut command = pool.command(&["destroy", "-auto-approve"]);
            command.env("AWS_REGION", "us-east-1").output().unwrap()
        };
        let output = run(&pool);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        pool.is_gone().await;
        assert!(run(&pool).status.success());
    }
}

#[tokio::test]
async fn names_and_a_region_are_enough() {
    let Some(mut pool) = Pool::applied().await else { return };
    let namespace = pool.inputs["captf_object"]["namespace"].clone();
    pool.inputs = json!({
        "captf_object": {"namespace": namespace},
        "machinepool_name": "pool-0",
        "bootstrap_data": "not base64",
        "replicas": -1,
    });
    let mut command = pool.command(&["destroy", "-auto-approve"]);
    let output = command.env("AWS_REGION", "us-east-1").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    pool.is_gone().await;
}

#[tokio::test]
async fn the_bucket_may_be_gone() {
    let Some(pool) = Pool::applied().await else { return };
    let bucket = &pool.surroundings.bucket;
    pool.hand.s3.delete_object().bucket(bucket).key(&pool.names.object_key).send().await.unwrap();
    pool.hand.s3.delete_bucket().bucket(bucket).send().await.unwrap();
    pool.destroys_everything().await;
}

#[tokio::test]
async fn the_image_may_be_gone() {
    let Some(pool) = Pool::applied().await else { return };
    let image = pool.version().await.launch_template_data().unwrap().image_id().unwrap().to_owned();
    pool.hand.ec2.deregister_image().image_id(image).send().await.unwrap();
    let calls = pool.calls_of(|pool| drop(pool.destroy()));
    assert!(calls.iter().all(|call| call.operation != "DescribeImages"));
    pool.is_gone().await;
}

#[tokio::test]
async fn what_would_make_it_hang_is_undone() {
    let Some(mut pool) = Pool::applied().await else { return };
    let group = pool.names.group.clone();
    let members = pool.members().await;
    let hand = &pool.hand.autoscaling;
    let protect =
        hand.set_instance_protection().auto_scaling_group_name(&group).protected_from_scale_in(true);
    protect.set_instance_ids(Some(members.into_iter().collect())).send().await.unwrap();
    let suspend = hand.suspend_processes().auto_scaling_group_name(&group);
    suspend.scaling_processes("Terminate").send().await.unwrap();
    let schedule = hand.put_scheduled_update_group_action().auto_scaling_group_name(&group);
    schedule.scheduled_action_name("morning").min_size(3).recurrence("0 8 * * *").send().await.unwrap();
    hand.put_warm_pool().auto_scaling_group_name(&group).send().await.unwrap();
    pool.set("kubernetes_version", "v1.34.2".into());
    pool.behaviour(json!({"refresh_by_looks": false}));
    pool.apply();
    assert_eq!(pool.refreshes().await[0].status().unwrap().as_str(), "Pending");
    pool.destroys_everything().await;
}

#[tokio::test]
async fn members_in_standby_are_forced_out() {
    let Some(pool) = Pool::applied().await else { return };
    let aside = pool.members().await.first().unwrap().clone();
    let standby = pool.hand.autoscaling.enter_standby().should_decrement_desired_capacity(false);
    standby.auto_scaling_group_name(&pool.names.group).instance_ids(aside).send().await.unwrap();
    pool.destroys_everything().await;
}

#[tokio::test]
async fn a_group_that_is_being_deleted_already_is_fine() {
    let Some(pool) = Pool::applied().await else { return };
    let delete = pool.hand.autoscaling.delete_auto_scaling_group().force_delete(true);
    delete.auto_scaling_group_name(&pool.names.group).send().await.unwrap();
    let calls = pool.calls_of(|pool| drop(pool.destroy()));
    assert!(!writes(&calls).contains(&"UpdateAutoScalingGroup"));
    pool.is_gone().await;
}

#[tokio::test]
async fn an_apply_waits_for_a_group_that_is_being_deleted() {
    let Some(pool) = Pool::applied().await else { return };
    let delete = pool.hand.autoscaling.delete_auto_scaling_group().force_delete(true);
    delete.auto_scaling_group_name(&pool.names.group).send().await.unwrap();
    pool.apply();
    assert_eq!(pool.members().await.len(), 3);
    pool.is_settled();
}

#[tokio::test]
async fn parts_that_are_gone_do_not_matter() {
    let Some(pool) = Pool::applied().await else { return };
    pool.hand
        .s3
        .delete_object()
        .bucket(&pool.surroundings.bucket)
        .key(&pool.names.object_key)
        .send()
        .await
        .unwrap();
    let template = pool.template().await.launch_template_id().unwrap().to_owned();
    pool.hand.ec2.delete_launch_template().launch_template_id(template).send().await.unwrap();
    pool.destroys_everything().await;
}

#[tokio::test]
async fn an_object_that_may_not_be_deleted_stops_nothing_else() {
    let Some(pool) = Pool::applied().await else { return };
    pool.faults(&json!([{"operation": "DeleteObject", "kind": "denied"}]));
    pool.run(&["destroy", "-auto-approve"]).exits(1).says("s3:DeleteObject");
    assert!(pool.find_group().await.is_none());
    assert!(pool.templates().await.is_empty());
    assert!(pool.find_object().await.is_some());
    pool.faults(&json!([]));
    pool.destroys_everything().await;
}

#[tokio::test]
async fn templates_of_unfinished_rolls_go_too() {
    let Some(mut pool) = Pool::applied().await else { return };
    pool.behaviour(json!({"refresh_by_looks": false}));
    for version in ["v1.34.2", "v1.34.1"] {
        pool.set("kubernetes_version", version.into());
        pool.apply();
        // Members of both templates run by now.
        pool.act("refresh", json!({"steps": 2}));
    }
    assert_eq!(pool.templates().await.len(), 3);
    pool.destroys_everything().await;
}
