//! What a pool should be in AWS: a pure function of inputs, image and records.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    image, labels,
    names::{Names, RollKey},
    observed::{Group, Images, Known, Template},
    records,
    resources::{Interface, Metadata, TemplateData, Volume},
    userdata,
    zones::{self, Zones},
};
use crate::contract::{
    inputs::Inputs,
    payload::Payload,
    problem::{Diagnostic, Problems},
    request::{Autoscaler, Autoscaling, BootstrapFormat, IDENTITY_TAGS, Request, Tags},
};

/// Everything a pool should be.
#[derive(Clone, Debug, PartialEq)]
pub struct Desired {
    /// Names.
    pub names: Names,
    /// What rolls when it changes.
    pub key: RollKey,
    /// Who owns the pool's resources.
    pub identity: Tags,
    /// The bootstrap object.
    pub object: DesiredObject,
    /// The launch template.
    pub template: DesiredTemplate,
    /// The Auto Scaling group.
    pub group: DesiredGroup,
    /// CPU target of the scaling policy in percent; `None` if there must be none.
    pub policy: Option<f64>,
    /// Zones.
    pub zones: Zones,
    /// The `replicas` input.
    pub replicas: u32,
    /// Seconds that a roll waits after each new instance.
    pub warmup_seconds: u32,
    /// What is odd, but no error.
    pub warnings: Vec<Diagnostic>,
}

/// The bootstrap object as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DesiredObject {
    /// Bucket.
    pub bucket: String,
    /// Key.
    pub key: String,
    /// Body.
    pub body: Payload,
    /// SHA-256 of the body in base64.
    pub sha256: String,
    /// Exactly these tags.
    pub tags: Tags,
}

/// The launch template as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DesiredTemplate {
    /// Its name, if a new one is made.
    pub name: String,
    /// Description of new versions.
    pub description: String,
    /// Data of the latest version.
    pub data: TemplateData,
    /// Tags of the template itself, records included.
    pub tags: Tags,
}

/// The group as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DesiredGroup {
    /// Lower bound.
    pub min: u32,
    /// Upper bound.
    pub max: u32,
    /// Desired capacity at creation.
    pub initial: u32,
    /// Whether something else sets the desired capacity later on.
    pub scaled: bool,
    /// Subnets in zone order.
    pub subnets: Vec<String>,
    /// Capacity rebalancing.
    pub capacity_rebalance: bool,
    /// Tags, without the roll mark.
    pub tags: Tags,
}

impl DesiredGroup {
    /// Whether the group is to have no members, whatever others set.
    pub fn is_empty(&self) -> bool {
        self.max == 0
    }
}

/// The roll key of a request.
pub fn roll_key(request: &Request) -> RollKey {
    RollKey {
        kubernetes_version: request.kubernetes_version.clone(),
        machine_image_id: request.machine_image.id.as_ref().map(ToString::to_string),
    }
}

/// The request that inputs make, checked as far as that is possible without looking at AWS.
///
/// # Errors
/// All that is wrong, with single inputs and with what they ask for together.
pub fn request(inputs: &Inputs) -> Result<Request, Problems> {
    match Request::parse_in_part(inputs) {
        Ok(request) => check(&request).map(|()| request),
        Err(refused) => {
            let mut problems = refused.problems;
            problems
                .0
                .extend(refused.rest.map(|rest| wrong(&rest.request, &rest.unjudged)).unwrap_or_default());
            Err(problems)
        }
    }
}

/// What can be found wrong without looking at AWS.
///
/// # Errors
/// All of it.
pub fn check(request: &Request) -> Result<(), Problems> {
    let problems = wrong(request, &BTreeSet::new());
    if problems.is_empty() { Ok(()) } else { Err(Problems(problems)) }
}

/// What is wrong, as far as it does not depend on these inputs.
fn wrong(request: &Request, unjudged: &BTreeSet<&str>) -> Vec<Diagnostic> {
    const EXPORTS: &str = "captf_cluster_outputs";
    let judged = |names: &[&str]| !names.iter().any(|name| unjudged.contains(name));
    let mut problems = Vec::new();
    if judged(&["bootstrap_format", "bootstrap_data", "node_labels"]) {
        problems.extend(user_data(request).err().into_iter().flatten());
    }
    if judged(&["failure_domains", EXPORTS]) {
        problems.extend(zones::asked_for(request).err());
    }
    if judged(&["captf_tags", "captf_object", "captf_cluster"]) {
        problems.extend(too_many_object_tags(request));
    }
    if judged(&["kubernetes_version", "machine_image"]) && image::query(request).is_none() {
        problems.push(image::no_version());
    }
    problems
}

