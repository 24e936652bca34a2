//! What AWS showed: plain values, one struct per thing read.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{names::RollKey, resources::TemplateData};
use crate::{
    clock::Timestamp,
    contract::{problem::words, request::Tags},
};

/// An Auto Scaling group, from `DescribeAutoScalingGroups`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Name.
    pub name: String,
    /// ARN.
    pub arn: String,
    /// Whether AWS is deleting it (`Status` is `Delete in progress`).
    pub deleting: bool,
    /// Lower bound.
    pub min: u32,
    /// Upper bound.
    pub max: u32,
    /// Desired capacity.
    pub desired: u32,
    /// What it launches from.
    pub launch: Launch,
    /// Subnet ids of `VPCZoneIdentifier`.
    pub subnets: BTreeSet<String>,
    /// The zones that it launches into; empty if AWS did not say.
    #[serde(default)]
    pub zones: BTreeSet<String>,
    /// `EC2`, `ELB`, ...
    pub health_check_type: String,
    /// Capacity rebalancing.
    pub capacity_rebalance: bool,
    /// Names of suspended processes.
    pub suspended: BTreeSet<String>,
    /// Tags by key.
    pub tags: BTreeMap<String, GroupTag>,
    /// The instances that the group lists, any state, sorted by id.
    pub members: Vec<GroupMember>,
    /// Whether it has a warm pool.
    pub warm_pool: bool,
    /// `prevent-all-deletion` or `prevent-force-deletion`, if somebody has set one.
    pub deletion_protection: Option<String>,
}

impl Group {
    /// The tags, whoever gets them.
    pub fn tags(&self) -> Tags {
        self.tags.iter().map(|(key, tag)| (key.clone(), tag.value.clone())).collect()
    }
}

/// What a group launches from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Launch {
    /// Nothing that this program knows (a launch configuration, or none).
    #[default]
    Other,
    /// A launch template.
    Template(TemplateUse),
    /// A mixed instances policy; its template.
    Mixed(TemplateUse),
}

/// A launch template as a group or a member names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TemplateUse {
    /// Template id.
    pub id: String,
    /// Template name.
    pub name: String,
    /// `$Latest`, `$Default` or a number; for a member always a number.
    pub version: String,
}

/// One tag of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupTag {
    /// Value.
    pub value: String,
    /// Whether instances get it at launch.
    pub propagate: bool,
}

/// A member as its group lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupMember {
    /// Instance id.
    pub id: String,
    /// Zone.
    pub zone: String,
    /// `Pending`, `InService`, `Standby`, `Terminating:Wait`, ...
    pub lifecycle: String,
    /// `Healthy` or `Unhealthy`, as the group's health check sees it.
    pub health: String,
    /// Protected from scale-in.
    pub protected: bool,
    /// The template it was launched from; `None` for one attached by hand.
    pub template: Option<TemplateUse>,
}

/// An instance as EC2 shows it, from `DescribeInstances`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instance {
    /// Instance id.
    pub id: String,
    /// EC2's state: `pending`, `running`, `shutting-down`, `terminated`, `stopping`, `stopped`, or a new word.
    pub state: String,
    /// Zone.
    pub zone: String,
    /// Private addresses, IPv4 of the primary interface first, then further ones and IPv6.
    pub addresses: Vec<String>,
    /// When it was launched, or started again after a stop.
    pub launched: Option<Timestamp>,
}

/// A scaling policy, from `DescribePolicies`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// Name.
    pub name: String,
    /// The predefined metric and target of a plain target-tracking policy: `(metric, percent)`.
    pub target_tracking: Option<(String, f64)>,
    /// Other settings that differ from what a policy put with metric and target alone has, name -> text.
    pub extras: BTreeMap<String, String>,
}

/// An instance refresh, from `DescribeInstanceRefreshes`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refresh {
    /// Id.
    pub id: String,
    /// AWS's word, known or not.
    pub status: String,
    /// AWS's reason, if any.
    pub reason: Option<String>,
    /// Start.
    pub start: Option<Timestamp>,
    /// End.
    pub end: Option<Timestamp>,
    /// Percent complete.
    pub percentage: Option<u32>,
    /// Instances left to update, in AWS's number; before AWS has counted them it is 0 as well.
    pub remaining: Option<u32>,
    /// Seconds that a replacement warms up, if AWS tells.
    #[serde(default)]
    pub warmup_seconds: Option<u32>,
    /// Template of the desired configuration, if it has one.
    pub desired_template: Option<TemplateUse>,
}

impl Refresh {
    /// Instances left to update, once AWS has counted them: for a moment after the start it says 0 of those that it
    /// is about to find.
    pub fn left(&self) -> Option<u32> {
        let is_counted = self.status != "Pending" && self.percentage.is_some_and(|done| done > 0);
        self.remaining.filter(|left| *left > 0 || is_counted)
    }

