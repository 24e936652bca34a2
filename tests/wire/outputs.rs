//! What the controller reads: outputs and health.

use serde_json::{Value, json};

use crate::harness::Pool;

fn health(outputs: &Value) -> (Value, Value, Value) {
    let health = &outputs["health"];
    (health["state"].clone(), health["healthy"].clone(), health["reasons"].clone())
}

#[tokio::test]
async fn outputs_of_a_healthy_pool() {
    let Some(pool) = Pool::applied_with(|pool| {
        pool.set(
            "node_labels",
            json!({"node-role.kubernetes.io/worker": "", "kubernetes.io/role": "x", "a": "b"}),
        );
    })
    .await
    else {
        return;
    };
    let outputs = pool.outputs();
    let group = pool.group().await;
    assert_eq!(outputs["provider_id"], group.auto_scaling_group_arn().unwrap());
    assert_eq!(outputs["autoscaling_group_name"], pool.names.group);
    assert_eq!(outputs["launch_template_id"], pool.template().await.launch_template_id().unwrap());
    assert_eq!(
        outputs["dropped_node_labels"],
        json!(["kubernetes.io/role", "node-role.kubernetes.io/worker"])
    );
    assert_eq!(outputs["replicas"], 3);
    let mut expected: Vec<Value> = Vec::new();
    for machine in pool.machines().await {
        let (id, zone) =
            (machine.instance_id().unwrap(), machine.placement().unwrap().availability_zone().unwrap());
        expected.push(json!({
            "provider_id": format!("aws:///{zone}/{id}"),
            "instance_id": id,
            "addresses": [{"type": "InternalIP", "address": machine.private_ip_address().unwrap()}],
            "failure_domain": zone,
            "state": "running",
        }));
    }
    expected.sort_by_key(|one| one["provider_id"].as_str().unwrap().to_owned());
    assert_eq!(outputs["instances"], Value::Array(expected.clone()));
    let ids: Vec<Value> = expected.iter().map(|one| one["provider_id"].clone()).collect();
    assert_eq!(outputs["provider_id_list"], Value::Array(ids));
    assert_eq!(health(&outputs), (json!("running"), json!(true), json!([])));
}

#[tokio::test]
async fn one_output_alone() {
    let Some(pool) = Pool::applied().await else { return };
    assert_eq!(pool.run(&["outputs", "replicas"]).ok().json(), 3);
}

#[tokio::test]
async fn a_group_deleted_by_hand_reads_as_terminated() {
    let Some(pool) = Pool::applied().await else { return };
    pool.behaviour(json!({"deleting_looks": 0}));
    let delete = pool.hand.autoscaling.delete_auto_scaling_group().force_delete(true);
    delete.auto_scaling_group_name(&pool.names.group).send().await.unwrap();
    let outputs = pool.outputs();
    assert_eq!(outputs["provider_id"], Value::Null);
    assert_eq!(outputs["provider_id_list"], json!([]));
    assert_eq!(outputs["replicas"], 3, "nobody writes back a 0 that was not seen");
    assert_eq!(health(&outputs), (json!("terminated"), json!(false), json!(["GroupNotFound"])));
    pool.run(&["apply", "-refresh-only", "-auto-approve"]).ok();
    assert!(pool.find_group().await.is_none(), "a refresh changes nothing");

    pool.apply();
    assert_eq!(health(&pool.outputs()).1, true);
    pool.is_settled();
}

#[tokio::test]
async fn members_that_outlive_their_group_stay_in_the_list() {
    let Some(pool) = Pool::applied().await else { return };
    pool.behaviour(json!({"terminating_looks": 9}));
    let delete = pool.hand.autoscaling.delete_auto_scaling_group().force_delete(true);
    delete.auto_scaling_group_name(&pool.names.group).send().await.unwrap();
    let machine = pool.machines().await[0].instance_id().unwrap().to_owned();
    pool.act("state", json!({"instance": machine, "state": "running"}));
    let listed = pool.outputs()["provider_id_list"].clone();
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    assert!(listed[0].as_str().unwrap().ends_with(&machine));
}

#[tokio::test]
async fn no_member_yet() {
    let Some(pool) = Pool::new().await else { return };
    let why = "We currently do not have sufficient m6i.large capacity in the Availability Zone you requested";
    pool.behaviour(json!({"fail_launches": why}));
    pool.apply();
    let outputs = pool.outputs();
    assert_eq!(health(&outputs), (json!("pending"), json!(false), json!(["NoMembers"])));
    assert!(outputs["health"]["message"].as_str().unwrap().contains(why), "{outputs}");
    assert_eq!(outputs["replicas"], 3);
}

