//! The inputs that the controller writes.

use std::collections::BTreeMap;

use super::{
    convert::{
        MAX_COUNT, attribute, boolean, collect, distinct, list, map, object, one_of, text, text_like, whole,
    },
    fault::{Fault, Faults, Report},
    syntax,
};
use crate::contract::{
    ids::Region,
    json::Json,
    known::BOOTSTRAP_DATA,
    mask::masked,
    payload::Payload,
    request::{BootstrapFormat, Tags},
};

/// The version of the contract that this program speaks.
const CONTRACT: &str = "v1alpha1";

/// The kind of object that this role serves.
pub(super) const KIND: &str = "TerraformMachinePool";

/// The most zones that can be asked for.
const MAX_FAILURE_DOMAINS: usize = 100;

/// The most tags on an S3 object.
const MAX_OBJECT_TAGS: usize = 10;

/// Prefix of the tags in which the pool keeps its records.
pub(super) const RECORD_PREFIX: &str = "machinepool.captf.io/";

/// The controller's inputs, but for the cluster's exports.
pub(super) struct Controller {
    pub(super) cluster_name: String,
    pub(super) object: CaptfObject,
    pub(super) captf_tags: Tags,
    pub(super) machinepool_name: String,
    pub(super) replicas: u32,
    pub(super) bootstrap_data: Payload,
    pub(super) bootstrap_format: BootstrapFormat,
    pub(super) failure_domains: Vec<String>,
    pub(super) cluster_failure_domains: Vec<String>,
    pub(super) kubernetes_version: Option<String>,
    pub(super) node_labels: BTreeMap<String, String>,
    /// Bounds, if autoscaling is enabled.
    pub(super) bounds: Option<(u32, u32)>,
}

/// The `captf_object` input.
pub(super) struct CaptfObject {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) namespace: String,
}

impl Controller {
    /// Reads all of them, so that every fault is reported; `None` if there was one.
    pub(super) fn read(report: &mut Report<'_>) -> Option<Self> {
        let contract = report.required("captf_contract", |json| one_of(json, &[CONTRACT]));
        let cluster_name = report.required("captf_cluster", captf_cluster);
        let object = report.required("captf_object", captf_object);
        let captf_tags = report.required("captf_tags", captf_tags);
        let machinepool_name = report.required("machinepool_name", machinepool_name);
        let replicas = report.required("replicas", |json| whole(json, 0..=MAX_COUNT));
        let bootstrap_data = report.required(BOOTSTRAP_DATA, bootstrap_data);
        let bootstrap_format = report.required("bootstrap_format", bootstrap_format);
        let failure_domains = report.required("failure_domains", failure_domains);
        let cluster_failure_domains = report.required("cluster_failure_domains", zones);
        let kubernetes_version = report.or_default("kubernetes_version", None, kubernetes_version);
        let node_labels = report.required("node_labels", |json| {
            map(json, "a map of strings (node labels)", syntax::label_faults)
        });
        let bounds = report.required("autoscaling", bounds);
        contract?;
        Some(Self {
            cluster_name: cluster_name?,
            object: object?,
            captf_tags: captf_tags?,
            machinepool_name: machinepool_name?,
            replicas: replicas?,
            bootstrap_data: bootstrap_data?,
            bootstrap_format: bootstrap_format?,
            failure_domains: failure_domains?,
            cluster_failure_domains: cluster_failure_domains?,
            kubernetes_version: kubernetes_version?,
            node_labels: node_labels?,
            bounds: bounds?,
        })
    }
}

/// The name of the Cluster.
fn captf_cluster(json: &Json) -> Result<String, Faults> {
    object(json, "an object {name, namespace}")?;
    let filled = |json: &Json| text_like(json, "a string that is not empty", |text| !text.is_empty());
    let parts = [attribute(json, "name", filled), attribute(json, "namespace", filled)];
    let mut parts = collect(parts.into_iter().map(|part| part.map_err(Faults::from)))?.into_iter();
    Ok(parts.next().unwrap_or_default())
}

fn captf_object(json: &Json) -> Result<CaptfObject, Faults> {
    object(json, "an object {kind, name, namespace}")?;
    let parts = [
        attribute(json, "kind", |json| one_of(json, &[KIND])),
        attribute(json, "name", object_name),
        attribute(json, "namespace", namespace),
    ];
    let mut parts = collect(parts.into_iter().map(|part| part.map_err(Faults::from)))?.into_iter();
    let mut next = || parts.next().unwrap_or_default();
    Ok(CaptfObject { kind: next(), name: next(), namespace: next() })
}

