//! Why a pool that is there launches nothing, although all that it needs is well.

use super::{Check, Facts, Look, PoolFacts};
use crate::{
    contract::{problem::sentence, request::Request},
    model::{
        advice,
        names::Names,
        observed::{Activity, Group, Template},
        processes, target,
    },
};

/// Nothing to check before there is a group.
pub(super) fn checks(request: &Request, facts: &Facts) -> Vec<Check> {
    let Look::Seen(Some(group)) = &facts.pool.group else { return Vec::new() };
    let mut checks = vec![suspended(group), launches(group, &facts.pool)];
    checks.extend(template(request, group, &facts.pool.templates));
    checks
}

fn suspended(group: &Group) -> Check {
    const ID: &str = "processes";
    let stopped = processes::suspended(group);
    if stopped.is_empty() {
        return Check::pass(ID, "No process of the group is suspended that a pool needs");
    }
    let matters = match processes::missing(group, processes::OF_ROLLS).as_slice() {
        [] => "What they do is not done until somebody resumes them.".to_owned(),
        needed => {
            format!("Instances do not come up, go or roll as they should {}.", processes::until(needed))
        }
    };
    Check::warning(ID, format!("Suspended on the group: {}", stopped.join(", ")))
        .because(format!("{matters} An operator did it, or AWS itself after a day of launches that failed."))
        .fix(format!(
            "When it may go on:\n\n  aws autoscaling resume-processes --auto-scaling-group-name {} \
             --scaling-processes {}",
            group.name,
            stopped.join(" ")
        ))
}

/// How the latest launches ended, those that go on left out.
fn launches(group: &Group, pool: &PoolFacts) -> Check {
    const ID: &str = "launches";
    let Look::Seen(activities) = &pool.activities else {
        return Check::unseen(ID, "how the latest launches ended", &pool.activities);
    };
    let is_over =
        |activity: &&Activity| matches!(activity.status.as_str(), "Successful" | "Failed" | "Cancelled");
    let is_launch = |activity: &&Activity| activity.description.starts_with("Launching");
    let mut ended = activities.iter().filter(is_launch).filter(is_over);
    let failed: Vec<&Activity> =
        ended.by_ref().take_while(|activity| activity.status != "Successful").collect();
    let Some(latest) = failed.first() else {
        let title = match activities.iter().find(is_launch) {
            Some(_) => "The latest launch of an instance did not fail",
            None => "No launch of an instance is known that failed",
        };
        return Check::pass(ID, title);
    };
    let count = failed.len();
    let title = match count {
        1 => "The latest launch of an instance failed".to_owned(),
        count => format!("The latest {count} launches of instances failed"),
    };
    let reason = latest.description.split_once("Status Reason:").map(|(_, reason)| reason);
    let words = latest.message.as_deref().or(reason).unwrap_or("no reason").trim();
    let fix = match advice::advice(words) {
        Some((_, advice)) => advice.to_owned(),
        None => {
            format!("Mend what it names; machinepool status shows the latest activities of {}.", group.name)
        }
    };
    Check::warning(ID, title).because(format!("AWS says: {}", sentence(words))).fix(fix)
}

/// Whether the launch template of the group is there. Only those under the pool's names were looked for.
fn template(request: &Request, group: &Group, templates: &Look<Vec<Template>>) -> Option<Check> {
    const ID: &str = "template";
    let used = target::current_use(group)?;
    let Look::Seen(templates) = templates else {
        return Some(Check::unseen(ID, "the launch template of the group", templates));
    };
    if templates.iter().any(|template| template.id == used.id) {
        return Some(Check::pass(ID, format!("The launch template of the group, {}, exists", used.name)));
    }
    let is_ours = used.name.starts_with(&Names::of(&request.scope).template_prefix());
    is_ours.then(|| {
        Check::warning(ID, format!("The launch template of the group, {} ({}), is gone", used.name, used.id))
            .because("Somebody deleted it. No instance launches until the group has another one.")
            .fix("Run machinepool apply: it makes a template and sets the group to it.")
    })
}
