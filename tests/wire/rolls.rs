//! What replaces running instances: once, launching first, and never by accident.

use serde_json::{Value, json};

use crate::{
    calls::writes,
    harness::Pool,
    inputs::{NEWEST_1_34_1, NEWEST_1_34_2, OLDER_1_34_1},
};

/// Applies a change that rolls, and sees the roll through.
async fn rolls(pool: &mut Pool, name: &str, value: Value) {
    let (members, old) = (pool.members().await, pool.template().await);
    pool.behaviour(json!({"refresh_by_looks": false}));
    pool.set(name, value);
    pool.run(&["plan", "-detailed-exitcode"]).exits(2).says("replace");
    let calls = pool.calls_of(|pool| {
        pool.apply().says("Apply complete!");
    });
    let starts: Vec<_> = calls.iter().filter(|call| call.operation == "StartInstanceRefresh").collect();
    assert_eq!(starts.len(), 1);
    let asked = |field: &str| starts[0].parameters[format!("Preferences.{field}")].clone();
    assert_eq!(asked("MinHealthyPercentage"), "100");
    assert_eq!(asked("MaxHealthyPercentage"), "200");
    assert_eq!(asked("SkipMatching"), "true");
    assert_eq!(asked("ScaleInProtectedInstances"), "Refresh");
    assert_eq!(asked("StandbyInstances"), "Ignore");
    assert_eq!(
        asked("InstanceWarmup"),
        pool.inputs["rollout_instance_warmup_seconds"].as_u64().unwrap_or(300).to_string()
    );
    assert!(
        starts[0].parameters.as_object().unwrap().keys().all(|key| !key.starts_with("DesiredConfiguration"))
    );

    // While the roll goes on, nothing more is to do, and nobody has left yet.
    pool.is_settled();
    assert!(writes(&pool.calls_of(|pool| drop(pool.apply()))).is_empty());
    assert_eq!(pool.templates().await.len(), 2, "the old template stays until nobody runs it");
    pool.act("refresh", json!({"steps": 2}));
    assert!(pool.members().await.is_superset(&members), "replacements come before the old ones go");
    pool.act("refresh", json!({"steps": 5}));
    assert_eq!(pool.refreshes().await[0].status().unwrap().as_str(), "Successful");
    assert!(pool.members().await.is_disjoint(&members));

    // The next apply cleans up, without counting that as a change.
    pool.is_settled();
    pool.apply().says("Apply complete! Resources: 0 added, 0 changed, 0 destroyed.");
    assert_ne!(pool.template().await.launch_template_id(), old.launch_template_id());
    pool.is_settled();
    assert_eq!(pool.refreshes().await.len(), 1);
}

#[tokio::test]
async fn a_new_kubernetes_version() {
    let Some(mut pool) = Pool::applied().await else { return };
    rolls(&mut pool, "kubernetes_version", "v1.34.2".into()).await;
    assert_eq!(pool.version().await.launch_template_data().unwrap().image_id(), Some(NEWEST_1_34_2));
}

#[tokio::test]
async fn a_new_suffix_alone() {
    let Some(mut pool) = Pool::applied().await else { return };
    pool.set("rollout_instance_warmup_seconds", 0.into());
    rolls(&mut pool, "kubernetes_version", "v1.34.1+rke2r2".into()).await;
}

#[tokio::test]
async fn a_pinned_image() {
    let Some(mut pool) = Pool::applied().await else { return };
    rolls(&mut pool, "machine_image", json!({"id": OLDER_1_34_1})).await;
    assert_eq!(pool.version().await.launch_template_data().unwrap().image_id(), Some(OLDER_1_34_1));
}

#[tokio::test]
async fn pinning_the_image_that_runs_already_rolls_too() {
    let Some(mut pool) = Pool::applied().await else { return };
    rolls(&mut pool, "machine_image", json!({"id": NEWEST_1_34_1})).await;
}

