//! Each operation as it goes well.

use serde_json::{Value, json};

use super::runner::{NAMESPACE, Runner, SECRET};

/// The addresses that the state lists.
fn list(runner: &Runner) -> Vec<String> {
    runner.run(&["state", "list"]).ok().lines().map(str::to_owned).collect()
}

#[test]
fn an_apply_records_outputs_and_resources() {
    let runner = Runner::new();
    let done = runner.apply().ok();
    assert!(done.starts_with("Apply complete! Resources: 5 added, 0 changed, 0 destroyed.\n"), "{done}");
    let state = runner.state().unwrap();
    assert_eq!((&state["version"], &state["serial"]), (&json!(4), &json!(1)));
    assert_eq!(state["outputs"]["replicas"], json!({"value": 3, "type": "number"}));
    assert_eq!(state["outputs"]["provider_id_list"]["type"], json!(["list", "string"]));
    assert!(state["outputs"]["provider_id"]["value"].as_str().unwrap().starts_with("arn:aws:autoscaling:"));
    assert_eq!(state["outputs"].as_object().unwrap().len(), 5);
    let secret = runner.kubernetes.object("secrets", NAMESPACE, SECRET).unwrap();
    let labels = &secret["metadata"]["labels"];
    assert_eq!((&labels["tfstate"], &labels["captf.io/name"]), (&json!("true"), &json!("demo-pool-0")));
    assert_eq!(
        list(&runner),
        [
            "module.role.aws_autoscaling_group.pool_autoscaling_group[0]",
            "module.role.aws_launch_template.pool_launch_template[0]",
            "module.role.aws_s3_object.bootstrap_object[0]",
            "module.role.terraform_data.inherited_zones",
            "module.role.terraform_data.kubernetes_version_roll",
        ]
    );
    runner.assert_unlocked();
    assert!(!runner.work("root/errored.tfstate").exists());
    assert!(runner.run(&["state", "pull"]).ok().contains("\"lineage\""));
}

#[test]
fn nothing_new_writes_nothing() {
    let runner = Runner::new();
    runner.apply().ok();
    runner.come_up();
    let (version, serial) = (runner.version(), runner.state().unwrap()["serial"].clone());
    assert!(serial.as_u64().unwrap() > 1, "members came up");
    runner.kubernetes.seen();
    let done = runner.refresh().ok();
    assert!(done.starts_with("Apply complete! Resources: 0 added, 0 changed, 0 destroyed.\n"), "{done}");
    let calls = runner.kubernetes.calls();
    assert_eq!(calls, ["get leases", "update leases", "list secrets", "update leases"]);
    let unchanged = runner.apply().ok();
    assert!(unchanged.starts_with("Apply complete! Resources: 0 added, 0 changed, 0 destroyed.\n"));
    // A rotation changes no output, and so no serial.
    runner.render(|inputs| inputs["bootstrap_data"] = json!("bmV3IHRva2Vu"));
    let rotated = runner.apply().ok();
    assert!(
        rotated.starts_with("Apply complete! Resources: 0 added, 1 changed, 0 destroyed.\n"),
        "{rotated}"
    );
    assert_eq!((runner.version(), &runner.state().unwrap()["serial"]), (version, &serial));
    runner.assert_unlocked();
}

#[test]
fn a_guarded_apply_shows_a_roll_as_a_replacement() {
    let runner = Runner::new();
    runner.apply().ok();
    runner.render(|inputs| inputs["kubernetes_version"] = json!("v1.35.0"));
    runner.init();
    let planned = runner.plan("apply.tfplan", &[]);
    assert_eq!(planned.code, 2, "{}", planned.err);
    let shown = runner.show("apply.tfplan");
    let actions = |shown: &Value, part: &str| {
        let changes = shown["resource_changes"].as_array().unwrap().clone();
        let change = changes.iter().find(|c| c["address"].as_str().unwrap().contains(part)).cloned();
        change.map(|change| change["change"]["actions"].clone())
    };
    assert_eq!(actions(&shown, "aws_launch_template"), Some(json!(["create", "delete"])));
    assert_eq!(shown["variables"]["bootstrap_data"]["value"], "(sensitive value)");
    let done = runner.apply_file("apply.tfplan").ok();
    assert!(done.starts_with("Apply complete! Resources: 2 added, 1 changed, 2 destroyed.\n"), "{done}");
    runner.apply_file("apply.tfplan").fails("Saved plan is stale");
    runner.assert_unlocked();

    runner.render(|inputs| {
        inputs["kubernetes_version"] = json!("v1.35.0");
        inputs["bootstrap_data"] = json!("bmV3IHRva2Vu");
    });
    assert_eq!(runner.plan("rotate.tfplan", &[]).code, 2);
    let shown = runner.show("rotate.tfplan");
    assert_eq!(actions(&shown, "aws_s3_object"), Some(json!(["update"])));
    assert_eq!(shown["resource_changes"].as_array().unwrap().len(), 1, "{shown:#}");
    runner.apply_file("rotate.tfplan").ok();
    runner.refresh().ok();
    let planned = runner.plan("none.tfplan", &["-refresh=false"]);
    assert_eq!(planned.code, 0, "{}{}", planned.out, planned.err);
}

