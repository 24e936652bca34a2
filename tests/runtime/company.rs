//! Several Jobs at once on one pool.

use std::{
    process::{Child, Stdio},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use super::{
    double::Fault,
    runner::{LEASE, NAMESPACE, Outcome, Runner},
};

const VARIABLES: &str = "-var-file=terraform.tfvars.json";
const APPLY: [&str; 5] = ["apply", "-input=false", "-lock-timeout=300s", "-auto-approve", VARIABLES];

fn start(runner: &Runner, args: &[&str]) -> Child {
    runner.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn end(child: Child) -> Outcome {
    Outcome::of(&child.wait_with_output().unwrap())
}

/// The pool's resources in the account: groups with their bounds, and how many templates.
fn resources(runner: &Runner) -> (Vec<Value>, usize) {
    let world = &runner.account()["world"];
    let groups = world["groups"].as_object().unwrap().values();
    let bounds = groups.map(|group| json!([group["min"], group["max"], group["desired"]])).collect();
    (bounds, world["templates"].as_object().unwrap().len())
}

#[test]
fn of_two_applies_one_waits_for_the_other() {
    let runner = Runner::new();
    runner.init();
    // Whoever has the lock keeps it for a while.
    runner.kubernetes.fail_times("list", "secrets", 1, Fault::Slow(Duration::from_millis(500)));
    let both = [start(&runner, &APPLY), start(&runner, &APPLY)].map(end);
    let waited = both.iter().filter(|outcome| outcome.err.contains("Waiting for the state lock")).count();
    let mut made: Vec<String> =
        both.into_iter().map(|outcome| outcome.ok().lines().next().unwrap().to_owned()).collect();
    made.sort();
    let complete = |added| format!("Apply complete! Resources: {added} added, 0 changed, 0 destroyed.");
    assert_eq!(made, [complete(0), complete(5)]);
    assert_eq!(waited, 1);
    assert_eq!(resources(&runner), (vec![json!([3, 3, 3])], 1));
    runner.assert_unlocked();
    assert!(runner.apply().ok().starts_with(&complete(0)));
}

#[test]
fn two_applies_without_a_lock_end_in_the_same_state() {
    // With a state, which only one of them can be the first to write; and without, as an operator works.
    for has_root in [true, false] {
        for _ in 0..3 {
            let runner = Runner::new();
            runner.init();
            if !has_root {
                std::fs::remove_file(runner.work("root/main.tf.json")).unwrap();
            }
            let args = [&APPLY[..], &["-lock=false"]].concat();
            for outcome in [start(&runner, &args), start(&runner, &args)].map(end) {
                if outcome.code == 1 && has_root {
                    outcome.fails("somebody else wrote the Secret");
                } else {
                    outcome.ok();
                }
            }
            let again = runner.run(&APPLY).ok();
            assert!(
                again.starts_with("Apply complete! Resources: 0 added, 0 changed, 0 destroyed."),
                "{again}"
            );
            assert_eq!(resources(&runner), (vec![json!([3, 3, 3])], 1));
            if has_root {
                assert_eq!(runner.state().unwrap()["resources"].as_array().unwrap().len(), 5);
                runner.assert_unlocked();
            }
        }
    }
}

/// The outputs that the lines of `-json` tell.
fn told(outcome: Outcome) -> Value {
    let out = outcome.ok();
    let lines = out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.into_iter().find(|line| line["type"] == "outputs").unwrap()["outputs"].clone()
}

#[test]
fn ten_refreshes_during_an_apply_wait_and_tell_the_truth() {
    let runner = Runner::new();
    runner.apply().ok();
    runner.come_up();
    runner.render(|inputs| inputs["replicas"] = json!(5));
    runner.kubernetes.fail_times("list", "secrets", 1, Fault::Slow(Duration::from_millis(400)));
    let before = runner.state().unwrap();
    runner.kubernetes.seen();
    let apply = start(&runner, &APPLY);
    let held = || {
        let lease = runner.kubernetes.object("leases", NAMESPACE, LEASE).unwrap();
        lease["spec"]["holderIdentity"].is_string()
    };
    while !held() {
        thread::sleep(Duration::from_millis(5));
    }
    let args = [&["apply", "-json", "-refresh-only"], &APPLY[1..]].concat();
    let refreshes: Vec<Child> = (0..10).map(|_| start(&runner, &args)).collect();
    end(apply).ok();
    let told: Vec<Value> = refreshes.into_iter().map(|child| told(end(child))).collect();
    for outputs in &told {
        // None of them was told of the pool as it was before, and none of a group that is gone.
        assert_eq!(outputs["replicas"]["value"], 5, "{outputs}");
        assert_eq!(outputs["provider_id"]["value"], before["outputs"]["provider_id"]["value"], "{outputs}");
        let members = outputs["provider_id_list"]["value"].as_array().unwrap().len();
        assert!((3..=5).contains(&members), "a live member was left out: {outputs}");
    }
    let after = runner.state().unwrap();
    let writes = runner.kubernetes.calls().iter().filter(|call| *call == "update secrets").count();
    let serials = after["serial"].as_u64().unwrap() - before["serial"].as_u64().unwrap();
    assert_eq!(serials, writes as u64, "each write is one serial further");
    // One write by the apply, and one whenever members had come up meanwhile.
    let mut different = told.clone();
    different.sort_by_key(Value::to_string);
    different.dedup();
    assert!(writes <= 1 + different.len(), "{writes} writes of {} outputs", different.len());
    assert_eq!(after["lineage"], before["lineage"]);
    runner.assert_unlocked();
}
