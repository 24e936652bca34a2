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
        launched: super::moment(from.launch_time()),
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
        root_volume_size_gib: root_volume_size(from),
    }
}

fn root_volume_size(image: &sdk::Image) -> Option<u32> {
    let root = image.root_device_name()?;
    let device = image.block_device_mappings().iter().find(|device| device.device_name() == Some(root))?;
    super::count(device.ebs()?.volume_size())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    fn interface(index: i32, addresses: &[(&str, bool)], ipv6: &str) -> sdk::InstanceNetworkInterface {
        let attachment = sdk::InstanceNetworkInterfaceAttachment::builder().device_index(index).build();
        let private = addresses.iter().map(|(address, primary)| {
            sdk::InstancePrivateIpAddress::builder().private_ip_address(*address).primary(*primary).build()
        });
        sdk::InstanceNetworkInterface::builder()
            .attachment(attachment)
            .set_private_ip_addresses(Some(private.collect()))
            .ipv6_addresses(sdk::InstanceIpv6Address::builder().ipv6_address(ipv6).build())
            .build()
    }

    #[test]
    fn addresses_are_ordered_whatever_order_they_come_in() {
        let first = interface(0, &[("10.0.0.9", false), ("10.0.0.5", true)], "2001:db8::5");
        let second = interface(1, &[("10.0.1.5", true)], "2001:db8::1");
        let expected = ["10.0.0.5", "10.0.0.9", "10.0.1.5", "2001:db8::5", "2001:db8::1"];
        for interfaces in [vec![first.clone(), second.clone()], vec![second, first]] {
            let from = sdk::Instance::builder()
                .instance_id("i-1")
                .private_ip_address("10.0.0.5")
                .set_network_interfaces(Some(interfaces))
                .build();
            assert_eq!(instance(&from).unwrap().addresses, expected);
        }
    }

    #[test]
    fn a_terminated_instance_and_a_new_state_are_read_as_they_are() {
        let state = sdk::InstanceState::builder().name("hibernating".into()).build();
        let read = instance(&sdk::Instance::builder().instance_id("i-1").state(state).build()).unwrap();
        assert_eq!((read.state.as_str(), read.zone.as_str(), read.addresses.len()), ("hibernating", "", 0));
        assert_eq!(read.launched, None);
        let launched = aws_smithy_types::DateTime::from_millis(1_767_225_600_250);
        let read =
            instance(&sdk::Instance::builder().instance_id("i-1").launch_time(launched).build()).unwrap();
        assert_eq!(read.launched, Some(crate::clock::Timestamp(1_767_225_600_250)));
        assert_eq!(instance(&sdk::Instance::builder().build()), None);
    }
}
