//! What AWS shows, as it says it: values of the model to XML.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use machinepool::{
    clock::Timestamp,
    model::{
        observed::{Activity, Group, Image, Launch, Policy, Refresh, Template, TemplateUse, TemplateVersion},
        resources::TemplateData,
    },
};

use super::{
    aws::{AUTOSCALING, EC2},
    xml::Xml,
};

const MADE: &str = "2026-01-31T12:00:00.000Z";

/// An answer of Auto Scaling: a result within a response.
pub(crate) fn autoscaling(operation: &str, content: impl FnOnce(&mut Xml)) -> String {
    Xml::document(&format!("{operation}Response"), AUTOSCALING, |xml| {
        xml.node(&format!("{operation}Result"), content);
        xml.node("ResponseMetadata", |xml| xml.leaf("RequestId", "7c6e177f-f082-11e1-ac58-example00001"));
    })
}

/// An answer of EC2.
pub(crate) fn ec2(operation: &str, content: impl FnOnce(&mut Xml)) -> String {
    Xml::document(&format!("{operation}Response"), EC2, |xml| {
        xml.leaf("requestId", "8f7724cf-496f-496e-8fe3-example00001");
        content(xml);
    })
}

fn template_use(xml: &mut Xml, from: &TemplateUse) {
    xml.node("LaunchTemplate", |xml| {
        xml.leaf("LaunchTemplateId", &from.id);
        xml.leaf("LaunchTemplateName", &from.name);
        xml.leaf("Version", &from.version);
    });
}

pub(crate) fn group(xml: &mut Xml, from: &Group) {
    xml.leaf("AutoScalingGroupName", &from.name);
    xml.leaf("AutoScalingGroupARN", &from.arn);
    if let Launch::Template(template) = &from.launch {
        template_use(xml, template);
    }
    xml.leaf("MinSize", from.min);
    xml.leaf("MaxSize", from.max);
    xml.leaf("DesiredCapacity", from.desired);
    xml.leaf("DefaultCooldown", 300);
    xml.empty("LoadBalancerNames");
    xml.empty("TargetGroupARNs");
    xml.leaf("HealthCheckType", &from.health_check_type);
    xml.leaf("HealthCheckGracePeriod", 0);
    xml.list("Instances", "member", &from.members, |xml, member| {
        xml.leaf("InstanceId", &member.id);
        xml.leaf("InstanceType", "m6i.large");
        xml.leaf("AvailabilityZone", &member.zone);
        xml.leaf("LifecycleState", &member.lifecycle);
        xml.leaf("HealthStatus", "Healthy");
        if let Some(template) = &member.template {
            template_use(xml, template);
        }
        xml.leaf("ProtectedFromScaleIn", member.protected);
    });
    xml.leaf("CreatedTime", MADE);
    xml.list("SuspendedProcesses", "member", &from.suspended, |xml, process| {
        xml.leaf("ProcessName", process);
        xml.leaf("SuspensionReason", format!("User suspended at {MADE}"));
    });
    let subnets: Vec<&str> = from.subnets.iter().map(String::as_str).collect();
    xml.leaf("VPCZoneIdentifier", subnets.join(","));
    xml.empty("EnabledMetrics");
    if from.deleting {
        xml.leaf("Status", "Delete in progress");
    }
    xml.list("Tags", "member", &from.tags, |xml, (key, tag)| {
        xml.leaves(&[("ResourceId", &from.name), ("ResourceType", "auto-scaling-group")]);
        xml.leaves(&[("Key", key), ("Value", &tag.value)]);
        xml.leaf("PropagateAtLaunch", tag.propagate);
    });
    xml.leaf("NewInstancesProtectedFromScaleIn", false);
    xml.leaf("CapacityRebalance", from.capacity_rebalance);
    xml.empty("TrafficSources");
}

pub(crate) fn policy(xml: &mut Xml, from: &Policy) {
    xml.leaves(&[("PolicyName", &from.name), ("PolicyType", "TargetTrackingScaling")]);
    if let Some((metric, target)) = &from.target_tracking {
        xml.node("TargetTrackingConfiguration", |xml| {
            xml.node("PredefinedMetricSpecification", |xml| xml.leaf("PredefinedMetricType", metric));
            xml.leaf("TargetValue", format!("{target:.1}"));
            xml.leaf("DisableScaleIn", false);
        });
    }
    xml.leaf("Enabled", true);
    xml.empty("Alarms");
}

