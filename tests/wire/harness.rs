//! A pool of its own for each test: its own account in the double, its own directory, its own run of
//! the binary in an otherwise empty environment.

use std::{
    fs,
    process::{Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::Credentials;
use machinepool::model::names::Names;
use serde_json::{Value, json};

use crate::{
    calls::Call,
    double::Double,
    inputs::{self, Surroundings},
};

static POOLS: AtomicU32 = AtomicU32::new(0);

/// A pool, not made yet: its inputs, and the AWS that it is going to live in.
pub(crate) struct Pool {
    pub(crate) inputs: Value,
    pub(crate) surroundings: Surroundings,
    pub(crate) names: Names,
    /// The hand of somebody else: its calls are not in [`Pool::calls`].
    pub(crate) hand: Hand,
    pub(crate) double: &'static Double,
    account: String,
    directory: tempfile::TempDir,
}

/// SDK clients for looking at and changing AWS by hand.
pub(crate) struct Hand {
    pub(crate) autoscaling: aws_sdk_autoscaling::Client,
    pub(crate) ec2: aws_sdk_ec2::Client,
    pub(crate) iam: aws_sdk_iam::Client,
    pub(crate) s3: aws_sdk_s3::Client,
}

/// What a run of the binary left behind.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Outcome {
    /// It succeeded; else its whole story is told.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        self.exits(0)
    }

    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "\nstdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }

    #[track_caller]
    pub(crate) fn says(self, words: &str) -> Self {
        assert!(
            self.out.contains(words) || self.err.contains(words),
            "not said: {words}\nstdout:\n{}\nstderr:\n{}",
            self.out,
            self.err
        );
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}\n{}", self.out, self.err))
    }
}

impl Pool {
    /// A pool in an account of its own; `None` where the double cannot run.
    pub(crate) async fn new() -> Option<Self> {
        let double = Double::get()?;
        let number = POOLS.fetch_add(1, Ordering::Relaxed);
        let account = format!("AKIAWIRETEST{number:06}");
        let hand = Hand::new(&double.endpoint(), &format!("{account}HD")).await;
        let surroundings = hand.surroundings(number).await;
        let namespace = format!("team-{number}");
        Some(Self {
            inputs: inputs::base(&surroundings, &namespace),
            names: Names::from_parts(&namespace, "pool-0"),
            surroundings,
            hand,
            double,
            account,
            directory: tempfile::tempdir().unwrap(),
        })
    }

    /// A pool that was applied once, its calls forgotten.
    pub(crate) async fn applied() -> Option<Self> {
        Self::applied_with(|_| {}).await
    }

    /// The same, with other inputs from the start.
    pub(crate) async fn applied_with(change: impl FnOnce(&mut Self)) -> Option<Self> {
        let mut pool = Self::new().await?;
        change(&mut pool);
        pool.apply();
        pool.forget_calls();
        Some(pool)
    }

    /// Sets one input or variable.
    pub(crate) fn set(&mut self, name: &str, value: Value) {
        self.inputs[name] = value;
    }

    /// The binary with the inputs as they are now, ready to run.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let path = self.directory.path().join("inputs.tfvars.json");
        fs::write(&path, self.inputs.to_string()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_machinepool"));
        command
            .env_clear()
            .env("AWS_ENDPOINT_URL", self.double.endpoint())
            .env("AWS_ACCESS_KEY_ID", self.key())
            .env("AWS_SECRET_ACCESS_KEY", "secret")
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .env("AWS_CONFIG_FILE", self.directory.path().join("no-config"))
            .env("AWS_SHARED_CREDENTIALS_FILE", self.directory.path().join("no-credentials"))
            .current_dir(self.directory.path())
            .stdin(Stdio::null())
            .args(args)
            .arg("-var-file=inputs.tfvars.json");
        command
    }

