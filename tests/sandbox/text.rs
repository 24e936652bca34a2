//! Plans, writes and the account as text that a person reads: ids and hashes become short names.

use std::{collections::BTreeMap, fmt::Write as _};

use machinepool::{
    cloud::{
        operations,
        sandbox::{StoredGroup, World},
    },
    contract::{problem::Diagnostic, request::Request},
    model::{
        desired,
        names::Names,
        observed::Launch,
        plan::{Change, Plan},
        resources::{TemplateRef, Write},
    },
};
use similar::{ChangeTag, TextDiff};

use super::{lab::GROUP, shape};

/// Ids and hashes with the short names that stand for them, in the order in which they came up.
#[derive(Default)]
pub(crate) struct Aliases {
    names: BTreeMap<String, String>,
    counts: BTreeMap<&'static str, usize>,
}

impl Aliases {
    fn number(&mut self, kind: &'static str, id: &str) {
        if !self.names.contains_key(id) {
            let count = self.counts.entry(kind).or_default();
            *count += 1;
            self.names.insert(id.to_owned(), format!("{kind}-{count}"));
        }
    }

    /// Names what a request brings with it.
    pub(crate) fn learn_request(&mut self, request: &Request) {
        self.number("payload", &request.bootstrap_data.sha256());
        let key = desired::roll_key(request);
        let version = key.kubernetes_version.clone().unwrap_or_else(|| "no version".to_owned());
        let text = match &key.machine_image_id {
            Some(image) => format!("{version} on {image}"),
            None => version,
        };
        self.names.insert(key.hash(), format!("<{text}>"));
        self.names.insert(GROUP.to_owned(), "<pool>".to_owned());
    }

    /// Numbers what is new in the account, the oldest first.
    pub(crate) fn learn_world(&mut self, world: &World) {
        let mut templates: Vec<_> = shape::templates(world).map(|(id, t)| (t.created, id)).collect();
        templates.sort();
        for (_, id) in templates {
            self.number("template", id);
        }
        let mut members: Vec<_> = world
            .instances
            .iter()
            .filter(|(_, i)| i.group.as_deref() == Some(GROUP))
            .map(|(id, i)| (i.launched, &i.zone, id))
            .collect();
        members.sort();
        for (_, _, id) in members {
            self.number("member", id);
        }
        for refresh in world.groups.get(GROUP).into_iter().flat_map(|group| &group.refreshes) {
            self.number("refresh", &refresh.id);
        }
    }

    /// Puts short names in the place of ids and hashes.
    pub(crate) fn shorten(&self, text: &str) -> String {
        self.names.iter().fold(text.to_owned(), |text, (id, name)| text.replace(id, name))
    }

    /// Puts ids in the place of `$template-1`, `$member-2` and `$pool`.
    pub(crate) fn lengthen(&self, text: &str) -> String {
        let mut names: Vec<_> = self.names.iter().map(|(id, name)| (name.len(), name, id)).collect();
        // `$member-12` before `$member-1`.
        names.sort();
        let text = text.replace("$pool", GROUP);
        names.iter().rev().fold(text, |text, (_, name, id)| text.replace(&format!("${name}"), id))
    }
}

fn indented(text: &str, indent: &str) -> String {
    text.lines().fold(String::new(), |all, line| all + indent + line + "\n")
}

/// A plan: what changes, whom it replaces, what is odd.
pub(crate) fn plan(plan: &Plan) -> String {
    let mut text = String::new();
    if plan.is_empty() {
        text.push_str("No changes.\n");
    } else {
        let counts = plan.counts();
        let _ = writeln!(
            text,
            "{} to add, {} to change, {} to destroy.",
            counts.add, counts.change, counts.destroy
        );
    }
    plan.changes.iter().for_each(|one| text.push_str(&change(one)));
    for member in &plan.replaced {
        let _ = writeln!(text, "Replaced: {} in {} {}", member.id, member.zone, member.why);
    }
    plan.warnings.iter().for_each(|warning| text.push_str(&diagnostic("Warning", warning)));
    for note in &plan.notes {
        let _ = writeln!(text, "Note: {note}");
    }
    text
}

/// A warning or an error.
pub(crate) fn diagnostic(word: &str, diagnostic: &Diagnostic) -> String {
    format!("{word}: {}\n{}", diagnostic.summary, indented(&diagnostic.detail, "    "))
}

fn change(change: &Change) -> String {
    let action = format!("{:?}", change.action).to_lowercase();
    let mut text = format!("- {action} {} {}\n", change.address.noun(), change.name);
    if let Some(reason) = &change.reason {
        let _ = writeln!(text, "    because {reason}");
    }
    for field in &change.fields {
        let now = field.now.clone().unwrap_or_default();
        let then = field.then.clone().unwrap_or_default();
        if now.contains('\n') || then.contains('\n') {
            let _ = writeln!(text, "    {}:\n{}", field.field, changed_lines(&now, &then));
        } else {
            let shown =
                |value: &Option<String>| value.as_ref().map_or("none".to_owned(), |v| format!("{v:?}"));
            let _ = writeln!(text, "    {}: {} -> {}", field.field, shown(&field.now), shown(&field.then));
        }
    }
    text
}

/// The lines that differ; of a text that is new as a whole, only how long it is.
fn changed_lines(now: &str, then: &str) -> String {
    if now.is_empty() || then.is_empty() {
        return format!("      {} lines -> {} lines", now.lines().count(), then.lines().count());
    }
    let diff = TextDiff::from_lines(now, then);
    let lines: Vec<String> = diff
        .iter_all_changes()
        .filter(|change| change.tag() != ChangeTag::Equal)
        .map(|change| format!("      {}{}", change.tag(), change.value().trim_end()))
        .collect();
    lines.join("\n")
}

