#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod handover;
mod hostile;
mod pool;
mod serials;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::*;

/// A state that terraform 1.11.4 wrote for `testdata/state/handover`.
const TERRAFORM: &str = "terraform-1.11.json";
/// A state as the Terraform module leaves it, made by hand from the provider's documented schemas.
const MODULE: &str = "module.json";

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/state")
}

fn read(name: &str) -> Vec<u8> {
    std::fs::read(testdata().join(name)).unwrap()
}

fn state(name: &str) -> State {
    State::parse(&read(name)).unwrap()
}

/// What a state says, for whoever reads it as JSON.
fn json_of(state: &State) -> Value {
    serde_json::from_slice(&state.render()).unwrap()
}

fn outputs(values: Value) -> BTreeMap<String, OutputValue> {
    let Value::Object(values) = values else { panic!("outputs are an object") };
    values.into_iter().map(|(name, value)| (name, OutputValue { value, sensitive: false })).collect()
}

fn kept(outputs: BTreeMap<String, OutputValue>) -> Recorded {
    Recorded { outputs, resources: ResourcesChange::Keep }
}

fn no_lineage() -> String {
    panic!("the lineage is kept")
}

#[test]
fn what_terraform_wrote_is_rendered_byte_for_byte() {
    for name in [TERRAFORM, MODULE] {
        assert_eq!(String::from_utf8(state(name).render()), String::from_utf8(read(name)), "{name}");
    }
}

#[test]
fn nothing_unknown_is_lost_and_no_number_is_rounded() {
    let text = r#"{"version": 4, "terraform_version": "1.12.0-beta1", "serial": 7, "lineage": "l",
        "outputs": {"big": {"value": 123456789012345678901234567890.10, "type": "number", "deprecated": "x"}},
        "resources": [{"mode": "managed", "type": "t", "name": "n", "provider": "p", "each": "list",
                       "instances": [{"index_key": "a\"b", "private": "x", "identity": {"k": 1e-400}}]}],
        "check_results": [{"object_kind": "var"}], "later": {"z": 1, "a": [true, null]}}"#;
    let first = State::parse(text.as_bytes()).unwrap();
    let rendered = String::from_utf8(first.render()).unwrap();
    for kept in
        ["123456789012345678901234567890.10", "1e-400", "deprecated", "\"each\"", "identity", "object_kind"]
    {
        assert!(rendered.contains(kept), "{kept}");
    }
    assert!(rendered.find("\"z\": 1") < rendered.find("\"a\": ["), "the order of unknown members stays");
    assert_eq!(State::parse(rendered.as_bytes()).unwrap(), first);
    assert_eq!(first.addresses(), [r#"t.n["a\"b"]"#]);
    // The next state keeps them too, all but the results of checks.
    let next = next(Some(&first), &kept(outputs(json!({"x": 1}))), no_lineage).unwrap();
    let json = json_of(&next);
    assert_eq!(json["later"], json!({"z": 1, "a": [true, null]}));
    assert_eq!(json["check_results"], Value::Null);
    assert_eq!(json["terraform_version"], "1.12.0-beta1");
}

#[test]
fn absent_and_empty_parts_are_read() {
    for text in [r#"{"version": 4}"#, r#"{"version":4.0,"outputs":null,"resources":null,"lineage":null}"#] {
        let state = State::parse(text.as_bytes()).unwrap();
        assert_eq!((state.serial(), state.lineage(), state.addresses().len()), (0, "", 0), "{text}");
        assert_eq!(facts(&state), Facts::default());
        let next = next(Some(&state), &kept(outputs(json!({"x": 1}))), || "new".into()).unwrap();
        assert_eq!((next.serial(), next.lineage(), next.terraform_version()), (1, "new", TERRAFORM_VERSION));
    }
}

#[test]
fn every_instance_has_its_address() {
    assert_eq!(
        state(MODULE).addresses(),
        [
            "module.role.data.aws_ami.pool_image[0]",
            "module.role.aws_autoscaling_group.pool_autoscaling_group[0]",
            "module.role.aws_autoscaling_policy.pool_scaling_policy[0]",
            "module.role.aws_launch_template.pool_launch_template[0]",
            "module.role.aws_s3_object.bootstrap_object[0]",
            "module.role.terraform_data.inherited_zones",
            "module.role.terraform_data.kubernetes_version_roll",
        ]
    );
}

#[test]
fn outputs_have_the_types_that_the_module_gives_them() {
    let typed = |name: &str, value: Value| {
        let recorded = kept(outputs(Value::Object([(name.to_owned(), value)].into_iter().collect())));
        json_of(&next(None, &recorded, || "l".into()).unwrap())["outputs"][name]["type"].clone()
    };
    let list = json!(["list", "string"]);
    for name in ["provider_id_list", "dropped_node_labels"] {
        assert_eq!(typed(name, json!([])), list);
        assert_eq!(typed(name, json!(["a", "b"])), list);
    }
    assert_eq!(typed("instances", json!([])), json!(["tuple", []]));
    assert_eq!(
        typed(
            "instances",
            json!([{"addresses": [], "state": "running"}, {"addresses": [{"type": "InternalIP"}]}])
        ),
        json!(["tuple", [
            ["object", {"addresses": ["tuple", []], "state": "string"}],
            ["object", {"addresses": ["tuple", [["object", {"type": "string"}]]]}],
        ]])
    );
    assert_eq!(
        typed("health", json!({"state": "running", "healthy": true, "message": null, "reasons": []})),
        json!(["object", {"healthy": "bool", "message": "dynamic", "reasons": ["tuple", []], "state": "string"}])
    );
    assert_eq!(typed("replicas", json!(0)), "number");
    assert_eq!(typed("provider_id", json!("arn")), "string");
}

#[test]
fn an_output_without_a_value_is_left_out() {
    let recorded = kept(outputs(json!({"provider_id": null, "replicas": 0, "provider_id_list": []})));
    let state = next(None, &recorded, || "l".into()).unwrap();
    assert_eq!(state.outputs().into_keys().collect::<Vec<_>>(), ["provider_id_list", "replicas"]);
    assert!(next(Some(&state), &recorded, no_lineage).is_none());
}

#[test]
fn sensitive_outputs_are_marked_and_not_shown() {
    let mut recorded = kept(outputs(json!({"a": "s3cr3t", "b": 1})));
    recorded.outputs.get_mut("a").unwrap().sensitive = true;
    let state = next(None, &recorded, || "l".into()).unwrap();
    let json = json_of(&state);
    assert_eq!(json["outputs"]["a"]["sensitive"], true);
    assert!(json["outputs"]["b"].get("sensitive").is_none());
    assert_eq!(state.outputs(), recorded.outputs);
    assert!(!format!("{state:?} {recorded:?} {:?}", state.outputs()).contains("s3cr3t"));
    // A change of the mark alone is a change.
    recorded.outputs.get_mut("a").unwrap().sensitive = false;
    assert_eq!(next(Some(&state), &recorded, no_lineage).unwrap().serial(), 2);
}
