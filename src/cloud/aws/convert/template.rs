//! Launch templates: their data in both directions, their versions and tags.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_ec2::types as sdk;
use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::{count, filled, moment, number, serial, template_extras, text};
use crate::{
    contract::request::Tags,
    model::{
        observed::{Template, TemplateVersion},
        resources::{Interface, Metadata, TemplateData, Volume},
    },
};

/// Marks user data that is not text.
const BINARY: &str = "base64:";

pub(in crate::cloud::aws) fn template(from: &sdk::LaunchTemplate) -> Template {
    Template {
        id: text(from.launch_template_id()),
        name: text(from.launch_template_name()),
        created: moment(from.create_time()).unwrap_or_default(),
        default_version: serial(from.default_version_number()),
        latest_version: serial(from.latest_version_number()),
        tags: tags(from.tags()),
    }
}

pub(in crate::cloud::aws) fn version(from: &sdk::LaunchTemplateVersion) -> TemplateVersion {
    TemplateVersion {
        template_id: text(from.launch_template_id()),
        template_name: text(from.launch_template_name()),
        number: serial(from.version_number()),
        created: moment(from.create_time()).unwrap_or_default(),
        is_default: from.default_version().unwrap_or_default(),
        description: filled(from.version_description()),
        data: from.launch_template_data().map(template_data).unwrap_or_default(),
    }
}

pub(super) fn template_data(from: &sdk::ResponseLaunchTemplateData) -> TemplateData {
    let profile = from.iam_instance_profile();
    let mut interfaces = BTreeMap::new();
    for specification in from.network_interfaces() {
        let index = count(specification.device_index()).unwrap_or_default();
        interfaces.entry(index).or_insert_with(|| interface(specification));
    }
    let mut specified = BTreeMap::<String, Tags>::new();
    for specification in from.tag_specifications() {
        // EC2 takes no such tags in a version; doubles of it repeat the template's own ones here.
        if specification.resource_type() == Some(&sdk::ResourceType::LaunchTemplate) {
            continue;
        }
        let of_type = specified.entry(text(specification.resource_type())).or_default();
        of_type.extend(tags(specification.tags()));
    }
    TemplateData {
        image_id: filled(from.image_id()),
        instance_type: filled(from.instance_type()),
        key_name: filled(from.key_name()),
        instance_profile: profile
            .and_then(|profile| filled(profile.name()).or_else(|| filled(profile.arn()))),
        user_data: filled(from.user_data()).map(|data| user_data(&data)),
        volumes: from
            .block_device_mappings()
            .iter()
            .map(|mapping| (text(mapping.device_name()), mapping.ebs().map(volume).unwrap_or_default()))
            .collect(),
        interfaces,
        metadata: from.metadata_options().map(metadata).filter(|options| *options != Metadata::default()),
        market_type: from.instance_market_options().and_then(|options| filled(options.market_type())),
        tags: specified.into_iter().filter(|(_, tags)| !tags.is_empty()).collect(),
        extras: template_extras::of(from),
    }
}

fn user_data(encoded: &str) -> String {
    let compact: String = encoded.split_whitespace().collect();
    let decoded = STANDARD.decode(&compact).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    decoded.unwrap_or_else(|| format!("{BINARY}{compact}"))
}

fn volume(from: &sdk::LaunchTemplateEbsBlockDevice) -> Volume {
    Volume {
        encrypted: from.encrypted(),
        kms_key_id: filled(from.kms_key_id()),
        size_gib: count(from.volume_size()),
        kind: filled(from.volume_type()),
        delete_on_termination: from.delete_on_termination(),
    }
}

fn interface(from: &sdk::LaunchTemplateInstanceNetworkInterfaceSpecification) -> Interface {
    Interface {
        public_ip: from.associate_public_ip_address(),
        delete_on_termination: from.delete_on_termination(),
        security_groups: from.groups().to_vec(),
    }
}

fn metadata(from: &sdk::LaunchTemplateInstanceMetadataOptions) -> Metadata {
    Metadata {
        endpoint: filled(from.http_endpoint()),
        tokens: filled(from.http_tokens()),
        hop_limit: count(from.http_put_response_hop_limit()),
        instance_tags: filled(from.instance_metadata_tags()),
    }
}

