//! How a pool is: what AWS shows of it, brought together for somebody who wants to know.

use serde::{Serialize, Serializer};

use super::{
    members::{self, State},
    observed::{Activity, Group, Instance, Launch, Refresh, Template, TemplateVersion},
    outputs,
    plan::{Action, Address, Plan},
    records, target,
};
use crate::{
    clock::Timestamp,
    contract::{outputs::Health, problem::Diagnostic, request::Scope},
};

mod activities;
mod labels;
mod next;
mod pace;
mod rollout;
mod rows;
mod warnings;

#[cfg(test)]
mod tests;

pub use activities::ActivityStatus;
pub use labels::LabelsStatus;
pub use rollout::{ASK_ROLLOUT_STATUS, RefreshStatus, RolledGroup, Rollout};
pub use rows::{Behind, MemberStatus};

/// The version of the form in which programs read a status. It is kept from the first release on: until then `1.0`
/// may change.
pub const FORMAT_VERSION: &str = "1.0";

/// What AWS showed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// The group, also one that is being deleted.
    pub group: Option<Group>,
    /// EC2's view of everything tagged with the group's name, any state.
    pub instances: Vec<Instance>,
    /// Instance refreshes, newest first.
    pub refreshes: Vec<Refresh>,
    /// The pool's templates.
    pub templates: Vec<Template>,
    /// Versions of the group's template, as far as they were asked for.
    pub versions: Vec<TemplateVersion>,
    /// Scaling activities, newest first; `None` if AWS does not tell them.
    pub activities: Option<Vec<Activity>>,
    /// Why AWS did not tell what a status can do without.
    pub untold: Untold,
}

/// Why AWS did not tell something, in sentences; `None` where it did, or was not asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Untold {
    /// Scaling activities.
    pub activities: Option<String>,
    /// Versions of the launch template.
    pub versions: Option<String>,
}

/// Whether the pool was compared with its inputs.
#[derive(Clone, Copy, Debug)]
pub enum Compared<'a> {
    /// It was: what an apply would do.
    With(&'a Plan),
    /// It was not: why, in one sentence.
    Not(&'a str),
}

/// The status of a pool. Its JSON form is described in `contract/status.schema.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Status {
    /// [`FORMAT_VERSION`].
    pub format_version: &'static str,
    /// `<namespace>/<name>`.
    pub pool: String,
    /// Where it lives.
    pub region: String,
    /// When AWS was asked.
    #[serde(serialize_with = "moment")]
    pub read_at: Timestamp,
    /// The group; `None` if there is none.
    pub group: Option<GroupStatus>,
    /// What the group launches from.
    pub template: Option<TemplateStatus>,
    /// The node labels.
    pub node_labels: LabelsStatus,
    /// What the controller sees.
    pub health: Health,
    /// How many members there are of each kind.
    pub counts: Counts,
    /// All instances that the group lists or that are tagged as its, sorted by zone and id.
    pub members: Vec<MemberStatus>,
    /// The instance refresh.
    pub rollout: Rollout,
    /// The latest scaling activities, newest first; `None` if AWS does not tell them.
    pub activities: Option<Vec<ActivityStatus>>,
    /// What an apply would do.
    pub apply: Pending,
    /// What is worth knowing.
    pub warnings: Vec<Diagnostic>,
}

/// The group and its size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GroupStatus {
    /// Name.
    pub name: String,
    /// ARN.
    pub arn: String,
    /// Whether AWS is deleting it.
    pub deleting: bool,
    /// Lower bound.
    pub min: u32,
    /// Upper bound.
    pub max: u32,
    /// Desired capacity.
    pub desired: u32,
    /// Suspended processes.
    pub suspended_processes: Vec<String>,
    /// `prevent-all-deletion` or `prevent-force-deletion`, if set.
    pub deletion_protection: Option<String>,
}

