//! Secrets planted in every place that has one, then every command, well and badly: they show nowhere, and lie
//! only where they must.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Output, Stdio},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{
    double::Fault,
    runner::{LEASE, NAMESPACE, Runner, SECRET},
    search::{self, files},
};

/// What the bootstrap data holds; over lines and in quotes, so that escapes cannot hide it.
const TOKEN: &str = "pLaNtEdJoInToKeN.0123456789abcdef";
const AWS_SECRET: &str = "pLaNtEdAwSsEcReT/+0123456789";
const AWS_SESSION: &str = "pLaNtEdSeSsIoN0123456789";
const BACKEND_TOKEN: &str = "pLaNtEdBaCkEnDtOkEn0123456789";
const CLIENT_KEY: &str = "pLaNtEdClIeNtKeY0123456789";
const VARIABLE: &str = "pLaNtEdVaRiAbLe0123456789";

fn bootstrap() -> String {
    STANDARD.encode(format!("#cloud-config\nruncmd:\n  - [join, \"{TOKEN}\"]\n"))
}

/// Which of the planted secrets some bytes hold: a part of each will do, and either end of the bootstrap data.
fn found(bytes: &[u8]) -> Vec<&'static str> {
    let whole = bootstrap();
    let secrets = [
        ("bootstrap data", &TOKEN[..12]),
        ("bootstrap data", &whole[..24]),
        ("bootstrap data", &whole[whole.len() - 24..]),
        ("AWS secret key", &AWS_SECRET[..12]),
        ("AWS session token", &AWS_SESSION[..12]),
        ("backend token", &BACKEND_TOKEN[..12]),
        ("client key", &CLIENT_KEY[..12]),
        ("sensitive variable", &VARIABLE[..12]),
    ];
    search::found(bytes, &secrets).into_iter().collect()
}

/// Options, and variables of the environment.
type Voice = (&'static [&'static str], &'static [(&'static str, &'static str)]);

/// How a command is asked to talk.
const VOICES: [Voice; 3] = [
    (&[], &[]),
    (&["--log=debug"], &[("RUST_BACKTRACE", "full"), ("RUST_LOG", "trace")]),
    (&["-json"], &[("MACHINEPOOL_LOG", "debug"), ("RUST_BACKTRACE", "1"), ("RUST_LOG", "trace")]),
];

/// Commands that have lines of JSON to tell.
const LINES: [&str; 6] = ["plan", "apply", "destroy", "init", "validate", "show"];

/// A pool whose every secret is planted.
struct Planted(Runner);

impl Planted {
    fn new() -> Self {
        let mut runner = Runner::new();
        runner.variables = vec![
            ("AWS_SECRET_ACCESS_KEY", AWS_SECRET.to_owned()),
            ("AWS_SESSION_TOKEN", AWS_SESSION.to_owned()),
        ];
        runner.kubernetes.require_token(BACKEND_TOKEN);
        let planted = Self(runner);
        planted.render(|_| {});
        planted
    }

    fn render(&self, edit: impl FnOnce(&mut Value)) {
        self.0.render(|inputs| {
            inputs["bootstrap_data"] = json!(bootstrap());
            inputs["ssh_key_name"] = json!(VARIABLE);
            edit(inputs);
        });
        let path = self.0.work("root/main.tf.json");
        let mut root: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        root["variable"]["ssh_key_name"]["sensitive"] = json!(true);
        fs::write(path, root.to_string()).unwrap();
    }

    fn init(&self) {
        let host = format!("-backend-config=host={}", self.0.kubernetes.address);
        let token = format!("-backend-config=token={BACKEND_TOKEN}");
        let suffix = "-backend-config=secret_suffix=demo-pool";
        self.says(&["init", suffix, "-backend-config=namespace=team-a", &host, &token], 0);
    }

    /// Runs a command in every voice. It may end with `code` or, once its work is done, with 0 or 1.
    #[track_caller]
    fn says(&self, args: &[&str], code: i32) -> String {
        let mut all = String::new();
        for (words, variables) in VOICES {
            if words == ["-json"] && !LINES.contains(&args[0]) {
                continue;
            }
            let args = [&args[..1], words, &args[1..]].concat();
            let output = self.0.command(&args).envs(variables.iter().copied()).output().unwrap();
            self.check(&args, &output);
            assert_eq!(output.status.code(), Some(code), "{args:?}: {}", text(&output));
            all.push_str(&text(&output));
        }
        all
    }