#[test]
fn a_saved_plan_is_applied_only_where_it_was_made() {
    let runner = Runner::new();
    runner.init();
    assert_eq!(runner.plan("apply.tfplan", &[]).code, 2);
    // The same root with another state.
    runner.init_for("demo-pool-b");
    let outcome = runner.apply_file("apply.tfplan").fails("Saved plan is stale");
    assert!(outcome.err.contains("team-a/tfstate-default-demo-pool-b"), "{}", outcome.err);
    // A directory without a root.
    let root = std::fs::read_to_string(runner.work("root/main.tf.json")).unwrap();
    std::fs::remove_file(runner.work("root/main.tf.json")).unwrap();
    let outcome = runner.apply_file("apply.tfplan").fails("Saved plan is stale");
    assert!(outcome.err.contains("without a root module"), "{}", outcome.err);
    assert!(!runner.account()["world"]["groups"].to_string().contains("captf-team-a"), "nothing was made");
    std::fs::write(runner.work("root/main.tf.json"), root).unwrap();
    runner.init();
    runner.apply_file("apply.tfplan").ok();
}

#[test]
fn what_a_scaler_does_leaves_the_plan_of_a_change_as_it_is() {
    let runner = Runner::new();
    let render = |replicas: u32, version: &str| {
        runner.render(|inputs| {
            inputs["replicas"] = json!(replicas);
            inputs["kubernetes_version"] = json!(version);
            inputs["autoscaling"] = json!({"enabled": true, "min": 1, "max": 9});
            inputs["autoscaler"] = json!("external");
        });
    };
    render(3, "v1.34.1");
    runner.apply().ok();
    runner.come_up();
    let show = |replicas: u32, file: &str| {
        render(replicas, "v1.35.0");
        assert_eq!(runner.plan(file, &[]).code, 2);
        runner.run(&["show", "-json", "-no-color", &runner.path(file)]).ok()
    };
    let first = show(3, "first.tfplan");
    // The scaler doubles the pool, the controller writes that back, members and activities come.
    let mut account = runner.account();
    let group = account["world"]["groups"].as_object_mut().unwrap().values_mut().next().unwrap();
    group["desired"] = json!(6);
    std::fs::write(runner.work("account.json"), account.to_string()).unwrap();
    runner.come_up();
    assert_eq!(show(6, "second.tfplan"), first);
    let shown: Value = serde_json::from_str(&first).unwrap();
    assert_eq!(shown["variables"]["replicas"], json!({}));
    for change in shown["resource_changes"].as_array().unwrap() {
        let replaced = change["change"]["actions"] == json!(["create", "delete"]);
        assert_eq!(replaced, change["type"] != "aws_autoscaling_group", "{change}");
        assert_eq!(replaced, change["action_reason"] == "replace_because_cannot_update", "{change}");
        assert!(change["change"]["after"].get("desired_capacity").is_none(), "{change}");
    }
    runner.apply_file("first.tfplan").ok();
}

