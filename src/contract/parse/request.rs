//! The whole request, for plan and apply.

use std::collections::BTreeSet;

use super::{
    cluster, controller::Controller, fault::Report, identity, stand_ins, syntax, variables::Variables,
};
use crate::contract::{
    exports::Exports,
    inputs::Inputs,
    outputs::MAX_PROVIDER_IDS,
    problem::{Diagnostic, Problems},
    quote::quoted,
    request::{Autoscaling, Request, Scope},
};

impl Request {
    /// Checks every input and variable and fills in the defaults.
    ///
    /// On failure all faults are reported, in the order of [`KNOWN`](crate::contract::known::KNOWN),
    /// unknown names last. What only the model can decide is left to it: labels beside Ignition or a
    /// compressed payload, the size of the user data, zones without a subnet, a missing image.
    ///
    /// # Errors
    /// All that is wrong with single inputs, or with several together.
    pub fn parse(inputs: &Inputs) -> Result<Self, Problems> {
        Self::parse_in_part(inputs).map_err(|refused| refused.problems)
    }

    /// As [`parse`](Self::parse), with what can still be judged where something is wrong.
    ///
    /// # Errors
    /// The same problems, and the rest.
    pub fn parse_in_part(inputs: &Inputs) -> Result<Self, Refused> {
        let mut report = Report::new(inputs);
        let parts = read(&mut report);
        report.unknown_names();
        let faulty = report.faulty();
        let rest = match parts {
            Some(parts) => {
                let request = combine(&mut report, parts);
                if report.is_clean() {
                    return Ok(request);
                }
                Some(Rest { request, unjudged: faulty })
            }
            None => rest(&mut report, inputs, &faulty),
        };
        Err(Refused { problems: report.problems(), rest: rest.map(Box::new) })
    }
}

/// Inputs that were refused.
#[derive(Debug)]
pub struct Refused {
    /// What is wrong with them.
    pub problems: Problems,
    /// What can be judged all the same.
    pub rest: Option<Box<Rest>>,
}

/// Refused inputs with valid ones in their places.
#[derive(Debug)]
pub struct Rest {
    /// To be judged, never to be made.
    pub request: Request,
    /// The names of inputs whose values are not the ones given: nothing that depends on them can be judged.
    pub unjudged: BTreeSet<&'static str>,
}

type Parts = (Controller, Exports, Variables);

fn read(report: &mut Report<'_>) -> Option<Parts> {
    let declared = report.is_declared("captf_cluster_outputs");
    let controller = Controller::read(report);
    let exports = cluster::read(report, declared);
    let variables = Variables::read(report);
    Some((controller?, exports?, variables?))
}

/// The rest of inputs of which these are faulty. What is wrong with several of the others together is reported.
fn rest(report: &mut Report<'_>, inputs: &Inputs, faulty: &BTreeSet<&'static str>) -> Option<Rest> {
    let (mended, unjudged) = stand_ins::mended(inputs, faulty);
    let mut second = Report::new(&mended);
    let parts = read(&mut second)?;
    let request = combine(&mut second, parts);
    if !unjudged.contains("additional_tags") {
        report.take_errors_of(second);
    }
    Some(Rest { request, unjudged })
}

/// Checks what lies between inputs, and puts them together.
fn combine(report: &mut Report<'_>, (controller, exports, variables): Parts) -> Request {
    identity::check_tag_count(report, &controller, &variables, &exports);
    identity::warn_of_contradictions(report, &controller);
    warn_of_foreign_key(report, &variables, &exports);
    warn_of_size(report, &controller);
    warn_of_version(report, &controller);
    assemble(controller, exports, variables, std::mem::take(&mut report.warnings))
}

