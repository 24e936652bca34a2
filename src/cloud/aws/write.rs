//! One short function per write. Each says all that AWS receives; nothing is decided here.

use std::collections::BTreeSet;

use aws_sdk_autoscaling::types::{
    MetricType, PredefinedMetricSpecification, RefreshPreferences, RefreshStrategy,
    ScaleInProtectedInstances, StandbyInstances, TargetTrackingConfiguration,
};
use aws_sdk_ec2::types::{DeleteLaunchTemplateVersionsResponseErrorItem, ResourceType};

use super::{Aws, autoscaling::group_text, convert, ec2::template_text};
use crate::{
    cloud::{CloudError, ErrorKind},
    contract::request::Tags,
    model::resources::{Answer, CreateGroup, TemplateData, UpdateGroup, Write},
};

impl Aws {
    pub(super) async fn write(&self, write: &Write) -> Result<Answer, CloudError> {
        let done = match write {
            Write::CreateTemplate { name, description, data, tags } => {
                return self.create_template(name, description, data, tags).await;
            }
            Write::CreateTemplateVersion { template_id, description, data } => {
                return self.create_version(template_id, description, data).await;
            }
            Write::StartRefresh { group, warmup_seconds } => {
                return self.start_refresh(group, *warmup_seconds).await;
            }
            Write::PutObject { bucket, key, body, tags } => self.put_object(bucket, key, body, tags).await,
            Write::DeleteObject { bucket, key } => self.delete_object(bucket, key).await,
            Write::SetDefaultVersion { template_id, version } => {
                self.set_default_version(template_id, *version).await
            }
            Write::DeleteTemplateVersions { template_id, versions } => {
                self.delete_versions(template_id, versions).await
            }
            Write::DeleteTemplate { template_id } => self.delete_template(template_id).await,
            Write::TagTemplate { template_id, tags } => self.tag_template(template_id, tags).await,
            Write::UntagTemplate { template_id, keys } => self.untag_template(template_id, keys).await,
            Write::CreateGroup(group) => self.create_group(group).await,
            Write::UpdateGroup(group) => self.update_group(group).await,
            Write::TagGroup { group, tags } => self.tag_group(group, tags).await,
            Write::UntagGroup { group, keys } => self.untag_group(group, keys).await,
            Write::SuspendProcess { group, process } => self.suspend(group, process).await,
            Write::ResumeProcess { group, process } => self.resume(group, process).await,
            Write::PutPolicy { group, name, target } => self.put_policy(group, name, *target).await,
            Write::DeletePolicy { group, name } => self.delete_policy(group, name).await,
            Write::CancelRefresh { group } => self.cancel_refresh(group).await,
            Write::Unprotect { group, instances } => self.unprotect(group, instances).await,
            Write::DeleteScheduledAction { group, name } => self.delete_scheduled_action(group, name).await,
            Write::DeleteWarmPool { group } => self.delete_warm_pool(group).await,
            Write::DeleteGroup { group, force } => self.delete_group(group, *force).await,
        };
        done.map(|()| Answer::Done)
    }

    /// The SDK makes up the client token, once a call: retries carry the same one.
    async fn create_template(
        &self,
        name: &str,
        description: &str,
        data: &TemplateData,
        tags: &Tags,
    ) -> Result<Answer, CloudError> {
        let asked = self.asked("ec2:CreateLaunchTemplate", template_text(name));
        let request = self
            .ec2()
            .create_launch_template()
            .launch_template_name(name)
            .version_description(description)
            .launch_template_data(convert::template_request(data))
            .tag_specifications(convert::tag_specification(&ResourceType::LaunchTemplate, tags));
        let answer = self.call(&asked, || request.send()).await?;
        answer
            .launch_template()
            .and_then(|template| template.launch_template_id())
            .map(|id| Answer::Template { id: id.to_owned() })
            .ok_or_else(|| asked.failed(ErrorKind::Other, "the answer holds no launch template id"))
    }

    /// Without a source version: nothing is inherited. The client token is as in `create_template`.
    async fn create_version(
        &self,
        template_id: &str,
        description: &str,
        data: &TemplateData,
    ) -> Result<Answer, CloudError> {
        let asked = self.asked("ec2:CreateLaunchTemplateVersion", template_text(template_id));
        let request = self
            .ec2()
            .create_launch_template_version()
            .launch_template_id(template_id)
            .version_description(description)
            .launch_template_data(convert::template_request(data));
        let answer = self.call(&asked, || request.send()).await?;
        answer
            .launch_template_version()
            .and_then(|version| version.version_number())
            .and_then(|number| u64::try_from(number).ok())
            .map(Answer::Version)
            .ok_or_else(|| asked.failed(ErrorKind::Other, "the answer holds no version number"))
    }

    async fn set_default_version(&self, template_id: &str, version: Option<u64>) -> Result<(), CloudError> {
        let asked = self.asked("ec2:ModifyLaunchTemplate", template_text(template_id));
        let Some(version) = version else {
            return Err(asked.failed(ErrorKind::Validation, "the number of the new version is not known"));
        };
        let request = self.ec2().modify_launch_template().launch_template_id(template_id);
        self.call(&asked, || request.default_version(version.to_string()).send()).await.map(drop)
    }