/// What the pool should be. `group` and `templates` are those of the pool, read for their records; `known` is
/// asked for what they do not record.
pub fn desired(
    request: &Request,
    images: &Images,
    group: Option<&Group>,
    templates: &[&Template],
    known: &Known,
) -> Result<Desired, Problems> {
    check(request)?;
    let mut problems = Vec::new();
    let region = request.exports.region.as_str();
    let chosen = image::choose(request, images, region).map_err(|problem| problems.push(problem)).ok();
    let zones = zones::zones(request, group, templates, known).map_err(|problem| problems.push(problem)).ok();
    let (Some(chosen), Some(zones)) = (chosen, zones) else { return Err(Problems(problems)) };

    let names = Names::of(&request.scope);
    let key = roll_key(request);
    let mut warnings = request.warnings.clone();
    warnings.extend(dropped_labels(request));
    warnings.extend(image::warnings(request, images, &chosen));
    warnings.extend(zones.edited.clone());
    Ok(Desired {
        object: object(request, &names),
        template: template(request, &names, &key, &chosen, &zones)?,
        group: desired_group(request, &zones),
        policy: match request.autoscaling {
            Autoscaling::On { by: Autoscaler::Native(target), .. } => Some(target),
            Autoscaling::On { by: Autoscaler::External, .. } | Autoscaling::Off => None,
        },
        identity: request.scope.identity.clone(),
        replicas: request.replicas,
        warmup_seconds: request.rollout_instance_warmup_seconds,
        names,
        key,
        zones,
        warnings,
    })
}

/// `additional_tags`, then the cluster's ownership tag, then those of [`own_tags`]; later wins.
fn tags(request: &Request) -> Tags {
    let mut tags = request.additional_tags.clone();
    let cluster = format!("kubernetes.io/cluster/{}", request.exports.kubernetes_cluster_id);
    tags.insert(cluster, "owned".to_owned());
    tags.extend(own_tags(request));
    tags
}

/// `captf_tags`, with the identity filled in where they leave it out: without it, the next run would
/// take the pool for somebody else's.
fn own_tags(request: &Request) -> Tags {
    let mut tags = request.scope.identity.clone();
    tags.extend(request.captf_tags.clone());
    tags
}

fn too_many_object_tags(request: &Request) -> Option<Diagnostic> {
    let count = own_tags(request).len();
    (count > OBJECT_TAGS).then(|| {
        Diagnostic::error(
            "Too many captf_tags for the bootstrap object",
            format!(
                "With the tags that say whose the object is ({}) there are {count}, and S3 allows \
                 {OBJECT_TAGS} on an object. Send those four in captf_tags, or fewer others.",
                IDENTITY_TAGS.join(", ")
            ),
        )
    })
}

fn object(request: &Request, names: &Names) -> DesiredObject {
    DesiredObject {
        bucket: request.exports.bootstrap_bucket.to_string(),
        key: names.object_key.clone(),
        sha256: request.bootstrap_data.sha256(),
        body: request.bootstrap_data.clone(),
        tags: own_tags(request),
    }
}

fn template(
    request: &Request,
    names: &Names,
    key: &RollKey,
    image_id: &str,
    zones: &Zones,
) -> Result<DesiredTemplate, Problems> {
    let mut template_tags = tags(request);
    template_tags.extend(records::key_tags(key));
    template_tags.insert(records::BUCKET.to_owned(), request.exports.bootstrap_bucket.to_string());
    // A second copy, for when the group is deleted by hand; the record that counts is the group's.
    if template_tags.len() < RESOURCE_TAGS {
        template_tags.insert(records::ZONES.to_owned(), zones.record.clone());
    }
    Ok(DesiredTemplate {
        name: names.template(key),
        description: format!("MachinePool {}/{}", request.scope.namespace, request.scope.name)
            .chars()
            .take(DESCRIPTION_CHARS)
            .collect(),
        data: template_data(request, image_id)?,
        tags: template_tags,
    })
}

/// AWS's limit on the tags of one resource.
pub(super) const RESOURCE_TAGS: usize = 50;

/// S3's limit on the tags of one object.
const OBJECT_TAGS: usize = 10;

/// EC2's limit on a template version's description.
const DESCRIPTION_CHARS: usize = 255;

