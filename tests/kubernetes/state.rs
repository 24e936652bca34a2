//! Reading and writing the Secret.

use serde_json::json;

use super::*;
use crate::double::Fault;

#[tokio::test]
async fn only_a_true_not_found_is_no_state() {
    let double = Double::start();
    assert!(store(&double).read().await.unwrap().is_none());
    // Another pool's state is not ours, one with the same beginning neither.
    let mut other = terraform_secret(&gzip(STATE));
    other["metadata"]["labels"]["tfstateSecretSuffix"] = "pool-b".into();
    double.put("secrets", NAMESPACE, "tfstate-default-pool-b", other.clone());
    double.put("secrets", "elsewhere", SECRET, terraform_secret(&gzip(STATE)));
    assert!(store(&double).read().await.unwrap().is_none());

    for status in [400, 401, 403, 404, 409, 422, 429, 500, 503] {
        double.fail("list", "secrets", Fault::Status(status));
        assert!(store(&double).read().await.is_err(), "{status}");
        double.heal();
    }
    // A list may be empty because somebody in between says so; the Secret itself decides.
    for fault in [Fault::Status(403), Fault::Foreign(404), Fault::Status(500)] {
        double.fail("get", "secrets", fault.clone());
        assert!(store(&double).read().await.is_err(), "{fault:?}");
        double.heal();
    }
}

#[tokio::test]
async fn a_secret_that_lost_its_labels_is_not_taken_for_a_new_state() {
    let double = Double::start();
    double.put("secrets", NAMESPACE, SECRET, terraform_secret(&gzip(STATE)));
    double.edit("secrets", NAMESPACE, SECRET, |secret| secret["metadata"]["labels"] = json!({}));
    let error = store(&double).read().await.unwrap_err();
    told(&error, StoreErrorKind::Damaged, &[SECRET, "labels", "tfstateSecretSuffix=pool"]);
}

#[tokio::test]
async fn a_state_that_is_made_between_list_and_look_is_read() {
    let double = Double::start();
    let made = |double: &Double| double.put("secrets", NAMESPACE, SECRET, terraform_secret(&gzip(STATE)));
    double.fail_times("get", "secrets", 1, Fault::Hand(made));
    assert_eq!(store(&double).read().await.unwrap().unwrap().state(), STATE.as_bytes());
    assert_eq!(double.calls(), ["list secrets", "get secrets", "list secrets"]);
}

