//! In a directory with a root module but without a backend: no state, no lock, everything else.

use serde_json::{Value, json};

use super::{Bench, demo};

const SECRET: &str = "I2Nsb3VkLWNvbmZpZwp3cml0ZV9maWxlczoK";

/// A working directory as the controller renders it, its module beside it, and the sandbox in it.
pub(crate) struct Desk {
    pub(crate) bench: Bench,
}

impl Desk {
    fn new() -> Self {
        Self::with(|_| {}, |_| {})
    }

    pub(crate) fn with(root: impl FnOnce(&mut Value), inputs: impl FnOnce(&mut Value)) -> Self {
        let bench = Bench::new();
        let mut given: Value = serde_json::from_str(&std::fs::read_to_string(demo()).unwrap()).unwrap();
        inputs(&mut given);
        std::fs::create_dir(bench.path("module")).unwrap();
        bench.write("module/variables.tf", "variable \"machinepool_name\" {}\n");
        let mut rendered = json!({"module": {"role": {"source": "./module"}}, "output": {}});
        for name in given.as_object().unwrap().keys() {
            rendered["variable"][name] = json!({"type": "any", "sensitive": name == "bootstrap_data"});
            rendered["module"]["role"][name] = json!(format!("${{var.{name}}}"));
        }
        for name in ["provider_id", "provider_id_list", "replicas", "instances", "health"] {
            rendered["output"][name] =
                json!({"value": format!("${{module.role.{name}}}"), "sensitive": false});
        }
        root(&mut rendered);
        bench.write("main.tf.json", &rendered.to_string());
        bench.write("terraform.tfvars.json", &given.to_string());
        Self { bench }
    }

    pub(crate) fn run(&self, line: &str) -> super::Outcome {
        self.bench.run(&format!("{line} --sandbox account.json"))
    }
}

const ALL: &str = "-input=false -no-color -lock-timeout=300s";

/// Every line as JSON; each has what all lines have.
#[track_caller]
fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
            assert!(
                line["type"].is_string() && line["@message"].is_string() && line["@timestamp"].is_string()
            );
            line
        })
        .collect()
}

#[test]
fn version_for_programs() {
    let json: Value = serde_json::from_str(&Bench::new().run("version -json").ok()).unwrap();
    let version = json["terraform_version"].as_str().unwrap();
    assert_eq!(version.split('.').filter(|part| part.parse::<u32>().is_ok()).count(), 3);
    assert!(json["platform"].as_str().unwrap().starts_with("linux_"), "{json}");
    assert_eq!((&json["provider_selections"], &json["terraform_outdated"]), (&json!({}), &json!(false)));
}

#[test]
fn init_checks_the_module_and_writes_nothing_without_a_backend() {
    let desk = Desk::new();
    desk.run("init -input=false -no-color -upgrade -var a=b -var-file=not-there.tfvars").ok();
    assert!(!desk.bench.path(".terraform").exists());
    desk.bench.write("module/variables.tf", "variable \"vpc_id\" {}\n");
    desk.run("init").fails("Error: Module directory ./module is not this role's");
    std::fs::remove_dir_all(desk.bench.path("module")).unwrap();
    desk.run("init").fails("cannot be read");
    Bench::new().run("init").fails("Error: No main.tf.json here");
}

