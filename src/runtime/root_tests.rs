#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use serde_json::{Value, json};

use super::*;
use crate::runtime::state::Written;

/// A root as the controller renders it: a variable and an argument per contract input, all outputs.
pub(crate) fn generated(edit: impl FnOnce(&mut Value)) -> Value {
    let mut root = json!({
        "terraform": {"backend": {"kubernetes": {}}},
        "variable": {},
        "module": {"role": {"source": "../../module"}},
        "output": {},
    });
    for (name, kind) in KNOWN {
        if kind == Kind::Variable {
            continue;
        }
        root["variable"][name] = json!({"type": "any", "sensitive": name == BOOTSTRAP_DATA});
        root["module"]["role"][name] = json!(format!("${{var.{name}}}"));
    }
    for name in NAMES {
        root["output"][name] = json!({"value": format!("${{module.role.{name}}}"), "sensitive": false});
    }
    edit(&mut root);
    root
}

fn parse(root: &Value) -> Root {
    Root::parse(root.to_string().as_bytes()).unwrap()
}

fn found(edit: impl FnOnce(&mut Value)) -> Vec<(String, String)> {
    parse(&generated(edit)).check().into_iter().map(|d| (d.summary, d.detail)).collect()
}

#[test]
fn what_the_controller_renders_has_no_fault() {
    let root = parse(&generated(|_| {}));
    assert_eq!(root.check(), []);
    assert_eq!(root.backend, Some(vec![]));
    assert_eq!(root.outputs.len(), 8);
    assert_eq!(root.sensitive(), BTreeSet::from(["bootstrap_data".to_owned()]));
}

#[test]
fn an_argument_that_is_not_ours_is_refused_as_terraform_does() {
    let found = found(|root| {
        root["variable"]["instance_typ"] = json!({});
        root["module"]["role"]["instance_typ"] = json!("${var.instance_typ}");
    });
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, "Unsupported argument: \"instance_typ\"");
    assert!(found[0].1.starts_with("An argument named \"instance_typ\" is not expected here."), "{found:?}");
    assert!(found[0].1.contains("instance_type"));
}

#[test]
fn every_missing_input_and_every_unknown_output_is_named() {
    for (name, kind) in KNOWN {
        if kind == Kind::Variable {
            continue;
        }
        let found = found(|root| {
            root["module"]["role"].as_object_mut().unwrap().remove(name);
        });
        if kind == Kind::Optional {
            assert_eq!(found, [], "{name}");
        } else {
            assert_eq!(found[0].0, format!("Missing required argument: \"{name}\""));
            assert!(found.len() == 1 && found[0].1.contains(&format!("\"{name}\"")), "{found:?}");
        }
    }
    let found = found(|root| root["output"]["x"] = json!({"value": "${module.role.vpc_id}"}));
    assert_eq!(found[0].0, "Unsupported attribute: \"vpc_id\"");
    assert!(found[0].1.starts_with("This object does not have an attribute named \"vpc_id\"."), "{found:?}");
}

#[test]
fn a_reference_to_nothing_and_an_expression_are_refused() {
    let missing = found(|root| root["module"]["role"]["spot"] = json!("${var.spot}"));
    assert_eq!(missing[0].0, "Reference to undeclared input variable: \"spot\"");
    let nested = found(|root| root["module"]["role"]["machine_image"] = json!({"id": ["${var.image}"]}));
    assert_eq!(nested[0].0, "Reference to undeclared input variable: \"image\"");
    for expression in [
        json!("${lower(var.x)}"),
        json!("a${var.x}"),
        json!("${var.x.y}"),
        json!("%{ if true }a%{ endif }"),
        json!("$%{"),
        json!([{"a": "b${var.x}"}]),
        json!({"${var.x}": 1}),
    ] {
        let found = found(|root| root["module"]["role"]["spot"] = expression.clone());
        assert_eq!(found[0].0, "Unsupported expression: \"spot\"", "{expression}");
    }
}

#[test]
fn a_restore_has_only_a_backend() {
    let root = parse(&json!({"terraform": {"backend": {"kubernetes": {"namespace": "a"}}}}));
    assert_eq!(root.backend.as_ref().unwrap().len(), 1);
    assert!(root.arguments.is_none() && root.outputs.is_empty());
    assert_eq!(root.check(), []);
}

