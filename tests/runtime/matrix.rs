//! Each operation with each of its calls to the Kubernetes API going wrong in each way: nothing is lost, nothing
//! is left, and nothing is done to AWS without the lock.

use std::{
    collections::BTreeMap,
    fs,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use serde_json::{Value, json};

use super::{
    double::Fault,
    runner::{LEASE, NAMESPACE, Outcome, Runner},
};

/// How many cases go on at once: most of their time is pauses.
const WORKERS: usize = 6;

/// An operation, and where it begins.
#[derive(Clone, Copy)]
struct Operation {
    begin: fn(&Runner),
    /// Its inputs, if they are not those that it begins with.
    render: fn(&Runner),
    run: fn(&Runner) -> Outcome,
    /// How it ends when all goes well.
    code: i32,
}

/// A pool that has been up for long, recorded as it is.
fn settled(runner: &Runner) {
    apply(runner).ok();
    age(runner);
    refresh(runner).ok();
}

/// Lets an hour pass in the sandbox.
fn age(runner: &Runner) {
    runner.pass(60);
}

const VARIABLES: &str = "-var-file=terraform.tfvars.json";

fn apply(runner: &Runner) -> Outcome {
    runner.operation("apply", &["-auto-approve", VARIABLES])
}

fn refresh(runner: &Runner) -> Outcome {
    runner.operation("apply", &["-refresh-only", "-auto-approve", VARIABLES])
}

fn larger(runner: &Runner) {
    runner.render(|inputs| inputs["replicas"] = json!(4));
}

/// What is planted, and whether the operation must end well all the same.
fn faults(call: &str, releasing: bool) -> Vec<(Fault, bool)> {
    let writes = call.starts_with("create") || call.starts_with("update");
    let mut faults: Vec<(Fault, bool)> =
        [Fault::Drop, Fault::LoseAnswer, Fault::Status(503), Fault::Status(429)]
            .map(|fault| (fault, true))
            .into();
    // Who was first is looked up; a Secret that others make or delete meanwhile is theirs.
    let looked_up = call.ends_with(" leases") && writes;
    faults.push((Fault::Status(409), looked_up || call == "update secrets"));
    let gone = call == "update leases" || call == "get secrets" || call == "get leases" && !releasing;
    faults.push((Fault::Status(404), gone));
    faults.extend([(Fault::Status(403), false), (Fault::Foreign(404), false)]);
    if writes {
        faults.push((Fault::Status(422), false));
    }
    faults
}

/// Types and names of the resources in the state.
fn addresses(runner: &Runner) -> Vec<String> {
    let state = runner.state().unwrap_or_default();
    let resources = state["resources"].as_array().cloned().unwrap_or_default();
    resources.iter().map(|resource| format!("{}.{}", resource["type"], resource["name"])).collect()
}

/// What must be the same at the end, whatever happened on the way.
#[derive(Debug, Default, PartialEq)]
struct Ending {
    addresses: Vec<String>,
    outputs: BTreeMap<String, Value>,
    groups: Vec<Value>,
    templates: Vec<String>,
    objects: Vec<Value>,
}

impl Ending {
    fn of(runner: &Runner) -> Self {
        let world = &runner.account()["world"];
        let values = |name: &str| world[name].as_object().cloned().unwrap_or_default();
        let ours = |name: &str| name.starts_with("captf-team-a-demo-pool-0");
        let group =
            |(name, group): (String, Value)| json!([name, group["min"], group["max"], group["desired"]]);
        let outputs = runner.state().map(|state| state["outputs"].clone()).unwrap_or_default();
        let steady = |name: &str| ["provider_id", "replicas"].contains(&name);
        Self {
            addresses: addresses(runner),
            outputs: outputs
                .as_object()
                .cloned()
                .unwrap_or_default()
                .into_iter()
                .filter(|(n, _)| steady(n))
                .collect(),
            groups: values("groups").into_iter().filter(|(name, _)| ours(name)).map(group).collect(),
            templates: values("templates")
                .values()
                .map(|template| template["name"].as_str().unwrap().to_owned())
                .filter(|name| ours(name))
                .collect(),
            objects: values("buckets").values().cloned().collect(),
        }
    }
}

/// Where an operation begins, how it goes, and how it ends.
struct Scene {
    operation: Operation,
    /// Stays where the operation begins.
    beginning: Runner,
    account: Option<String>,
    calls: Vec<String>,
    ending: Ending,
}

impl Scene {
    fn new(operation: Operation) -> Self {
        let beginning = Runner::new();
        beginning.init();
        (operation.begin)(&beginning);
        let account = fs::read_to_string(beginning.work("account.json")).ok();
        let mut scene = Self { operation, beginning, account, calls: Vec::new(), ending: Ending::default() };
        let undisturbed = scene.stage();
        let outcome = (operation.run)(&undisturbed);
        assert_eq!(outcome.code, operation.code, "{}{}", outcome.out, outcome.err);
        scene.calls = undisturbed.kubernetes.calls();
        scene.repeat(&undisturbed);
        scene.ending = Ending::of(&undisturbed);
        scene
    }

    /// A runner that stands where the operation begins.
    fn stage(&self) -> Runner {
        let runner = Runner::new();
        runner.init();
        self.restore(&runner);
        runner
    }

    /// Brings a runner back there.
    fn restore(&self, runner: &Runner) {
        runner.kubernetes.become_as(&self.beginning.kubernetes);
        let path = runner.work("account.json");
        match &self.account {
            Some(account) => fs::write(path, account).unwrap(),
            None => drop(fs::remove_file(path)),
        }
        let _ = fs::remove_file(runner.work("root/errored.tfstate"));
        (self.operation.render)(runner);
        runner.kubernetes.seen();
    }

    /// The operation once more, as the controller repeats it; what was asked for is there then already.
    fn repeat(&self, runner: &Runner) {
        let outcome = (self.operation.run)(runner);
        let unlocked = outcome.err.contains("state is already unlocked");
        assert!(outcome.code == self.operation.code || unlocked, "again: {}{}", outcome.out, outcome.err);
        runner.assert_unlocked();
    }

    /// The call by which the lock is given back; of an operation that does nothing else, all are.
    fn release(&self) -> usize {
        let last = self.calls.iter().rposition(|call| call == "update leases").unwrap();
        if last > self.locked() { last } else { 0 }
    }

    /// The first call under the lock.
    fn locked(&self) -> usize {
        1 + self.calls.iter().position(|call| call.ends_with("e leases")).unwrap()
    }

    fn play(&self, runner: &Runner, number: usize, fault: &Fault, well: bool) {
        let about = format!("call {number} of {:?}, {fault:?}", self.calls);
        self.restore(runner);
        let before = runner.state();
        runner.kubernetes.fail_call(number, fault.clone());
        let outcome = (self.operation.run)(runner);
        runner.kubernetes.heal();
        let told = format!("{about}: {}{}", outcome.out, outcome.err);
        assert_eq!(outcome.code, if well { self.operation.code } else { 1 }, "{told}");
        if !well {
            self.assert_told(&outcome, number, &told);
        }
        let held = runner.kubernetes.object("leases", NAMESPACE, LEASE);
        let held = held.and_then(|lease| lease["spec"]["holderIdentity"].as_str().map(str::to_owned));
        if let Some(id) = held.filter(|id| !id.is_empty()) {
            assert!(!well && number >= self.release(), "the lock is left: {told}");
            runner.run(&["force-unlock", "-force", &id]).ok();
        }
        let account = fs::read_to_string(runner.work("account.json")).ok();
        if !well && number < self.locked() {
            assert!(account == self.account, "AWS was asked without the lock: {told}");
        }
        self.repeat(runner);
        assert_eq!(Ending::of(runner), self.ending, "{told}");
        if let (Some(before), Some(after)) = (before, runner.state()) {
            assert_eq!(before["lineage"], after["lineage"], "{told}");
            assert!(before["serial"].as_u64() <= after["serial"].as_u64(), "{told}");
        }
    }

    /// An error that names what failed; the lock that may be left; the state that was not written.
    fn assert_told(&self, outcome: &Outcome, number: usize, told: &str) {
        let call = &self.calls[number];
        let first = outcome.err.lines().find(|line| line.starts_with("Error: ")).expect(told);
        let words = ["somebody else wrote the Secret", "taken away", "already unlocked"];
        assert!(first.contains(call.as_str()) || words.iter().any(|word| first.contains(word)), "{told}");
        // Whoever does nothing but unlock knows how to try again.
        if self.release() > 0 && number >= self.release() && !first.contains("taken away") {
            assert!(outcome.err.contains("force-unlock"), "{told}");
        }
        if call.ends_with("e secrets") {
            let pushing = !outcome.err.contains("errored.tfstate");
            assert!(pushing || outcome.err.contains("state push"), "{told}");
        }
    }
}

/// Every fault at every call.
fn survives(operation: Operation) {
    let scene = &Scene::new(operation);
    let cases: Vec<(usize, Fault, bool)> = scene
        .calls
        .iter()
        .enumerate()
        .flat_map(|(number, call)| {
            let releasing = number >= scene.release();
            faults(call, releasing).into_iter().map(move |(fault, well)| (number, fault, well))
        })
        .collect();
    let next = &AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                let runner = scene.stage();
                while let Some((number, fault, well)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    scene.play(&runner, *number, fault, *well);
                }
            });
        }
    });
}

