//! A fault at every single call: the next runs end where an undisturbed one would.

use std::time::Duration;

use machinepool::{
    cloud::{
        CloudError, ErrorKind,
        recorded::Call,
        recorded::Moment,
        sandbox::{Echoes, Lag},
    },
    contract::request::Request,
};
use serde_json::{Value, json};

use super::{
    lab::{Lab, patched},
    shape::{Members, Settings, assert_same, strangers, templates},
};

/// What goes wrong at one call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Trouble {
    /// The process is gone before the call is made.
    KilledBefore,
    /// The process is gone before the answer is read.
    KilledAfter,
    /// The call takes effect, and its answer is lost.
    AnswerLost,
    Throttled,
    Broken,
    Denied,
}

const KILLS: [Trouble; 2] = [Trouble::KilledBefore, Trouble::KilledAfter];
const AT_WRITES: [Trouble; 6] = [
    Trouble::KilledBefore,
    Trouble::KilledAfter,
    Trouble::AnswerLost,
    Trouble::Throttled,
    Trouble::Broken,
    Trouble::Denied,
];
/// A read has no effect: a kill there is one after the write before it.
const AT_READS: [Trouble; 2] = [Trouble::Throttled, Trouble::Denied];

/// Every call of a run with everything that can go wrong at it.
fn faults(calls: &[&'static str]) -> Vec<(usize, Trouble)> {
    let at = |(at, call): (usize, &&'static str)| {
        let troubles = if is_read(call) { &AT_READS[..] } else { &AT_WRITES[..] };
        troubles.iter().map(move |trouble| (at, *trouble))
    };
    calls.iter().enumerate().flat_map(at).collect()
}

/// Every write of a run with a kill before and one after it.
fn kills(calls: &[&'static str]) -> Vec<(usize, Trouble)> {
    faults(calls).into_iter().filter(|(_, trouble)| KILLS.contains(trouble)).collect()
}

fn is_read(operation: &str) -> bool {
    [":Describe", ":Get", ":Head"].iter().any(|verb| operation.contains(verb))
}

fn unreachable(call: &Call<'_>) -> CloudError {
    CloudError { kind: ErrorKind::Network, ..call.error("us-east-1", "", "no answer") }
}

/// Arms the lab: `trouble` at the call numbered `at`.
fn arm(lab: &Lab, trouble: Trouble, at: usize) {
    let mut dead = false;
    lab.set_fault(move |moment, call| {
        let hit = call.index == at;
        match (trouble, moment) {
            (Trouble::KilledBefore, Moment::Before) => {
                dead |= hit;
                dead.then(|| unreachable(call))
            }
            (Trouble::KilledAfter, Moment::Before) => dead.then(|| unreachable(call)),
            (Trouble::KilledAfter, Moment::After) => {
                dead |= hit;
                dead.then(|| unreachable(call))
            }
            (Trouble::AnswerLost, Moment::After) if hit => Some(unreachable(call)),
            (Trouble::Throttled, Moment::Before) if hit => {
                Some(call.error("us-east-1", "Throttling", "Rate exceeded"))
            }
            (Trouble::Broken, Moment::Before) if hit => {
                Some(call.error("us-east-1", "InternalFailure", "The request processing has failed"))
            }
            (Trouble::Denied, Moment::Before) if hit => {
                Some(call.error("us-east-1", "AccessDenied", "User is not authorized"))
            }
            _ => None,
        }
    });
}

/// Kills the process at the call numbered `at`, before it takes effect or after.
pub(crate) fn kill(lab: &Lab, at: usize, after: bool) {
    arm(lab, if after { Trouble::KilledAfter } else { Trouble::KilledBefore }, at);
}

/// From one set of inputs to another.
struct Case {
    name: &'static str,
    /// Merge patches that were applied before, and the minutes that passed after each.
    given: Vec<(Value, u64)>,
    /// The merge patch to apply.
    then: Value,
}

fn roll() -> Value {
    json!({"kubernetes_version": "v1.35.0"})
}

fn autoscaled() -> Value {
    json!({"autoscaling": {"enabled": true, "min": 2, "max": 6}})
}

fn cases() -> Vec<Case> {
    let pool = || vec![(json!({}), 10)];
    let case = |name, given, then| Case { name, given, then };
    vec![
        case("create", vec![], autoscaled()),
        case("rotate", pool(), json!({"bootstrap_data": "I2Nsb3VkLWNvbmZpZyAyCg=="})),
        case("new version", pool(), json!({"instance_type": "c7i.large", "node_labels": {"tier": "gpu"}})),
        case(
            "tag removed",
            vec![(json!({"additional_tags": {"team": "blue", "cost": "7"}}), 10)],
            json!({"additional_tags": {"team": "green"}}),
        ),
        case("roll", pool(), roll()),
        case("roll and everything else", pool(), {
            json!({
                "kubernetes_version": "v1.35.0", "instance_type": "c7i.large", "replicas": 4,
                "bootstrap_data": "I2Nsb3VkLWNvbmZpZyAyCg==", "additional_tags": {"team": "green"},
                "failure_domains": ["us-east-1a", "us-east-1b"], "spot": true
            })
        }),
        case(
            "roll while a roll runs",
            vec![(json!({}), 10), (roll(), 6)],
            json!({"kubernetes_version": "v1.36.0"}),
        ),
        case(
            "roll while a roll begins",
            vec![(json!({}), 10), (roll(), 0)],
            json!({"kubernetes_version": "v1.36.0"}),
        ),
        case("back while a roll runs", vec![(json!({}), 10), (roll(), 6)], json!({})),
        case("scale out", pool(), json!({"replicas": 5})),
        case("scale to nothing", pool(), json!({"replicas": 0})),
        case("autoscaling on", pool(), autoscaled()),
        case("autoscaling off", vec![(autoscaled(), 10)], json!({})),
    ]
}

/// What a run must lead to.
struct Reference {
    settings: Settings,
    members: Members,
    versions: usize,
    calls: Vec<&'static str>,
}

impl Reference {
    fn after(lab: &Lab, calls: Vec<&'static str>) -> Self {
        let world = lab.world();
        let versions = templates(&world).map(|(_, t)| t.versions.len()).sum();
        Self { settings: Settings::of(&world), members: Members::of(&world), versions, calls }
    }
}

impl Case {
    /// The account before the change.
    fn begin(&self) -> Lab {
        let lab = Lab::new();
        for (patch, minutes) in &self.given {
            lab.apply(&patched(patch.clone())).unwrap();
            lab.wait(Duration::from_mins(*minutes));
        }
        lab
    }

    fn last_given(&self) -> Option<Request> {
        self.given.last().map(|(patch, _)| patched(patch.clone()))
    }

    /// Where an undisturbed run ends, and how many calls it makes.
    fn undisturbed(&self, begin: &Lab, request: &Request) -> Reference {
        let lab = begin.fork();
        lab.cloud.clear();
        lab.apply(request).unwrap();
        let calls = lab.cloud.operations();
        lab.settle(request, self.name);
        Reference::after(&lab, calls)
    }
}

fn check(lab: &Lab, wanted: &Reference, begin: &Lab, about: &str) {
    let found = Reference::after(lab, Vec::new());
    assert_same(&wanted.settings, &found.settings, about);
    assert_same(&wanted.members.runs, &found.members.runs, about);
    assert_eq!(wanted.versions, found.versions, "{about}: template versions");
    assert_same(&strangers(&begin.world()), &strangers(&lab.world()), about);
}

#[test]
fn a_fault_at_any_call_is_healed_by_the_next_apply() {
    for case in cases() {
        let (begin, request) = (case.begin(), patched(case.then.clone()));
        let wanted = case.undisturbed(&begin, &request);
        for (at, trouble) in faults(&wanted.calls) {
            let about = format!("{}, {trouble:?} at call {at}", case.name);
            let lab = begin.fork();
            arm(&lab, trouble, at);
            // What it answers does not matter: a call of clean-up may fail without harm.
            let _ = lab.apply(&request);
            lab.clear_fault();
            lab.apply(&request).unwrap_or_else(|failure| panic!("{about}: {:#?}", failure.diagnostics));
            lab.settle(&request, &about);
            check(&lab, &wanted, &begin, &about);
            assert_eq!(wanted.members.launches, Members::of(&lab.world()).launches, "{about}: launches");
        }
    }
}

#[test]
fn the_next_apply_may_come_late() {
    for case in cases() {
        let (begin, request) = (case.begin(), patched(case.then.clone()));
        let wanted = case.undisturbed(&begin, &request);
        for (at, trouble) in kills(&wanted.calls) {
            let about = format!("{}, {trouble:?} at call {at}, and an hour later", case.name);
            let lab = begin.fork();
            arm(&lab, trouble, at);
            let _ = lab.apply(&request);
            lab.clear_fault();
            lab.wait(Duration::from_hours(1));
            lab.settle(&request, &about);
            check(&lab, &wanted, &begin, &about);
            // An earlier roll may have gone on meanwhile; nobody is replaced twice for this one.
            let launches = Members::of(&lab.world()).launches;
            let surplus = wanted.members.runs.values().sum::<usize>();
            assert!(launches <= wanted.members.launches + surplus, "{about}: {launches} launches");
        }
    }
}

#[test]
fn inputs_reverted_after_a_crash_lead_back() {
    for case in cases() {
        let Some(before) = case.last_given() else { continue };
        let (begin, request) = (case.begin(), patched(case.then.clone()));
        let calls = case.undisturbed(&begin, &request).calls;
        let wanted = case.undisturbed(&begin, &before);
        for (at, trouble) in kills(&calls) {
            let about = format!("{}, {trouble:?} at call {at}, and back", case.name);
            let lab = begin.fork();
            arm(&lab, trouble, at);
            let _ = lab.apply(&request);
            lab.clear_fault();
            lab.apply(&before).unwrap_or_else(|failure| panic!("{about}: {:#?}", failure.diagnostics));
            lab.settle(&before, &about);
            let found = Reference::after(&lab, Vec::new());
            assert_same(&wanted.settings, &found.settings, &about);
            let names = |members: &Members| {
                members.runs.iter().map(|((name, _), count)| (name.clone(), *count)).collect::<Vec<_>>()
            };
            let total = |members: &Members| members.runs.values().sum::<usize>();
            let first = |members: &Members| names(members).first().map(|(name, _)| name.clone());
            assert_eq!(total(&wanted.members), total(&found.members), "{about}: members");
            assert_eq!(first(&wanted.members), first(&found.members), "{about}: {:?}", found.members);
        }
    }
}

#[test]
fn a_pool_is_destroyed_after_a_crash_at_any_call() {
    for case in cases() {
        let (begin, request) = (case.begin(), patched(case.then.clone()));
        let calls = case.undisturbed(&begin, &request).calls;
        for (at, trouble) in kills(&calls) {
            let about = format!("{}, {trouble:?} at call {at}, then destroy", case.name);
            let lab = begin.fork();
            arm(&lab, trouble, at);
            let _ = lab.apply(&request);
            lab.clear_fault();
            lab.destroy(&request.scope)
                .unwrap_or_else(|failure| panic!("{about}: {:#?}", failure.diagnostics));
            assert_gone(&lab, &begin, &about);
        }
    }
}

fn assert_gone(lab: &Lab, begin: &Lab, about: &str) {
    let world = lab.world();
    assert_same(&Settings::none(), &Settings::of(&world), about);
    assert!(Members::of(&world).runs.is_empty(), "{about}: {:?}", Members::of(&world));
    assert_same(&strangers(&begin.world()), &strangers(&world), about);
}

#[test]
fn a_fault_at_any_call_of_a_destroy_is_healed_by_the_next_one() {
    let states: [(&str, Vec<(Value, u64)>); 3] = [
        ("an autoscaled pool", vec![(autoscaled(), 10)]),
        ("a pool in a roll", vec![(json!({}), 10), (roll(), 6)]),
        ("a pool just made", vec![(json!({}), 0)]),
    ];
    for (name, given) in states {
        let begin = Case { name, given, then: json!({}) }.begin();
        let scope = patched(json!({})).scope;
        let lab = begin.fork();
        lab.cloud.clear();
        lab.destroy(&scope).unwrap();
        for (at, trouble) in faults(&lab.cloud.operations()) {
            let about = format!("destroy of {name}, {trouble:?} at call {at}");
            let lab = begin.fork();
            arm(&lab, trouble, at);
            let _ = lab.destroy(&scope);
            lab.clear_fault();
            lab.destroy(&scope).unwrap_or_else(|failure| panic!("{about}: {:#?}", failure.diagnostics));
            assert_gone(&lab, &begin, &about);
        }
    }
}

#[test]
fn reads_that_lag_lead_to_the_same_place() {
    let lags = [
        Lag { groups: 1, templates: 1, instances: 1, template_use_seconds: 5 },
        Lag { groups: 3, templates: 0, instances: 4, template_use_seconds: 40 },
        Lag { groups: 0, templates: 4, instances: 0, template_use_seconds: 0 },
    ];
    for case in cases() {
        let (begin, request) = (case.begin(), patched(case.then.clone()));
        let wanted = case.undisturbed(&begin, &request);
        for lag in lags {
            let about = format!("{}, {lag:?}", case.name);
            let lab = begin.fork();
            lab.edit(|world| world.lag = lag);
            // A read of what was made a moment ago may fail, and so the apply.
            let done = (0..6).any(|_| {
                let applied = lab.apply(&request);
                lab.wait(Duration::from_secs(30));
                applied.is_ok()
            });
            assert!(done, "{about}: it never succeeds");
            let seen = (0..12).any(|_| lab.plan(&request).is_ok_and(|planned| planned.plan.is_empty()));
            assert!(seen, "{about}: the plan stays");
            lab.edit(|world| (world.lag, world.echoes) = (Lag::default(), Echoes::default()));
            lab.settle(&request, &about);
            check(&lab, &wanted, &begin, &about);
        }
    }
}

#[test]
fn an_apply_right_after_another_changes_nothing_though_reads_lag() {
    for case in cases() {
        let (begin, request) = (case.begin(), patched(case.then.clone()));
        let wanted = case.undisturbed(&begin, &request);
        for groups in 1..6 {
            let about = format!("{}, {groups} stale reads of the group", case.name);
            let lab = begin.fork();
            lab.edit(|world| world.lag = Lag { groups, ..Lag::default() });
            lab.apply(&request).unwrap_or_else(|failure| panic!("{about}: {:#?}", failure.diagnostics));
            lab.apply(&request).unwrap_or_else(|failure| panic!("{about}: {:#?}", failure.diagnostics));
            lab.edit(|world| (world.lag, world.echoes) = (Lag::default(), Echoes::default()));
            lab.settle(&request, &about);
            check(&lab, &wanted, &begin, &about);
            assert_eq!(wanted.members.launches, Members::of(&lab.world()).launches, "{about}: launches");
        }
    }
}

#[test]
fn a_destroy_sees_through_reads_that_lag() {
    for (groups, instances) in [(1, 1), (5, 0), (0, 7), (4, 9)] {
        for case in cases() {
            let about = format!("{}, {groups} stale reads of groups, {instances} of instances", case.name);
            let lab = case.begin();
            let scope = patched(case.then).scope;
            let begin = lab.fork();
            lab.edit(|world| world.lag = Lag { groups, instances, ..Lag::default() });
            lab.destroy(&scope).unwrap_or_else(|failure| panic!("{about}: {:#?}", failure.diagnostics));
            lab.edit(|world| (world.lag, world.echoes) = (Lag::default(), Echoes::default()));
            assert_gone(&lab, &begin, &about);
            assert_eq!(lab.destroy(&scope).unwrap().destroy, 0, "{about}");
        }
    }
}
