//! Templates that no longer serve, and versions too many. Never a change, and never a reason to fail.

use std::collections::BTreeSet;

use super::{Draft, Phase, View};
use crate::contract::request::Tags;
use crate::model::{
    observed::{Template, TemplateVersion},
    plan::{Address, Task},
    records,
    resources::Write,
    roll,
    target::{self, pool_templates},
};

/// How many of the newest versions are kept. EC2 allows 10,000 a template.
const VERSIONS_KEPT: usize = 20;

/// The buckets in which a template says that a bootstrap object lies, of those that the pool no longer uses.
fn left_buckets<'a>(view: &View<'_>, template: &'a Template) -> Vec<&'a str> {
    records::buckets(&template.tags).filter(|bucket| *bucket != view.desired.object.bucket).collect()
}

/// Objects in buckets that the pool no longer uses, and then the record of them. A bucket is recorded before
/// anything is put into it: whatever ends a move halfway, no object is forgotten.
fn left_objects(view: &View<'_>, template: &Template, draft: &mut Draft) {
    let left = left_buckets(view, template);
    if left.is_empty() {
        return;
    }
    let (bucket, key) = (&view.desired.object.bucket, &view.desired.object.key);
    let record = |value: String| {
        let tags = Tags::from([(records::BUCKET.to_owned(), value)]);
        Write::TagTemplate { template_id: template.id.clone(), tags }
    };
    if !records::buckets(&template.tags).any(|recorded| recorded == bucket) {
        let all = records::join_buckets([bucket.as_str()].into_iter().chain(left.iter().copied()));
        draft.write(Phase::Clear, Address::Template, record(all));
    }
    let mut tasks: Vec<Task> = Vec::new();
    for old in left {
        draft
            .notes
            .push(format!("The bootstrap object s3://{old}/{key} serves no longer: apply deletes it."));
        tasks.push(Task::RemoveObject { bucket: old.to_owned(), key: key.clone() });
    }
    tasks.push(Task::Write(record(bucket.clone())));
    draft.push(Phase::CleanUp, Address::Object, tasks, true);
}

pub(super) fn plan(view: &View<'_>, draft: &mut Draft) {
    for template in pool_templates(view.desired, view.observed) {
        left_objects(view, template, draft);
    }
    for stale in pool_templates(view.desired, view.observed) {
        if view.target.existing.is_some_and(|t| t.id == stale.id) {
            continue;
        }
        if in_use(view, stale) {
            draft
                .notes
                .push(format!("Launch template {} goes with an apply once no member runs it.", stale.name));
        } else {
            draft.notes.push(format!("Launch template {} serves no longer: apply deletes it.", stale.name));
            // A template that records an object elsewhere stays until that one is gone.
            if left_buckets(view, stale).is_empty() {
                let write = Write::DeleteTemplate { template_id: stale.id.clone() };
                draft.clean_up(Address::Template, Task::Write(write));
            }
        }
    }
    prune(view, draft);
}

fn in_use(view: &View<'_>, template: &Template) -> bool {
    let member = view.live.is_some_and(|live| {
        live.members
            .iter()
            .filter(|m| m.lifecycle != "Terminated")
            .any(|m| m.template.as_ref().is_some_and(|t| t.id == template.id || t.name == template.name))
    });
    // A refresh that this plan ends no longer counts.
    let refreshing = !view.ends_refresh()
        && roll::active(&view.observed.refreshes)
            .and_then(|r| r.desired_template.as_ref())
            .is_some_and(|t| t.id == template.id);
    member || refreshing
}

/// Old versions go when a new one is made.
fn prune(view: &View<'_>, draft: &mut Draft) {
    let Some(existing) = view.target.existing else { return };
    let makes_version = draft.stages.iter().flatten().flatten().any(
        |step| matches!(&step.task, Task::Write(Write::CreateTemplateVersion { template_id, .. }) if *template_id == existing.id),
    );
    if !makes_version || existing.latest_version < VERSIONS_KEPT as u64 {
        return;
    }
    let of_this = |used: &crate::model::observed::TemplateUse| {
        (used.id == existing.id).then(|| used.version.parse().ok()).flatten()
    };
    let members = view.live.into_iter().flat_map(|g| &g.members).filter_map(|m| m.template.as_ref());
    let refreshing = view.observed.refreshes.iter().filter_map(|r| r.desired_template.as_ref());
    let group = view.live.and_then(target::current_use);
    let keep: BTreeSet<u64> = members.chain(refreshing).chain(group).filter_map(of_this).collect();
    let task = Task::PruneVersions { template_id: existing.id.clone(), keep };
    draft.clean_up(Address::Template, task);
}

/// The versions that may go: all but the newest 20, the default, and those in use.
pub fn prunable(versions: &[TemplateVersion], keep: &BTreeSet<u64>) -> Vec<u64> {
    let mut numbers: Vec<u64> = versions.iter().map(|v| v.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.truncate(numbers.len().saturating_sub(VERSIONS_KEPT));
    let default = versions.iter().find(|v| v.is_default).map(|v| v.number);
    numbers.retain(|n| Some(*n) != default && !keep.contains(n));
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_the_default_and_those_in_use_stay() {
        let version =
            |number| TemplateVersion { number, is_default: number == 3, ..TemplateVersion::default() };
        let versions: Vec<TemplateVersion> = (1..=25).rev().map(version).collect();
        assert_eq!(prunable(&versions, &BTreeSet::from([2])), [1, 4, 5]);
        assert!(prunable(&versions[..20], &BTreeSet::new()).is_empty());
        assert!(prunable(&[], &BTreeSet::new()).is_empty());
    }
}
