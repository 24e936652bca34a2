//! Outputs and health: what the controller is told, computed from what AWS showed.

use super::{
    labels,
    members::{self, Member, State},
    names::Names,
    observed::{Activity, Group, Instance, Launch},
    roll, target,
};
use crate::contract::{
    outputs::{Address, Health, InstanceOutput, MAX_PROVIDER_IDS, Outputs},
    problem::Diagnostic,
    request::Scope,
};

/// Entries of the `instances` output at most.
const INSTANCES_MAX: usize = 1000;

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

fn is_misplaced(group: &Group, member: &Member) -> bool {
    let stays = |lifecycle: &str| !roll::is_leaving(lifecycle) && !members::is_standby(lifecycle);
    let used = member.template.as_ref().zip(target::current_use(group));
    member.lifecycle.as_deref().is_some_and(stays)
        && (used.is_some_and(|(its, current)| its.name != current.name)
            || !(group.zones.is_empty() || group.zones.contains(&member.zone)))
}

/// The outputs. `activities`, newest first, matter only while the group is [`launching`]. A group that AWS is
/// deleting counts as gone.
pub fn outputs(
    scope: &Scope,
    group: Option<&Group>,
    instances: &[Instance],
    activities: &[Activity],
) -> Result<Outputs, Diagnostic> {
    let members = members::members(group, instances);
    if members.len() > MAX_PROVIDER_IDS as usize {
        return Err(Diagnostic::error(
            format!("The pool has {} members, more than {MAX_PROVIDER_IDS}", members.len()),
            "The contract's provider_id_list ends there, and a list that leaves out a live member would make \
             Cluster API delete its Node. Split the pool.",
        ));
    }
    let live = group.filter(|g| !g.deleting);
    let replicas = match (live, scope.replicas) {
        (Some(group), _) => group.desired,
        (None, Some(replicas)) => replicas,
        (None, None) => {
            return Err(Diagnostic::error(
                "Cannot say how many replicas the pool has",
                "There is no Auto Scaling group, and the replicas input is missing or no whole number.",
            ));
        }
    };
    Ok(Outputs {
        provider_id: live.map(|g| g.arn.clone()),
        provider_id_list: members.iter().map(Member::provider_id).collect(),
        replicas,
        instances: members.iter().take(INSTANCES_MAX).map(instance_output).collect(),
        health: health(live, &members, activities),
        autoscaling_group_name: Names::of(scope).group,
        dropped_node_labels: labels::split(&scope.node_labels).1,
        launch_template_id: live.and_then(|g| match &g.launch {
            Launch::Template(template) | Launch::Mixed(template) => Some(template.id.clone()),
            Launch::Other => None,
        }),
    })
}

fn instance_output(member: &Member) -> InstanceOutput {
    InstanceOutput {
        provider_id: member.provider_id(),
        instance_id: member.id.clone(),
        addresses: member
            .addresses
            .iter()
            .map(|address| Address { kind: "InternalIP".to_owned(), address: address.clone() })
            .collect(),
        failure_domain: member.zone.clone(),
        state: member.state.as_str().to_owned(),
    }
}

/// The first row of the contract's table that fits.
pub fn health(group: Option<&Group>, members: &[Member], activities: &[Activity]) -> Health {
    let Some(group) = group else {
        let left = match members.len() {
            0 => String::new(),
            count => format!("; {count} of its instances still run"),
        };
        return verdict(
            "terminated",
            false,
            format!("The Auto Scaling group does not exist{left}"),
            &["GroupNotFound"],
        );
    };
    let count = |state| members.iter().filter(|m| m.state == state).count();
    let (running, pending, stopped, unknown) =
        (count(State::Running), count(State::Pending), count(State::Stopped), count(State::Unknown));
    let failure = match launching(Some(group), members) {
        Launching::Missing | Launching::Replacing => launch_failure(activities),
        Launching::Idle => None,
    };
    let of = |text: String| match &failure {
        Some(failure) => format!("{text}. AWS cannot launch instances: {failure}"),
        None => text,
    };

    if group.desired == 0 {
        let leaving = if members.is_empty() { String::new() } else { format!("; {} leaving", members.len()) };
        return verdict("running", true, format!("Scaled to zero{leaving}"), &[] as &[&str]);
    }
    if members.is_empty() {
        return verdict(
            "pending",
            false,
            of(format!("No member yet of {} wanted", group.desired)),
            &["NoMembers"],
        );
    }
    if stopped + unknown > 0 {
        let state = if stopped > 0 { "stopped" } else { "unknown" };
        let text = format!(
            "{running} of {} members running, {pending} pending, {stopped} stopped, {unknown} in an unknown state",
            group.desired
        );
        return verdict(state, false, of(text), &not_running(members));
    }
    if pending == 0 && members.len() == group.desired as usize {
        return verdict(
            "running",
            true,
            of(if running == 1 {
                "The only member is running".to_owned()
            } else {
                format!("All {running} members running")
            }),
            &[] as &[&str],
        );
    }
    let mut reasons = not_running(members);
    if members.len() != group.desired as usize {
        reasons.push("ScalingInProgress".to_owned());
    }
    let text = format!("{running} of {} members running, {pending} pending", group.desired);
    verdict("running", false, of(text), &reasons)
}

