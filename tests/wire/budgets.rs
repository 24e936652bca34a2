//! How many calls a command makes, and how many round trips they take.

use serde_json::json;

use crate::{
    calls::{depth, sorted, writes},
    harness::Pool,
    inputs,
};

/// Long enough that calls meant to be side by side overlap on any machine.
const LATENCY: u32 = 250;

const PLAN: [&str; 9] = [
    "DescribeAutoScalingGroups",
    "DescribeImages",
    "DescribeInstanceRefreshes",
    "DescribeInstances",
    "DescribeLaunchTemplateVersions",
    "DescribeLaunchTemplates",
    "DescribePolicies",
    "GetObjectTagging",
    "HeadObject",
];

#[tokio::test]
async fn a_plan_of_an_unchanged_pool_is_one_round_trip() {
    let Some(pool) = Pool::applied().await else { return };
    pool.latency(LATENCY);
    let calls = pool.calls_of(|pool| {
        pool.run(&["plan", "-detailed-exitcode"]).ok();
    });
    assert_eq!(sorted(&calls), PLAN);
    assert_eq!(depth(&calls), 1);
}

#[tokio::test]
async fn outputs_are_two_calls_in_one_round_trip() {
    let Some(pool) = Pool::applied().await else { return };
    pool.latency(LATENCY);
    for args in [&["outputs"][..], &["apply", "-refresh-only", "-auto-approve"]] {
        let calls = pool.calls_of(|pool| {
            pool.run(args).ok();
        });
        assert_eq!(sorted(&calls), ["DescribeAutoScalingGroups", "DescribeInstances"], "{args:?}");
        assert_eq!(depth(&calls), 1);
    }
}

#[tokio::test]
async fn missing_members_cost_one_more() {
    let Some(pool) = Pool::new().await else { return };
    pool.behaviour(json!({"fail_launches": "We currently do not have sufficient m6i.large capacity"}));
    pool.apply();
    let calls = pool.calls_of(|pool| {
        pool.outputs();
    });
    assert_eq!(
        sorted(&calls),
        ["DescribeAutoScalingGroups", "DescribeInstances", "DescribeScalingActivities"]
    );
}

#[tokio::test]
async fn a_roll_that_cannot_launch_costs_one_more_and_is_told() {
    let Some(mut pool) = Pool::applied().await else { return };
    let why = "We currently do not have sufficient m6i.large capacity";
    pool.behaviour(json!({"fail_launches": why, "refresh_by_looks": false}));
    pool.set("kubernetes_version", "v1.34.2".into());
    pool.apply();
    pool.act("refresh", json!({"steps": 3}));
    let calls = pool.calls_of(|pool| {
        let health = pool.outputs()["health"].clone();
        let message = health["message"].as_str().unwrap();
        assert!(message.starts_with("All 3 members running. ") && message.contains(why), "{message}");
        assert_eq!((&health["state"], &health["healthy"]), (&json!("running"), &json!(true)));
    });
    assert_eq!(
        sorted(&calls),
        ["DescribeAutoScalingGroups", "DescribeInstances", "DescribeScalingActivities"]
    );
}

#[tokio::test]
async fn a_rotation_is_a_plan_and_one_write() {
    let Some(mut pool) = Pool::applied().await else { return };
    pool.latency(LATENCY);
    pool.set("bootstrap_data", inputs::bootstrap(2).into());
    let calls = pool.calls_of(|pool| {
        pool.apply();
    });
    assert_eq!(writes(&calls), ["PutObject"]);
    assert_eq!(calls.len(), PLAN.len() + 1);
    assert_eq!(depth(&calls), 2);
}

#[tokio::test]
async fn a_creation_is_a_plan_five_writes_and_two_reads() {
    let Some(mut pool) = Pool::new().await else { return };
    pool.set("autoscaling", json!({"enabled": true, "min": 1, "max": 5}));
    pool.latency(LATENCY);
    pool.apply();
    let calls = pool.calls();
    let mut written = writes(&calls);
    written.sort_unstable();
    assert_eq!(
        written,
        [
            "CreateAutoScalingGroup",
            "CreateLaunchTemplate",
            "PutObject",
            "PutScalingPolicy",
            "SuspendProcesses"
        ]
    );
    assert_eq!(calls.len(), PLAN.len() + 5 + 2);
    assert_eq!(depth(&calls), 5);
}

#[tokio::test]
async fn a_roll_takes_six_round_trips() {
    let Some(mut pool) = Pool::applied().await else { return };
    pool.set("kubernetes_version", "v1.34.2".into());
    pool.latency(LATENCY);
    let calls = pool.calls_of(|pool| {
        pool.apply();
    });
    assert!(depth(&calls) <= 6, "{calls:#?}");
}
