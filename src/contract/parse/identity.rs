//! The tags that say whose a resource is, and how many tags a resource may carry.

use std::collections::BTreeSet;

use super::{
    cluster::CLUSTER_TAG, controller::Controller, fault::Report, syntax::is_tag_value, variables::Variables,
};
use crate::contract::{
    exports::Exports,
    quote::quoted,
    request::{IDENTITY_TAGS, Tags},
};

/// AWS's limit on the tags of one resource.
const MAX_TAGS: usize = 50;

/// The most tags that the pool adds to the common ones, on its launch template: three records. (The
/// group has two, an instance its `Name`.)
const OWN_TAGS: usize = 3;

/// The identity: what `captf_tags` says, else what `derived` has, in the order of [`IDENTITY_TAGS`].
///
/// `captf_tags` comes first because those tags are written, and what is written is what is compared
/// later. A value that AWS takes for no tag is as good as none.
pub(super) fn of(captf_tags: &Tags, derived: [Option<&str>; 4]) -> Tags {
    let value = |(key, derived): (&str, Option<&str>)| {
        let value =
            captf_tags.get(key).map(String::as_str).filter(|value| is_tag_value(value)).or(derived)?;
        is_tag_value(value).then(|| (key.to_owned(), value.to_owned()))
    };
    IDENTITY_TAGS.into_iter().zip(derived).filter_map(value).collect()
}

/// The identity in a whole set of inputs.
pub(super) fn of_controller(controller: &Controller) -> Tags {
    let object = &controller.object;
    let derived = [&controller.cluster_name, &object.namespace, &object.kind, &object.name];
    of(&controller.captf_tags, derived.map(|text| Some(text.as_str())))
}

/// Warns where `captf_tags` and `captf_object` name different owners.
///
/// No error: names come from `captf_object`, tags and their later comparison from `captf_tags`, so one
/// run agrees with the next, and a resource tagged otherwise is refused when it is found.
pub(super) fn warn_of_contradictions(report: &mut Report<'_>, controller: &Controller) {
    let object = &controller.object;
    let claims = [
        ("captf.io/namespace", "namespace", &object.namespace),
        ("captf.io/kind", "kind", &object.kind),
        ("captf.io/name", "name", &object.name),
    ];
    for (key, attribute, said) in claims {
        if let Some(tag) = controller.captf_tags.get(key).filter(|tag| *tag != said) {
            report.warn(
                "Inputs captf_tags and captf_object disagree",
                format!(
                    "captf_tags[\"{key}\"] is {}, but captf_object.{attribute} is {}. Resources are named after \
                     captf_object and carry the tags as they are.",
                    quoted(tag),
                    quoted(said)
                ),
            );
        }
    }
}

/// An error if some resource would carry more tags than AWS allows.
pub(super) fn check_tag_count(
    report: &mut Report<'_>,
    controller: &Controller,
    variables: &Variables,
    exports: &Exports,
) {
    let cluster_tag = format!("{CLUSTER_TAG}{}", exports.kubernetes_cluster_id);
    let identity = of_controller(controller);
    let keys: BTreeSet<&str> = [&variables.additional_tags, &controller.captf_tags, &identity]
        .into_iter()
        .flat_map(|tags| tags.keys().map(String::as_str))
        .chain([cluster_tag.as_str()])
        .collect();
    let total = keys.len() + OWN_TAGS;
    if total > MAX_TAGS {
        let detail = format!(
            "The launch template would carry {total} tags, but AWS allows {MAX_TAGS}: {} of additional_tags, the \
             others of captf_tags ({}), the cluster's and the pool's own. Take {} out of additional_tags.",
            variables.additional_tags.len(),
            controller.captf_tags.len(),
            total - MAX_TAGS
        );
        report.error("additional_tags", "Invalid value for additional_tags".to_owned(), detail);
    }
}