/// `captf_object.namespace`; it becomes part of the group's name.
pub(super) fn namespace(json: &Json) -> Result<String, Fault> {
    let wanted = "a Kubernetes namespace: 1 to 63 lower-case letters, digits or \"-\", the first and last a \
                  letter or digit";
    text_like(json, wanted, syntax::is_dns_label)
}

fn object_name(json: &Json) -> Result<String, Fault> {
    text_like(json, "a Kubernetes name (a DNS subdomain of at most 253 characters)", syntax::is_dns_subdomain)
}

/// `machinepool_name`; it becomes part of the group's name and the key of the bootstrap object.
pub(super) fn machinepool_name(json: &Json) -> Result<String, Fault> {
    let wanted = "a DNS subdomain: at most 253 lower-case letters, digits, \"-\" or \".\", the first and last of \
                  every part a letter or digit";
    text_like(json, wanted, syntax::is_dns_subdomain)
}

fn captf_tags(json: &Json) -> Result<Tags, Faults> {
    let tags = map(json, "a map of strings (AWS tags)", |key, value| {
        syntax::tag_faults(key, value, &[RECORD_PREFIX])
    })?;
    if tags.len() > MAX_OBJECT_TAGS {
        let complaint = format!("has {} tags, but S3 allows {MAX_OBJECT_TAGS} on an object", tags.len());
        return Err(Fault::new(complaint).into());
    }
    Ok(tags)
}

/// Never says what was found, not even how long it is.
fn bootstrap_data(json: &Json) -> Result<Payload, Fault> {
    let text = text(json).map_err(|_| Fault::new("must be a string of base64"))?;
    if text.is_empty() {
        return Err(Fault::new("is empty, but must be base64 of the bootstrap data"));
    }
    Payload::from_base64(&text).ok_or_else(|| {
        Fault::new(
            "is not base64 (the standard alphabet, padded with \"=\", on one line); its value is not shown",
        )
    })
}

fn bootstrap_format(json: &Json) -> Result<BootstrapFormat, Fault> {
    let format = one_of(json, &["cloud-config", "ignition"])?;
    Ok(if format == "ignition" { BootstrapFormat::Ignition } else { BootstrapFormat::CloudConfig })
}

fn failure_domains(json: &Json) -> Result<Vec<String>, Faults> {
    let zones = zones(json)?;
    if zones.len() > MAX_FAILURE_DOMAINS {
        let complaint = format!("has {} zones, but at most {MAX_FAILURE_DOMAINS} are allowed", zones.len());
        return Err(Fault::new(complaint).into());
    }
    Ok(zones)
}

/// Zones in the order given, each once.
fn zones(json: &Json) -> Result<Vec<String>, Faults> {
    list(json, "a list of strings (zones)", |json| {
        let zone = text_like(json, "a zone of 1 to 256 characters", |text| syntax::is_plain(text, 1, 256))?;
        if zone.parse::<Region>().is_ok() {
            return Err(Fault::unlike(json, &format!("a zone such as {zone}a; this is a region")));
        }
        Ok(zone)
    })
    .map(distinct)
}

/// Kept verbatim. An empty one is refused: to read it as "none" would change the roll key, and so
/// replace every instance of a pool whose version got lost on the way. A credential is no version of anything, and would
/// end up in tags.
fn kubernetes_version(json: &Json) -> Result<Option<String>, Fault> {
    let wanted = "a version of 1 to 256 characters such as v1.34.1, or null";
    let version = text_like(json, wanted, |text| syntax::is_plain(text, 1, 256))?;
    if !syntax::is_kubernetes_version(&version) && masked(&version) != version {
        return Err(Fault::new(format!(
            "has a join token, a key or other encoded data as its value, which is not shown, but must be {wanted}"
        )));
    }
    Ok(Some(version))
}

/// Minimum and maximum, if enabled; if not, neither is looked at.
fn bounds(json: &Json) -> Result<Option<(u32, u32)>, Faults> {
    object(json, "an object {enabled, min, max}")?;
    if !attribute(json, "enabled", boolean)? {
        return Ok(None);
    }
    let bound = |name| attribute(json, name, |json| whole(json, 0..=MAX_COUNT)).map_err(Faults::from);
    let both = collect([bound("min"), bound("max")].into_iter())?;
    let (min, max) = (both[0], both[1]);
    if min > max {
        let complaint = format!("is {min}, but must be at most autoscaling.max, which is {max}");
        return Err(Fault::new(complaint).within(".min").into());
    }
    Ok(Some((min, max)))
}
