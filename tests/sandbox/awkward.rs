//! Accounts in which something stands in the way, or lies where it should not.

use std::time::Duration;

use machinepool::{
    cloud::recorded::Moment,
    contract::{inputs::Inputs, request::Scope},
    engine::Teardown,
    error::Kind,
    model::{plan::Plan, resources::Write},
};
use serde_json::{Value, json};

use super::lab::{GROUP, Lab, base_inputs, both, merge, patched};

const KEY: &str = "pool/demo-pool-0";

/// A pool of three that has been up for a while.
fn settled(patch: Value) -> Lab {
    let lab = Lab::new();
    lab.apply(&patched(patch)).unwrap();
    lab.wait(Duration::from_mins(20));
    lab
}

/// The scope that only the given inputs make.
fn scope(value: &Value) -> Scope {
    let mut inputs = Inputs::default();
    inputs.add_file("inputs", value.to_string().as_bytes()).unwrap();
    Scope::parse(&inputs).unwrap()
}

fn minimal() -> Scope {
    scope(&json!({"captf_object": {"namespace": "team-a"}, "machinepool_name": "demo-pool-0"}))
}

fn has_object(lab: &Lab, bucket: &str) -> bool {
    lab.world().buckets[bucket].contains_key(KEY)
}

fn moved() -> Value {
    json!({"captf_cluster_outputs": {"bootstrap_bucket": "other-bootstrap"}})
}

fn make_other_bucket(lab: &Lab) {
    lab.edit(|world| world.buckets.insert("other-bootstrap".to_owned(), std::collections::BTreeMap::new()));
}

#[test]
fn a_bucket_that_changes_leaves_no_token_behind() {
    let lab = settled(json!({}));
    make_other_bucket(&lab);
    lab.apply(&patched(moved())).unwrap();
    assert!(has_object(&lab, "other-bootstrap") && !has_object(&lab, "demo-bootstrap"));
    lab.settle(&patched(moved()), "the bucket moved");
    lab.destroy(&patched(moved()).scope).unwrap();
    assert!(!has_object(&lab, "other-bootstrap"));
}

#[test]
fn an_old_object_that_could_not_be_deleted_is_remembered() {
    let lab = settled(json!({}));
    make_other_bucket(&lab);
    lab.set_fault(|moment, call| match call.write {
        Some(Write::DeleteObject { .. }) if moment == Moment::Before => {
            Some(call.error("us-east-1", "AccessDenied", "no"))
        }
        _ => None,
    });
    // Nothing that the pool needs has failed.
    lab.apply(&patched(moved())).unwrap();
    lab.clear_fault();
    assert!(has_object(&lab, "demo-bootstrap"));
    lab.destroy(&patched(moved()).scope).unwrap();
    assert!(!has_object(&lab, "demo-bootstrap") && !has_object(&lab, "other-bootstrap"));
}

#[test]
fn an_old_object_that_has_become_somebody_elses_stays() {
    let lab = settled(json!({}));
    make_other_bucket(&lab);
    lab.edit(|world| {
        let object = world.buckets.get_mut("demo-bootstrap").unwrap().get_mut(KEY).unwrap();
        object.tags.insert("captf.io/cluster".to_owned(), "other".to_owned());
    });
    lab.apply(&patched(moved())).unwrap();
    assert!(has_object(&lab, "demo-bootstrap"));
    let warnings = lab.warnings();
    assert!(
        warnings.iter().any(|w| w.summary.contains("demo-bootstrap") && w.summary.ends_with("and stays")),
        "{warnings:?}"
    );
}