    /// Nothing planted shows, and nothing planted lies about.
    #[track_caller]
    fn check(&self, args: &[&str], output: &Output) {
        let said = text(output);
        assert!(found(said.as_bytes()).is_empty(), "{args:?} says the {:?}: {said}", found(said.as_bytes()));
        assert!(!said.contains("panicked"), "{args:?}: {said}");
        for resource in ["secrets", "leases"] {
            for name in self.0.kubernetes.names(resource, NAMESPACE) {
                let object = self.0.kubernetes.object(resource, NAMESPACE, &name).unwrap().to_string();
                assert!(
                    found(object.as_bytes()).is_empty(),
                    "{args:?} left the {:?} in {name}",
                    found(object.as_bytes())
                );
            }
        }
        if self
            .0
            .kubernetes
            .object("secrets", NAMESPACE, SECRET)
            .is_some_and(|s| s["data"]["tfstate"] != "eA==")
        {
            let state = self.0.state().unwrap_or_default().to_string();
            assert!(
                found(state.as_bytes()).is_empty(),
                "{args:?} left the {:?} in the state",
                found(state.as_bytes())
            );
        }
        for path in files(&self.0.work("")) {
            Self::check_file(args, &path);
        }
    }

    #[track_caller]
    fn check_file(args: &[&str], path: &Path) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let allowed: &[&str] = match name.as_str() {
            // What the controller renders; the test itself.
            "terraform.tfvars.json" | "bad.tfvars.json" => return,
            "account.json" => &["sensitive variable"],
            name if name.contains(".tfplan") => &["bootstrap data", "sensitive variable"],
            name if name.contains("machinepool-backend.json") => &["backend token", "client key"],
            _ => &[],
        };
        let held = found(&fs::read(path).unwrap());
        let stray: Vec<_> = held.iter().filter(|secret| !allowed.contains(secret)).collect();
        assert!(stray.is_empty(), "{args:?} left the {stray:?} in {}", path.display());
        if !held.is_empty() && name != "account.json" {
            let mode = fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o600, "{}", path.display());
        }
    }

    /// The command, while the reading of the state takes its time, and then this signal.
    fn signalled(&self, args: &[&str], signal: &str) {
        self.0.kubernetes.fail_times("list", "secrets", 1, Fault::Slow(Duration::from_millis(700)));
        let child = self.0.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let held = || {
            let lease = self.0.kubernetes.object("leases", NAMESPACE, LEASE);
            lease.is_some_and(|lease| lease["spec"]["holderIdentity"].is_string())
        };
        while !held() {
            std::thread::sleep(Duration::from_millis(10));
        }
        Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        self.check(args, &child.wait_with_output().unwrap());
        self.0.kubernetes.heal();
    }
}

fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}

const VARIABLES: &str = "-var-file=terraform.tfvars.json";

#[test]
fn a_pool_that_lives_well() {
    let pool = Planted::new();
    let plan = pool.0.work("apply.tfplan").display().to_string();
    let out = format!("-out={plan}");
    pool.says(&["version"], 0);
    pool.says(&["validate"], 0);
    pool.init();
    pool.says(&["plan", VARIABLES, &out, "-detailed-exitcode"], 2);
    assert!(pool.says(&["show", &plan], 0).contains("sensitive value"));
    let output = pool.0.command(&["plan", VARIABLES, "--format=json"]).output().unwrap();
    pool.check(&["plan", "--format=json"], &output);
    pool.says(&["apply", "-auto-approve", VARIABLES], 0);
    pool.says(&["apply", "-auto-approve", "-refresh-only", VARIABLES], 0);
    pool.says(&["outputs", VARIABLES], 0);
    pool.says(&["state", "list"], 0);
    pool.says(&["state", "pull"], 0);
    pool.render(|inputs| inputs["kubernetes_version"] = json!("v1.35.0"));
    pool.says(&["plan", VARIABLES, &out, "-detailed-exitcode"], 2);
    pool.says(&["show", &plan], 0);
    let pulled = pool.0.run(&["state", "pull"]).ok();
    fs::write(pool.0.work("pulled.tfstate"), pulled).unwrap();
    let pulled = pool.0.work("pulled.tfstate").display().to_string();
    pool.says(&["state", "push", "-force", &pulled], 0);
    pool.says(&["plan", "-destroy", VARIABLES, &out], 0);
    pool.says(&["destroy", "-auto-approve", VARIABLES], 0);
    // Without a root, for an operator.
    fs::remove_file(pool.0.work("root/main.tf.json")).unwrap();
    // Only a root says that a variable is sensitive.
    let path = pool.0.work("root/terraform.tfvars.json");
    let inputs = fs::read_to_string(&path).unwrap().replace(VARIABLE, "ops");
    fs::write(path, inputs).unwrap();
    pool.says(&["schema", "inputs"], 0);
    pool.says(&["plan", VARIABLES, &out], 0);
    fs::remove_file(&plan).unwrap();
}

