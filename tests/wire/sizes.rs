//! Replicas, autoscaling and zones.

use serde_json::{Value, json};

use crate::{calls::writes, harness::Pool};

fn on(min: u32, max: u32) -> Value {
    json!({"enabled": true, "min": min, "max": max})
}

/// Applies; no call of it may carry a desired capacity.
fn apply_without_desired(pool: &Pool) {
    let calls = pool.calls_of(|pool| drop(pool.apply()));
    let carrying: Vec<_> = calls.iter().filter(|c| c.parameters.get("DesiredCapacity").is_some()).collect();
    assert!(carrying.is_empty(), "{carrying:?}");
    pool.is_settled();
}

async fn scale_to(pool: &Pool, desired: i32) {
    let set = pool.hand.autoscaling.set_desired_capacity().desired_capacity(desired);
    set.auto_scaling_group_name(&pool.names.group).send().await.unwrap();
}

#[tokio::test]
async fn replicas_move_the_group() {
    let Some(mut pool) = Pool::applied().await else { return };
    for replicas in [5, 0, 2] {
        let before = pool.members().await;
        pool.set("replicas", replicas.into());
        let calls = pool.calls_of(|pool| {
            pool.apply().says("Apply complete! Resources: 0 added, 1 changed, 0 destroyed.");
        });
        assert_eq!(writes(&calls), ["UpdateAutoScalingGroup"]);
        assert_eq!(pool.capacity().await, [replicas; 3]);
        let after = pool.members().await;
        assert!(after.is_subset(&before) || after.is_superset(&before), "nobody was replaced");
        assert_eq!(pool.outputs()["replicas"], replicas);
        pool.is_settled();
    }
}

#[tokio::test]
async fn scaled_to_zero_is_healthy() {
    let Some(pool) = Pool::applied_with(|pool| pool.set("replicas", 0.into())).await else { return };
    let outputs = pool.outputs();
    assert_eq!(outputs["replicas"], 0);
    assert_eq!(outputs["provider_id_list"], json!([]));
    assert_eq!(outputs["instances"], json!([]));
    assert_eq!(outputs["health"]["state"], "running");
    assert_eq!(outputs["health"]["healthy"], true);
    assert_eq!(outputs["health"]["reasons"], json!([]));
    pool.is_settled();
}

#[tokio::test]
async fn a_drifted_capacity_is_put_back() {
    let Some(pool) = Pool::applied().await else { return };
    let update =
        pool.hand.autoscaling.update_auto_scaling_group().min_size(0).max_size(9).desired_capacity(7);
    update.auto_scaling_group_name(&pool.names.group).send().await.unwrap();
    pool.run(&["plan", "-detailed-exitcode"]).exits(2);
    pool.apply();
    assert_eq!(pool.capacity().await, [3, 3, 3]);
    pool.is_settled();
}

#[tokio::test]
async fn autoscaling_takes_bounds_and_policy_and_leaves_the_capacity() {
    let Some(mut pool) = Pool::applied().await else { return };
    let members = pool.members().await;
    pool.set("autoscaling", on(1, 6));
    apply_without_desired(&pool);
    assert_eq!(pool.capacity().await, [1, 6, 3]);
    let policies = pool.policies().await;
    assert_eq!(policies.len(), 1);
    assert_eq!(policies[0].policy_name(), Some("captf-cpu-target-tracking"));
    let target = policies[0].target_tracking_configuration().unwrap();
    assert_eq!(target.target_value(), Some(60.0));
    let metric = target.predefined_metric_specification().unwrap().predefined_metric_type().unwrap();
    assert_eq!(metric.as_str(), "ASGAverageCPUUtilization");
    assert_eq!(pool.members().await, members);

    // The scaler's number stays, whatever else changes.
    scale_to(&pool, 5).await;
    pool.is_settled();
    assert_eq!(pool.outputs()["replicas"], 5);
    pool.set("replicas", 1.into());
    pool.is_settled();
    pool.set("instance_type", "m6i.xlarge".into());
    apply_without_desired(&pool);
    assert_eq!(pool.capacity().await, [1, 6, 5]);

    // Bounds that exclude it are sent alone; AWS moves it.
    pool.set("autoscaling", on(1, 4));
    apply_without_desired(&pool);
    assert_eq!(pool.capacity().await, [1, 4, 4]);
    pool.set("autoscaling_target_cpu_percent", json!(72.5));
    apply_without_desired(&pool);
    let policies = pool.policies().await;
    assert_eq!(policies[0].target_tracking_configuration().unwrap().target_value(), Some(72.5));
}

