//! How many calls each kind of work may cost.

use std::time::Duration;

use serde_json::json;

use super::lab::{Lab, patched};

/// A pool of three running members.
fn settled(lab: &Lab) {
    lab.apply(&patched(json!({}))).unwrap();
    lab.wait(Duration::from_mins(10));
    lab.cloud.clear();
}

fn native() -> serde_json::Value {
    json!({"autoscaling": {"enabled": true, "min": 1, "max": 5}})
}

#[test]
fn a_plan_of_an_unchanged_pool_costs_ten_calls_at_most() {
    let lab = Lab::new();
    settled(&lab);
    assert!(lab.plan(&patched(json!({}))).unwrap().plan.is_empty());
    assert!(lab.cloud.operations().len() <= 10, "{:?}", lab.cloud.operations());
    assert!(lab.cloud.writes().is_empty());
}

#[test]
fn outputs_cost_two_calls_and_three_while_members_are_missing() {
    let lab = Lab::new();
    let scope = patched(json!({})).scope;
    lab.outputs(&scope).unwrap();
    assert_eq!(lab.cloud.operations().len(), 2, "of a pool that is not there");
    settled(&lab);
    lab.outputs(&scope).unwrap();
    assert_eq!(lab.cloud.operations().len(), 2, "{:?}", lab.cloud.operations());
    lab.edit(|world| world.launch_error = Some("no capacity".to_owned()));
    lab.apply(&patched(json!({"replicas": 5}))).unwrap();
    lab.cloud.clear();
    lab.outputs(&scope).unwrap();
    assert_eq!(lab.cloud.operations().len(), 3, "{:?}", lab.cloud.operations());
}

/// During a roll no member is missing: new ones come before old ones go.
#[test]
fn outputs_cost_three_calls_while_members_are_to_be_replaced() {
    for patch in [json!({"kubernetes_version": "v1.35.0"}), json!({"failure_domains": ["us-east-1a"]})] {
        let lab = Lab::new();
        settled(&lab);
        lab.edit(|world| world.launch_error = Some("no capacity".to_owned()));
        let request = patched(patch);
        lab.plan(&request).unwrap();
        let plan = lab.cloud.operations().len();
        lab.cloud.clear();
        lab.apply(&request).unwrap();
        let all = lab.cloud.operations();
        let asked = all.contains(&"autoscaling:DescribeScalingActivities");
        let starts = all.contains(&"autoscaling:StartInstanceRefresh");
        assert!(!(asked && starts), "no roll fails as it starts: {:?}", &all[plan..]);
        lab.wait(Duration::from_mins(1));
        lab.cloud.clear();
        let health = lab.outputs(&request.scope).unwrap().health;
        assert_eq!(lab.cloud.operations().len(), 3, "{:?}", lab.cloud.operations());
        let message = "All 3 members running. The last launch, on 2026-01-01 00:10 UTC, failed: no capacity";
        assert!(health.message.starts_with(message), "{health:?}");
        assert_eq!((health.state.as_str(), health.healthy, health.reasons.len()), ("running", true, 0));
        lab.edit(|world| world.launch_error = None);
        lab.settle(&request, "launches again");
        lab.cloud.clear();
        assert_eq!(lab.outputs(&request.scope).unwrap().health.message, "All 3 members running");
        assert_eq!(lab.cloud.operations().len(), 2, "{:?}", lab.cloud.operations());
    }
}

#[test]
fn members_of_an_older_version_cost_nothing_more() {
    let lab = Lab::new();
    settled(&lab);
    let request = patched(json!({"node_labels": {"team": "b"}}));
    lab.apply(&request).unwrap();
    lab.wait(Duration::from_mins(10));
    lab.cloud.clear();
    lab.outputs(&request.scope).unwrap();
    assert_eq!(lab.cloud.operations().len(), 2, "{:?}", lab.cloud.operations());
}

#[test]
fn a_rotation_costs_a_plan_and_one_write() {
    let lab = Lab::new();
    settled(&lab);
    let rotated = patched(json!({"bootstrap_data": "I2Nsb3VkLWNvbmZpZyAyCg=="}));
    lab.plan(&rotated).unwrap();
    let plan = lab.cloud.operations().len();
    lab.cloud.clear();
    lab.apply(&rotated).unwrap();
    assert_eq!(lab.cloud.operations().len(), plan + 1, "{:?}", lab.cloud.operations());
    assert_eq!(lab.cloud.writes().len(), 1);
}

#[test]
fn a_creation_costs_a_plan_five_writes_and_two_reads() {
    let lab = Lab::new();
    lab.plan(&patched(native())).unwrap();
    let plan = lab.cloud.operations().len();
    assert!(plan <= 10, "{:?}", lab.cloud.operations());
    lab.cloud.clear();
    lab.apply(&patched(native())).unwrap();
    let (all, writes) = (lab.cloud.operations(), lab.cloud.writes().len());
    assert_eq!(writes, 5, "{:?}", lab.cloud.writes());
    assert_eq!(all.len(), plan + 5 + 2, "{:?}", &all[plan..]);
}

#[test]
fn an_apply_without_changes_costs_its_plan() {
    let lab = Lab::new();
    settled(&lab);
    lab.plan(&patched(json!({}))).unwrap();
    let plan = lab.cloud.operations().len();
    lab.cloud.clear();
    lab.apply(&patched(json!({}))).unwrap();
    assert_eq!(lab.cloud.operations().len(), plan, "{:?}", lab.cloud.operations());
}
