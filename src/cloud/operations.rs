//! The names of the AWS operations behind [`super::Cloud`], in IAM's spelling, and what they act on.

use crate::model::resources::Write;

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
