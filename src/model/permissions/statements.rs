//! The statements themselves.

use std::collections::BTreeMap;

use super::{Grant, Pools, Statement, conditions::Conditions};
use crate::contract::request::Tags;

/// How a condition compares.
const EQUALS: &str = "StringEquals";
/// Also true where the resource has no such tag: what lacks some of the pool's tags is the pool's all the same.
const EQUALS_IF_EXISTS: &str = "StringEqualsIfExists";
const LIKE: &str = "StringLike";
const ARN_LIKE: &str = "ArnLike";

/// The value of the tag `captf.io/kind` of every pool.
const KIND: (&str, &str) = ("captf.io/kind", "TerraformMachinePool");

/// The tags that a launch template must carry to be touched (its ARN holds an id, which no policy can know),
/// and that everything new is made with.
const FIRM_TAGS: [&str; 2] = ["captf.io/namespace", "captf.io/name"];

/// The services whose own roles a first group or a first Spot Instance makes, with the roles' names.
const LINKED_ROLES: [(&str, &str); 2] = [
    ("autoscaling.amazonaws.com", "AWSServiceRoleForAutoScaling"),
    ("spot.amazonaws.com", "AWSServiceRoleForEC2Spot"),
];

pub(super) fn all(grant: &Grant) -> Vec<Statement> {
    let mut statements = vec![reads(grant)];
    statements.extend(object(grant));
    statements.extend(group(grant));
    statements.extend(template(grant));
    statements.extend(launches(grant));
    if grant.doctor {
        statements.extend(doctor(grant));
    }
    statements
}

/// `Describe` actions of EC2 and Auto Scaling take no resource, only a region.
fn reads(grant: &Grant) -> Statement {
    Statement {
        sid: "ReadPools",
        purpose: "plan, outputs and every other command that reads. AWS narrows these to a region, not to a pool",
        actions: vec![
            "autoscaling:DescribeAutoScalingGroups",
            "autoscaling:DescribeInstanceRefreshes",
            "autoscaling:DescribePolicies",
            "autoscaling:DescribeScalingActivities",
            "autoscaling:DescribeScheduledActions",
            "ec2:DescribeImages",
            "ec2:DescribeInstances",
            "ec2:DescribeLaunchTemplateVersions",
            "ec2:DescribeLaunchTemplates",
        ],
        resources: vec!["*".to_owned()],
        conditions: in_region(grant),
    }
}

fn object(grant: &Grant) -> Vec<Statement> {
    let key = match &grant.pools {
        Pools::All => "pool/*",
        Pools::One { object_key, .. } => object_key,
    };
    let arn = |bucket: &String| format!("arn:{}:s3:::{bucket}", grant.partition);
    let objects: Vec<String> = grant.buckets.iter().map(|bucket| format!("{}/{key}", arn(bucket))).collect();
    let statement = |sid, purpose, actions, resources: &[String], conditions| Statement {
        sid,
        purpose,
        actions,
        resources: resources.to_vec(),
        conditions,
    };
    vec![
        statement(
            "ReadBootstrapObject",
            "every command that reads: what is known of the bootstrap data. The data itself is never fetched, but a HEAD \
             needs the action",
            vec!["s3:GetObject", "s3:GetObjectTagging"],
            &objects,
            BTreeMap::new(),
        ),
        statement(
            "TellMissingObject",
            "every command that reads: without it S3 denies a missing object instead of calling it missing. A HEAD has \
             no prefix that a condition could ask for",
            vec!["s3:ListBucket"],
            &grant.buckets.iter().map(arn).collect::<Vec<_>>(),
            BTreeMap::new(),
        ),
        statement(
            "WriteBootstrapObject",
            "apply: the bootstrap data",
            vec!["s3:PutObject", "s3:PutObjectTagging"],
            &objects,
            one(EQUALS, tags("s3:RequestObjectTag", &firm(grant))),
        ),
        statement(
            "DeleteBootstrapObject",
            "destroy; apply once the cluster has another bucket, on the earlier one",
            vec!["s3:DeleteObject"],
            &objects,
            BTreeMap::new(),
        ),
    ]
}