pub(crate) fn refresh(xml: &mut Xml, from: &Refresh) {
    xml.leaves(&[("InstanceRefreshId", &from.id), ("Status", &from.status)]);
    xml.leaf_if("StatusReason", from.reason.as_ref());
    xml.leaf_if("StartTime", from.start.map(Timestamp::rfc3339));
    xml.leaf_if("EndTime", from.end.map(Timestamp::rfc3339));
    xml.leaf_if("PercentageComplete", from.percentage);
    xml.leaf_if("InstancesToUpdate", from.remaining);
}

pub(crate) fn activity(xml: &mut Xml, from: &Activity) {
    xml.leaves(&[("StatusCode", &from.status), ("Description", &from.description)]);
    xml.leaf_if("StatusMessage", from.message.as_ref());
    xml.leaf("StartTime", from.start.rfc3339());
}

pub(crate) fn template(xml: &mut Xml, from: &Template) {
    xml.leaves(&[("launchTemplateId", &from.id), ("launchTemplateName", &from.name)]);
    xml.leaf("createTime", from.created.rfc3339());
    xml.leaf("createdBy", "arn:aws:sts::210987654321:assumed-role/captf/session");
    xml.leaf("defaultVersionNumber", from.default_version);
    xml.leaf("latestVersionNumber", from.latest_version);
    xml.tag_set(&from.tags);
}

pub(crate) fn version(xml: &mut Xml, from: &TemplateVersion) {
    xml.leaves(&[("launchTemplateId", &from.template_id), ("launchTemplateName", &from.template_name)]);
    xml.leaf("versionNumber", from.number);
    xml.leaf_if("versionDescription", from.description.as_ref());
    xml.leaf("createTime", from.created.rfc3339());
    xml.leaf("createdBy", "arn:aws:sts::210987654321:assumed-role/captf/session");
    xml.leaf("defaultVersion", from.is_default);
    xml.node("launchTemplateData", |xml| data(xml, &from.data));
}

fn data(xml: &mut Xml, from: &TemplateData) {
    xml.leaf_if("imageId", from.image_id.as_ref());
    xml.leaf_if("instanceType", from.instance_type.as_ref());
    xml.leaf_if("keyName", from.key_name.as_ref());
    if let Some(profile) = &from.instance_profile {
        xml.node("iamInstanceProfile", |xml| xml.leaf("name", profile));
    }
    xml.leaf_if("userData", from.user_data.as_ref().map(|text| STANDARD.encode(text)));
    xml.list("blockDeviceMappingSet", "item", &from.volumes, |xml, (device, volume)| {
        xml.leaf("deviceName", device);
        xml.node("ebs", |xml| {
            xml.leaf_if("encrypted", volume.encrypted);
            xml.leaf_if("deleteOnTermination", volume.delete_on_termination);
            xml.leaf_if("kmsKeyId", volume.kms_key_id.as_ref());
            xml.leaf_if("volumeSize", volume.size_gib);
            xml.leaf_if("volumeType", volume.kind.as_ref());
        });
    });
    xml.list("networkInterfaceSet", "item", &from.interfaces, |xml, (index, interface)| {
        xml.leaf("deviceIndex", index);
        xml.leaf_if("associatePublicIpAddress", interface.public_ip);
        xml.leaf_if("deleteOnTermination", interface.delete_on_termination);
        xml.node("groupSet", |xml| {
            for group in &interface.security_groups {
                xml.leaf("groupId", group);
            }
        });
    });
    if let Some(metadata) = &from.metadata {
        xml.node("metadataOptions", |xml| {
            xml.leaf_if("httpEndpoint", metadata.endpoint.as_ref());
            xml.leaf_if("httpTokens", metadata.tokens.as_ref());
            xml.leaf_if("httpPutResponseHopLimit", metadata.hop_limit);
            xml.leaf_if("instanceMetadataTags", metadata.instance_tags.as_ref());
        });
    }
    if let Some(market) = &from.market_type {
        xml.node("instanceMarketOptions", |xml| xml.leaf("marketType", market));
    }
    xml.list("tagSpecificationSet", "item", &from.tags, |xml, (kind, tags)| {
        xml.leaf("resourceType", kind);
        xml.tag_set(tags);
    });
}

pub(crate) fn image(xml: &mut Xml, from: &Image) {
    xml.leaves(&[("imageId", &from.id), ("imageLocation", &from.name), ("imageState", &from.state)]);
    xml.leaves(&[("imageOwnerId", "210987654321"), ("creationDate", &from.creation_date)]);
    xml.leaves(&[("isPublic", "false"), ("architecture", &from.architecture), ("imageType", "machine")]);
    xml.leaves(&[
        ("name", &from.name),
        ("rootDeviceType", "ebs"),
        ("rootDeviceName", &from.root_device_name),
    ]);
    xml.leaves(&[("virtualizationType", "hvm"), ("hypervisor", "xen"), ("enaSupport", "true")]);
}