#[tokio::test]
async fn what_is_written_is_as_terraform_writes_it() {
    let double = Double::start();
    let store = connected(&double, &[r#"labels={"captf.io/object"="pool"}"#]);
    let (stored, warning) = store.write(STATE.as_bytes(), None).await.unwrap();
    assert_eq!(warning, None);
    assert_eq!(stored.state(), STATE.as_bytes());
    let secret = double.object("secrets", NAMESPACE, SECRET).unwrap();
    assert_eq!(gunzip(&data(&double, SECRET)), STATE);
    assert_eq!(secret["metadata"]["annotations"], json!({ "encoding": "gzip" }));
    assert_eq!(
        secret["metadata"]["labels"],
        json!({
            "app.kubernetes.io/managed-by": "terraform",
            "captf.io/object": "pool",
            "tfstate": "true",
            "tfstateSecretSuffix": "pool",
            "tfstateWorkspace": "default",
        })
    );
    assert_eq!(secret["metadata"]["resourceVersion"], stored.resource_version());
    assert_eq!(double.names("secrets", NAMESPACE), [SECRET]);
    assert_eq!(double.calls(), ["create secrets"], "neither discovery nor anything else was asked");

    let read = store.read().await.unwrap().unwrap();
    assert_eq!(read.state(), STATE.as_bytes());
    assert_eq!(read.resource_version(), stored.resource_version());
    assert_eq!(double.calls(), ["list secrets"]);
}

#[tokio::test]
async fn what_others_put_into_the_secret_is_kept() {
    let double = Double::start();
    double.put("secrets", NAMESPACE, SECRET, terraform_secret(&gzip(STATE)));
    let owner =
        json!([{ "apiVersion": "captf.io/v1", "kind": "TerraformMachinePool", "name": "p", "uid": "u-1" }]);
    double.edit("secrets", NAMESPACE, SECRET, |secret| {
        secret["metadata"]["labels"]["team"] = "b".into();
        secret["metadata"]["annotations"]["note"] = "keep me".into();
        secret["metadata"]["ownerReferences"] = owner.clone();
        secret["metadata"]["finalizers"] = json!(["captf.io/keep"]);
        secret["data"]["other"] = "eA==".into();
    });
    let before = double.object("secrets", NAMESPACE, SECRET).unwrap();
    let store = store(&double);
    let read = store.read().await.unwrap().unwrap();
    store.write(b"{}", Some(&read)).await.unwrap();
    let after = double.object("secrets", NAMESPACE, SECRET).unwrap();
    for field in ["labels", "annotations", "ownerReferences", "finalizers", "uid", "creationTimestamp"] {
        assert_eq!(after["metadata"][field], before["metadata"][field], "{field}");
    }
    assert_eq!((&after["type"], &after["data"]["other"]), (&before["type"], &before["data"]["other"]));
    assert_eq!(gunzip(&data(&double, SECRET)), "{}");
}

#[tokio::test]
async fn a_write_after_a_write_needs_no_read() {
    let double = Double::start();
    let store = store(&double);
    let (first, _) = store.write(b"{\"serial\":1}", None).await.unwrap();
    let (second, _) = store.write(b"{\"serial\":2}", Some(&first)).await.unwrap();
    store.write(b"{\"serial\":3}", Some(&second)).await.unwrap();
    assert_eq!(gunzip(&data(&double, SECRET)), "{\"serial\":3}");
    told(&store.write(b"{}", Some(&first)).await.unwrap_err(), StoreErrorKind::Conflict, &["somebody else"]);
    assert_eq!(gunzip(&data(&double, SECRET)), "{\"serial\":3}");
}

#[tokio::test]
async fn somebody_else_who_wrote_first_wins() {
    let double = Double::start();
    let store = store(&double);
    // Made meanwhile.
    double.fail_times("create", "secrets", 1, Fault::Overtaken);
    told(&store.write(b"{}", None).await.unwrap_err(), StoreErrorKind::Conflict, &["somebody else", SECRET]);
    double.remove("secrets", NAMESPACE, SECRET);
    // Changed meanwhile.
    let (stored, _) = store.write(STATE.as_bytes(), None).await.unwrap();
    double.fail_times("update", "secrets", 1, Fault::Overtaken);
    told(&store.write(b"{}", Some(&stored)).await.unwrap_err(), StoreErrorKind::Conflict, &["somebody else"]);
    assert_eq!(data(&double, SECRET), b"theirs");
    // Deleted meanwhile: it is not made anew from an old copy.
    double.remove("secrets", NAMESPACE, SECRET);
    told(&store.write(b"{}", Some(&stored)).await.unwrap_err(), StoreErrorKind::Conflict, &["somebody else"]);
    assert_eq!(double.names("secrets", NAMESPACE), <[String; 0]>::default());
}

#[tokio::test]
async fn parts_are_joined_in_the_order_of_their_numbers() {
    let double = Double::start();
    let noise = noise(1000);
    let packed = gzip(&noise);
    let parts: Vec<&[u8]> = packed.chunks(packed.len() / 12 + 1).collect();
    assert_eq!(parts.len(), 12, "more than ten: names and numbers sort differently");
    put_parts(&double, &parts);
    let store = store(&double);
    let read = store.read().await.unwrap().unwrap();
    assert_eq!(read.state(), noise.as_bytes());

    // Written as one; the other parts go, after the write.
    double.seen();
    let (stored, warning) = store.write(STATE.as_bytes(), Some(&read)).await.unwrap();
    assert_eq!(warning, None);
    assert_eq!(double.names("secrets", NAMESPACE), [SECRET]);
    let seen = double.seen();
    assert_eq!(seen[0].verb, "update");
    let removed: Vec<_> = seen[1..].iter().map(|seen| seen.name.clone()).collect();
    let expected: Vec<_> = (1..12).rev().map(|index| format!("{SECRET}-part-{index}")).collect();
    assert_eq!(removed, expected, "a gap would be left if it ended in between");
    store.write(b"{}", Some(&stored)).await.unwrap();
}

#[tokio::test]
async fn parts_left_by_a_killed_run_do_no_harm_and_go_with_the_next_write() {
    let double = Double::start();
    put_parts(&double, &[&gzip(STATE), b"rest of an older state"]);
    let store = store(&double);
    let read = store.read().await.unwrap().unwrap();
    assert_eq!(read.state(), STATE.as_bytes());
    double.fail("delete", "secrets", Fault::Status(403));
    let (stored, warning) = store.write(b"{}", Some(&read)).await.unwrap();
    let warning = warning.unwrap();
    assert!(warning.detail.contains("\"delete\"") && warning.detail.contains("part-1"), "{warning}");
    double.heal();
    let (_, warning) = store.write(b"{}", Some(&stored)).await.unwrap();
    assert_eq!(warning, None);
    assert_eq!(double.names("secrets", NAMESPACE), [SECRET]);
}

/// What it is, the parts with their numbers, and what the error names.
type Case<'a> = (&'a str, &'a [(usize, &'a [u8])], &'a str);

