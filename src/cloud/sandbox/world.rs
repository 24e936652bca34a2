//! What the simulated account holds. All of it is public, so that a test can put it into any state
//! and play the part of somebody else's hands.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::surroundings::Surroundings;
use crate::{
    clock::Timestamp,
    contract::request::Tags,
    model::{
        observed::{GroupTag, Image, Launch, Policy, TemplateUse},
        resources::TemplateData,
    },
};

/// What a new account is furnished with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seed {
    /// The region.
    pub region: String,
    /// Zone -> subnet id.
    pub subnets: BTreeMap<String, String>,
    /// Security group ids.
    pub security_groups: BTreeSet<String>,
    /// Names of IAM instance profiles.
    pub instance_profiles: BTreeSet<String>,
    /// Names of EC2 key pairs.
    pub key_pairs: BTreeSet<String>,
    /// Names of S3 buckets.
    pub buckets: BTreeSet<String>,
    /// Images beside the built-in catalogue.
    pub images: Vec<OwnedImage>,
}

/// An image and its owner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnedImage {
    /// Account id, or an alias such as `amazon`.
    pub owner: String,
    /// The image.
    pub image: Image,
}

/// The whole account.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct World {
    /// The one region it has.
    pub region: String,
    /// Account id, 12 digits.
    pub account: String,
    /// Subnet id -> zone.
    pub subnets: BTreeMap<String, String>,
    /// Security group ids.
    pub security_groups: BTreeSet<String>,
    /// Names of IAM instance profiles.
    pub instance_profiles: BTreeSet<String>,
    /// Names of EC2 key pairs.
    pub key_pairs: BTreeSet<String>,
    /// Bucket -> key -> object.
    pub buckets: BTreeMap<String, BTreeMap<String, StoredObject>>,
    /// Images beside the built-in catalogue.
    pub images: Vec<OwnedImage>,
    /// Ids of images, also built-in ones, that were deregistered.
    pub deregistered: BTreeSet<String>,
    /// Launch templates by id.
    pub templates: BTreeMap<String, StoredTemplate>,
    /// Auto Scaling groups by name.
    pub groups: BTreeMap<String, StoredGroup>,
    /// EC2 instances by id.
    pub instances: BTreeMap<String, StoredInstance>,
    /// While set, every launch fails for this reason, in AWS's words.
    pub launch_error: Option<String>,
    /// How much reads lag behind writes.
    pub lag: Lag,
    /// What lagging reads still show.
    pub echoes: Echoes,
    /// How many ids have been given out.
    pub ids: u64,
    /// What a check-up finds otherwise than in an account where all is well.
    #[serde(skip_serializing_if = "is_default")]
    pub surroundings: Surroundings,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// How much reads lag behind writes. Zero, the default, is no lag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lag {
    /// So many `group` reads show the state before the last write.
    pub groups: u32,
    /// So many `refreshes` reads show those before the last write to the group.
    pub refreshes: u32,
    /// So many `policies` reads show those before the last write to the group.
    pub policies: u32,
    /// So many `templates` and so many `versions` reads show the state before the last write.
    pub templates: u32,
    /// So many `instances` reads do not know a launched instance, or still show a terminated one as it was.
    pub instances: u32,
    /// For so many seconds the group API does not know a new launch template or version.
    pub template_use_seconds: u64,
}

/// What lagging reads still show.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Echoes {
    /// Groups by name.
    pub groups: BTreeMap<String, Echo<StoredGroup>>,
    /// Groups by name, for reads of their instance refreshes.
    pub refreshes: BTreeMap<String, Echo<StoredGroup>>,
    /// Groups by name, for reads of their policies.
    pub policies: BTreeMap<String, Echo<StoredGroup>>,
    /// Templates by id, for reads of templates.
    pub templates: BTreeMap<String, Echo<StoredTemplate>>,
    /// Templates by id, for reads of their versions.
    pub versions: BTreeMap<String, Echo<StoredTemplate>>,
    /// Instances by id.
    pub instances: BTreeMap<String, Echo<StoredInstance>>,
}

