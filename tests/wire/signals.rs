//! A Job that is told to end while AWS is slow or silent: it ends within seconds, says how far it came,
//! records and unlocks, and the next one ends where an undisturbed one would.

use serde_json::{Value, json};

use crate::{
    harness::Pool,
    runtime::{
        render,
        runner::{Outcome, Runner, Stopped},
        runner_of,
    },
    scenario::{CREATION, END, ROLL, Scenario},
};

/// In seconds, and with some for a machine that is busy. The runner kills after 570.
const AT_ONCE: u64 = 5;
/// All limits together are 14 seconds.
const SOON: u64 = 20;

const COMMON: [&str; 3] = ["-input=false", "-no-color", "-var-file=terraform.tfvars.json"];

/// An error that is an interruption, says `words`, and how to go on.
#[track_caller]
fn says(stopped: Stopped, words: &str) {
    let outcome = stopped.outcome.fails("Interrupted");
    let first = outcome.err.lines().find(|line| line.starts_with("Error: ")).unwrap();
    assert!(first.contains("goes on"), "{first:?}: {}", outcome.err);
    assert!(outcome.err.contains(words), "{words:?} is not said: {}", outcome.err);
}

/// A pool and the runner that leads it, where the scenario's command is about to run.
async fn job(scenario: Scenario) -> Option<(Pool, Runner)> {
    let pool = scenario.unmade().await?;
    let runner = runner_of(&pool);
    if scenario.begins_applied() {
        runner.apply().ok();
    }
    let pool = scenario.changed(pool);
    render(&runner, &pool);
    runner.init();
    pool.forget_calls();
    Some((pool, runner))
}

/// A command that is told to end once `when` is true of the pool. However it ends, it holds no lock.
#[track_caller]
fn stopped(pool: &Pool, runner: &Runner, args: &[&str], when: impl Fn(&Pool) -> bool) -> Stopped {
    let stopped = runner.stopped(&[args, &COMMON].concat(), 1, || when(pool));
    runner.assert_unlocked();
    stopped
}

/// Whether a call met its fault.
fn met(operation: &str) -> impl Fn(&Pool) -> bool {
    move |pool| pool.calls().iter().any(|call| call.operation == operation && call.fault.is_some())
}

/// The types of the resources in the state.
fn recorded(runner: &Runner) -> Vec<String> {
    let state = runner.state().unwrap_or_else(|| json!({"resources": []}));
    let resources = state["resources"].as_array().unwrap().clone();
    let mut types: Vec<String> =
        resources.iter().map(|resource| resource["type"].as_str().unwrap().to_owned()).collect();
    types.sort_unstable();
    types
}

/// Whether the state lists what AWS has, as far as somebody else sees it.
async fn is_true(pool: &Pool, runner: &Runner) {
    let types = recorded(runner);
    let lists = |kind: &str| types.iter().any(|listed| listed == kind);
    assert_eq!(lists("aws_autoscaling_group"), pool.find_group().await.is_some(), "{types:?}");
    assert_eq!(lists("aws_launch_template"), !pool.templates().await.is_empty(), "{types:?}");
    assert_eq!(lists("aws_s3_object"), pool.find_object().await.is_some(), "{types:?}");
}

async fn recovers(scenario: Scenario, operation: &str, kind: &str, words: &str) {
    let Some((undisturbed, runner)) = job(scenario).await else { return };
    runner.run_again(scenario.arguments()).ok();
    let (end, types) = (undisturbed.end().await, recorded(&runner));

    let (pool, runner) = job(scenario).await.unwrap();
    pool.faults(&json!([{"operation": operation, "kind": kind, "millis": 5000, "count": 1}]));
    let stopped = stopped(&pool, &runner, scenario.arguments(), met(operation));
    says(stopped.within(SOON), words);
    pool.faults(&json!([]));
    is_true(&pool, &runner).await;
    runner.run_again(scenario.arguments()).ok();
    assert_eq!(pool.end().await, end);
    assert_eq!(recorded(&runner), types);
    runner.assert_unlocked();
}

impl Runner {
    /// A command of an operation, as it is.
    fn run_again(&self, args: &[&str]) -> Outcome {
        self.run(&[args, &COMMON].concat())
    }
}

macro_rules! stopped_at {
    ($($name:ident: $scenario:ident, $operation:expr, $kind:expr, $words:expr;)*) => {
        $(
            #[tokio::test]
            async fn $name() {
                recovers($scenario, $operation, $kind, $words).await;
            }
        )*
    };
}

stopped_at! {
    a_template_that_comes_late: CREATION, "CreateLaunchTemplate", "slow", "Done before: ";
    an_object_that_comes_late: CREATION, "PutObject", "slow", "uploading";
    a_group_that_comes_late: CREATION, "CreateAutoScalingGroup", "slow", "creating Auto Scaling group";
    a_template_without_an_answer: CREATION, "CreateLaunchTemplate", "hang-after", "may or may not have taken effect";
    a_template_that_is_never_made: CREATION, "CreateLaunchTemplate", "hang-before", "may or may not have taken effect";
    a_group_without_an_answer: CREATION, "CreateAutoScalingGroup", "hang-after", "may or may not have taken effect";
    a_group_that_is_never_made: CREATION, "CreateAutoScalingGroup", "hang-before", "may or may not have taken effect";
    a_roll_that_comes_late: ROLL, "StartInstanceRefresh", "slow", "Interrupted after all ";
    a_roll_without_an_answer: ROLL, "StartInstanceRefresh", "hang-after", "may or may not have taken effect";
    an_emptying_without_an_answer: END, "UpdateAutoScalingGroup", "hang-after", "may or may not have taken effect";
    a_deletion_that_comes_late: END, "DeleteAutoScalingGroup", "slow", "Done before: ";
    a_deletion_without_an_answer: END, "DeleteAutoScalingGroup", "hang-after", "may or may not have taken effect";
    a_template_whose_deletion_has_no_answer: END, "DeleteLaunchTemplate", "hang-before", "deleting Auto Scaling group";
}

