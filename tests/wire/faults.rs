//! Calls that are throttled, fail, are cut off or lag: the run goes on, and ends where an undisturbed
//! one would.

use serde_json::json;

use crate::{
    calls::is_write,
    harness::Pool,
    scenario::{AUTOSCALING_OFF, AUTOSCALING_ON, CREATION, END, NEW_VERSION, ROLL, ROTATION, Scenario},
};

/// Which calls are disturbed.
#[derive(Clone, Copy, PartialEq)]
enum Which {
    All,
    /// Reads are repeated by the SDK, whatever they belong to: disturbing them once is enough.
    Writes,
}

/// Disturbs the calls of the scenario, one in each run.
async fn survives(scenario: Scenario, which: Which, kinds: &[&str]) {
    let Some((end, calls)) = scenario.undisturbed().await else { return };
    for (operation, nth) in calls.iter().filter(|(operation, _)| which == Which::All || is_write(operation)) {
        for kind in kinds {
            let pool = scenario.pool().await.unwrap();
            let rule = json!({"operation": operation, "kind": kind, "count": 1, "skip": nth, "millis": 300});
            pool.faults(&json!([rule]));
            let outcome = scenario.run(&pool);
            assert_eq!(outcome.code, 0, "{kind} at {operation} {nth}:\n{}\n{}", outcome.out, outcome.err);
            pool.faults(&json!([]));
            let now = pool.end().await;
            assert_eq!(now, end, "{kind} at {operation} {nth}:\n{}\n{}", outcome.out, outcome.err);
            scenario.is_done(&pool);
        }
    }
}

macro_rules! survival {
    ($($name:ident: $scenario:ident, $which:ident, $kinds:expr;)*) => {
        $(
            #[tokio::test]
            async fn $name() {
                survives($scenario, Which::$which, &$kinds).await;
            }
        )*
    };
}

survival! {
    a_creation_failing: CREATION, All, ["server"];
    a_creation_cut_off: CREATION, All, ["cut-before"];
    a_creation_without_answers: CREATION, Writes, ["throttle", "cut-after", "slow"];
    a_rotation: ROTATION, Writes, ["throttle", "unavailable", "cut-after"];
    a_new_version: NEW_VERSION, Writes, ["server", "cut-before", "cut-after"];
    a_roll: ROLL, Writes, ["throttle", "cut-before", "cut-after"];
    autoscaling_switched_on: AUTOSCALING_ON, Writes, ["unavailable", "cut-after"];
    autoscaling_switched_off: AUTOSCALING_OFF, Writes, ["throttle", "cut-after"];
    a_destroy_failing: END, All, ["throttle"];
    a_destroy_cut_off: END, Writes, ["cut-before", "cut-after"];
}

#[tokio::test]
async fn a_burst_of_throttles_on_every_call() {
    for scenario in [CREATION, ROLL] {
        let Some((end, calls)) = scenario.undisturbed().await else { return };
        let pool = scenario.pool().await.unwrap();
        let mut operations: Vec<_> = calls.into_iter().map(|(operation, _)| operation).collect();
        operations.sort_unstable();
        operations.dedup();
        let rule = |operation| json!({"operation": operation, "kind": "throttle", "count": 5});
        pool.faults(&operations.into_iter().map(rule).collect());
        scenario.run(&pool).ok();
        assert_eq!(pool.end().await, end);
    }
}

#[tokio::test]
async fn reads_that_do_not_show_yet_what_was_made() {
    let Some((end, _)) = CREATION.undisturbed().await else { return };
    for operation in ["DescribeAutoScalingGroups", "DescribeInstances"] {
        let pool = CREATION.pool().await.unwrap();
        // The plan's reading is the first; those after the creation answer as it did.
        pool.faults(&json!([{"operation": operation, "kind": "stale", "skip": 1, "count": 2}]));
        let outcome = CREATION.run(&pool).ok();
        assert!(!outcome.out.contains("terminated"), "{}", outcome.out);
        assert_eq!(pool.end().await, end, "{operation}");
    }
}

