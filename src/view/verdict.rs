//! The one sentence that a plan opens with.

use super::{
    affected::Affected,
    plan::{Purpose, Subject},
    text,
};
use crate::{
    contract::outputs::MAX_PROVIDER_IDS,
    model::plan::{Action, Address, Plan},
};

/// What will happen, whether running instances are replaced or terminated, which, and why.
pub(super) fn verdict(plan: &Plan, subject: &Subject<'_>) -> String {
    let pool = format!("pool {} in {}", text::line(subject.pool), text::line(subject.region));
    if plan.is_empty() {
        return match subject.purpose {
            Purpose::Apply if plan.remains.is_empty() => {
                format!("No changes. The {pool} is as the inputs ask for.")
            }
            Purpose::Apply => format!(
                "No changes. An apply would change nothing of the {pool}, but {}.",
                text::list(&plan.remains)
            ),
            Purpose::Destroy => format!("No changes. Of the {pool} nothing is left to destroy."),
        };
    }
    let size = beyond(plan);
    match subject.purpose {
        Purpose::Destroy => format!("This destroys the {pool}: {}.{}", resources(plan), ending(plan)),
        Purpose::Apply if creates_group(plan) => {
            format!("This creates the {pool}: {}. No running instance is replaced.{size}", resources(plan))
        }
        Purpose::Apply => {
            let template = plan.changes.iter().find(|change| change.address == Address::Template);
            let instances = Affected::of(plan).sentence(template.and_then(|change| change.reason.as_deref()));
            format!("This changes the {pool}: {}. {instances}{size}", resources(plan))
        }
    }
}

/// A pool that becomes larger than it can report: a sentence, or nothing.
fn beyond(plan: &Plan) -> String {
    let group = plan.changes.iter().find(|change| change.address == Address::Group);
    let field = group.and_then(|change| change.fields.iter().find(|field| field.field == "max_size"));
    match field.and_then(|field| field.then.as_deref()?.parse::<u32>().ok()) {
        Some(max) if max > MAX_PROVIDER_IDS => format!(
            " With more than {MAX_PROVIDER_IDS} members, of {max} allowed, its outputs fail and the controller is told \
             nothing new: split the pool."
        ),
        _ => String::new(),
    }
}

/// The instances that end with their group: a sentence, or nothing.
fn ending(plan: &Plan) -> String {
    match plan.terminated {
        0 => String::new(),
        1 => " 1 instance is terminated without drain.".to_owned(),
        many => format!(" {many} instances are terminated without drain."),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::plan::{Change, FieldChange};

    #[test]
    fn what_stays_as_nobody_asks_for_is_told_in_the_first_sentences() {
        let said = |remains: &[&str]| {
            let remains = remains.iter().map(|what| (*what).to_owned()).collect();
            let subject = Subject { pool: "a/b", region: "r", purpose: Purpose::Apply };
            verdict(&Plan { remains, ..Plan::default() }, &subject)
        };
        assert_eq!(said(&[]), "No changes. The pool a/b in r is as the inputs ask for.");
        assert_eq!(
            said(&["1 member still runs another launch template"]),
            "No changes. An apply would change nothing of the pool a/b in r, but 1 member still runs another launch \
             template."
        );
    }

    #[test]
    fn a_pool_too_large_to_report_is_told_in_the_first_sentences() {
        let said = |action, max: u32| {
            let field = FieldChange { field: "max_size".into(), now: None, then: Some(max.to_string()) };
            let change = Change {
                address: Address::Group,
                name: "x".into(),
                action,
                fields: vec![field],
                reason: None,
            };
            let plan = Plan { changes: vec![change], ..Plan::default() };
            verdict(&plan, &Subject { pool: "a/b", region: "r", purpose: Purpose::Apply })
        };
        for action in [Action::Create, Action::Update] {
            let too_large = said(action, 200_001);
            assert!(
                too_large.contains("more than 10000 members") && too_large.contains("200001"),
                "{too_large}"
            );
            assert!(!said(action, 10_000).contains("10000 members"));
        }
    }
}
