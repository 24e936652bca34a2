//! What a state that Terraform wrote holds, and none that this program writes: secrets.
//!
//! Terraform keeps every attribute of a resource, and so the bootstrap data itself as the content of the
//! S3 object. Content does not force a new object: a module that gets the pool back plans to write it
//! again, as it does with each new token. So it becomes `null`, in objects that wait for their deletion,
//! too. The same happens to whatever else an AWS resource has that the state itself marks as sensitive,
//! unless it identifies the resource.

use super::document;
use crate::contract::json::Json;

/// Types of resources that are objects in S3.
const OBJECTS: [&str; 2] = ["aws_s3_object", "aws_s3_bucket_object"];

/// Where an object has its content; a data source has it as `body`.
const CONTENT: [&str; 3] = ["content", "content_base64", "body"];

/// What identifies a resource or would force a new one: it stays, whatever a state says of it.
const IDENTITY: [&str; 9] = [
    "arn",
    "autoscaling_group_name",
    "bucket",
    "id",
    "initial_lifecycle_hook",
    "key",
    "name",
    "name_prefix",
    "region",
];

/// Takes the secrets out of the entries of resources; whether there were any.
pub(super) fn scrub(resources: &mut [Json]) -> bool {
    let mut found = false;
    for resource in resources {
        let kind = document::text_of(resource, "type").unwrap_or_default().to_owned();
        if !kind.starts_with("aws_") {
            continue;
        }
        let is_object = OBJECTS.contains(&kind.as_str());
        let Some(Json::Array(instances)) = member(resource, "instances") else { continue };
        for instance in instances {
            let marked = marked(instance);
            let secret = |name: &str| {
                (is_object && CONTENT.contains(&name))
                    || (marked.iter().any(|marked| marked == name) && !IDENTITY.contains(&name))
            };
            found |= clear(instance, "attributes", &secret);
            // As states had them that a Terraform before 0.12 wrote.
            found |= clear(instance, "attributes_flat", &secret);
        }
    }
    found
}

/// The attributes that an instance marks as sensitive, in whole or in part.
fn marked(instance: &Json) -> Vec<String> {
    document::items(instance.get("sensitive_attributes"))
        .iter()
        .filter_map(|path| document::text_of(document::items(Some(path)).first()?, "value"))
        .map(str::to_owned)
        .collect()
}

fn clear(instance: &mut Json, attributes: &str, secret: &impl Fn(&str) -> bool) -> bool {
    let Some(Json::Object(attributes)) = member(instance, attributes) else { return false };
    let mut found = false;
    for (_, value) in attributes.iter_mut().filter(|(name, value)| secret(name) && *value != Json::Null) {
        *value = Json::Null;
        found = true;
    }
    found
}

fn member<'a>(value: &'a mut Json, name: &str) -> Option<&'a mut Json> {
    match value {
        Json::Object(members) => members.iter_mut().find(|(found, _)| found == name).map(|(_, value)| value),
        _ => None,
    }
}
