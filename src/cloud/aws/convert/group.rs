//! Auto Scaling: groups, policies, instance refreshes, activities.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_autoscaling::types::{
    self as sdk, AutoScalingGroup, InstanceRefresh, LaunchTemplateSpecification, ScalingPolicy,
};

use super::{count, extras::Extras, filled, moment, text};
use crate::{
    clock::Timestamp,
    contract::request::Tags,
    model::{
        observed::{Activity, Group, GroupMember, GroupTag, Launch, Policy, Refresh, TemplateUse},
        resources::TemplateRef,
        roll,
    },
};

/// What the tags of a group name as their resource's type.
const GROUP_TYPE: &str = "auto-scaling-group";

pub(in crate::cloud::aws) fn group(from: &AutoScalingGroup) -> Group {
    let mut members: Vec<GroupMember> = from.instances().iter().map(member).collect();
    members.sort_by(|a, b| a.id.cmp(&b.id));
    Group {
        name: text(from.auto_scaling_group_name()),
        arn: text(from.auto_scaling_group_arn()),
        // Only a group that is being deleted has a status: `Delete in progress`.
        deleting: from.status().is_some_and(|status| status.to_ascii_lowercase().contains("delete")),
        min: count(from.min_size()).unwrap_or_default(),
        max: count(from.max_size()).unwrap_or_default(),
        desired: count(from.desired_capacity()).unwrap_or_default(),
        launch: launch(from),
        subnets: from
            .vpc_zone_identifier()
            .unwrap_or_default()
            .split(',')
            .map(str::trim)
            .filter(|subnet| !subnet.is_empty())
            .map(str::to_owned)
            .collect(),
        zones: from.availability_zones().iter().cloned().collect(),
        health_check_type: text(from.health_check_type()),
        capacity_rebalance: from.capacity_rebalance().unwrap_or_default(),
        suspended: from.suspended_processes().iter().filter_map(|p| filled(p.process_name())).collect(),
        tags: from.tags().iter().map(tag).collect(),
        members,
        warm_pool: from.warm_pool_configuration().is_some(),
        deletion_protection: from
            .deletion_protection()
            .map(|protection| protection.as_str().to_owned())
            .filter(|protection| protection != "none"),
    }
}

fn launch(from: &AutoScalingGroup) -> Launch {
    let mixed = from
        .mixed_instances_policy()
        .and_then(|policy| policy.launch_template())
        .and_then(|template| template.launch_template_specification());
    match (from.launch_template(), mixed) {
        (Some(template), _) => Launch::Template(template_use(template)),
        (None, Some(template)) => Launch::Mixed(template_use(template)),
        (None, None) => Launch::Other,
    }
}

fn template_use(from: &LaunchTemplateSpecification) -> TemplateUse {
    TemplateUse {
        id: text(from.launch_template_id()),
        name: text(from.launch_template_name()),
        // A request without a version means the default one, and may be echoed so.
        version: filled(from.version()).unwrap_or_else(|| "$Default".to_owned()),
    }
}

fn member(from: &sdk::Instance) -> GroupMember {
    GroupMember {
        id: text(from.instance_id()),
        zone: text(from.availability_zone()),
        lifecycle: text(from.lifecycle_state()),
        health: text(from.health_status()),
        protected: from.protected_from_scale_in().unwrap_or_default(),
        template: from.launch_template().map(template_use),
    }
}

fn tag(from: &sdk::TagDescription) -> (String, GroupTag) {
    let propagate = from.propagate_at_launch().unwrap_or_default();
    (text(from.key()), GroupTag { value: text(from.value()), propagate })
}

pub(in crate::cloud::aws) fn group_tags(group: &str, tags: &Tags) -> Vec<sdk::Tag> {
    tags.iter()
        .map(|(key, value)| group_tag(group, key).value(value).propagate_at_launch(false).build())
        .collect()
}

pub(in crate::cloud::aws) fn group_keys(group: &str, keys: &BTreeSet<String>) -> Vec<sdk::Tag> {
    keys.iter().map(|key| group_tag(group, key).build()).collect()
}

fn group_tag(group: &str, key: &str) -> sdk::builders::TagBuilder {
    sdk::Tag::builder().resource_type(GROUP_TYPE).resource_id(group).key(key)
}

/// A template as a group is given it: always its latest version.
pub(in crate::cloud::aws) fn template_specification(template: &TemplateRef) -> LaunchTemplateSpecification {
    let builder = LaunchTemplateSpecification::builder().version("$Latest");
    match template {
        TemplateRef::Id(id) => builder.launch_template_id(id).build(),
        TemplateRef::Named(name) => builder.launch_template_name(name).build(),
    }
}

pub(in crate::cloud::aws) fn policy(from: &ScalingPolicy) -> Policy {
    let tracking = from.target_tracking_configuration();
    let metric = tracking.and_then(|tracking| tracking.predefined_metric_specification());
    let target_tracking = metric
        .and_then(|metric| metric.predefined_metric_type())
        .zip(tracking.and_then(|tracking| tracking.target_value()))
        .map(|(metric, target)| (metric.to_string(), target));
    Policy { name: text(from.policy_name()), target_tracking, extras: policy_extras(from) }
}

