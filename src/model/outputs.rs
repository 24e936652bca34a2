//! Outputs and health: what the controller is told, computed from what AWS showed.

use super::{
    labels, launching,
    members::{self, Member, State},
    names::Names,
    observed::{Activity, Group, Instance, Launch},
};
use crate::contract::{
    outputs::{Address, Health, InstanceOutput, MAX_PROVIDER_IDS, Outputs},
    problem::Diagnostic,
    request::Scope,
};

/// Entries of the `instances` output at most.
const INSTANCES_MAX: usize = 1000;

/// The outputs. `activities`, newest first, matter only while the group is
/// [`launching`](launching::launching). A group that AWS is
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
        return gone(members.len());
    };
    let count = |state| members.iter().filter(|m| m.state == state).count();
    let (running, pending, stopped, unknown) =
        (count(State::Running), count(State::Pending), count(State::Stopped), count(State::Unknown));
    let failing = launching::failing(group, members, activities);
    let of = |text: String| match &failing {
        Some(failing) => format!("{text}. {failing}"),
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

fn gone(left: usize) -> Health {
    let left = if left == 0 { String::new() } else { format!("; {left} of its instances still run") };
    let message = format!("The Auto Scaling group does not exist{left}");
    verdict("terminated", false, message, &["GroupNotFound"])
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{clock::Timestamp, model::testing};

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
}
