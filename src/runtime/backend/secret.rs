//! Text that no log, error or debug output may show.

use serde::{Deserialize, Serialize};

/// A token, a password, a key. It has no `Debug` and no `Display`: showing it takes a deliberate call.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for the one place that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}