#[tokio::test]
async fn what_cannot_be_a_state_is_an_error_and_stays_as_it_is() {
    let packed = gzip(&STATE.repeat(50));
    let (one, two) = packed.split_at(packed.len() / 2);
    let whole = [&packed[..], b"trailing"].concat();
    let mut wrong_sum = packed.clone();
    let place = wrong_sum.len() - 8;
    wrong_sum[place] ^= 1;
    let cases: [Case; 9] = [
        ("a middle part is missing", &[(0, one), (2, two)], "part-1 is missing"),
        ("the first part is missing", &[(1, two)], "tfstate-default-pool is missing"),
        ("the last part is missing", &[(0, one)], "does not unpack"),
        ("the parts are swapped", &[(0, two), (1, one)], "does not unpack"),
        ("not gzip", &[(0, STATE.as_bytes())], "does not unpack"),
        ("nothing", &[(0, b"")], "no data"),
        ("an empty part", &[(0, one), (1, b"")], "no data"),
        ("more behind it", &[(0, &whole)], "follows its end"),
        ("a wrong checksum", &[(0, &wrong_sum)], "does not unpack"),
    ];
    for (case, parts, part) in cases {
        let double = Double::start();
        for (index, bytes) in parts {
            let name = if *index == 0 { SECRET.to_owned() } else { format!("{SECRET}-part-{index}") };
            double.put("secrets", NAMESPACE, &name, terraform_secret(bytes));
        }
        let error = store(&double).read().await.expect_err(case);
        told(
            &error,
            StoreErrorKind::Damaged,
            &[part, "delete the Secret tfstate-default-pool ", "state push"],
        );
        assert!(double.seen().iter().all(|seen| matches!(seen.verb.as_str(), "list" | "get")), "{case}");
    }
}

#[tokio::test]
async fn secrets_that_no_part_can_be_are_an_error() {
    for name in ["tfstate-default-pool-part-01", "backup-of-pool", "tfstate-default-pool-copy"] {
        let double = Double::start();
        double.put("secrets", NAMESPACE, SECRET, terraform_secret(&gzip(STATE)));
        double.put("secrets", NAMESPACE, name, terraform_secret(&gzip(STATE)));
        told(&store(&double).read().await.unwrap_err(), StoreErrorKind::Damaged, &[name]);
    }
    let double = Double::start();
    let mut secret = terraform_secret(b"");
    secret["data"] = json!({ "something": "eA==" });
    double.put("secrets", NAMESPACE, SECRET, secret);
    told(&store(&double).read().await.unwrap_err(), StoreErrorKind::Damaged, &["key tfstate"]);
}

#[tokio::test]
async fn a_state_that_does_not_fit_is_refused_with_the_number() {
    let double = Double::start();
    let noise = noise(150_000);
    let size = gzip(&noise).len();
    assert!(size > 1_048_576);
    let error = store(&double).write(noise.as_bytes(), None).await.unwrap_err();
    told(&error, StoreErrorKind::TooLarge, &["1048576", SECRET]);
    assert_eq!(double.calls(), <[String; 0]>::default());
}

#[tokio::test]
async fn a_rehearsal_asks_for_the_same_rights_and_changes_nothing() {
    let double = Double::start();
    let store = store(&double);
    store.rehearse(STATE.as_bytes(), None).await.unwrap();
    assert_eq!(double.names("secrets", NAMESPACE), <[String; 0]>::default());
    let (stored, _) = store.write(STATE.as_bytes(), None).await.unwrap();
    double.seen();
    store.rehearse(b"{}", Some(&stored)).await.unwrap();
    assert_eq!(gunzip(&data(&double, SECRET)), STATE);
    let seen = double.seen();
    assert_eq!((seen[0].verb.as_str(), seen[0].dry_run, seen.len()), ("update", true, 1));
    double.fail("update", "secrets", Fault::Status(403));
    told(&store.rehearse(b"{}", Some(&stored)).await.unwrap_err(), StoreErrorKind::Denied, &["\"update\""]);
    double.heal();
    double.edit("secrets", NAMESPACE, SECRET, |secret| secret["metadata"]["labels"]["x"] = "y".into());
    store.rehearse(b"{}", Some(&stored)).await.unwrap();
    double.edit("secrets", NAMESPACE, SECRET, |secret| secret["data"]["tfstate"] = "eA==".into());
    told(&store.rehearse(b"{}", Some(&stored)).await.unwrap_err(), StoreErrorKind::Conflict, &[]);
}

