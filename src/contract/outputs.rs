//! The role's outputs, exactly as the contract has them.

use serde::Serialize;

/// The most entries of `provider_id_list` that the contract allows.
pub const MAX_PROVIDER_IDS: u32 = 10_000;

/// The names of the outputs, in the contract's order.
pub const NAMES: [&str; 8] = [
    "provider_id",
    "provider_id_list",
    "replicas",
    "instances",
    "health",
    "autoscaling_group_name",
    "dropped_node_labels",
    "launch_template_id",
];

/// Everything the role prints. The first five are the contract's, the last three are extras for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Outputs {
    /// The group's ARN; `None` while there is no group.
    pub provider_id: Option<String>,
    /// `aws:///<zone>/<instance-id>` of every live member, sorted, without duplicates.
    pub provider_id_list: Vec<String>,
    /// The group's desired capacity as observed; the `replicas` input while the group is gone.
    pub replicas: u32,
    /// The members, in the order of `provider_id_list`, at most 1000.
    pub instances: Vec<InstanceOutput>,
    /// What the controller reads as the pool's health.
    pub health: Health,
    /// The group's name.
    pub autoscaling_group_name: String,
    /// Sorted names of labels that a kubelet may not set on itself.
    pub dropped_node_labels: Vec<String>,
    /// The current template's id.
    pub launch_template_id: Option<String>,
}

/// One member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InstanceOutput {
    /// `aws:///<zone>/<instance-id>`.
    pub provider_id: String,
    /// The EC2 instance id.
    pub instance_id: String,
    /// Private addresses; empty while none is known.
    pub addresses: Vec<Address>,
    /// The zone.
    pub failure_domain: String,
    /// `pending`, `running`, `stopped` or `unknown`.
    pub state: String,
}

/// One address of a member, in Cluster API's terms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Address {
    /// `InternalIP`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The address itself.
    pub address: String,
}

/// The pool's health.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Health {
    /// `running`, `pending`, `stopped`, `unknown` or `terminated`.
    pub state: String,
    /// Whether everything is as wanted.
    pub healthy: bool,
    /// A short sentence for an operator.
    pub message: String,
    /// Machine-readable reasons, sorted within their kind.
    pub reasons: Vec<String>,
}