/// Reads change nothing: nobody waits for their answers.
#[tokio::test]
async fn a_reading_without_an_answer_is_given_up_at_once() {
    for (scenario, args) in [
        (CREATION, &["plan"][..]),
        (CREATION, &["apply", "-auto-approve"]),
        (CREATION, &["apply", "-auto-approve", "-refresh-only"]),
        (END, &["destroy", "-auto-approve"]),
        (END, &["plan", "-destroy"]),
    ] {
        let Some((pool, runner)) = job(scenario).await else { return };
        let before = runner.state();
        pool.faults(&json!([{"operation": "Describe*", "kind": "hang-before"}]));
        let stopped = stopped(&pool, &runner, args, met("DescribeAutoScalingGroups"));
        let outcome = stopped.within(AT_ONCE).outcome.fails("Interrupted");
        assert!(outcome.err.contains("Nothing was changed"), "{}", outcome.err);
        assert_eq!(runner.state(), before, "{args:?}");
    }
}

/// A read in the middle of what writes, such as the last look of an apply, ends at once, too.
#[tokio::test]
async fn a_look_between_writes_is_given_up_at_once() {
    let Some((pool, runner)) = job(CREATION).await else { return };
    pool.faults(&json!([{"operation": "DescribeInstances", "kind": "hang-before", "skip": 1, "count": 1}]));
    let stopped = stopped(&pool, &runner, CREATION.arguments(), met("DescribeInstances"));
    says(stopped.within(SOON), "Interrupted after all");
    is_true(&pool, &runner).await;
    assert_eq!(runner.state().unwrap()["outputs"]["replicas"]["value"], Value::from(3));
    let again = runner.apply().ok();
    assert!(again.starts_with("Apply complete! Resources: 0 added, 0 changed, 0 destroyed.\n"), "{again}");
}

#[tokio::test]
async fn a_wait_for_a_roll_ends_at_once() {
    for silent in [false, true] {
        let Some((pool, runner)) = job(ROLL).await else { return };
        if silent {
            pool.faults(
                &json!([{"operation": "DescribeInstanceRefreshes", "kind": "hang-before", "skip": 2}]),
            );
        }
        let waits = |pool: &Pool| {
            let calls = pool.calls();
            let started = calls.iter().position(|call| call.operation == "StartInstanceRefresh");
            let looks = |c: &&crate::calls::Call| c.operation == "DescribeInstanceRefreshes";
            started.is_some_and(|at| calls[at..].iter().any(|call| looks(&call)))
        };
        let args = ["apply", "-auto-approve", "--wait"];
        let stopped = stopped(&pool, &runner, &args, waits);
        pool.faults(&json!([]));
        says(stopped.within(SOON), "Interrupted after all");
        is_true(&pool, &runner).await;
        pool.act("refresh", json!({"steps": 8}));
        runner.apply().ok();
        assert_eq!(pool.refreshes().await.len(), 1, "it is not begun again");
    }
}

#[tokio::test]
async fn a_wait_for_members_to_leave_ends_at_once() {
    let Some((pool, runner)) = job(END).await else { return };
    pool.behaviour(json!({"terminating_looks": 5}));
    let emptied = |pool: &Pool| {
        pool.calls().iter().any(|c| c.operation == "UpdateAutoScalingGroup" && c.finished.is_some())
    };
    let stopped = stopped(&pool, &runner, END.arguments(), emptied);
    says(stopped.within(SOON), ", updating Auto Scaling group");
    is_true(&pool, &runner).await;
    runner.destroy().ok();
    assert_eq!(recorded(&runner), [""; 0]);
    assert!(pool.find_group().await.is_none() && pool.templates().await.is_empty());
}

/// Not only a signal ends a destroy half-way.
#[tokio::test]
async fn a_destroy_that_fails_half_way_records_what_is_left() {
    let Some((pool, runner)) = job(END).await else { return };
    pool.faults(&json!([{"operation": "DeleteLaunchTemplate", "kind": "denied"}]));
    runner.destroy().fails("DeleteLaunchTemplate");
    is_true(&pool, &runner).await;
    assert_eq!(recorded(&runner), ["aws_launch_template", "terraform_data", "terraform_data"]);
    assert_eq!(runner.state().unwrap()["outputs"]["health"]["value"]["state"], "terminated");
    pool.faults(&json!([{"operation": "Describe*", "kind": "denied"}]));
    let before = runner.state();
    runner.destroy().fails("Describe");
    assert_eq!(runner.state(), before, "what is not seen is not recorded");
    pool.faults(&json!([]));
    runner.destroy().ok();
    assert_eq!(recorded(&runner), [""; 0]);
}
