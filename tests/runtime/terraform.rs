//! What the program records is what the real Terraform reads, and what it reads is what Terraform does.
//! Without a `terraform` on the PATH these tests say that they did not run; in CI they fail.

use std::{path::Path, process::Command};

use machinepool::{
    contract::{inputs::Inputs, json::Json},
    runtime::root::Root,
};
use serde_json::{Value, json};

use super::{
    pushes::state,
    runner::{NAMESPACE, Outcome, Runner, SECRET, pod::TOKEN},
    terraform_found::terraform_found,
};

/// Runs Terraform in a directory whose state is the runner's.
struct Terraform<'a> {
    runner: &'a Runner,
    directory: tempfile::TempDir,
}

impl<'a> Terraform<'a> {
    fn beside(runner: &'a Runner) -> Option<Self> {
        if !terraform_found() {
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        let root = json!({"terraform": {"backend": {"kubernetes": {}}}});
        std::fs::write(directory.path().join("main.tf.json"), root.to_string()).unwrap();
        for (name, text) in runner.pod.kubeconfig(TOKEN) {
            std::fs::write(directory.path().join(name), text).unwrap();
        }
        let terraform = Self { runner, directory };
        terraform.ok(&[
            "init",
            "-backend-config=secret_suffix=demo-pool",
            "-backend-config=namespace=team-a",
            "-backend-config=config_path=kubeconfig",
        ]);
        Some(terraform)
    }

    fn ok(&self, args: &[&str]) -> String {
        terraform(self.directory.path(), args)
    }
}

fn terraform(directory: &Path, args: &[&str]) -> String {
    outcome(directory, args).ok()
}

fn outcome(directory: &Path, args: &[&str]) -> Outcome {
    let output = Command::new("terraform")
        .args(args)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", directory)
        .env("CHECKPOINT_DISABLE", "1")
        .env("TF_CLI_ARGS", "-no-color")
        .current_dir(directory)
        .output()
        .unwrap();
    Outcome::of(&output)
}

#[test]
fn it_lists_the_resources_and_prints_the_outputs() {
    let runner = Runner::new();
    // Before there is a state: init would want the AWS provider for what it lists.
    let Some(terraform) = Terraform::beside(&runner) else { return };
    runner.apply().ok();
    assert_eq!(terraform.ok(&["state", "list"]), runner.run(&["state", "list"]).ok());
    let outputs: Value = serde_json::from_str(&terraform.ok(&["output", "-json"])).unwrap();
    let state = terraform.runner.state().unwrap();
    for (name, recorded) in state["outputs"].as_object().unwrap() {
        assert_eq!(outputs[name]["value"], recorded["value"], "{name}");
        assert_eq!(outputs[name]["type"], recorded["type"], "{name}");
    }
    assert_eq!(outputs.as_object().unwrap().len(), 5);
    // Terraform's own push of the same state finds nothing to do; ours of what Terraform pulls, too.
    let pulled = terraform.ok(&["state", "pull"]);
    let version = runner.version();
    std::fs::write(runner.work("pulled.tfstate"), pulled).unwrap();
    terraform.ok(&["state", "push", &runner.work("pulled.tfstate").display().to_string()]);
    assert_eq!(runner.version(), version);
    assert!(runner.apply().ok().starts_with("Apply complete! Resources: 0 added, 0 changed, 0 destroyed.\n"));
}

#[test]
fn it_refuses_the_states_that_we_refuse() {
    let runner = Runner::new();
    let Some(terraform) = Terraform::beside(&runner) else { return };
    runner.init();
    // Ours may see no more of this machine than its own working directory: it runs in the image, too.
    let pushed = runner.work("root/pushed.tfstate").display().to_string();
    let put = |state: &Value| {
        runner.put_state(state);
        // Terraform looks for its own label, too.
        runner.kubernetes.edit("secrets", NAMESPACE, SECRET, |secret| {
            secret["metadata"]["labels"]["app.kubernetes.io/managed-by"] = json!("terraform");
        });
    };
    for present in [state("a", 8, Some(3)), state("a", 8, None)] {
        for (lineage, serial) in [("a", 7), ("a", 8), ("a", 9), ("b", 7), ("b", 8), ("b", 9)] {
            for replicas in [None, Some(3), Some(5)] {
                std::fs::write(&pushed, state(lineage, serial, replicas).to_string()).unwrap();
                let codes = ["terraform", "ours"].map(|whose| {
                    put(&present);
                    match whose {
                        "ours" => runner.run(&["state", "push", "pushed.tfstate"]).code,
                        _ => outcome(terraform.directory.path(), &["state", "push", &pushed]).code,
                    }
                });
                assert_eq!(codes[0], codes[1], "{lineage} {serial} {replicas:?} over {present}");
            }
        }
    }
}

/// A value as another JSON library has it.
fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => json!(value),
        Json::Number(number) => serde_json::from_str(number).unwrap(),
        Json::String(text) => json!(text),
        Json::Array(items) => items.iter().map(value).collect(),
        Json::Object(fields) => fields.iter().map(|(name, field)| (name.clone(), value(field))).collect(),
    }
}

#[test]
fn values_in_a_root_are_read_as_terraform_reads_them() {
    if !terraform_found() {
        return;
    }
    let given = json!([
        "$${a}", "$$${a}", "$$$$${\"x\"}", "%%{a}", "%%%{ if", "%$${", "$%%{", "a$${b}c%%{d}e", "$${", "$$", "$",
        "100% of $a", "{\"a\": {}}", "", "{$${", "${var.text}", "${ var.text }", "${var.unset}", "${var.filled}",
        null, true, 1.5, [], {}, ["${var.text}", ["$${"]], {"a": "${var.text}", "//": "b", "$${c}": {"d": null}},
    ]);
    let directory = tempfile::tempdir().unwrap();
    let put = |name: &str, text: String| std::fs::write(directory.path().join(name), text).unwrap();
    std::fs::create_dir(directory.path().join("role")).unwrap();
    put(
        "role/main.tf",
        "variable \"given\" {\n  type = any\n}\noutput \"given\" {\n  value = var.given\n}\n".to_owned(),
    );
    let root = json!({
        "variable": {
            "text": {"default": "a default is no template: $${x} ${y}"},
            "unset": {"default": "x"},
            "filled": {"default": "y", "nullable": false},
        },
        "module": {"role": {"//": "a comment", "source": "./role", "given": given}},
        "output": {"given": {"value": "${module.role.given}"}},
    });
    put("main.tf.json", root.to_string());
    let variables = json!({"unset": null, "filled": null}).to_string();
    put("terraform.tfvars.json", variables.clone());
    for args in [&["init"][..], &["apply", "-auto-approve"]] {
        terraform(directory.path(), args);
    }
    let theirs: Value = serde_json::from_str(&terraform(directory.path(), &["output", "-json"])).unwrap();

    let root = Root::parse(root.to_string().as_bytes()).unwrap();
    let mut inputs = Inputs::default();
    inputs.add_file("terraform.tfvars.json", variables.as_bytes()).unwrap();
    let (ours, _) = root.inputs(&inputs);
    assert_eq!(value(&ours.get("given").unwrap().value), theirs["given"]["value"]);
}
