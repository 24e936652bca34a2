//! The node labels that new members register, as the user data of the live launch template has them.

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{Compared, Current, Seen};
use crate::{
    contract::request::{Scope, Tags},
    model::{labels, names::hex, userdata},
};

/// The node labels of a pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LabelsStatus {
    /// How many new members register; `None` if that is not known.
    pub count: Option<usize>,
    /// The first 8 hex digits of a SHA-256 over what is registered: equal labels have equal ones.
    pub digest: Option<String>,
    /// What is registered.
    pub registered: Option<Tags>,
    /// Whether that is what the inputs ask for; `None` where one of them is not known.
    pub as_asked: Option<bool>,
    /// Of the inputs, sorted names of labels that a kubelet may not set on itself.
    pub dropped: Vec<String>,
}

/// Short inputs may leave the labels out, so that they ask for some only where the pool was compared with them.
pub(super) fn labels(
    scope: &Scope,
    seen: &Seen,
    current: Option<&Current<'_>>,
    compared: Compared<'_>,
) -> LabelsStatus {
    let (asked, dropped) = labels::split(&scope.node_labels);
    let registered = current
        .and_then(|current| current.version_of(seen))
        .and_then(|version| userdata::registered(version.data.user_data.as_deref().unwrap_or_default()));
    let is_compared = matches!(compared, Compared::With(_));
    LabelsStatus {
        count: registered.as_ref().map(Tags::len),
        digest: registered.as_ref().map(digest),
        as_asked: registered.as_ref().filter(|_| is_compared).map(|live| *live == asked),
        registered,
        dropped,
    }
}

fn digest(labels: &Tags) -> String {
    let text: Vec<String> = labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
    hex(&Sha256::digest(text.join(",")), 8)
}