/// On to a third bucket and back to the second, while the first one's object has to wait: its deletion has not been
/// tried, and is a change of its own once it can be.
#[test]
fn a_deletion_that_waits_through_moves_is_a_change_of_its_own() {
    let lab = settled(json!({}));
    make_other_bucket(&lab);
    lab.edit(|world| drop(world.buckets.insert("third-bootstrap".to_owned(), [].into())));
    let id = lab.world().active_members(GROUP).remove(0);
    let turn = |lifecycle: &str| {
        lab.edit(|world| world.instances.get_mut(&id).unwrap().lifecycle = Some(lifecycle.to_owned()));
    };
    turn("Pending:Wait");
    let third = json!({"captf_cluster_outputs": {"bootstrap_bucket": "third-bootstrap"}});
    for inputs in [moved(), third, moved()] {
        lab.apply(&patched(inputs)).unwrap();
        assert!(has_object(&lab, "demo-bootstrap"));
    }
    turn("InService");
    let moved = patched(moved());
    let planned = lab.plan(&moved).unwrap();
    assert!(!planned.plan.is_empty(), "{:?}", planned.plan.notes);
    lab.apply_planned(&moved, &planned).unwrap();
    assert!(!has_object(&lab, "demo-bootstrap") && !has_object(&lab, "third-bootstrap"));
    assert!(lab.plan(&moved).unwrap().plan.is_empty());
}

#[test]
fn the_last_record_of_a_bucket_goes_after_the_object() {
    let lab = settled(json!({}));
    lab.set_fault(|moment, call| match call.write {
        Some(Write::DeleteObject { .. }) if moment == Moment::Before => {
            Some(call.error("us-east-1", "AccessDenied", "no"))
        }
        _ => None,
    });
    let failure = lab.destroy(&minimal()).unwrap_err();
    assert_eq!(failure.kind, Kind::Partial);
    assert!(failure.diagnostics.iter().any(|d| d.summary.contains("is kept")), "{:?}", failure.diagnostics);
    assert!(!lab.world().groups.contains_key(GROUP), "the rest is deleted all the same");
    lab.clear_fault();
    lab.destroy(&minimal()).unwrap();
    assert!(!has_object(&lab, "demo-bootstrap"));
    assert_eq!(lab.destroy(&minimal()).unwrap().destroy, 0);
}

#[test]
fn with_little_to_go_by_a_destroy_takes_nothing_of_others() {
    let lab = settled(json!({}));
    // A template of another role whose owner has the same namespace and name.
    let stranger = lab.edit(|world| {
        let (_, ours) = super::shape::templates(world).next().map(|(id, t)| (id.clone(), t.clone())).unwrap();
        let mut stranger = ours;
        stranger.name = "control-plane-of-demo-pool-0".to_owned();
        stranger.tags.insert("captf.io/kind".to_owned(), "TerraformControlPlane".to_owned());
        stranger.tags.insert("captf.io/cluster".to_owned(), "other".to_owned());
        world.templates.insert("lt-0stranger".to_owned(), stranger);
        "lt-0stranger".to_owned()
    });
    lab.destroy(&minimal()).unwrap();
    assert!(lab.world().templates.contains_key(&stranger));
    assert!(!lab.world().groups.contains_key(GROUP));
}

fn pinned(id: &str) -> Value {
    json!({"machine_image": {"id": id}})
}

#[test]
fn a_pinned_image_that_cannot_be_launched_is_refused_before_any_write() {
    for lab in [Lab::new(), settled(json!({}))] {
        lab.edit(|world| {
            let mut pending = world.images[0].clone();
            (pending.image.id, pending.image.state) = ("ami-0505".to_owned(), "pending".to_owned());
            world.images.push(pending);
        });
        for id in ["ami-0404", "ami-0505"] {
            lab.cloud.clear();
            let failure = lab.apply(&patched(pinned(id))).unwrap_err();
            let summary = &failure.diagnostics[0].summary;
            assert_eq!((failure.kind, failure.diagnostics.len()), (Kind::Refused, 1), "{failure:?}");
            assert!(summary.contains(id) && summary.contains("us-east-1"), "{summary}");
            assert!(lab.cloud.writes().is_empty(), "{:?}", lab.cloud.writes());
        }
        lab.set_fault(|_, call| {
            let denied = call.operation == "ec2:DescribeImages";
            denied.then(|| call.error("us-east-1", "UnauthorizedOperation", "no"))
        });
        let plan = lab.plan(&patched(pinned("ami-0404"))).unwrap().plan;
        assert!(plan.warnings[0].summary.contains("could not be described"), "{:?}", plan.warnings);
    }
}

