//! Whether running members have to be replaced, read from what they run, never remembered.

use std::collections::BTreeSet;

use super::{
    members::Member,
    observed::{Group, GroupMember, Instance, Refresh, Template, TemplateUse},
    ownership,
    plan::{AffectedMember, FieldChange, INSTANCE_REFRESH},
    processes,
    records::{self, RollMark},
    target,
};
use crate::{
    clock::Timestamp,
    contract::{problem::Diagnostic, request::Tags},
};

/// Failed refreshes for one template version, after which no further one is started by itself.
pub const FAILURES_MAX: usize = 3;

/// What to do about members that run another template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// All members run the right template.
    NotDue,
    /// A refresh of ours is at it.
    Running(Refresh),
    /// Start one (after ending whatever runs).
    Start,
    /// Ours failed too often; AWS's reason.
    GivenUp(String),
    /// An operator stopped ours; its status.
    Stopped(String),
    /// Ours was successful, and left some.
    Leftover,
}

/// Whether a refresh has come to an end. The list of other statuses is open: a word that this program
/// does not know counts as active. Source: `InstanceRefresh.Status` in the Auto Scaling API reference.
pub fn is_final(status: &str) -> bool {
    matches!(status, "Successful" | "Failed" | "Cancelled" | "RollbackFailed" | "RollbackSuccessful")
}

/// The refresh that is under way, if any.
pub fn active(refreshes: &[Refresh]) -> Option<&Refresh> {
    refreshes.iter().find(|r| !is_final(&r.status))
}

/// Whether a refresh replaces members, or is about to: not one that AWS cancels, takes back, or only watches.
pub fn replaces(refresh: &Refresh) -> bool {
    !is_final(&refresh.status)
        && !matches!(refresh.status.as_str(), "Cancelling" | "RollbackInProgress" | "Baking")
}

/// The suspended processes that somebody has to resume before a refresh of a pool's group goes on: one that is under
/// way, or one that is about to be started. A stranger's group is nobody's to resume.
pub fn waits_for(identity: &Tags, group: &Group, refresh: Option<&Refresh>) -> Vec<&'static str> {
    let is_held = !group.deleting && refresh.is_none_or(replaces);
    if is_held && ownership::is_ours(identity, &group.tags()) {
        processes::missing(group, processes::OF_ROLLS)
    } else {
        Vec::new()
    }
}

/// The seconds of warm-up that a refresh waits for now, as far as the group tells: replacements are in service beside
/// those whose place they take.
pub fn warm_up(group: &Group, refresh: &Refresh) -> Option<u32> {
    let in_service = group.members.iter().filter(|member| member.lifecycle == "InService").count();
    let waits = refresh.status == "InProgress" && in_service > group.desired as usize;
    refresh.warmup_seconds.filter(|seconds| waits && *seconds > 0)
}

/// Whether a member is on its way out of its group.
pub fn is_leaving(lifecycle: &str) -> bool {
    lifecycle.starts_with("Terminat") || lifecycle.starts_with("Detach")
}

/// Whom a refresh has to do with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rolled<'a> {
    /// Whom it replaces, also those that are protected from scale-in.
    pub replaced: Vec<&'a Member>,
    /// Whom it passes by: the same, in standby.
    pub aside: Vec<&'a Member>,
}

/// Those of the group's members that do not run what it launches. What leaves, or is the group's no more, is
/// nobody's to replace.
pub fn rolled(members: &[Member], is_launched: impl Fn(&TemplateUse) -> bool) -> Rolled<'_> {
    let (aside, replaced) = members
        .iter()
        .filter(|member| member.lifecycle.as_deref().is_some_and(|lifecycle| !is_leaving(lifecycle)))
        .filter(|member| !member.template.as_ref().is_some_and(&is_launched))
        .partition(|member| member.is_standby());
    Rolled { replaced, aside }
}

