//! A pool's status and rolls by hand, in the sandbox.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

use super::{Bench, demo, runtime::Desk, watch::Terminal};

/// The end of a command line: the demo pool in the bench's sandbox.
pub(crate) fn pool() -> String {
    format!("--sandbox account.json -var-file={}", demo().display())
}

/// A pool whose three members run.
pub(crate) fn running_pool() -> Bench {
    let bench = Bench::new();
    bench.run(&format!("apply -auto-approve {}", pool())).ok();
    super::sandbox::await_members(&bench, &pool());
    // A roll is waited for in the sandbox's time, which passes quickly.
    bench.run(&format!("apply -auto-approve --wait {} -var kubernetes_version=v1.35.0", pool())).ok();
    bench
}

fn newer() -> String {
    format!("{} -var kubernetes_version=v1.35.0", pool())
}

fn text_as_json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_status_says_what_it_can_with_little_to_go_by() {
    let bench = running_pool();
    let whole = bench.run(&format!("status {}", newer())).ok();
    assert!(whole.starts_with("Pool team-a/demo-pool-0 in us-east-1"), "{whole}");
    assert!(
        whole.contains("Apply      would change nothing") && whole.contains("All 3 members running"),
        "{whole}"
    );
    let older = bench.run(&format!("status {}", pool())).ok();
    assert!(older.contains("would change: ") && older.contains("would be replaced"), "{older}");
    let names = "status --sandbox account.json -var captf_object={\"namespace\":\"team-a\"} -var \
                 machinepool_name=demo-pool-0";
    let mut command = bench.command(names.split_whitespace());
    let output = command.env("AWS_REGION", "us-east-1").output().unwrap();
    let little = super::Outcome::of(&output).ok();
    assert!(little.contains("not compared with the inputs: ") && little.contains("Members\n"), "{little}");
    let status = text_as_json(&bench.run(&format!("status --format json {}", newer())).ok());
    assert_eq!((&status["counts"]["running"], &status["apply"]["compared"]), (&3.into(), &true.into()));
    assert_eq!(status["rollout"]["refresh"]["status"], "Successful");
    // Labels are the pool's, whatever the inputs leave out or ask for.
    let live = "Labels     3 (digest a7a86596): example.com/team=team-a, ";
    assert!(whole.contains(live) && little.contains(live), "{little}");
    let others = bench.run(&format!("status {} -var node_labels={{\"tier\":\"x\"}}", newer())).ok();
    assert!(others.contains(live) && others.contains("the inputs ask for others"), "{others}");
    let nowhere = bench.run(&format!("status {} -var machinepool_name=none", newer())).ok();
    assert!(!nowhere.contains("Labels"), "{nowhere}");
    bench.run("status -var a=b").fails("captf_object");
    bench.run(&format!("status --interval 10s {}", pool())).fails("--watch");
    bench.run(&format!("status --watch --interval 10ms {}", pool())).fails("must be 1s or longer");
}