fn nothing(_: &Runner) {}

#[test]
fn plan() {
    let run = |runner: &Runner| runner.plan("p.tfplan", &[]);
    survives(Operation { begin: settled, render: larger, run, code: 2 });
}

#[test]
fn an_apply_that_creates() {
    survives(Operation { begin: nothing, render: nothing, run: apply, code: 0 });
}

#[test]
fn an_apply_that_changes() {
    survives(Operation { begin: settled, render: larger, run: apply, code: 0 });
}

#[test]
fn an_apply_without_changes() {
    survives(Operation { begin: settled, render: nothing, run: apply, code: 0 });
}

#[test]
fn a_refresh_with_news() {
    let begin = |runner: &Runner| {
        settled(runner);
        let mut state = runner.state().unwrap();
        state["outputs"]["replicas"]["value"] = json!(2);
        runner.put_state(&state);
    };
    survives(Operation { begin, render: nothing, run: refresh, code: 0 });
}

#[test]
fn a_refresh_without_news() {
    survives(Operation { begin: settled, render: nothing, run: refresh, code: 0 });
}

#[test]
fn destroy() {
    let run = |runner: &Runner| runner.operation("destroy", &["-auto-approve", VARIABLES]);
    survives(Operation { begin: settled, render: nothing, run, code: 0 });
}

#[test]
fn a_push() {
    let begin = |runner: &Runner| {
        settled(runner);
        let mut state = runner.state().unwrap();
        state["outputs"]["replicas"]["value"] = json!(2);
        runner.put_state(&state);
    };
    // What is pushed is what was there, one later.
    let run = |runner: &Runner| {
        let mut state = runner.state().unwrap();
        if state["outputs"]["replicas"]["value"] == 2 {
            state["outputs"]["replicas"]["value"] = json!(3);
            state["serial"] = json!(state["serial"].as_u64().unwrap() + 1);
        }
        let file = runner.work("pushed.tfstate");
        fs::write(&file, state.to_string()).unwrap();
        runner.run(&["state", "push", "-lock-timeout=300s", &file.display().to_string()])
    };
    survives(Operation { begin, render: nothing, run, code: 0 });
}

#[test]
fn force_unlock() {
    let begin = |runner: &Runner| {
        settled(runner);
        runner
            .kubernetes
            .edit("leases", NAMESPACE, LEASE, |lease| lease["spec"]["holderIdentity"] = json!("7b1d"));
    };
    let run = |runner: &Runner| runner.run(&["force-unlock", "-force", "7b1d"]);
    survives(Operation { begin, render: nothing, run, code: 0 });
}
