//! Attribute-based instance selection as text. This program names one instance type instead, so all
//! of it is foreign.

use aws_sdk_ec2::types::InstanceRequirements;

use super::{extras::Extras, text};

/// Notes every requirement that is set.
pub(super) fn note(extras: &mut Extras, from: &InstanceRequirements) {
    macro_rules! note {
        ($method:ident: $($field:ident)*) => {
            $(extras.$method(concat!("instance_requirements.", stringify!($field)), from.$field());)*
        };
    }
    macro_rules! ranges {
        ($($field:ident)*) => {
            $(
                let range = from.$field().map(|range| format!("{}..{}", text(range.min()), text(range.max())));
                extras.set(concat!("instance_requirements.", stringify!($field)), range);
            )*
        };
    }
    note!(list: cpu_manufacturers excluded_instance_types instance_generations local_storage_types
        accelerator_types accelerator_manufacturers accelerator_names allowed_instance_types);
    note!(set: spot_max_price_percentage_over_lowest_price on_demand_max_price_percentage_over_lowest_price
        bare_metal burstable_performance require_hibernate_support local_storage
        max_spot_price_as_percentage_of_optimal_on_demand_price require_encryption_in_transit);
    ranges!(v_cpu_count memory_mib memory_gib_per_v_cpu network_interface_count total_local_storage_gb
        baseline_ebs_bandwidth_mbps accelerator_count accelerator_total_memory_mib network_bandwidth_gbps);
    let cpu = from.baseline_performance_factors().and_then(|factors| factors.cpu());
    let references = cpu.map(|cpu| cpu.references()).unwrap_or_default();
    extras.list(
        "instance_requirements.baseline_performance_factors",
        references.iter().filter_map(|reference| reference.instance_family()),
    );
}
