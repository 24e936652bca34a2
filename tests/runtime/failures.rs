//! Operations that fail, are stopped, or meet somebody else.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    double::Fault,
    runner::{LEASE, NAMESPACE, Outcome, Runner},
};

const INFO: &str = r#"{"ID":"7b1d","Operation":"OperationTypeApply","Info":"","Who":"me@there","Version":"1.11.4","Created":"2026-01-31T12:00:00Z","Path":""}"#;

/// Somebody else holds the lock.
fn lock(runner: &Runner) {
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"annotations": {"app.terraform.io/lock-info": INFO}},
        "spec": {"holderIdentity": "7b1d"},
    });
    runner.kubernetes.put("leases", NAMESPACE, LEASE, lease);
}

#[test]
fn a_held_lock_stops_every_operation_and_is_waited_for() {
    let runner = Runner::new();
    runner.init();
    lock(&runner);
    let file = "-var-file=terraform.tfvars.json";
    for args in [
        &["plan", file][..],
        &["apply", "-auto-approve", file],
        &["apply", "-auto-approve", "-refresh-only", file],
        &["destroy", "-auto-approve", file],
    ] {
        let outcome = runner.run(args).fails("me@there");
        assert!(outcome.err.contains("7b1d"), "{}", outcome.err);
    }
    assert!(!runner.work("account.json").exists(), "AWS was not even looked at");
    // While it waits, every line is JSON.
    let begin = Instant::now();
    let outcome = runner.run(&["apply", "-json", "-auto-approve", "-lock-timeout=2s", file]);
    assert!(outcome.code == 1 && begin.elapsed() >= Duration::from_secs(2));
    let lines: Vec<Value> = outcome.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().any(|line| line["@message"].as_str().unwrap().contains("me@there")), "{lines:?}");
    // Without a lock it goes on.
    runner.run(&["plan", "-lock=false", file]).ok();

    runner.run(&["force-unlock", "-force", "other"]).fails("does not match existing lock");
    runner.run(&["force-unlock", "-force", "7b1d"]).ok();
    runner.run(&["force-unlock", "-force", "7b1d"]).fails("state is already unlocked");
    runner.apply().ok();
}

#[test]
fn a_state_that_cannot_be_written_is_left_behind() {
    let runner = Runner::new();
    runner.init();
    runner.kubernetes.fail("create", "secrets", Fault::Status(403));
    let outcome = runner.apply().fails("secrets");
    assert!(outcome.err.contains("errored.tfstate"), "{}", outcome.err);
    let left = fs::read_to_string(runner.work("root/errored.tfstate")).unwrap();
    assert!(!left.contains(super::runner::BOOTSTRAP));
    let left: Value = serde_json::from_str(&left).unwrap();
    assert_eq!(left["outputs"]["replicas"]["value"], 3);
    runner.assert_unlocked();
    runner.kubernetes.heal();
    runner.run(&["state", "push", "errored.tfstate"]).ok();
    assert_eq!(runner.state().unwrap(), left);
    assert!(runner.apply().ok().starts_with("Apply complete! Resources: 0 added, 0 changed, 0 destroyed.\n"));
}

#[test]
fn a_state_that_cannot_be_read_stops_everything() {
    let runner = Runner::new();
    runner.init();
    runner.kubernetes.fail("list", "secrets", Fault::Status(403));
    runner.run(&["apply", "-auto-approve", "-var-file=terraform.tfvars.json"]).fails("secrets");
    runner.assert_unlocked();
    runner.kubernetes.heal();
    runner.put_state(&json!({"encrypted_data": "x", "encryption_version": "v0"}));
    let version = runner.version();
    for args in
        [&["apply", "-auto-approve"][..], &["apply", "-auto-approve", "-refresh-only"], &["state", "list"]]
    {
        runner.run(args).fails("encrypted");
    }
    fs::write(
        runner.work("b"),
        json!({"version": 4, "serial": 9, "lineage": "l", "outputs": {}, "resources": []}).to_string(),
    )
    .unwrap();
    let file = runner.path("b");
    runner.run(&["state", "push", "-force", &file]).fails("encrypted");
    assert_eq!(runner.version(), version, "it is never overwritten");
    runner.assert_unlocked();
    assert!(!runner.work("account.json").exists());
}

