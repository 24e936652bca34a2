//! What the API answers instead, and what is told then.

use std::rc::{Rc, Weak};

use machinepool::runtime::kubernetes::LockInfo;

use super::*;
use crate::double::Fault;

#[tokio::test]
async fn a_403_names_verb_and_resource() {
    let double = Double::start();
    let store = store(&double);
    for verb in ["list", "get"] {
        double.fail(verb, "secrets", Fault::Status(403));
        let error = store.read().await.unwrap_err();
        let wanted = [format!("verb {verb:?}"), "resource \"secrets\"".to_owned(), NAMESPACE.to_owned()];
        let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
        told(&error, StoreErrorKind::Denied, &wanted);
        told(&error, StoreErrorKind::Denied, &["system:serviceaccount:clusters:captf"]);
        double.heal();
    }
    double.fail("create", "secrets", Fault::Status(403));
    told(&store.write(b"{}", None).await.unwrap_err(), StoreErrorKind::Denied, &["verb \"create\""]);
}

#[tokio::test]
async fn a_401_says_that_the_credentials_are_not_accepted() {
    let double = Double::start();
    double.require_token("right");
    let error = connected(&double, &["token=s3cr3t-t0ken"]).read().await.unwrap_err();
    told(&error, StoreErrorKind::Unauthenticated, &["credentials", "401"]);
    assert!(!format!("{error:?}").contains("s3cr3t-t0ken"));
    connected(&double, &["token=right"]).read().await.unwrap();
}

#[tokio::test]
async fn reads_are_tried_again_three_times() {
    for fault in [Fault::Status(500), Fault::Status(503), Fault::Status(429), Fault::Drop, Fault::LoseAnswer]
    {
        let double = Double::start();
        double.put("secrets", NAMESPACE, SECRET, terraform_secret(&gzip(STATE)));
        double.fail_times("list", "secrets", 3, fault.clone());
        let read = store(&double).read().await.unwrap_or_else(|error| panic!("{fault:?}: {error}"));
        assert_eq!(read.unwrap().state(), STATE.as_bytes());
        assert_eq!(double.calls().len(), 4, "{fault:?}");
    }
    let double = Double::start();
    double.fail("list", "secrets", Fault::Status(503));
    let error = store(&double).read().await.unwrap_err();
    told(&error, StoreErrorKind::Other, &["list secrets", "503", "after retries", "etcdserver"]);
    assert_eq!(double.calls().len(), 4);
    for status in [400, 401, 403, 404, 409, 422] {
        let double = Double::start();
        double.fail("list", "secrets", Fault::Status(status));
        store(&double).read().await.unwrap_err();
        assert_eq!(double.calls().len(), 1, "{status} was tried again");
    }
}

#[tokio::test]
async fn writes_are_tried_again_only_as_far_as_that_is_safe() {
    for fault in [Fault::Status(500), Fault::Drop, Fault::LoseAnswer, Fault::Status(429)] {
        let double = Double::start();
        let store = store(&double);
        double.fail_times("create", "secrets", 1, fault.clone());
        let made = store.write(STATE.as_bytes(), None).await;
        let (stored, _) = made.unwrap_or_else(|error| panic!("create, {fault:?}: {error}"));
        double.heal();
        double.fail_times("update", "secrets", 1, fault.clone());
        let put = store.write(b"{}", Some(&stored)).await;
        let (stored, _) = put.unwrap_or_else(|error| panic!("update, {fault:?}: {error}"));
        assert_eq!(gunzip(&data(&double, SECRET)), "{}");
        let secret = double.object("secrets", NAMESPACE, SECRET).unwrap();
        assert_eq!(secret["metadata"]["resourceVersion"], stored.resource_version());
    }
    // The first answer was lost, then somebody else wrote: theirs stays.
    let double = Double::start();
    let store = store(&double);
    let (stored, _) = store.write(STATE.as_bytes(), None).await.unwrap();
    double.fail_times("update", "secrets", 1, Fault::Drop);
    double.fail_times("update", "secrets", 1, Fault::Overtaken);
    told(&store.write(b"{}", Some(&stored)).await.unwrap_err(), StoreErrorKind::Conflict, &["somebody else"]);
    assert_eq!(data(&double, SECRET), b"theirs");
}

/// A clock on which the API comes back after so many milliseconds.
fn away(double: &Double, milliseconds: i64) -> Rc<FakeClock<'static>> {
    let double = double.clone();
    Rc::new_cyclic(|clock: &Weak<FakeClock<'static>>| {
        let clock = clock.clone();
        FakeClock::new(move |_| {
            if clock.upgrade().unwrap().now.get() >= milliseconds {
                double.heal();
            }
        })
    })
}

