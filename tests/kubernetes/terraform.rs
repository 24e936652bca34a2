//! Beside the real Terraform, through the same API: what one writes the other reads, what one locks the
//! other leaves alone. Without a `terraform` on the PATH these tests say that they did not run; in CI they fail.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Output, Stdio},
    time::Instant,
};

use machinepool::runtime::kubernetes::{Attempt, Holder, LockInfo};
use serde_json::json;

use super::*;

/// A directory with a root whose state is in the double.
struct Root {
    directory: tempfile::TempDir,
    double: Double,
}

impl Root {
    /// `None` without a Terraform.
    fn new(root: Value) -> Option<Self> {
        if !terraform_found::terraform_found() {
            return None;
        }
        let made = Self { directory: tempfile::tempdir().unwrap(), double: Double::start() };
        made.rewrite(root);
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{ "name": "c", "cluster": { "server": made.double.address } }],
            "users": [{ "name": "c", "user": { "token": "t" } }],
            "contexts": [{ "name": "c", "context": { "cluster": "c", "user": "c" } }],
        });
        fs::write(made.path().join("kubeconfig"), kubeconfig.to_string()).unwrap();
        made.ok("init -backend-config=secret_suffix=pool -backend-config=namespace=clusters -backend-config=config_path=kubeconfig");
        Some(made)
    }

    fn rewrite(&self, mut root: Value) {
        root["terraform"] = json!({ "backend": { "kubernetes": {} } });
        fs::write(self.path().join("main.tf.json"), root.to_string()).unwrap();
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn store(&self) -> Store {
        store(&self.double)
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new("terraform");
        command
            .args(line.split_whitespace())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.path())
            .env("CHECKPOINT_DISABLE", "1")
            .env("TF_IN_AUTOMATION", "1")
            .env("TF_INPUT", "0")
            .env("TF_CLI_ARGS", "-no-color")
            .current_dir(self.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn run(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    #[track_caller]
    fn ok(&self, line: &str) -> String {
        let output = self.run(line);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{line}: {text}{}", String::from_utf8_lossy(&output.stderr));
        text
    }

    #[track_caller]
    fn fails(&self, line: &str) -> String {
        let output = self.run(line);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{line}: {text}");
        text
    }

    /// Terraform in the middle of an apply that takes long.
    async fn applying(&self) -> (Child, Holder) {
        let child = self.command("apply -auto-approve").spawn().unwrap();
        let begin = Instant::now();
        loop {
            // The lock of the apply, not the one that makes an empty state.
            match self.store().holder().await.unwrap() {
                Some(holder) if holder.info.as_ref().is_some_and(|info| info.operation.contains("Apply")) => {
                    return (child, holder);
                }
                _ => assert!(begin.elapsed() < Duration::from_mins(1), "Terraform does not lock"),
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

fn root_that_takes(seconds: u32) -> Value {
    let wait = format!("sleep {seconds}");
    json!({ "resource": { "terraform_data": { "slow": { "provisioner": { "local-exec": { "command": wait } } } } } })
}

fn info() -> LockInfo {
    LockInfo::new("OperationTypeApply", "captf@pod-1", "1.11.4")
}

#[tokio::test]
async fn terraform_reads_what_we_write() {
    let Some(root) = Root::new(json!({})) else { return };
    let state = json!({
        "version": 4, "terraform_version": "1.11.4", "serial": 7,
        "lineage": "6f9619ff-8b86-d011-b42d-00c04fc964ff",
        "outputs": { "replicas": { "value": 3, "type": "number" } },
        "resources": [{
            "module": "module.role", "mode": "managed", "type": "terraform_data", "name": "zones",
            "provider": "provider[\"terraform.io/builtin/terraform\"]",
            "instances": [{ "schema_version": 0, "attributes": {
                "id": "11111111-2222-3333-4444-555555555555", "input": null, "output": null, "triggers_replace": null,
            }, "sensitive_attributes": [] }],
        }],
        "check_results": null,
    });
    let store = root.store();
    // Terraform's init has made an empty state.
    let empty = store.read().await.unwrap();
    let (stored, _) = store.write(state.to_string().as_bytes(), empty.as_ref()).await.unwrap();
    let outputs: Value = serde_json::from_str(&root.ok("output -json")).unwrap();
    assert_eq!(outputs["replicas"]["value"], 3);
    assert_eq!(root.ok("state list").trim(), "module.role.terraform_data.zones");
    assert_eq!(store.read().await.unwrap().unwrap().resource_version(), stored.resource_version());

    // And writes over it, under its own lock, with our lineage.
    let (stored, _) = store
        .write(state.to_string().replace("\"serial\":7", "\"serial\":8").as_bytes(), Some(&stored))
        .await
        .unwrap();
    root.rewrite(json!({ "output": { "replicas": { "value": 4 } } }));
    root.ok("apply -auto-approve");
    let read = store.read().await.unwrap().unwrap();
    let written: Value = serde_json::from_slice(read.state()).unwrap();
    assert_eq!((&written["lineage"], &written["serial"]), (&state["lineage"], &json!(9)));
    assert_eq!(written["outputs"]["replicas"]["value"], 4);
    told(&store.write(b"{}", Some(&stored)).await.unwrap_err(), StoreErrorKind::Conflict, &["somebody else"]);
}

#[tokio::test]
async fn we_read_what_terraform_writes() {
    let Some(root) = Root::new(json!({ "output": { "zones": { "value": ["a", "b"] } } })) else { return };
    root.ok("apply -auto-approve");
    let store = root.store();
    let read = store.read().await.unwrap().unwrap();
    let state: Value = serde_json::from_slice(read.state()).unwrap();
    assert_eq!((&state["version"], &state["outputs"]["zones"]["value"]), (&json!(4), &json!(["a", "b"])));
    // The Lease that it left is free, and ours to take.
    assert_eq!(store.try_lock(&info()).await.unwrap(), Attempt::Acquired);
}

#[tokio::test]
async fn we_read_what_terraform_splits() {
    let Some(root) = Root::new(json!({
        "resource": { "terraform_data": { "large": { "input": "${file(\"noise\")}" } } },
    })) else {
        return;
    };
    let noise = noise(110_000);
    fs::write(root.path().join("noise"), &noise).unwrap();
    root.ok("apply -auto-approve");
    let names = root.double.names("secrets", NAMESPACE);
    assert!(names.len() > 1 && names.contains(&format!("{SECRET}-part-1")), "{names:?}");
    let store = root.store();
    let read = store.read().await.unwrap().unwrap();
    let state: Value = serde_json::from_slice(read.state()).unwrap();
    assert_eq!(state["resources"][0]["instances"][0]["attributes"]["output"]["value"], noise.as_str());

    // One Secret, written by us, is what Terraform reads then.
    let lineage = state["lineage"].as_str().unwrap();
    let small = STATE.replace("6f9619ff-8b86-d011-b42d-00c04fc964ff", lineage);
    store.write(small.as_bytes(), Some(&read)).await.unwrap();
    assert_eq!(root.double.names("secrets", NAMESPACE), [SECRET]);
    assert_eq!(root.ok("state list").trim(), "");
}

#[tokio::test]
async fn our_lock_stops_terraform() {
    let Some(root) = Root::new(json!({ "output": { "x": { "value": 1 } } })) else { return };
    root.ok("apply -auto-approve");
    let store = root.store();
    let ours = info();
    assert_eq!(store.try_lock(&ours).await.unwrap(), Attempt::Acquired);
    let told = root.fails("plan -lock-timeout=1s");
    for part in ["Error acquiring the state lock", &ours.id, "captf@pod-1", "OperationTypeApply"] {
        assert!(told.contains(part), "{part:?} is not in {told}");
    }
    let told = root.fails("force-unlock -force 00000000-0000-0000-0000-000000000000");
    assert!(told.contains("does not match existing lock"), "{told}");
    root.ok(&format!("force-unlock -force {}", ours.id));
    assert_eq!(store.holder().await.unwrap(), None);
    assert_eq!(store.unlock(&ours.id).await.unwrap_err().kind, StoreErrorKind::NotLocked);
    root.ok("plan");
}

#[tokio::test]
async fn terraforms_lock_stops_us() {
    let Some(root) = Root::new(root_that_takes(600)) else { return };
    let (mut child, holder) = root.applying().await;
    let store = root.store();
    let theirs = holder.info.clone().unwrap();
    assert_eq!((theirs.id.as_str(), theirs.version.is_empty()), (holder.id.as_str(), false));
    assert!(theirs.who.contains('@') && theirs.created.contains('T'), "{theirs}");
    assert_eq!(store.try_lock(&info()).await.unwrap(), Attempt::Held(holder.clone()));
    // Killed, it leaves the lock behind.
    child.kill().unwrap();
    child.wait().unwrap();
    told(
        &store.force_unlock("another").await.unwrap_err(),
        StoreErrorKind::NotLocked,
        &["does not match existing lock", &theirs.who],
    );
    store.force_unlock(&holder.id).await.unwrap();
    assert_eq!(store.try_lock(&info()).await.unwrap(), Attempt::Acquired);
}
