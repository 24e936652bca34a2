//! What is asked of AWS for a check-up, and what it showed.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    contract::request::Tags,
    model::observed::{Activity, Group, Image, Instance, Object, Policy, Refresh, Template, TemplateVersion},
};

/// One thing to ask. Nothing that is asked changes anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// `sts:GetCallerIdentity`.
    Caller,
    /// `ec2:DescribeSubnets`: those of these ids that there are.
    Subnets(Vec<String>),
    /// `ec2:DescribeSecurityGroups`: those of these ids that there are.
    SecurityGroups(Vec<String>),
    /// `ec2:DescribeKeyPairs` for one name.
    KeyPair(String),
    /// `ec2:DescribeInstanceTypes` for one type.
    InstanceType(String),
    /// `ec2:DescribeInstanceTypeOfferings`: the zones that have a type.
    Offerings(String),
    /// `iam:GetInstanceProfile`.
    InstanceProfile(String),
    /// `iam:GetRole`, for a role of AWS's own.
    Role(String),
    /// `servicequotas:GetServiceQuota` of EC2, by code.
    Quota(String),
    /// `autoscaling:DescribeAccountLimits`.
    Limits,
    /// A write of EC2 that is only tried (`DryRun`).
    Rehearsal(Rehearsal),
}

/// A write of EC2 that is only tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rehearsal {
    /// `ec2:CreateLaunchTemplate`.
    NewTemplate {
        /// Its name.
        name: String,
        /// Its tags.
        tags: Tags,
    },
    /// `ec2:CreateLaunchTemplateVersion`.
    NewVersion {
        /// Template id.
        template_id: String,
    },
    /// `ec2:DeleteLaunchTemplate`.
    DeleteTemplate {
        /// Template id.
        template_id: String,
    },
    /// `ec2:RunInstances` of one instance, from a template that is there.
    Launch {
        /// Template id.
        template_id: String,
        /// Where.
        subnet: String,
        /// Security groups of the template's network interface; `None` where it has no interface, and EC2
        /// takes the subnet alone.
        interface: Option<Vec<String>>,
    },
}

/// The answer to a [`Question`], in the same order.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// Who calls.
    Caller(Caller),
    /// Subnets by id.
    Subnets(Vec<Subnet>),
    /// Security groups by id.
    SecurityGroups(Vec<SecurityGroup>),
    /// Whether there is one.
    There(bool),
    /// The type; `None` where the region has none of that name.
    InstanceType(Option<InstanceType>),
    /// Zones.
    Zones(BTreeSet<String>),
    /// The profile, if there is one.
    InstanceProfile(Option<InstanceProfile>),
    /// The quota's value; `None` where the region knows no such quota.
    Quota(Option<f64>),
    /// Limits.
    Limits(Limits),
    /// It would have been allowed.
    Allowed,
}

/// Who calls AWS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// Account id.
    pub account: String,
    /// ARN of the user or the assumed role.
    pub arn: String,
}

/// A subnet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subnet {
    /// Id.
    pub id: String,
    /// Zone.
    pub zone: String,
    /// VPC id.
    pub vpc: String,
    /// IPv4 addresses that are free.
    pub free_addresses: u32,
}

/// A security group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecurityGroup {
    /// Id.
    pub id: String,
    /// VPC id.
    pub vpc: String,
}

/// An instance type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceType {
    /// `x86_64`, `arm64`, ...
    pub architectures: BTreeSet<String>,
    /// Virtual CPUs.
    pub vcpus: u32,
}

/// An IAM instance profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstanceProfile {
    /// Names of the roles in it: one, or none.
    pub roles: Vec<String>,
}

/// Limits of Auto Scaling in the account and region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Groups that there may be.
    pub max_groups: u32,
    /// Groups that there are.
    pub groups: u32,
}

/// What came of looking at something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look<T> {
    /// This was seen.
    Seen(T),
    /// The credentials may not look.
    Denied {
        /// The call that was denied.
        call: &'static str,
    },
    /// Looking failed.
    Failed {
        /// The call that failed.
        call: &'static str,
        /// What sort of failure.
        kind: Trouble,
        /// AWS's words, or what happened instead of an answer.
        words: String,
    },
    /// There was nothing to look at, for this reason.
    Idle(&'static str),
}

/// What sort of failure, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// No usable credentials.
    Credentials,
    /// No answer.
    Network,
    /// An answer without a code of AWS's: of another server's, most likely.
    NotAws,
    /// The thing named is not there.
    Missing,
    /// The bucket lies in another region.
    Elsewhere,
    /// AWS is there and did not judge what was asked: too many calls, its own fault, an interruption.
    Unjudged,
    /// Anything else.
    Other,
}

