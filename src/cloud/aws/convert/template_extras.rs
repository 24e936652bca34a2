//! Everything that a launch template may hold and this program never sets. What AWS fills in by
//! itself is left out, or every plan would show a difference that no apply can mend.

use std::collections::BTreeMap;

use aws_sdk_ec2::types as sdk;

use super::{count, extras::Extras, requirements, text};

/// The settings of a version that this program does not model, name -> text.
pub(super) fn of(from: &sdk::ResponseLaunchTemplateData) -> BTreeMap<String, String> {
    let mut extras = Extras::default();
    instance(&mut extras, from);
    hardware(&mut extras, from);
    market(&mut extras, from);
    for mapping in from.block_device_mappings() {
        volume(&mut extras, mapping);
    }
    for interface in from.network_interfaces() {
        network_interface(&mut extras, interface);
    }
    if let Some(placed) = from.placement() {
        placement(&mut extras, placed);
    }
    if let Some(required) = from.instance_requirements() {
        requirements::note(&mut extras, required);
    }
    retired(&mut extras, from);
    extras.into_map()
}

/// How an instance behaves.
fn instance(extras: &mut Extras, from: &sdk::ResponseLaunchTemplateData) {
    extras.set("kernel_id", from.kernel_id());
    extras.set("ram_disk_id", from.ram_disk_id());
    extras.unless("disable_api_termination", from.disable_api_termination(), "false");
    extras.unless("disable_api_stop", from.disable_api_stop(), "false");
    let shutdown = from.instance_initiated_shutdown_behavior();
    extras.unless("instance_initiated_shutdown_behavior", shutdown, "stop");
    extras.unless("monitoring", from.monitoring().and_then(|options| options.enabled()), "false");
    extras.list("security_group_ids", from.security_group_ids());
    extras.list("security_groups", from.security_groups());
    let profile = from.iam_instance_profile();
    if profile.is_some_and(|profile| profile.name().is_some_and(|name| !name.is_empty())) {
        // Beside a name, which is what counts as the profile.
        extras.set("iam_instance_profile.arn", profile.and_then(|profile| profile.arn()));
    }
    let hibernation = from.hibernation_options().and_then(|options| options.configured());
    extras.unless("hibernation_options.configured", hibernation, "false");
    extras.unless("enclave_options.enabled", from.enclave_options().and_then(|o| o.enabled()), "false");
    let recovery = from.maintenance_options().and_then(|options| options.auto_recovery());
    extras.unless("maintenance_options.auto_recovery", recovery, "default");
    let metadata = from.metadata_options();
    let ipv6 = metadata.and_then(|options| options.http_protocol_ipv6());
    extras.unless("metadata_options.http_protocol_ipv6", ipv6, "disabled");
    if let Some(names) = from.private_dns_name_options() {
        // Which one it is by default follows the subnet; this is what AWS answers for most.
        extras.unless("private_dns_name_options.hostname_type", names.hostname_type(), "ip-name");
        let (a, aaaa) =
            (names.enable_resource_name_dns_a_record(), names.enable_resource_name_dns_aaaa_record());
        extras.unless("private_dns_name_options.enable_resource_name_dns_a_record", a, "false");
        extras.unless("private_dns_name_options.enable_resource_name_dns_aaaa_record", aaaa, "false");
    }
    if let Some(operator) = from.operator() {
        extras.unless("operator.managed", operator.managed(), "false");
        extras.set("operator.principal", operator.principal());
        extras.unless("operator.hidden_by_default", operator.hidden_by_default(), "false");
    }
}

/// What it runs on.
fn hardware(extras: &mut Extras, from: &sdk::ResponseLaunchTemplateData) {
    extras.unless("ebs_optimized", from.ebs_optimized(), "false");
    if let Some(cpu) = from.cpu_options() {
        extras.set("cpu_options.core_count", cpu.core_count());
        extras.set("cpu_options.threads_per_core", cpu.threads_per_core());
        extras.unless("cpu_options.amd_sev_snp", cpu.amd_sev_snp(), "disabled");
        extras.unless("cpu_options.nested_virtualization", cpu.nested_virtualization(), "disabled");
    }
    let credits = from.credit_specification().and_then(|credits| credits.cpu_credits());
    extras.set("credit_specification.cpu_credits", credits);
    let bandwidth = from.network_performance_options().and_then(|options| options.bandwidth_weighting());
    extras.unless("network_performance_options.bandwidth_weighting", bandwidth, "default");
    let licenses = from.license_specifications().iter().filter_map(|l| l.license_configuration_arn());
    extras.list("license_specifications", licenses);
    for interface in from.secondary_interfaces() {
        secondary_interface(extras, interface);
    }
}

/// How it is paid for.
fn market(extras: &mut Extras, from: &sdk::ResponseLaunchTemplateData) {
    if let Some(spot) = from.instance_market_options().and_then(|options| options.spot_options()) {
        extras.set("spot_options.max_price", spot.max_price());
        extras.unless("spot_options.spot_instance_type", spot.spot_instance_type(), "one-time");
        extras.unless("spot_options.block_duration_minutes", spot.block_duration_minutes(), "0");
        extras.set("spot_options.valid_until", spot.valid_until());
        let behavior = spot.instance_interruption_behavior();
        extras.unless("spot_options.instance_interruption_behavior", behavior, "terminate");
    }
    if let Some(capacity) = from.capacity_reservation_specification() {
        let preference = capacity.capacity_reservation_preference();
        extras.unless("capacity_reservation_specification.preference", preference, "open");
        if let Some(target) = capacity.capacity_reservation_target() {
            extras.set("capacity_reservation_specification.id", target.capacity_reservation_id());
            let group = target.capacity_reservation_resource_group_arn();
            extras.set("capacity_reservation_specification.resource_group_arn", group);
        }
    }
}

