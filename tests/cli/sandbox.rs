//! A pool's whole life in the sandbox.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use super::{Bench, Outcome, demo};

/// The end of a command line: the demo pool in the bench's sandbox.
fn pool() -> String {
    format!("--sandbox account.json -var-file={}", demo().display())
}

/// Members come up a few seconds after their group.
pub(crate) fn await_members(bench: &Bench, pool: &str) {
    for _ in 0..100 {
        if bench.run(&format!("outputs provider_id_list {pool}")).ok().contains("aws:///") {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    panic!("no member came up");
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
fn a_new_version_says_that_it_replaces_instances_and_waits_if_told() {
    let bench = Bench::new();
    let pool = pool();
    bench.run(&format!("apply -auto-approve {pool}")).ok();
    await_members(&bench, &pool);
    let newer = format!("{pool} -var kubernetes_version=v1.35.0");
    let plan = bench.run(&format!("plan {newer}")).ok();
    let opening = plan.split("\n\n").next().unwrap().replace('\n', " ");
    assert!(opening.contains("running instance") && opening.contains("replaced, because "), "{opening}");
    let json: serde_json::Value =
        serde_json::from_str(&bench.run(&format!("plan --format json {newer}")).ok()).unwrap();
    assert_eq!(json["verdict"].as_str().map(str::to_owned), Some(opening));
    let outcome = bench.run(&format!("apply -auto-approve --wait {newer}"));
    assert_eq!(outcome.code, 0, "{}{}", outcome.out, outcome.err);
    assert!(outcome.err.contains("Waiting ("), "{}", outcome.err);
    assert!(bench.run(&format!("plan {newer}")).ok().starts_with("No changes. "));
}

#[test]
fn a_plan_for_programs_fits_its_schema() {
    let bench = Bench::new();
    let pool = pool();
    let schema = serde_json::from_str(&bench.run("schema plan").ok()).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let plan = |options: &str| -> serde_json::Value {
        let plan = serde_json::from_str(&bench.run(&format!("plan --format json {options}")).ok()).unwrap();
        let faults: Vec<String> = validator.iter_errors(&plan).map(|error| error.to_string()).collect();
        assert_eq!(faults, [""; 0], "{plan:#}");
        plan
    };
    assert_eq!(plan(&pool)["counts"]["add"], 5);
    bench.run(&format!("apply -auto-approve {pool}")).ok();
    await_members(&bench, &pool);
    assert_eq!(plan(&pool)["changes"], serde_json::json!([]));
    let labels = r#"-var node_labels={"node-role.kubernetes.io/worker":""}"#;
    let rolls = plan(&format!("{pool} -var kubernetes_version=v1.35.0 -var replicas=1 {labels}"));
    assert!(rolls["replaced"].as_array().is_some_and(|replaced| !replaced.is_empty()), "{rolls:#}");
    // Those that just go are among those that the roll replaces, and are not counted twice.
    assert_eq!(rolls["terminated"], 0, "{rolls:#}");
    assert_eq!(plan(&format!("{pool} -var replicas=1"))["terminated"], 2);
    assert!(rolls["warnings"].as_array().is_some_and(|warnings| !warnings.is_empty()), "{rolls:#}");
    assert_eq!(plan(&format!("-destroy {pool}"))["counts"]["destroy"], 5);
    assert!(!validator.is_valid(&serde_json::json!({"verdict": ""})));
}

/// A pool that is up, as the account file has it, and inputs that name it and do not say whose it is.
fn pool_by_name(bench: &Bench) -> &'static str {
    bench.run(&format!("apply -auto-approve {}", pool())).ok();
    await_members(bench, &pool());
    let demo: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(demo()).unwrap()).unwrap();
    let short = serde_json::json!({
        "captf_object": {"namespace": "team-a"},
        "machinepool_name": "demo-pool-0",
        "captf_cluster_outputs": demo["captf_cluster_outputs"],
    });
    bench.write("short.tfvars.json", &short.to_string());
    "--sandbox account.json -var-file=short.tfvars.json"
}

#[test]
fn what_ends_something_by_name_alone_says_whose_it_is() {
    let bench = Bench::new();
    let short = pool_by_name(&bench);
    let says = |outcome: Outcome| {
        let told = outcome.err.clone() + &outcome.ok();
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        told.contains("it belongs to cluster demo, object demo-pool-0")
    };
    for command in ["plan -destroy", "plan -destroy --format json", "plan -destroy -json"] {
        assert!(says(bench.run(&format!("{command} {short}"))), "{command}");
        assert!(!says(bench.run(&format!("{command} {}", pool()))), "{command}");
    }
    assert!(!says(bench.run(&format!("rollout cancel {short}"))), "there is nothing to cancel");
    bench.run(&format!("apply -auto-approve {} -var kubernetes_version=v1.35.0", pool())).ok();
    assert!(says(bench.run(&format!("rollout cancel {short}"))));
    bench.run(&format!("plan -destroy -out=destroy.tfplan {short}")).ok();
    assert!(says(bench.run("apply --sandbox account.json destroy.tfplan")));
    for options in ["", "-json"] {
        bench.run(&format!("apply -auto-approve {}", pool())).ok();
        assert!(says(bench.run(&format!("destroy -auto-approve {options} {short}"))), "{options}");
    }
    assert!(!says(bench.run(&format!("destroy -auto-approve {short}"))), "there is nothing left");
}

#[test]
fn a_strangers_group_is_shown_and_never_published() {
    let bench = Bench::new();
    let short = pool_by_name(&bench);
    let account = std::fs::read_to_string(bench.path("account.json")).unwrap();
    let mut account: serde_json::Value = serde_json::from_str(&account).unwrap();
    let group = &mut account["world"]["groups"]["captf-team-a-demo-pool-0-43c6d828"];
    group["tags"]["captf.io/cluster"]["value"] = "prod".into();
    bench.write("account.json", &account.to_string());
    for command in ["outputs", "outputs provider_id_list", "apply -refresh-only -auto-approve", "plan"] {
        let outcome = bench.run(&format!("{command} {}", pool())).fails("belongs to somebody else");
        assert!(outcome.err.contains("captf.io/cluster is \"prod\""), "{command}: {}", outcome.err);
    }
    let status = bench.run(&format!("status {}", pool())).ok();
    assert!(status.contains("belongs to somebody else") && status.contains("i-"), "{status}");
    assert!(bench.run(&format!("outputs {short}")).ok().contains("aws:///"), "whose it is, was not said");
}

#[test]
fn a_sandbox_wants_a_region_as_aws_does() {
    let bench = Bench::new();
    let line = "--sandbox account.json -var captf_object={\"namespace\":\"a\"} -var machinepool_name=b -var replicas=1";
    for command in ["destroy", "outputs", "plan -destroy", "apply -refresh-only"] {
        let run = |region: &str| {
            let command = format!("{command} {line}");
            let mut command = bench.command(command.split_whitespace());
            Outcome::of(&command.env("AWS_REGION", region).output().unwrap())
        };
        bench.run(&format!("{command} {line}")).fails("Error: No region is known");
        run("nonsense").fails("AWS_REGION is \"nonsense\"");
        run("us-east-1a").fails("a zone such as us-east-1a is not one");
        assert!(!bench.path("account.json").exists(), "{command}");
        run("eu-west-1").ok();
        run("eu-west-2").fails("It is an account in eu-west-1");
        std::fs::remove_file(bench.path("account.json")).unwrap();
    }
}

#[test]
fn a_file_that_is_no_sandbox_is_refused_at_once() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("directory")).unwrap();
    bench.write("broken.json", "{\"format\": 1, \"world\": 3}");
    bench.write("empty.json", "");
    let plan = |file: &str| bench.run(&format!("plan --sandbox {file} -var-file={}", demo().display()));
    for (file, part) in [
        ("directory", "directory is a directory; a sandbox is kept in a regular file.\n"),
        ("/dev/full", "is a device"),
        ("/dev/zero", "is a device"),
        ("broken.json", "Use another file, or delete it to begin anew."),
    ] {
        let outcome = plan(file).fails(part);
        assert!(!outcome.err.contains("no answer"), "{file}: {}", outcome.err);
    }
    assert!(plan("empty.json").ok().starts_with("This creates the pool "));
}

