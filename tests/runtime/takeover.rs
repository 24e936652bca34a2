//! A state that Terraform wrote: its records are used, its resources pass, its lineage stays.

use serde_json::{Value, json};

use super::{
    double::Fault,
    module_made::{self, TEMPLATE},
    runner::Runner,
};

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

/// What is in AWS but for the members, whose life goes on.
fn written(runner: &Runner) -> Value {
    let world = &runner.account()["world"];
    json!([
        world["templates"],
        world["buckets"],
        world["groups"]["captf-team-a-demo-pool-0-43c6d828"]["tags"]
    ])
}

fn attributes(state: &Value, name: &str) -> Value {
    let resources = state["resources"].as_array().unwrap();
    let found = resources.iter().find(|r| r["name"] == name && r["mode"] == "managed").unwrap();
    found["instances"][0]["attributes"].clone()
}

/// The demo pool's bootstrap data.
fn in_force() -> String {
    let demo: Value = serde_json::from_str(include_str!("../../testdata/demo.tfvars.json")).unwrap();
    demo["bootstrap_data"].as_str().unwrap().to_owned()
}

fn refreshes(runner: &Runner) -> Vec<Value> {
    let groups = runner.account()["world"]["groups"].clone();
    groups["captf-team-a-demo-pool-0-43c6d828"]["refreshes"].as_array().unwrap().clone()
}

#[test]
fn a_living_pool_is_taken_over_as_it_is_and_rolls_once_when_told() {
    let runner = Runner::module_made(&in_force());
    let before = written(&runner);

    // A refresh comes first: the records pass, the bootstrap data does not.
    runner.refresh().ok();
    let refreshed = runner.state().unwrap();
    assert_eq!((&refreshed["serial"], &refreshed["lineage"]), (&json!(42), &json!(module_made::LINEAGE)));
    assert_eq!(refreshed["terraform_version"], "1.11.4");
    assert_eq!(refreshed["resources"].as_array().unwrap().len(), 6, "all pass, the data source, too");
    assert_eq!(attributes(&refreshed, "bootstrap_object")["content_base64"], Value::Null);
    assert_eq!(attributes(&refreshed, "bootstrap_object")["key"], "pool/demo-pool-0");
    let version = runner.version();
    runner.refresh().ok();
    assert_eq!(runner.version(), version, "nothing new is no reason to write");
    assert_eq!(written(&runner), before);

    // A plan shows changes in place and the two records to make, and the apply that follows is that.
    let planned = runner.plan("first.tfplan", &[]);
    assert_eq!(planned.code, 2, "{}{}", planned.out, planned.err);
    for change in runner.show("first.tfplan")["resource_changes"].as_array().unwrap() {
        let record = change["type"] == "terraform_data";
        let actions = if record { json!(["create"]) } else { json!(["update"]) };
        assert_eq!(change["change"]["actions"], actions, "{change}");
    }
    let members = refreshed["outputs"]["provider_id_list"]["value"].clone();
    let done = runner.apply().ok();
    assert!(
        done.starts_with("Apply complete! Resources: 2 added, ") && done.contains(" 0 destroyed."),
        "{done}"
    );
    let applied = runner.state().unwrap();
    assert_eq!((&applied["serial"], &applied["lineage"]), (&json!(43), &json!(module_made::LINEAGE)));
    for (name, members) in [
        ("pool_launch_template", &["id", "name", "name_prefix", "region"][..]),
        ("pool_autoscaling_group", &["id", "arn", "name", "name_prefix", "initial_lifecycle_hook", "region"]),
        ("bootstrap_object", &["id", "bucket", "key", "region"]),
        ("inherited_zones", &["id", "input", "output", "triggers_replace"]),
        ("kubernetes_version_roll", &["id", "input", "output", "triggers_replace"]),
    ] {
        for member in members {
            let (was, is) = (attributes(&refreshed, name), attributes(&applied, name));
            assert_eq!(was[member], is[member], "{name} {member}");
        }
    }
    assert_eq!(attributes(&applied, "pool_launch_template")["name"], TEMPLATE);
    assert_eq!(applied["outputs"]["provider_id_list"]["value"], members);
    assert_eq!(applied["outputs"]["replicas"]["value"], 3);
    assert_eq!(applied["outputs"]["health"]["value"]["healthy"], true);
    assert_eq!(refreshes(&runner), <[Value; 0]>::default(), "nothing rolls");
    let again = runner.apply().ok();
    assert!(again.starts_with("Apply complete! Resources: 0 added, 0 changed, 0 destroyed.\n"), "{again}");
    runner.assert_unlocked();

    // Another version rolls, once.
    runner.render(|inputs| inputs["kubernetes_version"] = json!("v1.35.0"));
    let wait = ["apply", "-input=false", "-auto-approve", "--wait", "-var-file=terraform.tfvars.json"];
    let rolled = runner.run(&wait).ok();
    assert!(rolled.starts_with("Apply complete! Resources: 2 added, 1 changed, 2 destroyed.\n"), "{rolled}");
    let after = runner.state().unwrap();
    assert_ne!(
        attributes(&after, "pool_launch_template")["id"],
        attributes(&applied, "pool_launch_template")["id"]
    );
    let record = &attributes(&after, "kubernetes_version_roll");
    assert_eq!(record["triggers_replace"]["value"]["kubernetes_version"], "v1.35.0");
    assert_ne!(record["id"], attributes(&applied, "kubernetes_version_roll")["id"]);
    runner.pass(60);
    runner.come_up();
    let again = runner.apply().ok();
    assert!(again.starts_with("Apply complete! Resources: 0 added, 0 changed, 0 destroyed.\n"), "{again}");
    assert_eq!(refreshes(&runner).len(), 1);
    let now = runner.state().unwrap()["outputs"]["provider_id_list"]["value"].clone();
    assert!(now.as_array().unwrap().iter().all(|id| !members.as_array().unwrap().contains(id)), "{now}");
    // Once the last member that ran from it has gone, an apply takes the module's template away.
    let left = || runner.account()["world"]["templates"].to_string().contains(TEMPLATE);
    for _ in 0..30 {
        if !left() {
            break;
        }
        runner.apply().ok();
    }
    assert!(!left(), "it went with the roll: {:#}", runner.account()["world"]["instances"]);
}