/// How a thing was, and for how many more reads it looks so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Echo<T> {
    /// As it was; `None` if it was not there.
    pub was: Option<T>,
    /// Reads left.
    pub reads: u32,
}

/// An S3 object. Its body is not kept, only what tells it from another: it holds a join token.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredObject {
    /// Full-object SHA-256 in base64; `None` for one uploaded without.
    pub sha256: Option<String>,
    /// Length in bytes.
    pub length: u64,
    /// Content type.
    pub content_type: Option<String>,
    /// Server-side encryption.
    pub encryption: Option<String>,
    /// Tags.
    pub tags: Tags,
}

/// A launch template with all its versions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredTemplate {
    /// Name.
    pub name: String,
    /// When it was made.
    pub created: Timestamp,
    /// Number of the default version.
    pub default_version: u64,
    /// The highest number ever given to a version.
    pub last_version: u64,
    /// Tags.
    pub tags: Tags,
    /// Versions by number.
    pub versions: BTreeMap<u64, StoredVersion>,
}

impl StoredTemplate {
    /// Number of the latest version that is there.
    pub fn latest_version(&self) -> u64 {
        self.versions.keys().next_back().copied().unwrap_or_default()
    }
}

/// One version of a launch template.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredVersion {
    /// When it was made.
    pub created: Timestamp,
    /// Description.
    pub description: Option<String>,
    /// Data.
    pub data: TemplateData,
}

/// An Auto Scaling group and everything that goes with it when it is deleted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredGroup {
    /// ARN.
    pub arn: String,
    /// Since when it is being deleted.
    pub deleting: Option<Timestamp>,
    /// Lower bound.
    pub min: u32,
    /// Upper bound.
    pub max: u32,
    /// Desired capacity.
    pub desired: u32,
    /// What it launches from.
    pub launch: Launch,
    /// Subnet ids, in the order given.
    pub subnets: Vec<String>,
    /// `EC2`, `ELB`, ...
    pub health_check_type: String,
    /// Capacity rebalancing; kept, never acted upon.
    pub capacity_rebalance: bool,
    /// Suspended processes.
    pub suspended: BTreeSet<String>,
    /// Tags by key.
    pub tags: BTreeMap<String, GroupTag>,
    /// Whether it has a warm pool.
    pub warm_pool: bool,
    /// `prevent-all-deletion` or `prevent-force-deletion`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_protection: Option<String>,
    /// Names of scheduled actions; kept, never run.
    pub scheduled_actions: BTreeSet<String>,
    /// Scaling policies by name; kept, never acted upon.
    pub policies: BTreeMap<String, Policy>,
    /// Instance refreshes, oldest first.
    pub refreshes: Vec<StoredRefresh>,
    /// Scaling activities, oldest first.
    pub activities: Vec<StoredActivity>,
    /// For how long a termination hook holds a member in `Terminating:Wait`; 0 is no hook.
    pub termination_hook_seconds: u64,
    /// How many instances above the desired capacity are wanted, to move members to another zone.
    pub moving: u32,
    /// Launches that failed in a row.
    pub failures: u32,
    /// When Auto Scaling looks at the group next.
    pub due: Option<Timestamp>,
}

/// An instance refresh and how far it has come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredRefresh {
    /// Id.
    pub id: String,
    /// `Pending`, `InProgress`, `Cancelling`, `Successful`, `Cancelled`, `Failed`, or set by a test.
    pub status: String,
    /// AWS's reason.
    pub reason: Option<String>,
    /// Start.
    pub start: Timestamp,
    /// End.
    pub end: Option<Timestamp>,
    /// What it was asked to do.
    pub options: RefreshOptions,
    /// Members to replace, as counted when it began.
    pub total: u32,
    /// Members that are left to replace.
    pub left: BTreeSet<String>,
    /// Members whose replacements are launching or warming up.
    pub batch: BTreeSet<String>,
    /// When that batch began.
    pub batch_began: Timestamp,
    /// Launches that failed during it.
    pub failed_launches: u32,
    /// When its status changes next, if time alone does it.
    pub next: Option<Timestamp>,
}