/// The launch template of the group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TemplateStatus {
    /// Id.
    pub id: String,
    /// Name.
    pub name: String,
    /// The version that the group launches now; `None` if it is not known.
    pub version: Option<u64>,
    /// The Kubernetes version that it is recorded to be for.
    pub kubernetes_version: Option<String>,
    /// The pinned image that it is recorded to be for.
    pub machine_image_id: Option<String>,
}

/// How many members there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Those that the outputs list.
    pub members: usize,
    /// Of them: up.
    pub running: usize,
    /// Of them: starting.
    pub pending: usize,
    /// Of them: stopping or stopped.
    pub stopped: usize,
    /// Of them: in a state that this program does not know.
    pub unknown: usize,
    /// On their way out.
    pub leaving: usize,
    /// Members on another launch template than the group's: an apply rolls them.
    pub on_other_template: usize,
    /// Members on another version of the group's template: they stay until `rollout start`.
    pub on_older_version: usize,
    /// Members on a deleted launch template of the same name: likewise.
    pub on_deleted_template: usize,
    /// Members on no launch template: likewise.
    pub on_no_template: usize,
}

/// What an apply would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pending {
    /// Whether the pool was compared with its inputs.
    pub compared: bool,
    /// Why it was not.
    pub reason: Option<String>,
    /// Resources that would change.
    pub changes: Vec<PendingChange>,
    /// Members that would be replaced.
    pub replaced: usize,
    /// Members that would be terminated.
    pub terminated: u32,
}

/// One resource that an apply would change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PendingChange {
    /// Which.
    pub address: Address,
    /// How.
    pub action: Action,
    /// Names of the fields that differ, in an update.
    pub fields: Vec<String>,
}

/// Brings together what AWS showed of a pool at `now`.
pub fn status(scope: &Scope, region: &str, seen: &Seen, compared: Compared<'_>, now: Timestamp) -> Status {
    let live = seen.group.as_ref().filter(|group| !group.deleting);
    let members = members::members(seen.group.as_ref(), &seen.instances);
    let current = Current::of(seen);
    let rows = rows::rows(seen, current.as_ref());
    let activities = seen.activities.as_deref();
    let rollout = rollout::rollout(scope, seen, current.as_ref(), &rows, now);
    Status {
        format_version: FORMAT_VERSION,
        pool: format!("{}/{}", scope.namespace, scope.name),
        region: region.to_owned(),
        read_at: now,
        group: seen.group.as_ref().map(group_status),
        template: current.as_ref().map(|current| template_status(current, seen)),
        node_labels: labels::labels(scope, seen, current.as_ref(), compared),
        health: outputs::health(live, &members, activities.unwrap_or_default()),
        counts: counts(&members, &rows),
        activities: activities.map(activities::activities),
        apply: pending(compared),
        warnings: warnings::warnings(
            scope,
            seen,
            current.as_ref(),
            &rows,
            members.len(),
            &rollout.warnings,
            compared,
        ),
        rollout,
        members: rows,
    }
}

/// The part of a status that is about the roll.
pub fn roll(scope: &Scope, seen: &Seen, now: Timestamp) -> Rollout {
    let current = Current::of(seen);
    rollout::rollout(scope, seen, current.as_ref(), &rows::rows(seen, current.as_ref()), now)
}

impl Seen {
    /// The number of the version that the group launches now, if it is known.
    pub fn version_in_use(&self) -> Option<u64> {
        Current::of(self)?.version
    }

    /// When the newest version of the template of this id was made, if it was read.
    fn version_created(&self, template: &Template) -> Option<Timestamp> {
        let newest = |version: &&TemplateVersion| {
            version.template_id == template.id && version.number == template.latest_version
        };
        self.versions.iter().find(newest).map(|version| version.created)
    }
}

/// What the group launches from now.
pub(super) struct Current<'a> {
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    /// `$Latest`, `$Default` or a number.
    pub(super) asked: &'a str,
    /// The number behind it, if it is known.
    pub(super) version: Option<u64>,
}

