//! Instance refreshes that are not what they seem: somebody else's to another template, and our own that reads do
//! not show yet.

use std::time::Duration;

use machinepool::{
    cloud::sandbox::Lag,
    model::{
        observed::{Launch, TemplateUse},
        plan::{INSTANCE_REFRESH, Plan},
        resources::Write,
        rollout::Rollout,
        status::{self, Compared},
    },
};
use serde_json::{Value, json};

use super::{
    chaos::hands::{self, group},
    lab::{GROUP, Lab, both, patched},
    shape::Members,
};

fn four() -> Value {
    json!({"replicas": 4})
}

fn rolled() -> Value {
    json!({"replicas": 4, "kubernetes_version": "v1.35.0"})
}

/// A pool of four members.
fn pool() -> Lab {
    let lab = Lab::new();
    lab.apply(&patched(four())).unwrap();
    lab.wait(Duration::from_mins(10));
    lab
}

/// The names of the templates that members run.
fn templates(lab: &Lab) -> Vec<String> {
    Members::of(&lab.world()).templates().into_keys().map(str::to_owned).collect()
}

fn own_template(lab: &Lab) -> String {
    match &lab.world().groups[GROUP].launch {
        Launch::Template(used) => used.name.clone(),
        other => panic!("{other:?}"),
    }
}

fn statuses(lab: &Lab) -> Vec<String> {
    lab.world().groups[GROUP].refreshes.iter().map(|refresh| refresh.status.clone()).collect()
}

fn rolls(plan: &Plan) -> bool {
    plan.changes.iter().flat_map(|change| &change.fields).any(|field| field.field == INSTANCE_REFRESH)
}

/// The newest refresh has come to such an end by other hands.
fn end_newest(lab: &Lab, status: &str) {
    let now = lab.now();
    lab.edit(|world| {
        let refresh = group(world).refreshes.last_mut().unwrap();
        status.clone_into(&mut refresh.status);
        (refresh.end, refresh.next) = (Some(now), None);
        refresh.batch.clear();
        refresh.left.clear();
    });
}

#[test]
fn a_new_version_of_a_pool_that_is_emptied_starts_no_refresh() {
    let lab = Lab::new();
    lab.apply(&patched(json!({}))).unwrap();
    lab.wait(Duration::from_mins(10));
    let v2 = json!({"kubernetes_version": "v1.35.0"});
    let empty = patched(both(v2.clone(), &json!({"replicas": 0})));
    lab.cloud.clear();
    lab.apply(&empty).unwrap();
    let starts =
        |lab: &Lab| lab.cloud.writes().iter().filter(|w| matches!(w, Write::StartRefresh { .. })).count();
    assert_eq!(starts(&lab), 0, "{:?}", lab.cloud.writes());
    // At once, while they leave, and scaled out again before they are gone.
    assert!(lab.plan(&empty).unwrap().plan.changes.is_empty());
    lab.wait(Duration::from_secs(30));
    assert!(lab.plan(&empty).unwrap().plan.changes.is_empty());
    lab.settle(&empty, "emptied");
    assert!(lab.world().active_members(GROUP).is_empty());
    let again = patched(v2);
    lab.apply(&again).unwrap();
    lab.settle(&again, "scaled out again");
    assert_eq!((lab.world().active_members(GROUP).len(), starts(&lab)), (3, 0));
    assert_eq!(super::shape::templates(&lab.world()).count(), 1, "the earlier template is gone");
}

#[test]
fn a_refresh_to_somebody_elses_template_is_ended_by_the_first_apply() {
    let mut lab = pool();
    let before = Members::of(&lab.world());
    hands::start_other_refresh(&mut lab);
    let request = patched(four());
    let plan = lab.plan(&request).unwrap().plan;
    assert!(rolls(&plan) && plan.replaced.iter().all(|m| m.why.contains("ops-experiment")), "{plan:#?}");
    assert!(plan.notes.iter().any(|note| note.contains("is ended first")), "{:?}", plan.notes);
    let scope = &request.scope;
    let looked = lab.look(scope, None).unwrap();
    let status = status::status(scope, "us-east-1", &looked.seen, Compared::Not("a test"), lab.now());
    assert!(!status.rollout.refresh.as_ref().unwrap().of_current_template, "{:?}", status.rollout);
    assert!(status.rollout.next.contains("was not started for"), "{}", status.rollout.next);
    assert!(lab.start_rollout(&request).is_err(), "it is in the way, and no roll of ours");

    lab.apply(&request).unwrap();
    assert_eq!(statuses(&lab), ["Cancelled", "Pending"]);
    assert!(matches!(lab.start_rollout(&request), Ok(Rollout::Running(_))));
    lab.settle(&request, "after a foreign refresh");
    let after = Members::of(&lab.world());
    assert_eq!(after.templates(), before.templates());
    assert!(after.launches <= before.launches + 4, "only what it had launched is replaced: {after:?}");
    assert_eq!(statuses(&lab), ["Cancelled", "Successful"]);
}