#[test]
fn a_pinned_image_that_goes_later_holds_up_nothing() {
    let lab = settled(pinned("ami-134101"));
    lab.edit(|world| world.deregistered.insert("ami-134101".to_owned()));
    let mut more = pinned("ami-134101");
    merge(&mut more, &json!({"replicas": 5, "bootstrap_data": "I2Nsb3VkLWNvbmZpZyAyCg=="}));
    merge(&mut more, &json!({"node_labels": {"team": "b"}}));
    let warnings = lab.plan(&patched(more.clone())).unwrap().plan.warnings;
    assert!(warnings.iter().any(|w| w.summary.contains("could not be described")), "{warnings:?}");
    merge(&mut more, &json!({"node_labels": null}));
    lab.apply(&patched(more)).unwrap();
    assert_eq!(lab.world().groups[GROUP].desired, 5);
    // Another one is another matter, also one that a template of the pool is left from.
    lab.apply(&patched(json!({"kubernetes_version": "v1.35.0"}))).unwrap();
    lab.cloud.clear();
    assert_eq!(lab.apply(&patched(pinned("ami-134101"))).unwrap_err().kind, Kind::Refused);
    assert!(lab.cloud.writes().is_empty());
}

#[test]
fn a_pinned_image_that_is_gone_holds_up_a_roll() {
    let lab = settled(pinned("ami-134101"));
    lab.edit(|world| world.deregistered.insert("ami-134101".to_owned()));
    lab.cloud.clear();
    let newer = both(pinned("ami-134101"), &json!({"kubernetes_version": "v1.35.0"}));
    let failure = lab.apply(&patched(newer)).unwrap_err();
    assert_eq!(failure.kind, Kind::Refused);
    assert!(failure.diagnostics[0].summary.contains("ami-134101"), "{failure:?}");
    assert!(lab.cloud.writes().is_empty(), "{:?}", lab.cloud.writes());
}

/// Earlier outputs stay with whoever has recorded them; an empty list would make Cluster API delete Nodes.
#[test]
fn outputs_are_never_a_strangers() {
    let request = patched(json!({}));
    for key in ["captf.io/cluster", "captf.io/name", "captf.io/namespace", "captf.io/kind"] {
        let lab = settled(json!({}));
        lab.edit(|world| {
            let tags = &mut world.groups.get_mut(GROUP).unwrap().tags;
            tags.get_mut(key).unwrap().value = "other".to_owned();
        });
        let refused = lab.plan(&request).unwrap_err();
        assert!(refused.diagnostics[0].summary.contains("belongs to somebody else"), "{refused:?}");
        let failure = lab.outputs(&request.scope).unwrap_err();
        assert_eq!(
            (failure.kind, &failure.diagnostics[0]),
            (Kind::Refused, &refused.diagnostics[0]),
            "{key}"
        );
        lab.look(&request.scope, Some(&request)).unwrap();
    }
    let lab = settled(json!({}));
    lab.edit(|world| world.groups.get_mut(GROUP).unwrap().tags.clear());
    assert_eq!(lab.outputs(&request.scope).unwrap().provider_id_list.len(), 3, "it has merely lost its tags");
}

#[test]
fn a_destroy_by_name_alone_warns_of_whose_pool_it_is() {
    let words = "cluster demo, object demo-pool-0";
    let told = |lab: &Lab, scope: &Scope| {
        let warnings = lab.plan_destroy(scope).unwrap().plan.warnings;
        warnings.iter().filter(|warning| warning.summary.ends_with(words)).count()
    };
    let lab = settled(json!({}));
    assert_eq!(told(&lab, &patched(json!({})).scope), 0);
    assert_eq!(told(&lab, &minimal()), 1);
    // Whose a template of its naming is, the group decides.
    let named = |plan: &Plan, name: &str| plan.changes.iter().any(|change| change.name.contains(name));
    assert!(!named(&lab.plan_destroy(&minimal()).unwrap().plan, "not-this-pools"));
    // Whatever is left of it says so as well: templates and object, then the object alone.
    lab.edit(|world| {
        world.groups.clear();
        world.instances.clear();
    });
    assert_eq!(told(&lab, &minimal()), 1);
    let Teardown { plan, .. } = lab.plan_destroy(&minimal()).unwrap();
    assert!(named(&plan, "not-this-pools") && plan.warnings[0].summary.contains("object another and to"));
    lab.edit(|world| world.templates.clear());
    let exports = json!({"bootstrap_bucket": "demo-bootstrap"});
    let mut inputs = json!({"captf_object": {"namespace": "team-a"}, "machinepool_name": "demo-pool-0"});
    inputs["captf_cluster_outputs"] = base_inputs()["captf_cluster_outputs"].clone();
    merge(&mut inputs["captf_cluster_outputs"], &exports);
    assert_eq!(told(&lab, &scope(&inputs)), 1);
    lab.destroy(&scope(&inputs)).unwrap();
    assert_eq!(told(&lab, &scope(&inputs)), 0, "there is nothing left");
    inputs["captf_cluster"] = json!({"name": "demo"});
    let lab = settled(json!({}));
    let warnings = lab.plan_destroy(&scope(&inputs)).unwrap().plan.warnings;
    assert!(warnings[0].summary.ends_with("it belongs to object demo-pool-0"), "{warnings:?}");
}