#[tokio::test]
async fn a_state_and_a_lock_outlive_an_api_that_is_away_for_a_minute() {
    let info = LockInfo::new("OperationTypeApply", "captf@pod-1", "1.11.4");
    for fault in [Fault::Status(503), Fault::Status(429), Fault::Drop, Fault::LoseAnswer] {
        let double = Double::start();
        let store = store(&double);
        store.try_lock(&info).await.unwrap();
        let (stored, _) = store.write(STATE.as_bytes(), None).await.unwrap();
        for (verb, resource) in
            [("update", "secrets"), ("get", "secrets"), ("get", "leases"), ("update", "leases")]
        {
            double.fail(verb, resource, fault.clone());
        }
        let clock = away(&double, 58_000);
        let written = store.clone().with_clock(clock.clone()).write(b"{}", Some(&stored)).await;
        let (_, warning) = written.unwrap_or_else(|error| panic!("{fault:?}: {error}"));
        assert_eq!((gunzip(&data(&double, SECRET)).as_str(), warning), ("{}", None), "{fault:?}");
        assert!(clock.sleeps.borrow().is_sorted() && clock.sleeps.borrow().len() < 20, "{:?}", clock.sleeps);
        for verb in ["get", "update"] {
            double.fail(verb, "leases", fault.clone());
        }
        let clock = away(&double, 58_000);
        let unlocked = store.clone().with_clock(clock).unlock(&info.id).await;
        unlocked.unwrap_or_else(|error| panic!("{fault:?}: {error}"));
        assert_eq!(store.holder().await.unwrap(), None, "{fault:?}");
    }
}

#[tokio::test]
async fn an_api_that_stays_away_is_given_up_after_a_minute() {
    let double = Double::start();
    let store = store(&double);
    let (stored, _) = store.write(STATE.as_bytes(), None).await.unwrap();
    let info = LockInfo::new("OperationTypeApply", "captf@pod-1", "1.11.4");
    store.try_lock(&info).await.unwrap();
    for (verb, resource) in [("update", "secrets"), ("get", "leases"), ("update", "leases")] {
        double.fail(verb, resource, Fault::Drop);
    }
    let clock = away(&double, i64::MAX);
    let error = store.clone().with_clock(clock.clone()).write(b"{}", Some(&stored)).await.unwrap_err();
    told(&error, StoreErrorKind::Unreachable, &["update secrets"]);
    assert_eq!(clock.now.get(), 60_000);
    let error = store.clone().with_clock(clock.clone()).unlock(&info.id).await.unwrap_err();
    told(&error, StoreErrorKind::Unreachable, &["get leases", &info.id, "force-unlock"]);
    assert_eq!(clock.now.get(), 120_000);
    // What waiting does not change is told at once.
    for status in [401, 403, 422] {
        double.heal();
        double.fail("update", "secrets", Fault::Status(status));
        store.clone().with_clock(clock.clone()).write(b"{}", Some(&stored)).await.unwrap_err();
    }
    assert_eq!(clock.now.get(), 120_000);
}

#[tokio::test]
async fn an_api_that_asks_for_a_pause_gets_it() {
    let double = Double::start();
    double.fail_times("list", "secrets", 1, Fault::Busy(1));
    let begin = std::time::Instant::now();
    assert!(store(&double).read().await.unwrap().is_none());
    assert!(begin.elapsed() >= Duration::from_secs(1));
    assert_eq!(double.calls(), ["list secrets", "list secrets", "get secrets"]);
}

#[tokio::test]
async fn a_proxys_answer_is_not_the_apis() {
    for (status, part) in [(404, "404"), (502, "502"), (200, "not what a Kubernetes API gives")] {
        let double = Double::start();
        double.fail("list", "secrets", Fault::Foreign(status));
        told(&store(&double).read().await.unwrap_err(), StoreErrorKind::Other, &[part]);
    }
    let double = Double::start();
    double.fail("get", "leases", Fault::Foreign(404));
    assert!(store(&double).holder().await.is_err(), "a proxy's 404 is no free lock");
}

#[tokio::test]
async fn slow_answers_are_waited_for() {
    let double = Double::start();
    double.fail("list", "secrets", Fault::Slow(Duration::from_millis(700)));
    assert!(store(&double).read().await.unwrap().is_none());
    assert_eq!(double.calls(), ["list secrets", "get secrets"]);
}
