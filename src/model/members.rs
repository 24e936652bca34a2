//! The members of a pool: what the group lists and what EC2 knows, brought together.

use super::{
    observed::{Group, Instance, TemplateUse},
    roll,
};
use crate::clock::Timestamp;

/// A live member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Instance id.
    pub id: String,
    /// Zone.
    pub zone: String,
    /// How it is, in the contract's words.
    pub state: State,
    /// Private addresses.
    pub addresses: Vec<String>,
    /// The group's word (`InService`, `Standby`, ...), if the group lists it.
    pub lifecycle: Option<String>,
    /// Protected from scale-in.
    pub protected: bool,
    /// The template it runs.
    pub template: Option<TemplateUse>,
    /// When it was launched, or started again, if EC2 shows it.
    pub launched: Option<Timestamp>,
}

impl Member {
    /// As a Node's `spec.providerID` has it.
    pub fn provider_id(&self) -> String {
        format!("aws:///{}/{}", self.zone, self.id)
    }

    /// Whether somebody has put it aside.
    pub fn is_standby(&self) -> bool {
        self.lifecycle.as_deref().is_some_and(is_standby)
    }
}

/// Whether somebody has put a member of this lifecycle aside, or is about to.
pub fn is_standby(lifecycle: &str) -> bool {
    matches!(lifecycle, "Standby" | "EnteringStandby")
}

/// Whether the group counts a member of this lifecycle towards its size.
pub fn is_counted(lifecycle: &str) -> bool {
    !roll::is_leaving(lifecycle) && !is_standby(lifecycle) && !lifecycle.starts_with("Warmed")
}

/// A member's state in the contract's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Starting.
    Pending,
    /// Up.
    Running,
    /// Stopping or stopped.
    Stopped,
    /// A state that this program does not know.
    Unknown,
}

impl State {
    /// The contract's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::Unknown => "unknown",
        }
    }
}

/// All live members, sorted by provider id, without duplicates. EC2 decides about state and zone. A
/// member that the group lists and EC2 does not show yet is pending; one that is on its way out is
/// none. Instances that carry the group's tag are members even when the group is gone.
pub fn members(group: Option<&Group>, instances: &[Instance]) -> Vec<Member> {
    let listed = group.map_or(&[][..], |g| g.members.as_slice());
    let mut members: Vec<Member> = Vec::with_capacity(instances.len().max(listed.len()));
    for instance in instances {
        let state = match instance.state.as_str() {
            "pending" => State::Pending,
            "running" => State::Running,
            "stopping" | "stopped" => State::Stopped,
            "shutting-down" | "terminated" => continue,
            _ => State::Unknown,
        };
        let entry = listed.binary_search_by(|m| m.id.as_str().cmp(&instance.id)).ok().map(|i| &listed[i]);
        members.push(Member {
            id: instance.id.clone(),
            zone: instance.zone.clone(),
            state,
            addresses: instance.addresses.clone(),
            lifecycle: entry.map(|m| m.lifecycle.clone()),
            protected: entry.is_some_and(|m| m.protected),
            template: entry.and_then(|m| m.template.clone()),
            launched: instance.launched,
        });
    }
    let known: std::collections::BTreeSet<&str> = instances.iter().map(|i| i.id.as_str()).collect();
    for entry in listed {
        // A hook holds a member in `Terminating:Wait`, and until then it lives.
        let held = entry.lifecycle == "Terminating:Wait";
        if known.contains(entry.id.as_str()) || (roll::is_leaving(&entry.lifecycle) && !held) {
            continue;
        }
        members.push(Member {
            id: entry.id.clone(),
            zone: entry.zone.clone(),
            state: State::Pending,
            addresses: Vec::new(),
            lifecycle: Some(entry.lifecycle.clone()),
            protected: entry.protected,
            template: entry.template.clone(),
            launched: None,
        });
    }
    members.sort_by_cached_key(Member::provider_id);
    members.dedup_by(|a, b| a.id == b.id);
    members
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::observed::GroupMember;

    fn instance(id: &str, state: &str, zone: &str) -> Instance {
        Instance { id: id.into(), state: state.into(), zone: zone.into(), ..Instance::default() }
    }

    fn listed(id: &str, lifecycle: &str) -> GroupMember {
        GroupMember { id: id.into(), zone: "a".into(), lifecycle: lifecycle.into(), ..GroupMember::default() }
    }

    fn states(members: &[Member]) -> Vec<(&str, State)> {
        members.iter().map(|m| (m.id.as_str(), m.state)).collect()
    }

    #[test]
    fn ec2_decides_and_nobody_alive_is_left_out() {
        let group = Group {
            members: vec![
                listed("i-1", "InService"),
                listed("i-2", "Pending"),
                listed("i-3", "Terminating:Wait"),
                listed("i-4", "Terminating"),
                listed("i-5", "Standby"),
                listed("i-6", "Terminating"),
                listed("i-9", "Terminating:Wait"),
            ],
            ..Group::default()
        };
        let instances = [
            instance("i-1", "running", "b"),
            instance("i-3", "running", "a"),
            instance("i-4", "shutting-down", "a"),
            instance("i-5", "stopping", "a"),
            instance("i-7", "rebooting-in-space", "a"),
            instance("i-8", "terminated", "a"),
        ];
        let found = members(Some(&group), &instances);
        assert_eq!(
            states(&found),
            [
                ("i-2", State::Pending),
                ("i-3", State::Running),
                ("i-5", State::Stopped),
                ("i-7", State::Unknown),
                ("i-9", State::Pending),
                ("i-1", State::Running),
            ]
        );
        assert_eq!(found[0].provider_id(), "aws:///a/i-2");
        assert_eq!(found[5].provider_id(), "aws:///b/i-1");
    }

    #[test]
    fn members_outlive_their_group_and_appear_once() {
        let twice = [instance("i-1", "running", "a"), instance("i-1", "running", "a")];
        assert_eq!(members(None, &twice).len(), 1);
    }
}
