//! What the cluster's own role exports for its pools, schema `captf.io/aws-cluster/v1`.

use std::collections::BTreeMap;

use super::ids::{BucketName, Region, SecurityGroupId, SubnetId};

/// The schema this program understands.
pub const SCHEMA: &str = "captf.io/aws-cluster/v1";

/// Complete exports: everything a pool needs of its cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exports {
    /// The cluster's region.
    pub region: Region,
    /// The id in the `kubernetes.io/cluster/<id>` tag.
    pub kubernetes_cluster_id: String,
    /// Zone -> subnet; never empty.
    pub failure_domains: BTreeMap<String, SubnetId>,
    /// Security groups of worker nodes, in the order given; never empty.
    pub worker_security_groups: Vec<SecurityGroupId>,
    /// The name of the workers' IAM instance profile.
    pub worker_instance_profile: String,
    /// Where bootstrap data is staged.
    pub bootstrap_bucket: BucketName,
}
