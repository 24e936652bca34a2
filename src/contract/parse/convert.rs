//! From JSON to the wanted type, as Terraform converts.

use std::{collections::BTreeMap, ops::RangeInclusive, str::FromStr};

use super::fault::{Fault, Faults, key_place};
use crate::contract::{ids::Malformed, json::Json, number::Decimal};

/// The largest whole number that AWS and Kubernetes take for counts and seconds.
pub(super) const MAX_COUNT: u32 = i32::MAX.unsigned_abs();

/// A text. A number or bool becomes its text.
pub(super) fn text(json: &Json) -> Result<String, Fault> {
    match json {
        Json::String(text) => Ok(text.clone()),
        Json::Bool(value) => Ok(value.to_string()),
        Json::Number(text) => Decimal::parse(text)
            .and_then(|number| number.plain())
            .ok_or_else(|| Fault::new("is a number too long to be written out, but must be a string")),
        Json::Null | Json::Array(_) | Json::Object(_) => Err(Fault::unlike(json, "a string")),
    }
}

/// A text that passes a check; `wanted` says what it must be.
pub(super) fn text_like(
    json: &Json,
    wanted: &str,
    check: impl FnOnce(&str) -> bool,
) -> Result<String, Fault> {
    if matches!(json, Json::Null | Json::Array(_) | Json::Object(_)) {
        return Err(Fault::unlike(json, wanted));
    }
    text(json).and_then(|text| if check(&text) { Ok(text) } else { Err(Fault::unlike(json, wanted)) })
}

/// A text that is one of a few words.
pub(super) fn one_of(json: &Json, words: &[&str]) -> Result<String, Fault> {
    text_like(json, &words.join(" or "), |text| words.contains(&text))
}

/// Optional text: `""` is the same as none.
pub(super) fn optional<T>(
    json: &Json,
    read: impl FnOnce(&Json) -> Result<T, Fault>,
) -> Result<Option<T>, Fault> {
    match json {
        Json::String(text) if text.is_empty() => Ok(None),
        _ => read(json).map(Some),
    }
}

/// A checked name.
pub(super) fn name<T: FromStr<Err = Malformed>>(json: &Json) -> Result<T, Fault> {
    text(json)?.parse().map_err(|Malformed(rule)| Fault::unlike(json, rule))
}

/// A bool, or its word in a string. `"1"` and `"0"` are Terraform's, too.
pub(super) fn boolean(json: &Json) -> Result<bool, Fault> {
    match json {
        Json::Bool(value) => Ok(*value),
        Json::String(text) if matches!(text.as_str(), "true" | "1") => Ok(true),
        Json::String(text) if matches!(text.as_str(), "false" | "0") => Ok(false),
        _ => Err(Fault::unlike(json, "a bool (true or false)")),
    }
}

/// An exact number, or its text in a string.
pub(super) fn number(json: &Json) -> Result<Decimal, Fault> {
    match json {
        Json::Number(text) | Json::String(text) => Decimal::parse(text),
        _ => None,
    }
    .ok_or_else(|| Fault::unlike(json, "a number"))
}

/// A whole number within a range.
pub(super) fn whole(json: &Json, range: RangeInclusive<u32>) -> Result<u32, Fault> {
    number(json).ok().and_then(|number| number.to_u32()).filter(|value| range.contains(value)).ok_or_else(
        || Fault::unlike(json, &format!("a whole number from {} to {}", range.start(), range.end())),
    )
}

/// The fields of an object.
pub(super) fn object<'a>(json: &'a Json, wanted: &str) -> Result<&'a [(String, Json)], Fault> {
    match json {
        Json::Object(fields) => Ok(fields),
        Json::String(text) if text.trim_start().starts_with('{') => Err(Fault::new(format!(
            "is a string that holds an object; write {wanted} without quotes around it"
        ))),
        _ => Err(Fault::unlike(json, wanted)),
    }
}

/// An attribute of an object that must be there.
pub(super) fn attribute<T>(
    object: &Json,
    name: &str,
    read: impl FnOnce(&Json) -> Result<T, Fault>,
) -> Result<T, Fault> {
    match object.get(name).filter(|value| **value != Json::Null) {
        Some(value) => read(value),
        None => Err(Fault::new("is missing")),
    }
    .map_err(|fault| fault.within(&format!(".{name}")))
}

/// A list, each of its items read on its own.
pub(super) fn list<T>(
    json: &Json,
    wanted: &str,
    read: impl Fn(&Json) -> Result<T, Fault>,
) -> Result<Vec<T>, Faults> {
    let items = match json {
        Json::Array(items) => items,
        Json::String(text) if text.trim_start().starts_with('[') => {
            let complaint = format!("is a string that holds a list; write {wanted} without quotes around it");
            return Err(Fault::new(complaint).into());
        }
        _ => return Err(Fault::unlike(json, wanted).into()),
    };
    collect(
        items.iter().enumerate().map(|(index, item)| {
            read(item).map_err(|fault| Faults::from(fault.within(&format!("[{index}]"))))
        }),
    )
}

/// A map of texts, each of its entries checked on its own: what `check` answers follows the entry's path.
pub(super) fn map(
    json: &Json,
    wanted: &str,
    check: impl Fn(&str, &str) -> Vec<String>,
) -> Result<BTreeMap<String, String>, Faults> {
    let entries = object(json, wanted)?.iter().map(|(key, value)| {
        let place = key_place(key);
        let value = text(value).map_err(|fault| fault.within(&place))?;
        let faults: Vec<Fault> =
            check(key, &value).into_iter().map(|complaint| Fault::new(complaint).within(&place)).collect();
        if faults.is_empty() { Ok((key.clone(), value)) } else { Err(Faults(faults)) }
    });
    collect(entries).map(BTreeMap::from_iter)
}

/// All values, or all faults.
pub(super) fn collect<T>(read: impl Iterator<Item = Result<T, Faults>>) -> Result<Vec<T>, Faults> {
    let mut values = Vec::new();
    let mut faults = Vec::new();
    for result in read {
        match result {
            Ok(value) => values.push(value),
            Err(Faults(more)) => faults.extend(more),
        }
    }
    if faults.is_empty() { Ok(values) } else { Err(Faults(faults)) }
}

/// The values in the order given, each once.
pub(super) fn distinct(values: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    values.into_iter().filter(|value| seen.insert(value.clone())).collect()
}
