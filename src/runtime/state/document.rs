//! JSON documents of the state: built, compared by meaning, and written as Terraform writes them.

use serde::{Serialize, Serializer, ser::Error as _};
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

use crate::contract::{json::Json, number::Decimal};

/// A JSON string.
pub(super) fn string(text: impl Into<String>) -> Json {
    Json::String(text.into())
}

/// A JSON string, or `null`.
pub(super) fn optional(text: Option<&str>) -> Json {
    text.map_or(Json::Null, string)
}

/// A JSON object with its members in this order.
pub(super) fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// The text of a JSON string; `None` for every other kind of value.
pub(super) fn text(value: &Json) -> Option<&str> {
    match value {
        Json::String(text) => Some(text),
        _ => None,
    }
}

/// The text of a string member.
pub(super) fn text_of<'a>(value: &'a Json, member: &str) -> Option<&'a str> {
    value.get(member).and_then(text)
}

/// The items of a list; none for every other kind of value.
pub(super) fn items(value: Option<&Json>) -> &[Json] {
    match value {
        Some(Json::Array(items)) => items,
        _ => &[],
    }
}

/// A `serde_json` value with its members sorted by name.
pub(super) fn from_value(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(truth) => Json::Bool(*truth),
        Value::Number(number) => Json::Number(number.to_string()),
        Value::String(text) => string(text),
        Value::Array(items) => Json::Array(items.iter().map(from_value).collect()),
        Value::Object(members) => {
            let mut members: Vec<(String, Json)> =
                members.iter().map(|(name, value)| (name.clone(), from_value(value))).collect();
            members.sort_by(|a, b| a.0.cmp(&b.0));
            Json::Object(members)
        }
    }
}

/// As a `serde_json` value. A number that it cannot hold exactly becomes the nearest double, and one
/// beyond every double its text.
pub(super) fn to_value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => {
            serde_json::from_str(number).unwrap_or_else(|_| Value::String(number.clone()))
        }
        Json::String(text) => Value::String(text.clone()),
        Json::Array(items) => Value::Array(items.iter().map(to_value).collect()),
        Json::Object(members) => {
            Value::Object(members.iter().map(|(name, value)| (name.clone(), to_value(value))).collect())
        }
    }
}

/// Whether two documents mean the same: the order of an object's members and the spelling of a number
/// do not matter.
pub(super) fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|((name, value), in_order)| {
                    let other = if *name == in_order.0 {
                        Some(&in_order.1)
                    } else {
                        b.iter().find(|(other, _)| other == name).map(|(_, value)| value)
                    };
                    other.is_some_and(|other| same(value, other))
                })
        }
        (Json::Array(a), Json::Array(b)) => all_same(a, b),
        (Json::Number(a), Json::Number(b)) => {
            a == b || Decimal::parse(a).is_some_and(|a| Decimal::parse(b) == Some(a))
        }
        _ => a == b,
    }
}

/// [`same`] for two lists.
pub(super) fn all_same(a: &[Json], b: &[Json]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
}

/// The text of a document, indented by two blanks, with a line feed at its end.
pub(super) fn write(document: &Json) -> Vec<u8> {
    // Only a number that is none could fail, and `Json` comes from a parser or from `serde_json`.
    let mut text = serde_json::to_vec_pretty(&Written(document)).unwrap_or_default();
    text.push(b'\n');
    text
}

/// Writes numbers with the text they were read with.
pub(in crate::runtime) struct Written<'a>(pub(in crate::runtime) &'a Json);

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(truth) => serializer.serialize_bool(*truth),
            Json::Number(number) => raw(number).map_err(S::Error::custom)?.serialize(serializer),
            Json::String(text) => serializer.serialize_str(text),
            Json::Array(items) => serializer.collect_seq(items.iter().map(Written)),
            Json::Object(members) => {
                serializer.collect_map(members.iter().map(|(name, value)| (name, Written(value))))
            }
        }
    }
}

fn raw(number: &str) -> Result<Box<RawValue>, serde_json::Error> {
    RawValue::from_string(number.to_owned()).or_else(|_| to_raw_value(number))
}
