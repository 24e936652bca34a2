//! What is measured: this program's commands as the runner gives them, and Terraform's on a module that has no
//! provider.

use std::{fs, path::PathBuf, process::Command};

use serde_json::{Value, json};

use super::{
    account::Start,
    aws::Aws,
    lab,
    meter::Job,
    runner::{LEASE, NAMESPACE, Runner, SECRET},
};

const VARIABLES: &str = "-var-file=terraform.tfvars.json";

/// This program between an AWS and a Kubernetes on loopback.
pub(crate) struct Ours {
    pub(crate) runner: Runner,
    pub(crate) aws: Aws,
    program: PathBuf,
    /// The state Secret of the settled pool.
    secret: Value,
    /// A directory without a root, for the commands of people.
    plain: tempfile::TempDir,
}

/// Inputs that differ from the usual ones.
pub(crate) fn inputs(patch: &Value) -> Value {
    let mut inputs = lab::base_inputs();
    lab::merge(&mut inputs, patch);
    inputs
}

impl Ours {
    pub(crate) fn new(program: PathBuf) -> Self {
        let aws = Aws::start();
        let mut runner = Runner::new();
        runner.variables = vec![
            ("AWS_ENDPOINT_URL", aws.address.clone()),
            ("AWS_EC2_METADATA_DISABLED", "true".to_owned()),
            ("MACHINEPOOL_SANDBOX", String::new()),
        ];
        let plain = tempfile::tempdir().unwrap();
        fs::write(plain.path().join("terraform.tfvars.json"), lab::base_inputs().to_string()).unwrap();
        let mut ours = Self { runner, aws, program, secret: Value::Null, plain };
        ours.begin(Start::Settled, &json!({}));
        for job in [vec![ours.init(), ours.apply()], ours.refresh()].concat() {
            job.errors();
        }
        ours.secret = ours.runner.kubernetes.object("secrets", NAMESPACE, SECRET).unwrap();
        ours
    }

    /// Makes everything as it is before an apply of the patched inputs.
    pub(crate) fn begin(&self, start: Start, patch: &Value) {
        let inputs = inputs(patch);
        self.aws.office.expect(start, &inputs);
        self.runner.render(|rendered| *rendered = inputs);
        let kubernetes = &self.runner.kubernetes;
        kubernetes.remove("secrets", NAMESPACE, SECRET);
        if start == Start::Nothing {
            kubernetes.remove("leases", NAMESPACE, LEASE);
        } else if !self.secret.is_null() {
            kubernetes.put("secrets", NAMESPACE, SECRET, self.secret.clone());
        }
        kubernetes.seen();
        self.aws.calls();
    }

    fn job(&self, args: &[&str]) -> Job {
        Job::new(&self.runner.command(args), Some(&self.program))
    }

    fn operation(&self, command: &str, rest: &[&str]) -> Job {
        self.job(&Runner::operation_args(command, rest))
    }

    pub(crate) fn version(&self) -> Job {
        self.job(&["version", "-json"])
    }

    pub(crate) fn help(&self) -> Job {
        self.job(&["--help"])
    }

    pub(crate) fn validate(&self) -> Job {
        self.job(&["validate", "-json", "-no-color"])
    }

    pub(crate) fn init(&self) -> Job {
        let args = self.runner.init_args("demo-pool");
        self.job(&args.iter().map(String::as_str).collect::<Vec<_>>())
    }

    pub(crate) fn refresh_only(&self) -> Job {
        self.operation("apply", &["-refresh-only", "-auto-approve", VARIABLES])
    }

    pub(crate) fn refresh(&self) -> Vec<Job> {
        vec![self.version(), self.init(), self.refresh_only()]
    }

    pub(crate) fn plan(&self) -> Job {
        self.operation("plan", &["-detailed-exitcode", VARIABLES])
    }

    pub(crate) fn apply(&self) -> Job {
        self.operation("apply", &["-auto-approve", VARIABLES])
    }

    /// As a person says it, without a state.
    pub(crate) fn outputs(&self) -> Job {
        let mut command = self.runner.command(&["outputs"]);
        command.current_dir(self.plain.path());
        Job::new(&command, Some(&self.program))
    }
}

