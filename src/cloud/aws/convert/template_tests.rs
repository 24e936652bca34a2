//! Launch template data in both directions, and what counts as foreign in it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;

use aws_sdk_ec2::types as sdk;

use super::template::{template_data, template_request};
use crate::model::resources::{Interface, Metadata, TemplateData, Volume};

type Answer = sdk::builders::ResponseLaunchTemplateDataBuilder;

/// Puts one setting into an answer.
type Setting = fn(Answer) -> Answer;

/// Data with every field set that this program ever sets.
fn full() -> TemplateData {
    let tags: BTreeMap<String, String> =
        [("Name", "b"), ("k", "")].map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    TemplateData {
        image_id: Some("ami-1".into()),
        instance_type: Some("m6i.large".into()),
        key_name: Some("ops".into()),
        instance_profile: Some("workers".into()),
        user_data: Some("#cloud-boothook\n#!/bin/sh\n# \u{fc}\n".into()),
        volumes: [(
            "/dev/sda1".to_owned(),
            Volume {
                encrypted: Some(true),
                kms_key_id: Some("arn:aws:kms:eu-west-1:123456789012:key/k".into()),
                size_gib: Some(40),
                kind: Some("gp3".into()),
                delete_on_termination: Some(true),
            },
        )]
        .into(),
        interfaces: [(
            0,
            Interface {
                public_ip: Some(false),
                delete_on_termination: Some(true),
                security_groups: vec!["sg-2".into(), "sg-1".into()],
            },
        )]
        .into(),
        metadata: Some(Metadata {
            endpoint: Some("enabled".into()),
            tokens: Some("required".into()),
            hop_limit: Some(1),
            instance_tags: Some("disabled".into()),
        }),
        market_type: Some("spot".into()),
        tags: ["instance", "volume", "network-interface"].map(|kind| (kind.to_owned(), tags.clone())).into(),
        extras: BTreeMap::new(),
    }
}

/// The answer that holds what a request asked for, lists turned round, and nothing filled in.
fn echo(request: &sdk::RequestLaunchTemplateData) -> Answer {
    let profile = request.iam_instance_profile().map(|profile| {
        sdk::LaunchTemplateIamInstanceProfileSpecification::builder()
            .set_name(profile.name().map(Into::into))
            .set_arn(profile.arn().map(Into::into))
            .build()
    });
    let market = request.instance_market_options().map(|market| {
        let spot = sdk::LaunchTemplateSpotMarketOptions::builder().build();
        sdk::LaunchTemplateInstanceMarketOptions::builder()
            .set_market_type(market.market_type().cloned())
            .spot_options(spot)
            .build()
    });
    let tags = request.tag_specifications().iter().rev().map(|specification| {
        sdk::LaunchTemplateTagSpecification::builder()
            .set_resource_type(specification.resource_type().cloned())
            .set_tags(Some(specification.tags().iter().rev().cloned().collect()))
            .build()
    });
    sdk::ResponseLaunchTemplateData::builder()
        .set_image_id(request.image_id().map(Into::into))
        .set_instance_type(request.instance_type().cloned())
        .set_key_name(request.key_name().map(Into::into))
        .set_iam_instance_profile(profile)
        .set_user_data(request.user_data().map(Into::into))
        .set_block_device_mappings(Some(request.block_device_mappings().iter().map(echo_volume).collect()))
        .set_network_interfaces(Some(request.network_interfaces().iter().map(echo_interface).collect()))
        .set_metadata_options(request.metadata_options().map(echo_metadata))
        .set_instance_market_options(market)
        .set_tag_specifications(Some(tags.collect()))
}

fn echo_volume(
    request: &sdk::LaunchTemplateBlockDeviceMappingRequest,
) -> sdk::LaunchTemplateBlockDeviceMapping {
    let ebs = request.ebs().unwrap();
    let ebs = sdk::LaunchTemplateEbsBlockDevice::builder()
        .set_encrypted(ebs.encrypted())
        .set_kms_key_id(ebs.kms_key_id().map(Into::into))
        .set_volume_size(ebs.volume_size())
        .set_volume_type(ebs.volume_type().cloned())
        .set_delete_on_termination(ebs.delete_on_termination())
        .build();
    sdk::LaunchTemplateBlockDeviceMapping::builder()
        .set_device_name(request.device_name().map(Into::into))
        .ebs(ebs)
        .build()
}

