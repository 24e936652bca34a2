//! The members one by one: what the group lists and what EC2 shows.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Current, Seen, moment_if_any};
use crate::{
    clock::Timestamp,
    model::{
        members::is_standby,
        observed::{GroupMember, Instance, TemplateUse},
        roll,
    },
};

/// Whether a member runs what the group launches now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Behind {
    /// It does.
    No,
    /// Another version of the group's template.
    OlderVersion,
    /// A template of the same name that was deleted: a roll is not due for that.
    DeletedTemplate,
    /// Another template: a roll is due.
    OtherTemplate,
    /// No template: it was attached by hand.
    NoTemplate,
    /// It cannot be told.
    Unknown,
}

/// One instance of the pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemberStatus {
    /// Instance id.
    pub instance_id: String,
    /// Zone.
    pub zone: String,
    /// EC2's word; `pending` for one that only the group knows yet.
    pub state: String,
    /// The group's word; `None` if the group does not list it.
    pub lifecycle: Option<String>,
    /// `Healthy` or `Unhealthy`; `None` if the group does not list it.
    pub health: Option<String>,
    /// Name of the template that it was launched from.
    pub template: Option<String>,
    /// Version of that template.
    pub version: Option<String>,
    /// Whether that is what the group launches now.
    pub behind: Behind,
    /// When it was launched.
    #[serde(serialize_with = "moment_if_any")]
    pub launched_at: Option<Timestamp>,
    /// Protected from scale-in.
    pub protected: bool,
    /// Put aside by somebody.
    pub standby: bool,
    /// On its way out: no member any more, or about to be none.
    pub leaving: bool,
    /// Private addresses.
    pub addresses: Vec<String>,
}

impl MemberStatus {
    /// Whether there is nothing to say about it but that it is there.
    pub fn is_ordinary(&self) -> bool {
        self.state == "running"
            && self.lifecycle.as_deref() == Some("InService")
            && !self.is_unhealthy()
            && !self.protected
            && matches!(self.behind, Behind::No | Behind::Unknown)
    }

    /// Whether the group's health check has given it up.
    pub fn is_unhealthy(&self) -> bool {
        self.health
            .as_deref()
            .is_some_and(|health| !health.eq_ignore_ascii_case("healthy") && !health.is_empty())
    }
}

/// All instances but those that have ended and that no group lists any more.
pub(super) fn rows(seen: &Seen, current: Option<&Current<'_>>) -> Vec<MemberStatus> {
    let listed: BTreeMap<&str, &GroupMember> = seen
        .group
        .iter()
        .flat_map(|group| &group.members)
        .map(|member| (member.id.as_str(), member))
        .collect();
    let known: BTreeMap<&str, &Instance> =
        seen.instances.iter().map(|instance| (instance.id.as_str(), instance)).collect();
    let mut rows: Vec<MemberStatus> = known
        .iter()
        .filter(|(id, instance)| instance.state != "terminated" || listed.contains_key(*id))
        .map(|(id, instance)| row(listed.get(id).copied(), Some(instance), current))
        .collect();
    let unknown = listed.iter().filter(|(id, _)| !known.contains_key(*id));
    rows.extend(unknown.map(|(_, member)| row(Some(member), None, current)));
    rows.sort_by(|a, b| (&a.zone, &a.instance_id).cmp(&(&b.zone, &b.instance_id)));
    rows
}

fn row(
    member: Option<&GroupMember>,
    instance: Option<&Instance>,
    current: Option<&Current<'_>>,
) -> MemberStatus {
    let lifecycle = member.map(|member| member.lifecycle.clone());
    let state = instance.map_or("pending", |instance| instance.state.as_str());
    let gone = matches!(state, "shutting-down" | "terminated");
    let template = member.and_then(|member| member.template.as_ref());
    let id = instance.map(|instance| &instance.id).or(member.map(|member| &member.id));
    let zone = instance.map(|instance| &instance.zone).or(member.map(|member| &member.zone));
    MemberStatus {
        instance_id: id.cloned().unwrap_or_default(),
        zone: zone.cloned().unwrap_or_default(),
        state: state.to_owned(),
        health: member.map(|member| member.health.clone()),
        template: template.map(|used| used.name.clone()),
        version: template.map(|used| used.version.clone()),
        behind: behind(member, template, current),
        launched_at: instance.and_then(|instance| instance.launched),
        protected: member.is_some_and(|member| member.protected),
        standby: lifecycle.as_deref().is_some_and(is_standby),
        leaving: gone || lifecycle.as_deref().is_some_and(roll::is_leaving),
        addresses: instance.map(|instance| instance.addresses.clone()).unwrap_or_default(),
        lifecycle,
    }
}

/// Names are unique, so that of two templates of one name the earlier one is deleted. For rolls it is a version of the
/// other one: nobody is replaced for that by itself.
fn behind(
    member: Option<&GroupMember>,
    template: Option<&TemplateUse>,
    current: Option<&Current<'_>>,
) -> Behind {
    let (Some(_), Some(current)) = (member, current) else { return Behind::Unknown };
    let Some(used) = template else { return Behind::NoTemplate };
    if used.name != current.name {
        return Behind::OtherTemplate;
    }
    match current.version {
        _ if used.id != current.id => Behind::DeletedTemplate,
        None => Behind::Unknown,
        Some(version) if used.version == version.to_string() => Behind::No,
        Some(_) => Behind::OlderVersion,
    }
}