impl<T> Look<T> {
    /// What was seen, if anything.
    pub fn seen(&self) -> Option<&T> {
        match self {
            Self::Seen(seen) => Some(seen),
            _ => None,
        }
    }

    /// How it went, without what was seen.
    pub fn outcome(&self) -> Look<()> {
        match self {
            Self::Seen(_) => Look::Seen(()),
            Self::Denied { call } => Look::Denied { call },
            Self::Failed { call, kind, words } => Look::Failed { call, kind: *kind, words: words.clone() },
            Self::Idle(reason) => Look::Idle(reason),
        }
    }

    /// The same look at a part.
    pub fn map<U>(self, part: impl FnOnce(T) -> U) -> Look<U> {
        match self {
            Self::Seen(seen) => Look::Seen(part(seen)),
            Self::Denied { call } => Look::Denied { call },
            Self::Failed { call, kind, words } => Look::Failed { call, kind, words },
            Self::Idle(reason) => Look::Idle(reason),
        }
    }
}

/// Everything that a check-up looks at.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// Who calls.
    pub caller: Look<Caller>,
    /// The pool itself.
    pub pool: PoolFacts,
    /// Subnets of the exports.
    pub subnets: Look<Vec<Subnet>>,
    /// Security groups of the pool.
    pub security_groups: Look<Vec<SecurityGroup>>,
    /// Whether the key pair is there.
    pub key_pair: Look<bool>,
    /// The instance type.
    pub instance_type: Look<Option<InstanceType>>,
    /// The zones that have it.
    pub offered: Look<BTreeSet<String>>,
    /// The workers' instance profile.
    pub instance_profile: Look<Option<InstanceProfile>>,
    /// AWS's own roles by name: whether they are there.
    pub roles: BTreeMap<&'static str, Look<bool>>,
    /// The quota of vCPUs.
    pub quota: Look<Option<f64>>,
    /// Limits of Auto Scaling.
    pub limits: Look<Limits>,
    /// Writes that were tried, by what they are for.
    pub rehearsals: Vec<(Rehearsal, Look<()>)>,
}

/// What every command reads.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolFacts {
    /// The group.
    pub group: Look<Option<Group>>,
    /// Its members.
    pub instances: Look<Vec<Instance>>,
    /// Its policies.
    pub policies: Look<Vec<Policy>>,
    /// Its refreshes.
    pub refreshes: Look<Vec<Refresh>>,
    /// Its scaling activities.
    pub activities: Look<Vec<Activity>>,
    /// Names of its scheduled actions.
    pub scheduled_actions: Look<Vec<String>>,
    /// Templates under the pool's names.
    pub templates: Look<Vec<Template>>,
    /// Versions of the one that the inputs ask for.
    pub versions: Look<Vec<TemplateVersion>>,
    /// The bootstrap object.
    pub object: Look<Object>,
    /// Images that fit.
    pub images: Look<Vec<Image>>,
}

impl PoolFacts {
    /// How each read went.
    pub fn outcomes(&self) -> [Look<()>; 10] {
        let Self {
            group,
            instances,
            policies,
            refreshes,
            activities,
            scheduled_actions,
            templates,
            versions,
            object,
            images,
        } = self;
        [
            group.outcome(),
            instances.outcome(),
            policies.outcome(),
            refreshes.outcome(),
            activities.outcome(),
            scheduled_actions.outcome(),
            templates.outcome(),
            versions.outcome(),
            object.outcome(),
            images.outcome(),
        ]
    }

    /// Whether nothing that was asked had an answer of AWS's, and something had one of another's.
    pub fn is_not_aws(&self) -> bool {
        let outcomes = self.outcomes();
        let of = |look: &Look<()>, wanted: &[Trouble]| matches!(look, Look::Failed { kind, .. } if wanted.contains(kind));
        let is_none =
            |look: &Look<()>| matches!(look, Look::Idle(_)) || of(look, &[Trouble::NotAws, Trouble::Network]);
        outcomes.iter().all(is_none) && outcomes.iter().any(|look| of(look, &[Trouble::NotAws]))
    }

    /// Whether nothing that was asked had an answer.
    pub fn is_out_of_reach(&self) -> bool {
        self.outcomes()
            .iter()
            .all(|look| matches!(look, Look::Idle(_) | Look::Failed { kind: Trouble::Network, .. }))
    }
}