#[test]
fn outputs_that_changed_are_drift() {
    let runner = Runner::new();
    runner.apply().ok();
    let mut state = runner.state().unwrap();
    state["outputs"]["replicas"]["value"] = json!(2);
    state["outputs"]["instances"] = json!({"value": ["gone"], "type": ["tuple", ["string"]]});
    runner.put_state(&state);
    let planned = runner.plan("drift.tfplan", &["-refresh=false"]);
    assert_eq!(planned.code, 2, "{}{}", planned.out, planned.err);
    let shown = runner.show("drift.tfplan");
    assert_eq!(shown["resource_changes"], json!([]));
    assert_eq!(shown["output_changes"]["replicas"]["before"], 2);
    assert_eq!(shown["output_changes"]["replicas"]["after"], 3);
    assert!(shown["output_changes"].get("instances").is_none(), "instances come and go");
    // Applied, it records; a second time there is nothing left of it.
    let done = runner.apply_file("drift.tfplan").ok();
    assert!(done.starts_with("Apply complete! Resources: 0 added, 0 changed, 0 destroyed.\n"), "{done}");
    assert_eq!(runner.state().unwrap()["outputs"]["replicas"]["value"], 3);
    let version = runner.version();
    let again = runner.apply_file("drift.tfplan").fails("Saved plan is stale");
    assert!(again.err.contains("replicas"), "{}", again.err);
    assert_eq!(runner.version(), version);
    runner.assert_unlocked();
    state["outputs"]["replicas"]["value"] = json!(3);
    runner.put_state(&state);
    let planned = runner.plan("none.tfplan", &["-refresh=false"]);
    assert_eq!(planned.code, 0, "{}{}", planned.out, planned.err);
    assert_eq!(runner.plan("all.tfplan", &[]).code, 2);
}

#[test]
fn a_destroy_leaves_an_empty_state() {
    let runner = Runner::new();
    runner.apply().ok();
    let lineage = runner.state().unwrap()["lineage"].clone();
    let done = runner.destroy().ok();
    assert_eq!(done, "Destroy complete! Resources: 5 destroyed.\n");
    let state = runner.state().unwrap();
    assert_eq!((&state["outputs"], &state["resources"]), (&json!({}), &json!([])));
    assert_eq!(state["lineage"], lineage);
    assert_eq!(list(&runner), [""; 0]);
    assert_eq!(runner.destroy().ok(), "Destroy complete! Resources: 0 destroyed.\n");
    runner.assert_unlocked();
}

#[test]
fn what_only_the_state_still_says_is_a_change_to_a_destroy() {
    let runner = Runner::new();
    let plan = |file: &str| runner.plan(file, &["-destroy"]);
    runner.apply().ok();
    std::fs::remove_file(runner.work("account.json")).unwrap();
    let planned = plan("destroy.tfplan");
    assert_eq!(planned.code, 2, "{}{}", planned.out, planned.err);
    assert!(planned.out.contains("nothing is left to destroy"), "{}", planned.out);
    assert!(planned.out.contains("Outputs to remove: health, instances, "), "{}", planned.out);
    let shown = runner.show("destroy.tfplan");
    assert_eq!((&shown["applyable"], &shown["resource_changes"]), (&json!(true), &json!([])));
    assert_eq!(shown["output_changes"]["provider_id"]["actions"], json!(["delete"]));
    let text = runner.run(&["show", "-no-color", &runner.path("destroy.tfplan")]).ok();
    assert!(text.contains("Outputs to remove: "), "{text}");
    runner.apply_file("destroy.tfplan").ok();
    let state = runner.state().unwrap();
    assert_eq!((&state["outputs"], &state["resources"]), (&json!({}), &json!([])));
    runner.apply_file("destroy.tfplan").fails("Saved plan is stale");
    let planned = plan("none.tfplan");
    assert_eq!(planned.code, 0, "{}{}", planned.out, planned.err);
    assert!(!planned.out.contains("to remove"), "{}", planned.out);
    assert_eq!(runner.show("none.tfplan")["applyable"], false);
    // Resources alone are enough: a destroy takes them out.
    let mut listed = state.clone();
    listed["resources"] = json!([{
        "mode": "managed", "type": "terraform_data", "name": "x",
        "provider": "provider[\"terraform.io/builtin/terraform\"]",
        "instances": [{"schema_version": 0, "attributes": {"id": "i"}}],
    }]);
    runner.put_state(&listed);
    let planned = plan("listed.tfplan");
    assert_eq!(planned.code, 2, "{}{}", planned.out, planned.err);
    assert!(planned.out.contains("Resources to remove from the state."), "{}", planned.out);
}

#[test]
fn a_destroy_finds_with_the_state_what_the_inputs_no_longer_say() {
    let runner = Runner::new();
    runner.apply().ok();
    runner.render(|inputs| {
        for name in ["captf_cluster_outputs", "kubernetes_version", "failure_domains"] {
            inputs[name] = json!(null);
        }
        inputs["replicas"] = json!("many");
    });
    assert_eq!(runner.destroy().ok(), "Destroy complete! Resources: 5 destroyed.\n");
    let account = runner.account();
    assert!(!account.to_string().contains("pool/demo-pool-0"), "the object is gone, too");
}