#[tokio::test]
async fn a_second_apply_whose_reads_lag_behind_the_first() {
    for scenario in [CREATION, NEW_VERSION, ROLL, AUTOSCALING_ON] {
        for operation in [
            "DescribeAutoScalingGroups",
            "DescribeInstances",
            "DescribeInstanceRefreshes",
            "DescribeLaunchTemplates",
            "DescribeLaunchTemplateVersions",
            "DescribePolicies",
        ] {
            let Some(pool) = scenario.pool().await else { return };
            scenario.run(&pool).ok();
            let end = pool.end().await;
            // What was last read before, or while, the first apply changed it.
            pool.faults(&json!([{"operation": operation, "kind": "stale", "count": 1}]));
            let outcome = scenario.run(&pool);
            assert_eq!(outcome.code, 0, "{operation} {scenario:?}:\n{}\n{}", outcome.out, outcome.err);
            scenario.is_done(&pool);
            let after = pool.end().await;
            // An older version shown as the latest is written over: once more the same, for nobody's harm.
            if operation != "DescribeLaunchTemplateVersions" {
                assert_eq!(after, end, "{operation} {scenario:?}");
            }
        }
    }
}

async fn created_despite(code: &str, message: &str, count: u32) -> (Pool, crate::harness::Outcome, usize) {
    let pool = CREATION.pool().await.unwrap();
    let rule = json!({"operation": "CreateAutoScalingGroup", "kind": "error", "code": code, "message": message, "count": count});
    pool.faults(&json!([rule]));
    let outcome = CREATION.run(&pool);
    let attempts = pool.calls().iter().filter(|call| call.operation == "CreateAutoScalingGroup").count();
    (pool, outcome, attempts)
}

#[tokio::test]
async fn what_auto_scaling_does_not_see_yet_is_waited_for() {
    if crate::double::Double::get().is_none() {
        return;
    }
    for message in [
        "Invalid IamInstanceProfile: workers",
        "You must use a valid fully-formed launch template. Value (workers) for parameter iamInstanceProfile.name is \
         invalid. Invalid IAM Instance Profile name",
        "You must use a valid fully-formed launch template. The specified launch template, with template ID \
         lt-0a1b2c3d4e5f60718, does not exist.",
        "You are not authorized to use launch template: lt-0a1b2c3d4e5f60718",
    ] {
        let (pool, outcome, attempts) = created_despite("ValidationError", message, 1).await;
        assert_eq!(outcome.code, 0, "{message}: {}", outcome.err);
        assert_eq!(attempts, 2, "{message}");
        pool.is_settled();
    }
}

#[tokio::test]
async fn other_validation_errors_are_not_retried() {
    if crate::double::Double::get().is_none() {
        return;
    }
    let message = "You must use a valid fully-formed launch template. The key pair 'x' does not exist";
    let (_, outcome, attempts) = created_despite("ValidationError", message, 99).await;
    assert_eq!((outcome.code, attempts), (1, 1));
    assert!(outcome.err.contains(message), "{}", outcome.err);
}

#[tokio::test]
async fn a_denied_write_is_not_retried_and_says_what_was_done() {
    let Some(pool) = CREATION.pool().await else { return };
    pool.faults(&json!([{"operation": "CreateAutoScalingGroup", "kind": "denied"}]));
    CREATION.run(&pool).exits(1).says("autoscaling:CreateAutoScalingGroup");
    let attempts = pool.calls().iter().filter(|call| call.operation == "CreateAutoScalingGroup").count();
    assert_eq!(attempts, 1);
    assert!(pool.find_group().await.is_none());
    pool.faults(&json!([]));
    pool.apply();
    pool.is_settled();
}

#[tokio::test]
async fn without_the_object_no_group_is_made() {
    let Some(pool) = CREATION.pool().await else { return };
    pool.faults(&json!([{"operation": "PutObject", "kind": "denied"}]));
    CREATION.run(&pool).exits(1).says("s3:PutObject");
    assert!(pool.find_group().await.is_none());
}
