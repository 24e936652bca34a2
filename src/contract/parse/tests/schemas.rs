//! Schemas, parser and table of names say the same.

use std::fs;

use serde_json::{Value, json};

use super::{json_files, request};
use crate::contract::{
    inputs::Inputs,
    known::{KNOWN, Kind},
    outputs::{Address, Health, InstanceOutput, Outputs},
    request::Request,
    schema,
};

fn validators() -> [jsonschema::Validator; 2] {
    [schema::inputs(), schema::variables()]
        .map(|text| jsonschema::draft202012::new(&serde_json::from_str(text).unwrap()).unwrap())
}

/// What both schemas say against a complete input.
fn schema_faults(document: &Value) -> Vec<String> {
    let validators = validators();
    validators.iter().flat_map(|v| v.iter_errors(document).map(|error| error.to_string())).collect()
}

fn parse(text: &str) -> Result<Request, String> {
    let mut inputs = Inputs::default();
    inputs.add_file("example.json", text.as_bytes()).map_err(|error| error.to_string())?;
    Request::parse(&inputs).map_err(|problems| format!("{:#?}", problems.0))
}

#[test]
fn schemas_are_schemas() {
    for text in [
        schema::inputs(),
        schema::variables(),
        schema::outputs(),
        schema::plan(),
        schema::status(),
        schema::doctor(),
    ] {
        jsonschema::draft202012::meta::validate(&serde_json::from_str(text).unwrap()).unwrap();
    }
}

#[test]
fn examples_that_must_pass() {
    let demo = [super::Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/demo.tfvars.json")];
    for file in json_files("contract/examples/pass").iter().chain(&demo) {
        let text = fs::read_to_string(file).unwrap();
        assert_eq!(parse(&text).map(|request| request.warnings), Ok(vec![]), "{}", file.display());
        assert_eq!(schema_faults(&serde_json::from_str(&text).unwrap()), [""; 0], "{}", file.display());
    }
}

#[test]
fn examples_that_must_fail() {
    // Those that JSON Schema can tell, and those that only the program can.
    for (directory, told) in
        [("contract/examples/fail/schema", true), ("contract/examples/fail/program", false)]
    {
        for file in json_files(directory) {
            let text = fs::read_to_string(&file).unwrap();
            assert!(parse(&text).is_err(), "{}", file.display());
            let faults = schema_faults(&serde_json::from_str(&text).unwrap());
            assert_eq!(!faults.is_empty(), told, "{}: {faults:?}", file.display());
        }
    }
}

#[test]
fn the_schemas_accept_what_conversion_accepts() {
    for file in json_files("testdata/inputs/valid") {
        let mut document: Value =
            serde_json::from_str(include_str!("../../../../testdata/demo.tfvars.json")).unwrap();
        let case: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        document.as_object_mut().unwrap().extend(case.as_object().unwrap().clone());
        assert_eq!(schema_faults(&document), [""; 0], "{}", file.display());
    }
}

#[test]
fn schemas_have_every_name_of_the_table() {
    let [inputs, variables] =
        [schema::inputs(), schema::variables()].map(|text| serde_json::from_str::<Value>(text).unwrap());
    let names = |wanted: &dyn Fn(Kind) -> bool| -> Vec<&str> {
        let mut names: Vec<&str> =
            KNOWN.iter().filter(|(_, kind)| wanted(*kind)).map(|(name, _)| *name).collect();
        names.sort_unstable();
        names
    };
    let sorted = |json: &Value| -> Vec<String> {
        let mut names: Vec<String> = match json {
            Value::Object(fields) => fields.keys().cloned().collect(),
            other => serde_json::from_value(other.clone()).unwrap(),
        };
        names.sort_unstable();
        names
    };
    assert_eq!(sorted(&inputs["properties"]), names(&|kind| kind != Kind::Variable));
    assert_eq!(sorted(&variables["properties"]), names(&|kind| kind == Kind::Variable));
    assert_eq!(sorted(&inputs["required"]), names(&|kind| matches!(kind, Kind::Required | Kind::Nullable)));
    for schema in [&inputs, &variables] {
        assert_eq!(sorted(&schema["propertyNames"]["enum"]), names(&|_| true));
    }
}

#[test]
fn defaults_of_the_schema_are_those_of_the_program() {
    let schema: Value = serde_json::from_str(schema::variables()).unwrap();
    // Everything that shapes a request shows here: autoscaling is on, for the target's sake.
    let on = r#""autoscaling": {"enabled": true, "min": 1, "max": 2}"#;
    let without = request(&format!("{{{on}}}"));
    for (name, variable) in schema["properties"].as_object().unwrap() {
        let default = variable.get("default").unwrap_or_else(|| panic!("{name} has no default"));
        assert_eq!(request(&format!("{{{on}, \"{name}\": {default}}}")), without, "{name}");
        for key in ["description", "x-captf-type"] {
            assert!(variable[key].as_str().is_some_and(|text| !text.is_empty()), "{name} has no {key}");
        }
    }
    for (attribute, image) in schema["properties"]["machine_image"]["properties"].as_object().unwrap() {
        let case = json!({"machine_image": {attribute: image["default"]}}).to_string();
        assert_eq!(request(&case).machine_image, without.machine_image, "{attribute}");
    }
}

#[test]
fn every_required_input_is_missed_by_name() {
    let demo: Value = serde_json::from_str(include_str!("../../../../testdata/demo.tfvars.json")).unwrap();
    for (name, kind) in KNOWN {
        let mut less = demo.as_object().unwrap().clone();
        less.remove(name);
        let mut inputs = Inputs::default();
        inputs.add_file("less.json", Value::from(less).to_string().as_bytes()).unwrap();
        match kind {
            Kind::Required | Kind::Nullable => {
                let problems = Request::parse(&inputs).expect_err(name).0;
                let summaries: Vec<&str> = problems.iter().map(|d| d.summary.as_str()).collect();
                assert_eq!(summaries, [format!("Missing required input {name}")]);
            }
            Kind::Optional | Kind::Variable => assert!(Request::parse(&inputs).is_ok(), "{name}"),
        }
    }
    let all = Request::parse(&Inputs::default()).unwrap_err().0;
    assert_eq!(all.len(), 1, "all missing inputs are told together: {all:#?}");
    assert_eq!(all[0].summary, "13 required inputs are missing");
    let required = KNOWN.iter().filter(|(_, kind)| matches!(kind, Kind::Required | Kind::Nullable));
    assert!(required.clone().count() == 13 && required.clone().all(|(name, _)| all[0].detail.contains(name)));
    assert!(all[0].detail.contains("-var-file=FILE") && all[0].detail.contains("machinepool schema inputs"));
}

#[test]
fn the_table_of_variables_is_markdown() {
    let table = schema::variables_markdown();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 2 + 15);
    assert_eq!(lines[0], "| Name | Type | Default | Description |");
    assert!(lines.iter().all(|line| line.starts_with("| ") && line.ends_with(" |")));
    let row = |name: &str| *lines.iter().find(|line| line.starts_with(&format!("| `{name}` |"))).unwrap();
    assert!(row("instance_type").starts_with("| `instance_type` | `string` | `\"m6i.large\"` | "));
    assert!(row("additional_tags").starts_with("| `additional_tags` | `map(string)` | `{}` | "));
    assert!(row("ssh_key_name").starts_with("| `ssh_key_name` | `string` | `null` | "));
}

