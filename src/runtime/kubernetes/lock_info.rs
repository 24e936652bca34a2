//! What a lock says about its holder, in Terraform's JSON.

use std::{fmt, fs};

use k8s_openapi::jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::runtime::backend::Environment;

/// Who holds a lock and what for. Members and their order are Terraform's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct LockInfo {
    /// A UUID; the Lease's holder.
    #[serde(rename = "ID")]
    pub id: String,
    /// Terraform's name of it: `OperationTypeApply`.
    pub operation: String,
    /// Anything more; empty.
    pub info: String,
    /// `user@host`.
    pub who: String,
    /// Version of the program.
    pub version: String,
    /// When it was taken, RFC 3339 with up to nanoseconds, UTC.
    pub created: String,
    /// Empty: a Secret has no path.
    pub path: String,
}

impl LockInfo {
    /// A new lock, taken now.
    pub fn new(operation: impl Into<String>, who: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            id: Uuid::new_v4().to_string(),
            operation: operation.into(),
            info: String::new(),
            who: who.into(),
            version: version.into(),
            created: Timestamp::now().to_string(),
            path: String::new(),
        }
    }

    /// From the annotation; `None` if it is not such JSON, or has no ID.
    pub(super) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().filter(|info: &Self| !info.id.is_empty())
    }
}

/// As Terraform prints it.
impl fmt::Display for LockInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, operation, info, who, version, created, path } = self;
        let lines = [
            ("ID:", id),
            ("Path:", path),
            ("Operation:", operation),
            ("Who:", who),
            ("Version:", version),
            ("Created:", created),
            ("Info:", info),
        ];
        f.write_str("Lock Info:")?;
        lines
            .iter()
            .try_for_each(|(name, value)| write!(f, "\n  {}", format!("{name:<11}{value}").trim_end()))
    }
}

/// `user@host` as far as the environment and the kernel tell.
pub fn who(environment: Environment<'_>) -> String {
    let user = environment("USER").or_else(|| environment("LOGNAME")).unwrap_or_default();
    let host = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let host = host.or_else(|| environment("HOSTNAME")).unwrap_or_default();
    format!("{user}@{}", host.trim())
}