    /// AWS's reason as a part of a sentence: on one line, so that no line of it can be taken for ours, and without
    /// its full stop.
    pub fn reason_in_a_line(&self) -> String {
        words(self.reason.as_deref().unwrap_or_default())
    }
}

/// A launch template, from `DescribeLaunchTemplates`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Template {
    /// Id.
    pub id: String,
    /// Name.
    pub name: String,
    /// When it was made.
    pub created: Timestamp,
    /// Number of the default version.
    pub default_version: u64,
    /// Number of the latest version.
    pub latest_version: u64,
    /// Tags.
    pub tags: Tags,
}

/// One version of a launch template, from `DescribeLaunchTemplateVersions`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateVersion {
    /// The template's id.
    pub template_id: String,
    /// The template's name.
    pub template_name: String,
    /// Number.
    pub number: u64,
    /// When it was made.
    pub created: Timestamp,
    /// Whether it is the default.
    pub is_default: bool,
    /// Description.
    pub description: Option<String>,
    /// Data.
    pub data: TemplateData,
}

/// An image, from `DescribeImages`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// AMI id.
    pub id: String,
    /// Name.
    pub name: String,
    /// `available`, `pending`, `failed`, ...
    pub state: String,
    /// `x86_64`, `arm64`, ...
    pub architecture: String,
    /// Root device.
    pub root_device_name: String,
    /// As AWS writes it: `2026-01-31T12:00:00.000Z`; orders as text.
    pub creation_date: String,
    /// Size of the snapshot behind its root device, if known: no root volume can be smaller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_volume_size_gib: Option<u32>,
}

/// What was read about the bootstrap object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Object {
    /// The bucket is there, the object is not.
    Missing,
    /// There is one.
    Present {
        /// Full-object SHA-256 in base64, if S3 has one (never a composite one).
        sha256: Option<String>,
        /// Content type.
        content_type: Option<String>,
        /// `AES256`, `aws:kms`, ...
        encryption: Option<String>,
        /// Tags.
        tags: Tags,
    },
}

/// One scaling activity, from `DescribeScalingActivities`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activity {
    /// Start.
    pub start: Timestamp,
    /// `Successful`, `Failed`, `InProgress`, ...
    pub status: String,
    /// What it did: `Launching a new EC2 instance.  Status Reason: ...`.
    pub description: String,
    /// AWS's reason for a failure.
    pub message: Option<String>,
}

/// What plan and apply look at, read in one round trip.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// The group, also one that is being deleted.
    pub group: Option<Group>,
    /// EC2's view of everything tagged with the group's name, any state, sorted by id.
    pub instances: Vec<Instance>,
    /// All scaling policies of the group.
    pub policies: Vec<Policy>,
    /// Instance refreshes, newest first.
    pub refreshes: Vec<Refresh>,
    /// The pool's templates, sorted by name; also foreign ones under its names.
    pub templates: Vec<Template>,
    /// Latest and default version of the template wanted and of the group's own, oldest first.
    pub versions: Vec<TemplateVersion>,
    /// The bootstrap object.
    pub object: Object,
    /// Images found, by id or by name.
    pub images: Images,
    /// What a state file says; nothing where there is none.
    pub known: Known,
}

/// What the state of a pool that Terraform made records, and no tag says yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The zones of the pool's first apply; never empty.
    pub zones: Option<Vec<String>>,
    /// What the group's template was made for.
    pub key: Option<RollKey>,
}

/// The outcome of looking for images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Images {
    /// All that match what was asked, in AWS's order.
    Found(Vec<Image>),
    /// The pinned image may not be described; the reason in AWS's words. It may launch all the same.
    Undescribed(String),
    /// The pinned image is not there, or not any more; AWS's words.
    Missing(String),
    /// Nothing could be asked for: neither a pinned id nor a Kubernetes version.
    NotAsked,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_a_part_of_a_sentence() {
        let told = |reason: Option<&str>| {
            Refresh { reason: reason.map(str::to_owned), ..Refresh::default() }.reason_in_a_line()
        };
        assert_eq!(told(Some("No capacity.\nError: fake.")), "No capacity. Error: fake");
        assert_eq!(told(None), "no reason given");
    }

    #[test]
    fn nothing_is_left_only_once_it_was_counted() {
        let left = |status: &str, percentage, remaining| {
            Refresh { status: status.into(), percentage, remaining, ..Refresh::default() }.left()
        };
        for (status, percentage) in
            [("Pending", Some(0)), ("Pending", None), ("InProgress", None), ("InProgress", Some(0))]
        {
            assert_eq!(left(status, percentage, Some(0)), None, "{status} {percentage:?}");
            assert_eq!(left(status, percentage, Some(3)), Some(3));
        }
        assert_eq!(left("InProgress", Some(66), Some(0)), Some(0));
        assert_eq!(left("Successful", Some(100), Some(0)), Some(0));
        assert_eq!(left("InProgress", Some(50), None), None);
    }
}
