//! The types of outputs, in the notation of Terraform's state.
//!
//! A state names the type of each output's value, and Terraform compares it: a list is another value
//! than a tuple with the same items. What the Terraform module of this role computes with `sort(...)`
//! is a list of strings, empty or not. All else it writes as expressions in brackets and braces, which
//! are tuples and objects, with a type for each item: `["tuple", []]` for an empty list, `"dynamic"`
//! for a `null`. (Tried with terraform 1.11.4.)

use super::document;
use crate::contract::json::Json;

/// Outputs that the module computes with `sort(...)`.
const LISTS_OF_STRINGS: [&str; 2] = ["provider_id_list", "dropped_node_labels"];

/// The type of an output's value.
pub(super) fn output_type(name: &str, value: &Json) -> Json {
    match value {
        Json::Array(items)
            if LISTS_OF_STRINGS.contains(&name) && items.iter().all(|i| document::text(i).is_some()) =>
        {
            list_of_strings()
        }
        _ => inferred(value),
    }
}

/// `["list", "string"]`.
pub(super) fn list_of_strings() -> Json {
    Json::Array(vec![document::string("list"), document::string("string")])
}

/// `["object", {...}]`.
pub(super) fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Array(vec![document::string("object"), document::object(members)])
}

fn inferred(value: &Json) -> Json {
    match value {
        Json::Null => document::string("dynamic"),
        Json::Bool(_) => document::string("bool"),
        Json::Number(_) => document::string("number"),
        Json::String(_) => document::string("string"),
        Json::Array(items) => {
            Json::Array(vec![document::string("tuple"), Json::Array(items.iter().map(inferred).collect())])
        }
        Json::Object(members) => Json::Array(vec![
            document::string("object"),
            Json::Object(members.iter().map(|(name, value)| (name.clone(), inferred(value))).collect()),
        ]),
    }
}
