//! The state Secret and the lock Lease against a Kubernetes API on loopback, alone and beside Terraform.

#![cfg(feature = "kubernetes")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod authority;
mod double;
mod faults;
mod lock;
mod mounted;
mod reach;
mod state;
mod terraform;
mod terraform_found;
mod tls;

use std::{
    cell::{Cell, RefCell},
    fmt::Write as _,
    io::{Read as _, Write as _},
    path::Path,
    time::Duration,
};

use async_trait::async_trait;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use futures_util::FutureExt as _;
use machinepool::{
    clock::{Clock, Timestamp},
    runtime::{
        backend::Settings,
        kubernetes::{Store, StoreError, StoreErrorKind},
    },
};
use serde_json::{Value, json};

use double::Double;

const NAMESPACE: &str = "clusters";
const SECRET: &str = "tfstate-default-pool";
const LEASE: &str = "lock-tfstate-default-pool";
const LOCK_INFO: &str = "app.terraform.io/lock-info";

/// The service account where there is no pod around.
const NO_POD: &str = "/no/such/directory";

/// A state, small but whole.
const STATE: &str = r#"{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"6f9619ff-8b86-d011-b42d-00c04fc964ff","outputs":{},"resources":[],"check_results":null}"#;

/// A way to the double with the settings given beside its address.
fn connected(double: &Double, flags: &[&str]) -> Store {
    let mut all = vec![
        "secret_suffix=pool".to_owned(),
        format!("namespace={NAMESPACE}"),
        format!("host={}", double.address),
    ];
    all.extend(flags.iter().map(ToString::to_string));
    let settings = Settings::given(&[], &all, &|_| panic!("no file")).unwrap();
    let names = settings.names("default").unwrap();
    let connecting = Store::connect(&settings, names, &|_| None, Path::new(NO_POD));
    let (store, warnings) = connecting.now_or_never().unwrap().unwrap();
    assert_eq!(warnings, []);
    store
}

fn store(double: &Double) -> Store {
    connected(double, &[])
}

#[track_caller]
fn told(error: &StoreError, kind: StoreErrorKind, parts: &[&str]) {
    let all = format!("{}\n{}", error.summary, error.detail);
    assert_eq!(error.kind, kind, "{all}");
    for part in parts {
        assert!(all.contains(part), "{part:?} is not in {all}");
    }
}

fn gunzip(packed: &[u8]) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    text
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// The bytes that a Secret holds.
fn data(double: &Double, name: &str) -> Vec<u8> {
    let secret = double.object("secrets", NAMESPACE, name).unwrap();
    STANDARD.decode(secret["data"]["tfstate"].as_str().unwrap()).unwrap()
}

/// A Secret as Terraform makes it.
fn terraform_secret(data: &[u8]) -> Value {
    json!({
        "metadata": {
            "labels": {
                "app.kubernetes.io/managed-by": "terraform",
                "tfstate": "true",
                "tfstateSecretSuffix": "pool",
                "tfstateWorkspace": "default",
            },
            "annotations": { "encoding": "gzip" },
        },
        "type": "Opaque",
        "data": { "tfstate": STANDARD.encode(data) },
    })
}

/// Text that packs to about half its length: sixteen hexadecimal digits each time.
fn noise(times: u32) -> String {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut text = String::new();
    for _ in 0..times {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        write!(text, "{seed:016x}").unwrap();
    }
    text
}

/// Stores a state in parts, as Terraform does with large ones.
fn put_parts(double: &Double, parts: &[&[u8]]) {
    for (index, part) in parts.iter().enumerate() {
        let name = if index == 0 { SECRET.to_owned() } else { format!("{SECRET}-part-{index}") };
        double.put("secrets", NAMESPACE, &name, terraform_secret(part));
    }
}

/// A clock whose time passes in no time, and that does something at a given sleep.
struct FakeClock<'a> {
    now: Cell<i64>,
    sleeps: RefCell<Vec<Duration>>,
    at_sleep: Box<dyn Fn(usize) + 'a>,
}

impl<'a> FakeClock<'a> {
    fn new(at_sleep: impl Fn(usize) + 'a) -> Self {
        Self { now: Cell::new(0), sleeps: RefCell::default(), at_sleep: Box::new(at_sleep) }
    }
}

#[async_trait(?Send)]
impl Clock for FakeClock<'_> {
    fn now(&self) -> Timestamp {
        Timestamp(self.now.get())
    }

    async fn sleep(&self, duration: Duration) {
        self.sleeps.borrow_mut().push(duration);
        self.now.set(self.now.get() + i64::try_from(duration.as_millis()).unwrap());
        let count = self.sleeps.borrow().len();
        (self.at_sleep)(count);
        tokio::task::yield_now().await;
    }
}