/// Changes what a template's tags say of its owner, with the group gone or not.
fn estrange(lab: &Lab, keeps_group: bool, edit: fn(&mut machinepool::contract::request::Tags)) {
    lab.edit(|world| {
        if !keeps_group {
            world.groups.remove(GROUP);
            world.instances.retain(|_, instance| instance.group.as_deref() != Some(GROUP));
        }
        for template in world.templates.values_mut().filter(|t| t.name.starts_with(GROUP)) {
            edit(&mut template.tags);
        }
    });
}

fn untag(tags: &mut machinepool::contract::request::Tags) {
    tags.retain(|key, _| !key.starts_with("captf.io/"));
}

fn give_away(tags: &mut machinepool::contract::request::Tags) {
    tags.insert("captf.io/cluster".to_owned(), "other".to_owned());
}

#[test]
fn a_destroy_refuses_a_template_of_the_pool_that_lost_its_tags() {
    for (edit, words) in [(untag as fn(&mut _), "not known to be"), (give_away, "somebody else")] {
        for keeps_group in [true, false] {
            let lab = settled(json!({}));
            estrange(&lab, keeps_group, edit);
            lab.cloud.clear();
            let failure = lab.destroy(&patched(json!({})).scope).unwrap_err();
            assert_eq!(failure.kind, Kind::Refused);
            let problem = &failure.diagnostics[0];
            assert!(problem.summary.contains(words), "{problem:?}");
            assert!(problem.detail.contains("aws ec2 create-tags --resources lt-"), "{problem:?}");
            assert!(lab.cloud.writes().is_empty());
        }
    }
}

#[test]
fn a_destroy_names_templates_under_the_pools_name_that_it_leaves() {
    // Made for another version than the inputs now name, or with inputs that name none.
    let v2 = patched(json!({"kubernetes_version": "v1.35.0"}));
    for scope in [v2.scope, minimal()] {
        let lab = settled(json!({}));
        estrange(&lab, false, untag);
        let warnings = lab.plan_destroy(&scope).unwrap().plan.warnings;
        let told = warnings.iter().find(|w| w.summary.contains("and stays")).unwrap();
        assert!(told.summary.contains("Launch template captf-"), "{told:?}");
        assert!(told.detail.contains("aws ec2 create-tags --resources lt-"), "{told:?}");
    }
}

#[test]
fn a_destroy_of_a_pool_that_is_not_there_ends_whatever_lies_under_its_name() {
    let lab = settled(json!({}));
    estrange(&lab, false, give_away);
    lab.edit(|world| world.buckets.get_mut("demo-bootstrap").unwrap().remove(KEY));
    let scope = patched(json!({})).scope;
    let warnings = lab.plan_destroy(&scope).unwrap().plan.warnings;
    assert!(warnings.iter().any(|w| w.summary.contains("and stays")), "{warnings:?}");
    assert_eq!(lab.destroy(&scope).unwrap().destroy, 0);
    assert!(lab.world().templates.values().any(|t| t.name.starts_with(GROUP)));
}