#[tokio::test]
async fn pending_members() {
    let Some(pool) = Pool::new().await else { return };
    pool.behaviour(json!({"pending_looks": 99}));
    pool.apply();
    let outputs = pool.outputs();
    let mut reasons: Vec<String> =
        pool.members().await.iter().map(|id| format!("InstancePending:{id}")).collect();
    reasons.sort();
    assert_eq!(health(&outputs), (json!("running"), json!(false), json!(reasons)));
    assert_eq!(outputs["provider_id_list"].as_array().unwrap().len(), 3);
    assert!(outputs["instances"].as_array().unwrap().iter().all(|one| one["state"] == "pending"));
    pool.is_settled();
}

#[tokio::test]
async fn stopped_and_unknown_members_stay_in_the_list() {
    let Some(pool) = Pool::applied().await else { return };
    let member = pool.members().await.first().unwrap().clone();
    for (state, shown, reason) in [
        ("stopping", "stopped", "InstanceStopped"),
        ("stopped", "stopped", "InstanceStopped"),
        ("hibernating", "unknown", "UnknownState"),
    ] {
        pool.act("state", json!({"instance": member, "state": state}));
        let outputs = pool.outputs();
        assert_eq!(health(&outputs), (json!(shown), json!(false), json!([format!("{reason}:{member}")])));
        assert_eq!(outputs["provider_id_list"].as_array().unwrap().len(), 3);
        let instances = outputs["instances"].as_array().unwrap();
        let one = instances.iter().find(|one| one["instance_id"] == member.as_str()).unwrap();
        assert_eq!(one["state"], shown);
        pool.is_settled();
    }
}

#[tokio::test]
async fn fewer_members_than_desired() {
    let Some(mut pool) = Pool::applied().await else { return };
    pool.behaviour(json!({"fail_launches": "no capacity"}));
    pool.set("replicas", 5.into());
    pool.apply();
    let outputs = pool.outputs();
    assert_eq!(health(&outputs), (json!("running"), json!(false), json!(["ScalingInProgress"])));
    assert_eq!(outputs["replicas"], 5);
}

#[tokio::test]
async fn members_in_standby_are_members() {
    let Some(pool) = Pool::applied().await else { return };
    let aside = pool.members().await.first().unwrap().clone();
    let standby = pool.hand.autoscaling.enter_standby().should_decrement_desired_capacity(false);
    standby.auto_scaling_group_name(&pool.names.group).instance_ids(&aside).send().await.unwrap();
    let listed = pool.outputs()["provider_id_list"].to_string();
    assert!(listed.contains(&aside), "{listed}");
}

#[tokio::test]
async fn a_member_that_ec2_does_not_show_yet_is_pending() {
    let Some(mut pool) = Pool::applied().await else { return };
    pool.outputs();
    pool.set("replicas", 4.into());
    let before = pool.members().await;
    pool.apply();
    let new = pool.members().await.difference(&before).next().unwrap().clone();
    // The binary's earlier listing of instances, once more.
    pool.faults(&json!([{"operation": "DescribeInstances", "kind": "stale", "count": 1}]));
    pool.act("state", json!({"instance": new, "state": "pending"}));
    let outputs = pool.outputs();
    assert_eq!(outputs["provider_id_list"].as_array().unwrap().len(), 4, "{outputs}");
}

#[tokio::test]
async fn outputs_work_without_exports_and_without_the_image() {
    let Some(mut pool) = Pool::applied().await else { return };
    let image = pool.version().await.launch_template_data().unwrap().image_id().unwrap().to_owned();
    pool.hand.ec2.deregister_image().image_id(image).send().await.unwrap();
    pool.set("captf_cluster_outputs", json!({}));
    let output = pool.command(&["outputs"]).env("AWS_REGION", "us-east-1").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let outputs: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(outputs["provider_id_list"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn a_reading_that_fails_is_no_smaller_pool() {
    let Some(pool) = Pool::applied().await else { return };
    for operation in ["DescribeInstances", "DescribeAutoScalingGroups"] {
        pool.faults(&json!([{"operation": operation, "kind": "denied"}]));
        let outcome = pool.run(&["outputs"]).exits(1).says(operation);
        assert_eq!(outcome.out, "");
    }
}
