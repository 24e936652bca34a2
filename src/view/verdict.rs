//! The one sentence that a plan opens with.

use super::{
    affected::Affected,
    plan::{Purpose, Subject},
    text,
};
use crate::model::plan::{Action, Address, Plan};

/// What will happen, whether running instances are replaced or terminated, which, and why.
pub(super) fn verdict(plan: &Plan, subject: &Subject<'_>) -> String {
    let pool = format!("pool {} in {}", text::line(subject.pool), text::line(subject.region));
    if plan.is_empty() {
        return match subject.purpose {
            Purpose::Apply => format!("No changes. The {pool} is as the inputs ask for."),
            Purpose::Destroy => format!("No changes. Of the {pool} nothing is left to destroy."),
        };
    }
    match subject.purpose {
        Purpose::Destroy => format!("This destroys the {pool}: {}.{}", resources(plan), ending(plan)),
        Purpose::Apply if creates_group(plan) => {
            format!("This creates the {pool}: {}. No running instance is replaced.", resources(plan))
        }
        Purpose::Apply => {
            let template = plan.changes.iter().find(|change| change.address == Address::Template);
            let instances = Affected::of(plan).sentence(template.and_then(|change| change.reason.as_deref()));
            format!("This changes the {pool}: {}. {instances}", resources(plan))
        }
    }
}

/// The instances that end with their group, whatever has kept them from it: a sentence, or nothing.
fn ending(plan: &Plan) -> String {
    match plan.terminated {
        0 => String::new(),
        1 => " 1 instance is terminated without drain, also if it is protected from scale-in.".to_owned(),
        many => {
            format!(" {many} instances are terminated without drain, also those protected from scale-in.")
        }
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
