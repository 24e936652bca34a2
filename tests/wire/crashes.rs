//! A run that is killed at any of its writes, answered or not: the next run ends where an undisturbed
//! one would, with nothing left behind and nothing done twice.

use std::{process::Stdio, time::Duration};

use serde_json::json;

use crate::{
    calls::is_write,
    harness::Pool,
    scenario::{AUTOSCALING_OFF, AUTOSCALING_ON, CREATION, END, NEW_VERSION, ROLL, ROTATION, Scenario},
};

/// Runs the scenario and kills it while it waits for the answer to a call that hangs.
async fn killed_at(scenario: Scenario, pool: &Pool, operation: &str, nth: usize, kind: &str) {
    pool.faults(&json!([{"operation": operation, "kind": kind, "count": 1, "skip": nth}]));
    let mut run = scenario.command(pool).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let hangs = || {
        let calls = pool.calls();
        calls.iter().any(|call| call.operation == operation && call.fault.as_deref() == Some(kind))
    };
    for _ in 0..400 {
        if hangs() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    assert!(hangs(), "{operation} {nth} never came");
    // Whatever runs beside it comes to its end, and so does the effect.
    tokio::time::sleep(Duration::from_millis(150)).await;
    run.kill().unwrap();
    run.wait().unwrap();
    pool.faults(&json!([]));
}

async fn recovers(scenario: Scenario) {
    let Some((end, calls)) = scenario.undisturbed().await else { return };
    for (operation, nth) in calls.iter().filter(|(operation, _)| is_write(operation)) {
        for kind in ["hang-before", "hang-after"] {
            let pool = scenario.pool().await.unwrap();
            killed_at(scenario, &pool, operation, *nth, kind).await;
            let outcome = scenario.run(&pool);
            assert_eq!(outcome.code, 0, "{kind} {operation} {nth}:\n{}\n{}", outcome.out, outcome.err);
            scenario.is_done(&pool);
            assert_eq!(pool.end().await, end, "{kind} {operation} {nth}");
        }
    }
}

macro_rules! recovery {
    ($($name:ident: $scenario:ident;)*) => {
        $(
            #[tokio::test]
            async fn $name() {
                recovers($scenario).await;
            }
        )*
    };
}

recovery! {
    of_a_creation: CREATION;
    of_a_rotation: ROTATION;
    of_a_new_version: NEW_VERSION;
    of_a_roll: ROLL;
    of_autoscaling_switched_on: AUTOSCALING_ON;
    of_autoscaling_switched_off: AUTOSCALING_OFF;
    of_a_destroy: END;
}

#[tokio::test]
async fn every_member_is_replaced_once_whenever_a_roll_is_killed() {
    let Some((_, calls)) = ROLL.undisturbed().await else { return };
    for (operation, nth) in calls.iter().filter(|(operation, _)| is_write(operation)) {
        let pool = ROLL.pool().await.unwrap();
        let members = pool.members().await;
        killed_at(ROLL, &pool, operation, *nth, "hang-after").await;
        ROLL.run(&pool).ok();
        pool.act("refresh", json!({"steps": 8}));
        ROLL.run(&pool).ok();
        assert!(pool.members().await.is_disjoint(&members), "{operation}");
        assert_eq!(
            pool.machines().await.len(),
            2 * members.len(),
            "{operation}: somebody was replaced twice"
        );
        assert_eq!(pool.templates().await.len(), 1, "{operation}");
    }
}

#[tokio::test]
async fn a_creation_killed_and_then_destroyed_leaves_nothing() {
    let Some((_, calls)) = CREATION.undisturbed().await else { return };
    for (operation, nth) in calls.iter().filter(|(o, _)| o.starts_with("Create") || o.starts_with("Put")) {
        let pool = CREATION.pool().await.unwrap();
        killed_at(CREATION, &pool, operation, *nth, "hang-after").await;
        pool.destroy();
        assert!(pool.find_group().await.is_none(), "{operation}");
        assert!(pool.templates().await.is_empty(), "{operation}");
        assert!(pool.find_object().await.is_none(), "{operation}");
    }
}

#[tokio::test]
async fn two_applies_at_once_end_as_one() {
    for scenario in [CREATION, ROLL] {
        let Some((end, _)) = scenario.undisturbed().await else { return };
        let pool = scenario.pool().await.unwrap();
        pool.latency(50);
        let start = || scenario.command(&pool).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut runs = [start(), start()];
        for run in &mut runs {
            run.wait().unwrap();
        }
        pool.latency(0);
        // One of them may have been refused; together they got somewhere.
        scenario.run(&pool).ok();
        scenario.is_done(&pool);
        assert_eq!(pool.end().await, end);
    }
}
