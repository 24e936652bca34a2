//! Templates and objects that no longer serve, and versions too many. Never a reason to fail; seldom a change.

use std::{collections::BTreeSet, iter};

use super::{Draft, Phase, View};
use crate::contract::request::Tags;
use crate::model::{
    diff::Fields,
    fetching,
    observed::{Template, TemplateUse, TemplateVersion},
    plan::{Action, Address, Task},
    records,
    resources::Write,
    roll::{self, Decision},
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
fn left_objects(view: &View<'_>, draft: &mut Draft) {
    let (bucket, key) = (&view.desired.object.bucket, &view.desired.object.key);
    let templates: Vec<(&Template, Vec<&str>)> = pool_templates(view.desired, view.observed)
        .into_iter()
        .map(|template| (template, left_buckets(view, template)))
        .filter(|(_, left)| !left.is_empty())
        .collect();
    let left: BTreeSet<&str> = templates.iter().flat_map(|(_, left)| left.iter().copied()).collect();
    if left.is_empty() {
        return;
    }
    let kept = may_be_fetched(view, draft);
    for (template, left) in &templates {
        if !records::buckets(&template.tags).any(|recorded| recorded == bucket) {
            draft.write(Phase::Clear, Address::Template, record(template, both(bucket, left)));
        }
    }
    let places: Vec<String> = left.iter().map(|old| format!("s3://{old}/{key}")).collect();
    if let Some(why) = kept {
        draft.notes.extend(places.iter().map(|place| {
            format!("The bootstrap object {place} goes with an apply later on: {why} may still fetch it.")
        }));
        return;
    }
    draft.notes.extend(places.iter().map(|place| {
        format!(
            "The bootstrap object {place} serves no longer: apply deletes it, unless a member that was launched less than \
             15 minutes ago may still fetch it."
        )
    }));
    let untried: Vec<&(&Template, Vec<&str>)> =
        templates.iter().filter(|(template, _)| !records::is_tried(&template.tags, bucket)).collect();
    if !untried.is_empty() {
        alone(view, &places, draft);
    }
    let tries = untried
        .into_iter()
        .map(|(template, left)| Task::Write(record(template, records::mark_tried(both(bucket, left)))));
    let check = Task::CheckFetchers {
        group: view.desired.names.group.clone(),
        bucket: bucket.clone(),
        key: key.clone(),
        left: left.iter().map(|&old| old.to_owned()).collect(),
    };
    let removals =
        left.into_iter().map(|old| Task::RemoveObject { bucket: old.to_owned(), key: key.clone() });
    let records = templates.iter().map(|(template, _)| Task::Write(record(template, bucket.clone())));
    let tasks: Vec<Task> = iter::once(check).chain(tries).chain(removals).chain(records).collect();
    draft.push(Phase::CleanUp, Address::Object, tasks, true);
}

fn record(template: &Template, value: String) -> Write {
    let tags = Tags::from([(records::BUCKET.to_owned(), value)]);
    Write::TagTemplate { template_id: template.id.clone(), tags }
}

/// The bucket of today and those that are left, as a template records them.
fn both(bucket: &str, left: &[&str]) -> String {
    records::join_buckets(iter::once(bucket).chain(left.iter().copied()))
}

/// Who may still fetch an object from where it lay before, as far as it shows without a clock: instances that were
/// launched from a template version that says so, and that have not come up yet. Of those that came up a short time ago
/// the apply knows.
fn may_be_fetched(view: &View<'_>, draft: &Draft) -> Option<&'static str> {
    let live = view.live?;
    let object = &view.desired.object;
    let asks_elsewhere = |used: Option<&TemplateUse>| {
        !fetching::asks(used, &view.observed.versions, &object.bucket, &object.key)
    };
    if live.members.iter().any(|m| fetching::is_starting(&m.lifecycle) && asks_elsewhere(m.template.as_ref()))
    {
        return Some("a member that is starting");
    }
    if view.roll == Decision::Start || roll::active(&view.observed.refreshes).is_some() {
        return Some("what a roll launches");
    }
    // One that the group launches while the version is made is not listed yet.
    let staying = live.members.iter().filter(|m| !roll::is_leaving(&m.lifecycle)).count();
    let makes_version = draft.stages.iter().flatten().flatten().any(|step| {
        matches!(step.task, Task::Write(Write::CreateTemplate { .. } | Write::CreateTemplateVersion { .. }))
    });
    (makes_version && staying < live.desired as usize).then_some("a member that the group launches")
}

/// Where nothing else makes an apply run, the first try to delete what had to be kept before is a change of its own: a
/// pool that is only ever applied after a plan with changes would leave the object there for good, and a token in it.
/// What may not be deleted is no change of every plan.
fn alone(view: &View<'_>, places: &[String], draft: &mut Draft) {
    if draft.changes.is_empty() {
        let mut fields = Fields::default();
        for place in places {
            fields.optional("left_behind", Some(place), None::<&str>);
        }
        let object = &view.desired.object;
        let name = format!("s3://{}/{}", object.bucket, object.key);
        draft.change(Address::Object, &name, Action::Update, fields.into_vec());
    }
}

pub(super) fn plan(view: &View<'_>, draft: &mut Draft) {
    left_objects(view, draft);
    for stale in pool_templates(view.desired, view.observed) {
        if view.target.existing.is_some_and(|t| t.id == stale.id) {
            continue;
        }
        if in_use(view, stale) {
            draft
                .notes
                .push(format!("Launch template {} goes with an apply once no member runs it.", stale.name));
        } else if left_buckets(view, stale).is_empty() {
            draft.notes.push(format!("Launch template {} serves no longer: apply deletes it.", stale.name));
            let write = Write::DeleteTemplate { template_id: stale.id.clone() };
            draft.clean_up(Address::Template, Task::Write(write));
        } else {
            draft.notes.push(format!(
                "Launch template {} goes with an apply once the bootstrap object that it records is gone.",
                stale.name
            ));
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
    let of_this = |used: &TemplateUse| (used.id == existing.id).then(|| used.version.parse().ok()).flatten();
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
