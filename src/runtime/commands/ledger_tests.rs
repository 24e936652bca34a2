//! What becomes of the lock and the state when the work between them goes wrong.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, unreachable_pub)]

#[path = "../../../tests/kubernetes/double.rs"]
mod double;

use std::time::Duration;

use double::Double;

use serde_json::Value;

use super::*;
use crate::{
    app::Taste,
    engine::context::Interrupter,
    error::Kind,
    runtime::{backend::Settings, kubernetes::Store},
};

const NAMESPACE: &str = "team-a";
const LEASE: &str = "lock-tfstate-default-pool";

/// A ledger under lock, in a Kubernetes API of its own.
async fn locked(double: &Double, ui: &Ui) -> (Interrupter, Ledger) {
    let flags = [
        "secret_suffix=pool".to_owned(),
        format!("namespace={NAMESPACE}"),
        format!("host={}", double.address),
    ];
    let settings = Settings::given(&[], &flags, &|_| panic!("no file")).unwrap();
    let (store, _) =
        Store::connect(&settings, settings.names("default").unwrap(), &|_| None, Path::new("/nowhere"))
            .await
            .unwrap();
    let (interrupter, interrupt) = Interrupt::new();
    let mut keep = Keep::of(store, &interrupt);
    keep.lock(ui, Duration::ZERO, Purpose::Apply).await.unwrap();
    (
        interrupter,
        Ledger { keep: Some(keep), state: None, facts: Facts::default(), secrets: Secrets::default() },
    )
}

fn holder(double: &Double) -> Value {
    double.object("leases", NAMESPACE, LEASE).unwrap()["spec"]["holderIdentity"].clone()
}

#[tokio::test(flavor = "current_thread")]
async fn an_interrupt_before_the_state_was_read_gives_the_lock_back() {
    let (double, ui) = (Double::start(), Ui::of_process(Taste::default()));
    let (interrupter, ledger) = locked(&double, &ui).await;
    double.fail("list", "secrets", double::Fault::Slow(Duration::from_mins(1)));
    interrupter.raise();
    let work = ledger.work(&ui, async |_| -> anyhow::Result<u8> { panic!("nothing is begun") });
    let outcome = Box::pin(work).await;
    let error = outcome.unwrap_err();
    assert_eq!(error.downcast_ref::<Failure>().unwrap().kind, Kind::Interrupted);
    assert_eq!(holder(&double), Value::Null);
}
