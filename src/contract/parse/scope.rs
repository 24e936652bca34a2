//! Names and a place, for outputs and destroy: read leniently, as both must work with inputs that plan
//! would refuse.

use std::collections::BTreeMap;

use super::{
    cluster,
    controller::{KIND, machinepool_name, namespace},
    convert::{MAX_COUNT, attribute, object, text, whole},
    fault::{Fault, Report},
    identity,
};
use crate::contract::{inputs::Inputs, json::Json, problem::Problems, request::Scope};

impl Scope {
    /// Needs a valid `captf_object.namespace` and `machinepool_name`, and reports both if both are
    /// faulty. Everything else is taken where it is valid and ignored where it is not.
    ///
    /// The identity is what `captf_tags` says; what it does not say is taken from `captf_object` and
    /// `captf_cluster`, and the kind is this role's. A name that neither gives is left open: the pool's
    /// own would be a guess, and a wrong one would make a stranger of the pool.
    pub fn parse(inputs: &Inputs) -> Result<Self, Problems> {
        let mut report = Report::new(inputs);
        let namespace = report.required("captf_object", |json| {
            object(json, "an object {kind, name, namespace}")?;
            attribute(json, "namespace", namespace)
        });
        let name = report.required("machinepool_name", machinepool_name);
        let (Some(namespace), Some(name)) = (namespace, name) else { return Err(report.problems()) };
        let attribute = |input: &str, name: &str| -> Option<String> {
            report.given(input)?.get(name).and_then(|json| text(json).ok()).filter(|text| !text.is_empty())
        };
        let (cluster, object_name) = (attribute("captf_cluster", "name"), attribute("captf_object", "name"));
        let derived = [cluster.as_deref(), Some(&namespace), Some(KIND), object_name.as_deref()];
        let tags = report.given("captf_tags").map(texts).unwrap_or_default();
        let version = report.given("kubernetes_version");
        let (region, bucket) = cluster::place(&report);
        Ok(Self {
            identity: identity::of(&tags, derived),
            region,
            bucket,
            replicas: report.given("replicas").and_then(|json| whole(json, 0..=MAX_COUNT).ok()),
            node_labels: report
                .given("node_labels")
                .and_then(|json| all_texts(json).ok())
                .unwrap_or_default(),
            kubernetes_version: version.and_then(|json| text(json).ok()).filter(|text| !text.is_empty()),
            machine_image_id: attribute("machine_image", "id"),
            namespace,
            name,
        })
    }
}

/// The entries of a map that are texts.
fn texts(json: &Json) -> BTreeMap<String, String> {
    let Json::Object(fields) = json else { return BTreeMap::new() };
    fields.iter().filter_map(|(key, value)| Some((key.clone(), text(value).ok()?))).collect()
}

/// A map of texts only.
fn all_texts(json: &Json) -> Result<BTreeMap<String, String>, Fault> {
    object(json, "a map of strings")?
        .iter()
        .map(|(key, value)| text(value).map(|value| (key.clone(), value)))
        .collect()
}
