//! Whose a resource under our names is. Nothing that is somebody else's is ever written to.

use std::{collections::BTreeSet, fmt::Write as _};

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
    if is_ours(identity, tags) { Ok(()) } else { Err(refusal(resource, identity, tags)) }
}

/// Refuses, in the same words, only what its tags say is somebody else's. To look at what has merely lost its tags
/// does no harm.
pub fn check_to_look(resource: Resource<'_>, identity: &Tags, tags: &Tags) -> Result<(), Diagnostic> {
    if differing(identity, tags).is_empty() { Ok(()) } else { Err(refusal(resource, identity, tags)) }
}

/// Warns where the inputs do not say whose a pool is and the tags of what is there do: nothing then tells the pool from
/// one of the same namespace and name that another cluster, or another object, owns.
pub fn unsaid<'a>(identity: &Tags, resources: impl IntoIterator<Item = &'a Tags>) -> Option<Diagnostic> {
    let open: Vec<(&str, &str)> = NAMES.into_iter().filter(|(key, _)| !identity.contains_key(*key)).collect();
    let owner = |tags: &Tags| {
        let names = open.iter().filter_map(|(key, noun)| Some(format!("{noun} {}", tags.get(*key)?)));
        names.collect::<Vec<_>>().join(", ")
    };
    let owners: BTreeSet<String> =
        resources.into_iter().map(owner).filter(|owner| !owner.is_empty()).collect();
    if owners.is_empty() {
        return None;
    }
    let owners = owners.into_iter().collect::<Vec<_>>().join(" and to ");
    Some(Diagnostic::warning(
        format!("The inputs do not say whose pool this is: it belongs to {owners}"),
        "So it is told by its namespace and name alone, which a pool of another cluster can have as well. Pass \
         captf_cluster and captf_object.name to have that checked.",
    ))
}

/// The identity with what the inputs leave open as the tags of the group say it: what else there is of another owner's is
/// then not the pool's.
pub fn completed(identity: &Tags, group: &Tags) -> Tags {
    let told = NAMES.iter().filter_map(|(key, _)| Some(((*key).to_owned(), group.get(*key)?.clone())));
    told.chain(identity.clone()).collect()
}

/// Identity tags that short inputs leave open, and what they name.
const NAMES: [(&str, &str); 2] = [("captf.io/cluster", "cluster"), ("captf.io/name", "object")];

fn refusal(resource: Resource<'_>, identity: &Tags, tags: &Tags) -> Diagnostic {
    let what = describe(resource);
    let differences = differing(identity, tags);
    let summary = if differences.is_empty() {
        format!("{what} is not known to be this pool's")
    } else {
        format!("{what} belongs to somebody else")
    };
    let found = found_tags(&differences);
    Diagnostic::error(
        summary,
        format!(
            "{found}\nNothing was changed. Choose another name for the pool, or, if the resource really is \
             this pool's, hand it over first:\n\n  {}",
            tagging_command(resource, identity)
        ),
    )
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
    fn what_has_lost_its_tags_may_be_looked_at_and_a_strangers_may_not() {
        let look = |tags: &Tags| check_to_look(Resource::Group("captf-x"), &identity(), tags);
        assert_eq!((look(&identity()), look(&Tags::new())), (Ok(()), Ok(())));
        for key in IDENTITY_TAGS {
            let other = tags(&[(key, "other")]);
            assert_eq!(look(&other), check(Resource::Group("captf-x"), &identity(), &other));
            assert!(look(&other).is_err(), "{key}");
        }
    }

    #[test]
    fn an_owner_that_only_tags_name_is_told() {
        let named = |cluster: &str| tags(&[("captf.io/cluster", cluster), ("captf.io/name", "demo-pool-0")]);
        let (one, other) = (named("demo"), named("prod"));
        let short = tags(&[("captf.io/namespace", "team-a"), ("captf.io/kind", "TerraformMachinePool")]);
        let told = |identity: &Tags, resources: &[&Tags]| {
            unsaid(identity, resources.iter().copied()).map(|warning| warning.summary)
        };
        let summary = told(&short, &[&one, &one]).unwrap();
        assert!(summary.ends_with("it belongs to cluster demo, object demo-pool-0"), "{summary}");
        let summary = told(&short, &[&one, &other]).unwrap();
        assert!(summary.contains("cluster demo") && summary.contains("and to cluster prod"), "{summary}");
        let mut but_one = identity();
        but_one.remove("captf.io/cluster");
        let summary = told(&but_one, &[&one]).unwrap();
        assert!(summary.ends_with("it belongs to cluster demo"), "{summary}");
        assert_eq!(told(&identity(), &[&other]), None, "what the inputs say is compared");
        assert_eq!((completed(&short, &one), completed(&identity(), &other)), (identity(), identity()));
        assert_eq!((told(&short, &[]), told(&short, &[&Tags::new()])), (None, None));
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
