//! Terraform's state, version 4, as values: read, carried over, written. No I/O, no randomness.
//!
//! The state is a record for others: the controller reads its outputs, `state list` its resources, and
//! the Terraform module, should a pool be handed back to it, both. This program itself needs it for two
//! things only ([`facts()`]): the records of a pool that Terraform made, and where a pool lies whose
//! inputs no longer say so.
//!
//! Shape of a state, as Terraform 1.11 writes it: `version` (4), `terraform_version`, `serial` (one higher
//! with each new state), `lineage` (a UUID, kept for life), `outputs` (name -> `value`, `type`, and
//! `sensitive` if true), `resources`, `check_results`. Members that this program does not know are kept.
//! Bootstrap data is in none that this program writes, also where Terraform left it in one: see `scrub`.

mod document;
mod error;
mod facts;
mod live;
mod next;
mod resources;
mod scrub;
#[cfg(test)]
mod tests;
mod types;

use std::{collections::BTreeMap, fmt};

pub(in crate::runtime) use document::Written;
pub use error::StateError;
pub use facts::{Facts, facts};
pub use live::Live;
pub use next::{Placed, Recorded, ResourcesChange, next};
pub use resources::{ResourceNow, resources};

use crate::contract::{json::Json, number::Decimal};

/// The largest state that is read, in bytes.
pub const MAX_BYTES: usize = 64 * 1024 * 1024;

/// The only format that is read and written.
const FORMAT_VERSION: &str = "4";

/// The `terraform_version` of states that begin with this program: the last release that Terraform and
/// OpenTofu have in common, so that both take it for one of their own past. Neither refuses a state for
/// the release that wrote it, as long as it is well-formed (terraform 1.11.4 reads a `2.0.0`). The one
/// of a state found is kept.
pub const TERRAFORM_VERSION: &str = "1.5.7";

/// A state. Its `Debug` shows no value of it: one that Terraform wrote holds the bootstrap data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    terraform_version: String,
    serial: u64,
    lineage: String,
    /// Name -> `{value, type, sensitive}`.
    outputs: BTreeMap<String, Json>,
    resources: Vec<Json>,
    /// `check_results` and members that this program does not know.
    others: Vec<(String, Json)>,
}

/// One output of the root.
#[derive(Clone, PartialEq)]
pub struct OutputValue {
    /// The value.
    pub value: serde_json::Value,
    /// Whether it is kept off screens.
    pub sensitive: bool,
}

impl fmt::Debug for OutputValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.sensitive { f.write_str("(sensitive)") } else { self.value.fmt(f) }
    }
}

/// The type of an output's value in Terraform's notation: `["list", "string"]`, `"number"`.
pub fn output_type(name: &str, value: &serde_json::Value) -> serde_json::Value {
    document::to_value(&types::output_type(name, &document::from_value(value)))
}

impl State {
    /// Reads a state of at most [`MAX_BYTES`].
    pub fn parse(bytes: &[u8]) -> Result<Self, StateError> {
        if bytes.len() > MAX_BYTES {
            return Err(StateError::TooLarge(MAX_BYTES));
        }
        if bytes.trim_ascii().is_empty() {
            return Err(StateError::Json("is empty".to_owned()));
        }
        let members = match Json::parse_within(bytes, MAX_BYTES)? {
            Json::Object(members) => members,
            other => return Err(foreign(format!("It holds {}, and a state is an object", other.kind()))),
        };
        check_format(&members)?;
        let mut state = Self {
            terraform_version: String::new(),
            serial: 0,
            lineage: String::new(),
            outputs: BTreeMap::new(),
            resources: Vec::new(),
            others: Vec::new(),
        };
        for (name, value) in members {
            match name.as_str() {
                "version" => {}
                "terraform_version" => state.terraform_version = string("terraform_version", value)?,
                "serial" => state.serial = serial(&value)?,
                "lineage" => state.lineage = string("lineage", value)?,
                "outputs" => state.outputs = outputs(value)?,
                "resources" => state.resources = resource_list(value)?,
                _ => state.others.push((name, value)),
            }
        }
        Ok(state)
    }

    /// The state as text, as Terraform lays it out.
    pub fn render(&self) -> Vec<u8> {
        let mut members = vec![
            ("version".to_owned(), Json::Number(FORMAT_VERSION.to_owned())),
            ("terraform_version".to_owned(), document::string(&self.terraform_version)),
            ("serial".to_owned(), Json::Number(self.serial.to_string())),
            ("lineage".to_owned(), document::string(&self.lineage)),
            ("outputs".to_owned(), Json::Object(self.outputs.clone().into_iter().collect())),
            ("resources".to_owned(), Json::Array(self.resources.clone())),
        ];
        members.extend(self.others.iter().cloned());
        document::write(&Json::Object(members))
    }

