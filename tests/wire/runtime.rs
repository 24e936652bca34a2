//! The controller's runner in front, AWS over the wire behind: each operation of a pool's life.

#[path = "../kubernetes/double.rs"]
mod double;
// Shared with the tests of the runner on the sandbox, which use all of it.
#[allow(dead_code)]
#[path = "../runtime/runner.rs"]
pub(crate) mod runner;

use serde_json::{Value, json};

use self::runner::Runner;
use super::{
    calls::{sorted, writes},
    harness::Pool,
    inputs,
};

/// A runner whose Jobs work in the pool's account.
pub(crate) fn runner_of(pool: &Pool) -> Runner {
    let mut runner = Runner::new();
    runner.variables = vec![
        ("AWS_ENDPOINT_URL", pool.double.endpoint()),
        ("AWS_ACCESS_KEY_ID", pool.key()),
        ("AWS_EC2_METADATA_DISABLED", "true".to_owned()),
        // An empty name is no sandbox.
        ("MACHINEPOOL_SANDBOX", String::new()),
    ];
    render(&runner, pool);
    runner
}

pub(crate) fn render(runner: &Runner, pool: &Pool) {
    runner.render(|inputs| *inputs = pool.inputs.clone());
}

fn actions(shown: &Value, kind: &str) -> Value {
    let changes = shown["resource_changes"].as_array().unwrap();
    let change = changes.iter().find(|c| c["type"] == kind).unwrap_or_else(|| panic!("no {kind}: {shown}"));
    change["change"]["actions"].clone()
}

#[tokio::test]
async fn the_runner_leads_a_pool_through_its_life() {
    let Some(mut pool) = Pool::new().await else { return };
    let runner = runner_of(&pool);
    let made = runner.apply().ok();
    assert!(made.starts_with("Apply complete! Resources: 5 added, 0 changed, 0 destroyed.\n"), "{made}");
    assert_eq!(pool.members().await.len(), 3);
    runner.assert_unlocked();

    // What comes every minute: two calls to AWS, and nothing written but the lock.
    runner.refresh().ok();
    let before = (runner.version(), runner.state().unwrap());
    runner.kubernetes.seen();
    pool.forget_calls();
    let refreshed = runner.refresh().ok();
    assert!(refreshed.starts_with("Apply complete! Resources: 0 added, 0 changed, 0 destroyed.\n"));
    assert_eq!(sorted(&pool.calls()), ["DescribeAutoScalingGroups", "DescribeInstances"]);
    let written = runner.kubernetes.calls();
    assert!(written.iter().all(|c| c.ends_with(" leases") || c == "list secrets"), "{written:?}");
    assert_eq!((runner.version(), runner.state().unwrap()), before);
    let health = &before.1["outputs"]["health"]["value"];
    assert_eq!((&health["state"], &health["healthy"]), (&json!("running"), &json!(true)), "{health}");

    // What comes every few minutes: one write, and no new serial.
    pool.set("bootstrap_data", json!(inputs::bootstrap(2)));
    render(&runner, &pool);
    pool.forget_calls();
    let rotated = runner.apply().ok();
    assert!(
        rotated.starts_with("Apply complete! Resources: 0 added, 1 changed, 0 destroyed.\n"),
        "{rotated}"
    );
    assert_eq!(writes(&pool.calls()), ["PutObject"]);
    assert_eq!(runner.version(), before.0);

    // A guarded roll.
    pool.set("kubernetes_version", json!("v1.34.2"));
    render(&runner, &pool);
    runner.init();
    assert_eq!(runner.plan("apply.tfplan", &[]).code, 2);
    assert_eq!(actions(&runner.show("apply.tfplan"), "aws_launch_template"), json!(["create", "delete"]));
    runner.apply_file("apply.tfplan").ok();
    assert_eq!(pool.refreshes().await.len(), 1);

    let gone = runner.destroy().ok();
    assert!(gone.contains("Destroy complete! Resources: 5 destroyed."), "{gone}");
    assert!(pool.find_group().await.is_none());
    assert!(pool.templates().await.is_empty());
    assert_eq!(runner.run(&["state", "list"]).ok(), "");
    runner.assert_unlocked();
}
