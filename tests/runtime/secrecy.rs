//! Bootstrap data is in the inputs, in a state that Terraform wrote, and in a saved plan for its owner only:
//! nowhere else, in no encoding, whatever the operation and its end.

use std::{fs, os::unix::fs::PermissionsExt as _};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{
    double::Fault,
    runner::{NAMESPACE, Runner},
    search::{files, found},
};

/// What each planted text holds.
const TOKEN: &str = "pl4nted.j0in-t0ken-of-a-n0de";

fn text(rotation: u32) -> String {
    format!("#cloud-config\n# {rotation}\nwrite_files:\n- content: |\n    token: {TOKEN}\n")
}

fn plain(rotation: u32) -> String {
    STANDARD.encode(text(rotation))
}

fn gzipped(rotation: u32) -> String {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packer, text(rotation).as_bytes()).unwrap();
    STANDARD.encode(packer.finish().unwrap())
}

fn holds_token(bytes: &[u8]) -> bool {
    !found(bytes, &[("bootstrap data", TOKEN)]).is_empty()
}

/// Runs operations, and looks at all that they leave.
struct Watch {
    runner: Runner,
    /// How bootstrap data is written this time.
    encode: fn(u32) -> String,
    /// What each command gets besides.
    more: &'static [&'static str],
    log: bool,
    failed: usize,
}

impl Watch {
    fn render(&self, rotation: u32, edit: impl FnOnce(&mut Value)) {
        self.runner.render(|inputs| {
            inputs["bootstrap_data"] = json!((self.encode)(rotation));
            edit(inputs);
        });
    }

    /// Runs one command; what it says is clean, and so is all that is there afterwards.
    #[track_caller]
    fn run(&mut self, args: &[&str]) -> i32 {
        let mut command = self.runner.command(args);
        if matches!(args[0], "plan" | "apply" | "destroy") && !args.contains(&"-format=json") {
            command.args(self.more);
        }
        if self.log {
            command.env("MACHINEPOOL_LOG", "debug");
        }
        let output = command.output().unwrap();
        let code = output.status.code().unwrap();
        self.failed += usize::from(code == 1);
        for said in [&output.stdout, &output.stderr] {
            assert!(!holds_token(said), "{args:?} tells: {}", String::from_utf8_lossy(said));
        }
        code
    }

    /// All that is kept: objects in Kubernetes, and files, those of the inputs and saved plans apart.
    #[track_caller]
    fn look(&self) {
        for resource in ["secrets", "leases"] {
            for name in self.runner.kubernetes.names(resource, NAMESPACE) {
                let object = self.runner.kubernetes.object(resource, NAMESPACE, &name).unwrap();
                assert!(!holds_token(object.to_string().as_bytes()), "{name} holds the token");
            }
        }
        let (mut plans, mut others) = (0, Vec::new());
        for path in files(&self.runner.work("")) {
            let content = &fs::read(&path).unwrap();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            match name.as_str() {
                "terraform.tfvars.json" | "backup.tfstate" => {}
                plan if plan.ends_with(".tfplan") => {
                    plans += 1;
                    assert!(holds_token(content), "a plan holds what its apply needs");
                    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
                }
                _ if holds_token(content) => others.push(name),
                _ => {}
            }
        }
        assert!(others.is_empty(), "{others:?} hold the token");
        assert!(plans > 0, "this looks at the wrong place");
    }
}

const FILE: &str = "-var-file=terraform.tfvars.json";

/// Each operation on a pool that the module made, as it goes well.
fn operations(watch: &mut Watch) {
    let out = format!("-out={}", watch.runner.work("apply.tfplan").display());
    let plan = watch.runner.work("apply.tfplan").display().to_string();
    assert_eq!(watch.run(&["version", "-json"]), 0);
    watch.runner.init();
    assert_eq!(watch.run(&["state", "pull"]), 0, "before anything of ours was written");
    assert_eq!(watch.run(&["state", "list"]), 0);
    assert_eq!(watch.run(&["validate", "-json", "-no-color"]), 0);
    assert_eq!(watch.run(&["plan", "-detailed-exitcode", FILE, &out]), 2);
    assert_eq!(watch.run(&["show", "-json", &plan]), 0);
    assert_eq!(watch.run(&["show", &plan]), 0);
    assert_eq!(watch.run(&["apply", "-refresh-only", "-auto-approve", FILE]), 0);
    watch.look();
    assert_eq!(watch.run(&["apply", "-lock-timeout=300s", &plan]), 0);
    watch.look();
    assert_eq!(watch.run(&["apply", &plan]), 1, "it is stale");
    watch.render(2, |_| {});
    assert_eq!(watch.run(&["plan", "-refresh=false", "-detailed-exitcode", FILE, &out]), 2);
    assert_eq!(watch.run(&["show", "-json", &plan]), 0);
    assert_eq!(watch.run(&["plan", "-format=json", FILE]), 0);
    assert_eq!(watch.run(&["apply", "-auto-approve", FILE]), 0);
    assert_eq!(watch.run(&["outputs", FILE]), 0);
    watch.look();
}

