//! The cluster's exports: which of two inputs they come from, and whether they are complete.

use std::collections::BTreeMap;

use super::{
    convert::{list, name, text_like},
    fault::{Fault, Faults, Report, key_place},
    syntax,
};
use crate::contract::{
    exports::{Exports, SCHEMA},
    ids::{BucketName, Region, SubnetId},
    json::Json,
};

/// The cluster's own exports, written by the controller.
const OWN: &str = "captf_cluster_outputs";

/// The user's word for a cluster that is managed elsewhere.
const EXTERNAL: &str = "external_cluster_exports";

/// Where the exports may come from.
pub(super) const INPUTS: [&str; 2] = [OWN, EXTERNAL];

/// Prefix of the cluster's ownership tag.
pub(super) const CLUSTER_TAG: &str = "kubernetes.io/cluster/";

/// The most zones of a cluster; no region has a third as many.
const MAX_ZONES: usize = 100;

/// The input that holds the exports, with its name; `None` where both are empty.
fn source<'a>(report: &Report<'a>) -> Option<(&'static str, &'a Json)> {
    let filled = |name| report.given(name).filter(|json| !matches!(json, Json::Object(f) if f.is_empty()));
    match filled(OWN) {
        Some(json) => Some((OWN, json)),
        None => filled(EXTERNAL).map(|json| (EXTERNAL, json)),
    }
}

/// Region and bucket for commands that must work with faulty exports. Of exports with a schema that is
/// no version of ours nothing is taken: to look in a wrong region would find nothing, and say so.
pub(super) fn place(report: &Report<'_>) -> (Option<Region>, Option<BucketName>) {
    let ours = |json: &&Json| match json.get("schema") {
        Some(Json::String(schema)) => schema.is_empty() || schema.starts_with("captf.io/aws-cluster/"),
        None | Some(Json::Null) => true,
        Some(_) => false,
    };
    let Some(json) = source(report).map(|(_, json)| json).filter(ours) else { return (None, None) };
    let region = json.get("region").and_then(|json| name(json).ok());
    (region, json.get("bootstrap_bucket").and_then(|json| name(json).ok()))
}

/// Reads the exports that apply. `declared` is whether `captf_cluster_outputs` was given at all.
pub(super) fn read(report: &mut Report<'_>, declared: bool) -> Option<Exports> {
    if !declared {
        report.missing(OWN);
        return None;
    }
    let Some((input, json)) = source(report) else {
        let detail = format!(
            "{OWN} is empty: this cluster is managed elsewhere. Set the variable {EXTERNAL} to its exports, an \
             object of schema {SCHEMA}."
        );
        report.error(EXTERNAL, format!("Missing required input {EXTERNAL}"), detail);
        return None;
    };
    if !matches!(json, Json::Object(_)) {
        report.refuse(input, Fault::unlike(json, &format!("an object of schema {SCHEMA}")).into());
        return None;
    }
    let mut reader = Reader { json, missing: Vec::new(), faults: Vec::new() };
    let exports = reader.exports();
    let Reader { missing, faults, .. } = reader;
    if !missing.is_empty() {
        let detail = format!(
            "The cluster's exports in {input} lack, or have empty: {}. A pool needs all of them.",
            missing.join(", ")
        );
        report.error(input, format!("Incomplete cluster exports in {input}"), detail);
    }
    if !faults.is_empty() {
        report.refuse(input, Faults(faults));
    }
    exports
}

/// Reads one exports object; keeps apart what is missing and what is wrong.
struct Reader<'a> {
    json: &'a Json,
    missing: Vec<String>,
    faults: Vec<Fault>,
}

