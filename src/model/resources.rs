//! The AWS resources of a pool as plain values: what is sent, what is read, what is compared.

use std::collections::{BTreeMap, BTreeSet};

use crate::contract::{payload::Payload, request::Tags};

/// The data of one launch template version. What EC2 may also hold there and this program never
/// sets is kept as text in `extras`, so that a foreign edit shows as a difference.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TemplateData {
    /// AMI id.
    pub image_id: Option<String>,
    /// Instance type.
    pub instance_type: Option<String>,
    /// EC2 key pair.
    pub key_name: Option<String>,
    /// Name of the IAM instance profile (an ARN if somebody set it so).
    pub instance_profile: Option<String>,
    /// User data as text (not base64). Data that is not UTF-8 reads as `base64:<data>`.
    pub user_data: Option<String>,
    /// Block devices, by device name.
    pub volumes: BTreeMap<String, Volume>,
    /// Network interfaces, by device index.
    pub interfaces: BTreeMap<u32, Interface>,
    /// Instance metadata options.
    pub metadata: Option<Metadata>,
    /// `spot`, or `None` for On-Demand.
    pub market_type: Option<String>,
    /// Resource type (`instance`, `volume`, `network-interface`) -> tags.
    pub tags: BTreeMap<String, Tags>,
    /// Other settings, name -> text. Always empty in what we want.
    pub extras: BTreeMap<String, String>,
}

/// One EBS block device.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Volume {
    /// Encryption at rest.
    pub encrypted: Option<bool>,
    /// KMS key ARN.
    pub kms_key_id: Option<String>,
    /// GiB.
    pub size_gib: Option<u32>,
    /// `gp3`, `gp2`, ...
    pub kind: Option<String>,
    /// Whether the volume goes with the instance.
    pub delete_on_termination: Option<bool>,
}

/// One network interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Interface {
    /// Whether to give a public IPv4 address.
    pub public_ip: Option<bool>,
    /// Whether the interface goes with the instance.
    pub delete_on_termination: Option<bool>,
    /// Security group ids, in order (compared as a set).
    pub security_groups: Vec<String>,
}

/// Instance metadata options, in the API's words.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Metadata {
    /// `enabled` or `disabled`.
    pub endpoint: Option<String>,
    /// `required` or `optional`.
    pub tokens: Option<String>,
    /// Hop limit.
    pub hop_limit: Option<u32>,
    /// `enabled` or `disabled`.
    pub instance_tags: Option<String>,
}

/// A launch template named in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateRef {
    /// One that exists.
    Id(String),
    /// The one of this name that an earlier step of the same plan makes.
    Named(String),
}

/// What a new group is created with; nothing is left for AWS to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateGroup {
    /// Group name.
    pub name: String,
    /// Its template, always with version `$Latest`.
    pub template: TemplateRef,
    /// Lower bound.
    pub min: u32,
    /// Upper bound.
    pub max: u32,
    /// Desired capacity.
    pub desired: u32,
    /// Subnet ids, in zone order.
    pub subnets: Vec<String>,
    /// Capacity rebalancing (Spot).
    pub capacity_rebalance: bool,
    /// Tags, none propagated at launch.
    pub tags: Tags,
}

/// Changes to a group: only what is `Some` is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpdateGroup {
    /// Group name.
    pub name: String,
    /// New template, with version `$Latest`.
    pub template: Option<TemplateRef>,
    /// New lower bound.
    pub min: Option<u32>,
    /// New upper bound.
    pub max: Option<u32>,
    /// New desired capacity; never set while autoscaling is on.
    pub desired: Option<u32>,
    /// New subnets, in zone order.
    pub subnets: Option<Vec<String>>,
    /// New health check type; always `EC2`.
    pub health_check_type: Option<String>,
    /// New capacity rebalancing.
    pub capacity_rebalance: Option<bool>,
}