    /// Takes out the content of S3 objects, which a state of Terraform's holds: of the pool's own one in any case, of
    /// others if `is_secret` says so of its base64; whether there was any.
    pub fn scrub(&mut self, is_secret: &dyn Fn(&str) -> bool) -> bool {
        scrub::scrub(&mut self.resources, is_secret)
    }

    /// The release that wrote it.
    pub fn terraform_version(&self) -> &str {
        &self.terraform_version
    }

    /// Its number; a later state of one lineage has a higher one.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// What all states of one pool have in common; empty if the state found has none.
    pub fn lineage(&self) -> &str {
        &self.lineage
    }

    /// The outputs by name.
    pub fn outputs(&self) -> BTreeMap<String, OutputValue> {
        let output = |entry: &Json| OutputValue {
            value: entry.get("value").map_or(serde_json::Value::Null, document::to_value),
            sensitive: is_sensitive(entry),
        };
        self.outputs.iter().map(|(name, entry)| (name.clone(), output(entry))).collect()
    }

    /// The addresses of everything in it, data sources included, in the order of the state: what
    /// `state list` prints.
    pub fn addresses(&self) -> Vec<String> {
        let mut addresses: Vec<String> = Vec::new();
        for resource in &self.resources {
            for instance in document::items(resource.get("instances")) {
                let address = instance_address(resource, instance);
                if addresses.last() != Some(&address) {
                    addresses.push(address);
                }
            }
        }
        addresses
    }
}

/// `[MODULE.][data.]TYPE.NAME[INDEX]`.
fn instance_address(resource: &Json, instance: &Json) -> String {
    let member = |name: &str| document::text_of(resource, name).unwrap_or_default();
    let module = document::text_of(resource, "module").map(|m| format!("{m}.")).unwrap_or_default();
    let mode = if member("mode") == "data" { "data." } else { "" };
    let index = match instance.get("index_key") {
        Some(Json::Number(number)) => format!("[{number}]"),
        Some(Json::String(key)) => format!("[\"{}\"]", key.replace('\\', "\\\\").replace('"', "\\\"")),
        _ => String::new(),
    };
    format!("{module}{mode}{}.{}{index}", member("type"), member("name"))
}

/// Whether an entry of `outputs` is sensitive; Terraform writes the member only if it is.
fn is_sensitive(entry: &Json) -> bool {
    entry.get("sensitive") == Some(&Json::Bool(true))
}

fn foreign(what: impl Into<String>) -> StateError {
    StateError::Foreign(what.into())
}

fn check_format(members: &[(String, Json)]) -> Result<(), StateError> {
    let member = |name: &str| members.iter().find(|(found, _)| found == name).map(|(_, value)| value);
    if member("encryption_version").is_some() || member("encrypted_data").is_some() {
        return Err(StateError::Encrypted);
    }
    match member("version").map(whole) {
        Some(Some(4)) => Ok(()),
        Some(Some(other)) => Err(StateError::Version(other)),
        Some(None) => Err(foreign("Its version is no whole number")),
        None => Err(foreign("It is JSON without the version that every state has")),
    }
}

fn whole(value: &Json) -> Option<u64> {
    match value {
        Json::Number(number) => Decimal::parse(number)?.plain()?.parse().ok(),
        _ => None,
    }
}

/// Half of what fits, so that the next one fits in any case.
fn serial(value: &Json) -> Result<u64, StateError> {
    whole(value)
        .filter(|serial| i64::try_from(*serial).is_ok())
        .ok_or_else(|| foreign("Its serial is no whole number, or absurdly large"))
}

fn string(name: &str, value: Json) -> Result<String, StateError> {
    match value {
        Json::String(text) => Ok(text),
        Json::Null => Ok(String::new()),
        other => Err(foreign(format!("Its {name} is {}, not a string", other.kind()))),
    }
}

fn outputs(value: Json) -> Result<BTreeMap<String, Json>, StateError> {
    let members = match value {
        Json::Object(members) => members,
        Json::Null => Vec::new(),
        other => return Err(foreign(format!("Its outputs are {}, not an object", other.kind()))),
    };
    if members.iter().any(|(_, entry)| entry.get("value").is_none() || entry.get("type").is_none()) {
        return Err(foreign("One of its outputs has no value or no type"));
    }
    Ok(members.into_iter().collect())
}

fn resource_list(value: Json) -> Result<Vec<Json>, StateError> {
    let resources = match value {
        Json::Array(resources) => resources,
        Json::Null => Vec::new(),
        other => return Err(foreign(format!("Its resources are {}, not a list", other.kind()))),
    };
    for resource in &resources {
        let named =
            ["mode", "type", "name"].iter().all(|member| document::text_of(resource, member).is_some());
        let instances = resource.get("instances");
        if !named
            || !matches!(instances, Some(Json::Array(_)))
            || document::items(instances).iter().any(|i| !matches!(i, Json::Object(_)))
        {
            return Err(foreign("One of its resources has no mode, type, name or list of instances"));
        }
    }
    Ok(resources)
}
