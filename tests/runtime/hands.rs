//! Somebody else's hands on the Secret and the Lease while an operation goes on, and an API that goes away.

use std::{fs, io::Read as _, thread, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{
    double::{Double, Fault},
    runner::{LEASE, NAMESPACE, Outcome, Runner, SECRET},
};

const VARIABLES: &str = "-var-file=terraform.tfvars.json";

fn apply(runner: &Runner) -> Outcome {
    runner.operation("apply", &["-auto-approve", VARIABLES])
}

/// A pool whose next apply changes the state.
fn about_to_change() -> Runner {
    let runner = Runner::new();
    runner.apply().ok();
    runner.render(|inputs| inputs["replicas"] = json!(4));
    runner
}

/// The apply that follows has nothing left to do, and what is recorded is true.
fn is_well(runner: &Runner) {
    assert!(apply(runner).ok().starts_with("Apply complete! Resources: 0 added, 0 changed, 0 destroyed.\n"));
    let state = runner.state().unwrap();
    assert_eq!(state["outputs"]["replicas"]["value"], 4);
    assert_eq!(state["resources"].as_array().unwrap().len(), 5);
    runner.assert_unlocked();
}

fn take_lease(double: &Double) {
    double.edit("leases", NAMESPACE, LEASE, |lease| lease["spec"]["holderIdentity"] = json!("7b1d"));
}

fn remove_lease(double: &Double) {
    double.remove("leases", NAMESPACE, LEASE);
}

fn remove_secret(double: &Double) {
    double.remove("secrets", NAMESPACE, SECRET);
}

fn annotate_secret(double: &Double) {
    double.edit("secrets", NAMESPACE, SECRET, |secret| {
        secret["metadata"]["labels"]["team"] = json!("b");
        secret["metadata"]["annotations"]["note"] = json!("keep me");
        secret["metadata"]["ownerReferences"] =
            json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "u-1"}]);
    });
}

/// Somebody records outputs of their own.
fn rewrite_secret(double: &Double) {
    double.edit("secrets", NAMESPACE, SECRET, |secret| {
        let stored = STANDARD.decode(secret["data"]["tfstate"].as_str().unwrap()).unwrap();
        let mut text = String::new();
        flate2::read::GzDecoder::new(stored.as_slice()).read_to_string(&mut text).unwrap();
        let mut state: Value = serde_json::from_str(&text).unwrap();
        state["serial"] = json!(100);
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut packer, state.to_string().as_bytes()).unwrap();
        secret["data"]["tfstate"] = json!(STANDARD.encode(packer.finish().unwrap()));
    });
}

#[test]
fn a_secret_that_others_change_between_read_and_write_is_theirs() {
    for (hand, serial) in [(rewrite_secret as fn(&Double), Some(100)), (remove_secret, None)] {
        let runner = about_to_change();
        let lineage = runner.state().unwrap()["lineage"].clone();
        runner.kubernetes.fail_times("update", "secrets", 1, Fault::Hand(hand));
        let outcome = apply(&runner).fails("somebody else wrote the Secret");
        assert!(outcome.err.contains("errored.tfstate"), "{}", outcome.err);
        assert_eq!(runner.state().map(|state| state["serial"].clone()), serial.map(|serial| json!(serial)));
        runner.assert_unlocked();
        is_well(&runner);
        if serial.is_some() {
            let state = runner.state().unwrap();
            assert_eq!((&state["serial"], &state["lineage"]), (&json!(101), &lineage));
        }
    }
}

#[test]
fn what_others_write_around_the_state_meanwhile_is_kept() {
    let runner = about_to_change();
    runner.kubernetes.fail_times("update", "secrets", 1, Fault::Hand(annotate_secret));
    apply(&runner).ok();
    let metadata = runner.kubernetes.object("secrets", NAMESPACE, SECRET).unwrap()["metadata"].clone();
    assert_eq!(
        (&metadata["labels"]["team"], &metadata["annotations"]["note"]),
        (&json!("b"), &json!("keep me"))
    );
    assert_eq!(metadata["ownerReferences"][0]["uid"], "u-1");
    is_well(&runner);
}