fn policy_extras(from: &ScalingPolicy) -> BTreeMap<String, String> {
    let mut extras = Extras::default();
    extras.unless("policy_type", from.policy_type(), "TargetTrackingScaling");
    extras.unless("enabled", from.enabled(), "true");
    extras.set("adjustment_type", from.adjustment_type());
    extras.set("min_adjustment_step", from.min_adjustment_step());
    extras.set("min_adjustment_magnitude", from.min_adjustment_magnitude());
    extras.set("scaling_adjustment", from.scaling_adjustment());
    extras.set("cooldown", from.cooldown());
    extras.set("metric_aggregation_type", from.metric_aggregation_type());
    extras.set("estimated_instance_warmup", from.estimated_instance_warmup());
    extras.list(
        "step_adjustments",
        from.step_adjustments().iter().map(|step| {
            let bound = |bound: Option<f64>| text(bound);
            let (low, high) = (step.metric_interval_lower_bound(), step.metric_interval_upper_bound());
            format!("{}..{}: {}", bound(low), bound(high), text(step.scaling_adjustment()))
        }),
    );
    if let Some(tracking) = from.target_tracking_configuration() {
        extras.unless("disable_scale_in", tracking.disable_scale_in(), "false");
        let metric = tracking.predefined_metric_specification();
        extras.set("resource_label", metric.and_then(|metric| metric.resource_label()));
        if let Some(metric) = tracking.customized_metric_specification() {
            let name = filled(metric.metric_name()).unwrap_or_else(|| "metric math".to_owned());
            extras
                .set("customized_metric", Some(format!("{} {name}", text(metric.namespace())).trim_start()));
        }
    }
    let predictive =
        from.predictive_scaling_configuration().map(|predictive| predictive.metric_specifications());
    extras.unless("predictive_scaling.metrics", predictive.map(<[_]>::len), "0");
    extras.into_map()
}

pub(in crate::cloud::aws) fn refresh(from: &InstanceRefresh) -> Refresh {
    let desired = from.desired_configuration().and_then(|desired| {
        let mixed = desired
            .mixed_instances_policy()
            .and_then(|policy| policy.launch_template())
            .and_then(|template| template.launch_template_specification());
        desired.launch_template().or(mixed)
    });
    Refresh {
        id: text(from.instance_refresh_id()),
        status: text(from.status()),
        reason: filled(from.status_reason()),
        start: moment(from.start_time()),
        end: moment(from.end_time()),
        percentage: count(from.percentage_complete()),
        remaining: count(from.instances_to_update()),
        warmup_seconds: from.preferences().and_then(|preferences| count(preferences.instance_warmup())),
        desired_template: desired.map(template_use),
    }
}

/// AWS lists the newest first, but does not promise to. One that waits to begin is the newest; one that
/// ended without ever beginning tells no time, and stays where AWS put it behind those that do.
pub(in crate::cloud::aws) fn newest_refresh_first(refreshes: &mut [Refresh]) {
    let age = |refresh: &Refresh| {
        let waiting = if roll::is_final(&refresh.status) { Timestamp(i64::MIN) } else { Timestamp(i64::MAX) };
        refresh.start.or(refresh.end).unwrap_or(waiting)
    };
    refreshes.sort_by_key(|refresh| std::cmp::Reverse(age(refresh)));
}

pub(in crate::cloud::aws) fn activity(from: &sdk::Activity) -> Activity {
    Activity {
        start: moment(from.start_time()).unwrap_or_default(),
        status: text(from.status_code()),
        description: text(from.description()),
        message: filled(from.status_message()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    /// A policy as AWS answers one that was put with metric and target alone.
    fn plain() -> sdk::builders::ScalingPolicyBuilder {
        ScalingPolicy::builder()
            .policy_name("p")
            .policy_type("TargetTrackingScaling")
            .enabled(true)
            .alarms(sdk::Alarm::builder().alarm_name("TargetTracking-p-AlarmHigh").build())
            .target_tracking_configuration(tracking().disable_scale_in(false).build())
    }

    fn tracking() -> sdk::builders::TargetTrackingConfigurationBuilder {
        sdk::TargetTrackingConfiguration::builder()
            .predefined_metric_specification(metric().build())
            .target_value(60.0)
    }

    fn metric() -> sdk::builders::PredefinedMetricSpecificationBuilder {
        sdk::PredefinedMetricSpecification::builder()
            .predefined_metric_type(sdk::MetricType::AsgAverageCpuUtilization)
    }

    #[test]
    fn a_plain_policy_has_no_extras() {
        let wanted = Some(("ASGAverageCPUUtilization".to_owned(), 60.0));
        let read = policy(&plain().build());
        assert_eq!(read, Policy { name: "p".into(), target_tracking: wanted, extras: BTreeMap::new() });
    }

    #[test]
    fn every_edit_of_a_policy_shows() {
        let labelled = tracking().predefined_metric_specification(metric().resource_label("app/x").build());
        let cases = [
            ("enabled", plain().enabled(false)),
            ("cooldown", plain().cooldown(300)),
            ("adjustment_type", plain().adjustment_type("ChangeInCapacity")),
            ("estimated_instance_warmup", plain().estimated_instance_warmup(0)),
            ("min_adjustment_magnitude", plain().min_adjustment_magnitude(2)),
            ("policy_type", plain().policy_type("StepScaling")),
            (
                "disable_scale_in",
                plain().target_tracking_configuration(tracking().disable_scale_in(true).build()),
            ),
            ("resource_label", plain().target_tracking_configuration(labelled.build())),
        ];
        for (name, edited) in cases {
            let extras = policy(&edited.build()).extras;
            assert_eq!(extras.keys().collect::<Vec<_>>(), [name]);
        }
    }

    #[test]
    fn a_metric_of_ones_own_is_not_target_tracking_as_we_know_it() {
        let custom =
            sdk::CustomizedMetricSpecification::builder().namespace("App").metric_name("Queue").build();
        let tracking = sdk::TargetTrackingConfiguration::builder()
            .customized_metric_specification(custom)
            .target_value(60.0)
            .build();
        let read = policy(&plain().target_tracking_configuration(tracking).build());
        assert_eq!(read.target_tracking, None);
        assert_eq!(read.extras["customized_metric"], "App Queue");
    }
}
