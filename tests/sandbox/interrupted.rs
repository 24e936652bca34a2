//! Interruptions that once went wrong, and what each stands for.

use std::time::Duration;

use machinepool::{
    cloud::recorded::Moment,
    contract::request::Request,
    model::{observed::Launch, resources::Write},
};
use serde_json::{Value, json};

use super::{
    chaos::hands,
    lab::{GROUP, Lab, patched},
    shape::{Members, templates},
};

const KEY: &str = "pool/demo-pool-0";

fn settled() -> Lab {
    let lab = Lab::new();
    let request = patched(json!({}));
    lab.apply(&request).unwrap();
    lab.settle(&request, "the pool");
    lab
}

fn moved() -> Value {
    json!({"captf_cluster_outputs": {"bootstrap_bucket": "other-bootstrap"}})
}

/// The process is gone once it has made such a write.
fn die_after(lab: &Lab, last: impl Fn(&Write) -> bool + 'static) {
    let mut dead = false;
    lab.set_fault(move |moment, call| {
        let error = dead.then(|| call.error("us-east-1", "", "no answer"));
        dead |= moment == Moment::After && call.write.is_some_and(&last);
        error
    });
}

fn holds_object(lab: &Lab, bucket: &str) -> bool {
    lab.world().buckets[bucket].contains_key(KEY)
}

#[test]
fn an_object_put_into_a_new_bucket_is_not_forgotten_on_the_way_back() {
    for then in [moved(), super::lab::both(moved(), &json!({"kubernetes_version": "v1.35.0"}))] {
        let mut lab = settled();
        hands::make_bucket(&mut lab);
        die_after(&lab, |write| matches!(write, Write::PutObject { .. }));
        lab.apply(&patched(then.clone())).unwrap_err();
        lab.clear_fault();
        assert!(holds_object(&lab, "other-bootstrap"), "{then}");
        let destroyed = lab.fork();
        lab.apply(&patched(json!({}))).unwrap();
        assert!(!holds_object(&lab, "other-bootstrap") && holds_object(&lab, "demo-bootstrap"), "{then}");
        lab.settle(&patched(json!({})), "back");
        destroyed.destroy(&patched(json!({})).scope).unwrap();
        assert!(!holds_object(&destroyed, "other-bootstrap"), "{then}");
        assert!(!holds_object(&destroyed, "demo-bootstrap"), "{then}");
    }
}

#[test]
fn an_old_object_that_cannot_be_deleted_makes_no_change_of_every_plan() {
    let mut lab = settled();
    hands::make_bucket(&mut lab);
    lab.set_fault(|moment, call| match call.write {
        Some(Write::DeleteObject { .. }) if moment == Moment::Before => {
            Some(call.error("us-east-1", "AccessDenied", "no"))
        }
        _ => None,
    });
    lab.apply(&patched(moved())).unwrap();
    let plan = lab.plan(&patched(moved())).unwrap().plan;
    assert!(plan.changes.is_empty(), "{:?}", plan.changes);
    assert!(plan.notes.iter().any(|note| note.contains("demo-bootstrap")), "{:?}", plan.notes);
}

#[test]
fn a_template_of_which_only_a_state_tells_is_found_again_on_the_way_back() {
    let mut lab = settled();
    hands::as_terraform_makes_it(&mut lab);
    hands::keep_state(&mut lab);
    let (before, members) = (lab.world().groups[GROUP].launch.clone(), Members::of(&lab.world()).runs);
    die_after(&lab, |write| matches!(write, Write::UpdateGroup(_)));
    lab.apply(&patched(json!({"kubernetes_version": "v1.35.0"}))).unwrap_err();
    lab.clear_fault();
    let back = patched(json!({}));
    lab.apply(&back).unwrap();
    lab.settle(&back, "back");
    assert_eq!(lab.world().groups[GROUP].launch, before);
    assert_eq!(Members::of(&lab.world()).runs, members, "nobody is replaced");
    assert_eq!(templates(&lab.world()).count(), 1);
}

