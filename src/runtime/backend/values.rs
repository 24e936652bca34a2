//! What one setting may be: a name, a kind, and the way from a value to the field.

use std::collections::BTreeMap;

use super::{Exec, Secret, Settings};
use crate::contract::{json::Json, known, number::Decimal, quote};

/// How a setting is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Text or a bool: on the command line it stands as it is.
    Plain,
    /// A list, a map or a block: on the command line it is an HCL expression.
    Compound,
}

/// Every setting. `load_config_file` is one that Terraform itself has ceased to heed.
const SETTINGS: [(&str, Shape); 21] = [
    ("secret_suffix", Shape::Plain),
    ("namespace", Shape::Plain),
    ("labels", Shape::Compound),
    ("in_cluster_config", Shape::Plain),
    ("load_config_file", Shape::Plain),
    ("host", Shape::Plain),
    ("username", Shape::Plain),
    ("password", Shape::Plain),
    ("insecure", Shape::Plain),
    ("tls_server_name", Shape::Plain),
    ("client_certificate", Shape::Plain),
    ("client_key", Shape::Plain),
    ("cluster_ca_certificate", Shape::Plain),
    ("config_path", Shape::Plain),
    ("config_paths", Shape::Compound),
    ("config_context", Shape::Plain),
    ("config_context_auth_info", Shape::Plain),
    ("config_context_cluster", Shape::Plain),
    ("token", Shape::Plain),
    ("proxy_url", Shape::Plain),
    ("exec", Shape::Compound),
];

/// How the setting of that name is written; `None` if there is none.
pub(super) fn shape(name: &str) -> Option<Shape> {
    SETTINGS.iter().find(|(known, _)| *known == name).map(|(_, shape)| *shape)
}

/// What to say about a name that is no setting.
pub(super) fn unknown(name: &str) -> String {
    let meant = known::nearest(name, SETTINGS.map(|(known, _)| known));
    let hint = meant.map(|meant| format!(" Did you mean {meant:?}?")).unwrap_or_default();
    format!("The kubernetes backend has no setting \"{}\".{hint}", quote::within_quotes(name))
}

impl Settings {
    /// Takes over one setting; a value that means "not given" clears it. Errors never quote the value.
    pub(super) fn set(&mut self, name: &str, value: &Json) -> Result<(), String> {
        match name {
            "secret_suffix" => self.secret_suffix = text(value)?,
            "namespace" => self.namespace = text(value)?,
            "labels" => self.labels = map(value)?,
            "in_cluster_config" => self.in_cluster_config = flag(value)?,
            "load_config_file" => drop(flag(value)?),
            "host" => self.host = text(value)?,
            "username" => self.username = text(value)?,
            "password" => self.password = text(value)?.map(Secret::new),
            "insecure" => self.insecure = flag(value)?,
            "tls_server_name" => self.tls_server_name = text(value)?,
            "client_certificate" => self.client_certificate = text(value)?,
            "client_key" => self.client_key = text(value)?.map(Secret::new),
            "cluster_ca_certificate" => self.cluster_ca_certificate = text(value)?,
            "config_path" => self.config_path = text(value)?,
            "config_paths" => self.config_paths = list(value)?.filter(|paths| !paths.is_empty()),
            "config_context" => self.config_context = text(value)?,
            "config_context_auth_info" => self.config_context_auth_info = text(value)?,
            "config_context_cluster" => self.config_context_cluster = text(value)?,
            "token" => self.token = text(value)?.map(Secret::new),
            "proxy_url" => self.proxy_url = text(value)?.map(Secret::new),
            "exec" => self.exec = exec(value)?,
            _ => return Err(unknown(name)),
        }
        Ok(())
    }
}

/// Text; numbers and bools become text as they do in Terraform.
fn scalar(value: &Json) -> Result<String, String> {
    match value {
        Json::String(text) => Ok(text.clone()),
        Json::Bool(flag) => Ok(flag.to_string()),
        Json::Number(number) => {
            Decimal::parse(number).and_then(|n| n.plain()).ok_or_else(|| "is a number without end".to_owned())
        }
        other => Err(format!("is {}, wanted text", other.kind())),
    }
}

fn text(value: &Json) -> Result<Option<String>, String> {
    match value {
        Json::Null => Ok(None),
        value => Ok(Some(scalar(value)?).filter(|text| !text.is_empty())),
    }
}

fn flag(value: &Json) -> Result<Option<bool>, String> {
    match value {
        Json::Null => Ok(None),
        Json::Bool(flag) => Ok(Some(*flag)),
        value => match scalar(value)?.as_str() {
            "" => Ok(None),
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Some(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Some(false)),
            _ => Err("is neither true nor false".to_owned()),
        },
    }
}

fn list(value: &Json) -> Result<Option<Vec<String>>, String> {
    match value {
        Json::Null => Ok(None),
        Json::Array(items) => items.iter().map(scalar).collect::<Result<_, _>>().map(Some),
        other => Err(format!("is {}, wanted a list of texts", other.kind())),
    }
}

fn map(value: &Json) -> Result<Option<BTreeMap<String, String>>, String> {
    match value {
        Json::Null => Ok(None),
        Json::Object(fields) => {
            let entry = |(key, value): &(String, Json)| match value {
                Json::Null => Ok((key.clone(), String::new())),
                value => scalar(value)
                    .map(|text| (key.clone(), text))
                    .map_err(|fault| format!("has a key {key:?} that {fault}")),
            };
            fields.iter().map(entry).collect::<Result<_, _>>().map(Some)
        }
        other => Err(format!("is {}, wanted a map of texts", other.kind())),
    }
}

/// A block may stand as an object or, as Terraform's JSON syntax has it, as a list of one object.
fn exec(value: &Json) -> Result<Option<Exec>, String> {
    let block = match value {
        Json::Null => return Ok(None),
        Json::Array(blocks) => match blocks.as_slice() {
            [] => return Ok(None),
            [one] => one,
            _ => return Err("is there more than once".to_owned()),
        },
        value => value,
    };
    let Json::Object(fields) = block else {
        return Err(format!("is {}, wanted a block", block.kind()));
    };
    let mut args = Vec::new();
    let mut env = BTreeMap::new();
    let (mut api_version, mut command) = (None, None);
    for (name, value) in fields {
        let within = |fault: String| format!("has {name:?} that {fault}");
        match name.as_str() {
            "api_version" => api_version = text(value).map_err(within)?,
            "command" => command = text(value).map_err(within)?,
            "args" => args = list(value).map_err(within)?.unwrap_or_default(),
            "env" => env = map(value).map_err(within)?.unwrap_or_default(),
            _ => return Err(format!("has {name:?}, wanted api_version, command, args and env")),
        }
    }
    Ok(Some(Exec {
        api_version: api_version.ok_or("lacks api_version")?,
        command: command.ok_or("lacks command")?,
        args: args.into_iter().map(Secret::new).collect(),
        env: env.into_iter().map(|(name, value)| (name, Secret::new(value))).collect(),
    }))
}
