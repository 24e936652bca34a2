//! A Job that is told to end while Kubernetes is slow or silent.

use std::{fs, path::Path, time::Duration};

use serde_json::{Value, json};

use super::{
    double::Fault,
    runner::{LEASE, NAMESPACE, Runner},
};

/// In seconds, and with some for a machine that is busy. The runner kills after 570.
const AT_ONCE: u64 = 5;
/// All limits together are 14 seconds.
const SOON: u64 = 20;

const FILE: &str = "-var-file=terraform.tfvars.json";
const APPLY: [&str; 3] = ["apply", "-auto-approve", FILE];

/// No answer while a test runs.
const NEVER: Fault = Fault::Slow(Duration::from_mins(2));

/// A pool that was applied once, and whose Jobs begin with `init`.
fn applied() -> Runner {
    let runner = Runner::new();
    runner.apply().ok();
    runner.kubernetes.seen();
    runner
}

/// Whether the API was asked for something.
fn asked<'a>(runner: &'a Runner, call: &'a str) -> impl Fn() -> bool + 'a {
    move || runner.kubernetes.calls().iter().any(|made| made == call)
}

fn holder(runner: &Runner) -> String {
    let lease = runner.kubernetes.object("leases", NAMESPACE, LEASE).unwrap();
    lease["spec"]["holderIdentity"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_reading_that_nobody_answers_is_given_up_at_once() {
    let runner = applied();
    for (verb, resource) in [("get", "leases"), ("list", "secrets")] {
        runner.kubernetes.fail(verb, resource, NEVER);
        let call = format!("{verb} {resource}");
        let mut commands = vec![
            &["plan", FILE][..],
            &APPLY,
            &["apply", "-auto-approve", "-refresh-only", FILE],
            &["destroy", "-auto-approve", FILE],
        ];
        match resource {
            "leases" => commands.push(&["force-unlock", "-force", "11111111-2222-3333-4444-555555555555"]),
            _ => commands.extend([&["state", "list"][..], &["state", "pull"]]),
        }
        for args in commands {
            let stopped = runner.stopped(args, 1, asked(&runner, &call));
            let limit = if args[0] == "force-unlock" { SOON } else { AT_ONCE };
            stopped.within(limit).outcome.fails("");
            runner.assert_unlocked();
        }
        runner.kubernetes.heal();
    }
    runner.apply().ok();
}

#[test]
fn a_state_that_cannot_be_written_in_time_is_left_behind() {
    for fault in [NEVER, Fault::Status(503)] {
        let runner = Runner::new();
        runner.init();
        runner.kubernetes.fail("create", "secrets", fault);
        let stopped = runner.stopped(&APPLY, 1, asked(&runner, "create secrets"));
        let outcome = stopped.within(SOON).outcome.fails("state");
        assert!(outcome.err.contains("errored.tfstate"), "{}", outcome.err);
        runner.assert_unlocked();
        let left = fs::read_to_string(runner.work("root/errored.tfstate")).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&left).unwrap()["outputs"]["replicas"]["value"], 3);
        runner.kubernetes.heal();
        runner.run(&["state", "push", "errored.tfstate"]).ok();
        let again = runner.apply().ok();
        assert!(
            again.starts_with("Apply complete! Resources: 0 added, 0 changed, 0 destroyed.\n"),
            "{again}"
        );
    }
}

#[test]
fn a_lock_that_cannot_be_given_back_in_time_is_named() {
    for fault in [NEVER, Fault::Status(503)] {
        let runner = Runner::new();
        runner.init();
        runner.kubernetes.fail("update", "leases", fault);
        let stopped = runner.stopped(&APPLY, 1, asked(&runner, "update leases"));
        let outcome = stopped.within(SOON).outcome.fails("lock was not given back");
        let held = holder(&runner);
        assert!(!held.is_empty() && outcome.err.contains(&held), "{}", outcome.err);
        runner.kubernetes.heal();
        runner.run(&["force-unlock", "-force", &held]).ok();
        runner.apply().ok();
    }
}

#[test]
fn a_second_signal_ends_it_whatever_goes_on() {
    for (verb, resource) in
        [("get", "leases"), ("list", "secrets"), ("update", "secrets"), ("update", "leases")]
    {
        let runner = applied();
        runner.render(|inputs| inputs["replicas"] = 4.into());
        runner.init();
        if verb == "update" && resource == "leases" {
            // What is given back is asked for first.
            runner.kubernetes.remove("leases", NAMESPACE, LEASE);
        }
        runner.kubernetes.fail(verb, resource, NEVER);
        let call = format!("{verb} {resource}");
        let stopped = runner.stopped(&APPLY, 2, asked(&runner, &call)).within(AT_ONCE);
        assert_eq!(stopped.outcome.code, 1, "{call}: {}", stopped.outcome.err);
    }
    // Nobody reads what it prints, and it can do nothing else meanwhile.
    let runner = applied();
    let large = "x".repeat(500_000);
    runner.put_state(&json!({
        "version": 4, "terraform_version": "1.5.7", "serial": 9, "lineage": "l",
        "outputs": {"large": {"value": large, "type": "string"}}, "resources": [],
    }));
    let stopped = runner.stopped(&["state", "pull"], 2, asked(&runner, "list secrets")).within(AT_ONCE);
    assert_eq!(stopped.outcome.code, 1);
    assert!((1..large.len()).contains(&stopped.outcome.out.len()), "{}", stopped.outcome.out.len());
}

#[test]
fn a_signal_ends_the_wait_for_the_lock() {
    let other = json!({"metadata": {}, "spec": {"holderIdentity": "somebody"}});
    let runner = applied();
    runner.kubernetes.put("leases", NAMESPACE, LEASE, other);
    let args = [&APPLY[..], &["-lock-timeout=300s"]].concat();
    let stopped = runner.stopped(&args, 1, asked(&runner, "get leases"));
    stopped.within(AT_ONCE).outcome.fails("Interrupted while waiting for the state lock");
    assert_eq!(holder(&runner), "somebody");
}

/// Has a program get the credentials that makes the file and never ends. What a test leaves of it ends by itself.
fn stuck(runner: &Runner, begun: &Path) {
    let exec = format!(
        r#"-backend-config=exec={{api_version="client.authentication.k8s.io/v1",command="/bin/sh",args=["-c","echo > {}; sleep 60"]}}"#,
        begun.display()
    );
    let host = format!("-backend-config=host={}", runner.kubernetes.address);
    let name = ["-backend-config=secret_suffix=demo-pool", "-backend-config=namespace=team-a"];
    runner.run(&["init", name[0], name[1], &host, &exec]).ok();
}

#[test]
fn a_program_that_gets_no_credentials_makes_nobody_deaf() {
    let mut runner = applied();
    runner.variables.push(("PATH", std::env::var("PATH").unwrap()));
    let begun = runner.work("begun");
    stuck(&runner, &begun);
    for args in [&APPLY[..], &["plan", FILE], &["destroy", "-auto-approve", FILE], &["state", "list"]] {
        for signals in [1, 2] {
            let stopped = runner.stopped(args, signals, || begun.exists()).within(AT_ONCE);
            assert_eq!(stopped.outcome.code, 1, "{args:?}: {}", stopped.outcome.err);
            fs::remove_file(&begun).unwrap();
        }
    }
    assert_eq!(runner.kubernetes.calls(), [""; 0]);
    runner.assert_unlocked();
}
