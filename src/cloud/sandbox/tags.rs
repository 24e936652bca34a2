//! The limits on tags.

use super::fault::Fault;
use crate::contract::request::Tags;

/// Tags that one resource may carry.
const LIMIT: usize = 50;
/// Tags that one S3 object may carry.
const OBJECT_LIMIT: usize = 10;

/// What is wrong with one tag, if anything. Letters, digits, white space and `_ . : / = + - @` are
/// what every service allows.
fn problem(key: &str, value: &str) -> Option<String> {
    let allowed = |c: char| c.is_alphanumeric() || c.is_whitespace() || "_.:/=+-@".contains(c);
    if key.is_empty() {
        Some("Tag key cannot be empty.".to_owned())
    } else if key.chars().count() > 128 {
        Some(format!("Tag key exceeds the maximum length of 128 characters: {key}"))
    } else if value.chars().count() > 256 {
        Some(format!("Tag value exceeds the maximum length of 256 characters, key: {key}"))
    } else if key.to_lowercase().starts_with("aws:") {
        Some(format!("Tag keys starting with 'aws:' are reserved for internal use: {key}"))
    } else if !key.chars().chain(value.chars()).all(allowed) {
        Some(format!("Tag key or value contains a character that is not allowed, key: {key}"))
    } else {
        None
    }
}

fn first_problem(tags: &Tags) -> Option<String> {
    tags.iter().find_map(|(key, value)| problem(key, value))
}

/// Tags of a group: those of a request, and how many it has in all afterwards.
pub(super) fn check_group(tags: &Tags, total: usize) -> Result<(), Fault> {
    match first_problem(tags) {
        Some(problem) => Err(Fault::validation(problem)),
        None if total > LIMIT => Err(Fault::new(
            "LimitExceeded",
            format!("The tag limit of {LIMIT} per Auto Scaling group has been exceeded"),
        )),
        None => Ok(()),
    }
}

/// Tags of an EC2 resource: those of a request, and how many it has in all afterwards.
pub(super) fn check_ec2(tags: &Tags, total: usize) -> Result<(), Fault> {
    match first_problem(tags) {
        Some(problem) => Err(Fault::new("InvalidParameterValue", problem)),
        None if total > LIMIT => Err(Fault::new(
            "TagLimitExceeded",
            format!("The maximum number of tags for a resource has been reached ({LIMIT})"),
        )),
        None => Ok(()),
    }
}

/// All tags of an S3 object.
pub(super) fn check_object(tags: &Tags) -> Result<(), Fault> {
    if tags.len() > OBJECT_LIMIT {
        return Err(Fault::new("BadRequest", "Object tags cannot be greater than 10"));
    }
    first_problem(tags).map_or(Ok(()), |problem| Err(Fault::new("InvalidTag", problem)))
}