/// What the end of an earlier roll says is no word about one to another template.
#[test]
fn what_a_refresh_to_another_template_brought_is_rolled_however_it_and_ours_ended() {
    for (ours, theirs) in [
        ("Failed", "Cancelled"),
        ("Failed", "RollbackSuccessful"),
        ("Successful", "Cancelled"),
        ("Successful", "Failed"),
        ("Successful", "InProgress"),
        ("Successful", "RollbackInProgress"),
    ] {
        let mut lab = pool();
        let request = patched(rolled());
        lab.apply(&request).unwrap();
        if ours == "Successful" {
            lab.settle(&request, "the roll");
        } else {
            lab.wait(Duration::from_secs(40));
            end_newest(&lab, ours);
        }
        let about = format!("ours {ours}, theirs {theirs}");
        hands::start_other_refresh(&mut lab);
        if theirs.ends_with("InProgress") {
            lab.edit(|world| theirs.clone_into(&mut group(world).refreshes.last_mut().unwrap().status));
        } else {
            end_newest(&lab, theirs);
        }
        let plan = lab.plan(&request).unwrap().plan;
        assert!(rolls(&plan), "{about}: {plan:#?}");
        lab.apply(&request).unwrap();
        lab.settle(&request, &about);
        assert_eq!(templates(&lab), [own_template(&lab)], "{about}");
    }
}

#[test]
fn a_refresh_to_an_older_version_of_our_template_serves_our_roll() {
    let lab = pool();
    let request = patched(rolled());
    lab.apply(&request).unwrap();
    lab.wait(Duration::from_mins(2));
    end_newest(&lab, "Failed");
    let launch = lab.world().groups[GROUP].launch.clone();
    let Launch::Template(used) = launch else { panic!("{launch:?}") };
    let first = TemplateUse { version: "1".into(), ..used };
    let relabelled = patched(both(rolled(), &json!({"node_labels": {"tier": "gpu"}})));
    hands::start(&lab, Some(first));
    let plan = lab.plan(&relabelled).unwrap().plan;
    assert!(!rolls(&plan) && plan.notes.iter().any(|note| note.contains("under way")), "{plan:#?}");
    lab.apply(&relabelled).unwrap();
    lab.settle(&relabelled, "a refresh to version 1");
    assert_eq!(templates(&lab), [own_template(&lab)]);
    assert!(matches!(&lab.world().groups[GROUP].launch, Launch::Template(used) if used.version == "$Latest"));
}

/// A plan that does not see the roll under way must not take it for its own afterwards.
#[test]
fn a_way_back_is_not_swallowed_when_reads_of_refreshes_lag() {
    for (lag, seconds) in (1..=3).flat_map(|lag| [0, 3, 6, 20, 60].map(|seconds| (lag, seconds))) {
        let lab = pool();
        let home = templates(&lab);
        lab.edit(|world| world.lag = Lag { refreshes: lag, ..Lag::default() });
        lab.apply(&patched(rolled())).unwrap();
        lab.wait(Duration::from_secs(seconds));
        let back = patched(four());
        lab.apply(&back).unwrap();
        lab.wait(Duration::from_secs(450));
        lab.apply(&back).unwrap();
        lab.settle(&back, "the way back");
        assert_eq!(templates(&lab), home, "lag {lag}, after {seconds} s");
    }
}

/// Nobody is known to run the other template when the group moves, so that no refresh is started: only the next
/// apply can see what the hidden one has launched meanwhile.
#[test]
fn what_a_hidden_refresh_launches_is_rolled_by_the_next_apply() {
    for ended in [None, Some("Successful"), Some("Failed")] {
        let lab = pool();
        let home = templates(&lab);
        lab.apply(&patched(rolled())).unwrap();
        lab.wait(Duration::from_secs(40));
        let back = patched(four());
        // The group is back and marked, as if nothing had run then.
        let away = lab.world().groups[GROUP].launch.clone();
        lab.edit(|world| {
            let first = super::shape::templates(world).find(|(_, t)| t.name == home[0]).unwrap().0.clone();
            let Launch::Template(used) = &away else { panic!("{away:?}") };
            let id = first;
            let used = TemplateUse { id, name: home[0].clone(), ..used.clone() };
            let group = group(world);
            group.launch = Launch::Template(used);
            let hash = home[0].rsplit('-').next().unwrap();
            group.tags.get_mut("machinepool.captf.io/roll").unwrap().value = format!("{hash}/none");
        });
        if let Some(status) = ended {
            end_newest(&lab, status);
        }
        assert_eq!(templates(&lab).len(), 2, "it has begun");
        lab.apply(&back).unwrap();
        lab.settle(&back, "the next apply");
        assert_eq!(templates(&lab), home, "{ended:?}");
    }
}
