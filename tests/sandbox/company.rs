//! Two runs at once, and other hands between a plan and its execution.

use std::time::Duration;

use machinepool::{
    cloud::{Cloud as _, sandbox::StoredGroup},
    contract::request::Request,
    engine::Planned,
    model::resources::Write,
};
use serde_json::{Value, json};

use super::{
    lab::{GROUP, Lab, patched, run},
    round_trips::apply_both,
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

#[test]
fn what_vanishes_between_plan_and_destroy_is_no_failure() {
    for (what, hand) in HANDS {
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
        let begin = strangers(&lab.world());
        let teardown = lab.plan_destroy(&rolled.scope).unwrap();
        hand(&lab);
        let destroyed = lab.destroy_planned(&teardown);
        destroyed.unwrap_or_else(|failure| panic!("{what}: {:#?}", failure.diagnostics));
        assert_same(&Settings::none(), &Settings::of(&lab.world()), what);
        assert_same(&begin, &strangers(&lab.world()), what);
    }
}