#[test]
fn blocks_may_be_lists() {
    let root = generated(|root| {
        root["terraform"] = json!([{"required_version": "1"}, {"backend": [{"kubernetes": [{"a": 1}]}]}]);
        root["module"] = json!([{"role": [root["module"]["role"].clone()]}]);
        root["variable"] =
            json!([root["variable"].clone(), {"//": "a comment", "more": [{"sensitive": true}]}]);
        root["//"] = json!("generated");
    });
    let root = parse(&root);
    assert_eq!(root.check(), []);
    assert_eq!(root.backend, Some(vec![("a".into(), Json::Number("1".into()))]));
    assert!(root.variables["more"].sensitive);
}

#[test]
fn other_backends_and_broken_files_are_refused() {
    let refused = |text: &str| Root::parse(text.as_bytes()).unwrap_err().0.remove(0);
    assert_eq!(refused(r#"{"terraform": {"backend": {"s3": {}}}}"#).summary, "Unsupported backend type");
    assert_eq!(
        refused(r#"{"terraform": {"backend": {"kubernetes": 1}}}"#).summary,
        "Invalid backend configuration"
    );
    for text in ["", "[]", "{", "{\"a\": 1, \"a\": 2}"] {
        assert_eq!(refused(text).summary, "Invalid main.tf.json", "{text}");
    }
    // The keys of a default may be a secret's; the error names the file and a place only.
    let error = refused(r#"{"variable": {"x": {"default": {"s3cr3t": 1, "s3cr3t": 2}}}}"#);
    assert!(!error.to_string().contains("s3cr3t"), "{error}");
}

#[test]
fn values_reach_the_role_as_the_root_wires_them() {
    let root = parse(&generated(|root| {
        root["variable"]["size"] = json!({"default": "m7i.large", "sensitive": true});
        root["variable"]["key"] = json!({"default": null});
        root["module"]["role"]["instance_type"] = json!("${var.size}");
        root["module"]["role"]["ssh_key_name"] = json!("${var.key}");
        root["module"]["role"]["spot"] = json!(true);
    }));
    let mut given = Inputs::default();
    given.add_file("t", br#"{"replicas": 3, "spot": false, "root_volume_size_gib": 7}"#).unwrap();
    let (inputs, warnings) = root.inputs(&given);
    let value = |name: &str| inputs.get(name).map(|input| input.value.clone());
    assert_eq!(value("replicas"), Some(Json::Number("3".into())));
    assert_eq!(value("instance_type"), Some(Json::String("m7i.large".into())));
    assert_eq!(value("ssh_key_name"), Some(Json::Null));
    assert_eq!(value("spot"), Some(Json::Bool(true)), "the root decides");
    assert_eq!((value("size"), value("root_volume_size_gib")), (None, None));
    assert_eq!(warnings.len(), 2);
    assert!(
        warnings.iter().all(|w| w.summary.starts_with("Value for undeclared variable: \"")),
        "{warnings:?}"
    );
    assert!(root.sensitive().contains("instance_type"));
}

#[test]
fn values_are_read_with_the_variables_in_them() {
    let root = parse(&generated(|root| {
        root["variable"]["image"] = json!({"sensitive": true, "default": "a$${b}"});
        root["variable"]["zone"] = json!({"default": "us-east-1a", "nullable": false});
        root["variable"]["key"] = json!({"default": "ops"});
        root["variable"]["none"] = json!({});
        let role = &mut root["module"]["role"];
        role["machine_image"] = json!({"id": "${ var.image }", "//": null, "$${k}": [1.10, true]});
        role["failure_domains"] = json!(["${var.zone}", "x$${y}"]);
        role["additional_tags"] = json!({"a%%{": "b$${c}", "n": null});
        role["ssh_key_name"] = json!("${var.key}");
        role["spot"] = Value::Null;
        role["additional_security_group_ids"] = json!(["${var.none}"]);
    }));
    assert_eq!(root.check(), []);
    let mut given = Inputs::default();
    given.add_file("t", br#"{"zone": null, "key": null}"#).unwrap();
    let (inputs, _) = root.inputs(&given);
    let value =
        |name: &str| inputs.get(name).map(|input| serde_json::to_value(Written(&input.value)).unwrap());
    // A default is no template.
    assert_eq!(value("machine_image"), Some(json!({"id": "a$${b}", "//": null, "${k}": [1.10, true]})));
    assert_eq!(value("failure_domains"), Some(json!(["us-east-1a", "x${y}"])));
    assert_eq!(value("additional_tags"), Some(json!({"a%{": "b${c}", "n": null})));
    assert_eq!((value("ssh_key_name"), value("spot")), (Some(Value::Null), Some(Value::Null)));
    assert_eq!(value("additional_security_group_ids"), None, "its variable has no value");
    assert!(root.sensitive().contains("machine_image") && !root.sensitive().contains("failure_domains"));
}