#[test]
fn every_level_of_talk() {
    let pool = Planted::new();
    pool.init();
    for level in ["warn", "info", "debug"] {
        for (option, variable) in [(format!("--log={level}"), ""), (String::new(), level)] {
            let options: Vec<&str> = [option.as_str()].into_iter().filter(|o| !o.is_empty()).collect();
            let args = [&["apply", "-auto-approve", VARIABLES][..], &options].concat();
            let mut command = pool.0.command(&args);
            if !variable.is_empty() {
                command.env("MACHINEPOOL_LOG", variable);
            }
            let output = command.output().unwrap();
            pool.check(&args, &output);
            assert!(output.status.success(), "{}", text(&output));
        }
    }
}

#[test]
fn bad_input() {
    let pool = Planted::new();
    pool.init();
    let body = bootstrap();
    let broken = format!("{}!", &body[..body.len() - 1]);
    let bad = pool.0.work("root/bad.tfvars.json");
    let whole = fs::read_to_string(pool.0.work("root/terraform.tfvars.json")).unwrap();
    let mut cases: Vec<String> = [
        json!({"bootstrap_data": broken}),
        json!({"bootstrap_data": [&body]}),
        json!({"bootstrap_data": {&body: TOKEN}}),
        json!({"bootstrap_data": TOKEN}),
        json!({"bootstrap_data": format!("{body}\n{body}")}),
        json!({"bootstrap_data": &body, "replicas": -1}),
        json!({"bootstrap_format": "nonsense"}),
        json!({&body: 1, "replicas": -1}),
        json!({"ssh_key_name": [VARIABLE]}),
        json!({"ssh_key_name": VARIABLE.repeat(20)}),
        json!({"instance_type": VARIABLE, "replicas": VARIABLE}),
    ]
    .map(|case| case.to_string())
    .into();
    cases.push(whole[..whole.len() - 1].to_owned());
    cases.push(format!("{{\"bootstrap_data\":\"{body}\",\"bootstrap_data\":\"{TOKEN}\"}}"));
    cases.push(format!("bootstrap_data = \"{body}\""));
    for case in cases {
        fs::write(&bad, &case).unwrap();
        for command in [&["plan"][..], &["validate"], &["apply", "-auto-approve"]] {
            pool.says(&[command, &[VARIABLES, "-var-file=bad.tfvars.json"]].concat(), 1);
        }
    }
}

#[test]
fn words_in_the_wrong_place() {
    let pool = Planted::new();
    let input = format!("bootstrap_data={}", bootstrap());
    let token = format!("token={BACKEND_TOKEN}");
    let hyphen = format!("-{input}");
    let (plain, setting) = (bootstrap(), format!("-{token}"));
    for args in [
        &["apply", &input][..],
        &["apply", "-auto-approve", &input],
        &["show", &input],
        &["plan", &input],
        &["plan", &hyphen],
        &["outputs", &input, VARIABLES],
        &["plan", "-var-file", &input],
        &["plan", "-var", &plain],
        &["plan", "-out", &input, "-nonsense"],
        &["validate", &input],
        &["destroy", &input],
        &["state", "push", &input],
        &["state", "list", &input, "-nonsense"],
        &["init", &token],
        &["init", &setting],
        &["init", "-backend-config", &token, &token],
        &["force-unlock", "-force", &input],
        &["schema", &input],
        &[&input],
    ] {
        pool.says(args, 1);
    }
}

