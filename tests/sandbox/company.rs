//! Two runs at once, and other hands between a plan and its execution.

use std::time::Duration;

use machinepool::{
    clock::Clock as _,
    cloud::{
        Cloud as _,
        sandbox::{RefreshOptions, StoredGroup},
    },
    contract::request::{Request, Scope},
    engine::Planned,
    model::resources::Write,
};
use serde_json::{Value, json};

use super::{
    lab::{GROUP, Lab, patched, run},
    round_trips::{apply_both, apply_stuttering, destroy_stuttering},
    shape::{Members, Settings, assert_same, strangers},
};

fn autoscaled() -> Value {
    json!({"autoscaling": {"enabled": true, "min": 2, "max": 6}})
}

/// What was applied before, if anything, and what two runs then apply both.
fn changes() -> Vec<(&'static str, Option<Value>, Value)> {
    let plain = || Some(json!({}));
    vec![
        ("create", None, autoscaled()),
        ("rotate", plain(), json!({"bootstrap_data": "I2Nsb3VkLWNvbmZpZyAyCg=="})),
        ("new version", plain(), json!({"instance_type": "c7i.large"})),
        ("roll", plain(), json!({"kubernetes_version": "v1.35.0"})),
        ("scale", plain(), json!({"replicas": 5})),
        ("autoscaling on", plain(), autoscaled()),
        ("autoscaling off", Some(autoscaled()), json!({"kubernetes_version": "v1.35.0"})),
    ]
}

struct Change {
    name: &'static str,
    begin: Lab,
    request: Request,
    wanted: (Settings, Members),
}

fn each_change(test: impl Fn(&Change)) {
    for (name, before, then) in changes() {
        let begin = Lab::new();
        if let Some(before) = before {
            begin.apply(&patched(before)).unwrap();
            begin.wait(Duration::from_mins(10));
        }
        let request = patched(then);
        let lab = begin.fork();
        lab.apply(&request).unwrap();
        lab.settle(&request, name);
        let wanted = (Settings::of(&lab.world()), Members::of(&lab.world()));
        test(&Change { name, begin, request, wanted });
    }
}

impl Change {
    /// Both have ended; the pool is as one alone would have made it.
    fn check(&self, lab: &Lab) {
        lab.settle(&self.request, self.name);
        let world = lab.world();
        assert_same(&self.wanted.0, &Settings::of(&world), self.name);
        assert_eq!(self.wanted.1.launches, Members::of(&world).launches, "{}: launches", self.name);
        assert_same(&strangers(&self.begin.world()), &strangers(&world), self.name);
    }
}

#[test]
fn two_applies_in_step_end_as_one() {
    each_change(|change| {
        let lab = change.begin.fork();
        for outcome in apply_both(&lab, &change.request) {
            outcome.unwrap_or_else(|failure| panic!("{}: {:#?}", change.name, failure.diagnostics));
        }
        change.check(&lab);
    });
}

#[test]
fn a_plan_that_another_run_has_carried_out_already_does_no_harm() {
    each_change(|change| {
        let lab = change.begin.fork();
        let stale: Planned = lab.plan(&change.request).unwrap();
        lab.apply(&change.request).unwrap();
        let second = lab.apply_planned(&change.request, &stale);
        second.unwrap_or_else(|failure| panic!("{}: {:#?}", change.name, failure.diagnostics));
        change.check(&lab);
    });
}

#[test]
fn writes_that_are_sent_twice_do_no_harm() {
    each_change(|change| {
        let lab = change.begin.fork();
        let applied = apply_stuttering(&lab, &change.request);
        applied.unwrap_or_else(|failure| panic!("{}: {:#?}", change.name, failure.diagnostics));
        let plan = lab.plan(&change.request).unwrap().plan;
        assert!(plan.is_empty(), "{}: {plan:#?}", change.name);
        change.check(&lab);
    });
}

#[test]
fn a_destroy_whose_writes_are_sent_twice_is_one() {
    for (what, hand) in HANDS {
        let (lab, scope) = awkward();
        hand(&lab);
        let begin = strangers(&lab.world());
        let destroyed = destroy_stuttering(&lab, &scope);
        destroyed.unwrap_or_else(|failure| panic!("{what}: {:#?}", failure.diagnostics));
        assert_same(&Settings::none(), &Settings::of(&lab.world()), what);
        assert_same(&begin, &strangers(&lab.world()), what);
    }
}

