//! SDK values to ours and back: the only place that unwraps the SDK's options. What AWS leaves out
//! and what it sends empty are the same here; a word that this program does not know stays text.

use std::fmt::Display;

use aws_smithy_types::DateTime;

use crate::clock::Timestamp;

mod extras;
mod group;
mod instance;
mod object;
mod requirements;
mod template;
mod template_extras;
#[cfg(test)]
mod template_tests;

pub(super) use group::{
    activity, group, group_keys, group_tags, newest_refresh_first, policy, refresh, template_specification,
};
pub(super) use instance::{image, instance};
pub(super) use object::object;
pub(super) use template::{ec2_keys, ec2_tags, tag_specification, template, template_request, version};

/// Text, empty if absent.
pub(super) fn text(value: Option<impl Display>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// Text, absent if empty.
fn filled(value: Option<impl Display>) -> Option<String> {
    value.map(|value| value.to_string()).filter(|text| !text.is_empty())
}

/// A count; AWS has no negative ones.
pub(super) fn count(value: Option<i32>) -> Option<u32> {
    value.and_then(|value| u32::try_from(value).ok())
}

/// A count for AWS. None of ours reaches the limit.
pub(super) fn number(value: u32) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

/// A version number.
fn serial(value: Option<i64>) -> u64 {
    value.and_then(|value| u64::try_from(value).ok()).unwrap_or_default()
}

fn moment(value: Option<&DateTime>) -> Option<Timestamp> {
    value.and_then(|value| value.to_millis().ok()).map(Timestamp)
}