    async fn delete_versions(&self, template_id: &str, versions: &[u64]) -> Result<(), CloudError> {
        let asked = self.asked("ec2:DeleteLaunchTemplateVersions", template_text(template_id));
        let request = self
            .ec2()
            .delete_launch_template_versions()
            .launch_template_id(template_id)
            .set_versions(Some(versions.iter().map(ToString::to_string).collect()));
        let answer = self.call(&asked, || request.send()).await?;
        let failures: Vec<String> = answer
            .unsuccessfully_deleted_launch_template_versions()
            .iter()
            .filter_map(deletion_failure)
            .collect();
        if failures.is_empty() {
            return Ok(());
        }
        Err(asked.failed(ErrorKind::Other, format!("some versions were kept: {}", failures.join("; "))))
    }

    async fn delete_template(&self, template_id: &str) -> Result<(), CloudError> {
        let asked = self.asked("ec2:DeleteLaunchTemplate", template_text(template_id));
        let request = self.ec2().delete_launch_template().launch_template_id(template_id);
        self.call(&asked, || request.send()).await.map(drop)
    }

    async fn tag_template(&self, template_id: &str, tags: &Tags) -> Result<(), CloudError> {
        let asked = self.asked("ec2:CreateTags", template_text(template_id));
        let request = self.ec2().create_tags().resources(template_id).set_tags(Some(convert::ec2_tags(tags)));
        self.call(&asked, || request.send()).await.map(drop)
    }

    /// By key alone: whatever the value is, the tag goes.
    async fn untag_template(&self, template_id: &str, keys: &BTreeSet<String>) -> Result<(), CloudError> {
        let asked = self.asked("ec2:DeleteTags", template_text(template_id));
        let request = self.ec2().delete_tags().resources(template_id).set_tags(Some(convert::ec2_keys(keys)));
        self.call(&asked, || request.send()).await.map(drop)
    }

    /// Zones follow from the subnets: `AvailabilityZones` beside them could contradict.
    async fn create_group(&self, group: &CreateGroup) -> Result<(), CloudError> {
        let asked = self.asked("autoscaling:CreateAutoScalingGroup", group_text(&group.name));
        let request = self
            .autoscaling()
            .create_auto_scaling_group()
            .auto_scaling_group_name(&group.name)
            .launch_template(convert::template_specification(&group.template))
            .min_size(convert::number(group.min))
            .max_size(convert::number(group.max))
            .desired_capacity(convert::number(group.desired))
            .vpc_zone_identifier(group.subnets.join(","))
            .health_check_type("EC2")
            .capacity_rebalance(group.capacity_rebalance)
            .set_tags(Some(convert::group_tags(&group.name, &group.tags)));
        self.call(&asked, || request.send()).await.map(drop)
    }

    async fn update_group(&self, group: &UpdateGroup) -> Result<(), CloudError> {
        let asked = self.asked("autoscaling:UpdateAutoScalingGroup", group_text(&group.name));
        let request = self
            .autoscaling()
            .update_auto_scaling_group()
            .auto_scaling_group_name(&group.name)
            .set_launch_template(group.template.as_ref().map(convert::template_specification))
            .set_min_size(group.min.map(convert::number))
            .set_max_size(group.max.map(convert::number))
            .set_desired_capacity(group.desired.map(convert::number))
            .set_vpc_zone_identifier(group.subnets.as_ref().map(|subnets| subnets.join(",")))
            .set_health_check_type(group.health_check_type.clone())
            .set_capacity_rebalance(group.capacity_rebalance);
        self.call(&asked, || request.send()).await.map(drop)
    }

    async fn tag_group(&self, group: &str, tags: &Tags) -> Result<(), CloudError> {
        let asked = self.asked("autoscaling:CreateOrUpdateTags", group_text(group));
        let tags = convert::group_tags(group, tags);
        let request = self.autoscaling().create_or_update_tags().set_tags(Some(tags));
        self.call(&asked, || request.send()).await.map(drop)
    }

    async fn untag_group(&self, group: &str, keys: &BTreeSet<String>) -> Result<(), CloudError> {
        let asked = self.asked("autoscaling:DeleteTags", group_text(group));
        let tags = convert::group_keys(group, keys);
        let request = self.autoscaling().delete_tags().set_tags(Some(tags));
        self.call(&asked, || request.send()).await.map(drop)
    }

    async fn suspend(&self, group: &str, process: &str) -> Result<(), CloudError> {
        let asked = self.asked("autoscaling:SuspendProcesses", group_text(group));
        let request = self.autoscaling().suspend_processes().auto_scaling_group_name(group);
        self.call(&asked, || request.scaling_processes(process).send()).await.map(drop)
    }

