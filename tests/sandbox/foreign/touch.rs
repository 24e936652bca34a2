//! How edits are made.

use std::time::Duration;

use machinepool::{
    cloud::sandbox::{StoredObject, StoredTemplate},
    model::{
        observed::{Launch, Policy, TemplateUse},
        resources::TemplateData,
    },
};

use super::super::{
    chaos::hands::group,
    lab::{GROUP, Lab, patched},
    shape::templates,
};

pub(super) fn template(lab: &Lab, change: impl FnOnce(&mut StoredTemplate)) {
    lab.edit(|world| {
        let id = templates(world).next().unwrap().0.clone();
        change(world.templates.get_mut(&id).unwrap());
    });
}

pub(super) fn object(lab: &Lab, change: impl FnOnce(&mut StoredObject)) {
    lab.edit(|world| {
        change(world.buckets.get_mut("demo-bootstrap").unwrap().get_mut("pool/demo-pool-0").unwrap());
    });
}

pub(super) fn group_tag(lab: &Lab, key: &str, value: &str) {
    lab.edit(|world| value.clone_into(&mut group(world).tags.entry(key.to_owned()).or_default().value));
}

pub(super) fn template_tag(lab: &Lab, key: &str, value: &str) {
    template(lab, |t| drop(t.tags.insert(key.to_owned(), value.to_owned())));
}

pub(super) fn object_tag(lab: &Lab, key: &str, value: &str) {
    object(lab, |o| drop(o.tags.insert(key.to_owned(), value.to_owned())));
}

pub(super) fn policy(lab: &Lab, change: impl FnOnce(&mut Policy)) {
    lab.edit(|world| change(group(world).policies.get_mut("captf-cpu-target-tracking").unwrap()));
}

/// Adds a version of somebody's making, the same as ours but for what `change` does.
pub(super) fn add_version(lab: &Lab, change: impl FnOnce(&mut TemplateData)) {
    template(lab, |t| {
        let mut version = t.versions[&t.last_version].clone();
        change(&mut version.data);
        t.last_version += 1;
        t.versions.insert(t.last_version, version);
    });
}

pub(super) fn used(lab: &Lab) -> TemplateUse {
    match lab.world().groups[GROUP].launch.clone() {
        Launch::Template(used) => used,
        other => panic!("{other:?}"),
    }
}

pub(super) fn launch(lab: &Lab, launch: Launch) {
    lab.edit(|world| group(world).launch = launch);
}

pub(super) fn add_policy(lab: &Lab, name: &str) {
    let target_tracking = Some(("ASGAverageCPUUtilization".to_owned(), 50.0));
    let policy = Policy { name: name.to_owned(), target_tracking, ..Policy::default() };
    lab.edit(|w| drop(group(w).policies.insert(name.to_owned(), policy)));
}

pub(super) fn roll_half_way(lab: &mut Lab) {
    lab.apply(&patched(super::edits::rolling())).unwrap();
    lab.wait(Duration::from_mins(3));
}
