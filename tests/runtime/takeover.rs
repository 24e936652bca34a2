//! A state that Terraform wrote: its records are used, its resources pass, its lineage stays.

use serde_json::{Value, json};

use super::runner::Runner;

const LINEAGE: &str = "6f9619ff-8b86-d011-b42d-00c04fc964ff";

/// What a state of the Terraform module holds besides.
fn state() -> Value {
    let record = |name: &str, attributes: Value| {
        json!({
            "module": "module.role",
            "mode": "managed",
            "type": "terraform_data",
            "name": name,
            "provider": "provider[\"terraform.io/builtin/terraform\"]",
            "instances": [{"schema_version": 0, "attributes": attributes, "sensitive_attributes": []}],
        })
    };
    let zones = json!({"value": ["us-east-1b"], "type": ["list", "string"]});
    json!({
        "version": 4,
        "terraform_version": "1.11.4",
        "serial": 41,
        "lineage": LINEAGE,
        "outputs": {},
        "resources": [
            record("inherited_zones", json!({"id": "z", "input": zones, "output": zones, "triggers_replace": null})),
            record("something_else", json!({"id": "s", "input": null, "output": null, "triggers_replace": null})),
        ],
        "check_results": null,
    })
}

#[test]
fn a_refresh_passes_the_resources_of_a_state_that_terraform_wrote() {
    let runner = Runner::new();
    runner.put_state(&state());
    runner.refresh().ok();
    let after = runner.state().unwrap();
    assert_eq!((&after["serial"], &after["lineage"]), (&json!(42), &json!(LINEAGE)));
    assert_eq!(after["resources"], state()["resources"]);
    assert_eq!(after["outputs"]["replicas"]["value"], 3);
}

#[test]
fn the_zones_of_a_state_that_terraform_wrote_are_the_pools() {
    let runner = Runner::new();
    runner.put_state(&state());
    runner.apply().ok();
    let after = runner.state().unwrap();
    assert_eq!((&after["serial"], &after["lineage"]), (&json!(42), &json!(LINEAGE)));
    let record =
        after["resources"].as_array().unwrap().iter().find(|r| r["name"] == "inherited_zones").unwrap();
    assert_eq!(record["instances"][0]["attributes"]["output"]["value"], json!(["us-east-1b"]));
    assert_eq!(record["instances"][0]["attributes"]["id"], "z", "it is the same record");
    let account = runner.account();
    let groups = &account["world"]["groups"];
    let group = groups.as_object().map_or(groups, |groups| groups.values().next().unwrap());
    assert!(group.to_string().contains("subnet-0a1b2c3d4e5f60712"), "{group}");
    assert!(!group.to_string().contains("subnet-0a1b2c3d4e5f60711"), "{group}");
}