/// Nobody can make subnets, groups and images in a sandbox by hand.
#[test]
fn a_sandbox_has_what_the_inputs_speak_of_also_what_they_begin_to_speak_of() {
    let bench = Bench::new();
    let pool = pool();
    assert_eq!(
        bench.run(&format!("destroy -auto-approve {pool}")).ok(),
        "Destroy complete! Resources: 0 destroyed.\n"
    );
    bench.run(&format!("apply -auto-approve {pool}")).ok();
    for more in [
        "-var ssh_key_name=ops",
        "-var additional_security_group_ids=[\"sg-0abc\"]",
        "-var machine_image={\"owner\":\"self\",\"name_format\":\"own-?{semver}-*\"}",
        "-var machine_image={\"id\":\"ami-0123456789abcdef0\"}",
    ] {
        bench.run(&format!("apply -auto-approve {pool} {more}")).ok();
        assert!(bench.run(&format!("plan {pool} {more}")).ok().starts_with("No changes. "), "{more}");
    }
}

#[test]
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
fn an_interrupted_apply_says_what_is_done_and_ends_with_1() {
    let bench = Bench::new();
    let pool = pool();
    bench.run(&format!("apply -auto-approve {pool}")).ok();
    await_members(&bench, &pool);
    let line = format!("apply -auto-approve --wait {pool} -var kubernetes_version=v1.35.0");
    let mut child =
        bench.command(line.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.by_ref().any(|line| line.starts_with("Waiting (")));
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let rest: Vec<String> = lines.collect();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{rest:?}");
    let error = rest.iter().position(|line| line.starts_with("Error: Interrupted after all "));
    let error = error.expect("an error at column 0");
    assert!(rest[error..].iter().any(|line| line.starts_with("Everything else is done: ")), "{rest:?}");
    bench.run(&line).ok();
    bench.run(&format!("destroy -auto-approve {pool}")).ok();
}

