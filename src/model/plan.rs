//! A plan as a value: what changes and why, and the steps that make it so.

use std::{collections::BTreeSet, fmt};

use serde::Serialize;

use super::resources::Write;
use crate::contract::problem::Diagnostic;

/// The resources of a pool, under the addresses that users of the Terraform module know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Address {
    /// The bootstrap data in S3.
    Object,
    /// The launch template.
    Template,
    /// The Auto Scaling group.
    Group,
    /// The scaling policy.
    Policy,
    /// The record of Kubernetes version and pinned image.
    VersionRoll,
    /// The record of the zones at the first apply.
    InheritedZones,
}

impl Address {
    /// All there are.
    pub const ALL: [Self; 6] =
        [Self::Object, Self::Template, Self::Group, Self::Policy, Self::VersionRoll, Self::InheritedZones];

    /// As Terraform writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Object => "module.role.aws_s3_object.bootstrap_object[0]",
            Self::Template => "module.role.aws_launch_template.pool_launch_template[0]",
            Self::Group => "module.role.aws_autoscaling_group.pool_autoscaling_group[0]",
            Self::Policy => "module.role.aws_autoscaling_policy.pool_scaling_policy[0]",
            Self::VersionRoll => "module.role.terraform_data.kubernetes_version_roll",
            Self::InheritedZones => "module.role.terraform_data.inherited_zones",
        }
    }

    /// As a person says it.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Object => "bootstrap object",
            Self::Template => "launch template",
            Self::Group => "Auto Scaling group",
            Self::Policy => "scaling policy",
            Self::VersionRoll => "version record",
            Self::InheritedZones => "zone record",
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Address {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// What happens to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It is made.
    Create,
    /// It is changed in place.
    Update,
    /// A new one is made, then the old one goes: counts as one added and one destroyed.
    Replace,
    /// It goes.
    Delete,
}

/// One field that differs. Secrets never appear: of the object, only checksums do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldChange {
    /// Name, as in `root_volume.size_gib`.
    pub field: String,
    /// Live value, `None` if there is none.
    pub now: Option<String>,
    /// Wanted value, `None` if there is to be none.
    pub then: Option<String>,
}

/// The field of the bootstrap object that says what is in it.
pub const CHECKSUM: &str = "sha256";

impl FieldChange {
    /// Whether the values are checksums: they look like encoded secrets, and are none.
    pub fn is_checksum(&self) -> bool {
        self.field == CHECKSUM
    }
}

/// The field of the group's change that stands for an instance refresh to start.
pub const INSTANCE_REFRESH: &str = "instance_refresh";

/// One resource that changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Which.
    pub address: Address,
    /// The resource's own name or id.
    pub name: String,
    /// How.
    pub action: Action,
    /// Fields that differ; for a create, all that is set.
    pub fields: Vec<FieldChange>,
    /// Why, where that is not plain from the fields.
    pub reason: Option<String>,
}

/// A member that a roll or a scale-in is going to replace or terminate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AffectedMember {
    /// Instance id.
    pub id: String,
    /// Zone.
    pub zone: String,
    /// Why: `runs template captf-... version 3`.
    pub why: String,
}

/// Why a member goes whose zone the pool leaves.
pub const ZONE_REMOVED: &str = "its zone is removed";

/// Why a member may go whose zone stays and gets another subnet.
pub const SUBNET_EXCHANGED: &str = "its subnet is exchanged for another: Auto Scaling may replace it";

/// One thing to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// Write to AWS.
    Write(Write),
    /// Cancel the active instance refresh and wait until it has come to a final status.
    EndRefresh {
        /// Group name.
        group: String,
    },
    /// Mark off the active instance refresh as not of the wanted template, then end it. A look
    /// immediately before finds out whether it is of the wanted template after all.
    Supersede {
        /// Group name.
        group: String,
        /// Name of the wanted template.
        template: String,
        /// Hash of its roll key.
        hash: String,
    },
    /// Roll members that the group launched from another template while the plan was carried out; none is
    /// known when it is made.
    RollStragglers {
        /// Group name.
        group: String,
        /// Name of the template that all should run.
        template: String,
        /// Warmup in seconds.
        warmup_seconds: u32,
    },
    /// Wait until a group that is being deleted is gone.
    AwaitGroupGone {
        /// Group name.
        group: String,
    },
    /// Look whether an instance may still fetch the object from a bucket that the pool has left. While one may,
    /// the rest of the chain waits for a later apply.
    CheckFetchers {
        /// Group name.
        group: String,
        /// Bucket in which the object lies now.
        bucket: String,
        /// Key.
        key: String,
        /// Buckets that the pool has left.
        left: Vec<String>,
    },
    /// Delete an object that the pool left in another bucket, if its tags say that it is the pool's.
    RemoveObject {
        /// Bucket.
        bucket: String,
        /// Key.
        key: String,
    },
    /// Delete old versions of a launch template.
    PruneVersions {
        /// Template id.
        template_id: String,
        /// Versions that are in use.
        keep: BTreeSet<u64>,
    },
}

/// A task and the resource that it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Which resource; progress and failures name it.
    pub address: Address,
    /// What to do.
    pub task: Task,
    /// Clean-up: a failure is a warning, and the step counts as no change.
    pub optional: bool,
}

/// Chains of steps: the chains of one stage run side by side, the steps of one chain in order. A
/// stage begins when the one before it is done.
pub type Stage = Vec<Vec<Step>>;

/// What apply would do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// What changes, in the order of [`Address`].
    pub changes: Vec<Change>,
    /// Members that a roll replaces, whose zone the pool leaves, or whose zone gets another subnet; sorted by zone
    /// and id.
    pub replaced: Vec<AffectedMember>,
    /// How many members a scale-in terminates, without drain, other than those in `replaced`; all, if this is a
    /// destroy.
    pub terminated: u32,
    /// How many of those in `replaced` a scale-in terminates at least, so that nothing replaces them.
    pub overlap: u32,
    /// What is odd or costs something: dropped labels, members terminated without drain, ...
    pub warnings: Vec<Diagnostic>,
    /// What is not as the inputs ask for and stays so, as far as this plan goes: `1 member still runs another launch
    /// template`.
    pub remains: Vec<String>,
    /// Clean-up, a roll under way and such: no change, no exit code 2.
    pub notes: Vec<String>,
    /// The steps.
    pub stages: Vec<Stage>,
}

/// How many resources a plan adds, changes and destroys, counted as Terraform counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Added.
    pub add: usize,
    /// Changed in place.
    pub change: usize,
    /// Destroyed.
    pub destroy: usize,
}

impl Plan {
    /// Whether apply would leave every resource as it is.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Added, changed, destroyed.
    pub fn counts(&self) -> Counts {
        self.changes.iter().fold(Counts::default(), |mut counts, change| {
            match change.action {
                Action::Create => counts.add += 1,
                Action::Update => counts.change += 1,
                Action::Delete => counts.destroy += 1,
                Action::Replace => {
                    counts.add += 1;
                    counts.destroy += 1;
                }
            }
            counts
        })
    }
}