fn placement(extras: &mut Extras, from: &sdk::LaunchTemplatePlacement) {
    extras.set("placement.availability_zone", from.availability_zone());
    extras.set("placement.availability_zone_id", from.availability_zone_id());
    extras.unless("placement.affinity", from.affinity(), "default");
    extras.set("placement.group_name", from.group_name());
    extras.set("placement.group_id", from.group_id());
    extras.set("placement.host_id", from.host_id());
    extras.unless("placement.tenancy", from.tenancy(), "default");
    extras.set("placement.spread_domain", from.spread_domain());
    extras.set("placement.host_resource_group_arn", from.host_resource_group_arn());
    extras.unless("placement.partition_number", from.partition_number(), "0");
}

fn volume(extras: &mut Extras, from: &sdk::LaunchTemplateBlockDeviceMapping) {
    let device = text(from.device_name());
    let name = |setting: &str| format!("volumes[\"{device}\"].{setting}");
    extras.set(name("virtual_name"), from.virtual_name());
    extras.set(name("no_device"), from.no_device());
    let Some(ebs) = from.ebs() else { return };
    // The baseline of gp3 may be spelled out.
    let (iops, throughput) = match ebs.volume_type() {
        Some(sdk::VolumeType::Gp3) => ("3000", "125"),
        _ => ("0", "0"),
    };
    extras.unless(name("iops"), ebs.iops(), iops);
    extras.unless(name("throughput"), ebs.throughput(), throughput);
    extras.set(name("snapshot_id"), ebs.snapshot_id());
    extras.unless(name("volume_initialization_rate"), ebs.volume_initialization_rate(), "0");
    extras.unless(name("ebs_card_index"), ebs.ebs_card_index(), "0");
}

fn network_interface(extras: &mut Extras, from: &sdk::LaunchTemplateInstanceNetworkInterfaceSpecification) {
    let index = count(from.device_index()).unwrap_or_default();
    let name = |setting: &str| format!("interfaces[{index}].{setting}");
    extras.unless(name("associate_carrier_ip_address"), from.associate_carrier_ip_address(), "false");
    extras.set(name("description"), from.description());
    extras.unless(name("interface_type"), from.interface_type(), "interface");
    extras.unless(name("ipv6_address_count"), from.ipv6_address_count(), "0");
    extras.list(name("ipv6_addresses"), from.ipv6_addresses().iter().filter_map(|a| a.ipv6_address()));
    extras.set(name("network_interface_id"), from.network_interface_id());
    extras.set(name("private_ip_address"), from.private_ip_address());
    let addresses = from.private_ip_addresses().iter().filter_map(|a| a.private_ip_address());
    extras.list(name("private_ip_addresses"), addresses);
    let secondary = from.secondary_private_ip_address_count();
    extras.unless(name("secondary_private_ip_address_count"), secondary, "0");
    extras.set(name("subnet_id"), from.subnet_id());
    extras.unless(name("network_card_index"), from.network_card_index(), "0");
    extras.list(name("ipv4_prefixes"), from.ipv4_prefixes().iter().filter_map(|p| p.ipv4_prefix()));
    extras.unless(name("ipv4_prefix_count"), from.ipv4_prefix_count(), "0");
    extras.list(name("ipv6_prefixes"), from.ipv6_prefixes().iter().filter_map(|p| p.ipv6_prefix()));
    extras.unless(name("ipv6_prefix_count"), from.ipv6_prefix_count(), "0");
    extras.unless(name("primary_ipv6"), from.primary_ipv6(), "false");
    extras.unless(name("ena_queue_count"), from.ena_queue_count(), "0");
    if let Some(srd) = from.ena_srd_specification() {
        extras.unless(name("ena_srd_enabled"), srd.ena_srd_enabled(), "false");
        let udp = srd.ena_srd_udp_specification().and_then(|udp| udp.ena_srd_udp_enabled());
        extras.unless(name("ena_srd_udp_enabled"), udp, "false");
    }
    if let Some(tracking) = from.connection_tracking_specification() {
        extras.set(name("connection_tracking.tcp_established_timeout"), tracking.tcp_established_timeout());
        extras.set(name("connection_tracking.udp_timeout"), tracking.udp_timeout());
        extras.set(name("connection_tracking.udp_stream_timeout"), tracking.udp_stream_timeout());
    }
}

fn secondary_interface(
    extras: &mut Extras,
    from: &sdk::LaunchTemplateInstanceSecondaryInterfaceSpecification,
) {
    let index = count(from.device_index()).unwrap_or_default();
    let card = count(from.network_card_index()).unwrap_or_default();
    let name = |setting: &str| format!("secondary_interfaces[{card}:{index}].{setting}");
    extras.set(name("subnet_id"), from.secondary_subnet_id());
    extras.set(name("interface_type"), from.interface_type());
    extras.set(name("delete_on_termination"), from.delete_on_termination());
    extras.set(name("private_ip_address_count"), from.private_ip_address_count());
    let addresses = from.private_ip_addresses().iter().filter_map(|a| a.private_ip_address());
    extras.list(name("private_ip_addresses"), addresses);
}

/// What EC2 no longer launches but may still answer.
fn retired(extras: &mut Extras, from: &sdk::ResponseLaunchTemplateData) {
    let gpus = from.elastic_gpu_specifications().iter().filter_map(|gpu| gpu.r#type());
    extras.list("elastic_gpu_specifications", gpus);
    let accelerators = from
        .elastic_inference_accelerators()
        .iter()
        .map(|accelerator| format!("{} x {}", text(accelerator.count()), text(accelerator.r#type())));
    extras.list("elastic_inference_accelerators", accelerators);
}
