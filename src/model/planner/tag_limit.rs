//! AWS's limit on the tags of a resource, others' tags on it included.

use std::collections::BTreeSet;

use crate::{
    contract::{problem::Diagnostic, request::Tags},
    model::desired,
};

/// AWS's own tags, `aws:...`, do not count.
pub(super) const MOST: usize = desired::RESOURCE_TAGS;

/// How many tags a resource has once it has those that are wanted, and not those that go.
pub(super) fn count(now: &Tags, wanted: &Tags, remove: &BTreeSet<String>) -> usize {
    wanted.len() + others(now, wanted, remove).count()
}

/// The tags that stay though they are not the pool's.
fn others<'a>(
    now: &'a Tags,
    wanted: &'a Tags,
    remove: &'a BTreeSet<String>,
) -> impl Iterator<Item = &'a str> {
    let stays =
        |key: &&String| !wanted.contains_key(*key) && !remove.contains(*key) && !key.starts_with("aws:");
    now.keys().filter(stays).map(String::as_str)
}

/// An error if that is more than AWS allows and there is one to be added. What the inputs alone ask for was
/// counted when they were read.
pub(super) fn check(
    resource: &str,
    now: &Tags,
    wanted: &Tags,
    remove: &BTreeSet<String>,
) -> Option<Diagnostic> {
    let count = count(now, wanted, remove);
    let adds = wanted.keys().any(|key| !now.contains_key(key));
    (count > MOST && adds).then(|| {
        Diagnostic::error(
            format!("Too many tags on {resource}"),
            format!(
                "It would carry {count} tags, and AWS allows {MOST}. Not the pool's are {}. Take {} of them off, or \
                 as many out of additional_tags.",
                others(now, wanted, remove).collect::<Vec<_>>().join(", "),
                count - MOST
            ),
        )
    })
}
