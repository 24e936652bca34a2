//! The one sentence that a plan opens with.

use std::collections::BTreeSet;

use super::{
    plan::{Purpose, Subject},
    text,
};
use crate::model::plan::{Action, Address, Plan};

/// How many instances the sentence names; a table further down names all.
const NAMED: usize = 4;

/// What will happen, whether running instances are replaced, which, and why.
pub(super) fn verdict(plan: &Plan, subject: &Subject<'_>) -> String {
    let pool = format!("pool {} in {}", text::line(subject.pool), text::line(subject.region));
    if plan.is_empty() {
        return match subject.purpose {
            Purpose::Apply => format!("No changes. The {pool} is as the inputs ask for."),
            Purpose::Destroy => format!("No changes. Of the {pool} nothing is left to destroy."),
        };
    }
    match subject.purpose {
        Purpose::Destroy => format!("This destroys the {pool}: {}.", resources(plan)),
        Purpose::Apply if creates_group(plan) => {
            format!("This creates the {pool}: {}. No running instance is replaced.", resources(plan))
        }
        Purpose::Apply => format!("This changes the {pool}: {}. {}", resources(plan), replacement(plan)),
    }
}

fn creates_group(plan: &Plan) -> bool {
    plan.changes.iter().any(|c| c.address == Address::Group && c.action == Action::Create)
}

/// `launch template (replaced), Auto Scaling group (updated)`.
fn resources(plan: &Plan) -> String {
    let items: Vec<String> = plan
        .changes
        .iter()
        .map(|change| match change.action {
            Action::Create => format!("{} added", change.address.noun()),
            Action::Update => format!("{} updated", change.address.noun()),
            Action::Replace => format!("{} replaced", change.address.noun()),
            Action::Delete => format!("{} deleted", change.address.noun()),
        })
        .collect();
    text::list(&items)
}

fn replacement(plan: &Plan) -> String {
    if plan.replaced.is_empty() {
        return "No running instance is replaced.".to_owned();
    }
    let ids: Vec<String> = plan.replaced.iter().map(|member| text::line(&member.id)).collect();
    let instances = text::count(ids.len(), "running instance");
    let verb = if ids.len() == 1 { "is" } else { "are" };
    let which = text::list_some(&ids, NAMED);
    format!("{instances} ({which}) {verb} replaced, because {}.", why(plan))
}

/// Why the template is replaced, else what the members run; in words that fit behind "because".
fn why(plan: &Plan) -> String {
    let template = plan.changes.iter().find(|change| change.address == Address::Template);
    if let Some(reason) = template.and_then(|change| change.reason.as_deref()) {
        return format!("the launch template was {}", text::line(reason));
    }
    let reasons: BTreeSet<&str> = plan.replaced.iter().map(|member| member.why.as_str()).collect();
    match reasons.first() {
        Some(only) if reasons.len() == 1 => format!("each {}", text::line(only)),
        _ => "they run from other launch templates than the pool's".to_owned(),
    }
}