#[test]
fn a_refresh_tells_of_a_group_that_is_gone() {
    let runner = Runner::new();
    runner.refresh().ok();
    let health = runner.state().unwrap()["outputs"]["health"]["value"].clone();
    assert_eq!((&health["state"], &health["reasons"]), (&json!("terminated"), &json!(["GroupNotFound"])));
    assert!(runner.state().unwrap()["outputs"].get("provider_id").is_none(), "it is null");
}

#[test]
fn a_refresh_is_planned() {
    let runner = Runner::new();
    runner.init();
    let variables = "-var-file=terraform.tfvars.json";
    let plan = |more: &[&str]| {
        let rest = [&["-refresh-only", "-detailed-exitcode"][..], more, &[variables]].concat();
        runner.operation("plan", &rest)
    };
    assert_eq!(plan(&[]).code, 2, "nothing is recorded yet");
    runner.apply().ok();
    runner.come_up();
    // What an apply would change is none of its business.
    runner.render(|inputs| inputs["kubernetes_version"] = json!("v1.35.0"));
    let version = runner.version();
    let planned = plan(&[]);
    assert_eq!(planned.code, 0, "{}{}", planned.out, planned.err);
    assert!(
        planned.out.starts_with("No changes. A refresh would record nothing anew of the pool "),
        "{}",
        planned.out
    );
    let mut state = runner.state().unwrap();
    state["outputs"]["replicas"]["value"] = json!(2);
    runner.put_state(&state);
    let planned = plan(&[]);
    assert_eq!(
        (planned.code, planned.out.as_str()),
        (2, "Outputs to record anew: replicas.\n"),
        "{}",
        planned.err
    );
    let planned = plan(&["--format", "json"]);
    let json: Value = serde_json::from_str(&planned.out).unwrap();
    assert_eq!((planned.code, &json["verdict"]), (2, &json!("Outputs to record anew: replicas.")));
    assert_eq!(json["outputs"], json!([{"name": "replicas", "action": "update"}]));
    assert_eq!((&json["counts"]["change"], &json["changes"]), (&json!(0), &json!([])));
    let planned = plan(&["-json"]);
    assert!(planned.out.lines().any(|line| line.contains("\"replicas\":{")), "{}", planned.out);
    assert!(planned.out.contains("Plan: 0 to add, 0 to change, 0 to destroy."), "{}", planned.out);
    assert_eq!(runner.operation("plan", &["-refresh-only", variables]).code, 0);
    assert_ne!(runner.version(), version, "the edit above");
    assert_eq!(runner.state().unwrap()["outputs"]["replicas"]["value"], 2, "a plan writes nothing");
    plan(&["-out=x"]).fails("-out is not supported with -refresh-only");
    plan(&["-destroy"]).fails("--destroy");
    runner.assert_unlocked();
}

/// A newer controller may re-export fewer outputs: Terraform plans their removal.
#[test]
fn an_output_that_the_root_no_longer_has_is_planned_to_go() {
    let runner = Runner::new();
    runner.apply().ok();
    runner.come_up();
    runner.refresh().ok();
    assert_eq!(runner.plan("none.tfplan", &[]).code, 0);
    let mut state = runner.state().unwrap();
    state["outputs"]["former"] = json!({"value": "s3cr3t", "type": "string", "sensitive": true});
    runner.put_state(&state);
    let planned = runner.plan("outputs.tfplan", &[]);
    assert_eq!(planned.code, 2, "{}{}", planned.out, planned.err);
    assert!(planned.out.contains("\nOutputs to remove: former.\n"), "{}", planned.out);
    let shown = runner.show("outputs.tfplan");
    assert_eq!(shown["output_changes"]["former"]["actions"], json!(["delete"]));
    assert!(!shown.to_string().contains("s3cr3t"));
    runner.apply_file("outputs.tfplan").ok();
    assert!(runner.state().unwrap()["outputs"].get("former").is_none());
    runner.apply_file("outputs.tfplan").fails("Saved plan is stale");
    // An apply without a saved plan says what the plan says.
    runner.put_state(&state);
    let applied = runner.apply();
    assert!(applied.err.contains("\nOutputs to remove: former.\n"), "{}{}", applied.out, applied.err);
    assert!(runner.state().unwrap()["outputs"].get("former").is_none());
    assert_eq!(runner.plan("none.tfplan", &[]).code, 0);
}