/// Terraform with a local state and a module that has variables and outputs only.
pub(crate) struct Terraform {
    directory: tempfile::TempDir,
    program: PathBuf,
}

impl Terraform {
    /// `None` without a `terraform` on the PATH.
    pub(crate) fn beside(ours: &Ours) -> Option<Self> {
        let path = std::env::var_os("PATH")?;
        let program =
            std::env::split_paths(&path).map(|d| d.join("terraform")).find(|file| file.is_file())?;
        let directory = tempfile::tempdir().unwrap();
        let read = |name| fs::read_to_string(ours.runner.work(name)).unwrap();
        let mut root: Value = serde_json::from_str(&read("root/main.tf.json")).unwrap();
        root["terraform"] = json!({"backend": {"local": {}}});
        root["module"]["role"]["source"] = json!("./module");
        let module = directory.path().join("module");
        fs::create_dir(&module).unwrap();
        let variables = concat!(env!("CARGO_MANIFEST_DIR"), "/contract/module/variables.tf");
        fs::copy(variables, module.join("variables.tf")).unwrap();
        fs::write(module.join("outputs.tf.json"), outputs().to_string()).unwrap();
        fs::write(directory.path().join("main.tf.json"), root.to_string()).unwrap();
        fs::write(directory.path().join("terraform.tfvars.json"), read("root/terraform.tfvars.json"))
            .unwrap();
        let rotated = inputs(&json!({"bootstrap_data": "I2Nsb3VkLWNvbmZpZyAyCg=="}));
        fs::write(directory.path().join("rotated.tfvars.json"), rotated.to_string()).unwrap();
        let terraform = Self { directory, program };
        for job in [terraform.init(), terraform.apply()] {
            job.errors();
        }
        Some(terraform)
    }

    /// Its version, as it says it.
    pub(crate) fn told_version(&self) -> String {
        let output =
            Command::new(&self.program).arg("version").env("CHECKPOINT_DISABLE", "1").output().unwrap();
        String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned()
    }

    fn job(&self, args: &[&str]) -> Job {
        let mut command = Command::new(&self.program);
        command
            .args(args)
            .env("HOME", self.directory.path())
            .env("CHECKPOINT_DISABLE", "1")
            .env("TF_DATA_DIR", self.directory.path().join(".terraform"))
            .env("TF_IN_AUTOMATION", "1")
            .env("TF_INPUT", "0")
            .current_dir(self.directory.path());
        Job::new(&command, None)
    }

    fn operation(&self, command: &str, rest: &[&str]) -> Job {
        self.job(&Runner::operation_args(command, rest))
    }

    pub(crate) fn version(&self) -> Job {
        self.job(&["version", "-json"])
    }

    pub(crate) fn help(&self) -> Job {
        self.job(&["-help"])
    }

    pub(crate) fn validate(&self) -> Job {
        self.job(&["validate", "-json", "-no-color"])
    }

    fn init(&self) -> Job {
        self.operation("init", &[])
    }

    pub(crate) fn refresh(&self) -> Vec<Job> {
        let refresh = self.operation("apply", &["-refresh-only", "-auto-approve", VARIABLES]);
        vec![self.version(), self.init(), refresh]
    }

    pub(crate) fn apply(&self) -> Job {
        self.operation("apply", &["-auto-approve", VARIABLES])
    }

    pub(crate) fn rotation(&self) -> Job {
        self.operation("apply", &["-auto-approve", "-var-file=rotated.tfvars.json"])
    }
}

fn outputs() -> Value {
    let health = json!({"state": "running", "healthy": true, "message": null, "reasons": []});
    json!({"output": {
        "provider_id": {"value": "arn:aws:autoscaling:us-east-1:210987654321:autoScalingGroup:x"},
        "provider_id_list": {"value": ["aws:///us-east-1a/i-1", "aws:///us-east-1b/i-2", "aws:///us-east-1c/i-3"]},
        "replicas": {"value": "${var.replicas}"},
        "instances": {"value": []},
        "health": {"value": health},
    }})
}
