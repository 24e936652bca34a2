//! Who may still fetch the bootstrap object from a bucket that the pool has left.

use std::time::Duration;

use super::{
    observed::{Group, Instance, TemplateUse, TemplateVersion},
    roll,
};
use crate::clock::Timestamp;

/// So long after its launch an instance may still fetch. Without a launch hook a group has it in service as soon as
/// it runs, and its boot only begins then.
const BOOT: Duration = Duration::from_mins(15);

/// An instance that may not have come up yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fresh<'a> {
    /// Its id.
    pub id: &'a str,
    /// What it was launched from, if that is known.
    pub template: Option<&'a TemplateUse>,
}

/// Whether a member has not come up yet, in its group or in a warm pool.
pub fn is_starting(lifecycle: &str) -> bool {
    lifecycle.starts_with("Pending") || lifecycle.starts_with("Warmed:Pending")
}

/// Members that are starting or were launched a short time ago, and instances as young that the group does not list.
pub fn fresh<'a>(group: Option<&'a Group>, instances: &'a [Instance], now: Timestamp) -> Vec<Fresh<'a>> {
    let members = group.map_or(&[][..], |group| &group.members);
    let is_young = |instance: &Instance| instance.launched.is_some_and(|at| now.since(at) < BOOT);
    let listed = members
        .iter()
        .filter(|member| !roll::is_leaving(&member.lifecycle))
        .filter(|member| {
            is_starting(&member.lifecycle) || instances.iter().any(|i| i.id == member.id && is_young(i))
        })
        .map(|member| Fresh { id: &member.id, template: member.template.as_ref() });
    let unlisted = instances
        .iter()
        .filter(|instance| matches!(instance.state.as_str(), "pending" | "running") && is_young(instance))
        .filter(|instance| !members.iter().any(|member| member.id == instance.id))
        .map(|instance| Fresh { id: &instance.id, template: None });
    listed.chain(unlisted).collect()
}

/// Whether what was launched from this asks for the object in this bucket, as far as the versions tell. Of what they do
/// not tell, nobody can say where it asks.
pub fn asks(used: Option<&TemplateUse>, versions: &[TemplateVersion], bucket: &str, key: &str) -> bool {
    let place = format!("s3://{bucket}/{key}");
    used.is_some_and(|used| {
        versions
            .iter()
            .filter(|version| version.template_id == used.id && version.number.to_string() == used.version)
            .any(|version| version.data.user_data.as_ref().is_some_and(|text| text.contains(&place)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{observed::GroupMember, resources::TemplateData};

    const NOW: Timestamp = Timestamp(10_000_000);

    fn minutes_old(id: &str, state: &str, minutes: i64) -> Instance {
        let launched = Some(Timestamp(NOW.0 - minutes * 60_000));
        Instance { id: id.into(), state: state.into(), launched, ..Instance::default() }
    }

    #[test]
    fn what_is_young_or_starting_may_fetch() {
        let member = |id: &str, lifecycle: &str| GroupMember {
            id: id.into(),
            lifecycle: lifecycle.into(),
            ..GroupMember::default()
        };
        let members = vec![
            member("young", "InService"),
            member("old", "InService"),
            member("hooked", "Pending:Wait"),
            member("warming", "Warmed:Pending:Wait"),
            member("leaving", "Terminating:Wait"),
            member("unseen", "InService"),
            member("unseen-yet", "Pending"),
        ];
        let group = Group { members, ..Group::default() };
        let instances = [
            minutes_old("young", "running", 14),
            minutes_old("old", "running", 15),
            minutes_old("hooked", "running", 60),
            minutes_old("warming", "running", 60),
            minutes_old("leaving", "running", 1),
            minutes_old("unlisted", "pending", 0),
            minutes_old("detached", "running", 60),
            minutes_old("ended", "terminated", 1),
        ];
        let ids: Vec<&str> = fresh(Some(&group), &instances, NOW).into_iter().map(|f| f.id).collect();
        assert_eq!(ids, ["young", "hooked", "warming", "unseen-yet", "unlisted"]);
    }

    #[test]
    fn only_a_version_that_is_known_tells_where_it_asks() {
        let version = |number, user_data: Option<&str>| TemplateVersion {
            template_id: "lt-1".into(),
            number,
            data: TemplateData { user_data: user_data.map(str::to_owned), ..TemplateData::default() },
            ..TemplateVersion::default()
        };
        let versions = [
            version(1, Some("object='s3://old/pool/p'")),
            version(2, Some("object='s3://new/pool/p'")),
            version(3, None),
        ];
        let used = |id: &str, version: &str| TemplateUse {
            id: id.into(),
            version: version.into(),
            ..TemplateUse::default()
        };
        let asks_new = |used: &TemplateUse| asks(Some(used), &versions, "new", "pool/p");
        assert!(asks_new(&used("lt-1", "2")));
        for other in [used("lt-1", "1"), used("lt-1", "3"), used("lt-1", "4"), used("lt-2", "2")] {
            assert!(!asks_new(&other), "{other:?}");
        }
        assert!(!asks(None, &versions, "new", "pool/p"));
    }
}