/// One write to AWS with every field that AWS will receive. The adapter only translates.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// `s3:PutObject`: content type `application/octet-stream`, SSE AES256, the checksum stored.
    PutObject {
        /// Bucket.
        bucket: String,
        /// Key.
        key: String,
        /// Body.
        body: Payload,
        /// Exactly these tags.
        tags: Tags,
    },
    /// `s3:DeleteObject`.
    DeleteObject {
        /// Bucket.
        bucket: String,
        /// Key.
        key: String,
    },
    /// `ec2:CreateLaunchTemplate`.
    CreateTemplate {
        /// Template name.
        name: String,
        /// Description of version 1.
        description: String,
        /// Data of version 1.
        data: Box<TemplateData>,
        /// Tags of the template itself.
        tags: Tags,
    },
    /// `ec2:CreateLaunchTemplateVersion`.
    CreateTemplateVersion {
        /// Template id.
        template_id: String,
        /// Description.
        description: String,
        /// Data; nothing is inherited from another version.
        data: Box<TemplateData>,
    },
    /// `ec2:ModifyLaunchTemplate`.
    SetDefaultVersion {
        /// Template id.
        template_id: String,
        /// Version number; `None` is the one that the step before made.
        version: Option<u64>,
    },
    /// `ec2:DeleteLaunchTemplateVersions`, at most 200 a call.
    DeleteTemplateVersions {
        /// Template id.
        template_id: String,
        /// Version numbers.
        versions: Vec<u64>,
    },
    /// `ec2:DeleteLaunchTemplate`.
    DeleteTemplate {
        /// Template id.
        template_id: String,
    },
    /// `ec2:CreateTags` on a launch template.
    TagTemplate {
        /// Template id.
        template_id: String,
        /// Tags to set.
        tags: Tags,
    },
    /// `ec2:DeleteTags` on a launch template.
    UntagTemplate {
        /// Template id.
        template_id: String,
        /// Keys to remove.
        keys: BTreeSet<String>,
    },
    /// `autoscaling:CreateAutoScalingGroup`.
    CreateGroup(CreateGroup),
    /// `autoscaling:UpdateAutoScalingGroup`.
    UpdateGroup(UpdateGroup),
    /// `autoscaling:CreateOrUpdateTags`, none propagated at launch.
    TagGroup {
        /// Group name.
        group: String,
        /// Tags to set.
        tags: Tags,
    },
    /// `autoscaling:DeleteTags`.
    UntagGroup {
        /// Group name.
        group: String,
        /// Keys to remove.
        keys: BTreeSet<String>,
    },
    /// `autoscaling:SuspendProcesses`.
    SuspendProcess {
        /// Group name.
        group: String,
        /// Process, such as `AZRebalance`.
        process: String,
    },
    /// `autoscaling:ResumeProcesses`.
    ResumeProcess {
        /// Group name.
        group: String,
        /// Process, such as `Terminate`.
        process: String,
    },
    /// `autoscaling:PutScalingPolicy`: target tracking on `ASGAverageCPUUtilization`.
    PutPolicy {
        /// Group name.
        group: String,
        /// Policy name.
        name: String,
        /// Percent.
        target: f64,
    },
    /// `autoscaling:DeletePolicy`.
    DeletePolicy {
        /// Group name.
        group: String,
        /// Policy name.
        name: String,
    },
    /// `autoscaling:StartInstanceRefresh`: Rolling, 100/200 % healthy, `SkipMatching`, no desired
    /// configuration, protected instances refreshed, standby ones ignored.
    StartRefresh {
        /// Group name.
        group: String,
        /// Warmup in seconds.
        warmup_seconds: u32,
    },
    /// `autoscaling:CancelInstanceRefresh`.
    CancelRefresh {
        /// Group name.
        group: String,
    },
    /// `autoscaling:SetInstanceProtection` off, at most 50 instances a call.
    Unprotect {
        /// Group name.
        group: String,
        /// Instance ids.
        instances: Vec<String>,
    },
    /// `autoscaling:DeleteScheduledAction`.
    DeleteScheduledAction {
        /// Group name.
        group: String,
        /// Action name.
        name: String,
    },
    /// `autoscaling:DeleteWarmPool`, forced.
    DeleteWarmPool {
        /// Group name.
        group: String,
    },
    /// `autoscaling:DeleteAutoScalingGroup`.
    DeleteGroup {
        /// Group name.
        group: String,
        /// Whether members are terminated with it, hooks skipped.
        force: bool,
    },
}

/// What a successful write answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing worth keeping.
    Done,
    /// `CreateTemplate`: the new template's id.
    Template {
        /// Template id.
        id: String,
    },
    /// `CreateTemplateVersion`: the new version's number.
    Version(u64),
    /// `StartRefresh`: the refresh's id.
    Refresh(String),
}