    /// Runs the binary to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Outcome {
        let output = self.command(args).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let outcome = Outcome {
            code: output.status.code().unwrap_or(-1),
            out: text(&output.stdout),
            err: text(&output.stderr),
        };
        for said in [&outcome.out, &outcome.err] {
            assert!(!said.contains(inputs::TOKEN), "the bootstrap data shows: {said}");
        }
        outcome
    }

    /// Applies, which must succeed.
    #[track_caller]
    pub(crate) fn apply(&self) -> Outcome {
        self.run(&["apply", "-auto-approve"]).ok()
    }

    /// Destroys, which must succeed.
    #[track_caller]
    pub(crate) fn destroy(&self) -> Outcome {
        self.run(&["destroy", "-auto-approve"]).ok()
    }

    #[track_caller]
    pub(crate) fn outputs(&self) -> Value {
        self.run(&["outputs"]).ok().json()
    }

    /// There is nothing to change, and planning again says the same in the same bytes.
    #[track_caller]
    pub(crate) fn is_settled(&self) {
        let first = self.run(&["plan", "-detailed-exitcode"]).ok();
        let second = self.run(&["plan", "-detailed-exitcode"]).ok();
        assert_eq!(first.out, second.out);
    }

    /// The binary's calls since the last [`Pool::forget_calls`].
    pub(crate) fn calls(&self) -> Vec<Call> {
        serde_json::from_value(self.double.control("calls", &json!({"key": self.key()}))).unwrap()
    }

    pub(crate) fn forget_calls(&self) {
        self.double.control("clear", &json!({"key": self.key()}));
    }

    /// The calls of one run.
    pub(crate) fn calls_of(&self, run: impl FnOnce(&Self)) -> Vec<Call> {
        self.forget_calls();
        run(self);
        self.calls()
    }

    /// From now on, calls of the binary meet these faults; see `aws_double/double/faults.py`.
    pub(crate) fn faults(&self, rules: &Value) {
        self.double.control("faults", &json!({"key": self.key(), "rules": rules}));
    }

    /// Milliseconds on top of each of the binary's calls.
    pub(crate) fn latency(&self, millis: u32) {
        self.double.control("latency", &json!({"key": self.key(), "millis": millis}));
    }

    /// Whether lists in answers to the binary come back to front.
    pub(crate) fn reversed(&self, on: bool) {
        self.double.control("reverse", &json!({"key": self.key(), "on": on}));
    }

    /// How the group behaves; see `aws_double/double/groups.py`.
    pub(crate) fn behaviour(&self, settings: Value) {
        self.act("settings", settings);
    }

    /// What no SDK can do, done to the pool's group.
    pub(crate) fn act(&self, name: &str, mut asked: Value) -> Value {
        asked["key"] = self.key().into();
        asked["group"] = self.names.group.clone().into();
        self.double.control(name, &asked)
    }

    pub(crate) fn key(&self) -> String {
        format!("{}PB", self.account)
    }
}

impl Hand {
    async fn new(endpoint: &str, key: &str) -> Self {
        let config: SdkConfig = aws_config::defaults(BehaviorVersion::latest())
            .region(Region::new("us-east-1"))
            .credentials_provider(Credentials::new(key, "secret", None, None, "test"))
            .endpoint_url(endpoint)
            .http_client(aws_smithy_http_client::Builder::new().build_http())
            .load()
            .await;
        let s3 = aws_sdk_s3::config::Builder::from(&config).force_path_style(true).build();
        Self {
            autoscaling: aws_sdk_autoscaling::Client::new(&config),
            ec2: aws_sdk_ec2::Client::new(&config),
            iam: aws_sdk_iam::Client::new(&config),
            s3: aws_sdk_s3::Client::from_conf(s3),
        }
    }

    /// A network of three zones, security groups, a bucket.
    async fn surroundings(&self, number: u32) -> Surroundings {
        let made = self.ec2.create_vpc().cidr_block("10.0.0.0/16").send().await.unwrap();
        let vpc = made.vpc().unwrap().vpc_id().unwrap();
        let mut zones = Vec::new();
        for (n, zone) in ["us-east-1a", "us-east-1b", "us-east-1c"].into_iter().enumerate() {
            zones.push((zone.to_owned(), self.subnet(vpc, n, zone).await));
        }
        let bucket = format!("bootstrap-{number}");
        self.s3.create_bucket().bucket(&bucket).send().await.unwrap();
        Surroundings {
            zones,
            security_group: self.security_group(vpc, "workers").await,
            other_security_group: self.security_group(vpc, "others").await,
            bucket,
        }
    }

    pub(crate) async fn subnet(&self, vpc: &str, n: usize, zone: &str) -> String {
        let subnet = self.ec2.create_subnet().vpc_id(vpc).cidr_block(format!("10.0.{n}.0/24"));
        let made = subnet.availability_zone(zone).send().await.unwrap();
        made.subnet().unwrap().subnet_id().unwrap().to_owned()
    }

    async fn security_group(&self, vpc: &str, name: &str) -> String {
        let group = self.ec2.create_security_group().vpc_id(vpc).group_name(name).description(name);
        group.send().await.unwrap().group_id().unwrap().to_owned()
    }
}
