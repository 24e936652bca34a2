//! Whose a resource under our names is. Nothing that is somebody else's is ever written to.

use std::fmt::Write as _;

use crate::contract::{
    problem::Diagnostic,
    request::{IDENTITY_TAGS, Tags},
};

/// A resource that could be somebody else's.
#[derive(Clone, Copy, Debug)]
pub enum Resource<'a> {
    /// An Auto Scaling group, by name.
    Group(&'a str),
    /// A launch template, by id and name.
    Template {
        /// Id.
        id: &'a str,
        /// Name.
        name: &'a str,
    },
    /// A bootstrap object.
    Object {
        /// Bucket.
        bucket: &'a str,
        /// Key.
        key: &'a str,
    },
}

/// Whether `tags` say that a resource belongs to the pool with this identity: none of the identity
/// tags differs, and at least one is there. Missing ones are mended by an apply.
pub fn is_ours(identity: &Tags, tags: &Tags) -> bool {
    differing(identity, tags).is_empty()
        && IDENTITY_TAGS.iter().any(|key| identity.contains_key(*key) && tags.contains_key(*key))
}

/// Refuses a resource that is not ours, names the tags that say so, and prints the command that would
/// hand it over.
pub fn check(resource: Resource<'_>, identity: &Tags, tags: &Tags) -> Result<(), Diagnostic> {
    if is_ours(identity, tags) {
        return Ok(());
    }
    let what = describe(resource);
    let differences = differing(identity, tags);
    let summary = if differences.is_empty() {
        format!("{what} is not known to be this pool's")
    } else {
        format!("{what} belongs to somebody else")
    };
    let found = found_tags(&differences);
    Err(Diagnostic::error(
        summary,
        format!(
            "{found}\nNothing was changed. Choose another name for the pool, or, if the resource really is \
             this pool's, hand it over first:\n\n  {}",
            tagging_command(resource, identity)
        ),
    ))
}

/// What is said of a resource under the pool's name that is not ours and that a destroy leaves alone; `None` if it
/// is ours.
pub fn kept(resource: Resource<'_>, identity: &Tags, tags: &Tags) -> Option<Diagnostic> {
    let problem = check(resource, identity, tags).err()?;
    Some(Diagnostic::warning(
        format!("{}, and stays", problem.summary),
        format!(
            "{}\nIt is left as it is. If it really is this pool's, delete it, or hand it over and destroy again:\n\n  {}",
            found_tags(&differing(identity, tags)),
            tagging_command(resource, identity)
        ),
    ))
}

fn found_tags(differences: &[(&str, &str, &str)]) -> String {
    if differences.is_empty() {
        return "It carries none of the tags that say whose it is (captf.io/cluster, captf.io/namespace, \
                captf.io/kind, captf.io/name)."
            .to_owned();
    }
    let mut text = String::from("Its tags name another owner:");
    for (key, found, wanted) in differences {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n  {key} is \"{found}\", this pool's is \"{wanted}\"");
    }
    text
}

fn describe(resource: Resource<'_>) -> String {
    match resource {
        Resource::Group(name) => format!("Auto Scaling group {name}"),
        Resource::Template { id, name } => format!("Launch template {name} ({id})"),
        Resource::Object { bucket, key } => format!("Bootstrap object s3://{bucket}/{key}"),
    }
}

/// `(key, found, wanted)` of identity tags that are there with another value.
fn differing<'a>(identity: &'a Tags, tags: &'a Tags) -> Vec<(&'a str, &'a str, &'a str)> {
    IDENTITY_TAGS
        .iter()
        .filter_map(|key| Some((*key, tags.get(*key)?.as_str(), identity.get(*key)?.as_str())))
        .filter(|(_, found, wanted)| found != wanted)
        .collect()
}

fn tagging_command(resource: Resource<'_>, identity: &Tags) -> String {
    let each = |form: &dyn Fn(&str, &str) -> String| {
        let parts: Vec<String> = identity.iter().map(|(key, value)| form(key, value)).collect();
        parts.join(" ")
    };
    match resource {
        Resource::Group(name) => format!(
            "aws autoscaling create-or-update-tags --tags {}",
            each(&|key, value| format!(
                "'ResourceId={name},ResourceType=auto-scaling-group,Key={key},Value={value},PropagateAtLaunch=false'"
            ))
        ),
        Resource::Template { id, .. } => format!(
            "aws ec2 create-tags --resources {id} --tags {}",
            each(&|key, value| format!("'Key={key},Value={value}'"))
        ),
        Resource::Object { bucket, key: object } => format!(
            "aws s3api put-object-tagging --bucket {bucket} --key '{object}' --tagging 'TagSet=[{}]'",
            each(&|key, value| format!("{{Key={key},Value={value}}}")).replace("} {", "},{")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(pairs: &[(&str, &str)]) -> Tags {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    fn identity() -> Tags {
        tags(&[
            ("captf.io/cluster", "demo"),
            ("captf.io/namespace", "team-a"),
            ("captf.io/kind", "TerraformMachinePool"),
            ("captf.io/name", "demo-pool-0"),
        ])
    }

    #[test]
    fn all_equal_or_some_missing_is_ours() {
        assert!(is_ours(&identity(), &identity()));
        assert!(is_ours(&identity(), &tags(&[("captf.io/name", "demo-pool-0"), ("owner", "me")])));
        // A ClusterClass rebase changes the template tag; that is no other owner.
        let mut rebased = identity();
        rebased.insert("captf.io/template".into(), "other".into());
        assert!(is_ours(&identity(), &rebased));
    }

    #[test]
    fn none_or_any_different_is_somebody_elses() {
        assert!(!is_ours(&identity(), &Tags::new()));
        assert!(!is_ours(&identity(), &tags(&[("kubernetes.io/cluster/demo", "owned")])));
        for key in IDENTITY_TAGS {
            let mut other = identity();
            other.insert(key.to_owned(), "other".into());
            assert!(!is_ours(&identity(), &other), "{key}");
        }
    }

    #[test]
    fn a_refusal_names_the_tag_and_the_command() {
        let mut other = identity();
        other.insert("captf.io/cluster".into(), "prod".into());
        let problem = check(Resource::Group("captf-x"), &identity(), &other).unwrap_err();
        assert!(problem.summary.contains("Auto Scaling group captf-x belongs to somebody else"));
        assert!(problem.detail.contains("captf.io/cluster is \"prod\", this pool's is \"demo\""));
        assert!(problem.detail.contains("create-or-update-tags --tags 'ResourceId=captf-x,"));
        let object = Resource::Object { bucket: "b", key: "pool/p" };
        let problem = check(object, &identity(), &Tags::new()).unwrap_err();
        assert!(
            problem.detail.contains("put-object-tagging --bucket b --key 'pool/p'"),
            "{}",
            problem.detail
        );
        assert!(problem.detail.contains("},{Key=captf.io/kind,"), "{}", problem.detail);
    }
}
