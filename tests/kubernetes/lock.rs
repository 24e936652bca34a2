//! The lock Lease.

use machinepool::{
    engine::context::Interrupt,
    runtime::kubernetes::{Attempt, Holder, LockInfo, Patience, who},
};
use serde_json::json;

use super::*;
use crate::double::Fault;

fn info() -> LockInfo {
    LockInfo::new("OperationTypeApply", "captf@pod-1", "1.11.4")
}

/// A Lease as Terraform leaves it while it holds the lock.
fn held_by_terraform() -> Value {
    let info = json!({
        "ID": "11111111-2222-3333-4444-555555555555", "Operation": "OperationTypePlan", "Info": "",
        "Who": "alice@laptop", "Version": "1.11.4", "Created": "2026-01-02T03:04:05.678901234Z", "Path": "",
    });
    json!({
        "metadata": { "labels": { "tfstate": "true" }, "annotations": { LOCK_INFO: info.to_string() } },
        "spec": { "holderIdentity": "11111111-2222-3333-4444-555555555555" },
    })
}

fn lease(double: &Double) -> Value {
    double.object("leases", NAMESPACE, LEASE).unwrap()
}

async fn locked(
    store: &Store,
    info: &LockInfo,
    seconds: u64,
    clock: &FakeClock<'_>,
) -> Result<(), StoreError> {
    let (_interrupter, interrupt) = Interrupt::new();
    let timeout = Duration::from_secs(seconds);
    store.lock(info, &Patience { timeout, clock, interrupt: &interrupt, waiting: &|_, _| {} }).await
}

