//! Whether a group should be launching instances, and whether it can.

use super::{
    members::{self, Member},
    observed::{Activity, Group, Refresh},
    roll, target,
};
use crate::clock::Timestamp;

/// Whether a group should be launching instances, so that a look at its scaling activities is worth a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launching {
    /// It has the members that it wants, and where it wants them.
    Idle,
    /// Fewer members are there than wanted.
    Missing,
    /// Some members wait for others to take their place: a roll is due or under way, or they are in a zone that the
    /// group has no more.
    Replacing,
}

/// Whether a group should be launching instances, as its members tell. One that runs an older version of the right
/// template is replaced by nobody, nor is one that leaves or stands by.
pub fn launching(group: Option<&Group>, members: &[Member]) -> Launching {
    match group.filter(|group| !group.deleting && group.desired > 0) {
        Some(group) if members.len() < group.desired as usize => Launching::Missing,
        Some(group) if members.iter().any(|member| is_misplaced(group, member)) => Launching::Replacing,
        _ => Launching::Idle,
    }
}

/// A roll replaces also those that are protected from scale-in; Auto Scaling itself leaves them where they are.
fn is_misplaced(group: &Group, member: &Member) -> bool {
    let stays = |lifecycle: &str| !roll::is_leaving(lifecycle) && !members::is_standby(lifecycle);
    let used = member.template.as_ref().zip(target::current_use(group));
    let is_elsewhere = !(group.zones.is_empty() || group.zones.contains(&member.zone));
    member.lifecycle.as_deref().is_some_and(stays)
        && (used.is_some_and(|(its, current)| its.name != current.name)
            || (is_elsewhere && !member.protected))
}

/// What is said of a failing launch beside the health of a pool, as a sentence without its full stop: while members
/// are missing, or others are to be replaced and none of the members is newer than the failure.
pub(super) fn failing(group: &Group, members: &[Member], activities: &[Activity]) -> Option<String> {
    let failed = latest_failed(activities)?;
    let newest = members.iter().filter_map(|member| member.launched).max();
    let is_due = match launching(Some(group), members) {
        Launching::Missing => true,
        Launching::Replacing => newest.is_none_or(|newest| failed.start > newest),
        Launching::Idle => false,
    };
    is_due.then(|| told(failed))
}

/// What is said of launches of a refresh that fail, as a sentence without its full stop: while it replaces members, and
/// the last launch since it began was in vain.
pub fn failing_roll(refresh: &Refresh, activities: &[Activity]) -> Option<String> {
    let start = refresh.start.filter(|_| roll::replaces(refresh))?;
    let is_its = |failed: &&Activity| failed.start >= start || failed.start == Timestamp::default();
    latest_failed(activities).filter(is_its).map(told)
}

/// The latest failed launch in AWS's words, if no launch succeeded after it; a sentence without its full stop.
pub fn launch_failure(activities: &[Activity]) -> Option<String> {
    latest_failed(activities).map(told)
}

fn latest_failed(activities: &[Activity]) -> Option<&Activity> {
    activities
        .iter()
        .filter(|a| a.description.starts_with("Launching"))
        .find(|a| matches!(a.status.as_str(), "Failed" | "Cancelled" | "Successful"))
        .filter(|a| a.status == "Failed")
}

