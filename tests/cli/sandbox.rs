//! A pool's whole life in the sandbox.

use std::process::{Command, Stdio};

use super::{Bench, Outcome, demo};

/// The end of a command line: the demo pool in the bench's sandbox.
fn pool() -> String {
    format!("--sandbox account.json -var-file={}", demo().display())
}

#[test]
fn without_aws_the_error_says_what_to_do() {
    if cfg!(feature = "aws") {
        return;
    }
    let outcome = Bench::new().run("outputs -var captf_object={\"namespace\":\"a\"} -var machinepool_name=b");
    let outcome = outcome.fails("This build knows no AWS");
    assert!(outcome.err.contains("--sandbox"), "{}", outcome.err);
}

#[test]
#[ignore = "needs the contract, the engine and the sandbox"]
fn a_pool_from_nothing_to_nothing() {
    let bench = Bench::new();
    let pool = pool();

    let outcome = bench.run(&format!("plan -detailed-exitcode {pool}"));
    assert_eq!(outcome.code, 2, "{}{}", outcome.out, outcome.err);
    assert!(outcome.err.starts_with("Sandbox: "), "{}", outcome.err);
    assert!(outcome.out.starts_with("This creates the pool team-a/demo-pool-0 in "), "{}", outcome.out);
    let last = outcome.out.lines().last().unwrap();
    assert!(last.starts_with("Plan: ") && last.ends_with(" to add, 0 to change, 0 to destroy."), "{last}");
    let added = last.split(' ').nth(1).unwrap().to_owned();

    let outcome = bench.run(&format!("apply -auto-approve {pool}"));
    assert_eq!(outcome.code, 0, "{}{}", outcome.out, outcome.err);
    let sentence = format!("Apply complete! Resources: {added} added, 0 changed, 0 destroyed.");
    assert_eq!(outcome.out.lines().next(), Some(sentence.as_str()));
    assert!(outcome.out.contains("captf-team-a-demo-pool-0-43c6d828"), "{}", outcome.out);
    assert!(outcome.err.contains("Done: "), "{}", outcome.err);

    let outcome = bench.run(&format!("plan -detailed-exitcode {pool}"));
    assert_eq!(outcome.code, 0, "{}", outcome.out);
    assert!(outcome.out.starts_with("No changes. "), "{}", outcome.out);

    let outcome = bench.run(&format!("plan -destroy -detailed-exitcode {pool}"));
    assert_eq!(outcome.code, 2, "{}", outcome.out);
    assert!(outcome.out.starts_with("This destroys the pool team-a/demo-pool-0 in "), "{}", outcome.out);

    let destroyed = bench.run(&format!("destroy -auto-approve {pool}")).ok();
    assert!(destroyed.starts_with("Destroy complete! Resources: ") && destroyed.ends_with(" destroyed.\n"));
    assert_ne!(destroyed, "Destroy complete! Resources: 0 destroyed.\n");
    let again = bench.run(&format!("destroy -auto-approve {pool}")).ok();
    assert_eq!(again, "Destroy complete! Resources: 0 destroyed.\n");

    let health = bench.run(&format!("outputs health {pool}")).ok();
    assert!(health.contains("\"terminated\"") && health.contains("GroupNotFound"), "{health}");
}

#[test]
#[ignore = "needs the contract, the engine and the sandbox"]
fn outputs_come_in_every_form() {
    let bench = Bench::new();
    let pool = pool();
    bench.run(&format!("apply -auto-approve {pool}")).ok();
    let all: serde_json::Value = serde_json::from_str(&bench.run(&format!("outputs {pool}")).ok()).unwrap();
    assert_eq!(all["autoscaling_group_name"], "captf-team-a-demo-pool-0-43c6d828");
    for name in all.as_object().unwrap().keys() {
        let one: serde_json::Value =
            serde_json::from_str(&bench.run(&format!("outputs {name} {pool}")).ok()).unwrap();
        assert!(
            name == "instances" || name == "health" || name == "provider_id_list" || one == all[name],
            "{name}"
        );
    }
    let table = bench.run(&format!("outputs --format table {pool}")).ok();
    assert!(
        table.starts_with("Outputs:\n") && table.contains("captf-team-a-demo-pool-0-43c6d828"),
        "{table}"
    );
    bench.run(&format!("outputs no_such {pool}")).fails("provider_id_list");
    let refreshed = bench.run(&format!("apply -refresh-only -auto-approve {pool}")).ok();
    assert!(
        refreshed.starts_with("Apply complete! Resources: 0 added, 0 changed, 0 destroyed.\n\nOutputs:\n")
    );
    let unasked = bench.run(&format!("apply -refresh-only {pool}")).ok();
    assert!(unasked.starts_with("Apply complete! "), "{unasked}");
}

