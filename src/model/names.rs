//! Every name of a pool, computed from its namespace, its own name and its roll key.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::contract::request::Scope;

/// The scaling policy's name.
pub const POLICY: &str = "captf-cpu-target-tracking";

/// Lower-case hex digits that name a launch template: as many as Terraform's AWS provider recognises
/// as generated (`id.PrefixedUniqueId`), so that a pool handed back to it plans no replacement.
const ROLL_HASH_DIGITS: usize = 26;

/// The longest group name before its hash.
const GROUP_STEM_CHARS: usize = 54;

/// What makes a pool roll when it changes: nothing else does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RollKey {
    /// The Kubernetes version, verbatim.
    pub kubernetes_version: Option<String>,
    /// A pinned image id.
    pub machine_image_id: Option<String>,
}

impl RollKey {
    /// 26 lower-case hex digits of a SHA-256 over the pair. Parts are length-prefixed, so that no
    /// two pairs run together; an absent part is hashed as an empty one, which no input can be.
    pub fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        for part in [&self.kubernetes_version, &self.machine_image_id] {
            let text = part.as_deref().unwrap_or_default();
            hasher.update((text.len() as u64).to_be_bytes());
            hasher.update(text.as_bytes());
        }
        hex(&hasher.finalize(), ROLL_HASH_DIGITS)
    }
}

/// The names of one pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The Auto Scaling group.
    pub group: String,
    /// The bootstrap object's key.
    pub object_key: String,
}

impl Names {
    /// The names of a pool.
    pub fn of(scope: &Scope) -> Self {
        Self::from_parts(&scope.namespace, &scope.name)
    }

    /// The names of the pool `name` in `namespace`.
    pub fn from_parts(namespace: &str, name: &str) -> Self {
        let hash = hex(&Sha256::digest(format!("{namespace}/{name}")), 8);
        let mut stem: String = format!("captf-{namespace}-{name}")
            .to_lowercase()
            .chars()
            .map(|c| if c.is_ascii_lowercase() || c.is_ascii_digit() { c } else { '-' })
            .take(GROUP_STEM_CHARS)
            .collect();
        if stem.ends_with('-') {
            stem.pop();
        }
        Self { group: format!("{stem}-{hash}"), object_key: format!("pool/{name}") }
    }

    /// What all launch template names of this pool begin with.
    pub fn template_prefix(&self) -> String {
        format!("{}-", self.group)
    }

    /// The launch template made for a roll key.
    pub fn template(&self, key: &RollKey) -> String {
        format!("{}-{}", self.group, key.hash())
    }
}

/// The first `digits` lower-case hex digits of `bytes`.
pub(super) fn hex(bytes: &[u8], digits: usize) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text.truncate(digits);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answer() {
        let names = Names::from_parts("team-a", "demo-pool-0");
        assert_eq!(names.group, "captf-team-a-demo-pool-0-43c6d828");
        assert_eq!(names.object_key, "pool/demo-pool-0");
    }

    #[test]
    fn long_and_odd_names_are_cut_and_stay_distinct() {
        let long = Names::from_parts("team-a", &"x".repeat(200));
        assert_eq!(long.group.len(), 54 + 1 + 8);
        let dotted = Names::from_parts("team-a", "pool.one");
        let dashed = Names::from_parts("team-a", "pool-one");
        assert_eq!(dotted.group[..dotted.group.len() - 8], dashed.group[..dashed.group.len() - 8]);
        assert_ne!(dotted.group, dashed.group);
        // The cut falls right behind a hyphen: one hyphen goes.
        let cut = Names::from_parts("team-a", &format!("{}-tail", "y".repeat(40)));
        assert!(cut.group.starts_with(&format!("captf-team-a-{}-", "y".repeat(40))));
        assert!(!cut.group.contains("--"));
    }

    #[test]
    fn roll_keys_do_not_run_together() {
        let key = |version: Option<&str>, image: Option<&str>| RollKey {
            kubernetes_version: version.map(Into::into),
            machine_image_id: image.map(Into::into),
        };
        let keys = [
            key(None, None),
            key(Some("v1.31.4+rke2r1"), None),
            key(Some("v1.31.4+rke2r2"), None),
            key(None, Some("v1.31.4+rke2r1")),
            key(Some("v1.31.4+rke2r1"), Some("ami-0123")),
        ];
        let hashes: std::collections::BTreeSet<String> = keys.iter().map(RollKey::hash).collect();
        assert_eq!(hashes.len(), keys.len());
        assert!(hashes.iter().all(|h| h.len() == 26 && h.bytes().all(|b| b.is_ascii_hexdigit())));
    }
}
