//! The role's outputs, for people and for programs.

use super::{
    style::{Style, Tone},
    table::table,
    text,
};
use crate::contract::{
    outputs::{InstanceOutput, NAMES, Outputs},
    problem::Diagnostic,
};

/// All outputs as one indented JSON object in the contract's order, or the value of the one called
/// `name`; with a line end. A name that is none is an error that lists the names.
pub fn outputs_json(outputs: &Outputs, name: Option<&str>) -> Result<String, Diagnostic> {
    let Some(name) = name else { return Ok(text::exact_json(outputs)) };
    check_output_name(name)?;
    let all = serde_json::to_value(outputs).unwrap_or_default();
    Ok(text::exact_json(&all[name]))
}

/// Refuses a name that is no output's, and lists those that are. What does not look like a name at all
/// is not repeated: it may be a piece of a value that lost its quotes.
pub fn check_output_name(name: &str) -> Result<(), Diagnostic> {
    if NAMES.contains(&name) {
        return Ok(());
    }
    let is_name = name.len() <= 40 && name.bytes().all(|b| b.is_ascii_lowercase() || b"_-".contains(&b));
    let names = NAMES.map(str::to_owned);
    Err(Diagnostic::error(
        if is_name {
            format!("There is no output called {name}")
        } else {
            "There is no such output".to_owned()
        },
        format!("The outputs are {}.", text::list(&names)),
    ))
}

/// Two tables: the outputs that are one value each, then the members.
pub fn outputs_table(outputs: &Outputs, style: Style) -> String {
    let rows = summary(outputs);
    let mut parts = vec![style.paint(Tone::Strong, "Outputs:"), table(&["output", "value"], &rows, style)];
    if !outputs.instances.is_empty() {
        parts.push(members(&outputs.instances, style));
    }
    let unlisted = outputs.provider_id_list.len().saturating_sub(outputs.instances.len());
    if unlisted > 0 {
        parts.push(format!(
            "... and {}, listed in provider_id_list.",
            text::count(unlisted, "further instance")
        ));
    }
    parts.join("\n") + "\n"
}

fn summary(outputs: &Outputs) -> Vec<Vec<String>> {
    let optional = |value: &Option<String>| value.clone().unwrap_or_else(|| "(none)".to_owned());
    let health = &outputs.health;
    let healthy = if health.healthy { "healthy" } else { "not healthy" };
    let reasons = if health.reasons.is_empty() { "(none)".to_owned() } else { health.reasons.join(", ") };
    let dropped = match outputs.dropped_node_labels.as_slice() {
        [] => "(none)".to_owned(),
        names => names.join(", "),
    };
    [
        ("provider_id", optional(&outputs.provider_id)),
        ("provider_id_list", text::count(outputs.provider_id_list.len(), "instance")),
        ("replicas", outputs.replicas.to_string()),
        ("health", format!("{}, {healthy}: {}", health.state, health.message)),
        ("health reasons", reasons),
        ("autoscaling_group_name", outputs.autoscaling_group_name.clone()),
        ("dropped_node_labels", dropped),
        ("launch_template_id", optional(&outputs.launch_template_id)),
    ]
    .into_iter()
    .map(|(name, value)| vec![name.to_owned(), text::line(&value)])
    .collect()
}

fn members(instances: &[InstanceOutput], style: Style) -> String {
    let rows: Vec<Vec<String>> = instances
        .iter()
        .map(|member| {
            let addresses: Vec<&str> = member.addresses.iter().map(|a| a.address.as_str()).collect();
            [member.instance_id.as_str(), &member.failure_domain, &member.state, &addresses.join(" ")]
                .map(text::line)
                .to_vec()
        })
        .collect();
    table(&["instance", "zone", "state", "addresses"], &rows, style)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::Value;

    use super::*;
    use crate::contract::outputs::{Address, Health};

    fn sample() -> Outputs {
        let member = |id: &str, zone: &str, state: &str, addresses: &[&str]| InstanceOutput {
            provider_id: format!("aws:///{zone}/{id}"),
            instance_id: id.into(),
            addresses: addresses
                .iter()
                .map(|a| Address { kind: "InternalIP".into(), address: (*a).into() })
                .collect(),
            failure_domain: zone.into(),
            state: state.into(),
        };
        let instances = vec![
            member("i-0a", "us-east-1a", "running", &["10.0.1.7", "fd00::7"]),
            member("i-0b", "us-east-1b", "pending", &[]),
        ];
        Outputs {
            provider_id: Some("arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:x:autoScalingGroupName/captf-team-a-demo-pool-0-43c6d828".into()),
            provider_id_list: instances.iter().map(|i| i.provider_id.clone()).collect(),
            replicas: 2,
            instances,
            health: Health {
                state: "running".into(),
                healthy: false,
                message: "1 of 2 instances is running.".into(),
                reasons: vec!["InstancePending:i-0b".into()],
            },
            autoscaling_group_name: "captf-team-a-demo-pool-0-43c6d828".into(),
            dropped_node_labels: vec![],
            launch_template_id: Some("lt-0123".into()),
        }
    }

    #[test]
    fn table_for_people() {
        insta::assert_snapshot!("outputs_80", outputs_table(&sample(), Style::new(Some(80), false)));
    }

    #[test]
    fn members_that_are_not_listed_are_counted() {
        let mut outputs = sample();
        outputs.provider_id_list.push("aws:///us-east-1c/i-0c".into());
        let shown = outputs_table(&outputs, Style::new(None, false));
        assert!(shown.ends_with("... and 1 further instance, listed in provider_id_list.\n"), "{shown}");
    }

    #[test]
    fn zero_and_nothing_are_printed() {
        let mut outputs = sample();
        (outputs.replicas, outputs.provider_id) = (0, None);
        outputs.instances.clear();
        outputs.provider_id_list.clear();
        let all: Value = serde_json::from_str(&outputs_json(&outputs, None).unwrap()).unwrap();
        assert_eq!(all["replicas"], 0);
        assert_eq!(all["provider_id"], Value::Null);
        assert_eq!(all["provider_id_list"], serde_json::json!([]));
        assert_eq!(outputs_json(&outputs, Some("replicas")).unwrap(), "0\n");
        assert_eq!(outputs_json(&outputs, Some("provider_id")).unwrap(), "null\n");
    }

    #[test]
    fn contract_order_is_kept_and_unknown_names_list_the_known() {
        let json = outputs_json(&sample(), None).unwrap();
        assert!(json.starts_with("{\n  \"provider_id\": \"arn:"), "{json}");
        let all: serde_json::Map<String, Value> = serde_json::from_str(&json).unwrap();
        assert_eq!(all.len(), NAMES.len());
        let places = NAMES.map(|name| json.find(&format!("\n  \"{name}\": ")).unwrap());
        assert!(places.is_sorted(), "{json}");
        let error = outputs_json(&sample(), Some("provider_ids")).unwrap_err();
        assert_eq!(error.summary, "There is no output called provider_ids");
        for value in ["bootstrap_data=c2VjcmV0", "c2VjcmV0", &"s".repeat(41)] {
            assert_eq!(check_output_name(value).unwrap_err().summary, "There is no such output");
        }
        assert!(error.detail.contains("health, ") && error.detail.contains("provider_id_list"), "{error}");
    }
}
