//! S3.

use super::*;

fn put(body: &str, tags: Tags) -> Write {
    Write::PutObject { bucket: "bootstrap".to_owned(), key: "pool/a".to_owned(), body: payload(body), tags }
}

#[test]
fn an_object_keeps_checksum_encryption_and_tags_but_not_its_body() {
    let lab = Lab::new();
    assert_eq!(run(lab.sandbox.object("bootstrap", "pool/a")).unwrap(), Object::Missing);
    lab.perform(&put("join-token-4711", tags(&[("captf.io/name", "a")]))).unwrap();
    let expected = Object::Present {
        sha256: Some(payload("join-token-4711").sha256()),
        content_type: Some("application/octet-stream".to_owned()),
        encryption: Some("AES256".to_owned()),
        tags: tags(&[("captf.io/name", "a")]),
    };
    assert_eq!(run(lab.sandbox.object("bootstrap", "pool/a")).unwrap(), expected);
    assert!(!serde_json::to_string(&lab.sandbox.world()).unwrap().contains("4711"));
    lab.perform(&put("other", Tags::new())).unwrap();
    let Object::Present { sha256, tags, .. } = run(lab.sandbox.object("bootstrap", "pool/a")).unwrap() else {
        panic!("it is there");
    };
    assert_eq!((sha256, tags), (Some(payload("other").sha256()), Tags::new()));
}

#[test]
fn an_unknown_bucket_is_an_error_for_reads_and_writes() {
    let lab = Lab::new();
    let (bucket, key) = ("none".to_owned(), "pool/a".to_owned());
    let read = run(lab.sandbox.object("none", "pool/a")).unwrap_err();
    let write =
        Write::PutObject { bucket: bucket.clone(), key: key.clone(), body: payload("x"), tags: Tags::new() };
    let delete = Write::DeleteObject { bucket, key };
    for error in [read, lab.refusal(&write), lab.refusal(&delete)] {
        assert_eq!((error.code.as_str(), error.kind), ("NoSuchBucket", ErrorKind::NotFound));
        assert_eq!(error.resource, "S3 object s3://none/pool/a");
    }
}

#[test]
fn deleting_an_object_twice_is_fine() {
    let lab = Lab::new();
    lab.perform(&put("x", Tags::new())).unwrap();
    for _ in 0..2 {
        let delete = Write::DeleteObject { bucket: "bootstrap".to_owned(), key: "pool/a".to_owned() };
        lab.perform(&delete).unwrap();
        assert_eq!(run(lab.sandbox.object("bootstrap", "pool/a")).unwrap(), Object::Missing);
    }
}

#[test]
fn limits_on_object_tags_hold() {
    let lab = Lab::new();
    let many = |count: usize| (0..count).map(|n| (format!("t{n}"), String::new())).collect::<Tags>();
    lab.perform(&put("x", many(10))).unwrap();
    assert_eq!(lab.refusal(&put("y", many(11))).code, "BadRequest");
    for (key, value) in [("aws:x", "v"), ("k", "a,b"), ("", "v")] {
        assert_eq!(lab.refusal(&put("y", tags(&[(key, value)]))).code, "InvalidTag");
    }
    let Object::Present { sha256, .. } = run(lab.sandbox.object("bootstrap", "pool/a")).unwrap() else {
        panic!("it is there");
    };
    assert_eq!(sha256, Some(payload("x").sha256()), "a refused write changes nothing");
}