#[tokio::test]
async fn an_external_autoscaler_has_no_policy_beside_it() {
    let Some(mut pool) = Pool::applied_with(|pool| pool.set("autoscaling", on(1, 6))).await else { return };
    pool.set("autoscaler", "external".into());
    apply_without_desired(&pool);
    assert!(pool.policies().await.is_empty());
    assert_eq!(pool.capacity().await, [1, 6, 3]);
    pool.set("autoscaler", "native".into());
    apply_without_desired(&pool);
    assert_eq!(pool.policies().await.len(), 1);
}

#[tokio::test]
async fn autoscaling_off_again_is_replicas_again() {
    let Some(mut pool) = Pool::applied_with(|pool| pool.set("autoscaling", on(1, 6))).await else { return };
    scale_to(&pool, 6).await;
    pool.set("autoscaling", json!({"enabled": false, "min": 1, "max": 6}));
    pool.apply();
    assert_eq!(pool.capacity().await, [3, 3, 3]);
    assert!(pool.policies().await.is_empty());
    pool.is_settled();
}

#[tokio::test]
async fn a_new_autoscaled_pool_starts_within_its_bounds() {
    for (replicas, bounds, desired) in [(1, on(2, 5), 2), (9, on(2, 5), 5), (3, on(0, 5), 3)] {
        let Some(mut pool) = Pool::new().await else { return };
        pool.set("replicas", replicas.into());
        pool.set("autoscaling", bounds);
        pool.apply();
        assert_eq!(pool.capacity().await[2], desired);
        pool.is_settled();
    }
}

#[tokio::test]
async fn other_policies_are_not_ours() {
    let Some(mut pool) = Pool::applied_with(|pool| pool.set("autoscaling", on(1, 6))).await else { return };
    let put = pool.hand.autoscaling.put_scaling_policy().auto_scaling_group_name(&pool.names.group);
    let put = put.policy_name("theirs").adjustment_type("ChangeInCapacity").scaling_adjustment(1);
    put.send().await.unwrap();
    pool.is_settled();
    pool.set("autoscaling", json!({"enabled": false, "min": 0, "max": 0}));
    pool.apply();
    let names: Vec<_> = pool.policies().await.iter().map(|p| p.policy_name().unwrap().to_owned()).collect();
    assert_eq!(names, ["theirs"]);
}

#[tokio::test]
async fn zones_that_the_cluster_gains_or_loses_change_nothing() {
    let Some(mut pool) = Pool::applied_with(|pool| {
        pool.inputs["captf_cluster_outputs"]["failure_domains"].as_object_mut().unwrap().remove("us-east-1c");
        pool.set("cluster_failure_domains", json!(["us-east-1a", "us-east-1b"]));
    })
    .await
    else {
        return;
    };
    let (subnets, members) = (pool.subnets().await, pool.members().await);
    assert_eq!(subnets.len(), 2);
    let third = json!({"subnet_id": pool.surroundings.zones[2].1});
    pool.inputs["captf_cluster_outputs"]["failure_domains"]["us-east-1c"] = third;
    pool.set("cluster_failure_domains", json!(["us-east-1a", "us-east-1b", "us-east-1c"]));
    pool.is_settled();
    assert!(writes(&pool.calls_of(|pool| drop(pool.apply()))).is_empty());
    pool.set("cluster_failure_domains", json!(["us-east-1c"]));
    pool.is_settled();
    assert!(writes(&pool.calls_of(|pool| drop(pool.apply()))).is_empty());
    assert_eq!((pool.subnets().await, pool.members().await), (subnets, members));
}

#[tokio::test]
async fn failure_domains_narrow_and_widen_the_subnets() {
    let Some(mut pool) = Pool::applied().await else { return };
    let members = pool.members().await;
    let all = pool.subnets().await;
    pool.set("failure_domains", json!(["us-east-1a", "us-east-1b", "us-east-1a"]));
    pool.run(&["plan", "-detailed-exitcode"]).exits(2).says("us-east-1c");
    let calls = pool.calls_of(|pool| drop(pool.apply()));
    assert_eq!(writes(&calls), ["UpdateAutoScalingGroup"]);
    assert_eq!(pool.subnets().await.len(), 2);
    let moved = pool.members().await;
    assert_eq!(moved.intersection(&members).count(), 2, "only those in the zone that went were replaced");
    pool.is_settled();

    pool.set("failure_domains", json!(["us-east-1c", "us-east-1b", "us-east-1a"]));
    pool.apply();
    assert_eq!(pool.subnets().await, all);
    assert_eq!(pool.members().await, moved, "a zone that is added replaces nobody");
    assert_eq!(pool.template().await.latest_version_number(), Some(1));
    pool.is_settled();

    // Without any, the zones of the first apply are the pool's again.
    pool.set("failure_domains", json!([]));
    pool.is_settled();
}