#[test]
fn an_apply_destroys_when_told() {
    let runner = Runner::new();
    runner.apply().ok();
    let variables = "-var-file=terraform.tfvars.json";
    runner.operation("apply", &["-destroy", "-refresh-only", variables]).fails("--refresh-only");
    runner.operation("apply", &["-destroy", variables]).fails("approve");
    let done = runner.operation("apply", &["-destroy", "-auto-approve", variables]).ok();
    assert_eq!(done, "Apply complete! Resources: 0 added, 0 changed, 5 destroyed.\n");
    assert_eq!(list(&runner), [""; 0]);
    runner.assert_unlocked();
}

#[test]
fn a_lost_state_is_built_again() {
    let runner = Runner::new();
    runner.apply().ok();
    let before = runner.state().unwrap();
    runner.kubernetes.remove("secrets", NAMESPACE, SECRET);
    runner.refresh().ok();
    assert!(list(&runner).iter().any(|address| address.contains("aws_autoscaling_group")));
    runner.apply().ok();
    let after = runner.state().unwrap();
    assert_eq!(after["resources"].as_array().unwrap().len(), before["resources"].as_array().unwrap().len());
}

#[test]
fn a_restore_pushes_and_lists() {
    let runner = Runner::new();
    runner.apply().ok();
    let backup = runner.run(&["state", "pull"]).ok();
    std::fs::write(runner.work("backup.tfstate"), &backup).unwrap();
    runner.kubernetes.remove("secrets", NAMESPACE, SECRET);
    runner.render_restore();
    runner.init();
    let file = runner.path("backup.tfstate");
    runner.run(&["state", "list"]).fails("No state file was found");
    runner.run(&["state", "push", "-force", "-lock-timeout=300s", &file]).ok();
    assert_eq!(list(&runner).len(), 5);
    let restored: Value = serde_json::from_str(&backup).unwrap();
    assert_eq!(runner.state().unwrap(), restored);
    runner.assert_unlocked();
    // Without -force, only what follows is taken.
    let mut older = restored.clone();
    older["lineage"] = json!("another");
    std::fs::write(runner.work("backup.tfstate"), older.to_string()).unwrap();
    runner.run(&["state", "push", &file]).fails("not replaced");
    runner.run(&["state", "push", "-force", &file]).ok();
    std::fs::write(runner.work("backup.tfstate"), "{}").unwrap();
    runner.run(&["state", "push", "-force", &file]).fails("state");
    assert_eq!(runner.state().unwrap()["lineage"], "another");
}

#[test]
fn json_lines_with_a_state() {
    let runner = Runner::new();
    runner.init();
    let args = [
        "apply",
        "-input=false",
        "-no-color",
        "-lock-timeout=300s",
        "-auto-approve",
        "-var-file=terraform.tfvars.json",
        "-json",
    ];
    for line in runner.run(&args).ok().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert!(line["type"].is_string(), "{line}");
    }
    assert!(runner.state().is_some());
}

#[test]
fn what_programs_go_on_with_is_exact_whatever_it_looks_like() {
    const LABEL: &str = "node-role.kubernetes.io/abcdef.0123456789abcdef";
    let runner = Runner::new();
    runner.render(|inputs| inputs["node_labels"] = json!({LABEL: ""}));
    let root = runner.work("root/main.tf.json");
    let mut given: Value = serde_json::from_str(&std::fs::read_to_string(&root).unwrap()).unwrap();
    given["output"]["labels"] = json!({"value": "${module.role.dropped_node_labels}", "sensitive": false});
    std::fs::write(&root, given.to_string()).unwrap();
    let labels = json!([LABEL]);

    runner.init();
    runner.plan("apply.tfplan", &[]);
    assert_eq!(runner.show("apply.tfplan")["output_changes"]["labels"]["after"], labels);
    let told = runner.operation("apply", &["-json", "-auto-approve", "-var-file=terraform.tfvars.json"]).ok();
    let last: Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
    assert_eq!((&last["type"], &last["outputs"]["labels"]["value"]), (&json!("outputs"), &labels));
    assert_eq!(runner.state().unwrap()["outputs"]["labels"]["value"], labels);
    let outputs = runner.run(&["outputs", "dropped_node_labels", "-var-file=terraform.tfvars.json"]).ok();
    assert_eq!(serde_json::from_str::<Value>(&outputs).unwrap(), labels);
}
