//! The whole request, for plan and apply.

use super::{cluster, controller::Controller, fault::Report, identity, syntax, variables::Variables};
use crate::contract::{
    exports::Exports,
    inputs::Inputs,
    outputs::MAX_PROVIDER_IDS,
    problem::{Diagnostic, Problems},
    request::{Autoscaling, Request, Scope},
};

impl Request {
    /// Checks every input and variable and fills in the defaults.
    ///
    /// On failure all faults are reported, in the order of [`KNOWN`](crate::contract::known::KNOWN),
    /// unknown names last. What only the model can decide is left to it: labels beside Ignition or a
    /// compressed payload, the size of the user data, zones without a subnet, a missing image.
    pub fn parse(inputs: &Inputs) -> Result<Self, Problems> {
        let mut report = Report::new(inputs);
        let controller = Controller::read(&mut report);
        let exports = cluster::read(&mut report, inputs.get("captf_cluster_outputs").is_some());
        let variables = Variables::read(&mut report);
        report.unknown_names();
        let (Some(controller), Some(exports), Some(variables)) = (controller, exports, variables) else {
            return Err(report.problems());
        };
        identity::check_tag_count(&mut report, &controller, &variables, &exports);
        identity::warn_of_contradictions(&mut report, &controller);
        warn_of_foreign_key(&mut report, &variables, &exports);
        warn_of_size(&mut report, &controller);
        if !report.is_clean() {
            return Err(report.problems());
        }
        Ok(assemble(controller, exports, variables, report.warnings))
    }
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