#[test]
fn a_roll_by_hand() {
    let bench = running_pool();
    let pool = newer();
    assert!(bench.run(&format!("rollout start -auto-approve {pool}")).ok().starts_with("Nothing to roll: "));
    assert!(bench.run(&format!("rollout cancel {pool}")).ok().starts_with("Nothing to cancel: "));
    let labelled = format!("{pool} -var node_labels={{\"example.com/team\":\"b\"}}");
    bench.run(&format!("rollout start -auto-approve {labelled}")).fails("Run apply first");
    bench.run(&format!("apply -auto-approve {labelled}")).ok();
    let refused = bench.run(&format!("rollout start {labelled}")).fails("there is no terminal to ask on");
    assert!(
        refused.err.contains("3 running instances") && refused.err.contains("replaced, because"),
        "{}",
        refused.err
    );
    let status = text_as_json(&bench.run(&format!("rollout status --format json {labelled}")).ok());
    assert_eq!((&status["active"], &status["on_older_version"]), (&false.into(), &3.into()), "{status}");

    let started = bench.run(&format!("rollout start -auto-approve {labelled}")).ok();
    assert!(
        started.starts_with("Instance refresh ") && started.contains(" started: 3 members are replaced"),
        "{started}"
    );
    let again = bench.run(&format!("rollout start -auto-approve {labelled}")).ok();
    assert!(again.starts_with("Nothing to start: "), "{again}");
    let shown = bench.run(&format!("rollout status {labelled}")).ok();
    assert!(!shown.contains(" 0 left") && shown.contains("3 members behind, not counted"), "{shown}");
    assert!(shown.contains(" %") && shown.contains("rollout cancel stops it"), "{shown}");
    let cancelled = bench.run(&format!("rollout cancel {labelled}"));
    assert!(cancelled.err.contains("Waiting ("), "{}", cancelled.err);
    assert!(cancelled.ok().contains("has ended: Cancelled. What was replaced stays."));

    let outcome = bench.run(&format!("rollout start -auto-approve --wait {labelled}"));
    assert!(outcome.err.contains("0 % done, what is left not counted yet, "), "{}", outcome.err);
    assert!(!outcome.err.contains("0 % done, 0 left"), "{}", outcome.err);
    assert!(outcome.ok().ends_with("Rollout complete!\n"));
    let status = text_as_json(&bench.run(&format!("status --format json {labelled}")).ok());
    assert_eq!(status["counts"]["on_older_version"], 0);
    assert!(bench.run(&format!("plan {labelled}")).ok().starts_with("No changes. "));
}

/// Nothing to do, nothing to stop, nothing to show: each in a plain sentence, and no error but where a roll is asked for
/// that cannot be.
#[test]
fn rolls_of_pools_that_have_none() {
    let bench = Bench::new();
    let pool = pool();
    let group = "captf-team-a-demo-pool-0-43c6d828";
    let next = |line: &str| text_as_json(&bench.run(&format!("rollout status --format json {line}")).ok());

    let start = bench.run(&format!("rollout start -auto-approve {pool}"));
    start.fails(&format!("Error: There is no Auto Scaling group {group}"));
    let cancel = bench.run(&format!("rollout cancel {pool}")).ok();
    assert_eq!(cancel, format!("Nothing to cancel: there is no Auto Scaling group {group}.\n"));
    let shown = bench.run(&format!("rollout status {pool}")).ok();
    assert!(shown.contains("There is no group, so there is nothing to roll."), "{shown}");
    assert!(!shown.contains("Behind"), "nobody is behind where nobody is: {shown}");
    let status = next(&pool);
    assert_eq!((&status["active"], &status["refresh"]), (&json!(false), &Value::Null));
    assert_eq!(status["group"], Value::Null, "a program need not read a sentence");

    let empty = format!("{pool} -var replicas=0");
    bench.run(&format!("apply -auto-approve {empty}")).ok();
    let start = bench.run(&format!("rollout start -auto-approve {empty}")).ok();
    assert_eq!(start, "Nothing to roll: the group has no members.\n");
    let cancel = bench.run(&format!("rollout cancel {empty}")).ok();
    assert_eq!(
        cancel,
        format!("Nothing to cancel: no instance refresh of Auto Scaling group {group} is active.\n")
    );
    let shown = bench.run(&format!("rollout status {empty}")).ok();
    assert!(shown.contains("none so far") && shown.contains("There are no members to roll."), "{shown}");

    let mut account = text_as_json(&std::fs::read_to_string(bench.path("account.json")).unwrap());
    // A deletion that takes its time: somebody else's hands forced it, and a member hangs.
    let now = u64::try_from(std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
    account["world"]["groups"][group]["deleting"] = (now + 3_600_000).into();
    bench.write("account.json", &account.to_string());
    let start = bench.run(&format!("rollout start -auto-approve {empty}"));
    start.fails(&format!("Error: Auto Scaling group {group} is being deleted"));
    let cancel = bench.run(&format!("rollout cancel {empty}")).ok();
    assert_eq!(cancel, format!("Nothing to cancel: Auto Scaling group {group} is being deleted.\n"));
    let shown = bench.run(&format!("rollout status {empty}")).ok();
    assert!(shown.contains("The group is being deleted."), "{shown}");
    assert_eq!(next(&empty)["next"], "The group is being deleted.");
    assert_eq!(next(&empty)["group"], json!({"name": group, "deleting": true, "owned": true}));
}

/// A wait that ends before the roll says what was started and that it goes on.
#[test]
fn a_roll_outlives_the_wait_for_it() {
    let bench = running_pool();
    let labelled = format!(
        "{} -var node_labels={{\"example.com/team\":\"b\"}} -var rollout_instance_warmup_seconds=3000",
        newer()
    );
    bench.run(&format!("apply -auto-approve {labelled}")).ok();
    let goes_on = "goes on in AWS. machinepool rollout status tells how far it is, rollout cancel stops it.";
    let late = bench.run(&format!("rollout start -auto-approve --wait --timeout 1m {labelled}"));
    assert_eq!(late.code, 1, "{}", late.err);
    assert!(late.out.contains(" started: 3 members are replaced"), "{}", late.out);
    assert!(late.err.contains("Error: Gave up waiting after ") && late.err.contains(goes_on), "{}", late.err);
    bench.run(&format!("rollout cancel {labelled}")).ok();

    let line = format!("rollout start -auto-approve --wait {labelled}");
    let mut command = bench.command(line.split_whitespace());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.by_ref().any(|line| line.starts_with("Waiting (")));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let rest = lines.collect::<Vec<_>>().join("\n");
    assert_eq!(child.wait().unwrap().code(), Some(1), "{rest}");
    assert!(rest.contains("Error: Interrupted while waiting for instance refresh "), "{rest}");
    assert!(rest.replace('\n', " ").contains(goes_on), "{rest}");
    let status = text_as_json(&bench.run(&format!("rollout status --format json {labelled}")).ok());
    assert_eq!(status["active"], true, "{status}");
}

