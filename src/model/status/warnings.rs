//! What is worth knowing about a pool beside its members.

use super::{Compared, Current, MemberStatus, Seen, launches_plainly};
use crate::{
    contract::{outputs::MAX_PROVIDER_IDS, problem::Diagnostic, request::Scope},
    model::{
        labels,
        observed::{Group, Launch},
        ownership::{self, Resource},
    },
};

/// What AWS shows, then what the plan warns of beside it. `members` is how many the outputs list, `of_roll` is what is
/// said with the roll.
pub(super) fn warnings(
    scope: &Scope,
    seen: &Seen,
    current: Option<&Current<'_>>,
    rows: &[MemberStatus],
    members: usize,
    of_roll: &[Diagnostic],
    compared: Compared<'_>,
) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    if let Some(group) = &seen.group {
        warnings.extend(of_roll.iter().cloned());
        warnings.extend(launch(group, current));
        warnings.extend(gone(seen, group, current));
        warnings.extend(group.deletion_protection.as_ref().map(|protection| {
            Diagnostic::warning(
                format!("Deletion protection is on: {protection}"),
                "destroy respects it: prevent-all-deletion refuses a destroy, prevent-force-deletion forbids to remove \
                 members by force.",
            )
        }));
    }
    warnings.extend(odd(rows));
    if members > MAX_PROVIDER_IDS as usize {
        warnings.push(Diagnostic::warning(
            format!("The pool has more than {MAX_PROVIDER_IDS} members"),
            "Its outputs fail, and the controller is told nothing new. Split the pool.",
        ));
    }
    warnings.extend(activities(seen).filter(|warning| !of_roll.contains(warning)));
    let dropped = labels::split(&scope.node_labels).1;
    if !dropped.is_empty() {
        warnings.push(Diagnostic::warning(
            format!("Node labels left out: {}", dropped.join(", ")),
            "A kubelet may not set these labels on its own node.",
        ));
    }
    if let Compared::With(plan) = compared {
        for warning in &plan.warnings {
            if !warnings.iter().any(|known| known.summary == warning.summary) {
                warnings.push(warning.clone());
            }
        }
    }
    warnings
}

/// Says why scaling activities are not known, if they are not.
pub(super) fn activities(seen: &Seen) -> Option<Diagnostic> {
    let (how, why) = match &seen.untold.activities {
        _ if seen.activities.is_some() => return None,
        Some(why) => ("could not", why.as_str()),
        None => ("may not", "the credentials lack autoscaling:DescribeScalingActivities."),
    };
    Some(Diagnostic::warning(
        format!("Scaling activities {how} be read"),
        format!("Why a launch fails cannot be told: {why}"),
    ))
}

/// Says why the group's launch template version is not known, if that was asked in vain.
pub(super) fn versions(seen: &Seen) -> Option<Diagnostic> {
    let why = seen.untold.versions.as_ref()?;
    Some(Diagnostic::warning(
        "The version of the launch template could not be read",
        format!("Which labels new members register, and how often a roll has failed, cannot be told: {why}"),
    ))
}

/// Says that the group is not the pool's, if it is not.
pub(super) fn owner(scope: &Scope, group: &Group) -> Option<Diagnostic> {
    let foreign = ownership::check(Resource::Group(&group.name), &scope.identity, &group.tags()).err()?;
    let detail =
        "Everything shown here is of that group. plan says which tags tell so, and how to hand it over.";
    Some(Diagnostic::warning(foreign.summary, detail))
}

fn launch(group: &Group, current: Option<&Current<'_>>) -> Option<Diagnostic> {
    if launches_plainly(group) || group.deleting {
        return None;
    }
    let what = match (&group.launch, current) {
        (Launch::Other, _) | (_, None) => "no launch template".to_owned(),
        (Launch::Mixed(_), Some(current)) => format!("a mixed instances policy with {}", current.name),
        (Launch::Template(_), Some(current)) => format!("version {} of {}", current.asked, current.name),
    };
    Some(Diagnostic::warning(
        format!("The group launches from {what}"),
        "It should launch the latest version of the pool's own template. An apply points it there.",
    ))
}

/// EC2 deletes a template whether or not a group uses it.
fn gone(seen: &Seen, group: &Group, current: Option<&Current<'_>>) -> Option<Diagnostic> {
    let current = current.filter(|_| !group.deleting)?;
    let is_there = seen.templates.iter().any(|template| template.id == current.id);
    (!is_there).then(|| {
        Diagnostic::warning(
            format!("The group's launch template {} is deleted", current.id),
            "Nothing can be launched from it. An apply makes it anew and points the group there; nobody is replaced for that alone.",
        )
    })
}

fn odd(rows: &[MemberStatus]) -> Vec<Diagnostic> {
    let named = |test: &dyn Fn(&MemberStatus) -> bool| -> Vec<String> {
        rows.iter().filter(|row| !row.leaving && test(row)).map(|row| row.instance_id.clone()).collect()
    };
    let mut warnings = Vec::new();
    let standby = named(&|row| row.standby);
    if !standby.is_empty() {
        warnings.push(Diagnostic::warning(
            "Members in standby",
            format!(
                "Somebody has put them aside; a roll and a scale-in pass them by: {}. Bring them back with `aws \
                 autoscaling exit-standby`.",
                standby.join(", ")
            ),
        ));
    }
    let unhealthy = named(&MemberStatus::is_unhealthy);
    if !unhealthy.is_empty() {
        warnings.push(Diagnostic::warning(
            "Unhealthy members",
            format!("Auto Scaling replaces them soon: {}.", unhealthy.join(", ")),
        ));
    }
    warnings
}