impl<'a> Current<'a> {
    /// The version that the group launches, if it was read.
    pub(super) fn version_of<'s>(&self, seen: &'s Seen) -> Option<&'s TemplateVersion> {
        let number = self.version?;
        seen.versions.iter().find(|version| version.template_id == self.id && version.number == number)
    }

    fn of(seen: &'a Seen) -> Option<Self> {
        let used = target::current_use(seen.group.as_ref()?)?;
        let template = seen.templates.iter().find(|template| template.id == used.id);
        let version = match used.version.as_str() {
            "$Latest" => template.map(|template| template.latest_version),
            "$Default" | "" => template.map(|template| template.default_version),
            number => number.parse().ok(),
        };
        Some(Self { id: &used.id, name: &used.name, asked: &used.version, version })
    }
}

fn group_status(group: &Group) -> GroupStatus {
    GroupStatus {
        name: group.name.clone(),
        arn: group.arn.clone(),
        deleting: group.deleting,
        min: group.min,
        max: group.max,
        desired: group.desired,
        suspended_processes: group.suspended.iter().cloned().collect(),
        deletion_protection: group.deletion_protection.clone(),
    }
}

fn template_status(current: &Current<'_>, seen: &Seen) -> TemplateStatus {
    let tags = seen.templates.iter().find(|template| template.id == current.id).map(|t| &t.tags);
    let record = |key: &str| tags.and_then(|tags| tags.get(key)).filter(|value| !value.is_empty()).cloned();
    TemplateStatus {
        id: current.id.to_owned(),
        name: current.name.to_owned(),
        version: current.version,
        kubernetes_version: record(records::VERSION),
        machine_image_id: record(records::IMAGE),
    }
}

fn counts(members: &[members::Member], rows: &[MemberStatus]) -> Counts {
    let of = |state| members.iter().filter(|member| member.state == state).count();
    Counts {
        members: members.len(),
        running: of(State::Running),
        pending: of(State::Pending),
        stopped: of(State::Stopped),
        unknown: of(State::Unknown),
        leaving: rows.iter().filter(|row| row.leaving).count(),
        on_other_template: rollout::count(rows, Behind::OtherTemplate),
        on_older_version: rollout::count(rows, Behind::OlderVersion),
        on_deleted_template: rollout::count(rows, Behind::DeletedTemplate),
        on_no_template: rollout::count(rows, Behind::NoTemplate),
    }
}

fn pending(compared: Compared<'_>) -> Pending {
    let none = Pending { compared: true, reason: None, changes: Vec::new(), replaced: 0, terminated: 0 };
    match compared {
        Compared::Not(why) => Pending { compared: false, reason: Some(why.to_owned()), ..none },
        Compared::With(plan) => Pending {
            changes: plan.changes.iter().map(pending_change).collect(),
            replaced: plan.replaced.len(),
            terminated: plan.terminated,
            ..none
        },
    }
}

fn pending_change(change: &super::plan::Change) -> PendingChange {
    let fields = match change.action {
        Action::Update => change.fields.iter().map(|field| field.field.clone()).collect(),
        Action::Create | Action::Replace | Action::Delete => Vec::new(),
    };
    PendingChange { address: change.address, action: change.action, fields }
}

/// Whether a group launches from a template alone, as this program makes it.
fn launches_plainly(group: &Group) -> bool {
    matches!(&group.launch, Launch::Template(used) if used.version == "$Latest")
}

/// A moment as JSON has it.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn moment<S: Serializer>(moment: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&moment.rfc3339())
}

/// As [`moment`], of one that may be missing.
#[expect(clippy::ref_option, reason = "serde asks for a reference")]
fn moment_if_any<S: Serializer>(moment: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    match moment {
        Some(moment) => serializer.serialize_str(&moment.rfc3339()),
        None => serializer.serialize_none(),
    }
}