impl Rolled<'_> {
    /// The members that are replaced by such of the template of this id and name, as a plan tells them.
    pub fn affected(&self, id: &str, name: &str) -> impl Iterator<Item = AffectedMember> {
        // Names are unique: another template of this one is no longer there.
        let is_deleted = move |used: &TemplateUse| used.name == name && used.id != id;
        self.replaced.iter().map(move |member| AffectedMember {
            id: member.id.clone(),
            zone: member.zone.clone(),
            why: match &member.template {
                Some(used) if is_deleted(used) => {
                    format!(
                        "runs version {} of a deleted launch template of the name {}",
                        used.version, used.name
                    )
                }
                Some(used) => format!("runs version {} of {}", used.version, used.name),
                None => "runs no launch template".to_owned(),
            },
        })
    }

    /// What is said of those that are passed by, if there are any.
    pub fn warning(&self) -> Option<Diagnostic> {
        let ids: Vec<&str> = self.aside.iter().map(|member| member.id.as_str()).collect();
        (!ids.is_empty()).then(|| {
            let what = format!("A roll does not replace members in standby: {}.", ids.join(", "));
            Diagnostic::warning("Standby members stay behind", format!("{what} {BRING_BACK}"))
        })
    }
}

/// What to do about members in standby that a roll has passed by.
pub const BRING_BACK: &str = "Bring them back with `aws autoscaling exit-standby`, then say machinepool rollout start; \
                              or terminate them.";

/// A refresh that is to be started, as a plan shows it.
pub fn refresh_field(warmup_seconds: u32) -> FieldChange {
    FieldChange {
        field: INSTANCE_REFRESH.to_owned(),
        now: None,
        then: Some(format!("rolling, 100 % to 200 % healthy, warmup {warmup_seconds} s")),
    }
}

/// Members that run from a launch template of another name. Members on their way out do not count, nor
/// do those that run from no template (attached by hand).
pub fn outdated<'a>(group: &'a Group, template_name: &'a str) -> impl Iterator<Item = &'a GroupMember> {
    group
        .members
        .iter()
        .filter(|m| !is_leaving(&m.lifecycle))
        .filter(move |m| m.template.as_ref().is_some_and(|t| t.name != template_name))
}

/// What belongs to the group's current template, of refreshes given newest first.
pub fn belonging<'a>(
    mark: Option<&RollMark>,
    hash: &str,
    current: Option<&Template>,
    refreshes: &'a [Refresh],
) -> Vec<&'a Refresh> {
    match mark {
        Some(mark) if mark.hash == hash => refreshes
            .iter()
            .take_while(|r| mark.newest.as_deref() != Some(r.id.as_str()))
            // Somebody may have started one to another template since.
            .filter(|r| {
                r.desired_template
                    .as_ref()
                    .zip(current)
                    .is_none_or(|(used, t)| is_use_of(used, &t.id, &t.name))
            })
            .collect(),
        Some(_) => Vec::new(),
        None => refreshes
            .iter()
            .filter(|r| match (&r.desired_template, current) {
                (Some(used), Some(current)) => is_use_of(used, &current.id, &current.name),
                // One that waits to start has no start yet.
                (None, Some(current)) => {
                    r.start.map_or(!is_final(&r.status), |start| start >= current.created)
                }
                (_, None) => false,
            })
            .collect(),
    }
}

/// Whether this is what is used; by name only where one of them tells no id.
fn is_use_of(used: &TemplateUse, id: &str, name: &str) -> bool {
    if used.id.is_empty() || id.is_empty() { used.name == name } else { used.id == id }
}

/// What belongs to the template of a name, as far as a group itself tells; nothing where it has no mark.
pub fn marked<'a>(
    group: &Group,
    hash: &str,
    template_name: &str,
    refreshes: &'a [Refresh],
) -> Vec<&'a Refresh> {
    let Some(mark) = mark(group) else { return Vec::new() };
    let launched = target::current_use(group).filter(|used| used.name == template_name);
    let id = launched.map(|used| used.id.clone()).unwrap_or_default();
    let template = Template { id, name: template_name.to_owned(), ..Template::default() };
    belonging(Some(&mark), hash, Some(&template), refreshes)
}

