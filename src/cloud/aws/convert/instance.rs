//! EC2: instances and images.

use aws_sdk_ec2::types as sdk;

use super::text;
use crate::model::observed::{Image, Instance};

/// `None` only for something without an id, which is no instance.
pub(in crate::cloud::aws) fn instance(from: &sdk::Instance) -> Option<Instance> {
    Some(Instance {
        id: super::filled(from.instance_id())?,
        state: text(from.state().and_then(|state| state.name())),
        zone: text(from.placement().and_then(|placement| placement.availability_zone())),
        addresses: addresses(from),
    })
}

/// IPv4 before IPv6; within each, the primary interface and its primary address first.
fn addresses(from: &sdk::Instance) -> Vec<String> {
    let mut interfaces: Vec<&sdk::InstanceNetworkInterface> = from.network_interfaces().iter().collect();
    interfaces.sort_by_key(|interface| {
        let attachment = interface.attachment();
        let card = attachment.and_then(|attachment| attachment.network_card_index()).unwrap_or_default();
        (card, attachment.and_then(|attachment| attachment.device_index()).unwrap_or(i32::MAX))
    });
    let mut found: Vec<&str> = from.private_ip_address().into_iter().collect();
    for interface in &interfaces {
        let mut addresses: Vec<_> = interface.private_ip_addresses().iter().collect();
        addresses.sort_by_key(|address| !address.primary().unwrap_or_default());
        found.extend(interface.private_ip_address());
        found.extend(addresses.iter().filter_map(|address| address.private_ip_address()));
    }
    found.extend(from.ipv6_address());
    for interface in &interfaces {
        let mut addresses: Vec<_> = interface.ipv6_addresses().iter().collect();
        addresses.sort_by_key(|address| !address.is_primary_ipv6().unwrap_or_default());
        found.extend(addresses.iter().filter_map(|address| address.ipv6_address()));
    }
    let mut addresses: Vec<String> = Vec::new();
    for address in found.into_iter().filter(|address| !address.is_empty()) {
        if !addresses.iter().any(|known| known == address) {
            addresses.push(address.to_owned());
        }
    }
    addresses
}

pub(in crate::cloud::aws) fn image(from: &sdk::Image) -> Image {
    Image {
        id: text(from.image_id()),
        name: text(from.name()),
        state: text(from.state()),
        architecture: text(from.architecture()),
        root_device_name: text(from.root_device_name()),
        creation_date: text(from.creation_date()),
    }
}