#[test]
fn a_lock_that_is_lost_on_the_way_is_told_and_left_to_its_holder() {
    for (verb, resource) in [("list", "secrets"), ("update", "secrets")] {
        let runner = about_to_change();
        runner.kubernetes.fail_times(verb, resource, 1, Fault::Hand(take_lease));
        apply(&runner).fails("taken away");
        let lease = runner.kubernetes.object("leases", NAMESPACE, LEASE).unwrap();
        assert_eq!(lease["spec"]["holderIdentity"], "7b1d");
        runner.run(&["force-unlock", "-force", "7b1d"]).ok();
        is_well(&runner);

        let runner = about_to_change();
        runner.kubernetes.fail_times(verb, resource, 1, Fault::Hand(remove_lease));
        apply(&runner).fails("taken away");
        is_well(&runner);
    }
}

#[test]
fn a_state_that_does_not_fit_beside_what_others_keep_there_is_left_behind() {
    let runner = about_to_change();
    let crowd = STANDARD.encode(vec![0; 1_048_000]);
    runner.kubernetes.edit("secrets", NAMESPACE, SECRET, |secret| secret["data"]["other"] = json!(crowd));
    let outcome = apply(&runner).fails("does not fit into the Secret");
    assert!(outcome.err.contains("errored.tfstate") && runner.work("root/errored.tfstate").exists());
    runner.assert_unlocked();
    runner.kubernetes.edit("secrets", NAMESPACE, SECRET, |secret| {
        secret["data"].as_object_mut().unwrap().remove("other");
    });
    runner.run(&["state", "push", "errored.tfstate"]).ok();
    fs::remove_file(runner.work("root/errored.tfstate")).unwrap();
    is_well(&runner);
}

#[test]
fn an_api_that_is_away_between_lock_and_write_is_waited_for() {
    for fault in [Fault::Drop, Fault::Status(503)] {
        let runner = about_to_change();
        // The lock is taken, the state is read; then nothing answers for a while.
        runner.kubernetes.fail_from(3, fault);
        let double = runner.kubernetes.clone();
        let healer = thread::spawn(move || {
            thread::sleep(Duration::from_secs(2));
            double.heal();
        });
        runner.kubernetes.seen();
        apply(&runner).ok();
        healer.join().unwrap();
        assert!(runner.kubernetes.calls().len() > 5, "it was asked again");
        is_well(&runner);
    }
}

#[test]
fn rights_that_are_withdrawn_on_the_way_lose_nothing() {
    let calls = ["get leases", "update leases", "list secrets", "update secrets", "update leases"];
    for (number, call) in calls.into_iter().enumerate() {
        let runner = about_to_change();
        runner.init();
        runner.kubernetes.fail_from(number, Fault::Status(403));
        let outcome = apply(&runner).fails(call);
        runner.kubernetes.heal();
        let lease = runner.kubernetes.object("leases", NAMESPACE, LEASE).unwrap();
        if let Some(id) = lease["spec"]["holderIdentity"].as_str() {
            assert!(outcome.err.contains(id) && outcome.err.contains("force-unlock"), "{}", outcome.err);
            runner.run(&["force-unlock", "-force", id]).ok();
        }
        apply(&runner).ok();
        is_well(&runner);
    }
}

#[test]
fn nobody_listening_is_told_and_nothing_is_begun() {
    let runner = Runner::new();
    runner.init();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let host = format!("-backend-config=host=http://127.0.0.1:{port}");
    runner
        .run(&["init", "-backend-config=secret_suffix=demo-pool", "-backend-config=namespace=team-a", &host])
        .ok();
    let outcome = apply(&runner).fails("Cannot get leases");
    assert!(outcome.err.contains("the connection was refused"), "{}", outcome.err);
    assert!(!runner.work("account.json").exists());
}