#[tokio::test]
async fn labels_changed_in_the_middle_of_a_roll() {
    let Some(mut pool) = Pool::applied().await else { return };
    pool.behaviour(json!({"refresh_by_looks": false}));
    pool.set("kubernetes_version", "v1.34.2".into());
    pool.apply();
    pool.act("refresh", json!({"steps": 1}));
    pool.set("node_labels", json!({"new": "label"}));
    let calls = pool.calls_of(|pool| drop(pool.apply()));
    assert!(!writes(&calls).contains(&"StartInstanceRefresh"), "{:?}", writes(&calls));
    assert!(!writes(&calls).contains(&"CancelInstanceRefresh"), "{:?}", writes(&calls));
    pool.act("refresh", json!({"steps": 5}));
    pool.is_settled();
    assert_eq!(pool.refreshes().await.len(), 1);
}

#[tokio::test]
async fn going_back_in_the_middle_keeps_those_who_never_left() {
    let Some(mut pool) = Pool::applied().await else { return };
    let members = pool.members().await;
    pool.behaviour(json!({"refresh_by_looks": false}));
    pool.set("kubernetes_version", "v1.34.2".into());
    pool.apply();
    pool.act("refresh", json!({"steps": 2}));
    pool.set("kubernetes_version", "v1.34.1+rke2r1".into());
    pool.apply();
    pool.act("refresh", json!({"steps": 8}));
    let after = pool.members().await;
    assert_eq!(after.len(), 3);
    let template = pool.group().await.launch_template().unwrap().launch_template_id().unwrap().to_owned();
    for member in pool.group().await.instances() {
        assert_eq!(member.launch_template().unwrap().launch_template_id(), Some(template.as_str()));
    }
    assert!(!after.is_disjoint(&members), "an instance that was right all along was replaced");
    pool.apply();
    pool.is_settled();
}

#[tokio::test]
async fn a_second_roll_supersedes_the_first() {
    let Some(mut pool) = Pool::applied().await else { return };
    pool.behaviour(json!({"refresh_by_looks": false}));
    for version in ["v1.34.2", "v1.34.1+rke2r2"] {
        pool.set("kubernetes_version", version.into());
        pool.apply();
        pool.act("refresh", json!({"steps": 1}));
    }
    let statuses: Vec<String> =
        pool.refreshes().await.iter().map(|r| r.status().unwrap().as_str().to_owned()).collect();
    assert_eq!(statuses, ["InProgress", "Cancelled"]);
    pool.act("refresh", json!({"steps": 8}));
    pool.apply();
    pool.is_settled();
    assert_eq!(pool.templates().await.len(), 1);
}

#[tokio::test]
async fn a_roll_whose_apply_died_before_the_start_is_started_by_the_next() {
    let Some(mut pool) = Pool::applied().await else { return };
    let members = pool.members().await;
    pool.set("kubernetes_version", "v1.34.2".into());
    pool.faults(&json!([{"operation": "StartInstanceRefresh", "kind": "denied", "count": 1}]));
    pool.run(&["apply", "-auto-approve"]).exits(1).says("autoscaling:StartInstanceRefresh");
    assert!(pool.refreshes().await.is_empty());
    pool.run(&["plan", "-detailed-exitcode"]).exits(2);
    pool.apply();
    pool.act("refresh", json!({"steps": 8}));
    assert!(pool.members().await.is_disjoint(&members));
    assert_eq!(pool.refreshes().await.len(), 1);
}

#[tokio::test]
async fn a_start_whose_answer_was_lost_is_not_repeated() {
    let Some(mut pool) = Pool::applied().await else { return };
    pool.behaviour(json!({"refresh_by_looks": false}));
    pool.set("kubernetes_version", "v1.34.2".into());
    pool.faults(&json!([{"operation": "StartInstanceRefresh", "kind": "cut-after", "count": 1}]));
    pool.apply();
    assert_eq!(pool.refreshes().await.len(), 1);
    pool.act("refresh", json!({"steps": 8}));
    pool.is_settled();
}