fn verdict(state: &str, healthy: bool, message: String, reasons: &[impl ToString]) -> Health {
    let reasons = reasons.iter().map(ToString::to_string).collect();
    Health { state: state.to_owned(), healthy, message, reasons }
}

fn not_running(members: &[Member]) -> Vec<String> {
    let mut reasons: Vec<String> = members
        .iter()
        .filter_map(|m| match m.state {
            State::Running => None,
            State::Pending => Some(format!("InstancePending:{}", m.id)),
            State::Stopped => Some(format!("InstanceStopped:{}", m.id)),
            State::Unknown => Some(format!("UnknownState:{}", m.id)),
        })
        .collect();
    reasons.sort_unstable();
    reasons
}

/// AWS's words about the latest failed launch, if no launch succeeded after it.
pub fn launch_failure(activities: &[Activity]) -> Option<String> {
    activities
        .iter()
        .filter(|a| a.description.starts_with("Launching"))
        .find(|a| matches!(a.status.as_str(), "Failed" | "Cancelled" | "Successful"))
        .filter(|a| a.status == "Failed")
        .map(|a| {
            let said = a.message.as_deref().filter(|message| !message.trim().is_empty());
            said.unwrap_or(&a.description).split_whitespace().collect::<Vec<_>>().join(" ")
        })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{
        clock::Timestamp,
        model::{
            observed::{GroupMember, TemplateUse},
            testing,
        },
    };

    fn group(desired: u32) -> Group {
        Group { arn: "arn:g".into(), desired, ..Group::default() }
    }

    fn instances(states: &[&str]) -> Vec<Instance> {
        states
            .iter()
            .enumerate()
            .map(|(i, state)| Instance {
                id: format!("i-{i}"),
                state: (*state).to_owned(),
                zone: "us-east-1a".into(),
                addresses: vec![format!("10.0.0.{i}")],
                ..Instance::default()
            })
            .collect()
    }

    fn of(group: Option<&Group>, states: &[&str]) -> Outputs {
        let scope = testing::request(|r| r.scope.replicas = Some(7)).scope;
        outputs(&scope, group, &instances(states), &[]).unwrap()
    }

    /// Desired capacity, states of members; state, healthy, reasons.
    type Case = (Option<u32>, &'static [&'static str], &'static str, bool, &'static [&'static str]);

    #[test]
    fn health_has_one_row_a_case() {
        let cases: [Case; 12] = [
            (None, &[], "terminated", false, &["GroupNotFound"]),
            (None, &["running"], "terminated", false, &["GroupNotFound"]),
            (Some(0), &[], "running", true, &[]),
            (Some(0), &["stopped"], "running", true, &[]),
            (Some(2), &[], "pending", false, &["NoMembers"]),
            (Some(2), &["terminated"], "pending", false, &["NoMembers"]),
            (
                Some(3),
                &["stopping", "running", "pending"],
                "stopped",
                false,
                &["InstancePending:i-2", "InstanceStopped:i-0"],
            ),
            (Some(1), &["odd"], "unknown", false, &["UnknownState:i-0"]),
            (Some(2), &["odd", "stopped"], "stopped", false, &["InstanceStopped:i-1", "UnknownState:i-0"]),
            (Some(2), &["running", "running"], "running", true, &[]),
            (Some(2), &["running", "pending"], "running", false, &["InstancePending:i-1"]),
            (
                Some(3),
                &["pending", "running"],
                "running",
                false,
                &["InstancePending:i-0", "ScalingInProgress"],
            ),
        ];
        for (desired, states, state, healthy, reasons) in cases {
            let group = desired.map(group);
            let health = of(group.as_ref(), states).health;
            assert_eq!((health.state.as_str(), health.healthy), (state, healthy), "{desired:?} {states:?}");
            assert_eq!(health.reasons, reasons, "{desired:?} {states:?}");
            assert!(!health.message.is_empty());
        }
    }

    #[test]
    fn a_missing_group_keeps_the_replicas_input() {
        let gone = of(None, &[]);
        assert_eq!((gone.replicas, gone.provider_id), (7, None));
        let deleting = Group { deleting: true, ..group(2) };
        let deleting = of(Some(&deleting), &["running"]);
        assert_eq!(
            (deleting.replicas, deleting.provider_id, deleting.health.state.as_str()),
            (7, None, "terminated")
        );
        assert_eq!(deleting.provider_id_list, ["aws:///us-east-1a/i-0"]);
        let zero = of(Some(&group(0)), &[]);
        assert_eq!((zero.replicas, zero.provider_id_list.len()), (0, 0));
    }

    #[test]
    fn the_detail_is_cut_and_the_ids_never_are() {
        let many = vec!["running"; 1500];
        let cut = of(Some(&group(1500)), &many);
        assert_eq!((cut.instances.len(), cut.provider_id_list.len()), (1000, 1500));
        assert!(cut.provider_id_list.is_sorted());
        let scope = testing::request(|_| {}).scope;
        let too_many = instances(&vec!["running"; 10_001]);
        assert!(outputs(&scope, Some(&group(1)), &too_many, &[]).is_err());
    }

    #[test]
    fn a_failing_launch_speaks_in_awss_words() {
        let activity = |status: &str, message: Option<&str>| Activity {
            start: Timestamp(0),
            status: status.into(),
            description: "Launching a new EC2 instance".into(),
            message: message.map(Into::into),
        };
        let failed = activity("Failed", Some("We currently do not have sufficient m6i.large capacity"));
        let scope = testing::request(|_| {}).scope;
        let told = |activities: &[Activity]| {
            outputs(&scope, Some(&group(3)), &instances(&["running"]), activities).unwrap().health
        };
        assert!(told(std::slice::from_ref(&failed)).message.contains("sufficient m6i.large capacity"));
        assert!(told(&[activity("InProgress", None), failed.clone()]).message.contains("sufficient"));
        assert!(!told(&[activity("Successful", None), failed.clone()]).message.contains("sufficient"));
        assert_eq!(told(&[failed]).state, "running");
    }

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
        assert_eq!(of(&Group { desired: 0, ..with(member("InService", Some("old"), "a")) }), Idle);
        let elsewhere = with(member("InService", Some("new"), "b"));
        assert_eq!(of(&Group { zones: BTreeSet::new(), ..elsewhere }), Idle, "AWS did not say");
        let mut older = right();
        older.members[0].template = Some(TemplateUse { version: "1".into(), ..used("new") });
        assert_eq!(of(&older), Idle, "nobody replaces an older version");
    }

    #[test]
    fn a_roll_that_cannot_launch_is_told_of_a_healthy_pool() {
        let failed = Activity {
            start: Timestamp(0),
            status: "Failed".into(),
            description: "Launching a new EC2 instance".into(),
            message: Some("no capacity".into()),
        };
        let scope = testing::request(|_| {}).scope;
        let told = |template: &str| {
            let group = Group {
                desired: 1,
                launch: Launch::Template(used("new")),
                members: vec![member("InService", Some(template), "a")],
                ..Group::default()
            };
            let running =
                Instance { id: "i-InService".into(), state: "running".into(), ..Instance::default() };
            outputs(&scope, Some(&group), &[running], std::slice::from_ref(&failed)).unwrap().health
        };
        let rolling = told("old");
        assert_eq!(rolling.message, "The only member is running. AWS cannot launch instances: no capacity");
        assert_eq!((rolling.state.as_str(), rolling.healthy, rolling.reasons.len()), ("running", true, 0));
        assert_eq!(told("new").message, "The only member is running", "an old failure is over");
    }
}