/// What only looks takes its inputs as an apply does: as the root wires them.
#[test]
fn what_looks_takes_inputs_as_the_root_wires_them() {
    let desk = Desk::with(
        |root| {
            root["module"]["role"]["machinepool_name"] = "demo-pool-0".into();
            root["module"]["role"]["kubernetes_version"] = "v1.35.0".into();
        },
        |inputs| {
            inputs["machinepool_name"] = "another".into();
            inputs["kubernetes_version"] = "v1.34.1".into();
        },
    );
    desk.run("apply -auto-approve").ok();
    super::sandbox::await_members(&desk.bench, "--sandbox account.json");
    let status = text_as_json(&desk.run("status --format json").ok());
    assert_eq!(status["pool"], "team-a/demo-pool-0");
    assert_eq!((&status["apply"]["compared"], &status["apply"]["changes"]), (&json!(true), &json!([])));
    assert!(desk.run("rollout status").ok().starts_with("Pool team-a/demo-pool-0 in "));
    assert_eq!(text_as_json(&desk.run("doctor --format json").out)["pool"], "team-a/demo-pool-0");
    assert_eq!(text_as_json(&desk.run("outputs replicas --format json").ok()), 3);
    assert!(desk.run("iam-policy").ok().contains("demo-pool-0"));
}

#[test]
fn what_looks_tells_nothing_that_the_root_calls_sensitive() {
    let desk = Desk::with(|root| root["variable"]["machinepool_name"]["sensitive"] = true.into(), |_| {});
    desk.run("apply -auto-approve").ok();
    for line in
        ["status", "status --format json", "rollout status", "doctor", "outputs", "doctor --format json"]
    {
        let outcome = desk.run(line);
        let text = outcome.out + &outcome.err;
        assert!(text.contains("(sensitive value)") && !text.contains("demo-pool-0"), "{line}: {text}");
    }
}

/// Makes the lifecycle of a member what is said; all others stay.
fn put(bench: &Bench, member: usize, lifecycle: &str) {
    let mut account = text_as_json(&std::fs::read_to_string(bench.path("account.json")).unwrap());
    let instances = account["world"]["instances"].as_object_mut().unwrap();
    let mut listed = instances.values_mut().filter(|instance| !instance["lifecycle"].is_null());
    listed.nth(member).unwrap()["lifecycle"] = lifecycle.into();
    bench.write("account.json", &account.to_string());
}

