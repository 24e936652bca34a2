//! The launch template and the record of its roll key.

use std::collections::BTreeSet;

use super::{Draft, Phase, View, tag_limit};
use crate::contract::{problem::Diagnostic, request::Tags};
use crate::model::{
    diff::{self, Fields},
    observed::Template,
    plan::{Action, Address, FieldChange, Task},
    records,
    resources::Write,
    target,
};

/// Plans the template; returns the number of the version that the group launches afterwards.
pub(super) fn plan(view: &View<'_>, draft: &mut Draft) -> u64 {
    record(view, draft);
    keep_record(view, draft);
    match view.target.existing {
        None => create(view, draft),
        Some(existing) => update(view, existing, draft),
    }
}

/// The version record as a resource of its own: made, or replaced by a roll.
fn record(view: &View<'_>, draft: &mut Draft) {
    let target = &view.target;
    let wanted = records::key_tags(&view.desired.key);
    let (action, before) = match (target.replaces, target.existing) {
        (Some(earlier), _) => (Action::Replace, Some(earlier)),
        (None, Some(existing)) if records::has_key(&existing.tags) => return,
        (None, _) => (Action::Create, None),
    };
    if target.taken_over {
        draft.warnings.push(Diagnostic::warning(
            "The launch template does not record what it was made for",
            format!(
                "{} was not made by this program. It is taken over as it is, as made for {}: nothing is \
                 replaced. If its members run something else, roll them by hand.",
                target.name,
                records::key_text(&view.desired.key)
            ),
        ));
    }
    let mut fields = Fields::default();
    let key = &view.desired.key;
    let plain = [&key.kubernetes_version, &key.machine_image_id].map(Option::as_deref);
    for (((tag, held), plain), field) in
        wanted.iter().zip(plain).zip(["kubernetes_version", "machine_image_id"])
    {
        let now = before.and_then(|t| recorded(view, t).get(tag).cloned()).filter(|v| !v.is_empty());
        // What the tags hold as a digest is shown as it is, if it is something new.
        let then = if now.as_ref() == Some(held) { Some(held.as_str()) } else { plain };
        fields.optional(field, now, then.filter(|text| !text.is_empty()));
    }
    draft.change(Address::VersionRoll, &target.name, action, fields.into_vec());
}

/// What only a state says of the group's template is recorded before the group is pointed elsewhere: from then
/// on the state speaks of another template, and the way back would not be found.
fn keep_record(view: &View<'_>, draft: &mut Draft) {
    let Some(earlier) = view.target.replaces else { return };
    let known = recorded(view, earlier);
    if !records::has_key(&earlier.tags) && records::has_key(&known) {
        let tags = diff::tags_to_set(&earlier.tags, &known);
        let write = Write::TagTemplate { template_id: earlier.id.clone(), tags };
        draft.write(Phase::Prepare, Address::Template, write);
    }
}

/// What a template records, or a state says of it.
fn recorded(view: &View<'_>, template: &Template) -> Tags {
    let known = view.observed.known.key.as_ref().filter(|_| !records::has_key(&template.tags));
    let current = view.target.current.is_some_and(|used| used.id == template.id);
    match known.filter(|_| current) {
        Some(key) => records::key_tags(key).into_iter().collect(),
        None => template.tags.clone(),
    }
}

fn create(view: &View<'_>, draft: &mut Draft) -> u64 {
    let wanted = &view.desired.template;
    let mut fields = replaced_data(view);
    let mut tags = Fields::default();
    let before = view.target.replaces.map(|t| &t.tags);
    let none = std::collections::BTreeMap::new();
    tags.tags("tags", before.unwrap_or(&none), &wanted.tags, &BTreeSet::new());
    fields.extend(tags.into_vec());
    let action = if view.target.replaces.is_some() { Action::Replace } else { Action::Create };
    draft.change(Address::Template, &wanted.name, action, fields);
    explain_replacement(view, draft);
    draft.write(
        Phase::Prepare,
        Address::Template,
        Write::CreateTemplate {
            name: wanted.name.clone(),
            description: wanted.description.clone(),
            data: Box::new(wanted.data.clone()),
            tags: wanted.tags.clone(),
        },
    );
    1
}