fn template_data(request: &Request, image_id: &str) -> Result<TemplateData, Problems> {
    let base = tags(request);
    let mut named = base.clone();
    named.insert("Name".to_owned(), request.scope.name.clone());
    let groups = request.exports.worker_security_groups.iter().chain(&request.additional_security_group_ids);
    let mut security_groups: Vec<String> = Vec::new();
    for group in groups {
        if !security_groups.iter().any(|known| known == group.as_str()) {
            security_groups.push(group.to_string());
        }
    }
    Ok(TemplateData {
        image_id: Some(image_id.to_owned()),
        instance_type: Some(request.instance_type.clone()),
        key_name: request.ssh_key_name.clone(),
        instance_profile: Some(request.exports.worker_instance_profile.clone()),
        user_data: Some(user_data(request).map_err(Problems)?),
        volumes: BTreeMap::from([(
            request.machine_image.root_device_name.clone(),
            Volume {
                encrypted: Some(true),
                kms_key_id: request.root_volume_kms_key_id.clone(),
                size_gib: Some(request.root_volume_size_gib),
                kind: Some(request.root_volume_type.clone()),
                delete_on_termination: Some(true),
            },
        )]),
        interfaces: BTreeMap::from([(
            0,
            Interface {
                public_ip: Some(request.public_ip),
                delete_on_termination: Some(true),
                security_groups,
            },
        )]),
        metadata: Some(Metadata {
            endpoint: Some("enabled".to_owned()),
            tokens: Some("required".to_owned()),
            hop_limit: Some(request.instance_metadata_hop_limit),
            instance_tags: Some("disabled".to_owned()),
        }),
        market_type: request.spot.then(|| "spot".to_owned()),
        tags: BTreeMap::from([
            ("instance".to_owned(), named.clone()),
            ("volume".to_owned(), named),
            ("network-interface".to_owned(), base),
        ]),
        extras: BTreeMap::new(),
    })
}

fn user_data(request: &Request) -> Result<String, Vec<Diagnostic>> {
    let (kept, _) = labels::split(&request.node_labels);
    let key = Names::of(&request.scope).object_key;
    let bucket = &request.exports.bootstrap_bucket;
    match request.bootstrap_format {
        BootstrapFormat::CloudConfig => {
            let text = userdata::cloud_config(&request.exports.region, bucket, &key, &kept);
            if text.len() > userdata::LIMIT {
                return Err(vec![Diagnostic::error(
                    "Too many node labels: the user data is too long",
                    format!(
                        "The user data has {} bytes, and EC2 allows {}. Its length grows with node_labels \
                         ({} of them here): set fewer or shorter ones.",
                        text.len(),
                        userdata::LIMIT,
                        kept.len()
                    ),
                )]);
            }
            Ok(text)
        }
        BootstrapFormat::Ignition => {
            let mut problems = Vec::new();
            if !kept.is_empty() {
                let names: Vec<&str> = kept.keys().map(String::as_str).collect();
                problems.push(Diagnostic::error(
                    "node_labels cannot be used with Ignition",
                    format!(
                        "bootstrap_format is ignition, and nothing on such an image could register {}. Set \
                         the labels in the bootstrap configuration's kubelet arguments instead.",
                        names.join(", ")
                    ),
                ));
            }
            if request.bootstrap_data.is_gzip() {
                problems.push(Diagnostic::error(
                    "bootstrap_data is gzip, which Ignition cannot fetch from S3",
                    "bootstrap_format is ignition and the payload begins as gzip does. Have the bootstrap \
                     provider render it uncompressed.",
                ));
            }
            if problems.is_empty() { Ok(userdata::ignition(bucket, &key)) } else { Err(problems) }
        }
    }
}

fn desired_group(request: &Request, zones: &Zones) -> DesiredGroup {
    let (min, max, scaled) = match request.autoscaling {
        Autoscaling::Off => (request.replicas, request.replicas, false),
        Autoscaling::On { min, max, .. } => (min, max, true),
    };
    let mut group_tags = tags(request);
    group_tags.insert(records::ZONES.to_owned(), zones.record.clone());
    DesiredGroup {
        min,
        max,
        initial: request.replicas.clamp(min, max),
        scaled,
        subnets: zones.spanned.iter().map(|zone| request.exports.failure_domains[zone].to_string()).collect(),
        capacity_rebalance: request.spot,
        tags: group_tags,
    }
}

fn dropped_labels(request: &Request) -> Option<Diagnostic> {
    let (_, dropped) = labels::split(&request.node_labels);
    (!dropped.is_empty()).then(|| {
        Diagnostic::warning(
            format!("Node labels left out: {}", dropped.join(", ")),
            "A kubelet may not set these labels of the kubernetes.io and k8s.io namespaces on its own node, \
             and would not start with them. Use another prefix, or let a controller label the nodes.",
        )
    })
}

#[cfg(test)]
#[path = "desired_tests.rs"]
mod tests;