#[test]
fn refusals() {
    let pool = Planted::new();
    pool.init();
    let plan = pool.0.work("apply.tfplan").display().to_string();
    pool.says(&["plan", VARIABLES, &format!("-out={plan}")], 0);
    // The state cannot be written, first at all, then any more.
    pool.0.kubernetes.fail("create", "secrets", Fault::Status(403));
    pool.says(&["apply", "-auto-approve", VARIABLES], 1);
    assert!(pool.0.work("root/errored.tfstate").exists());
    pool.0.kubernetes.heal();
    pool.says(&["apply", &plan], 1);
    pool.says(&["state", "push", "errored.tfstate"], 0);
    for (verb, resource) in
        [("get", "leases"), ("list", "secrets"), ("update", "secrets"), ("update", "leases")]
    {
        for fault in [Fault::Status(401), Fault::Status(403), Fault::Foreign(404), Fault::Status(422)] {
            pool.render(|inputs| inputs["replicas"] = json!(4));
            pool.0.kubernetes.fail(verb, resource, fault);
            let args = ["apply", "-auto-approve", VARIABLES];
            pool.check(&args, &pool.0.command(&args).output().unwrap());
            pool.0.kubernetes.heal();
            pool.0.kubernetes.edit("leases", NAMESPACE, LEASE, |lease| lease["spec"] = json!({}));
        }
    }
    // Somebody else holds the lock; the credentials are not accepted; the state is another's.
    pool.0
        .kubernetes
        .edit("leases", NAMESPACE, LEASE, |lease| lease["spec"]["holderIdentity"] = json!("other"));
    pool.says(&["apply", "-auto-approve", "-lock-timeout=1s", VARIABLES], 1);
    pool.says(&["force-unlock", "-force", "nobody"], 1);
    pool.0.kubernetes.require_token("another");
    for args in [&["plan", VARIABLES][..], &["state", "pull"], &["force-unlock", "-force", "other"]] {
        pool.says(args, 1);
    }
    // Keys and addresses that are none.
    for setting in [
        format!("client_key={CLIENT_KEY}"),
        format!("host=http://user:{BACKEND_TOKEN}@127.0.0.1:9"),
        format!("proxy_url=gopher://user:{BACKEND_TOKEN}@127.0.0.1:9"),
        format!("host={BACKEND_TOKEN}@"),
        format!("token={BACKEND_TOKEN}\n{CLIENT_KEY}"),
        format!("insecure={BACKEND_TOKEN}"),
        format!(
            "exec={{api_version=\"v1\",command=\"sh\",args=[\"-c\",\"echo {BACKEND_TOKEN}; echo {CLIENT_KEY} >&2; exit 1\"]}}"
        ),
    ] {
        let config = format!("-backend-config={setting}");
        let mut args = vec!["init", "-backend-config=secret_suffix=demo-pool", &config];
        let certificate = "-backend-config=client_certificate=no PEM";
        if setting.starts_with("client_key") {
            args.push(certificate);
        }
        if !setting.starts_with("host") {
            args.push("-backend-config=host=https://127.0.0.1:9");
        }
        pool.check(&args, &pool.0.command(&args).output().unwrap());
        pool.says(&["plan", VARIABLES], 1);
    }
}

#[test]
fn signals() {
    let pool = Planted::new();
    pool.init();
    let out = format!("-out={}", pool.0.work("apply.tfplan").display());
    for signal in ["-TERM", "-INT", "-KILL", "-ABRT"] {
        for args in [&["apply", "-auto-approve", VARIABLES][..], &["plan", VARIABLES, &out]] {
            pool.signalled(args, signal);
            if pool.0.kubernetes.object("leases", NAMESPACE, LEASE).is_some() {
                pool.0.kubernetes.edit("leases", NAMESPACE, LEASE, |lease| lease["spec"] = json!({}));
            }
        }
    }
}