#[tokio::test]
async fn a_failed_roll_is_tried_again_and_then_left_alone() {
    let Some(mut pool) = Pool::applied().await else { return };
    pool.behaviour(json!({"refresh_by_looks": false}));
    pool.set("kubernetes_version", "v1.34.2".into());
    for started in 1..=3 {
        pool.apply();
        assert_eq!(pool.refreshes().await.len(), started);
        pool.act(
            "refresh",
            json!({"steps": 1, "status": "Failed", "reason": "the instances stayed unhealthy"}),
        );
    }
    pool.apply().says("the instances stayed unhealthy");
    assert_eq!(pool.refreshes().await.len(), 3);
}

#[tokio::test]
async fn an_operators_cancellation_is_respected() {
    let Some(mut pool) = Pool::applied().await else { return };
    pool.behaviour(json!({"refresh_by_looks": false}));
    pool.set("kubernetes_version", "v1.34.2".into());
    pool.apply();
    let cancel = pool.hand.autoscaling.cancel_instance_refresh();
    cancel.auto_scaling_group_name(&pool.names.group).send().await.unwrap();
    pool.refreshes().await;
    pool.run(&["plan", "-detailed-exitcode"]).ok();
    pool.apply();
    assert_eq!(pool.refreshes().await.len(), 1);
}

#[tokio::test]
async fn a_foreign_refresh_that_holds_the_template_is_cancelled_first() {
    let Some(mut pool) = Pool::applied().await else { return };
    pool.behaviour(json!({"refresh_by_looks": false}));
    let template = pool.template().await.launch_template_id().unwrap().to_owned();
    let specification = aws_sdk_autoscaling::types::LaunchTemplateSpecification::builder()
        .launch_template_id(template)
        .version("1")
        .build();
    let desired =
        aws_sdk_autoscaling::types::DesiredConfiguration::builder().launch_template(specification).build();
    let start = pool.hand.autoscaling.start_instance_refresh().desired_configuration(desired);
    start.auto_scaling_group_name(&pool.names.group).send().await.unwrap();
    pool.set("kubernetes_version", "v1.34.2".into());
    pool.apply();
    let statuses: Vec<String> =
        pool.refreshes().await.iter().map(|r| r.status().unwrap().as_str().to_owned()).collect();
    assert_eq!(statuses, ["Pending", "Cancelled"]);
}

#[tokio::test]
async fn a_roll_can_be_waited_for() {
    let Some(mut pool) = Pool::applied().await else { return };
    let members = pool.members().await;
    pool.set("kubernetes_version", "v1.34.2".into());
    pool.run(&["apply", "-auto-approve", "--wait"]).ok();
    assert!(pool.members().await.is_disjoint(&members));
    assert_eq!(pool.outputs()["health"]["healthy"], true);
}

#[tokio::test]
async fn a_template_deleted_by_hand_is_made_again_without_a_roll() {
    let Some(pool) = Pool::applied().await else { return };
    let members = pool.members().await;
    let template = pool.template().await;
    let delete = pool.hand.ec2.delete_launch_template();
    delete.launch_template_id(template.launch_template_id().unwrap()).send().await.unwrap();
    pool.apply();
    assert_eq!(pool.template().await.launch_template_name(), template.launch_template_name());
    assert!(pool.refreshes().await.is_empty());
    assert_eq!(pool.members().await, members);
    pool.is_settled();
}

#[tokio::test]
async fn members_in_standby_stay_and_are_told_of() {
    let Some(mut pool) = Pool::applied().await else { return };
    let aside = pool.members().await.first().unwrap().clone();
    let standby = pool.hand.autoscaling.enter_standby().should_decrement_desired_capacity(false);
    standby.auto_scaling_group_name(&pool.names.group).instance_ids(&aside).send().await.unwrap();
    pool.set("kubernetes_version", "v1.34.2".into());
    pool.run(&["plan"]).ok().says(&aside);
    pool.apply();
    pool.refreshes().await;
    pool.act("refresh", json!({"steps": 8}));
    assert!(pool.members().await.contains(&aside));
    pool.apply();
    pool.is_settled();
    assert_eq!(pool.refreshes().await.len(), 1, "nobody else is left to replace");
}
