//! One pool as asked for: every input and variable checked, every default filled in.

use std::collections::BTreeMap;

use super::{
    exports::Exports,
    ids::{BucketName, ImageId, Region, SecurityGroupId},
    payload::Payload,
    problem::Diagnostic,
};

/// AWS tags, sorted by key.
pub type Tags = BTreeMap<String, String>;

/// The tags that say whose a resource is; see [`Scope::identity`].
pub const IDENTITY_TAGS: [&str; 4] =
    ["captf.io/cluster", "captf.io/namespace", "captf.io/kind", "captf.io/name"];

/// What outputs and destroy need: names and, if known, a place. Read leniently, so that both work
/// with inputs that plan would refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// `captf_object.namespace`.
    pub namespace: String,
    /// `machinepool_name`.
    pub name: String,
    /// Those of [`IDENTITY_TAGS`] that the inputs give, at least namespace and kind; all four in a
    /// [`Request`].
    pub identity: Tags,
    /// The cluster's region, if the exports give a valid one.
    pub region: Option<Region>,
    /// The bootstrap bucket, if the exports give a valid one.
    pub bucket: Option<BucketName>,
    /// The `replicas` input, if it is a whole number.
    pub replicas: Option<u32>,
    /// The `node_labels` input, if it is a map of strings; else empty.
    pub node_labels: BTreeMap<String, String>,
    /// The `kubernetes_version` input, if it is a text.
    pub kubernetes_version: Option<String>,
    /// The `machine_image.id` input, if it is a text.
    pub machine_image_id: Option<String>,
}

/// A whole checked request, for plan and apply.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Names and place; here with region, bucket and replicas always set.
    pub scope: Scope,
    /// `captf_tags` as sent.
    pub captf_tags: Tags,
    /// The cluster's exports, complete.
    pub exports: Exports,
    /// The `replicas` input.
    pub replicas: u32,
    /// The bootstrap data, decoded.
    pub bootstrap_data: Payload,
    /// What kind of bootstrap data it is.
    pub bootstrap_format: BootstrapFormat,
    /// Zones asked for, without duplicates, in the order given; empty means the cluster's.
    pub failure_domains: Vec<String>,
    /// The cluster's own zones, without duplicates, in the order given; may be empty.
    pub cluster_failure_domains: Vec<String>,
    /// Kept verbatim; never an empty string.
    pub kubernetes_version: Option<String>,
    /// Labels asked for, dropped ones included.
    pub node_labels: BTreeMap<String, String>,
    /// Who sets the group's size, and within which bounds.
    pub autoscaling: Autoscaling,
    /// Extra security groups, in the order given.
    pub additional_security_group_ids: Vec<SecurityGroupId>,
    /// Extra tags.
    pub additional_tags: Tags,
    /// IMDS hop limit, 1 to 64.
    pub instance_metadata_hop_limit: u32,
    /// EC2 instance type.
    pub instance_type: String,
    /// Which image to launch.
    pub machine_image: MachineImage,
    /// The image that an earlier look-up found, to be launched without another; see [`Request::pin_image`].
    pub looked_up_image: Option<ImageId>,
    /// Whether instances get a public IPv4 address.
    pub public_ip: bool,
    /// Seconds that a roll waits after each new instance.
    pub rollout_instance_warmup_seconds: u32,
    /// ARN of the KMS key for root volumes.
    pub root_volume_kms_key_id: Option<String>,
    /// Size of the root volume in GiB, 8 to 16384.
    pub root_volume_size_gib: u32,
    /// `gp3` or `gp2`.
    pub root_volume_type: String,
    /// Whether to launch Spot Instances.
    pub spot: bool,
    /// EC2 key pair.
    pub ssh_key_name: Option<String>,
    /// What is odd about the inputs, but no error.
    pub warnings: Vec<Diagnostic>,
}

impl Request {
    /// Launches what an earlier look-up found, so that a plan made then still holds when a newer image has
    /// come since. No part of the roll key: it rolls nothing, and a pinned `machine_image.id` wins over it.
    pub fn pin_image(&mut self, image: ImageId) {
        self.looked_up_image = Some(image);
    }
}

/// The `bootstrap_format` input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BootstrapFormat {
    /// cloud-init's configuration.
    CloudConfig,
    /// An Ignition configuration (Flatcar).
    Ignition,
}

/// The `autoscaling` input together with the variables that shape it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Autoscaling {
    /// The group's size is the `replicas` input.
    Off,
    /// Something sets the desired capacity between the bounds.
    On {
        /// Lower bound.
        min: u32,
        /// Upper bound, at least `min`.
        max: u32,
        /// Who sets it.
        by: Autoscaler,
    },
}

impl Autoscaling {
    /// Whether something sets the desired capacity.
    pub fn is_on(&self) -> bool {
        matches!(self, Self::On { .. })
    }
}

/// Who sets the desired capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Autoscaler {
    /// Our target-tracking policy on average CPU, in percent (above 0, at most 100).
    Native(f64),
    /// Something outside, such as the Cluster Autoscaler; no policy of ours exists.
    External,
}

/// The `machine_image` variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineImage {
    /// A pinned AMI.
    pub id: Option<ImageId>,
    /// Whose images are searched: an account id, `self`, `amazon` or `aws-marketplace`.
    pub owner: String,
    /// Name pattern with `{semver}` or `{version}`.
    pub name_format: String,
    /// `x86_64` or `arm64`.
    pub architecture: String,
    /// The image's root device, such as `/dev/sda1`.
    pub root_device_name: String,
}