    async fn resume(&self, group: &str, process: &str) -> Result<(), CloudError> {
        let asked = self.asked("autoscaling:ResumeProcesses", group_text(group));
        let request = self.autoscaling().resume_processes().auto_scaling_group_name(group);
        self.call(&asked, || request.scaling_processes(process).send()).await.map(drop)
    }

    /// Metric and target, and nothing else.
    async fn put_policy(&self, group: &str, name: &str, target: f64) -> Result<(), CloudError> {
        let asked = self.asked("autoscaling:PutScalingPolicy", group_text(group));
        let metric = PredefinedMetricSpecification::builder()
            .predefined_metric_type(MetricType::AsgAverageCpuUtilization)
            .build();
        let tracking = TargetTrackingConfiguration::builder()
            .predefined_metric_specification(metric)
            .target_value(target)
            .build();
        let request = self
            .autoscaling()
            .put_scaling_policy()
            .auto_scaling_group_name(group)
            .policy_name(name)
            .policy_type("TargetTrackingScaling")
            .target_tracking_configuration(tracking);
        self.call(&asked, || request.send()).await.map(drop)
    }

    async fn delete_policy(&self, group: &str, name: &str) -> Result<(), CloudError> {
        let asked = self.asked("autoscaling:DeletePolicy", format!("policy {name} of {}", group_text(group)));
        let request = self.autoscaling().delete_policy().auto_scaling_group_name(group).policy_name(name);
        self.call(&asked, || request.send()).await.map(drop)
    }

    /// Every replacement comes up before an old member goes; members that are right already stay.
    async fn start_refresh(&self, group: &str, warmup_seconds: u32) -> Result<Answer, CloudError> {
        let asked = self.asked("autoscaling:StartInstanceRefresh", group_text(group));
        let preferences = RefreshPreferences::builder()
            .min_healthy_percentage(100)
            .max_healthy_percentage(200)
            .instance_warmup(convert::number(warmup_seconds))
            .skip_matching(true)
            .scale_in_protected_instances(ScaleInProtectedInstances::Refresh)
            .standby_instances(StandbyInstances::Ignore)
            .build();
        let request = self
            .autoscaling()
            .start_instance_refresh()
            .auto_scaling_group_name(group)
            .strategy(RefreshStrategy::Rolling)
            .preferences(preferences);
        let answer = self.call(&asked, || request.send()).await?;
        answer
            .instance_refresh_id()
            .filter(|id| !id.is_empty())
            .map(|id| Answer::Refresh(id.to_owned()))
            .ok_or_else(|| asked.failed(ErrorKind::Other, "the answer holds no instance refresh id"))
    }

    async fn cancel_refresh(&self, group: &str) -> Result<(), CloudError> {
        let asked = self.asked("autoscaling:CancelInstanceRefresh", group_text(group));
        let request = self.autoscaling().cancel_instance_refresh().auto_scaling_group_name(group);
        self.call(&asked, || request.send()).await.map(drop)
    }

    async fn unprotect(&self, group: &str, instances: &[String]) -> Result<(), CloudError> {
        let asked = self.asked("autoscaling:SetInstanceProtection", group_text(group));
        let request = self
            .autoscaling()
            .set_instance_protection()
            .auto_scaling_group_name(group)
            .set_instance_ids(Some(instances.to_vec()))
            .protected_from_scale_in(false);
        self.call(&asked, || request.send()).await.map(drop)
    }

    async fn delete_scheduled_action(&self, group: &str, name: &str) -> Result<(), CloudError> {
        let resource = format!("scheduled action {name} of {}", group_text(group));
        let asked = self.asked("autoscaling:DeleteScheduledAction", resource);
        let request = self.autoscaling().delete_scheduled_action().auto_scaling_group_name(group);
        self.call(&asked, || request.scheduled_action_name(name).send()).await.map(drop)
    }

    async fn delete_warm_pool(&self, group: &str) -> Result<(), CloudError> {
        let asked = self.asked("autoscaling:DeleteWarmPool", group_text(group));
        let request = self.autoscaling().delete_warm_pool().auto_scaling_group_name(group).force_delete(true);
        self.call(&asked, || request.send()).await.map(drop)
    }

    async fn delete_group(&self, group: &str, force: bool) -> Result<(), CloudError> {
        let asked = self.asked("autoscaling:DeleteAutoScalingGroup", group_text(group));
        let request = self.autoscaling().delete_auto_scaling_group().auto_scaling_group_name(group);
        self.call(&asked, || request.force_delete(force).send()).await.map(drop)
    }
}

/// Why a version was kept; nothing if it is gone anyway.
fn deletion_failure(item: &DeleteLaunchTemplateVersionsResponseErrorItem) -> Option<String> {
    let error = item.response_error();
    let code = error.and_then(|error| error.code()).map(ToString::to_string).unwrap_or_default();
    if code.ends_with("DoesNotExist") {
        return None;
    }
    let message = error.and_then(|error| error.message()).unwrap_or("no reason given");
    Some(format!("version {}: {code}: {message}", item.version_number().unwrap_or_default()))
}