#[tokio::test]
async fn where_a_webhook_refuses_dry_runs_a_secret_is_replaced_by_itself() {
    let double = Double::start();
    let store = store(&double);
    double.fail("create", "secrets", Fault::NoDryRun);
    store.rehearse(STATE.as_bytes(), None).await.unwrap();
    assert_eq!(double.object("secrets", NAMESPACE, SECRET), None, "there is nothing to lose");
    let (stored, _) = store.write(STATE.as_bytes(), None).await.unwrap();
    let before = double.object("secrets", NAMESPACE, SECRET).unwrap();

    double.fail("update", "secrets", Fault::NoDryRun);
    double.seen();
    store.rehearse(b"{}", Some(&stored)).await.unwrap();
    assert_eq!(double.seen().iter().map(|seen| seen.dry_run).collect::<Vec<_>>(), [true, false]);
    assert_eq!(double.object("secrets", NAMESPACE, SECRET).unwrap(), before);

    // What the webhook says of a write that is none is the answer.
    double.heal();
    double.fail_times("update", "secrets", 1, Fault::NoDryRun);
    double.fail("update", "secrets", Fault::Status(403));
    told(&store.rehearse(b"{}", Some(&stored)).await.unwrap_err(), StoreErrorKind::Denied, &["\"update\""]);
    double.heal();
    double.fail("update", "secrets", Fault::NoDryRun);
    double.edit("secrets", NAMESPACE, SECRET, |secret| secret["metadata"]["labels"]["theirs"] = json!("x"));
    store.rehearse(b"{}", Some(&stored)).await.unwrap();
    double.edit("secrets", NAMESPACE, SECRET, |secret| secret["data"]["tfstate"] = json!("dGhlaXJz"));
    told(&store.rehearse(b"{}", Some(&stored)).await.unwrap_err(), StoreErrorKind::Conflict, &[]);
}

#[tokio::test]
async fn labels_annotations_and_owners_of_others_are_no_conflict() {
    let double = Double::start();
    let packed = gzip(&noise(100));
    put_parts(&double, &[&packed[..300], &packed[300..]]);
    let store = store(&double);
    let read = store.read().await.unwrap().unwrap();
    let owner = json!([{ "apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "u-1" }]);
    for name in [SECRET, &format!("{SECRET}-part-1")] {
        double.edit("secrets", NAMESPACE, name, |secret| {
            secret["metadata"]["labels"]["team"] = "b".into();
            secret["metadata"]["ownerReferences"] = owner.clone();
            secret["data"]["other"] = "eA==".into();
        });
    }
    // And again, while it is written.
    double.fail_times("update", "secrets", 3, Fault::Annotated);
    let (stored, warning) = store.write(STATE.as_bytes(), Some(&read)).await.unwrap();
    assert_eq!(warning, None);
    let secret = double.object("secrets", NAMESPACE, SECRET).unwrap();
    assert_eq!(gunzip(&data(&double, SECRET)), STATE);
    assert_eq!(secret["metadata"]["labels"]["team"], "b");
    assert_eq!(secret["metadata"]["ownerReferences"], owner);
    assert!(secret["metadata"]["annotations"]["touched"].is_string());
    assert_eq!(secret["data"]["other"], "eA==");
    assert_eq!(secret["metadata"]["resourceVersion"], stored.resource_version());
    assert_eq!(double.names("secrets", NAMESPACE), [SECRET], "the part went, with its new version");
    // Whoever never stops is not fought for ever.
    double.fail("update", "secrets", Fault::Annotated);
    told(&store.write(b"{}", Some(&stored)).await.unwrap_err(), StoreErrorKind::Conflict, &[SECRET]);
    assert_eq!(gunzip(&data(&double, SECRET)), STATE);
}

#[tokio::test]
async fn a_changed_part_and_a_secret_made_anew_are_conflicts() {
    let packed = gzip(&noise(100));
    let part = format!("{SECRET}-part-1");
    for case in ["changed", "gone", "anew"] {
        let double = Double::start();
        put_parts(&double, &[&packed[..300], &packed[300..]]);
        let store = store(&double);
        let read = store.read().await.unwrap().unwrap();
        match case {
            "changed" => {
                double.edit("secrets", NAMESPACE, &part, |secret| secret["data"]["tfstate"] = "eA==".into());
            }
            "gone" => double.remove("secrets", NAMESPACE, &part),
            _ => double.put("secrets", NAMESPACE, SECRET, terraform_secret(&packed[..300])),
        }
        double.fail_times("update", "secrets", 1, Fault::Annotated);
        let error = store.write(STATE.as_bytes(), Some(&read)).await.expect_err(case);
        told(&error, StoreErrorKind::Conflict, &["somebody else"]);
        assert_eq!(data(&double, SECRET), &packed[..300], "{case}");
    }
}
