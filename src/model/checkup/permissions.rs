//! What the credentials may do, as far as it can be found out without doing it.

use super::{Check, Look, PoolFacts, Rehearsal, Status, Trouble};
use crate::contract::{problem::sentence, request::Request};

/// The reads of every command. What one of them denies, plan fails with.
pub(super) fn reads(request: &Request, pool: &PoolFacts) -> Check {
    const ID: &str = "permissions.reads";
    // A pinned image launches without having been looked at.
    let is_pinned = request.machine_image.id.is_some();
    let only_useful = |call: &&'static str| match *call {
        "autoscaling:DescribeScalingActivities" | "autoscaling:DescribeScheduledActions" => true,
        "ec2:DescribeImages" => is_pinned,
        _ => false,
    };
    let denied = pool.outcomes().into_iter().filter_map(|look| match look {
        Look::Denied { call } => Some(call),
        _ => None,
    });
    let (useful, needed): (Vec<&'static str>, Vec<&'static str>) = denied.partition(only_useful);
    let list = |calls: &[&'static str]| {
        let actions: Vec<&str> =
            calls.iter().flat_map(|call| crate::model::permissions::needed_for(call)).collect();
        actions.join(", ")
    };
    let fix = "machinepool iam-policy prints the whole policy.";
    if !needed.is_empty() {
        return Check::fail(ID, "The credentials may not read what plan and apply need")
            .because(format!("AWS denies: {}.", list(&needed)))
            .fix(format!("Allow them. {fix}"));
    }
    if !useful.is_empty() {
        return Check::warning(ID, "The credentials may not read all of a pool")
            .because(format!(
                "AWS denies: {}. Without them, a failing launch is not explained, an image not checked, or a destroy fails.",
                list(&useful)
            ))
            .fix(format!("Allow them. {fix}"));
    }
    match first_trouble(pool) {
        None => Check::pass(ID, "The credentials may read all that the commands read"),
        Some((call, Trouble::Credentials, words)) => {
            Check::fail(ID, "AWS does not take the credentials for all that the commands read")
                .because(format!("{call} failed: {}", sentence(&words)))
                .fix("See that the account is active and opted in to the service and region, and that the credentials are not expired.")
        }
        Some((call, _, words)) if pool.is_out_of_reach() => {
            Check::fail(ID, "Nothing of the pool can be read: AWS cannot be reached")
                .because(format!("{call} failed: {}", sentence(&words)))
                .fix(super::account::REACH)
        }
        Some(_) if pool.is_not_aws() => super::account::not_aws(ID).fix(super::account::ENDPOINT),
        Some((call, _, words)) => Check::new(ID, Status::Skipped, "Not all of the pool could be read")
            .because(format!("{call} failed: {}", sentence(&words))),
    }
}

/// The first read that failed, one for want of credentials before any other. An object or image that is not
/// there has a check of its own.
fn first_trouble(pool: &PoolFacts) -> Option<(&'static str, Trouble, String)> {
    let has_a_check = |look: &Look<()>| {
        let Look::Failed { call, kind, .. } = look else { return false };
        match kind {
            Trouble::Missing => call.starts_with("s3:") || *call == "ec2:DescribeImages",
            Trouble::Elsewhere => call.starts_with("s3:"),
            _ => false,
        }
    };
    let failed = pool.outcomes().into_iter().filter(|look| !has_a_check(look));
    let mut troubles: Vec<_> = failed
        .filter_map(|look| match look {
            Look::Failed { call, kind, words } => Some((call, kind, words)),
            _ => None,
        })
        .collect();
    troubles.sort_by_key(|(_, kind, _)| *kind != Trouble::Credentials);
    troubles.into_iter().next()
}

/// Writes of EC2 that were only tried.
pub(super) fn rehearsals(tried: &[(Rehearsal, Look<()>)]) -> Vec<Check> {
    tried.iter().map(|(rehearsal, look)| check(rehearsal, look)).collect()
}

fn check(rehearsal: &Rehearsal, look: &Look<()>) -> Check {
    let (id, what) = match rehearsal {
        Rehearsal::NewTemplate { .. } => ("permissions.create_template", "make a launch template"),
        Rehearsal::NewVersion { .. } => {
            ("permissions.create_version", "make a version of the launch template")
        }
        Rehearsal::DeleteTemplate { .. } => ("permissions.delete_template", "delete the launch template"),
        Rehearsal::Launch { .. } => ("permissions.launch", "launch from the pool's template"),
    };
    match look {
        Look::Seen(()) => Check::pass(id, format!("The credentials may {what} (tried, not done)")),
        Look::Denied { call } => {
            let mut actions = super::actions_of(call);
            if matches!(rehearsal, Rehearsal::Launch { .. }) {
                actions.push_str(", ec2:CreateTags, iam:PassRole");
            }
            Check::fail(id, format!("The credentials may not {what}"))
                .because("AWS denied it when it was tried.")
                .fix(format!("Allow {actions}. machinepool iam-policy prints the whole policy."))
        }
        Look::Failed { kind, words, .. }
            if matches!(rehearsal, Rehearsal::Launch { .. })
                && !matches!(kind, Trouble::Network | Trouble::NotAws | Trouble::Unjudged) =>
        {
            Check::fail(id, "EC2 would not launch from the pool's template")
                .because(format!("AWS says: {}", sentence(words)))
                .fix("Mend what it names; an apply makes a new version of the template.")
        }
        other => Check::unseen(id, &format!("whether the credentials may {what}"), other),
    }
}
