//! Why a state was refused. No message quotes a value of the state: any may be a secret.

use crate::contract::{json::JsonError, problem::Diagnostic};

/// Why a state was refused. Whoever meets one writes nothing in its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// More bytes than are read.
    #[error("The state is larger than {} MiB", .0 / 1024 / 1024)]
    TooLarge(usize),
    /// No well-formed JSON, or a key twice.
    #[error("The state is not readable")]
    Json(String),
    /// Encrypted by OpenTofu.
    #[error("The state is encrypted by OpenTofu")]
    Encrypted,
    /// Terraform's, but of a format that this program does not read.
    #[error("The state has format version {0}; only version 4 is read")]
    Version(u64),
    /// JSON, but no state.
    #[error("The state is none of Terraform's or OpenTofu's")]
    Foreign(String),
}

impl StateError {
    /// What went wrong and what to do, for people.
    pub fn diagnostic(&self) -> Diagnostic {
        let detail = match self {
            Self::TooLarge(_) => {
                "A machine pool's state has a few kilobytes, 1000 members some hundred: this is another one, or \
                 it is damaged. Nothing was written."
                    .to_owned()
            }
            Self::Json(what) => format!("The state {what}. Nothing was written."),
            Self::Encrypted => {
                "It cannot be read here, and nothing was written in its place. Have OpenTofu write it plain once: \
                 make `unencrypted` the method of the state and the present method its fallback, and apply. \
                 Then run this program again."
                    .to_owned()
            }
            Self::Version(found) if *found > 4 => {
                "A later Terraform or OpenTofu wrote it. Use a later release of this program. Nothing was \
                 written."
                    .to_owned()
            }
            Self::Version(_) => "A Terraform before 0.12 wrote it. Apply once with a Terraform of 0.12 or later, \
                                 which writes version 4. Nothing was written."
                .to_owned(),
            Self::Foreign(what) => format!("{what}. Nothing was written."),
        };
        Diagnostic::error(self.to_string(), detail)
    }
}

impl From<JsonError> for StateError {
    /// Keeps the reason and the place, not the keys on the way.
    fn from(error: JsonError) -> Self {
        let place = error
            .position
            .map(|(line, column)| format!(" (line {line}, column {column})"))
            .unwrap_or_default();
        Self::Json(format!("{}{place}", error.reason))
    }
}