/// A write in one line: the operation and what it carries.
pub(crate) fn write(write: &Write) -> String {
    let list = |keys: Vec<&String>| keys.iter().map(|k| k.as_str()).collect::<Vec<_>>().join(", ");
    let reference = |template: &TemplateRef| match template {
        TemplateRef::Id(id) => id.clone(),
        TemplateRef::Named(name) => format!("the one named {name}"),
    };
    let detail = match write {
        Write::PutObject { key, tags, .. } => format!("{key}, {} tags", tags.len()),
        Write::DeleteObject { key, .. } => key.clone(),
        Write::CreateTemplate { name, tags, .. } => format!("{name}, {} tags", tags.len()),
        Write::CreateTemplateVersion { template_id, .. } | Write::DeleteTemplate { template_id } => {
            template_id.clone()
        }
        Write::SetDefaultVersion { template_id, version } => format!("{template_id} to {version:?}"),
        Write::DeleteTemplateVersions { template_id, versions } => format!("{template_id} {versions:?}"),
        Write::TagTemplate { template_id, tags } => format!("{template_id}: {}", list(tags.keys().collect())),
        Write::UntagTemplate { template_id, keys } => {
            format!("{template_id}: {}", list(keys.iter().collect()))
        }
        Write::CreateGroup(new) => format!(
            "{} to {}, desired {}, {}, {}, {} tags",
            new.min,
            new.max,
            new.desired,
            reference(&new.template),
            new.subnets.join("+"),
            new.tags.len()
        ),
        Write::UpdateGroup(update) => {
            let mut parts = Vec::new();
            parts.extend(update.template.as_ref().map(|t| format!("template {}", reference(t))));
            parts.extend(update.min.map(|n| format!("min {n}")));
            parts.extend(update.max.map(|n| format!("max {n}")));
            parts.extend(update.desired.map(|n| format!("desired {n}")));
            parts.extend(update.subnets.as_ref().map(|s| format!("subnets {}", s.join("+"))));
            parts.extend(update.health_check_type.as_ref().map(|kind| format!("health check {kind}")));
            parts.extend(update.capacity_rebalance.map(|on| format!("capacity rebalance {on}")));
            parts.join(", ")
        }
        Write::TagGroup { tags, .. } => list(tags.keys().collect()),
        Write::UntagGroup { keys, .. } => list(keys.iter().collect()),
        Write::SuspendProcess { process, .. } | Write::ResumeProcess { process, .. } => process.clone(),
        Write::PutPolicy { name, target, .. } => format!("{name} at {target} %"),
        Write::DeletePolicy { name, .. } | Write::DeleteScheduledAction { name, .. } => name.clone(),
        Write::StartRefresh { warmup_seconds, .. } => format!("warmup {warmup_seconds} s"),
        Write::Unprotect { instances, .. } => list(instances.iter().collect()),
        Write::CancelRefresh { .. } | Write::DeleteWarmPool { .. } => String::new(),
        Write::DeleteGroup { force, .. } => (if *force { "by force" } else { "empty" }).to_owned(),
    };
    format!("{} {detail}", operations::of_write(write)).trim_end().to_owned()
}

/// The pool as it is in the account.
pub(crate) fn account(world: &World, names: &Names) -> String {
    let mut text = String::new();
    for object in world.buckets.values().filter_map(|objects| objects.get(&names.object_key)) {
        let sha256 = object.sha256.as_deref().unwrap_or("no checksum");
        let _ = writeln!(text, "- object: {sha256}, {} tags", object.tags.len());
    }
    let mut templates: Vec<_> = shape::templates(world).collect();
    templates.sort_by_key(|(_, t)| (t.created, &t.name));
    for (id, template) in templates {
        let versions: Vec<u64> = template.versions.keys().copied().collect();
        let _ = writeln!(
            text,
            "- {id}: {}, versions {versions:?}, default {}",
            template.name, template.default_version
        );
    }
    if let Some(group) = world.groups.get(GROUP) {
        let _ = writeln!(text, "- group: {}", group_line(group));
    }
    let mut members: Vec<_> = world.instances.iter().filter(|(_, i)| i.is_member_of(GROUP)).collect();
    members.sort_by_key(|(id, i)| (i.launched, &i.zone, *id));
    for (id, member) in members {
        let used = member.template.as_ref();
        let runs = used.map_or("no template".to_owned(), |t| format!("{} version {}", t.id, t.version));
        let lifecycle = member.lifecycle.as_deref().unwrap_or_default();
        let _ = writeln!(text, "- {id}: {lifecycle} in {}, {runs}, {}", member.zone, member.image_id);
    }
    text
}

fn group_line(group: &StoredGroup) -> String {
    let launch = match &group.launch {
        Launch::Template(used) => format!("{} {}", used.id, used.version),
        other => format!("{other:?}"),
    };
    let policies: Vec<&str> = group.policies.keys().map(String::as_str).collect();
    let mut text = format!(
        "{} to {}, desired {}, {launch}, {}, suspended {:?}, policies {policies:?}",
        group.min,
        group.max,
        group.desired,
        group.subnets.join("+"),
        group.suspended,
    );
    for refresh in &group.refreshes {
        let _ = write!(text, ", {} {}", refresh.id, refresh.status);
    }
    if group.deleting.is_some() {
        text.push_str(", being deleted");
    }
    text
}