/// What has served the template, of refreshes that belong to it by the mark. One that began before the last
/// launch from another template did not: AWS did not show it yet when the group was marked, or somebody has
/// rolled to that template since. But what an operator has stopped stays so.
pub fn serving<'a>(
    own: Vec<&'a Refresh>,
    group: &Group,
    template_name: &str,
    instances: &[Instance],
    refreshes: &[Refresh],
) -> Vec<&'a Refresh> {
    if own.first().is_none_or(|newest| is_stopped(&newest.status)) {
        return own;
    }
    let Some(last) = last_launch_elsewhere(group, template_name, instances, refreshes) else { return own };
    let serves = |r: &&Refresh| r.desired_template.is_some() || r.start.is_none_or(|start| start >= last);
    own.into_iter().take_while(serves).collect()
}

fn is_stopped(status: &str) -> bool {
    is_final(status) && !matches!(status, "Successful" | "Failed")
}

/// When the newest of the members was launched that the group, or somebody's refresh, launched from another
/// template. What somebody attached by hand tells nothing, nor does a member in standby or otherwise out of service:
/// EC2's launch time is that of the last start, and whoever mends such a one may have stopped and started it.
fn last_launch_elsewhere(
    group: &Group,
    template_name: &str,
    instances: &[Instance],
    refreshes: &[Refresh],
) -> Option<Timestamp> {
    let prefix = format!("{}-", group.name);
    let rolled_to = |used: &TemplateUse| {
        let mut wanted = refreshes.iter().filter_map(|r| r.desired_template.as_ref());
        wanted.any(|wanted| is_use_of(wanted, &used.id, &used.name))
    };
    let launched: BTreeSet<&str> = outdated(group, template_name)
        .filter(|m| m.lifecycle == "InService" || m.lifecycle.starts_with("Pending"))
        .filter(|m| m.template.as_ref().is_some_and(|t| t.name.starts_with(&prefix) || rolled_to(t)))
        .map(|m| m.id.as_str())
        .collect();
    instances.iter().filter(|i| launched.contains(i.id.as_str())).filter_map(|i| i.launched).max()
}

/// The mark on a group.
pub fn mark(group: &Group) -> Option<RollMark> {
    group.tags.get(records::ROLL).and_then(|tag| RollMark::parse(&tag.value))
}

/// Decides for a group that stays on its template. `belonging` are the refreshes of that template,
/// newest first; `version_created` is when its latest version was made, `None` if one is about to be.
pub fn decide(
    group: &Group,
    template_name: &str,
    belonging: &[&Refresh],
    version_created: Option<Timestamp>,
) -> Decision {
    let newest = belonging.first();
    if let Some(refresh) = newest.filter(|r| !is_final(&r.status)) {
        return Decision::Running((*refresh).clone());
    }
    if outdated(group, template_name).next().is_none() {
        return Decision::NotDue;
    }
    let Some(newest) = newest else { return Decision::Start };
    match newest.status.as_str() {
        "Successful" => Decision::Leftover,
        "Failed" => match version_created.map_or(0, |created| failures(belonging, created)) {
            FAILURES_MAX.. => Decision::GivenUp(newest.reason_in_a_line()),
            _ => Decision::Start,
        },
        status => Decision::Stopped(status.to_owned()),
    }
}

/// How many of the refreshes of a template, newest first, have failed in a row since its latest version was made.
pub fn failures(belonging: &[&Refresh], version_created: Timestamp) -> usize {
    belonging
        .iter()
        .take_while(|r| r.status == "Failed")
        .filter(|r| r.start.is_none_or(|start| start >= version_created))
        .count()
}

#[cfg(test)]
mod tests;
