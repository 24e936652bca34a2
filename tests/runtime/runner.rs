//! The runner: its directories, the Job's environment, its argument vectors.

use std::{
    fs,
    io::Read as _,
    path::PathBuf,
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

// A path, as this file is taken into more than one test binary.
#[path = "pod.rs"]
pub(crate) mod pod;

use self::pod::Pod;
use super::double::Double;

pub(crate) const NAMESPACE: &str = "team-a";
pub(crate) const SECRET: &str = "tfstate-default-demo-pool";
pub(crate) const LEASE: &str = "lock-tfstate-default-demo-pool";

/// The beginning of the demo pool's bootstrap data.
pub(crate) const BOOTSTRAP: &str = "I2Nsb3VkLWNvbmZpZwp3cml0ZV9maWxlczoK";

/// Where the rendered files are and every command runs.
const ROOT: &str = "captf/work/root";

const COMMON: [&str; 3] = ["-input=false", "-no-color", "-lock-timeout=300s"];

/// One pool's Jobs.
pub(crate) struct Runner {
    pub(crate) kubernetes: Double,
    pub(crate) pod: Pod,
    /// Variables that the Job has beside the usual ones, or in their place.
    pub(crate) variables: Vec<(&'static str, String)>,
}

/// How a command that got signals ended.
pub(crate) struct Stopped {
    pub(crate) outcome: Outcome,
    /// How long after the last signal.
    pub(crate) took: Duration,
}

/// What a command left behind.
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Runner {
    pub(crate) fn new() -> Self {
        let kubernetes = Double::start();
        let runner = Self { pod: Pod::new(&kubernetes), kubernetes, variables: Vec::new() };
        runner.pod.make(ROOT);
        runner.render(|_| {});
        runner
    }

    /// A path in `/captf/work` as the test sees it.
    pub(crate) fn work(&self, name: &str) -> PathBuf {
        self.pod.host("captf/work").join(name)
    }

    /// The same path as the program sees it.
    pub(crate) fn path(&self, name: &str) -> String {
        self.pod.inside("captf/work").join(name).display().to_string()
    }

    /// Renders the root and the demo pool's inputs, changed by `edit`.
    pub(crate) fn render(&self, edit: impl FnOnce(&mut Value)) {
        let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/demo.tfvars.json");
        let mut inputs: Value = serde_json::from_str(&fs::read_to_string(demo).unwrap()).unwrap();
        edit(&mut inputs);
        let mut root = json!({
            "terraform": {"backend": {"kubernetes": {}}},
            "module": {"role": {"source": "../../module"}},
            "output": {},
        });
        for name in inputs.as_object().unwrap().keys() {
            root["variable"][name] = json!({"type": "any", "sensitive": name == "bootstrap_data"});
            root["module"]["role"][name] = json!(format!("${{var.{name}}}"));
        }
        for name in ["provider_id", "provider_id_list", "replicas", "instances", "health"] {
            root["output"][name] = json!({"value": format!("${{module.role.{name}}}"), "sensitive": false});
        }
        fs::write(self.work("root/main.tf.json"), root.to_string()).unwrap();
        fs::write(self.work("root/terraform.tfvars.json"), inputs.to_string()).unwrap();
    }

    /// A restore's root.
    pub(crate) fn render_restore(&self) {
        let root = json!({"terraform": {"backend": {"kubernetes": {}}}});
        fs::write(self.work("root/main.tf.json"), root.to_string()).unwrap();
        fs::remove_file(self.work("root/terraform.tfvars.json")).unwrap();
    }

    /// The program with the Job's environment and nothing else.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.pod.program(ROOT);
        command
            .env("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
            .env("AWS_SECRET_ACCESS_KEY", "secret")
            .env("HOME", self.path(""))
            .env("TF_DATA_DIR", self.path(".terraform"))
            .env("TF_IN_AUTOMATION", "1")
            .env("TF_INPUT", "0")
            .env("KUBE_NAMESPACE", "elsewhere")
            .env("TMPDIR", self.pod.inside("tmp"))
            .env("CHECKPOINT_DISABLE", "1")
            .env("TF_CLI_CONFIG_FILE", self.path("no-such-file"))
            .env("MACHINEPOOL_SANDBOX", self.path("account.json"))
            .envs(self.variables.iter().map(|(name, value)| (*name, value)))
            .stdin(Stdio::null())
            .args(args);
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Outcome {
        Outcome::of(&self.command(args).output().unwrap())
    }

    /// Begins a command, sends so many SIGTERMs once `when` is true, a moment apart, and waits for its end.
    #[track_caller]
    pub(crate) fn stopped(&self, args: &[&str], signals: usize, when: impl Fn() -> bool) -> Stopped {
        let child = self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let patience = Instant::now();
        while !when() {
            assert!(patience.elapsed() < Duration::from_secs(30), "{args:?}: it never came");
            thread::sleep(Duration::from_millis(20));
        }
        for _ in 0..signals {
            // What goes on beside it comes to its end.
            thread::sleep(Duration::from_millis(300));
            let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
            assert!(kill.success());
        }
        let begin = Instant::now();
        let output = child.wait_with_output().unwrap();
        let took = begin.elapsed();
        Stopped { outcome: Outcome::of(&output), took }
    }

    /// What comes before every operation.
    pub(crate) fn init(&self) {
        self.init_for("demo-pool");
    }

    /// The same for the state with that suffix.
    pub(crate) fn init_for(&self, suffix: &str) {
        serde_json::from_str::<Value>(&self.run(&["version", "-json"]).ok()).unwrap();
        self.run(&self.init_args(suffix).iter().map(String::as_str).collect::<Vec<_>>()).ok();
    }

    /// `init` as the runner says it.
    pub(crate) fn init_args(&self, suffix: &str) -> Vec<String> {
        let mut args = vec!["init".to_owned()];
        args.extend(COMMON.map(str::to_owned));
        args.extend([
            format!("-backend-config=secret_suffix={suffix}"),
            "-backend-config=namespace=team-a".to_owned(),
            self.pod.backend(),
            r#"-backend-config=labels={"captf.io/name"="demo-pool-0","captf.io/kind"="TerraformMachinePool"}"#
                .to_owned(),
        ]);
        args
    }

    /// A command as the runner says it.
    pub(crate) fn operation_args<'a>(command: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
        let mut args = vec![command];
        args.extend(COMMON);
        args.extend(rest);
        args
    }

    pub(crate) fn operation(&self, command: &str, rest: &[&str]) -> Outcome {
        self.run(&Self::operation_args(command, rest))
    }

    pub(crate) fn apply(&self) -> Outcome {
        self.init();
        let verdict: Value =
            serde_json::from_str(&self.run(&["validate", "-json", "-no-color"]).ok()).unwrap();
        assert_eq!(verdict["valid"], true, "{verdict}");
        self.operation("apply", &["-auto-approve", "-var-file=terraform.tfvars.json"])
    }

    pub(crate) fn refresh(&self) -> Outcome {
        self.init();
        self.operation("apply", &["-refresh-only", "-auto-approve", "-var-file=terraform.tfvars.json"])
    }

    pub(crate) fn destroy(&self) -> Outcome {
        self.init();
        self.operation("destroy", &["-auto-approve", "-var-file=terraform.tfvars.json"])
    }

    /// A plan into `/captf/work/<file>`.
    pub(crate) fn plan(&self, file: &str, more: &[&str]) -> Outcome {
        let out = format!("-out={}", self.path(file));
        let rest = [&["-detailed-exitcode"][..], more, &["-var-file=terraform.tfvars.json", &out]].concat();
        self.operation("plan", &rest)
    }

    pub(crate) fn show(&self, file: &str) -> Value {
        let shown = self.run(&["show", "-json", "-no-color", &self.path(file)]);
        serde_json::from_str(&shown.ok()).unwrap()
    }

    pub(crate) fn apply_file(&self, file: &str) -> Outcome {
        self.operation("apply", &[&self.path(file)])
    }

    /// The state in the Secret.
    pub(crate) fn state(&self) -> Option<Value> {
        let secret = self.kubernetes.object("secrets", NAMESPACE, SECRET)?;
        let packed = STANDARD.decode(secret["data"]["tfstate"].as_str().unwrap()).unwrap();
        let mut text = String::new();
        flate2::read::GzDecoder::new(packed.as_slice()).read_to_string(&mut text).unwrap();
        assert!(!text.contains(BOOTSTRAP), "the bootstrap data is in the state");
        Some(serde_json::from_str(&text).unwrap())
    }

    /// Puts a state there, as Terraform would.
    pub(crate) fn put_state(&self, state: &Value) {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut packer, state.to_string().as_bytes()).unwrap();
        let data = STANDARD.encode(packer.finish().unwrap());
        let secret = json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {
                "labels": {
                    "tfstate": "true",
                    "tfstateSecretSuffix": "demo-pool",
                    "tfstateWorkspace": "default",
                },
                "annotations": {"encoding": "gzip"},
            },
            "data": {"tfstate": data},
        });
        self.kubernetes.put("secrets", NAMESPACE, SECRET, secret);
    }

    /// Changes with each write of the Secret.
    pub(crate) fn version(&self) -> String {
        let secret = self.kubernetes.object("secrets", NAMESPACE, SECRET).unwrap();
        secret["metadata"]["resourceVersion"].as_str().unwrap().to_owned()
    }

    /// Nobody holds the lock, and the Lease is still there.
    #[track_caller]
    pub(crate) fn assert_unlocked(&self) {
        let lease = self.kubernetes.object("leases", NAMESPACE, LEASE).expect("the Lease is kept");
        let holder = lease["spec"]["holderIdentity"].as_str().unwrap_or_default();
        assert_eq!(holder, "", "{lease}");
        assert!(lease["metadata"]["annotations"].get("app.terraform.io/lock-info").is_none(), "{lease}");
    }

    /// Lets time pass in the simulated account.
    pub(crate) fn pass(&self, minutes: u64) {
        let mut account = self.account();
        let ahead = account["clock_offset_ms"].as_u64().unwrap() + minutes * 60_000;
        account["clock_offset_ms"] = json!(ahead);
        fs::write(self.work("account.json"), account.to_string()).unwrap();
    }

    /// Lets the time pass in which members of a simulated account come up, and records that they did.
    pub(crate) fn come_up(&self) {
        self.pass(2);
        self.refresh().ok();
        let health = self.state().unwrap()["outputs"]["health"]["value"].clone();
        assert_eq!(health["healthy"], true, "{health}");
    }

    /// The simulated account.
    pub(crate) fn account(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.work("account.json")).unwrap()).unwrap()
    }
}

impl Stopped {
    #[track_caller]
    pub(crate) fn within(self, seconds: u64) -> Self {
        assert!(
            self.took <= Duration::from_secs(seconds),
            "{:?} after the signal: {}",
            self.took,
            self.outcome.err
        );
        self
    }
}

impl Outcome {
    pub(crate) fn of(output: &Output) -> Self {
        let outcome = Self {
            code: output.status.code().expect("ended by a signal"),
            out: String::from_utf8(output.stdout.clone()).unwrap(),
            err: String::from_utf8(output.stderr.clone()).unwrap(),
        };
        assert!(!outcome.out.contains(BOOTSTRAP) && !outcome.err.contains(BOOTSTRAP));
        outcome
    }

    /// Exit code 0; the results.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        self.out
    }

    /// Exit code 1 and an error whose line at column 0 holds `part`.
    #[track_caller]
    pub(crate) fn fails(self, part: &str) -> Self {
        assert_eq!(self.code, 1, "{}{}", self.out, self.err);
        let first = self.err.lines().find(|line| line.starts_with("Error: ")).expect("an error is told");
        assert!(first.contains(part), "{part:?} is not in {first:?}: {}", self.err);
        self
    }
}
