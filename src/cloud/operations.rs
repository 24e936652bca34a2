//! The names of the AWS operations behind [`super::Cloud`], in IAM's spelling, and what they act on.

use crate::model::{
    checkup::{Question, Rehearsal},
    resources::Write,
};

/// `DescribeAutoScalingGroups`.
pub const DESCRIBE_GROUPS: &str = "autoscaling:DescribeAutoScalingGroups";
/// `DescribeInstances`.
pub const DESCRIBE_INSTANCES: &str = "ec2:DescribeInstances";
/// `DescribePolicies`.
pub const DESCRIBE_POLICIES: &str = "autoscaling:DescribePolicies";
/// `DescribeInstanceRefreshes`.
pub const DESCRIBE_REFRESHES: &str = "autoscaling:DescribeInstanceRefreshes";
/// `DescribeScalingActivities`.
pub const DESCRIBE_ACTIVITIES: &str = "autoscaling:DescribeScalingActivities";
/// `DescribeScheduledActions`.
pub const DESCRIBE_SCHEDULED_ACTIONS: &str = "autoscaling:DescribeScheduledActions";
/// `DescribeLaunchTemplates`.
pub const DESCRIBE_TEMPLATES: &str = "ec2:DescribeLaunchTemplates";
/// `DescribeLaunchTemplateVersions`.
pub const DESCRIBE_TEMPLATE_VERSIONS: &str = "ec2:DescribeLaunchTemplateVersions";
/// `DescribeImages`.
pub const DESCRIBE_IMAGES: &str = "ec2:DescribeImages";
/// `HeadObject`.
pub const HEAD_OBJECT: &str = "s3:HeadObject";
/// `GetObjectTagging`.
pub const GET_OBJECT_TAGGING: &str = "s3:GetObjectTagging";

/// `DescribeSubnets`.
pub const DESCRIBE_SUBNETS: &str = "ec2:DescribeSubnets";
/// `DescribeSecurityGroups`.
pub const DESCRIBE_SECURITY_GROUPS: &str = "ec2:DescribeSecurityGroups";
/// `DescribeKeyPairs`.
pub const DESCRIBE_KEY_PAIRS: &str = "ec2:DescribeKeyPairs";
/// `DescribeInstanceTypes`.
pub const DESCRIBE_INSTANCE_TYPES: &str = "ec2:DescribeInstanceTypes";
/// `DescribeInstanceTypeOfferings`.
pub const DESCRIBE_OFFERINGS: &str = "ec2:DescribeInstanceTypeOfferings";
/// `DescribeAccountLimits`.
pub const DESCRIBE_ACCOUNT_LIMITS: &str = "autoscaling:DescribeAccountLimits";
/// `GetInstanceProfile`.
pub const GET_INSTANCE_PROFILE: &str = "iam:GetInstanceProfile";
/// `GetRole`.
pub const GET_ROLE: &str = "iam:GetRole";
/// `GetServiceQuota`.
pub const GET_QUOTA: &str = "servicequotas:GetServiceQuota";
/// `GetCallerIdentity`.
pub const GET_CALLER_IDENTITY: &str = "sts:GetCallerIdentity";

/// `RunInstances`, which is only ever tried (`DryRun`).
pub const RUN_INSTANCES: &str = "ec2:RunInstances";

/// The reads that only `doctor` makes.
pub const DOCTOR_READS: [&str; 10] = [
    DESCRIBE_SUBNETS,
    DESCRIBE_SECURITY_GROUPS,
    DESCRIBE_KEY_PAIRS,
    DESCRIBE_INSTANCE_TYPES,
    DESCRIBE_OFFERINGS,
    DESCRIBE_ACCOUNT_LIMITS,
    GET_INSTANCE_PROFILE,
    GET_ROLE,
    GET_QUOTA,
    GET_CALLER_IDENTITY,
];

/// What all commands read, other than `doctor`.
pub const READS: [&str; 11] = [
    DESCRIBE_GROUPS,
    DESCRIBE_INSTANCES,
    DESCRIBE_POLICIES,
    DESCRIBE_REFRESHES,
    DESCRIBE_ACTIVITIES,
    DESCRIBE_SCHEDULED_ACTIONS,
    DESCRIBE_TEMPLATES,
    DESCRIBE_TEMPLATE_VERSIONS,
    DESCRIBE_IMAGES,
    HEAD_OBJECT,
    GET_OBJECT_TAGGING,
];