fn group(grant: &Grant) -> Vec<Statement> {
    let name = match &grant.pools {
        Pools::All => "captf-*",
        Pools::One { group, .. } => group,
    };
    let Grant { partition, region, account, .. } = grant;
    let (mut identity, loose) = identity(grant);
    identity.extend(loose);
    let arn = format!(
        "arn:{partition}:autoscaling:{region}:{account}:autoScalingGroup:*:autoScalingGroupName/{name}"
    );
    vec![
        Statement {
            sid: "CreateGroup",
            purpose: "apply: a new Auto Scaling group, with the pool's tags",
            actions: vec!["autoscaling:CreateAutoScalingGroup"],
            resources: vec![arn.clone()],
            conditions: one(EQUALS, tags("aws:RequestTag", &firm(grant))),
        },
        Statement {
            sid: "ChangeGroup",
            purpose: "apply and destroy: the group of that name, unless its tags say that it is somebody else's",
            actions: vec![
                "autoscaling:CancelInstanceRefresh",
                "autoscaling:CreateOrUpdateTags",
                "autoscaling:DeleteAutoScalingGroup",
                "autoscaling:DeletePolicy",
                "autoscaling:DeleteScheduledAction",
                "autoscaling:DeleteTags",
                "autoscaling:DeleteWarmPool",
                "autoscaling:PutScalingPolicy",
                "autoscaling:ResumeProcesses",
                "autoscaling:SetInstanceProtection",
                "autoscaling:StartInstanceRefresh",
                "autoscaling:SuspendProcesses",
                "autoscaling:UpdateAutoScalingGroup",
            ],
            resources: vec![arn],
            conditions: one(EQUALS_IF_EXISTS, tags("aws:ResourceTag", &identity)),
        },
    ]
}

fn template(grant: &Grant) -> Vec<Statement> {
    let arn = vec![ec2_arn(grant, "launch-template")];
    let create = Statement {
        sid: "CreateLaunchTemplate",
        purpose: "apply: a new launch template, with the pool's tags",
        actions: vec!["ec2:CreateLaunchTemplate"],
        resources: arn.clone(),
        conditions: one(EQUALS, tags("aws:RequestTag", &firm(grant))),
    };
    vec![
        create,
        Statement {
            sid: "TagNewLaunchTemplate",
            purpose: "behind a new launch template: its tags",
            actions: vec!["ec2:CreateTags"],
            resources: arn.clone(),
            conditions: one(EQUALS, equal("ec2:CreateAction", &["CreateLaunchTemplate"])),
        },
        Statement {
            sid: "ChangeLaunchTemplate",
            purpose: "apply and destroy: templates with the pool's tags. A template's ARN has no name in it",
            actions: vec![
                "ec2:CreateLaunchTemplateVersion",
                "ec2:CreateTags",
                "ec2:DeleteLaunchTemplate",
                "ec2:DeleteLaunchTemplateVersions",
                "ec2:DeleteTags",
                "ec2:ModifyLaunchTemplate",
            ],
            resources: arn,
            conditions: owned(grant),
        },
    ]
}