#[test]
fn an_object_that_members_still_fetch_goes_once_they_are_up() {
    let lab = Lab::new();
    lab.apply(&patched(json!({}))).unwrap();
    lab.wait(Duration::from_secs(4));
    make_other_bucket(&lab);
    let moved = patched(moved());
    lab.apply(&moved).unwrap();
    assert!(has_object(&lab, "other-bootstrap") && has_object(&lab, "demo-bootstrap"));
    assert!(lab.plan(&moved).unwrap().plan.is_empty(), "nothing that an apply could do now");
    lab.wait(Duration::from_mins(16));
    assert!(!lab.plan(&moved).unwrap().plan.is_empty(), "now it could");
    lab.apply(&moved).unwrap();
    assert!(!has_object(&lab, "demo-bootstrap"));
    let plan = lab.plan(&moved).unwrap().plan;
    assert!(plan.is_empty() && plan.stages.is_empty(), "{plan:?}");
}

#[test]
fn a_member_that_starts_after_the_plan_keeps_the_object_too() {
    let lab = settled(json!({}));
    make_other_bucket(&lab);
    let moved = patched(moved());
    let planned = lab.plan(&moved).unwrap();
    let id = lab.world().active_members(GROUP).remove(0);
    let turn = |lifecycle: &str| {
        lab.edit(|world| world.instances.get_mut(&id).unwrap().lifecycle = Some(lifecycle.to_owned()));
    };
    turn("Pending:Wait");
    lab.apply_planned(&moved, &planned).unwrap();
    assert!(has_object(&lab, "demo-bootstrap"));
    assert!(lab.plan(&moved).unwrap().plan.is_empty(), "nothing that an apply could do now");
    turn("InService");
    // Also for those who apply only what a plan shows as changes.
    let planned = lab.plan(&moved).unwrap();
    assert!(!planned.plan.is_empty(), "put off is not tried");
    lab.apply_planned(&moved, &planned).unwrap();
    assert!(!has_object(&lab, "demo-bootstrap"));
    let plan = lab.plan(&moved).unwrap().plan;
    assert!(plan.is_empty() && plan.stages.is_empty(), "{plan:?}");
}

/// A group without a launch hook has its members in service before their boot has begun.
#[test]
fn a_member_in_service_that_still_boots_keeps_the_object() {
    let lab = Lab::new();
    lab.apply(&patched(json!({}))).unwrap();
    lab.wait(Duration::from_mins(1));
    let in_service =
        |member: &String| lab.world().instances[member].lifecycle.as_deref() == Some("InService");
    assert!(lab.world().active_members(GROUP).iter().all(in_service));
    make_other_bucket(&lab);
    let moved = patched(moved());
    lab.apply(&moved).unwrap();
    for minute in [1, 7, 13] {
        assert!(has_object(&lab, "demo-bootstrap"), "minute {minute}");
        let planned = lab.plan(&moved).unwrap();
        assert!(!planned.plan.is_empty(), "minute {minute}: a change until it is gone");
        lab.apply_planned(&moved, &planned).unwrap();
        assert!(has_object(&lab, "demo-bootstrap"), "minute {minute}");
        lab.wait(Duration::from_mins(6));
    }
    let planned = lab.plan(&moved).unwrap();
    assert!(!planned.plan.is_empty());
    lab.apply_planned(&moved, &planned).unwrap();
    assert!(!has_object(&lab, "demo-bootstrap"));
    let plan = lab.plan(&moved).unwrap().plan;
    assert!(plan.is_empty() && plan.stages.is_empty(), "{plan:?}");
}

#[test]
fn members_launched_from_the_new_version_keep_nothing() {
    let lab = Lab::new();
    lab.apply(&patched(json!({}))).unwrap();
    lab.wait(Duration::from_mins(4));
    make_other_bucket(&lab);
    lab.apply(&patched(moved())).unwrap();
    assert!(has_object(&lab, "demo-bootstrap"));
    // The pool scales all the time: its newest members are in service, or held by a hook.
    lab.wait(Duration::from_mins(10));
    let before = lab.world().active_members(GROUP);
    let mut inputs = moved();
    merge(&mut inputs, &json!({"replicas": 5}));
    lab.apply(&patched(inputs.clone())).unwrap();
    lab.wait(Duration::from_mins(2));
    let mut new = lab.world().active_members(GROUP);
    new.retain(|id| !before.contains(id));
    assert_eq!(new.len(), 2);
    lab.edit(|world| {
        world.instances.get_mut(&new[0]).unwrap().lifecycle = Some("Pending:Wait".to_owned());
    });
    assert!(has_object(&lab, "demo-bootstrap"));
    lab.apply(&patched(inputs)).unwrap();
    assert!(!has_object(&lab, "demo-bootstrap"));
}