/// A pool of so many members takes a while to look at, and far longer were its simulation not linear.
#[cfg(unix)]
#[test]
fn a_signal_is_heard_while_a_large_account_is_simulated() {
    let bench = Bench::new();
    let large = format!("{} -var replicas=50000", pool());
    bench.run(&format!("apply -auto-approve {large}")).ok();
    // A minute later.
    let text = std::fs::read_to_string(bench.path("account.json")).unwrap();
    let mut account: serde_json::Value = serde_json::from_str(&text).unwrap();
    let ahead = account["clock_offset_ms"].as_u64().unwrap() + 60_000;
    account["clock_offset_ms"] = ahead.into();
    bench.write("account.json", &account.to_string());
    let line = format!("status {large}");
    let mut child =
        bench.command(line.split_whitespace()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.next().unwrap().starts_with("Sandbox: "));
    std::thread::sleep(std::time::Duration::from_millis(100));
    let began = std::time::Instant::now();
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let rest: Vec<String> = lines.collect();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{rest:?}");
    assert!(rest.iter().any(|line| line == "Error: Interrupted"), "{rest:?}");
    assert!(began.elapsed() < std::time::Duration::from_secs(10), "a second or two on a machine at rest");
    let bytes = std::fs::read(bench.path("account.json")).unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), account.to_string(), "what was given up was not written");
}

#[test]
fn what_is_said_of_a_bad_sandbox_or_policy_ends_once() {
    let bench = Bench::new();
    bench.write("s.json", "{\"format\": 1}");
    let told = bench.run(&format!("outputs --sandbox s.json -var-file={}", demo().display())).fails("s.json");
    assert!(told.err.trim_end().ends_with("begin anew."), "{}", told.err);
    bench.write("policy.json", "{\"Statement\"");
    bench.run("iam-policy --all-pools --compare policy.json").fails("It is not JSON");
    bench
        .run("iam-policy --all-pools --compare missing.json")
        .fails("No such file or directory (os error 2).");
    bench.run("validate -var-file=missing.json").fails("No such file or directory (os error 2).");
}

/// What a plan was made for is told, not that it is old; and told before any account is opened.
#[test]
fn a_plan_for_another_account_is_called_so() {
    let bench = Bench::new();
    let inputs = format!("-var-file={}", demo().display());
    bench.run(&format!("plan --sandbox a.json -out=p {inputs}")).ok();
    let elsewhere =
        bench.run("apply --sandbox b.json p").fails("Error: Saved plan was made for another sandbox");
    assert!(elsewhere.err.contains("/a.json") && elsewhere.err.contains("/b.json"), "{}", elsewhere.err);
    assert!(!bench.path("b.json").exists(), "no account was made");
    let in_aws = bench.run("apply p").fails("Error: Saved plan was made for a sandbox\n");
    assert!(in_aws.err.contains("/a.json") && !in_aws.err.contains("stale"), "{}", in_aws.err);
    // The other way round, as a plan made in AWS has it.
    let text = std::fs::read_to_string(bench.path("p")).unwrap();
    let whole = bench.path("a.json").canonicalize().unwrap().display().to_string();
    let made_in_aws = text.replace(&format!("\"sandbox\":\"{whole}\""), "\"sandbox\":null");
    assert_ne!(made_in_aws, text);
    bench.write("q", &made_in_aws);
    bench.run("apply --sandbox a.json q").fails("Error: Saved plan was made for AWS, not for a sandbox\n");
    // Called otherwise, it is the same sandbox; and a destroy is no different.
    bench.run("apply --sandbox ./a.json p").ok();
    bench.run(&format!("plan -destroy --sandbox a.json -out=d {inputs}")).ok();
    bench.run("apply --sandbox b.json d").fails("Error: Saved plan was made for another sandbox\n");
    bench.run("apply --sandbox a.json d").ok();
}