#[test]
#[ignore = "needs the contract, the engine and the sandbox"]
fn a_new_version_says_that_it_replaces_instances_and_waits_if_told() {
    let bench = Bench::new();
    let pool = pool();
    bench.run(&format!("apply -auto-approve {pool}")).ok();
    let newer = format!("{pool} -var kubernetes_version=v1.32.0");
    // Members come up over time; an apply that waits gives them that.
    bench.run(&format!("apply -auto-approve --wait {pool}")).ok();
    let plan = bench.run(&format!("plan {newer}")).ok();
    let opening = plan.split("\n\n").next().unwrap().replace('\n', " ");
    assert!(opening.contains("running instance") && opening.contains("replaced, because "), "{opening}");
    let json: serde_json::Value =
        serde_json::from_str(&bench.run(&format!("plan --format json {newer}")).ok()).unwrap();
    assert_eq!(json["verdict"].as_str().map(str::to_owned), Some(opening));
    let outcome = bench.run(&format!("apply -auto-approve --wait {newer}"));
    assert_eq!(outcome.code, 0, "{}{}", outcome.out, outcome.err);
    assert!(bench.run(&format!("plan {newer}")).ok().starts_with("No changes. "));
}

#[test]
#[ignore = "needs the contract, the engine and the sandbox"]
fn planning_twice_gives_the_same_bytes_and_the_environment_names_the_sandbox() {
    let bench = Bench::new();
    let plan = |format: &str| {
        let line = format!("plan --format {format} -var-file={}", demo().display());
        let output = bench
            .command(line.split_whitespace())
            .env("MACHINEPOOL_SANDBOX", "account.json")
            .output()
            .unwrap();
        Outcome::of(&output).ok()
    };
    for format in ["text", "json"] {
        assert_eq!(plan(format), plan(format));
    }
    assert!(bench.path("account.json").exists());
}

#[test]
#[ignore = "needs the contract, the engine and the sandbox"]
fn the_secret_appears_nowhere() {
    let bench = Bench::new();
    let text = std::fs::read_to_string(demo()).unwrap();
    let inputs: serde_json::Value = serde_json::from_str(&text).unwrap();
    let secret = inputs["bootstrap_data"].as_str().unwrap().to_owned();
    let pool = pool();
    for command in ["plan", "plan --format json", "apply -auto-approve", "outputs", "destroy -auto-approve"] {
        let outcome = bench.run(&format!("{command} {pool}"));
        assert!(!outcome.out.contains(&secret) && !outcome.err.contains(&secret), "{command}");
    }
}

#[test]
#[ignore = "needs the contract, the engine and the sandbox"]
fn an_apply_whose_reader_went_away_is_done_all_the_same() {
    let bench = Bench::new();
    let line = format!("apply -auto-approve {}", pool());
    let mut child =
        bench.command(line.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(bench.run(&format!("plan {}", pool())).ok().starts_with("No changes. "));
}

#[cfg(unix)]
#[test]
#[ignore = "needs the contract, the engine and the sandbox"]
fn an_interrupted_destroy_ends_with_1_and_can_be_continued() {
    let bench = Bench::new();
    bench.run(&format!("apply -auto-approve {}", pool())).ok();
    let line = format!("destroy -auto-approve {}", pool());
    let child =
        bench.command(line.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let _ = Command::new("/bin/kill").args(["-TERM", &child.id().to_string()]).status();
    let code = child.wait_with_output().unwrap().status.code();
    // Ended by the signal before it listens (None), interrupted, or already done.
    assert!(matches!(code, None | Some(0 | 1)), "{code:?}");
    bench.run(&format!("destroy -auto-approve {}", pool())).ok();
    assert_eq!(
        bench.run(&format!("destroy -auto-approve {}", pool())).ok(),
        "Destroy complete! Resources: 0 destroyed.\n"
    );
}