fn echo_interface(
    request: &sdk::LaunchTemplateInstanceNetworkInterfaceSpecificationRequest,
) -> sdk::LaunchTemplateInstanceNetworkInterfaceSpecification {
    sdk::LaunchTemplateInstanceNetworkInterfaceSpecification::builder()
        .set_device_index(request.device_index())
        .set_associate_public_ip_address(request.associate_public_ip_address())
        .set_delete_on_termination(request.delete_on_termination())
        .set_groups(Some(request.groups().to_vec()))
        .build()
}

fn echo_metadata(
    request: &sdk::LaunchTemplateInstanceMetadataOptionsRequest,
) -> sdk::LaunchTemplateInstanceMetadataOptions {
    sdk::LaunchTemplateInstanceMetadataOptions::builder()
        .set_http_endpoint(request.http_endpoint().cloned())
        .set_http_tokens(request.http_tokens().cloned())
        .set_http_put_response_hop_limit(request.http_put_response_hop_limit())
        .set_instance_metadata_tags(request.instance_metadata_tags().cloned())
        .build()
}

#[test]
fn what_is_sent_is_what_is_read() {
    for data in [
        full(),
        TemplateData::default(),
        TemplateData { instance_profile: Some("arn:aws:iam::1:instance-profile/w".into()), ..full() },
        TemplateData { user_data: Some("base64:/w==".into()), ..full() },
    ] {
        assert_eq!(template_data(&echo(&template_request(&data)).build()), data);
    }
}

#[test]
fn nothing_absent_is_sent() {
    let request = template_request(&TemplateData::default());
    assert_eq!(request, sdk::RequestLaunchTemplateData::builder().build());
    let request = template_request(&TemplateData { key_name: None, market_type: None, ..full() });
    assert_eq!((request.key_name(), request.instance_market_options()), (None, None));
}

#[test]
fn absent_and_empty_read_the_same() {
    let answer = sdk::ResponseLaunchTemplateData::builder()
        .image_id("")
        .key_name("")
        .user_data("")
        .iam_instance_profile(sdk::LaunchTemplateIamInstanceProfileSpecification::builder().name("").build())
        .metadata_options(sdk::LaunchTemplateInstanceMetadataOptions::builder().build())
        .placement(sdk::LaunchTemplatePlacement::builder().group_name("").build())
        .instance_market_options(sdk::LaunchTemplateInstanceMarketOptions::builder().build())
        .build();
    assert_eq!(template_data(&answer), TemplateData::default());
}

#[test]
fn user_data_that_is_no_text_or_no_base64_survives() {
    let read = |encoded: &str| {
        template_data(&sdk::ResponseLaunchTemplateData::builder().user_data(encoded).build()).user_data
    };
    assert_eq!(read("I2Eg\nI2I=").as_deref(), Some("#a #b"));
    assert_eq!(read("/w==").as_deref(), Some("base64:/w=="));
    assert_eq!(read("%%").as_deref(), Some("base64:%%"));
}

#[test]
fn what_aws_fills_in_is_no_difference() {
    let request = template_request(&full());
    let metadata = sdk::LaunchTemplateInstanceMetadataOptions::builder()
        .http_endpoint("enabled".into())
        .http_tokens("required".into())
        .http_put_response_hop_limit(1)
        .instance_metadata_tags("disabled".into())
        .http_protocol_ipv6("disabled".into())
        .state("pending".into());
    let answer = echo(&request)
        .ebs_optimized(false)
        .disable_api_termination(false)
        .disable_api_stop(false)
        .instance_initiated_shutdown_behavior("stop".into())
        .monitoring(sdk::LaunchTemplatesMonitoring::builder().enabled(false).build())
        .placement(
            sdk::LaunchTemplatePlacement::builder().tenancy("default".into()).partition_number(0).build(),
        )
        .hibernation_options(sdk::LaunchTemplateHibernationOptions::builder().configured(false).build())
        .enclave_options(sdk::LaunchTemplateEnclaveOptions::builder().enabled(false).build())
        .maintenance_options(
            sdk::LaunchTemplateInstanceMaintenanceOptions::builder().auto_recovery("default".into()).build(),
        )
        .operator(sdk::OperatorResponse::builder().managed(false).build())
        .set_network_interfaces(Some(vec![
            sdk::LaunchTemplateInstanceNetworkInterfaceSpecification::builder()
                .device_index(0)
                .network_card_index(0)
                .associate_public_ip_address(false)
                .delete_on_termination(true)
                .interface_type("interface")
                .description("")
                .set_groups(Some(vec!["sg-2".into(), "sg-1".into()]))
                .set_private_ip_addresses(Some(Vec::new()))
                .build(),
        ]))
        .set_metadata_options(Some(metadata.build()))
        .build();
    assert_eq!(template_data(&answer), full());
}