#[test]
fn nothing_goes_on_without_init_or_without_the_lock() {
    let runner = Runner::new();
    runner.run(&["apply", "-auto-approve"]).fails("init");
    runner.init();
    runner.kubernetes.fail("create", "leases", Fault::Status(403));
    runner.run(&["apply", "-auto-approve"]).fails("leases");
    assert!(!runner.work("account.json").exists());
    let settings = fs::read_dir(runner.work(".terraform")).unwrap().next().unwrap().unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(&settings.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn bad_backend_settings_are_refused_at_init() {
    let runner = Runner::new();
    for (setting, part) in [
        ("secret_suffix=pool-1", "suffix"),
        ("secret_suffix=Pool", "suffix"),
        ("colour=red", "no setting \"colour\""),
        ("insecure=perhaps", "insecure"),
    ] {
        let suffix = if setting.starts_with("secret_suffix") { "namespace=a" } else { "secret_suffix=a" };
        let args =
            ["init".to_owned(), format!("-backend-config={suffix}"), format!("-backend-config={setting}")];
        let outcome = runner.run(&args.each_ref().map(String::as_str));
        assert_eq!(outcome.code, 1, "{setting}");
        assert!(outcome.err.contains(part), "{setting}: {}", outcome.err);
    }
    runner.run(&["init", "-backend=false", "-backend-config=secret_suffix=Pool"]).ok();
}

#[test]
fn a_refused_apply_leaves_the_state_as_it_is() {
    let runner = Runner::new();
    runner.apply().ok();
    let version = runner.version();
    let mut account = runner.account();
    let buckets = account["world"]["buckets"].as_object_mut().unwrap();
    for objects in buckets.values_mut() {
        for object in objects.as_object_mut().unwrap().values_mut() {
            object["tags"]["captf.io/cluster"] = json!("other");
        }
    }
    fs::write(runner.work("account.json"), account.to_string()).unwrap();
    runner.apply().fails("belongs to somebody else");
    runner.assert_unlocked();
    assert_eq!(runner.version(), version);
}

#[test]
fn a_signal_in_the_middle_records_and_unlocks() {
    let runner = Runner::new();
    runner.apply().ok();
    runner.come_up();
    runner.render(|inputs| inputs["kubernetes_version"] = json!("v1.35.0"));
    runner.init();
    let args = ["apply", "-input=false", "-auto-approve", "--wait", "-var-file=terraform.tfvars.json"];
    let mut child = runner.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.by_ref().any(|line| line.starts_with("Waiting (")));
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let begin = Instant::now();
    let rest: Vec<String> = lines.collect();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{rest:?}");
    assert!(begin.elapsed() < Duration::from_secs(10));
    assert!(rest.iter().any(|line| line.starts_with("Error: Interrupted after all ")), "{rest:?}");
    runner.assert_unlocked();
    let template = |state: &Value| {
        let resources = state["resources"].as_array().unwrap().clone();
        resources.iter().find(|r| r["type"] == "aws_launch_template").unwrap()["instances"][0]["attributes"]["id"].clone()
    };
    let after = template(&runner.state().unwrap());
    runner.apply().ok();
    assert_eq!(template(&runner.state().unwrap()), after, "it was recorded, and is no other now");
}

#[test]
fn a_run_whose_lock_was_taken_away_says_so() {
    let runner = Runner::new();
    runner.init();
    runner.kubernetes.fail("list", "secrets", Fault::Slow(Duration::from_secs(2)));
    let child = runner
        .command(&["apply", "-auto-approve", "-var-file=terraform.tfvars.json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while runner.kubernetes.object("leases", NAMESPACE, LEASE).is_none() {
        std::thread::sleep(Duration::from_millis(20));
    }
    lock(&runner);
    let outcome = Outcome::of(&child.wait_with_output().unwrap());
    outcome.fails("lock");
}