#[test]
fn a_zone_record_edited_by_hand_moves_no_member() {
    let lab = settled(json!({}));
    let request = patched(json!({}));
    lab.edit(|world| {
        let tags = &mut world.groups.get_mut(GROUP).unwrap().tags;
        tags.get_mut("machinepool.captf.io/inherited-zones").unwrap().value = "us-east-1a".to_owned();
    });
    let before = lab.world().active_members(GROUP);
    lab.apply(&request).unwrap();
    lab.settle(&request, "the record is mended");
    assert_eq!(lab.world().active_members(GROUP), before);
}

#[test]
fn a_zone_record_edited_by_hand_is_mended_beside_failure_domains() {
    let lab = settled(json!({}));
    let request = patched(json!({"failure_domains": ["us-east-1a"]}));
    lab.settle(&request, "one zone");
    let record = "machinepool.captf.io/inherited-zones";
    let whole = lab.world().groups[GROUP].tags[record].value.clone();
    assert!(whole.contains('/'), "{whole}");
    lab.edit(|world| {
        let tags = &mut world.groups.get_mut(GROUP).unwrap().tags;
        tags.get_mut(record).unwrap().value = "us-east-1a".to_owned();
    });
    lab.settle(&request, "the record is mended");
    assert_eq!(lab.world().groups[GROUP].tags[record].value, whole);
    let (_, template) =
        super::shape::templates(&lab.world()).next().map(|(i, t)| (i.clone(), t.clone())).unwrap();
    assert_eq!(template.tags[record], whole);
}

#[test]
fn a_pool_whose_object_has_another_name_knows_itself() {
    let lab = Lab::new();
    let mut inputs = base_inputs();
    merge(&mut inputs, &json!({"captf_object": {"name": "demo-pool-0-infra"}, "captf_tags": null}));
    inputs["captf_tags"] = json!({});
    let request = super::lab::request(&inputs);
    lab.apply(&request).unwrap();
    assert!(lab.plan(&request).unwrap().plan.is_empty());
    lab.wait(Duration::from_mins(10));
    lab.destroy(&minimal()).unwrap();
    assert!(!lab.world().groups.contains_key(GROUP));
}

#[test]
fn a_wait_judges_the_roll_at_hand_and_no_earlier_one() {
    let lab = settled(json!({}));
    let v2 = patched(json!({"kubernetes_version": "v1.35.0"}));
    lab.edit(|world| world.launch_error = Some("We do not have sufficient m6i.large capacity".to_owned()));
    let applied = lab.apply(&v2).unwrap();
    assert!(applied.refresh.is_some());
    let failure = lab.await_roll(&v2.scope, applied.refresh.as_deref()).unwrap_err();
    let told = format!("{:?}", failure.diagnostics);
    assert!(told.contains("sufficient m6i.large capacity"), "in AWS's words: {told}");
    lab.edit(|world| world.launch_error = None);
    // Going back needs no roll, so there is nothing to fail.
    let back = patched(json!({}));
    let applied = lab.apply(&back).unwrap();
    lab.await_roll(&back.scope, applied.refresh.as_deref()).unwrap();
    lab.settle(&back, "went back");
    lab.await_roll(&back.scope, None).unwrap();
}

#[test]
fn a_protected_member_that_is_held_on_its_way_out_does_not_hold_up_a_destroy() {
    let lab = settled(json!({}));
    lab.edit(|world| {
        world.groups.get_mut(GROUP).unwrap().termination_hook_seconds = 40_000;
        for id in world.active_members(GROUP) {
            world.instances.get_mut(&id).unwrap().protected = true;
        }
        let id = world.active_members(GROUP).remove(0);
        world.instances.get_mut(&id).unwrap().lifecycle = Some("Terminating:Wait".to_owned());
    });
    lab.destroy(&patched(json!({})).scope).unwrap();
    assert!(!lab.world().groups.contains_key(GROUP));
}