#[test]
fn validate_names_what_terraform_would() {
    let verdict = |desk: &Desk| -> (i32, Value) {
        let outcome = desk.run("validate -json -no-color");
        (outcome.code, serde_json::from_str(&outcome.out).unwrap())
    };
    let (code, json) = verdict(&Desk::new());
    assert_eq!((code, &json["valid"], &json["error_count"]), (0, &json!(true), &json!(0)), "{json}");

    let odd = Desk::with(
        |root| {
            root["variable"]["colour"] = json!({});
            root["module"]["role"]["colour"] = json!("${var.colour}");
            root["module"]["role"].as_object_mut().unwrap().remove("replicas");
            root["output"]["vpc"] = json!({"value": "${module.role.vpc_id}"});
        },
        |inputs| inputs["machinepool_name"] = json!("Not A Name"),
    );
    let (code, json) = verdict(&odd);
    assert_eq!((code, &json["valid"]), (1, &json!(false)));
    let found: Vec<(&str, &str)> = json["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|d| d["severity"] == "error")
        .map(|d| (d["summary"].as_str().unwrap(), d["detail"].as_str().unwrap()))
        .collect();
    assert_eq!(found.len(), 4, "{found:#?}");
    assert!(found.iter().any(|(summary, detail)| *summary == "Unsupported argument: \"colour\""
        && detail.starts_with("An argument named \"colour\" is not expected here.")));
    for summary in [
        "Missing required argument: \"replicas\"",
        "Unsupported attribute: \"vpc_id\"",
        "Invalid value for machinepool_name",
    ] {
        assert!(found.iter().any(|(found, _)| *found == summary), "{summary}: {found:#?}");
    }
    odd.run("plan -var-file=terraform.tfvars.json")
        .fails("Error: Unsupported argument: \"colour\"\n\nAn argument named \"colour\"");

    // Also what is wrong before anything is read is told as JSON.
    for line in ["validate -json -nonsense", "-chdir=missing validate -json"] {
        let outcome = Bench::new().run(line);
        let json: Value = serde_json::from_str(&outcome.out).unwrap();
        assert_eq!(
            (outcome.code, &json["valid"], &json["error_count"]),
            (1, &json!(false), &json!(1)),
            "{line}"
        );
    }
    let desk = Desk::new();
    desk.bench.write("main.tf.json", "{");
    assert_eq!(verdict(&desk).1["diagnostics"][0]["summary"], "Invalid main.tf.json");
}

#[test]
fn a_root_that_cannot_be_read_is_not_taken_for_none() {
    use std::os::unix::fs::symlink;
    for target in ["missing", "main.tf.json"] {
        let desk = Desk::new();
        std::fs::remove_file(desk.bench.path("main.tf.json")).unwrap();
        symlink(target, desk.bench.path("main.tf.json")).unwrap();
        for line in ["plan", "apply -auto-approve", "destroy -auto-approve", "validate", "state list", "init"]
        {
            desk.run(line).fails("Error: Cannot read main.tf.json");
        }
        assert!(!desk.bench.path("account.json").exists(), "{target}");
    }
    // Nor are inputs that cannot be read.
    let desk = Desk::new();
    std::fs::remove_file(desk.bench.path("terraform.tfvars.json")).unwrap();
    symlink("missing", desk.bench.path("terraform.tfvars.json")).unwrap();
    for line in ["plan", "validate"] {
        desk.run(line).fails("Error: Cannot read the inputs from terraform.tfvars.json");
    }
}

#[test]
fn a_saved_plan_is_shown_and_applied_once() {
    let desk = Desk::new();
    let plan = format!("plan {ALL} -detailed-exitcode -var-file=terraform.tfvars.json -out=apply.tfplan");
    let outcome = desk.run(&plan);
    assert_eq!(outcome.code, 2, "{}", outcome.err);
    let shown = desk.run("show -json -no-color apply.tfplan").ok();
    let json: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((&json["format_version"], &json["applyable"]), (&json!("1.2"), &json!(true)));
    assert!(!shown.contains(SECRET));
    let saved = std::fs::read_to_string(desk.bench.path("apply.tfplan")).unwrap();
    assert!(saved.contains(SECRET), "apply needs it");
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(desk.bench.path("apply.tfplan")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
    assert!(desk.run("show apply.tfplan").ok().starts_with("This creates the pool team-a/demo-pool-0"));
    // The same change again: the same bytes.
    desk.run(&plan.replace("apply.tfplan", "again.tfplan"));
    assert_eq!(desk.run("show -json again.tfplan").ok(), shown);

    desk.run("apply -var-file=terraform.tfvars.json apply.tfplan")
        .fails("Error: Can't set variables when applying a saved plan");
    // Inputs that changed since do not matter: the plan holds its own.
    desk.bench.write("terraform.tfvars.json", "{}");
    let done = desk.run(&format!("apply {ALL} apply.tfplan")).ok();
    assert!(done.starts_with("Apply complete! Resources: "), "{done}");
    desk.run(&format!("apply {ALL} apply.tfplan")).fails("Error: Saved plan is stale");
    desk.run("apply missing.tfplan").fails("Error: Failed to load \"missing.tfplan\" as a plan file");
    desk.run("show main.tf.json").fails("no plan that this program saved");
}

#[test]
fn a_saved_plan_pins_the_image_that_it_found() {
    let desk = Desk::new();
    desk.run("apply -auto-approve").ok();
    let found = image_of(&desk);
    let inputs = std::fs::read_to_string(desk.bench.path("terraform.tfvars.json")).unwrap();
    desk.bench.write("terraform.tfvars.json", &inputs.replace("\"replicas\":3", "\"replicas\":2"));
    desk.run("plan -out=p").ok();
    // A newer image comes.
    let mut account: Value =
        serde_json::from_str(&std::fs::read_to_string(desk.bench.path("account.json")).unwrap()).unwrap();
    let images = account["world"]["images"].as_array_mut().unwrap();
    let mut newer = images[0].clone();
    newer["image"]["id"] = json!("ami-0ffffffffffffffff");
    newer["image"]["creation_date"] = json!("2099-01-01T00:00:00.000Z");
    images.push(newer);
    desk.bench.write("account.json", &account.to_string());
    assert!(desk.run("plan").ok().contains("ami-0ffffffffffffffff"));
    desk.run("apply p").ok();
    assert_eq!(image_of(&desk), found);
}

/// The image in the pool's launch template.
fn image_of(desk: &Desk) -> String {
    let account = std::fs::read_to_string(desk.bench.path("account.json")).unwrap();
    let account: Value = serde_json::from_str(&account).unwrap();
    let text = account["world"]["templates"].to_string();
    let (_, id) = text.split_once("\"image_id\":\"").unwrap();
    id.split('"').next().unwrap().to_owned()
}

#[test]
fn a_destroy_is_saved_and_applied_too() {
    let desk = Desk::new();
    desk.run(&format!("apply {ALL} -auto-approve -var-file=terraform.tfvars.json")).ok();
    desk.run("plan -destroy -out=destroy.tfplan").ok();
    let done = desk.run("apply destroy.tfplan").ok();
    assert!(done.starts_with("Apply complete! Resources: 0 added, 0 changed, "), "{done}");
    desk.run("apply destroy.tfplan").fails("Error: Saved plan is stale");
    let destroyed = desk.run(&format!("destroy {ALL} -auto-approve -var-file=terraform.tfvars.json")).ok();
    assert_eq!(destroyed, "Destroy complete! Resources: 0 destroyed.\n");
}

#[test]
fn every_line_of_json_is_an_object() {
    let desk = Desk::new();
    let kinds = |lines: &[Value]| -> Vec<String> {
        lines.iter().map(|line| line["type"].as_str().unwrap().to_owned()).collect()
    };
    let plan = lines(&desk.run("plan -json -no-color").ok());
    assert_eq!(kinds(&plan)[0], "version");
    assert!(
        plan.iter().any(|line| line["type"] == "change_summary"
            && line["@message"].as_str().unwrap().starts_with("Plan: "))
    );

    let applied = lines(&desk.run("apply -json -auto-approve").ok());
    let kinds = kinds(&applied);
    let starts = kinds.iter().filter(|kind| *kind == "apply_start").count();
    let ends = kinds.iter().filter(|kind| *kind == "apply_complete").count();
    assert_eq!((starts, ends), (5, 5), "{kinds:?}");
    assert!(
        applied
            .iter()
            .any(|line| line["@message"] == "Apply complete! Resources: 5 added, 0 changed, 0 destroyed.")
    );
    let outputs = applied.last().unwrap();
    assert_eq!((&outputs["type"], &outputs["outputs"]["replicas"]["value"]), (&json!("outputs"), &json!(3)));
    assert_eq!(outputs["outputs"]["provider_id_list"]["type"], json!(["list", "string"]));

    let refreshed = lines(&desk.run("apply -json -refresh-only -auto-approve").ok());
    assert!(
        refreshed
            .iter()
            .any(|line| line["@message"] == "Apply complete! Resources: 0 added, 0 changed, 0 destroyed.")
    );
    let destroyed = lines(&desk.run("destroy -json -auto-approve").ok());
    assert!(
        destroyed.last().unwrap()["@message"].as_str().unwrap().starts_with("Destroy complete! Resources: ")
    );

    for line in [
        "apply -json",
        "plan -json -nonsense",
        "apply -json -auto-approve -var-file=missing",
        "apply -json x.tfplan",
    ] {
        let outcome = desk.run(line);
        assert_eq!(outcome.code, 1, "{line}");
        let told = lines(&outcome.out);
        let error = told.iter().find(|line| line["@level"] == "error").expect(line);
        assert!(error["@message"].as_str().unwrap().starts_with("Error: "), "{error}");
        assert_eq!(error["diagnostic"]["severity"], "error");
        assert!(!outcome.err.contains("Error: "), "{line}: {}", outcome.err);
    }
}

#[test]
fn the_root_decides_what_reaches_the_role() {
    let desk = Desk::with(
        |root| {
            root["variable"]["size"] = json!({"default": "m7i.large"});
            root["module"]["role"]["instance_type"] = json!("${var.size}");
        },
        |_| {},
    );
    let inputs = std::fs::read_to_string(desk.bench.path("terraform.tfvars.json")).unwrap();
    desk.bench.write("terraform.tfvars.json", &inputs.replacen('{', "{\"spot\": true, ", 1));
    let outcome = desk.run("plan");
    assert!(outcome.out.contains("m7i.large"), "{}", outcome.out);
    assert!(outcome.err.contains("Warning: Value for undeclared variable: \"spot\""), "{}", outcome.err);
    assert!(
        outcome.out.contains("capacity_rebalance") && !outcome.out.contains("market_type"),
        "{}",
        outcome.out
    );
}

#[test]
fn what_the_root_calls_sensitive_is_shown_nowhere() {
    let desk = Desk::with(
        |root| {
            root["variable"]["additional_tags"]["sensitive"] = json!(true);
            root["output"]["provider_id"]["sensitive"] = json!(true);
        },
        |inputs| inputs["additional_tags"] = json!({"owner": "pl4nted-value"}),
    );
    for line in [
        "plan -out=p",
        "plan --format json",
        "plan -json",
        "show -json p",
        "show p",
        "apply -json -auto-approve",
        "validate -json",
        "apply -auto-approve -refresh-only",
        "--log debug destroy -auto-approve",
    ] {
        let outcome = desk.run(line);
        assert_eq!(outcome.code, 0, "{line}: {}{}", outcome.out, outcome.err);
        for text in [&outcome.out, &outcome.err] {
            assert!(!text.contains("pl4nted") && !text.contains(SECRET), "{line}: {text}");
        }
    }
    let told = desk.run("apply -auto-approve").ok();
    let (_, outputs) = told.split_once("Outputs:\n").unwrap();
    let names: Vec<&str> = outputs.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(
        names,
        ["health", "instances", "provider_id", "provider_id_list", "replicas"],
        "those of the root"
    );
    assert!(outputs.contains("provider_id       (sensitive value)\n"), "{outputs}");
    assert!(!told.contains("arn:aws:autoscaling"), "{told}");

    desk.bench.write("terraform.tfvars.json", r#"{"additional_tags": "pl4nted-value"}"#);
    let outcome = desk.run("plan").fails("additional_tags");
    assert!(!outcome.err.contains("pl4nted"), "{}", outcome.err);
}

#[test]
fn there_is_no_state_without_a_backend() {
    let desk = Desk::new();
    for line in
        ["state list", "state pull", "state push -force terraform.tfvars.json", "force-unlock -force x"]
    {
        desk.run(line).fails("Error: No state is kept here");
        Bench::new().run(line).fails("Error: No main.tf.json here");
    }
    desk.run("force-unlock x").fails("-force");
}