/// What an instance refresh is asked to do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RefreshOptions {
    /// Seconds that a new instance warms up.
    pub warmup_seconds: u32,
    /// Whether members that already match what the group launches are left alone.
    pub skip_matching: bool,
    /// Whether members protected from scale-in are replaced as well.
    pub replace_protected: bool,
    /// A desired configuration: the template that the group gets when the refresh succeeds.
    pub desired: Option<TemplateUse>,
}

/// A scaling activity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredActivity {
    /// Start.
    pub start: Timestamp,
    /// `InProgress`, `Successful` or `Failed`.
    pub status: String,
    /// What it did.
    pub description: String,
    /// AWS's reason for a failure.
    pub message: Option<String>,
    /// The instance it is about.
    pub instance: Option<String>,
}

/// An EC2 instance, and what its group knows about it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredInstance {
    /// Value of its tag `aws:autoscaling:groupName`, which outlives membership.
    pub group: Option<String>,
    /// How its group lists it (`Pending`, `InService`, `Standby`, `Terminating:Wait`, `Terminating`);
    /// `None` if no group does.
    pub lifecycle: Option<String>,
    /// Protected from scale-in.
    pub protected: bool,
    /// EC2's state.
    pub state: String,
    /// Zone.
    pub zone: String,
    /// Subnet id.
    pub subnet: String,
    /// Private addresses.
    pub addresses: Vec<String>,
    /// The template it was launched from, version as a number.
    pub template: Option<TemplateUse>,
    /// AMI id.
    pub image_id: String,
    /// When it was launched.
    pub launched: Timestamp,
    /// When it came into service.
    pub in_service: Option<Timestamp>,
    /// When its state changes next, if time alone does it.
    pub until: Option<Timestamp>,
}

impl StoredInstance {
    /// Whether it counts against the desired capacity.
    pub fn is_active(&self) -> bool {
        matches!(self.lifecycle.as_deref(), Some("Pending" | "InService"))
    }

    /// Whether it is a member of this group, in any state.
    pub fn is_member_of(&self, group: &str) -> bool {
        self.lifecycle.is_some() && self.group.as_deref() == Some(group)
    }
}

impl World {
    /// A new account.
    pub fn furnished(seed: &Seed) -> Self {
        Self {
            region: seed.region.clone(),
            account: "210987654321".to_owned(),
            subnets: seed.subnets.iter().map(|(zone, id)| (id.clone(), zone.clone())).collect(),
            security_groups: seed.security_groups.clone(),
            instance_profiles: seed.instance_profiles.clone(),
            key_pairs: seed.key_pairs.clone(),
            buckets: seed.buckets.iter().map(|name| (name.clone(), BTreeMap::new())).collect(),
            images: seed.images.clone(),
            ..Self::default()
        }
    }

    /// The template of that name.
    pub fn template_named(&self, name: &str) -> Option<(&String, &StoredTemplate)> {
        self.templates.iter().find(|(_, template)| template.name == name)
    }

    /// Ids of a group's members in any state, sorted.
    pub fn members(&self, group: &str) -> Vec<String> {
        self.instances.iter().filter(|(_, i)| i.is_member_of(group)).map(|(id, _)| id.clone()).collect()
    }

    /// Ids of the members that count against the group's desired capacity, sorted.
    pub fn active_members(&self, group: &str) -> Vec<String> {
        self.instances
            .iter()
            .filter(|(_, i)| i.is_member_of(group) && i.is_active())
            .map(|(id, _)| id.clone())
            .collect()
    }

    /// The next id: a prefix and hex digits that depend on nothing but the number of ids before it.
    pub(super) fn next_id(&mut self, prefix: &str) -> String {
        format!("{prefix}{}", &self.next_digest()[..17])
    }

    /// The next id in the form of a UUID.
    pub(super) fn next_uuid(&mut self) -> String {
        let hex = self.next_digest();
        format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..32])
    }

    fn next_digest(&mut self) -> String {
        self.ids += 1;
        super::images::hex(&Sha256::digest(format!("sandbox id {}", self.ids)))
    }
}