#[test]
fn a_group_protected_from_deletion_keeps_its_members() {
    let lab = settled(json!({}));
    lab.edit(|world| {
        world.groups.get_mut(GROUP).unwrap().deletion_protection = Some("prevent-all-deletion".to_owned());
    });
    lab.cloud.clear();
    let failure = lab.destroy(&patched(json!({})).scope).unwrap_err();
    assert_eq!(failure.kind, Kind::Refused);
    assert!(failure.diagnostics[0].detail.contains("--deletion-protection none"));
    assert!(lab.cloud.writes().is_empty());
}

#[test]
fn a_reading_that_lags_ends_no_roll_of_ours() {
    let lab = settled(json!({}));
    let v2 = patched(json!({"kubernetes_version": "v1.35.0"}));
    // Planned from a reading before the roll, carried out while the roll runs.
    let stale = lab.plan(&v2).unwrap();
    lab.apply(&v2).unwrap();
    lab.wait(Duration::from_mins(2));
    let mut lagging = stale;
    lagging.observed.refreshes.clone_from(&lab.plan(&v2).unwrap().observed.refreshes);
    let (desired, plan) = machinepool::model::planner::plan(&v2, &lagging.observed).unwrap();
    lagging.desired = desired;
    lagging.plan = plan;
    lab.apply_planned(&v2, &lagging).unwrap();
    let world = lab.world();
    let refreshes = &world.groups[GROUP].refreshes;
    assert_eq!(refreshes.len(), 1, "{refreshes:?}");
    assert_ne!(refreshes[0].status, "Cancelled");
}

#[test]
fn a_destroy_that_found_nothing_leaves_what_comes_after_it() {
    let lab = Lab::new();
    let request = patched(json!({}));
    let nothing = lab.plan_destroy(&request.scope).unwrap();
    assert!(nothing.plan.is_empty());
    lab.apply(&request).unwrap();
    lab.cloud.clear();
    assert_eq!(lab.destroy_planned(&nothing).unwrap().destroy, 0);
    assert!(lab.cloud.writes().is_empty(), "{:?}", lab.cloud.writes());
    assert!(lab.world().groups.contains_key(GROUP));
}

#[test]
fn a_listing_that_fails_at_the_end_hides_no_earlier_failure() {
    let lab = settled(json!({}));
    let teardown = lab.plan_destroy(&patched(json!({})).scope).unwrap();
    lab.set_fault(|moment, call| {
        let denied = matches!(call.write, Some(Write::DeleteObject { .. }))
            || call.operation == "ec2:DescribeLaunchTemplates";
        (denied && moment == Moment::Before).then(|| call.error("us-east-1", "AccessDenied", "no"))
    });
    let failure = lab.destroy_planned(&teardown).unwrap_err();
    let told: Vec<&str> = failure.diagnostics.iter().map(|d| d.summary.as_str()).collect();
    assert!(told.iter().any(|s| s.contains("DeleteObject")), "{told:?}");
    assert!(told.iter().any(|s| s.contains("DescribeLaunchTemplates")), "{told:?}");
}

/// What others have put on a group goes with it: the plan says so before anybody says yes, and nothing of it where
/// there is none.
#[test]
fn a_destroy_tells_what_others_put_on_the_group() {
    let request = patched(json!({}));
    let lab = Lab::new();
    lab.apply(&request).unwrap();
    lab.wait(Duration::from_hours(1));
    assert_eq!(lab.plan_destroy(&request.scope).unwrap().plan.notes, [""; 0]);
    lab.edit(|world| {
        let member = world.members(GROUP).remove(0);
        world.instances.get_mut(&member).unwrap().protected = true;
        let group = world.groups.get_mut(GROUP).unwrap();
        group.scheduled_actions.insert("nightly".to_owned());
        group.warm_pool = true;
    });
    assert_eq!(
        lab.plan_destroy(&request.scope).unwrap().plan.notes,
        [
            "1 member is protected from scale-in; it is terminated all the same.",
            "Scheduled action nightly is deleted with the group.",
            "The group's warm pool is deleted with it, with its instances.",
        ]
    );
}
