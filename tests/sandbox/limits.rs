//! What AWS allows only so many of.

use std::{collections::BTreeSet, time::Duration};

use machinepool::model::resources::Write;
use serde_json::json;

use super::{
    lab::{GROUP, Lab, patched},
    shape::{Settings, assert_same, templates},
};

#[test]
fn versions_that_nobody_needs_are_deleted_in_passing() {
    let lab = Lab::new();
    let version = |number: u32| patched(json!({"root_volume_size_gib": 40 + number, "replicas": 2}));
    lab.apply(&version(1)).unwrap();
    lab.wait(Duration::from_mins(10));
    for number in 2..=45 {
        lab.apply(&version(number)).unwrap();
        lab.wait(Duration::from_mins(1));
        if number == 10 {
            // One of the two members is replaced, and runs version 10 from now on.
            lab.edit(|world| {
                let id = world.active_members(GROUP).remove(0);
                "shutting-down".clone_into(&mut world.instances.get_mut(&id).unwrap().state);
            });
            lab.wait(Duration::from_mins(5));
        }
    }
    let world = lab.world();
    let (_, template) = templates(&world).next().unwrap();
    let kept: BTreeSet<u64> = template.versions.keys().copied().collect();
    let newest: BTreeSet<u64> = (26..=45).collect();
    let run: BTreeSet<u64> = [1, 10].into();
    assert!(kept.is_superset(&newest) && kept.is_superset(&run), "{kept:?}");
    assert!(kept.len() <= 23, "{kept:?}");
    assert_eq!(template.default_version, 45);
    assert!(lab.plan(&version(45)).unwrap().plan.is_empty());
}

#[test]
fn a_failed_pruning_is_no_failure() {
    let lab = Lab::new();
    let version = |number: u32| patched(json!({"root_volume_size_gib": 40 + number}));
    for number in 1..=22 {
        lab.apply(&version(number)).unwrap();
    }
    lab.set_fault(|_, call| {
        let prunes = matches!(call.write, Some(Write::DeleteTemplateVersions { .. }));
        prunes.then(|| call.error("us-east-1", "UnauthorizedOperation", "You are not authorized"))
    });
    lab.apply(&version(23)).unwrap();
    assert!(lab.plan(&version(23)).unwrap().plan.is_empty());
}

#[test]
fn protection_is_cleared_in_batches_and_long_lists_are_whole() {
    let lab = Lab::new();
    let request = patched(json!({"replicas": 1203}));
    lab.apply(&request).unwrap();
    lab.wait(Duration::from_mins(10));
    let outputs = lab.outputs(&request.scope).unwrap();
    assert_eq!(outputs.provider_id_list.len(), 1203, "of these, none is ever left out");
    assert_eq!(outputs.instances.len(), 1000);
    assert!(outputs.provider_id_list.is_sorted());
    lab.edit(|world| {
        for id in world.active_members(GROUP).into_iter().take(120) {
            world.instances.get_mut(&id).unwrap().protected = true;
        }
    });
    lab.cloud.clear();
    lab.destroy(&request.scope).unwrap();
    let batches: Vec<usize> = lab
        .cloud
        .writes()
        .iter()
        .filter_map(|write| match write {
            Write::Unprotect { instances, .. } => Some(instances.len()),
            _ => None,
        })
        .collect();
    assert_eq!(batches, [50, 50, 20]);
    assert_same(&Settings::none(), &Settings::of(&lab.world()), "destroyed");
}