#[test]
fn outputs_fit_their_schema() {
    let schema = serde_json::from_str(schema::outputs()).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let id = "aws:///us-east-1a/i-0a1b2c3d4e5f60718".to_owned();
    let full = Outputs {
        provider_id: Some(
            "arn:aws:autoscaling:us-east-1:111122223333:autoScalingGroup:x:autoScalingGroupName/y".into(),
        ),
        provider_id_list: vec![id.clone()],
        replicas: 1,
        instances: vec![InstanceOutput {
            provider_id: id,
            instance_id: "i-0a1b2c3d4e5f60718".into(),
            addresses: vec![Address { kind: "InternalIP".into(), address: "10.0.0.1".into() }],
            failure_domain: "us-east-1a".into(),
            state: "running".into(),
        }],
        health: Health {
            state: "running".into(),
            healthy: false,
            message: "1 of 1".into(),
            reasons: vec!["InstancePending:i-0a".into(), "ScalingInProgress".into()],
        },
        autoscaling_group_name: "captf-team-a-demo-pool-0-43c6d828".into(),
        dropped_node_labels: vec!["node-role.kubernetes.io/x".into()],
        launch_template_id: Some("lt-0a1b2c3d4e5f60718".into()),
    };
    let gone = Outputs {
        provider_id: None,
        provider_id_list: vec![],
        replicas: 0,
        instances: vec![],
        health: Health {
            state: "terminated".into(),
            reasons: vec!["GroupNotFound".into()],
            ..full.health.clone()
        },
        launch_template_id: None,
        ..full.clone()
    };
    for outputs in [&full, &gone] {
        let json = serde_json::to_value(outputs).unwrap();
        let faults: Vec<String> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
        assert_eq!(faults, [""; 0]);
        for name in json.as_object().unwrap().keys() {
            let mut less = json.clone();
            less.as_object_mut().unwrap().remove(name);
            assert!(!validator.is_valid(&less), "{name} is required");
        }
    }
    let properties = serde_json::to_value(&full).unwrap();
    assert_eq!(
        schema["properties"].as_object().unwrap().keys().collect::<Vec<_>>(),
        properties.as_object().unwrap().keys().collect::<Vec<_>>()
    );
}