/// A question can stand for hours: whoever comes to need a replacement meanwhile was not in it.
#[test]
fn nobody_is_replaced_that_the_question_did_not_show() {
    let bench = running_pool();
    let labelled = format!("{} -var node_labels={{\"example.com/team\":\"b\"}}", newer());
    bench.run(&format!("apply -auto-approve {labelled}")).ok();
    put(&bench, 0, "Standby");
    let mut terminal = Terminal::new(200);
    let mut child = terminal.run(&bench, &format!("rollout start {labelled}"));
    terminal.await_text("Do this now?");
    assert!(terminal.text().contains("2 running instances"), "{}", terminal.text());
    put(&bench, 0, "InService");
    terminal.press(b"yes\n");
    assert_eq!(child.wait().unwrap().code(), Some(1));
    terminal.await_text("The pool has changed since the roll was shown");
    let status = text_as_json(&bench.run(&format!("rollout status --format json {labelled}")).ok());
    assert_eq!((&status["active"], &status["refresh"]["of_current_template"]), (&false.into(), &true.into()));
    assert_eq!(status["on_older_version"], 3, "{status}");
}

/// Another run may be at work on the pool: where there is a lock, nothing is written without it.
#[test]
fn with_a_root_module_a_roll_needs_the_lock() {
    let desk = Desk::with(|_| {}, |_| {});
    desk.run("apply -auto-approve").ok();
    super::sandbox::await_members(&desk.bench, "--sandbox account.json");
    let root = std::fs::read_to_string(desk.bench.path("main.tf.json")).unwrap();
    let mut root = text_as_json(&root);
    root["terraform"] = json!({"backend": {"kubernetes": {"secret_suffix": "demo", "namespace": "team-a"}}});
    desk.bench.write("main.tf.json", &root.to_string());
    let before = std::fs::read_to_string(desk.bench.path("account.json")).unwrap();
    let told = if cfg!(feature = "kubernetes") { "run init first" } else { "keeps no state" };
    for command in ["start -auto-approve", "cancel"] {
        desk.run(&format!("rollout {command}")).fails(told);
    }
    assert_eq!(std::fs::read_to_string(desk.bench.path("account.json")).unwrap(), before);
    desk.run("rollout status").ok();
    desk.run("status").ok();
}

/// Without a terminal a watch is one status behind the other, until nobody reads or somebody ends it.
#[test]
fn a_watch_into_a_pipe() {
    let bench = running_pool();
    let line = format!("status --watch --interval 1s --format json {}", newer());
    let watch = || {
        let mut command = bench.command(line.split_whitespace());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut child = watch();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let [first, second] = [(); 2].map(|()| text_as_json(&lines.next().unwrap().unwrap()));
    assert_eq!(first["pool"], "team-a/demo-pool-0");
    assert!(first["read_at"].as_str() < second["read_at"].as_str(), "{first} {second}");
    drop(lines);
    assert_eq!(child.wait().unwrap().code(), Some(0), "a reader that goes away is no error");

    let mut child = watch();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    let kept = std::fs::read(bench.path("account.json")).unwrap();
    bench.write("account.json", "nonsense");
    std::thread::sleep(Duration::from_millis(3500));
    std::fs::write(bench.path("account.json"), kept).unwrap();
    // One look can be under way; the one after it finds the account.
    for _ in 0..2 {
        lines.next().unwrap().unwrap();
    }
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(
        err.contains("Error: ") && err.contains("account.json") && err.contains("Error: Interrupted"),
        "{err}"
    );
    let told = |part: &str| err.lines().filter(|line| line.contains(part)).count();
    assert_eq!(told("is not a sandbox file"), 1, "the cause is told once: {err}");
    assert_eq!((told(" (since "), told("Read again at ")), (1, 1), "{err}");

    let text = format!("status --watch {}", newer());
    bench.write("account.json", "nonsense");
    bench.run(&text).fails("account.json");
}
