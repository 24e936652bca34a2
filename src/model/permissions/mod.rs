//! The least that the program's credentials must be allowed: a policy in IAM's terms, statement by
//! statement, each narrowed by resource and by condition as far as AWS supports it for its actions (Service
//! Authorization Reference of EC2, EC2 Auto Scaling, S3, IAM and Service Quotas).

use std::collections::BTreeMap;

use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::contract::request::Tags;

pub mod compare;
mod conditions;
mod document;
mod glob;
mod statements;

pub use document::{Document, Unreadable};

/// What AWS checks behind a call of the program: `(call, action, why)`. None of these is a call of its own,
/// but for the tags of a template.
pub const BEHIND: [(&str, &str, &str); 12] = [
    ("s3:HeadObject", "s3:GetObject", "a HEAD is a read of the object"),
    ("s3:HeadObject", "s3:ListBucket", "without it a missing object is denied instead of missing"),
    ("s3:PutObject", "s3:PutObjectTagging", "the object is written together with its tags"),
    ("ec2:CreateLaunchTemplate", "ec2:CreateTags", "the template is made together with its tags"),
    (CREATE_GROUP, "ec2:RunInstances", "who gives a group a template must be allowed to launch it"),
    (CREATE_GROUP, "ec2:CreateTags", "the template tags what it launches"),
    (CREATE_GROUP, "iam:PassRole", "the template hands the workers' role to EC2"),
    (
        CREATE_GROUP,
        "iam:CreateServiceLinkedRole",
        "an account's first group and first Spot Instance make AWS's roles",
    ),
    (UPDATE_GROUP, "ec2:RunInstances", "as for a new group, when it gets another template"),
    (UPDATE_GROUP, "ec2:CreateTags", "as for a new group"),
    (UPDATE_GROUP, "iam:PassRole", "as for a new group"),
    (UPDATE_GROUP, "iam:CreateServiceLinkedRole", "as for a new group"),
];

const CREATE_GROUP: &str = "autoscaling:CreateAutoScalingGroup";
const UPDATE_GROUP: &str = "autoscaling:UpdateAutoScalingGroup";

/// Calls that no action of their own name governs: IAM knows no HEAD, and everybody may ask who he is.
pub const NO_ACTIONS: [&str; 2] = ["s3:HeadObject", "sts:GetCallerIdentity"];

/// The actions that a call needs: the one of its name, then what AWS checks behind it.
pub fn needed_for(call: &'static str) -> Vec<&'static str> {
    let own = (!NO_ACTIONS.contains(&call)).then_some(call);
    own.into_iter()
        .chain(BEHIND.iter().filter(|(of, ..)| *of == call).map(|(_, action, _)| *action))
        .collect()
}

/// IAM's limit on a managed policy.
const MANAGED_POLICY_LENGTH: usize = 6144;

/// What the policy is for. Account and region may be patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The AWS partition: `aws`, `aws-cn`, ...
    pub partition: &'static str,
    /// A region, or a pattern such as `eu-*`.
    pub region: String,
    /// An account id, or `*`.
    pub account: String,
    /// Names of bootstrap buckets, or patterns; never empty.
    pub buckets: Vec<String>,
    /// ARNs of the roles that workers may get; never empty.
    pub worker_roles: Vec<String>,
    /// One pool, or all of them.
    pub pools: Pools,
    /// Whether the reads that only `doctor` makes are part of it.
    pub doctor: bool,
}

/// Which pools a policy covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pools {
    /// Every pool that this program manages.
    All,
    /// One.
    One {
        /// Name of its Auto Scaling group.
        group: String,
        /// Key of its bootstrap object.
        object_key: String,
        /// The tags that say whose its resources are.
        identity: Tags,
    },
}

/// One statement, always an `Allow`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Says what for.
    pub sid: &'static str,
    /// The same as a sentence.
    pub purpose: &'static str,
    /// What is allowed, sorted.
    pub actions: Vec<&'static str>,
    /// On what.
    pub resources: Vec<String>,
    /// Operator -> key -> values.
    pub conditions: BTreeMap<&'static str, BTreeMap<String, Vec<String>>>,
}

/// A whole policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Policy {
    /// The language's version.
    #[serde(rename = "Version")]
    version: &'static str,
    /// The statements.
    #[serde(rename = "Statement")]
    pub statements: Vec<Statement>,
    /// The tags of everything that it is about.
    #[serde(skip)]
    identity: Tags,
}

impl Policy {
    /// The policy for `grant`.
    pub fn of(grant: &Grant) -> Self {
        let identity = match &grant.pools {
            Pools::All => statements::of_every_pool(),
            Pools::One { identity, .. } => identity.clone(),
        };
        Self { version: "2012-10-17", statements: statements::all(grant), identity }
    }

    /// Whether it is short enough for a managed policy of IAM's.
    pub fn fits_managed_policy(&self) -> bool {
        self.length() <= MANAGED_POLICY_LENGTH
    }

    /// Characters, white space not counted.
    fn length(&self) -> usize {
        let text = serde_json::to_string(self).unwrap_or_default();
        text.chars().filter(|c| !c.is_whitespace()).count()
    }
}

/// The partition that a region, or a pattern of regions, belongs to.
pub fn partition(region: &str) -> &'static str {
    const BY_PREFIX: [(&str, &str); 7] = [
        ("cn-", "aws-cn"),
        ("us-gov-", "aws-us-gov"),
        ("us-iso-", "aws-iso"),
        ("us-isob-", "aws-iso-b"),
        ("eu-isoe-", "aws-iso-e"),
        ("us-isof-", "aws-iso-f"),
        ("eusc-", "aws-eusc"),
    ];
    BY_PREFIX.iter().find(|(prefix, _)| region.starts_with(prefix)).map_or("aws", |(_, partition)| partition)
}

impl Serialize for Statement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("Sid", self.sid)?;
        map.serialize_entry("Effect", "Allow")?;
        map.serialize_entry("Action", &self.actions)?;
        map.serialize_entry("Resource", &OneOrMany(&self.resources))?;
        if !self.conditions.is_empty() {
            let conditions: BTreeMap<_, BTreeMap<_, _>> = self
                .conditions
                .iter()
                .map(|(operator, keys)| {
                    (operator, keys.iter().map(|(key, values)| (key, OneOrMany(values))).collect())
                })
                .collect();
            map.serialize_entry("Condition", &conditions)?;
        }
        map.end()
    }
}

/// IAM takes one text for a list of one.
struct OneOrMany<'a>(&'a [String]);

impl Serialize for OneOrMany<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            [one] => one.serialize(serializer),
            many => many.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod compare_tests;
#[cfg(test)]
mod tests;