#[test]
fn a_pool_that_another_run_made_meanwhile_becomes_ours() {
    let ours = patched(json!({"replicas": 2, "spot": true, "additional_tags": {"team": "blue"}}));
    for theirs in [
        json!({"replicas": 5, "failure_domains": ["us-east-1a"], "instance_type": "c7i.large"}),
        json!({"autoscaling": {"enabled": true, "min": 3, "max": 6}, "additional_tags": {"team": "green"}}),
        json!({"kubernetes_version": "v1.35.0"}),
    ] {
        let lab = Lab::new();
        let planned = lab.plan(&ours).unwrap();
        lab.apply(&patched(theirs.clone())).unwrap();
        let applied = lab.apply_planned(&ours, &planned);
        applied.unwrap_or_else(|failure| panic!("{theirs}: {:#?}", failure.diagnostics));
        let group = lab.world().groups[GROUP].clone();
        assert_eq!((group.min, group.max, group.desired), (2, 2, 2), "{theirs}");
        assert!(group.capacity_rebalance && group.subnets.len() == 3, "{theirs}");
        assert_eq!(group.tags["team"].value, "blue", "{theirs}");
        lab.settle(&ours, &theirs.to_string());
        let fresh = Lab::new();
        fresh.apply(&ours).unwrap();
        fresh.settle(&ours, "fresh");
        let settings = |lab: &Lab| Settings::of(&lab.world());
        assert_same(&settings(&fresh), &settings(&lab), &theirs.to_string());
    }
}

#[test]
fn a_refresh_that_somebody_starts_before_ours_is_no_failure() {
    let lab = Lab::new();
    lab.apply(&patched(json!({}))).unwrap();
    lab.wait(Duration::from_mins(10));
    let rolled = patched(json!({"kubernetes_version": "v1.35.0"}));
    let planned = lab.plan(&rolled).unwrap();
    let now = lab.clock.now();
    lab.edit(|world| world.start_refresh_by_hand(GROUP, RefreshOptions::default(), now)).unwrap();
    lab.apply_planned(&rolled, &planned).unwrap();
    lab.settle(&rolled, "a refresh by hand first");
    assert_eq!(Members::of(&lab.world()).runs.len(), 1, "all run the new template");
}

/// Somebody's hand: what it is called, and what it does.
type Hand = (&'static str, fn(&Lab));

fn edit_group(lab: &Lab, change: impl FnOnce(&mut StoredGroup)) {
    lab.edit(|world| change(world.groups.get_mut(GROUP).unwrap()));
}

fn delete_group(lab: &Lab) {
    let write = Write::DeleteGroup { group: GROUP.to_owned(), force: true };
    run(lab.cloud.inner().perform(&write)).unwrap();
}

const HANDS: [Hand; 9] = [
    ("nothing", |_| ()),
    ("the group is being deleted", delete_group),
    ("the group is gone", |lab| {
        delete_group(lab);
        lab.wait(Duration::from_mins(10));
    }),
    ("the policy is gone", |lab| {
        edit_group(lab, |group| group.policies.clear());
    }),
    ("scheduled action and warm pool are gone", |lab| {
        edit_group(lab, |group| {
            group.scheduled_actions.clear();
            group.warm_pool = false;
        });
    }),
    ("the refresh has ended", |lab| lab.wait(Duration::from_hours(2))),
    ("the templates are gone", |lab| {
        let world = lab.world();
        let ids: Vec<String> = super::shape::templates(&world).map(|(id, _)| id.clone()).collect();
        lab.edit(|world| world.templates.retain(|id, _| !ids.contains(id)));
    }),
    ("the object is gone", |lab| {
        lab.edit(|world| world.buckets.get_mut("demo-bootstrap").unwrap().remove("pool/demo-pool-0"));
    }),
    ("a protected member has gone", |lab| {
        lab.edit(|world| {
            let id = world.active_members(GROUP).remove(0);
            "shutting-down".clone_into(&mut world.instances.get_mut(&id).unwrap().state);
        });
    }),
];

/// A pool in the middle of a roll, with everything that would hold up its end.
fn awkward() -> (Lab, Scope) {
    let lab = Lab::new();
    lab.apply(&patched(autoscaled())).unwrap();
    lab.wait(Duration::from_mins(10));
    let rolled =
        patched(json!({"kubernetes_version": "v1.35.0", "autoscaling": autoscaled()["autoscaling"]}));
    lab.apply(&rolled).unwrap();
    lab.wait(Duration::from_mins(6));
    lab.edit(|world| {
        let group = world.groups.get_mut(GROUP).unwrap();
        group.scheduled_actions.insert("nightly".to_owned());
        group.warm_pool = true;
        group.suspended.insert("Terminate".to_owned());
        for id in world.active_members(GROUP) {
            world.instances.get_mut(&id).unwrap().protected = true;
        }
    });
    (lab, rolled.scope)
}

#[test]
fn what_vanishes_between_plan_and_destroy_is_no_failure() {
    for (what, hand) in HANDS {
        let (lab, scope) = awkward();
        let begin = strangers(&lab.world());
        let teardown = lab.plan_destroy(&scope).unwrap();
        hand(&lab);
        let destroyed = lab.destroy_planned(&teardown);
        destroyed.unwrap_or_else(|failure| panic!("{what}: {:#?}", failure.diagnostics));
        assert_same(&Settings::none(), &Settings::of(&lab.world()), what);
        assert_same(&begin, &strangers(&lab.world()), what);
    }
}
