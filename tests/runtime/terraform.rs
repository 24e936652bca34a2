//! What the program records is what the real Terraform reads. Without a `terraform` on the PATH there is
//! nothing to compare with, and the test passes.

use std::process::Command;

use serde_json::{Value, json};

use super::runner::{Outcome, Runner, pod::TOKEN};

/// Runs Terraform in a directory whose state is the runner's.
struct Terraform<'a> {
    runner: &'a Runner,
    directory: tempfile::TempDir,
}

impl<'a> Terraform<'a> {
    fn beside(runner: &'a Runner) -> Option<Self> {
        let path = std::env::var_os("PATH")?;
        if !std::env::split_paths(&path).any(|directory| directory.join("terraform").is_file()) {
            eprintln!("SKIPPED: no terraform on the PATH to compare with");
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
        let output = Command::new("terraform")
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.directory.path())
            .env("CHECKPOINT_DISABLE", "1")
            .env("TF_CLI_ARGS", "-no-color")
            .current_dir(self.directory.path())
            .output()
            .unwrap();
        Outcome::of(&output).ok()
    }
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