#[test]
fn every_foreign_setting_shows() {
    let cases: Vec<(&str, &str, Setting)> = vec![
        ("kernel_id", "aki-1", |a| a.kernel_id("aki-1")),
        ("ram_disk_id", "ari-1", |a| a.ram_disk_id("ari-1")),
        ("ebs_optimized", "true", |a| a.ebs_optimized(true)),
        ("disable_api_termination", "true", |a| a.disable_api_termination(true)),
        ("disable_api_stop", "true", |a| a.disable_api_stop(true)),
        ("instance_initiated_shutdown_behavior", "terminate", |a| {
            a.instance_initiated_shutdown_behavior("terminate".into())
        }),
        ("monitoring", "true", |a| {
            a.monitoring(sdk::LaunchTemplatesMonitoring::builder().enabled(true).build())
        }),
        ("placement.tenancy", "dedicated", |a| {
            a.placement(sdk::LaunchTemplatePlacement::builder().tenancy("dedicated".into()).build())
        }),
        ("placement.availability_zone", "eu-west-1a", |a| {
            a.placement(sdk::LaunchTemplatePlacement::builder().availability_zone("eu-west-1a").build())
        }),
        ("cpu_options.core_count", "2", |a| {
            a.cpu_options(sdk::LaunchTemplateCpuOptions::builder().core_count(2).build())
        }),
        ("credit_specification.cpu_credits", "unlimited", |a| {
            a.credit_specification(sdk::CreditSpecification::builder().cpu_credits("unlimited").build())
        }),
        ("hibernation_options.configured", "true", |a| {
            a.hibernation_options(sdk::LaunchTemplateHibernationOptions::builder().configured(true).build())
        }),
        ("enclave_options.enabled", "true", |a| {
            a.enclave_options(sdk::LaunchTemplateEnclaveOptions::builder().enabled(true).build())
        }),
        ("maintenance_options.auto_recovery", "disabled", |a| {
            let options = sdk::LaunchTemplateInstanceMaintenanceOptions::builder();
            a.maintenance_options(options.auto_recovery("disabled".into()).build())
        }),
        ("metadata_options.http_protocol_ipv6", "enabled", |a| {
            let options = sdk::LaunchTemplateInstanceMetadataOptions::builder();
            a.metadata_options(options.http_protocol_ipv6("enabled".into()).build())
        }),
        ("security_group_ids", "sg-1, sg-2", |a| a.security_group_ids("sg-2").security_group_ids("sg-1")),
        ("security_groups", "default", |a| a.security_groups("default")),
        ("license_specifications", "arn:l", |a| {
            let license = sdk::LaunchTemplateLicenseConfiguration::builder();
            a.license_specifications(license.license_configuration_arn("arn:l").build())
        }),
        ("spot_options.max_price", "0.1", |a| {
            let spot = sdk::LaunchTemplateSpotMarketOptions::builder().max_price("0.1").build();
            a.instance_market_options(
                sdk::LaunchTemplateInstanceMarketOptions::builder().spot_options(spot).build(),
            )
        }),
        ("capacity_reservation_specification.preference", "none", |a| {
            let capacity = sdk::LaunchTemplateCapacityReservationSpecificationResponse::builder();
            a.capacity_reservation_specification(
                capacity.capacity_reservation_preference("none".into()).build(),
            )
        }),
        ("network_performance_options.bandwidth_weighting", "vpc-1", |a| {
            let options = sdk::LaunchTemplateNetworkPerformanceOptions::builder();
            a.network_performance_options(options.bandwidth_weighting("vpc-1".into()).build())
        }),
        ("private_dns_name_options.hostname_type", "resource-name", |a| {
            let options = sdk::LaunchTemplatePrivateDnsNameOptions::builder();
            a.private_dns_name_options(options.hostname_type("resource-name".into()).build())
        }),
        ("instance_requirements.v_cpu_count", "2..4", |a| {
            let count = sdk::VCpuCountRange::builder().min(2).max(4).build();
            a.instance_requirements(sdk::InstanceRequirements::builder().v_cpu_count(count).build())
        }),
        ("instance_requirements.allowed_instance_types", "c6*, m6*", |a| {
            let types = sdk::InstanceRequirements::builder().allowed_instance_types("m6*");
            a.instance_requirements(types.allowed_instance_types("c6*").build())
        }),
        ("operator.principal", "eks", |a| {
            a.operator(sdk::OperatorResponse::builder().principal("eks").build())
        }),
        ("secondary_interfaces[0:1].subnet_id", "subnet-1", |a| {
            let interface =
                sdk::LaunchTemplateInstanceSecondaryInterfaceSpecification::builder().device_index(1);
            a.secondary_interfaces(interface.secondary_subnet_id("subnet-1").build())
        }),
    ];
    for (name, value, set) in cases {
        let data = template_data(&set(sdk::ResponseLaunchTemplateData::builder()).build());
        assert_eq!(data.extras.get(name).map(String::as_str), Some(value), "{name}: {:?}", data.extras);
        assert_eq!(data.extras.len(), 1, "{name}: {:?}", data.extras);
    }
}