#[test]
fn a_backup_of_the_modules_time_loses_its_content_with_the_next_write() {
    let runner = Runner::module_made(&in_force());
    runner.refresh().ok();
    let mut backup = runner.state().unwrap();
    backup["serial"] = json!(7);
    backup["outputs"]["replicas"]["value"] = json!(2);
    let resources = backup["resources"].as_array_mut().unwrap();
    let object = resources.iter_mut().find(|r| r["name"] == "bootstrap_object").unwrap();
    // The token of that day, which the inputs no longer know.
    object["instances"][0]["attributes"]["content_base64"] = json!("dG9rZW4gb2YgdGhhdCBkYXk=");
    std::fs::write(runner.work("backup.tfstate"), backup.to_string()).unwrap();
    runner.run(&["state", "push", "-force", &runner.path("backup.tfstate")]).ok();
    let restored = runner.state().unwrap();
    assert_eq!((&restored["serial"], &restored["resources"]), (&json!(43), &backup["resources"]));
    runner.refresh().ok();
    let refreshed = runner.state().unwrap();
    assert_eq!(refreshed["serial"], 44);
    let mut object = attributes(&backup, "bootstrap_object");
    object["content_base64"] = Value::Null;
    assert_eq!(attributes(&refreshed, "bootstrap_object"), object);
    for name in
        ["pool_launch_template", "pool_autoscaling_group", "inherited_zones", "kubernetes_version_roll"]
    {
        assert_eq!(attributes(&refreshed, name), attributes(&backup, name), "{name}");
    }
    let done = runner.apply().ok();
    assert!(done.contains(" 0 destroyed."), "{done}");
    assert_eq!(refreshes(&runner), <[Value; 0]>::default(), "nothing rolls");
}

#[test]
fn nothing_is_written_to_aws_before_the_state_of_a_pool_that_is_taken_over_can_be() {
    let runner = Runner::module_made(&in_force());
    runner.init();
    let before = written(&runner);
    let apply = ["apply", "-input=false", "-auto-approve", "-var-file=terraform.tfvars.json"];
    for fault in [Fault::Status(403), Fault::Status(422)] {
        runner.kubernetes.fail("update", "secrets", fault);
        runner.run(&apply).fails("secrets");
        assert_eq!(written(&runner), before);
        assert!(!runner.work("root/errored.tfstate").exists(), "nothing was done that would have to be kept");
        runner.assert_unlocked();
        runner.kubernetes.heal();
    }
    // A webhook that refuses dry runs is no reason to refuse, but one that refuses the write is.
    runner.kubernetes.fail_times("update", "secrets", 1, Fault::NoDryRun);
    runner.kubernetes.fail("update", "secrets", Fault::Status(403));
    runner.run(&apply).fails("secrets");
    assert_eq!(written(&runner), before);
    runner.kubernetes.heal();
    runner.kubernetes.fail("update", "secrets", Fault::NoDryRun);
    runner.run(&apply).ok();
    assert_eq!(runner.state().unwrap()["serial"], 42);
    assert_ne!(written(&runner), before);
}
