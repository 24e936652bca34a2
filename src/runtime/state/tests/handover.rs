//! States handed to the real `terraform` and back. Without one on the PATH these tests say so; in CI they fail.

#[path = "../../../../tests/kubernetes/terraform_found.rs"]
mod terraform_found;

use std::process::{Command, Output};

use super::*;
use crate::{
    contract::outputs::{Address, Health, InstanceOutput, Outputs},
    model::names::RollKey,
};

/// A directory with the root of `testdata/state/handover`, and `terraform` in it.
struct Root {
    directory: tempfile::TempDir,
}

impl Root {
    /// `None`, said loudly, if there is no `terraform`.
    fn new() -> Option<Self> {
        if !terraform_found::terraform_found() {
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("role")).unwrap();
        for file in ["main.tf", "role/main.tf"] {
            std::fs::copy(testdata().join("handover").join(file), directory.path().join(file)).unwrap();
        }
        let root = Self { directory };
        root.succeed(&["init", "-input=false"]);
        Some(root)
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new("terraform")
            .args(args)
            .current_dir(self.directory.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.directory.path())
            .env("CHECKPOINT_DISABLE", "1")
            .env("TF_IN_AUTOMATION", "1")
            .output()
            .unwrap()
    }

    fn succeed(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn put(&self, state: &State) {
        std::fs::write(self.directory.path().join("terraform.tfstate"), state.render()).unwrap();
    }

    fn state(&self) -> State {
        State::parse(&std::fs::read(self.directory.path().join("terraform.tfstate")).unwrap()).unwrap()
    }

    /// The plan's exit code (0: nothing to do) and what it said.
    fn plan(&self, args: &[&str]) -> (Option<i32>, String) {
        let output = self.run(&[&["plan", "-input=false", "-no-color", "-detailed-exitcode"], args].concat());
        (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    }
}

/// The outputs of `testdata/state/handover`, as this program's own types give them.
fn role_outputs() -> BTreeMap<String, OutputValue> {
    let member = |id: &str, zone: &str, address: &str, state: &str| InstanceOutput {
        provider_id: format!("aws:///{zone}/{id}"),
        instance_id: id.into(),
        addresses: vec![Address { kind: "InternalIP".into(), address: address.into() }],
        failure_domain: zone.into(),
        state: state.into(),
    };
    let instances = vec![
        member("i-0b", "us-east-1a", "10.0.1.9", "pending"),
        member("i-0a", "us-east-1b", "10.0.2.7", "running"),
    ];
    let all = Outputs {
        provider_id: Some("arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:demo".into()),
        provider_id_list: instances.iter().map(|i| i.provider_id.clone()).collect(),
        replicas: 3,
        instances,
        health: Health {
            state: "running".into(),
            healthy: false,
            message: "1 of 3 members running".into(),
            reasons: vec![
                "InstancePending:i-0b".into(),
                "InstancePending:i-0a".into(),
                "ScalingInProgress".into(),
            ],
        },
        autoscaling_group_name: "captf-team-a-demo-pool-0-43c6d828".into(),
        dropped_node_labels: Vec::new(),
        launch_template_id: Some("lt-0123456789abcdef0".into()),
    };
    let mut outputs = outputs(serde_json::to_value(all).unwrap());
    outputs.get_mut("launch_template_id").unwrap().sensitive = true;
    outputs
}

/// The state of a pool of which only the two records exist, with `image` pinned or not.
fn ours(image: Option<&str>, previous: Option<&State>) -> Option<State> {
    let live = Live {
        region: "us-east-1".into(),
        key: Some(RollKey {
            kubernetes_version: Some("v1.34.1".into()),
            machine_image_id: image.map(Into::into),
        }),
        zones: Some(vec!["us-east-1a".into(), "us-east-1b".into()]),
        ..Live::default()
    };
    let mut id = 0;
    let now = resources(&live, previous, || {
        id += 1;
        format!("7d4ff1a8-6f0e-4b0c-9a8e-00000000000{id}")
    });
    let recorded = Recorded { outputs: role_outputs(), resources: ResourcesChange::Now(now) };
    next(previous, &recorded, || "3b0f8c2e-8a65-4d0e-9d53-0c9f5b3f2a77".into())
}

#[test]
fn terraform_finds_no_change_in_a_state_of_ours() {
    let Some(root) = Root::new() else { return };
    root.put(&ours(None, None).unwrap());
    let (code, said) = root.plan(&[]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = root.plan(&["-refresh=false"]);
    assert_eq!(code, Some(0), "{said}");

    assert_eq!(
        root.succeed(&["state", "list"]).lines().collect::<Vec<_>>(),
        ["module.role.terraform_data.inherited_zones", "module.role.terraform_data.kubernetes_version_roll"]
    );
    let printed: Value = serde_json::from_str(&root.succeed(&["output", "-json"])).unwrap();
    for (name, output) in role_outputs() {
        assert_eq!(printed[&name]["value"], output.value, "{name}");
        assert_eq!(printed[&name]["sensitive"], output.sensitive, "{name}");
    }

    // The test can fail: another version does roll, another list of zones does not.
    let (code, said) = root.plan(&["-var=kubernetes_version=v1.35.0"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("kubernetes_version_roll must be replaced"), "{said}");

    root.put(&ours(Some("ami-0123456789abcdef0"), None).unwrap());
    let (code, said) = root.plan(&["-var=machine_image={\"id\":\"ami-0123456789abcdef0\"}"]);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn terraform_goes_on_from_a_state_of_ours_and_we_from_its() {
    let Some(root) = Root::new() else { return };
    let first = ours(None, None).unwrap();
    root.put(&first);
    root.succeed(&["apply", "-input=false", "-auto-approve", "-var=kubernetes_version=v1.33.0"]);
    let theirs = root.state();
    assert_eq!(theirs.lineage(), first.lineage());
    assert!(theirs.serial() > first.serial());
    assert_eq!(facts(&theirs).key.unwrap().kubernetes_version.unwrap(), "v1.33.0");
    assert_eq!(State::parse(&theirs.render()).unwrap(), theirs);

    // Back with us, a roll goes on where Terraform left it, and Terraform agrees again.
    let back = ours(None, Some(&theirs)).unwrap();
    assert_eq!((back.serial(), back.lineage()), (theirs.serial() + 1, first.lineage()));
    root.put(&back);
    let (code, said) = root.plan(&[]);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn what_terraform_records_is_what_we_would() {
    let Some(root) = Root::new() else { return };
    root.succeed(&["apply", "-input=false", "-auto-approve"]);
    let theirs = root.state();
    assert_eq!(
        String::from_utf8(theirs.render()),
        String::from_utf8(std::fs::read(root.directory.path().join("terraform.tfstate")).unwrap())
    );
    let ours = ours(None, None).unwrap();
    assert_eq!(json_of(&ours)["outputs"], json_of(&theirs)["outputs"]);
    // A refresh of ours finds nothing new in it.
    assert!(next(Some(&theirs), &kept(role_outputs()), no_lineage).is_none());

    // The group is gone: Terraform drops the output that became null, and so do we.
    root.succeed(&[
        "apply",
        "-input=false",
        "-auto-approve",
        "-var=exists=false",
        "-var=members={}",
        "-var=dropped=[\"b\",\"a\"]",
    ]);
    let theirs = root.state();
    assert!(!theirs.outputs().contains_key("provider_id"));
    let mut gone = theirs.outputs();
    gone.insert("provider_id".into(), OutputValue { value: Value::Null, sensitive: false });
    assert!(next(Some(&theirs), &kept(gone.clone()), no_lineage).is_none());
    let rebuilt = next(None, &kept(gone), || "l".into()).unwrap();
    assert_eq!(json_of(&rebuilt)["outputs"], json_of(&theirs)["outputs"]);
}
