//! A tiny pool's life in a real account; see `tests/README.md`. Runs only where somebody asks for it.

use std::{
    env, fs,
    process::{Command, Output, Stdio},
};

use serde_json::{Value, json};

use crate::inputs::{Surroundings, bootstrap, exports};

/// Asks for these tests.
const ASKED: &str = "MACHINEPOOL_TEST_REAL_AWS";

/// A variable that the tests need, or its default.
fn setting(name: &str, default: Option<&str>) -> String {
    let name = format!("MACHINEPOOL_TEST_{name}");
    let value = env::var(&name).ok().filter(|value| !value.is_empty());
    value
        .or(default.map(str::to_owned))
        .unwrap_or_else(|| panic!("{ASKED}=1 needs {name}, too; see tests/README.md"))
}

/// A pool in a real account. Whatever happens, it is destroyed at the end.
struct RealPool {
    directory: tempfile::TempDir,
    inputs: Value,
}

impl RealPool {
    fn new() -> Self {
        let zone = setting("ZONE", None);
        let surroundings = Surroundings {
            zones: vec![(zone.clone(), setting("SUBNET", None))],
            security_group: setting("SECURITY_GROUP", None),
            other_security_group: String::new(),
            bucket: setting("BUCKET", None),
        };
        let mut exports = exports(&surroundings);
        exports["region"] = json!(setting("REGION", None));
        exports["instance_profiles"]["worker"] = json!(setting("INSTANCE_PROFILE", None));
        // A name of its own, so that runs side by side or left behind are not in each other's way.
        let name = format!("test-{}", &uuid::Uuid::new_v4().simple().to_string()[..8]);
        let namespace = "machinepool-test";
        let mut inputs = crate::inputs::base(&surroundings, namespace);
        inputs["captf_cluster_outputs"] = exports;
        inputs["captf_object"]["name"] = json!(name);
        inputs["captf_tags"]["captf.io/name"] = json!(name);
        inputs["machinepool_name"] = json!(name);
        inputs["replicas"] = json!(setting("REPLICAS", Some("0")));
        inputs["cluster_failure_domains"] = json!([zone]);
        inputs["instance_type"] = json!(setting("INSTANCE_TYPE", Some("t3.micro")));
        inputs["root_volume_size_gib"] = json!(8);
        inputs["kubernetes_version"] = Value::Null;
        inputs["machine_image"] = json!({ "id": setting("IMAGE", None) });
        Self { directory: tempfile::tempdir().unwrap(), inputs }
    }

    /// The binary, with the credentials that this process has.
    fn run(&self, args: &[&str]) -> Output {
        fs::write(self.directory.path().join("inputs.tfvars.json"), self.inputs.to_string()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_machinepool"));
        command
            .env_remove("MACHINEPOOL_SANDBOX")
            .current_dir(self.directory.path())
            .stdin(Stdio::null())
            .args(args)
            .arg("-var-file=inputs.tfvars.json");
        command.output().unwrap()
    }

    #[track_caller]
    fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let out = String::from_utf8(output.stdout).unwrap();
        let told = format!("{args:?}: {out}{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{told}");
        assert!(!told.contains(crate::inputs::TOKEN), "the bootstrap data shows");
        out
    }
}

impl Drop for RealPool {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let output = self.run(&["destroy", "-auto-approve"]);
            eprintln!("destroyed after the failure: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

#[test]
fn a_tiny_pool_lives_in_a_real_account() {
    if env::var_os(ASKED).is_none_or(|asked| asked != "1") {
        return;
    }
    let mut pool = RealPool::new();
    let complete = |out: &str, counts: &str| {
        let sentence = format!("Apply complete! Resources: {counts}.\n");
        assert!(out.starts_with(&sentence), "{sentence:?}: {out}");
    };
    complete(&pool.ok(&["apply", "-auto-approve"]), "5 added, 0 changed, 0 destroyed");
    let planned = pool.ok(&["plan", "-detailed-exitcode"]);
    assert_eq!(pool.ok(&["plan", "-detailed-exitcode"]), planned);
    complete(&pool.ok(&["apply", "-auto-approve"]), "0 added, 0 changed, 0 destroyed");

    pool.inputs["bootstrap_data"] = json!(bootstrap(2));
    complete(&pool.ok(&["apply", "-auto-approve"]), "0 added, 1 changed, 0 destroyed");
    pool.ok(&["plan", "-detailed-exitcode"]);

    complete(&pool.ok(&["apply", "-refresh-only", "-auto-approve"]), "0 added, 0 changed, 0 destroyed");
    let outputs: Value = serde_json::from_str(&pool.ok(&["outputs"])).unwrap();
    assert_eq!(outputs["replicas"].to_string(), pool.inputs["replicas"].as_str().unwrap());
    assert!(outputs["provider_id"].as_str().unwrap().contains(":autoscaling:"), "{outputs}");

    assert_eq!(pool.ok(&["destroy", "-auto-approve"]), "Destroy complete! Resources: 5 destroyed.\n");
    assert_eq!(pool.ok(&["destroy", "-auto-approve"]), "Destroy complete! Resources: 0 destroyed.\n");
}