/// The operation that performs a write: service and name, `autoscaling:CreateAutoScalingGroup`.
pub fn of_write(write: &Write) -> &'static str {
    match write {
        Write::PutObject { .. } => "s3:PutObject",
        Write::DeleteObject { .. } => "s3:DeleteObject",
        Write::CreateTemplate { .. } => "ec2:CreateLaunchTemplate",
        Write::CreateTemplateVersion { .. } => "ec2:CreateLaunchTemplateVersion",
        Write::SetDefaultVersion { .. } => "ec2:ModifyLaunchTemplate",
        Write::DeleteTemplateVersions { .. } => "ec2:DeleteLaunchTemplateVersions",
        Write::DeleteTemplate { .. } => "ec2:DeleteLaunchTemplate",
        Write::TagTemplate { .. } => "ec2:CreateTags",
        Write::UntagTemplate { .. } => "ec2:DeleteTags",
        Write::CreateGroup(_) => "autoscaling:CreateAutoScalingGroup",
        Write::UpdateGroup(_) => "autoscaling:UpdateAutoScalingGroup",
        Write::TagGroup { .. } => "autoscaling:CreateOrUpdateTags",
        Write::UntagGroup { .. } => "autoscaling:DeleteTags",
        Write::SuspendProcess { .. } => "autoscaling:SuspendProcesses",
        Write::ResumeProcess { .. } => "autoscaling:ResumeProcesses",
        Write::PutPolicy { .. } => "autoscaling:PutScalingPolicy",
        Write::DeletePolicy { .. } => "autoscaling:DeletePolicy",
        Write::StartRefresh { .. } => "autoscaling:StartInstanceRefresh",
        Write::CancelRefresh { .. } => "autoscaling:CancelInstanceRefresh",
        Write::Unprotect { .. } => "autoscaling:SetInstanceProtection",
        Write::DeleteScheduledAction { .. } => "autoscaling:DeleteScheduledAction",
        Write::DeleteWarmPool { .. } => "autoscaling:DeleteWarmPool",
        Write::DeleteGroup { .. } => "autoscaling:DeleteAutoScalingGroup",
    }
}

/// The operation that answers a question.
pub fn of_question(question: &Question) -> &'static str {
    match question {
        Question::Caller => GET_CALLER_IDENTITY,
        Question::Subnets(_) => DESCRIBE_SUBNETS,
        Question::SecurityGroups(_) => DESCRIBE_SECURITY_GROUPS,
        Question::KeyPair(_) => DESCRIBE_KEY_PAIRS,
        Question::InstanceType(_) => DESCRIBE_INSTANCE_TYPES,
        Question::Offerings(_) => DESCRIBE_OFFERINGS,
        Question::InstanceProfile(_) => GET_INSTANCE_PROFILE,
        Question::Role(_) => GET_ROLE,
        Question::Quota(_) => GET_QUOTA,
        Question::Limits => DESCRIBE_ACCOUNT_LIMITS,
        Question::Rehearsal(Rehearsal::NewTemplate { .. }) => "ec2:CreateLaunchTemplate",
        Question::Rehearsal(Rehearsal::NewVersion { .. }) => "ec2:CreateLaunchTemplateVersion",
        Question::Rehearsal(Rehearsal::DeleteTemplate { .. }) => "ec2:DeleteLaunchTemplate",
        Question::Rehearsal(Rehearsal::Launch { .. }) => RUN_INSTANCES,
    }
}

/// What a question is about.
pub fn resource_of_question(question: &Question) -> String {
    match question {
        Question::Caller => "the credentials".to_owned(),
        Question::Subnets(ids) => format!("subnets {}", ids.join(", ")),
        Question::SecurityGroups(ids) => format!("security groups {}", ids.join(", ")),
        Question::KeyPair(name) => format!("key pair {name}"),
        Question::InstanceType(name) | Question::Offerings(name) => format!("instance type {name}"),
        Question::InstanceProfile(name) => format!("instance profile {name}"),
        Question::Role(name) => format!("role {name}"),
        Question::Quota(code) => format!("quota {code} of EC2"),
        Question::Limits => "the limits of the account".to_owned(),
        Question::Rehearsal(Rehearsal::NewTemplate { name, .. }) => format!("launch template {name}"),
        Question::Rehearsal(
            Rehearsal::NewVersion { template_id }
            | Rehearsal::DeleteTemplate { template_id }
            | Rehearsal::Launch { template_id, .. },
        ) => format!("launch template {template_id}"),
    }
}

/// What a write acts on, as a person says it: `Auto Scaling group captf-...`.
pub fn resource_of_write(write: &Write) -> String {
    match write {
        Write::PutObject { bucket, key, .. } | Write::DeleteObject { bucket, key } => {
            format!("S3 object s3://{bucket}/{key}")
        }
        Write::CreateTemplate { name, .. } => format!("launch template {name}"),
        Write::CreateTemplateVersion { template_id, .. }
        | Write::SetDefaultVersion { template_id, .. }
        | Write::DeleteTemplateVersions { template_id, .. }
        | Write::DeleteTemplate { template_id }
        | Write::TagTemplate { template_id, .. }
        | Write::UntagTemplate { template_id, .. } => format!("launch template {template_id}"),
        Write::CreateGroup(create) => format!("Auto Scaling group {}", create.name),
        Write::UpdateGroup(update) => format!("Auto Scaling group {}", update.name),
        Write::TagGroup { group, .. }
        | Write::UntagGroup { group, .. }
        | Write::SuspendProcess { group, .. }
        | Write::ResumeProcess { group, .. }
        | Write::PutPolicy { group, .. }
        | Write::DeletePolicy { group, .. }
        | Write::StartRefresh { group, .. }
        | Write::CancelRefresh { group }
        | Write::Unprotect { group, .. }
        | Write::DeleteScheduledAction { group, .. }
        | Write::DeleteWarmPool { group }
        | Write::DeleteGroup { group, .. } => format!("Auto Scaling group {group}"),
    }
}

#[cfg(test)]
#[path = "operations_tests.rs"]
mod tests;