/// What AWS checks when a group is given a template.
fn launches(grant: &Grant) -> Vec<Statement> {
    let Grant { partition, region, .. } = grant;
    let kinds = ["instance", "key-pair", "network-interface", "security-group", "subnet", "volume"];
    let mut named: Vec<String> = kinds.iter().map(|kind| ec2_arn(grant, kind)).collect();
    // Images have no account in their ARN.
    named.push(format!("arn:{partition}:ec2:{region}::image/*"));
    named.sort_unstable();
    vec![
        Statement {
            sid: "LaunchFromPoolsTemplate",
            purpose: "behind a group: AWS checks whether who gives it a template may launch that",
            actions: vec!["ec2:RunInstances"],
            resources: vec![ec2_arn(grant, "launch-template")],
            conditions: owned(grant),
        },
        Statement {
            sid: "LaunchWhatTemplatesName",
            purpose: "behind a group: what a template names, only in launches from a template",
            actions: vec!["ec2:RunInstances"],
            resources: named,
            conditions: one(ARN_LIKE, equal("ec2:LaunchTemplate", &[&ec2_arn(grant, "launch-template")])),
        },
        Statement {
            sid: "TagWhatIsLaunched",
            purpose: "behind a group: the tags that a template gives to what it launches",
            actions: vec!["ec2:CreateTags"],
            resources: ["instance", "network-interface", "volume"].map(|kind| ec2_arn(grant, kind)).to_vec(),
            conditions: one(EQUALS, equal("ec2:CreateAction", &["RunInstances"])),
        },
        Statement {
            sid: "PassWorkersRole",
            purpose: "behind a group: the template hands the workers' role to EC2",
            actions: vec!["iam:PassRole"],
            resources: grant.worker_roles.clone(),
            conditions: one(EQUALS, equal("iam:PassedToService", ec2_services(partition))),
        },
        Statement {
            sid: "CreateServiceLinkedRoles",
            purpose: "behind an account's first group: AWS's own roles for Auto Scaling and for Spot Instances",
            actions: vec!["iam:CreateServiceLinkedRole"],
            resources: linked_roles(grant),
            conditions: one(EQUALS, equal("iam:AWSServiceName", &LINKED_ROLES.map(|(service, _)| service))),
        },
    ]
}

fn doctor(grant: &Grant) -> [Statement; 4] {
    let Grant { partition, account, .. } = grant;
    let mut quota = in_region(grant);
    quota.entry(EQUALS).or_default().extend(equal("servicequotas:service", &["ec2"]));
    [
        Statement {
            sid: "DoctorReads",
            purpose: "doctor alone: subnets, security groups, key pairs, instance types, limits. It skips what it may \
                      not see",
            actions: vec![
                "autoscaling:DescribeAccountLimits",
                "ec2:DescribeInstanceTypeOfferings",
                "ec2:DescribeInstanceTypes",
                "ec2:DescribeKeyPairs",
                "ec2:DescribeSecurityGroups",
                "ec2:DescribeSubnets",
            ],
            resources: vec!["*".to_owned()],
            conditions: in_region(grant),
        },
        Statement {
            sid: "DoctorReadsProfile",
            purpose: "doctor alone: the workers' instance profile",
            actions: vec!["iam:GetInstanceProfile"],
            resources: vec![format!("arn:{partition}:iam::{account}:instance-profile/*")],
            conditions: BTreeMap::new(),
        },
        Statement {
            sid: "DoctorReadsRoles",
            purpose: "doctor alone: AWS's own roles",
            actions: vec!["iam:GetRole"],
            resources: vec![format!("arn:{partition}:iam::{account}:role/aws-service-role/*")],
            conditions: BTreeMap::new(),
        },
        Statement {
            sid: "DoctorReadsQuotas",
            purpose: "doctor alone: the quota of vCPUs",
            actions: vec!["servicequotas:GetServiceQuota"],
            resources: vec!["*".to_owned()],
            conditions: quota,
        },
    ]
}

fn one(operator: &'static str, keys: BTreeMap<String, Vec<String>>) -> Conditions {
    BTreeMap::from([(operator, keys)])
}

fn equal(key: &str, values: &[&str]) -> BTreeMap<String, Vec<String>> {
    BTreeMap::from([(key.to_owned(), values.iter().map(|value| (*value).to_owned()).collect())])
}

fn tags(key: &str, tags: &Tags) -> BTreeMap<String, Vec<String>> {
    tags.iter().map(|(name, value)| (format!("{key}/{name}"), vec![literal(value)])).collect()
}

/// A value that IAM takes as it is: only `${` begins something else there.
fn literal(value: &str) -> String {
    value.replace("${", "${$}{")
}