/// The data of a new version: everything that is set, and nothing else. Extras are never wanted, so
/// they are never sent: a new version without them takes them off.
pub(in crate::cloud::aws) fn template_request(from: &TemplateData) -> sdk::RequestLaunchTemplateData {
    let mut builder = sdk::RequestLaunchTemplateData::builder()
        .set_image_id(from.image_id.clone())
        .set_instance_type(from.instance_type.as_deref().map(Into::into))
        .set_key_name(from.key_name.clone())
        .set_iam_instance_profile(from.instance_profile.as_deref().map(profile_request))
        .set_user_data(from.user_data.as_deref().map(user_data_request))
        .set_metadata_options(from.metadata.as_ref().map(metadata_request))
        .set_instance_market_options(from.market_type.as_deref().map(market_request));
    for (device, volume) in &from.volumes {
        builder = builder.block_device_mappings(volume_request(device, volume));
    }
    for (index, interface) in &from.interfaces {
        builder = builder.network_interfaces(interface_request(*index, interface));
    }
    for (resource_type, tags) in from.tags.iter().filter(|(_, tags)| !tags.is_empty()) {
        let specification = sdk::LaunchTemplateTagSpecificationRequest::builder()
            .resource_type(resource_type.as_str().into())
            .set_tags(Some(ec2_tags(tags)))
            .build();
        builder = builder.tag_specifications(specification);
    }
    builder.build()
}

fn profile_request(profile: &str) -> sdk::LaunchTemplateIamInstanceProfileSpecificationRequest {
    let builder = sdk::LaunchTemplateIamInstanceProfileSpecificationRequest::builder();
    if profile.starts_with("arn:") { builder.arn(profile).build() } else { builder.name(profile).build() }
}

fn user_data_request(text: &str) -> String {
    text.strip_prefix(BINARY)
        .filter(|encoded| STANDARD.decode(encoded).is_ok())
        .map_or_else(|| STANDARD.encode(text), str::to_owned)
}

fn metadata_request(from: &Metadata) -> sdk::LaunchTemplateInstanceMetadataOptionsRequest {
    sdk::LaunchTemplateInstanceMetadataOptionsRequest::builder()
        .set_http_endpoint(from.endpoint.as_deref().map(Into::into))
        .set_http_tokens(from.tokens.as_deref().map(Into::into))
        .set_http_put_response_hop_limit(from.hop_limit.map(number))
        .set_instance_metadata_tags(from.instance_tags.as_deref().map(Into::into))
        .build()
}

fn market_request(market_type: &str) -> sdk::LaunchTemplateInstanceMarketOptionsRequest {
    sdk::LaunchTemplateInstanceMarketOptionsRequest::builder().market_type(market_type.into()).build()
}

fn volume_request(device: &str, from: &Volume) -> sdk::LaunchTemplateBlockDeviceMappingRequest {
    let ebs = sdk::LaunchTemplateEbsBlockDeviceRequest::builder()
        .set_encrypted(from.encrypted)
        .set_kms_key_id(from.kms_key_id.clone())
        .set_volume_size(from.size_gib.map(number))
        .set_volume_type(from.kind.as_deref().map(Into::into))
        .set_delete_on_termination(from.delete_on_termination)
        .build();
    sdk::LaunchTemplateBlockDeviceMappingRequest::builder().device_name(device).ebs(ebs).build()
}

fn interface_request(
    index: u32,
    from: &Interface,
) -> sdk::LaunchTemplateInstanceNetworkInterfaceSpecificationRequest {
    let groups = (!from.security_groups.is_empty()).then(|| from.security_groups.clone());
    sdk::LaunchTemplateInstanceNetworkInterfaceSpecificationRequest::builder()
        .device_index(number(index))
        .set_associate_public_ip_address(from.public_ip)
        .set_delete_on_termination(from.delete_on_termination)
        .set_groups(groups)
        .build()
}

fn tags(from: &[sdk::Tag]) -> Tags {
    from.iter().map(|tag| (text(tag.key()), text(tag.value()))).collect()
}

pub(in crate::cloud::aws) fn ec2_tags(tags: &Tags) -> Vec<sdk::Tag> {
    tags.iter().map(|(key, value)| sdk::Tag::builder().key(key).value(value).build()).collect()
}

pub(in crate::cloud::aws) fn ec2_keys(keys: &BTreeSet<String>) -> Vec<sdk::Tag> {
    keys.iter().map(|key| sdk::Tag::builder().key(key).build()).collect()
}

/// Tags that a resource is created with.
pub(in crate::cloud::aws) fn tag_specification(
    resource_type: &sdk::ResourceType,
    tags: &Tags,
) -> sdk::TagSpecification {
    sdk::TagSpecification::builder()
        .resource_type(resource_type.clone())
        .set_tags(Some(ec2_tags(tags)))
        .build()
}