impl<'a> Reader<'a> {
    fn exports(&mut self) -> Option<Exports> {
        let schema = self.field(&["schema"], |json| {
            text_like(json, &format!("{SCHEMA}, the schema that this program knows"), |text| text == SCHEMA)
                .map_err(Faults::from)
        });
        if schema.is_none() && !self.faults.is_empty() {
            // Fields of a foreign schema may mean anything.
            return None;
        }
        let region = self.field(&["region"], |json| name(json).map_err(Faults::from));
        let kubernetes_cluster_id = self.field(&["kubernetes_cluster_id"], |json| {
            let wanted = "an id that fits the tag kubernetes.io/cluster/<id>: at most 106 letters, digits, spaces \
                          and _ . : / = + - @";
            text_like(json, wanted, |text| syntax::is_tag_key(&format!("{CLUSTER_TAG}{text}")))
                .map_err(Faults::from)
        });
        let failure_domains = self.failure_domains();
        let worker_security_groups = self.field(&["security_group_ids", "worker"], |json| {
            list(json, "a list of strings (security group ids)", name)
        });
        let worker_instance_profile = self.field(&["instance_profiles", "worker"], |json| {
            let wanted =
                "the name of an IAM instance profile: 1 to 128 letters, digits and _ + = , . @ - (no ARN)";
            text_like(json, wanted, syntax::is_instance_profile).map_err(Faults::from)
        });
        let bootstrap_bucket = self.field(&["bootstrap_bucket"], |json| name(json).map_err(Faults::from));
        schema?;
        Some(Exports {
            region: region?,
            kubernetes_cluster_id: kubernetes_cluster_id?,
            failure_domains: failure_domains?,
            worker_security_groups: worker_security_groups?,
            worker_instance_profile: worker_instance_profile?,
            bootstrap_bucket: bootstrap_bucket?,
        })
    }

    /// Every zone with its subnet. A zone without one is a missing field.
    fn failure_domains(&mut self) -> Option<BTreeMap<String, SubnetId>> {
        let zones = self.field(&["failure_domains"], |json| {
            super::convert::object(json, "an object {zone: {subnet_id}}").map_err(Faults::from)
        })?;
        if zones.len() > MAX_ZONES {
            let complaint = format!("has {} zones, but at most {MAX_ZONES} are allowed", zones.len());
            self.faults.push(Fault::new(complaint).within(".failure_domains"));
            return None;
        }
        let mut subnets = BTreeMap::new();
        for (zone, _) in zones {
            let is_zone = syntax::is_zone(zone) && zone.parse::<Region>().is_err();
            if !is_zone {
                let fault = Fault::new("has a key that is no zone such as us-east-1a");
                self.faults.push(fault.within(&key_place(zone)).within(".failure_domains"));
                continue;
            }
            let subnet =
                self.field(&["failure_domains", zone, "subnet_id"], |json| name(json).map_err(Faults::from));
            subnets.extend(subnet.map(|subnet| (zone.clone(), subnet)));
        }
        (subnets.len() == zones.len()).then_some(subnets)
    }

    /// Reads the field at a path. Null, `""`, `[]` and `{}` count as missing.
    fn field<T>(&mut self, path: &[&str], read: impl FnOnce(&'a Json) -> Result<T, Faults>) -> Option<T> {
        let mut json = Some(self.json);
        let mut place = String::new();
        for step in path {
            match json {
                Some(Json::Object(_)) => {}
                Some(other) => {
                    self.faults.push(Fault::unlike(other, "an object").within(&place));
                    return None;
                }
                None => break,
            }
            json = json.and_then(|json| json.get(step)).filter(|json| !is_empty(json));
            place.push_str(&step_place(path, step));
        }
        let Some(json) = json else {
            let whole: String = path.iter().map(|step| step_place(path, step)).collect();
            self.missing.push(whole.trim_start_matches('.').to_owned());
            return None;
        };
        read(json).map_err(|faults| self.faults.extend(faults.within(&place).0)).ok()
    }
}

/// Zones are keys of a map, all other steps are attributes.
fn step_place(path: &[&str], step: &str) -> String {
    if path.len() == 3 && path[1] == step { key_place(step) } else { format!(".{step}") }
}

fn is_empty(json: &Json) -> bool {
    match json {
        Json::Null => true,
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(fields) => fields.is_empty(),
        Json::Bool(_) | Json::Number(_) => false,
    }
}
