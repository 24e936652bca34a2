//! The bootstrap object: what two answers together mean.

use std::collections::BTreeMap;

use super::{Canned, Reply, reply, s3_error};
use crate::{
    cloud::{Cloud as _, CloudError, ErrorKind},
    contract::payload::Payload,
    model::{
        observed::Object,
        resources::{Answer, Write},
    },
};

const TAGS: &str = "<Tagging><TagSet><Tag><Key>captf.io/name</Key><Value>b</Value></Tag></TagSet></Tagging>";

async fn read(head: Reply, tagging: Reply) -> Result<Object, CloudError> {
    let canned = Canned::new(move |sent| if sent.method == "HEAD" { head.clone() } else { tagging.clone() });
    let result = canned.aws(1).object("bucket.with.dots", "pool/b").await;
    assert_eq!(canned.sent().len(), 2);
    for sent in canned.sent() {
        assert!(sent.uri.contains("eu-west-1.amazonaws.com/bucket.with.dots/pool/b"), "{}", sent.uri);
    }
    result
}

fn header(status: u16, name: &'static str, value: &'static str) -> Reply {
    (status, vec![(name, value)], String::new())
}

#[tokio::test]
async fn present_with_the_sum_of_the_whole_object_only() {
    let sum = |headers: Vec<(&'static str, &'static str)>| async move {
        match read((200, headers, String::new()), reply(200, TAGS)).await.unwrap() {
            Object::Present { sha256, tags, .. } => {
                assert_eq!(tags, BTreeMap::from([("captf.io/name".to_owned(), "b".to_owned())]));
                sha256
            }
            Object::Missing => panic!("missing"),
        }
    };
    let name = "x-amz-checksum-sha256";
    assert_eq!(sum(vec![(name, "c3Vt")]).await.as_deref(), Some("c3Vt"));
    assert_eq!(
        sum(vec![(name, "c3Vt"), ("x-amz-checksum-type", "FULL_OBJECT")]).await.as_deref(),
        Some("c3Vt")
    );
    assert_eq!(sum(vec![(name, "c3Vt-2")]).await, None);
    assert_eq!(sum(vec![(name, "c3Vt"), ("x-amz-checksum-type", "COMPOSITE")]).await, None);
    assert_eq!(sum(vec![]).await, None);
}

#[tokio::test]
async fn missing_object_and_missing_bucket_are_two_things() {
    assert_eq!(read(reply(404, ""), reply(404, s3_error("NoSuchKey"))).await.unwrap(), Object::Missing);
    assert_eq!(
        read(reply(404, ""), reply(405, s3_error("MethodNotAllowed"))).await.unwrap(),
        Object::Missing
    );
    // Gone, or made, between the two.
    assert_eq!(read(reply(200, ""), reply(404, s3_error("NoSuchKey"))).await.unwrap(), Object::Missing);
    assert_eq!(read(reply(404, ""), reply(200, TAGS)).await.unwrap(), Object::Missing);
    let error = read(reply(404, ""), reply(404, s3_error("NoSuchBucket"))).await.unwrap_err();
    assert_eq!((error.kind, error.code.as_str()), (ErrorKind::NotFound, "NoSuchBucket"));
    // A server that says so of everything, and is not S3.
    for (head, tagging) in [(404, 404), (403, 403), (404, 403)] {
        let error = read(reply(head, ""), reply(tagging, "")).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::NotAws, "{error}");
    }
    // Not known which of the two: no answer at all.
    let error = read(reply(404, ""), reply(503, s3_error("SlowDown"))).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Throttled);
}

#[tokio::test]
async fn denied_is_never_missing() {
    let error = read(reply(403, ""), reply(403, s3_error("AccessDenied"))).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::AccessDenied);
    assert!(error.message.contains("s3:GetObject") && error.message.contains("s3:ListBucket"), "{error}");
    let error = read(reply(403, ""), reply(404, s3_error("NoSuchKey"))).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::AccessDenied);
    let error = read(reply(200, ""), reply(403, s3_error("AccessDenied"))).await.unwrap_err();
    assert_eq!((error.kind, error.operation), (ErrorKind::AccessDenied, "s3:GetObjectTagging"));
    let error = read(reply(403, ""), reply(403, s3_error("InvalidAccessKeyId"))).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Credentials);
}

#[tokio::test]
async fn a_bucket_elsewhere_is_named_with_its_region() {
    let region = |status| header(status, "x-amz-bucket-region", "us-east-2");
    for head in [region(301), region(400)] {
        let error = read(head, reply(301, s3_error("PermanentRedirect"))).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::WrongRegion);
        assert!(error.message.contains("us-east-2"), "{error}");
    }
    let error = read(reply(301, ""), reply(301, "")).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::WrongRegion);
    // A session that has expired is a 400 too.
    let error = read(reply(400, ""), reply(400, s3_error("ExpiredToken"))).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Credentials);
    let head = header(400, "x-amz-bucket-region", "eu-west-1");
    let error = read(head, reply(400, s3_error("InvalidRequest"))).await.unwrap_err();
    assert_eq!(error.code, "InvalidRequest");
}

#[tokio::test]
async fn the_object_is_written_whole_in_one_request() {
    let canned = Canned::new(|_| reply(200, ""));
    let body = Payload::new(b"#cloud-config\r\n\0\xff".to_vec());
    let tags = BTreeMap::from([
        ("a b".to_owned(), "c+d=e&f/\u{fc}".to_owned()),
        ("captf.io/template".to_owned(), String::new()),
    ]);
    let write = Write::PutObject { bucket: "bucket".into(), key: "pool/b".into(), body: body.clone(), tags };
    assert_eq!(canned.aws(1).perform(&write).await.unwrap(), Answer::Done);
    let [sent] = &canned.sent()[..] else { panic!("one request") };
    let headers = &sent.headers;
    assert_eq!(sent.method, "PUT");
    assert_eq!(headers["content-type"], "application/octet-stream");
    assert_eq!(headers["x-amz-server-side-encryption"], "AES256");
    assert_eq!(headers["x-amz-checksum-sha256"], body.sha256());
    assert_eq!(headers["x-amz-sdk-checksum-algorithm"], "SHA256");
    assert_eq!(headers["x-amz-tagging"], "a%20b=c%2Bd%3De%26f%2F%C3%BC&captf.io%2Ftemplate=");
    assert!(!headers.keys().any(|name| name.contains("crc")), "one checksum only: {headers:?}");
    assert_eq!(sent.body, body.expose());
}