/// A volume can be encrypted only with a key of its own region; instances would start and stop at once.
fn warn_of_foreign_key(report: &mut Report<'_>, variables: &Variables, exports: &Exports) {
    let key = variables.root_volume_kms_key_id.as_deref().and_then(syntax::kms_key_region);
    if let Some(region) = key.filter(|region| *region != exports.region.as_str()) {
        report.warn(
            "KMS key of another region",
            format!(
                "root_volume_kms_key_id is a key of {region}, but the cluster is in {}: instances with such a root \
                 volume do not start.",
                exports.region
            ),
        );
    }
}

/// A version is opaque: images of one's own may have names of any kind. But a slip of the hand in it replaces every
/// instance, or finds no image.
fn warn_of_version(report: &mut Report<'_>, controller: &Controller) {
    const NAME: &str = "kubernetes_version";
    let Some(text) = controller.kubernetes_version.as_deref() else { return };
    let is = if report.is_hidden(NAME) { "has a value that" } else { &format!("is {}, which", quoted(text)) };
    if !syntax::is_kubernetes_version(text) {
        let detail = format!(
            "{NAME} {is} does not look like a Kubernetes version such as v1.34.1. It is taken as it is: an image is \
             looked for by it, and a change of it replaces every instance."
        );
        report.warn(format!("{NAME} does not look like a version"), detail);
    } else if !text.starts_with('v') {
        let detail = format!(
            "{NAME} {is} has no \"v\" before its numbers: Kubernetes versions begin with one, as v1.34.1 does. It is \
             taken as it is, and is another version than the one with a \"v\": a change from one to the other replaces \
             every instance."
        );
        report.warn(format!("{NAME} has no \"v\" before it"), detail);
    }
}

/// A pool of such a size can be made, but not told of: its outputs would fail.
fn warn_of_size(report: &mut Report<'_>, controller: &Controller) {
    let (name, size) = match controller.bounds {
        Some((_, max)) => ("autoscaling.max", max),
        None => ("replicas", controller.replicas),
    };
    if size > MAX_PROVIDER_IDS {
        report.warn(
            format!("{name} is larger than the outputs can tell"),
            format!(
                "{name} is {size}, but provider_id_list has at most {MAX_PROVIDER_IDS} entries: with more members, \
                 every command that reads the outputs fails."
            ),
        );
    }
}

fn assemble(
    controller: Controller,
    exports: Exports,
    variables: Variables,
    warnings: Vec<Diagnostic>,
) -> Request {
    let scope = Scope {
        identity: identity::of_controller(&controller),
        namespace: controller.object.namespace,
        name: controller.machinepool_name,
        region: Some(exports.region.clone()),
        bucket: Some(exports.bootstrap_bucket.clone()),
        replicas: Some(controller.replicas),
        node_labels: controller.node_labels.clone(),
        kubernetes_version: controller.kubernetes_version.clone(),
        machine_image_id: variables.machine_image.id.as_ref().map(ToString::to_string),
    };
    Request {
        scope,
        captf_tags: controller.captf_tags,
        exports,
        replicas: controller.replicas,
        bootstrap_data: controller.bootstrap_data,
        bootstrap_format: controller.bootstrap_format,
        failure_domains: controller.failure_domains,
        cluster_failure_domains: controller.cluster_failure_domains,
        kubernetes_version: controller.kubernetes_version,
        node_labels: controller.node_labels,
        autoscaling: match controller.bounds {
            Some((min, max)) => Autoscaling::On { min, max, by: variables.autoscaler },
            None => Autoscaling::Off,
        },
        additional_security_group_ids: variables.additional_security_group_ids,
        additional_tags: variables.additional_tags,
        instance_metadata_hop_limit: variables.instance_metadata_hop_limit,
        instance_type: variables.instance_type,
        machine_image: variables.machine_image,
        looked_up_image: None,
        public_ip: variables.public_ip,
        rollout_instance_warmup_seconds: variables.rollout_instance_warmup_seconds,
        root_volume_kms_key_id: variables.root_volume_kms_key_id,
        root_volume_size_gib: variables.root_volume_size_gib,
        root_volume_type: variables.root_volume_type,
        spot: variables.spot,
        ssh_key_name: variables.ssh_key_name,
        warnings,
    }
}