fn update(view: &View<'_>, existing: &Template, draft: &mut Draft) -> u64 {
    let wanted = &view.desired.template;
    let latest = target::latest(view.observed, existing);
    let live = latest.map(|v| &v.data);
    let changed = diff::template_data(live, &wanted.data);
    let version = if changed.is_empty() { existing.latest_version } else { existing.latest_version + 1 };

    let TagChange { remove, set, set_now } = tags(view, existing, draft);
    let mut fields = Fields::default();
    fields.value("default_version", Some(existing.default_version), version);
    fields.tags("tags", &existing.tags, &set, &remove);
    let mut all = if view.target.replaces.is_some() { replaced_data(view) } else { changed.clone() };
    all.extend(fields.into_vec());
    let action = if view.target.replaces.is_some() { Action::Replace } else { Action::Update };
    if !all.is_empty() || action == Action::Replace {
        draft.change(Address::Template, &existing.name, action, all);
        explain_replacement(view, draft);
    }

    let id = &existing.id;
    if !remove.is_empty() {
        let write = Write::UntagTemplate { template_id: id.clone(), keys: remove };
        draft.write(Phase::Clear, Address::Template, write);
    }
    if !set_now.is_empty() {
        let write = Write::TagTemplate { template_id: id.clone(), tags: set_now };
        draft.write(Phase::Prepare, Address::Template, write);
    }
    if !changed.is_empty() {
        let new = Write::CreateTemplateVersion {
            template_id: id.clone(),
            description: wanted.description.clone(),
            data: Box::new(wanted.data.clone()),
        };
        let default = Write::SetDefaultVersion { template_id: id.clone(), version: None };
        draft.chain(Phase::Prepare, Address::Template, [new, default].map(Task::Write));
    } else if existing.default_version != existing.latest_version {
        let version = Some(existing.latest_version);
        let write = Write::SetDefaultVersion { template_id: id.clone(), version };
        draft.write(Phase::Prepare, Address::Template, write);
    }
    version
}

/// How a template's tags change.
struct TagChange {
    /// Keys that go.
    remove: BTreeSet<String>,
    /// What they come to say in the end.
    set: Tags,
    /// What is written of it before the group is.
    set_now: Tags,
}

fn tags(view: &View<'_>, existing: &Template, draft: &mut Draft) -> TagChange {
    let wanted = &view.desired.template;
    let versions = || target::versions(view.observed, existing).map(|v| &v.data);
    let mut remove = diff::tags_to_remove(&existing.tags, &wanted.tags, versions());
    let mut tags = wanted.tags.clone();
    // The copy of the zone record makes room for the user's tags, and for others'.
    if tag_limit::count(&existing.tags, &tags, &remove) > tag_limit::MOST {
        tags.remove(records::ZONES);
    }
    if existing.tags.contains_key(records::ZONES) && !tags.contains_key(records::ZONES) {
        remove.insert(records::ZONES.to_owned());
    }
    let resource = format!("launch template {} ({})", existing.name, existing.id);
    draft.problems.extend(tag_limit::check(&resource, &existing.tags, &tags, &remove));
    let mut set = diff::tags_to_set(&existing.tags, &tags);
    // Where an old object lies is forgotten only once it is gone: see the clean-up.
    let mut set_now = set.clone();
    if records::buckets(&existing.tags).next().is_some() {
        set_now.remove(records::BUCKET);
    }
    if records::buckets(&existing.tags).any(|bucket| bucket == view.desired.object.bucket) {
        set.remove(records::BUCKET);
    }
    TagChange { remove, set, set_now }
}

/// What the new template has that the replaced one has not.
fn replaced_data(view: &View<'_>) -> Vec<FieldChange> {
    let wanted = &view.desired.template;
    let before = view.target.replaces;
    let mut fields = Fields::default();
    fields.optional("name", before.map(|t| &t.name), Some(&view.target.name));
    let mut all = fields.into_vec();
    let live = before.and_then(|t| target::latest(view.observed, t)).map(|v| &v.data);
    all.extend(diff::template_data(live, &wanted.data));
    all
}

fn explain_replacement(view: &View<'_>, draft: &mut Draft) {
    let (Some(earlier), Some(change)) = (view.target.replaces, draft.changes.get_mut(&Address::Template))
    else {
        return;
    };
    let wanted = records::key_text(&view.desired.key);
    let made_for = records::held_key_text(&recorded(view, earlier));
    change.reason = Some(format!("made for {made_for}, wanted for {wanted}"));
}