#[test]
fn foreign_settings_of_disks_and_interfaces_show() {
    let read = |ebs: sdk::builders::LaunchTemplateEbsBlockDeviceBuilder| {
        let mapping =
            sdk::LaunchTemplateBlockDeviceMapping::builder().device_name("/dev/sda1").ebs(ebs.build());
        let answer = sdk::ResponseLaunchTemplateData::builder().block_device_mappings(mapping.build());
        template_data(&answer.build()).extras
    };
    let ebs = sdk::LaunchTemplateEbsBlockDevice::builder;
    let gp3 = || ebs().volume_type(sdk::VolumeType::Gp3);
    let named = |setting: &str, value: &str| -> BTreeMap<String, String> {
        [(format!("volumes[\"/dev/sda1\"].{setting}"), value.to_owned())].into()
    };
    assert_eq!(read(gp3().iops(3000).throughput(125)), BTreeMap::new());
    assert_eq!(read(gp3().iops(6000)), named("iops", "6000"));
    assert_eq!(read(ebs().iops(3000)), named("iops", "3000"));
    assert_eq!(read(gp3().throughput(250)), named("throughput", "250"));
    assert_eq!(read(ebs().snapshot_id("snap-1")), named("snapshot_id", "snap-1"));

    let interface = sdk::LaunchTemplateInstanceNetworkInterfaceSpecification::builder()
        .device_index(0)
        .subnet_id("subnet-1")
        .ipv6_address_count(1)
        .private_ip_addresses(
            sdk::PrivateIpAddressSpecification::builder().private_ip_address("10.0.0.9").build(),
        );
    let answer = sdk::ResponseLaunchTemplateData::builder().network_interfaces(interface.build()).build();
    let extras = template_data(&answer).extras;
    assert_eq!(extras["interfaces[0].subnet_id"], "subnet-1");
    assert_eq!(extras["interfaces[0].ipv6_address_count"], "1");
    assert_eq!(extras["interfaces[0].private_ip_addresses"], "10.0.0.9");
}

/// A field that an SDK update brings must be thought about before it can be overlooked.
#[test]
fn no_field_of_the_sdk_is_unknown() {
    let fields = |debug: String| debug.matches(": ").count();
    let count = fields(format!("{:?}", sdk::ResponseLaunchTemplateData::builder().build()));
    assert_eq!(count, 34, "launch template data");
    let count = fields(format!("{:?}", sdk::LaunchTemplateEbsBlockDevice::builder().build()));
    assert_eq!(count, 10, "EBS block device");
    let interface = sdk::LaunchTemplateInstanceNetworkInterfaceSpecification::builder().build();
    assert_eq!(fields(format!("{interface:?}")), 23, "network interface");
    assert_eq!(fields(format!("{:?}", sdk::LaunchTemplatePlacement::builder().build())), 10, "placement");
    let options = sdk::LaunchTemplateInstanceMetadataOptions::builder().build();
    assert_eq!(fields(format!("{options:?}")), 6, "metadata options");
    assert_eq!(fields(format!("{:?}", sdk::InstanceRequirements::builder().build())), 26, "requirements");
    assert_eq!(fields(format!("{:?}", sdk::LaunchTemplateCpuOptions::builder().build())), 4, "CPU options");
}