fn told(failed: &Activity) -> String {
    let said = failed.message.as_deref().filter(|message| !message.trim().is_empty());
    let words = said.unwrap_or(&failed.description).split_whitespace().collect::<Vec<_>>().join(" ");
    // AWS did not say when, then.
    if failed.start == Timestamp::default() {
        return format!("The last launch failed: {words}");
    }
    format!("The last launch, on {} UTC, failed: {words}", failed.start.rfc3339()[..16].replace('T', " "))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::model::{
        observed::{GroupMember, Instance, Launch, TemplateUse},
        outputs, testing,
    };

    /// A member of each lifecycle and template name, in the zone.
    fn member(lifecycle: &str, template: Option<&str>, zone: &str) -> GroupMember {
        GroupMember {
            id: format!("i-{lifecycle}"),
            zone: zone.into(),
            lifecycle: lifecycle.into(),
            template: template.map(used),
            ..GroupMember::default()
        }
    }

    fn used(name: &str) -> TemplateUse {
        TemplateUse { name: name.into(), ..TemplateUse::default() }
    }

    #[test]
    fn launches_are_due_where_a_member_is_missing_or_in_the_wrong_place() {
        use Launching::{Idle, Missing, Replacing};
        let right = || Group {
            desired: 1,
            launch: Launch::Template(used("new")),
            zones: ["a".to_owned()].into(),
            members: vec![member("InService", Some("new"), "a")],
            ..Group::default()
        };
        let of = |group: &Group| launching(Some(group), &members::members(Some(group), &[]));
        assert_eq!(of(&right()), Idle);
        assert_eq!(launching(None, &[]), Idle);
        assert_eq!(of(&Group { members: Vec::new(), ..right() }), Missing);
        assert_eq!(of(&Group { members: Vec::new(), deleting: true, ..right() }), Idle);
        let with = |one: GroupMember| Group { members: vec![one], ..right() };
        assert_eq!(of(&with(member("InService", Some("old"), "a"))), Replacing);
        assert_eq!(of(&with(member("Pending:Wait", Some("old"), "a"))), Replacing);
        assert_eq!(of(&with(member("InService", Some("new"), "b"))), Replacing);
        // Attached by hand, put aside, or on its way out: nothing is launched for these.
        assert_eq!(of(&with(member("InService", None, "a"))), Idle);
        assert_eq!(of(&with(member("Standby", Some("old"), "b"))), Idle);
        assert_eq!(of(&with(member("Terminating:Wait", Some("old"), "b"))), Idle);
        // Nobody moves one that is protected from scale-in; a roll replaces it.
        let protected = |template, zone| {
            of(&with(GroupMember { protected: true, ..member("InService", Some(template), zone) }))
        };
        assert_eq!((protected("new", "b"), protected("old", "a")), (Idle, Replacing));
        assert_eq!(of(&Group { desired: 0, ..with(member("InService", Some("old"), "a")) }), Idle);
        let elsewhere = with(member("InService", Some("new"), "b"));
        assert_eq!(of(&Group { zones: BTreeSet::new(), ..elsewhere }), Idle, "AWS did not say");
        let mut older = right();
        older.members[0].template = Some(TemplateUse { version: "1".into(), ..used("new") });
        assert_eq!(of(&older), Idle, "nobody replaces an older version");
    }

    /// 2026-01-02 15:04:05 UTC.
    const FAILED: Timestamp = Timestamp(1_767_366_245_000);

    /// A launch that failed.
    fn failed(start: Timestamp) -> Activity {
        Activity {
            start,
            status: "Failed".into(),
            description: "Launching a new EC2 instance".into(),
            message: Some("no capacity".into()),
        }
    }

    /// The health of a group of so many with one member, which runs the template and was launched then.
    fn health(
        desired: u32,
        template: &str,
        launched: Option<Timestamp>,
        failed: Timestamp,
    ) -> crate::contract::outputs::Health {
        let group = Group {
            desired,
            launch: Launch::Template(used("new")),
            members: vec![member("InService", Some(template), "a")],
            ..Group::default()
        };
        let running =
            Instance { id: "i-InService".into(), state: "running".into(), launched, ..Instance::default() };
        let scope = testing::request(|_| {}).scope;
        outputs::outputs(&scope, Some(&group), &[running], &[self::failed(failed)]).unwrap().health
    }

    #[test]
    fn a_roll_that_cannot_launch_is_told_of_a_healthy_pool() {
        let rolling = health(1, "old", Some(Timestamp(0)), FAILED);
        assert_eq!(
            rolling.message,
            "The only member is running. The last launch, on 2026-01-02 15:04 UTC, failed: no capacity"
        );
        assert_eq!((rolling.state.as_str(), rolling.healthy, rolling.reasons.len()), ("running", true, 0));
        let right = health(1, "new", Some(Timestamp(0)), FAILED);
        assert_eq!(right.message, "The only member is running", "an old failure is over");
    }

    #[test]
    fn a_failure_that_a_launch_came_after_is_over_unless_members_are_missing() {
        let later = FAILED.plus(std::time::Duration::from_secs(1));
        for launched in [FAILED, later] {
            let rolling = health(1, "old", Some(launched), FAILED);
            assert_eq!(rolling.message, "The only member is running", "{launched:?}");
            let missing = health(2, "new", Some(launched), FAILED);
            assert!(missing.message.ends_with("on 2026-01-02 15:04 UTC, failed: no capacity"), "{missing:?}");
        }
    }

    #[test]
    fn a_failure_of_which_nobody_knows_when_it_was_has_no_time() {
        for launched in [None, Some(FAILED)] {
            let missing = health(2, "new", launched, Timestamp::default());
            assert!(missing.message.ends_with(". The last launch failed: no capacity"), "{missing:?}");
        }
    }
}
