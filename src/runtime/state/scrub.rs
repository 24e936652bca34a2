//! Bootstrap data in a state that Terraform wrote.
//!
//! Terraform keeps every attribute of a resource, and so the bootstrap data itself as the content of the
//! S3 object. Until the first apply such resources pass through every write as they are, but never with that:
//! all content of the pool's own object becomes `null`, that of other objects where it is in force, in objects
//! that wait for their deletion, too. Content does not force a new object: a module that gets the pool back
//! plans to write it again, as it does with each new token.

use std::collections::BTreeSet;

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::{document, facts};
use crate::{contract::json::Json, model::plan::Address};

/// Types of resources that are objects in S3.
const OBJECTS: [&str; 2] = ["aws_s3_object", "aws_s3_bucket_object"];

/// Where an instance has its attributes; the second as states had them that a Terraform before 0.12 wrote.
const ATTRIBUTES: [&str; 2] = ["attributes", "attributes_flat"];

/// Where an object has its content; a data source has it as `body`.
const CONTENT: [&str; 3] = ["content", "content_base64", "body"];

/// Takes content out of the entries of resources: all of the pool's own object, whatever entry it is in, and of
/// others if `is_secret` says so of its base64; whether there was any.
pub(super) fn scrub(resources: &mut [Json], is_secret: &dyn Fn(&str) -> bool) -> bool {
    let own = own_keys(resources);
    let mut found = false;
    for resource in resources {
        if !document::text_of(resource, "type").is_some_and(|kind| OBJECTS.contains(&kind)) {
            continue;
        }
        let is_own = facts::address(resource) == Some(Address::Object);
        let Some(Json::Array(instances)) = member(resource, "instances") else { continue };
        for instance in instances {
            let is_own = is_own || keys(instance).any(|key| own.contains(key));
            let goes = |content: &str| is_own || is_secret(content);
            for name in ATTRIBUTES {
                found |= clear(instance, name, &goes);
            }
        }
    }
    found
}

/// The keys of the pool's own object; an earlier one waits for its deletion.
fn own_keys(resources: &[Json]) -> BTreeSet<String> {
    let own = resources.iter().filter(|entry| facts::address(entry) == Some(Address::Object));
    own.flat_map(|entry| document::items(entry.get("instances"))).flat_map(keys).map(str::to_owned).collect()
}

fn keys(instance: &Json) -> impl Iterator<Item = &str> {
    let key = |name: &&str| document::text_of(instance.get(name)?, "key");
    ATTRIBUTES.iter().filter_map(key)
}

fn clear(instance: &mut Json, attributes: &str, is_secret: &dyn Fn(&str) -> bool) -> bool {
    let Some(Json::Object(attributes)) = member(instance, attributes) else { return false };
    let mut found = false;
    for (name, value) in attributes.iter_mut().filter(|(name, _)| CONTENT.contains(&name.as_str())) {
        let Json::String(text) = value else { continue };
        let secret =
            if name == "content_base64" { is_secret(text) } else { is_secret(&STANDARD.encode(text)) };
        if secret {
            *value = Json::Null;
            found = true;
        }
    }
    found
}

fn member<'a>(value: &'a mut Json, name: &str) -> Option<&'a mut Json> {
    match value {
        Json::Object(members) => members.iter_mut().find(|(found, _)| found == name).map(|(_, value)| value),
        _ => None,
    }
}