/// Operations that fail, each in another way.
fn failures(watch: &mut Watch, module: &Value) {
    let apply = ["apply", "-auto-approve", FILE];
    let refresh = ["apply", "-refresh-only", "-auto-approve", FILE];
    // The state cannot be read, or not written: it is left in the directory.
    watch.runner.kubernetes.fail("list", "secrets", Fault::Status(403));
    assert_eq!(watch.run(&apply), 1);
    watch.runner.kubernetes.heal();
    watch.runner.put_state(module);
    watch.render(1, |_| {});
    watch.runner.kubernetes.fail("update", "secrets", Fault::Status(403));
    assert_eq!(watch.run(&refresh), 1);
    watch.runner.kubernetes.heal();
    let errored = watch.runner.work("root/errored.tfstate");
    assert!(fs::read_to_string(&errored).unwrap().contains("bootstrap_object"), "its resources are in it");
    assert_eq!(watch.run(&["state", "push", "-force", &errored.display().to_string()]), 0);
    watch.look();
    // A backup of the module's time comes back as it is, and the next apply records the pool without it.
    let backup = watch.runner.work("backup.tfstate");
    fs::write(&backup, module.to_string()).unwrap();
    assert_eq!(watch.run(&["state", "push", "-force", &backup.display().to_string()]), 0);
    assert_eq!(watch.runner.state().unwrap()["resources"], module["resources"]);
    assert_eq!(watch.run(&["state", "pull"]), 0);
    assert_eq!(watch.run(&apply), 0);
    watch.look();
    // Inputs that are refused, some with the secret at a place where it is not expected.
    let whole = text(3);
    let wrongs: [(&str, Value); 8] = [
        ("bootstrap_data", json!(whole)),
        ("bootstrap_data", json!({ TOKEN: whole })),
        ("bootstrap_data", json!([whole, (watch.encode)(3)])),
        ("bootstrap_data", json!(format!("{}=", (watch.encode)(3)))),
        ("bootstrap_data", json!(format!(" {}", (watch.encode)(3)))),
        ("bootstrap_format", json!("ignition")),
        ("replicas", json!("many")),
        ("kubernetes_version", json!({})),
    ];
    for (name, value) in wrongs {
        watch.render(3, |inputs| inputs[name] = value.clone());
        for args in [&apply[..], &["plan", FILE], &["validate", "-json"], &refresh, &["outputs", FILE]] {
            watch.run(args);
        }
    }
    // AWS refuses.
    watch.render(4, |_| {});
    let mut account = watch.runner.account();
    for object in
        account["world"]["buckets"]["captf-team-a-demo-bootstrap"].as_object_mut().unwrap().values_mut()
    {
        object["tags"]["captf.io/cluster"] = json!("other");
    }
    fs::write(watch.runner.work("account.json"), account.to_string()).unwrap();
    assert_eq!(watch.run(&apply), 1);
    assert_eq!(watch.run(&["destroy", "-auto-approve", FILE]), 1);
    watch.look();
}

#[test]
fn bootstrap_data_is_only_where_it_must_be() {
    for (encode, more, log) in [(plain as fn(u32) -> String, &[][..], true), (gzipped, &["-json"][..], true)]
    {
        let runner = Runner::module_made(&encode(1));
        let module = runner.state().unwrap();
        let mut watch = Watch { runner, encode, more, log, failed: 0 };
        watch.render(1, |_| {});
        operations(&mut watch);
        failures(&mut watch, &module);
        assert!(watch.failed > 20, "{}", watch.failed);
        // At the end of a pool's life nothing is left of it.
        let mut account = watch.runner.account();
        for object in
            account["world"]["buckets"]["captf-team-a-demo-bootstrap"].as_object_mut().unwrap().values_mut()
        {
            object["tags"]["captf.io/cluster"] = json!("demo");
        }
        fs::write(watch.runner.work("account.json"), account.to_string()).unwrap();
        watch.render(5, |_| {});
        assert_eq!(watch.run(&["destroy", "-auto-approve", FILE]), 0);
        watch.look();
    }
}
