//! Somebody else's hands: what they do to the account.

use std::time::Duration;

use machinepool::{
    clock::Clock as _,
    cloud::{
        Cloud as _,
        recorded::Moment,
        sandbox::{RefreshOptions, StoredGroup, World},
    },
    model::{
        desired::roll_key,
        observed::{Known, Launch, TemplateUse},
        resources::Write,
    },
};
use serde_json::json;

use super::super::{
    lab::{GROUP, Lab, patched, run},
    shape::templates,
};

/// The name that Terraform gives the template of its module.
const GENERATED: &str = "captf-team-a-demo-pool-0-43c6d828-20260101120000000000000001";

pub(crate) fn group(world: &mut World) -> &mut StoredGroup {
    world.groups.get_mut(GROUP).unwrap()
}

fn perform(lab: &Lab, write: &Write) {
    run(lab.cloud.inner().perform(write)).unwrap();
}

pub(crate) fn delete_group(lab: &mut Lab) {
    perform(lab, &Write::DeleteGroup { group: GROUP.to_owned(), force: true });
}

pub(crate) fn delete_group_and_wait(lab: &mut Lab) {
    delete_group(lab);
    lab.wait(Duration::from_mins(10));
}

pub(crate) fn cancel_refresh(lab: &mut Lab) {
    perform(lab, &Write::CancelRefresh { group: GROUP.to_owned() });
    lab.wait(Duration::from_mins(5));
}

pub(crate) fn start_refresh(lab: &mut Lab) {
    start(lab, None);
}

/// With the group's own template as desired configuration.
pub(crate) fn start_desired_refresh(lab: &mut Lab) {
    let launch = lab.world().groups[GROUP].launch.clone();
    let Launch::Template(used) = launch else { panic!("{launch:?}") };
    start(lab, Some(used));
}

/// With a template that has neither the pool's name nor its tags as desired configuration.
pub(crate) fn start_other_refresh(lab: &mut Lab) {
    const ID: &str = "lt-0ops";
    let other = lab.edit(|world| {
        let mut template = templates(world).next().unwrap().1.clone();
        "ops-experiment".clone_into(&mut template.name);
        template.tags.clear();
        let used = TemplateUse { id: ID.to_owned(), name: template.name.clone(), version: "1".to_owned() };
        world.templates.insert(ID.to_owned(), template);
        used
    });
    start(lab, Some(other));
}

pub(crate) fn start(lab: &Lab, desired: Option<TemplateUse>) {
    let now = lab.clock.now();
    let options = RefreshOptions { warmup_seconds: 300, desired, ..RefreshOptions::default() };
    lab.edit(|world| world.start_refresh_by_hand(GROUP, options, now)).expect("it starts");
    lab.wait(Duration::from_mins(1));
}

/// A destroy of the pool dies once it has ended the refresh.
pub(crate) fn stop_a_destroy(lab: &mut Lab) {
    let mut dead = false;
    lab.set_fault(move |moment, call| {
        dead |= moment == Moment::Before && matches!(call.write, Some(Write::UpdateGroup(_)));
        dead.then(|| call.error("us-east-1", "", "no answer"))
    });
    lab.destroy(&patched(json!({})).scope).unwrap_err();
    lab.clear_fault();
}

/// AWS's list of statuses is open.
pub(crate) fn make_status_unknown(lab: &mut Lab) {
    lab.edit(|world| {
        let refresh = group(world).refreshes.last_mut().unwrap();
        "Contemplating".clone_into(&mut refresh.status);
    });
}

/// One member is protected from scale-in, another put in standby as the API does it.
pub(crate) fn put_aside(lab: &mut Lab) {
    lab.edit(|world| {
        let ids = world.active_members(GROUP);
        world.instances.get_mut(&ids[0]).unwrap().protected = true;
        world.instances.get_mut(&ids[1]).unwrap().lifecycle = Some("Standby".to_owned());
        let group = group(world);
        (group.min, group.desired) = (2, 2);
    });
}

pub(crate) fn break_launches(lab: &mut Lab) {
    lab.edit(|world| world.launch_error = Some("We do not have sufficient m6i.large capacity".to_owned()));
}

pub(crate) fn mend_launches(lab: &mut Lab) {
    lab.edit(|world| world.launch_error = None);
}

pub(crate) fn make_bucket(lab: &mut Lab) {
    lab.edit(|world| world.buckets.entry("other-bootstrap".to_owned()).or_default().clear());
}

pub(crate) fn protect(lab: &mut Lab) {
    lab.edit(|world| {
        for id in world.active_members(GROUP) {
            world.instances.get_mut(&id).unwrap().protected = true;
        }
    });
}

pub(crate) fn suspend_terminate(lab: &mut Lab) {
    lab.edit(|world| group(world).suspended.insert("Terminate".to_owned()));
}

/// Everything that holds up an end.
pub(crate) fn awkward(lab: &mut Lab) {
    protect(lab);
    suspend_terminate(lab);
    lab.edit(|world| {
        let group = group(world);
        group.scheduled_actions.insert("nightly".to_owned());
        group.warm_pool = true;
        group.termination_hook_seconds = 120;
    });
}

/// Makes the pool what Terraform's module would have made: a generated name, no records.
pub(crate) fn as_terraform_makes_it(lab: &mut Lab) {
    let ours = |key: &String| key.starts_with("machinepool.captf.io/");
    lab.edit(|world| {
        let id = templates(world).next().unwrap().0.clone();
        let template = world.templates.get_mut(&id).unwrap();
        GENERATED.clone_into(&mut template.name);
        template.tags.retain(|key, _| !ours(key));
        let uses = world.instances.values_mut().filter_map(|instance| instance.template.as_mut());
        for used in uses.filter(|used| used.id == id) {
            GENERATED.clone_into(&mut used.name);
        }
        let group = group(world);
        group.tags.retain(|key, _| !ours(key));
        let Launch::Template(launches) = &mut group.launch else { panic!("{:?}", group.launch) };
        GENERATED.clone_into(&mut launches.name);
    });
}

/// A state file tells what the tags do not.
pub(crate) fn keep_state(lab: &mut Lab) {
    lab.known = Known {
        zones: Some(vec!["us-east-1a".to_owned(), "us-east-1b".to_owned()]),
        key: Some(roll_key(&patched(json!({})))),
    };
}