#[tokio::test]
async fn a_lock_is_taken_and_given_back() {
    let double = Double::start();
    let store = connected(&double, &[r#"labels={"captf.io/object"="pool"}"#]);
    let info = info();
    assert_eq!(store.try_lock(&info).await.unwrap(), Attempt::Acquired);
    assert_eq!(double.calls(), ["get leases", "create leases"]);
    let held = lease(&double);
    assert_eq!(held["spec"]["holderIdentity"], info.id.as_str());
    assert_eq!(held["metadata"]["labels"]["captf.io/object"], "pool");
    assert_eq!(held["metadata"]["labels"]["tfstateSecretSuffix"], "pool");
    let text = held["metadata"]["annotations"][LOCK_INFO].as_str().unwrap();
    let order: Vec<usize> =
        ["\"ID\"", "\"Operation\"", "\"Info\"", "\"Who\"", "\"Version\"", "\"Created\"", "\"Path\""]
            .map(|name| text.find(name).unwrap())
            .into();
    assert!(order.is_sorted(), "{text}");
    assert_eq!(store.holder().await.unwrap(), Some(Holder { id: info.id.clone(), info: Some(info.clone()) }));

    store.unlock(&info.id).await.unwrap();
    let free = lease(&double);
    assert_eq!(free["spec"]["holderIdentity"], Value::Null);
    assert_eq!(free["metadata"]["annotations"][LOCK_INFO], Value::Null);
    assert_eq!(store.holder().await.unwrap(), None);
    // The Lease stays and is taken again; what others wrote on it stays, too.
    double
        .edit("leases", NAMESPACE, LEASE, |lease| lease["metadata"]["annotations"] = json!({ "note": "x" }));
    assert_eq!(store.try_lock(&info).await.unwrap(), Attempt::Acquired);
    assert_eq!(lease(&double)["metadata"]["annotations"]["note"], "x");
    assert_eq!(lease(&double)["metadata"]["uid"], free["metadata"]["uid"]);
}

#[test]
fn lock_infos_are_terraforms() {
    let info = info();
    let (date, time) = info.created.split_once('T').unwrap();
    assert_eq!((date.len(), time.ends_with('Z')), (10, true), "{}", info.created);
    assert_eq!(info.id.len(), 36);
    assert_ne!(info.id, self::info().id);
    let text = info.to_string();
    for line in
        ["Lock Info:\n  ID:        ", "\n  Operation: OperationTypeApply", "\n  Who:       captf@pod-1"]
    {
        assert!(text.contains(line), "{text}");
    }
    let name = who(&|name| (name == "USER").then(|| "alice".to_owned()));
    assert!(name.starts_with("alice@") && name.len() > "alice@".len(), "{name}");
}

#[tokio::test]
async fn whoever_holds_the_lock_holds_it_whatever_the_lease_says_besides() {
    let terraforms = held_by_terraform();
    let mut silent = held_by_terraform();
    silent["metadata"]["annotations"] = json!({});
    let mut garbled = held_by_terraform();
    garbled["metadata"]["annotations"][LOCK_INFO] = "{not json".into();
    for (lease, known) in [(terraforms, true), (silent, false), (garbled, false)] {
        let double = Double::start();
        double.put("leases", NAMESPACE, LEASE, lease.clone());
        let store = store(&double);
        let Attempt::Held(holder) = store.try_lock(&info()).await.unwrap() else { panic!("{lease}") };
        assert_eq!(holder.id, "11111111-2222-3333-4444-555555555555");
        assert_eq!(holder.info.is_some(), known);
        let error = locked(&store, &info(), 0, &FakeClock::new(|_| {})).await.unwrap_err();
        let wanted = if known { "alice@laptop" } else { "no info" };
        told(&error, StoreErrorKind::Locked, &["Error acquiring the state lock", "11111111-2222", wanted]);
        assert_eq!(double.object("leases", NAMESPACE, LEASE).unwrap()["spec"], lease["spec"]);
    }
}

#[tokio::test]
async fn a_lease_without_a_holder_is_free() {
    for spec in [json!({}), json!({ "holderIdentity": null }), json!({ "holderIdentity": "" }), Value::Null] {
        let double = Double::start();
        let mut lease = held_by_terraform();
        lease["spec"] = spec.clone();
        double.put("leases", NAMESPACE, LEASE, lease);
        assert_eq!(store(&double).try_lock(&info()).await.unwrap(), Attempt::Acquired, "{spec}");
    }
}

#[tokio::test]
async fn a_conflict_is_somebody_else_and_not_success() {
    for verb in ["create", "update"] {
        let double = Double::start();
        let store = store(&double);
        if verb == "update" {
            double.put("leases", NAMESPACE, LEASE, json!({ "metadata": {}, "spec": {} }));
        }
        double.fail_times(verb, "leases", 1, Fault::Overtaken);
        let Attempt::Held(holder) = store.try_lock(&info()).await.unwrap() else { panic!("{verb}") };
        assert_eq!(holder.id, "somebody-else");
        assert_eq!(lease(&double)["spec"]["holderIdentity"], "somebody-else");
    }
    // Taken and given back while we tried: we still do not have it.
    let double = Double::start();
    double.fail("create", "leases", Fault::Status(409));
    let store = store(&double);
    assert_eq!(store.try_lock(&info()).await.unwrap(), Attempt::Held(Holder::default()));
    let error = locked(&store, &info(), 0, &FakeClock::new(|_| {})).await.unwrap_err();
    told(&error, StoreErrorKind::Locked, &["somebody else was quicker"]);
}

#[tokio::test]
async fn nothing_goes_on_without_the_lock() {
    for (verb, status) in
        [("get", 403), ("create", 403), ("get", 401), ("get", 500), ("create", 500), ("create", 404)]
    {
        let double = Double::start();
        double.fail(verb, "leases", Fault::Status(status));
        let error =
            locked(&store(&double), &info(), 300, &FakeClock::new(|_| panic!("waited"))).await.unwrap_err();
        assert!(error.summary.contains(&format!("Cannot {verb} leases {LEASE}")), "{error}");
        if status == 403 {
            told(
                &error,
                StoreErrorKind::Denied,
                &[&format!("verb {verb:?}"), "resource \"leases\"", NAMESPACE],
            );
        }
    }
    let double = Double::start();
    double.put("leases", NAMESPACE, LEASE, json!({ "metadata": {}, "spec": {} }));
    double.fail("update", "leases", Fault::Status(403));
    let error = store(&double).try_lock(&info()).await.unwrap_err();
    told(&error, StoreErrorKind::Denied, &["verb \"update\"", "resource \"leases\""]);
}

#[tokio::test]
async fn waits_grow_and_end_when_the_lock_is_free() {
    let double = Double::start();
    double.put("leases", NAMESPACE, LEASE, held_by_terraform());
    let clock = FakeClock::new(|count| {
        if count == 6 {
            double.edit("leases", NAMESPACE, LEASE, |lease| lease["spec"] = json!({}));
        }
    });
    let (_interrupter, interrupt) = Interrupt::new();
    let seen = RefCell::new(Vec::new());
    let patience = Patience {
        timeout: Duration::from_mins(5),
        clock: &clock,
        interrupt: &interrupt,
        waiting: &|holder, waited| seen.borrow_mut().push((holder.clone(), waited)),
    };
    store(&double).lock(&info(), &patience).await.unwrap();
    let seconds: Vec<u64> = clock.sleeps.borrow().iter().map(Duration::as_secs).collect();
    assert_eq!(seconds, [1, 2, 4, 8, 16, 16]);
    let seen = seen.into_inner();
    assert_eq!(seen.len(), 6, "told before each pause");
    assert_eq!(seen[5].1, Duration::from_secs(31));
    assert_eq!(seen[0].0.info.as_ref().unwrap().who, "alice@laptop");
}

#[tokio::test]
async fn when_time_is_up_the_holder_is_named() {
    let double = Double::start();
    double.put("leases", NAMESPACE, LEASE, held_by_terraform());
    let clock = FakeClock::new(|_| {});
    let error = locked(&store(&double), &info(), 5, &clock).await.unwrap_err();
    told(
        &error,
        StoreErrorKind::Locked,
        &["alice@laptop", "OperationTypePlan", "2026-01-02T03:04:05.678901234Z", "Waited 5 s", "Lock Info:"],
    );
    let whole: u64 = clock.sleeps.borrow().iter().map(Duration::as_secs).sum();
    assert_eq!(whole, 5, "neither early nor late");
    assert!(error.summary.len() < 512);
}

#[tokio::test]
async fn a_signal_ends_the_wait() {
    let double = Double::start();
    double.put("leases", NAMESPACE, LEASE, held_by_terraform());
    let (interrupter, interrupt) = Interrupt::new();
    let clock = FakeClock::new(|_| interrupter.raise());
    let patience = Patience {
        timeout: Duration::from_mins(5),
        clock: &clock,
        interrupt: &interrupt,
        waiting: &|_, _| {},
    };
    let error = store(&double).lock(&info(), &patience).await.unwrap_err();
    assert_eq!(error.kind, StoreErrorKind::Interrupted);
    assert_eq!(clock.sleeps.borrow().len(), 1);
}

#[tokio::test]
async fn only_our_own_lock_is_given_back() {
    let double = Double::start();
    let store = store(&double);
    let info = info();
    // Never there, gone, another's.
    told(&store.unlock(&info.id).await.unwrap_err(), StoreErrorKind::NotLocked, &["taken away"]);
    store.try_lock(&info).await.unwrap();
    double.edit("leases", NAMESPACE, LEASE, |lease| lease["spec"] = json!({}));
    told(&store.unlock(&info.id).await.unwrap_err(), StoreErrorKind::NotLocked, &["Nobody holds it"]);
    double.put("leases", NAMESPACE, LEASE, held_by_terraform());
    let before = lease(&double);
    told(&store.unlock(&info.id).await.unwrap_err(), StoreErrorKind::NotLocked, &["alice@laptop"]);
    assert_eq!(lease(&double), before);
}

#[tokio::test]
async fn a_release_survives_changes_by_others_and_faults() {
    for fault in [Fault::Status(500), Fault::Drop, Fault::LoseAnswer, Fault::Status(409)] {
        let double = Double::start();
        let store = store(&double);
        let info = info();
        store.try_lock(&info).await.unwrap();
        double.fail_times("update", "leases", 1, fault.clone());
        store.unlock(&info.id).await.unwrap_or_else(|error| panic!("{fault:?}: {error}"));
        assert_eq!(lease(&double)["spec"]["holderIdentity"], Value::Null, "{fault:?}");
    }
}

#[tokio::test]
async fn a_lock_whose_answer_was_lost_is_ours() {
    for verb in ["create", "update"] {
        for fault in [Fault::LoseAnswer, Fault::Drop, Fault::Status(500)] {
            let double = Double::start();
            if verb == "update" {
                double.put("leases", NAMESPACE, LEASE, json!({ "metadata": {}, "spec": {} }));
            }
            double.fail_times(verb, "leases", 1, fault.clone());
            let info = info();
            assert_eq!(store(&double).try_lock(&info).await.unwrap(), Attempt::Acquired, "{verb} {fault:?}");
            assert_eq!(lease(&double)["spec"]["holderIdentity"], info.id.as_str());
        }
    }
}

#[tokio::test]
async fn force_unlock_takes_only_the_lock_that_is_named() {
    let double = Double::start();
    let store = store(&double);
    let id = "11111111-2222-3333-4444-555555555555";
    told(
        &store.force_unlock(id).await.unwrap_err(),
        StoreErrorKind::NotLocked,
        &["state is already unlocked"],
    );
    double.put("leases", NAMESPACE, LEASE, held_by_terraform());
    let before = lease(&double);
    let error = store.force_unlock("another").await.unwrap_err();
    told(
        &error,
        StoreErrorKind::NotLocked,
        &["lock id \"another\" does not match existing lock", id, "alice@laptop"],
    );
    assert_eq!(lease(&double), before);
    store.force_unlock(id).await.unwrap();
    assert_eq!(store.holder().await.unwrap(), None);
    assert_eq!(lease(&double)["metadata"]["annotations"][LOCK_INFO], Value::Null);
    told(
        &store.force_unlock(id).await.unwrap_err(),
        StoreErrorKind::NotLocked,
        &["state is already unlocked"],
    );
    // One that left no info can be taken away, too.
    let mut silent = held_by_terraform();
    silent["metadata"]["annotations"] = Value::Null;
    double.put("leases", NAMESPACE, LEASE, silent);
    store.force_unlock(id).await.unwrap();
}

#[tokio::test]
async fn an_annotation_on_a_free_lease_is_nobody_who_holds_it() {
    let double = Double::start();
    double.put("leases", NAMESPACE, LEASE, json!({ "metadata": {}, "spec": {} }));
    let (store, info) = (store(&double), info());
    double.fail_times("update", "leases", 3, Fault::Annotated);
    assert_eq!(store.try_lock(&info).await.unwrap(), Attempt::Acquired);
    double.fail_times("update", "leases", 3, Fault::Annotated);
    store.unlock(&info.id).await.unwrap();
    assert_eq!(store.holder().await.unwrap(), None);
}

#[tokio::test]
async fn a_lock_taken_away_while_it_is_given_back_is_told() {
    let double = Double::start();
    let (store, info) = (store(&double), info());
    for forced in [false, true] {
        store.try_lock(&info).await.unwrap();
        double.fail_times("update", "leases", 1, Fault::Freed);
        if forced {
            let error = store.force_unlock(&info.id).await.unwrap_err();
            told(&error, StoreErrorKind::NotLocked, &["state is already unlocked"]);
        } else {
            let error = store.unlock(&info.id).await.unwrap_err();
            told(&error, StoreErrorKind::NotLocked, &["taken away", "Nobody holds it"]);
        }
    }
}

#[tokio::test]
async fn a_lock_that_may_be_ours_is_not_left_behind() {
    for free in [false, true] {
        let double = Double::start();
        if free {
            double.put("leases", NAMESPACE, LEASE, json!({ "metadata": {}, "spec": {} }));
        }
        let verb = if free { "update" } else { "create" };
        let info = info();
        // The look before, the lost answer, then the look afterwards fails with all its tries.
        double.fail_times(verb, "leases", 1, Fault::LoseAnswerAndBreak(4));
        let error = store(&double).try_lock(&info).await.unwrap_err();
        told(&error, StoreErrorKind::Other, &["get leases", "503"]);
        assert!(!error.detail.contains(&info.id), "{error:?}");
        assert_eq!(lease(&double)["spec"]["holderIdentity"], Value::Null);

        // Nothing answers any more.
        let double = Double::start();
        if free {
            double.put("leases", NAMESPACE, LEASE, json!({ "metadata": {}, "spec": {} }));
        }
        double.fail_times(verb, "leases", 1, Fault::LoseAnswerAndBreak(usize::MAX));
        let clock = std::rc::Rc::new(FakeClock::new(|_| {}));
        let error = store(&double).with_clock(clock.clone()).try_lock(&info).await.unwrap_err();
        told(&error, StoreErrorKind::Other, &["get leases", "503", &info.id, "force-unlock"]);
        assert_eq!(clock.now.get(), 10_000);
        assert_eq!(lease(&double)["spec"]["holderIdentity"], info.id.as_str());
    }
}

/// A Lease that nobody holds.
fn free() -> Value {
    json!({ "metadata": {}, "spec": {} })
}

/// Nobody holds the lock, and somebody can take it.
async fn is_free(double: &Double) {
    assert_eq!(lease(double)["spec"]["holderIdentity"], Value::Null);
    assert_eq!(lease(double)["metadata"]["annotations"][LOCK_INFO], Value::Null);
    assert_eq!(store(double).try_lock(&info()).await.unwrap(), Attempt::Acquired);
}

#[tokio::test]
async fn an_attempt_that_was_given_up_does_not_take_the_lock_later() {
    for verb in ["create", "update"] {
        let double = Double::start();
        if verb == "update" {
            double.put("leases", NAMESPACE, LEASE, free());
        }
        double.fail_times(verb, "leases", 4, Fault::Late);
        let info = info();
        let error = store(&double).try_lock(&info).await.unwrap_err();
        told(&error, StoreErrorKind::Other, &["Cannot", "leases", "still after retries"]);
        assert!(!error.detail.contains(&info.id), "nothing is left to be done: {error:?}");
        assert_eq!(double.land(), 4);
        is_free(&double).await;
    }
}

#[tokio::test]
async fn an_attempt_that_may_still_come_is_named_if_nothing_keeps_it_from_that() {
    for verb in ["create", "update"] {
        let double = Double::start();
        if verb == "update" {
            double.put("leases", NAMESPACE, LEASE, free());
        }
        double.fail(verb, "leases", Fault::Late);
        let info = info();
        let clock = std::rc::Rc::new(FakeClock::new(|_| {}));
        let error = store(&double).with_clock(clock).try_lock(&info).await.unwrap_err();
        told(&error, StoreErrorKind::Other, &["still after retries", &info.id, "force-unlock"]);
    }
}

/// An answer that is no answer says nothing of what was done.
#[tokio::test]
async fn a_lock_that_was_taken_without_a_readable_answer_is_given_back() {
    for verb in ["create", "update"] {
        let double = Double::start();
        if verb == "update" {
            double.put("leases", NAMESPACE, LEASE, free());
        }
        double.fail_times(verb, "leases", 1, Fault::Garbled);
        let error = store(&double).try_lock(&info()).await.unwrap_err();
        told(&error, StoreErrorKind::Other, &["not what a Kubernetes API gives"]);
        is_free(&double).await;
    }
}

/// Begins to wait for the lock, is interrupted once the API was asked for `call`, and says how long it took then.
async fn interrupted(double: &Double, call: &str) -> (StoreError, Duration) {
    let (interrupter, interrupt) = Interrupt::new();
    let clock = FakeClock::new(|_| {});
    let patience = Patience {
        timeout: Duration::from_mins(5),
        clock: &clock,
        interrupt: &interrupt,
        waiting: &|_, _| {},
    };
    let (store, info) = (store(double), info());
    let signal = async {
        while !double.calls().iter().any(|made| made == call) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        interrupter.raise();
        tokio::time::Instant::now()
    };
    let (error, raised) = tokio::join!(store.lock(&info, &patience), signal);
    (error.unwrap_err(), raised.elapsed())
}

#[tokio::test]
async fn a_signal_ends_a_look_at_the_lock_that_nobody_answers() {
    let double = Double::start();
    double.fail("get", "leases", Fault::Slow(Duration::from_mins(1)));
    let (error, took) = interrupted(&double, "get leases").await;
    assert_eq!(error.kind, StoreErrorKind::Interrupted);
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert!(!error.detail.contains("force-unlock"), "nothing was attempted: {error:?}");
}

#[tokio::test]
async fn a_signal_in_the_middle_of_an_attempt_leaves_no_lock_behind() {
    for verb in ["create", "update"] {
        let double = Double::start();
        if verb == "update" {
            double.put("leases", NAMESPACE, LEASE, free());
        }
        double.fail_times(verb, "leases", 1, Fault::Silent);
        let (error, took) = interrupted(&double, &format!("{verb} leases")).await;
        assert_eq!(error.kind, StoreErrorKind::Interrupted);
        assert!(took < Duration::from_secs(5), "{took:?}");
        assert_eq!(double.land(), 1);
        is_free(&double).await;
    }
}

#[tokio::test]
async fn a_lock_is_given_back_without_a_look() {
    let double = Double::start();
    let (store, info) = (store(&double), info());
    for first in ["create leases", "update leases"] {
        store.try_lock(&info).await.unwrap();
        store.unlock(&info.id).await.unwrap();
        assert_eq!(double.calls(), ["get leases", first, "update leases"]);
    }
    // What was found to be ours is known, too.
    store.try_lock(&info).await.unwrap();
    store.try_lock(&info).await.unwrap();
    double.calls();
    store.unlock(&info.id).await.unwrap();
    assert_eq!(double.calls(), ["update leases"]);
}