#[test]
fn the_way_back_leads_home_at_each_status_of_a_refresh() {
    const STATUSES: [&str; 11] = [
        "Pending",
        "InProgress",
        "Cancelling",
        "RollbackInProgress",
        "Baking",
        "Contemplating",
        "Successful",
        "Failed",
        "Cancelled",
        "RollbackSuccessful",
        "RollbackFailed",
    ];
    for (status, minutes) in STATUSES.into_iter().flat_map(|status| [(status, 0), (status, 3)]) {
        let lab = settled();
        let members =
            Members::of(&lab.world()).templates().into_keys().map(str::to_owned).collect::<Vec<_>>();
        lab.apply(&patched(json!({"kubernetes_version": "v1.35.0"}))).unwrap();
        lab.wait(Duration::from_mins(minutes));
        lab.edit(|world| {
            let refresh = hands::group(world).refreshes.last_mut().unwrap();
            status.clone_into(&mut refresh.status);
            refresh.batch.clear();
        });
        let back = patched(json!({}));
        lab.apply(&back).unwrap();
        assert!(lab.plan(&back).unwrap().plan.is_empty(), "{status} after {minutes} min");
        lab.settle(&back, status);
        let now = Members::of(&lab.world());
        assert_eq!(now.templates().into_keys().collect::<Vec<_>>(), members, "{status} after {minutes} min");
        assert_eq!(now.total(), 3, "{status} after {minutes} min");
    }
}

/// A pool in the first minute of a roll: members of both templates run.
fn rolling() -> (Lab, Request) {
    let lab = settled();
    let request = patched(json!({"kubernetes_version": "v1.35.0"}));
    lab.apply(&request).unwrap();
    lab.wait(Duration::from_secs(30));
    (lab, request)
}

/// What a kill is called, and at which write it comes, before it or after.
type Kill = (&'static str, Moment, fn(&Write) -> bool);

#[test]
fn a_destroy_that_stops_after_it_ended_a_roll_does_not_stop_the_roll() {
    let ends_roll = |write: &Write| matches!(write, Write::CancelRefresh { .. });
    let empties = |write: &Write| matches!(write, Write::UpdateGroup(_));
    let kills: [Kill; 2] =
        [("after the cancel", Moment::After, ends_roll), ("before it empties", Moment::Before, empties)];
    for (about, when, last) in kills {
        for minutes in [0, 10] {
            let (lab, request) = rolling();
            let mut dead = false;
            lab.set_fault(move |moment, call| {
                dead |= moment == when && call.write.is_some_and(last);
                dead.then(|| call.error("us-east-1", "", "no answer"))
            });
            lab.destroy(&request.scope).unwrap_err();
            lab.clear_fault();
            lab.wait(Duration::from_mins(minutes));
            lab.apply(&request).unwrap();
            lab.settle(&request, about);
            let (now, launch) = (Members::of(&lab.world()), lab.world().groups[GROUP].launch.clone());
            let Launch::Template(used) = launch else { panic!("{launch:?}") };
            let templates: Vec<&str> = now.templates().into_keys().collect();
            assert_eq!(templates, [used.name.as_str()], "{about}, {minutes} min later");
        }
    }
}

#[test]
fn a_destroy_leaves_an_operators_cancel_one() {
    let (lab, request) = rolling();
    lab.edit(|world| "Cancelling".clone_into(&mut hands::group(world).refreshes.last_mut().unwrap().status));
    lab.set_fault(|_, call| {
        matches!(call.write, Some(Write::UpdateGroup(_)))
            .then(|| call.error("us-east-1", "AccessDenied", "no"))
    });
    lab.destroy(&request.scope).unwrap_err();
    lab.clear_fault();
    lab.wait(Duration::from_mins(10));
    let plan = lab.plan(&request).unwrap().plan;
    assert!(plan.warnings.iter().any(|warning| warning.summary.contains("was stopped")), "{plan:#?}");
}

#[test]
fn whoever_may_not_write_tags_can_destroy_all_the_same() {
    let (lab, request) = rolling();
    lab.set_fault(|_, call| {
        matches!(call.write, Some(Write::TagGroup { .. }))
            .then(|| call.error("us-east-1", "AccessDenied", "no"))
    });
    lab.destroy(&request.scope).unwrap();
}

/// A step of several calls that was given up half-way is neither done nor not begun.
#[test]
fn what_an_interrupt_ends_half_way_is_told() {
    let words = format!("Begun, and given up before its end: ending the instance refresh of {GROUP}.");
    for destroys in [false, true] {
        let (lab, request) = rolling();
        let interrupter = std::rc::Rc::clone(&lab.interrupter);
        lab.set_fault(move |moment, call| {
            if moment == Moment::After && matches!(call.write, Some(Write::CancelRefresh { .. })) {
                interrupter.borrow().as_ref().unwrap().raise();
            }
            None
        });
        let next = patched(json!({"kubernetes_version": "v1.36.0"}));
        let failure =
            if destroys { lab.destroy(&request.scope).unwrap_err() } else { lab.apply(&next).unwrap_err() };
        let detail = &failure.diagnostics.last().unwrap().detail;
        assert!(detail.contains(&words), "{detail}");
    }
}
