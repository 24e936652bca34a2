//! Whether running members have to be replaced, read from what they run, never remembered.

use super::{
    members::Member,
    observed::{Group, GroupMember, Refresh, Template, TemplateUse},
    plan::{AffectedMember, FieldChange, INSTANCE_REFRESH},
    records::{self, RollMark},
};
use crate::{clock::Timestamp, contract::problem::Diagnostic};

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
    /// The members that are replaced, as a plan tells them.
    pub fn affected(&self) -> impl Iterator<Item = AffectedMember> {
        self.replaced.iter().map(|member| AffectedMember {
            id: member.id.clone(),
            zone: member.zone.clone(),
            why: match &member.template {
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
        Some(mark) if mark.hash == hash => {
            refreshes.iter().take_while(|r| mark.newest.as_deref() != Some(r.id.as_str())).collect()
        }
        Some(_) => Vec::new(),
        None => refreshes
            .iter()
            .filter(|r| match (&r.desired_template, current) {
                (Some(used), Some(current)) => used.id == current.id,
                // One that waits to start has no start yet.
                (None, Some(current)) => {
                    r.start.map_or(!is_final(&r.status), |start| start >= current.created)
                }
                (_, None) => false,
            })
            .collect(),
    }
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
        "Failed" => {
            let failures = version_created.map_or(0, |created| {
                belonging
                    .iter()
                    .take_while(|r| r.status == "Failed")
                    .filter(|r| r.start.is_none_or(|start| start >= created))
                    .count()
            });
            if failures < FAILURES_MAX {
                Decision::Start
            } else {
                Decision::GivenUp(newest.reason_in_a_line())
            }
        }
        status => Decision::Stopped(status.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::observed::TemplateUse;

    fn refresh(id: &str, status: &str, start: i64) -> Refresh {
        Refresh { id: id.into(), status: status.into(), start: Some(Timestamp(start)), ..Refresh::default() }
    }

    fn group(templates: &[&str]) -> Group {
        let members = templates
            .iter()
            .enumerate()
            .map(|(i, name)| GroupMember {
                id: format!("i-{i}"),
                lifecycle: "InService".into(),
                template: Some(TemplateUse { name: (*name).into(), ..TemplateUse::default() }),
                ..GroupMember::default()
            })
            .collect();
        Group { members, ..Group::default() }
    }

    fn decide_for(refreshes: &[Refresh]) -> Decision {
        decide(&group(&["new", "old"]), "new", &refreshes.iter().collect::<Vec<_>>(), Some(Timestamp(10)))
    }

    #[test]
    fn whoever_leaves_is_not_replaced_and_standby_is_passed_by() {
        let mut group = group(&["old"; 6]);
        let lifecycles =
            ["InService", "Standby", "Terminating:Wait", "Detaching", "EnteringStandby", "InService"];
        for (member, lifecycle) in group.members.iter_mut().zip(lifecycles) {
            member.lifecycle = lifecycle.into();
        }
        group.members[5].template.as_mut().unwrap().name = "new".into();
        let mut members = crate::model::members::members(Some(&group), &[]);
        // EC2 shows it still.
        let leaving = Member { lifecycle: Some("Detaching".into()), id: "i-9".into(), ..members[0].clone() };
        members.extend([Member { lifecycle: None, id: "i-8".into(), ..leaving.clone() }, leaving]);
        let rolled = rolled(&members, |used| used.name == "new");
        let ids = |members: &[&Member]| members.iter().map(|m| m.id.clone()).collect::<Vec<_>>();
        assert_eq!(
            (ids(&rolled.replaced), ids(&rolled.aside)),
            (vec!["i-0".into()], vec!["i-1".into(), "i-4".into()])
        );
        let warning = rolled.warning().unwrap();
        assert!(
            warning.detail.contains("i-1, i-4") && warning.detail.contains("exit-standby"),
            "{warning:?}"
        );
    }

    #[test]
    fn due_is_what_members_run() {
        assert_eq!(decide(&group(&["new", "new"]), "new", &[], None), Decision::NotDue);
        assert_eq!(decide(&group(&[]), "new", &[], None), Decision::NotDue);
        assert_eq!(decide_for(&[]), Decision::Start);
        let mut leaving = group(&["old"]);
        leaving.members[0].lifecycle = "Terminating:Wait".into();
        assert_eq!(decide(&leaving, "new", &[], None), Decision::NotDue);
        leaving.members[0].lifecycle = "InService".into();
        leaving.members[0].template = None;
        assert_eq!(decide(&leaving, "new", &[], None), Decision::NotDue);
    }

    #[test]
    fn only_the_newest_refresh_decides() {
        for status in ["Pending", "InProgress", "Cancelling", "RollbackInProgress", "Baking", "SomethingNew"]
        {
            let running = refresh("r", status, 20);
            assert_eq!(decide_for(std::slice::from_ref(&running)), Decision::Running(running));
        }
        assert_eq!(decide_for(&[refresh("r", "Successful", 20)]), Decision::Leftover);
        for status in ["Cancelled", "RollbackFailed", "RollbackSuccessful"] {
            assert_eq!(decide_for(&[refresh("r", status, 20)]), Decision::Stopped(status.into()));
        }
        assert_eq!(decide_for(&[refresh("s", "Failed", 30), refresh("r", "Cancelled", 20)]), Decision::Start);
    }

    #[test]
    fn three_failures_for_one_version_are_enough() {
        let failed = |starts: &[i64]| {
            starts.iter().map(|s| refresh(&format!("r{s}"), "Failed", *s)).collect::<Vec<_>>()
        };
        assert_eq!(decide_for(&failed(&[30, 20])), Decision::Start);
        assert!(matches!(decide_for(&failed(&[40, 30, 20])), Decision::GivenUp(_)));
        // Failures of an earlier version do not count against the latest.
        assert_eq!(decide_for(&failed(&[40, 30, 5])), Decision::Start);
        let all = failed(&[40, 30, 20]);
        let references: Vec<&Refresh> = all.iter().collect();
        assert_eq!(decide(&group(&["old"]), "new", &references, None), Decision::Start);
    }

    #[test]
    fn the_mark_says_whose_a_refresh_is() {
        let refreshes = [refresh("c", "Failed", 30), refresh("b", "Failed", 20), refresh("a", "Failed", 10)];
        let of = |mark: Option<RollMark>| {
            belonging(mark.as_ref(), "h", None, &refreshes).iter().map(|r| r.id.clone()).collect::<Vec<_>>()
        };
        let mark = |hash: &str, newest: Option<&str>| {
            Some(RollMark { hash: hash.into(), newest: newest.map(Into::into) })
        };
        assert_eq!(of(mark("h", Some("b"))), ["c"]);
        assert_eq!(of(mark("h", None)), ["c", "b", "a"]);
        assert_eq!(of(mark("h", Some("expired"))), ["c", "b", "a"]);
        assert!(of(mark("other", None)).is_empty());
    }

    #[test]
    fn without_a_mark_the_desired_configuration_or_the_start_says() {
        let mut desired = refresh("c", "InProgress", 30);
        desired.desired_template = Some(TemplateUse { id: "lt-other".into(), ..TemplateUse::default() });
        let refreshes = [desired, refresh("b", "Failed", 20), refresh("a", "Failed", 5)];
        let current = Template { id: "lt-1".into(), created: Timestamp(10), ..Template::default() };
        let ids: Vec<&str> =
            belonging(None, "h", Some(&current), &refreshes).iter().map(|r| r.id.as_str()).collect();
        assert_eq!(ids, ["b"]);
    }
}