/// The tags that say whose a resource is: those that must be there, and those that must not differ.
fn identity(grant: &Grant) -> (Tags, Tags) {
    match &grant.pools {
        Pools::All => (of_every_pool(), Tags::new()),
        Pools::One { identity, .. } => {
            // The kind is every pool's.
            let own = identity.clone().into_iter().filter(|(key, _)| key != KIND.0);
            own.partition(|(key, _)| FIRM_TAGS.contains(&key.as_str()))
        }
    }
}

/// The tags that all pools share.
pub(super) fn of_every_pool() -> Tags {
    Tags::from([(KIND.0.to_owned(), KIND.1.to_owned())])
}

/// What is known of the requests that a statement is about, beyond its own conditions: where it asks for some of
/// the pool's tags, what it is about carries the others, too.
pub(super) fn known(statement: &Statement, identity: &Tags) -> Conditions {
    let asks = |operator, prefix: &str| {
        statement.conditions.get(operator).is_some_and(|keys| keys.keys().any(|key| key.starts_with(prefix)))
    };
    let mut known = Conditions::new();
    for made_with in ["aws:RequestTag", "s3:RequestObjectTag"] {
        if asks(EQUALS, made_with) {
            known.entry(EQUALS).or_default().extend(tags(made_with, identity));
        }
    }
    let has = "aws:ResourceTag";
    if asks(EQUALS, has) {
        let firm = |key: &str| key == KIND.0 || FIRM_TAGS.contains(&key);
        let (firm, loose): (Tags, Tags) = identity.clone().into_iter().partition(|(key, _)| firm(key));
        known.entry(EQUALS).or_default().extend(tags(has, &firm));
        known.entry(EQUALS_IF_EXISTS).or_default().extend(tags(has, &loose));
    } else if asks(EQUALS_IF_EXISTS, has) {
        known.entry(EQUALS_IF_EXISTS).or_default().extend(tags(has, identity));
    }
    known
}

/// What a new resource must be tagged with.
fn firm(grant: &Grant) -> Tags {
    identity(grant).0
}

/// A resource with the pool's tags.
fn owned(grant: &Grant) -> Conditions {
    let (firm, loose) = identity(grant);
    let sides = [(EQUALS, firm), (EQUALS_IF_EXISTS, loose)];
    let conditions = sides.into_iter().filter(|(_, side)| !side.is_empty());
    conditions.map(|(operator, side)| (operator, tags("aws:ResourceTag", &side))).collect()
}

fn in_region(grant: &Grant) -> Conditions {
    const KEY: &str = "aws:RequestedRegion";
    match grant.region.as_str() {
        "*" => BTreeMap::new(),
        region if region.contains(['*', '?']) => one(LIKE, equal(KEY, &[region])),
        region => one(EQUALS, equal(KEY, &[region])),
    }
}

fn ec2_arn(grant: &Grant, kind: &str) -> String {
    let Grant { partition, region, account, .. } = grant;
    format!("arn:{partition}:ec2:{region}:{account}:{kind}/*")
}

fn linked_roles(grant: &Grant) -> Vec<String> {
    let Grant { partition, account, .. } = grant;
    let arn =
        |(service, role)| format!("arn:{partition}:iam::{account}:role/aws-service-role/{service}/{role}");
    LINKED_ROLES.map(arn).to_vec()
}

/// The names that EC2 goes by: outside the commercial partition also one with the partition's own suffix.
fn ec2_services(partition: &str) -> &'static [&'static str] {
    match partition {
        "aws-cn" => &["ec2.amazonaws.com", "ec2.amazonaws.com.cn"],
        "aws-iso" => &["ec2.amazonaws.com", "ec2.c2s.ic.gov"],
        "aws-iso-b" => &["ec2.amazonaws.com", "ec2.sc2s.sgov.gov"],
        "aws-iso-e" => &["ec2.amazonaws.com", "ec2.cloud.adc-e.uk"],
        "aws-iso-f" => &["ec2.amazonaws.com", "ec2.csp.hci.ic.gov"],
        "aws-eusc" => &["ec2.amazonaws.com", "ec2.amazonaws.eu"],
        _ => &["ec2.amazonaws.com"],
    }
}
