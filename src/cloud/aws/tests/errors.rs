//! What failures say, and what they keep to themselves.

use aws_credential_types::{
    Credentials,
    provider::{ProvideCredentials, SharedCredentialsProvider, error::CredentialsError, future},
};

use super::{Canned, always, config, query_error, reply};
use crate::{
    cloud::{
        Cloud as _, ErrorKind,
        aws::{Aws, Patience},
    },
    contract::payload::Payload,
    model::resources::Write,
};

#[tokio::test]
async fn throttling_is_retried_and_named_even_as_http_400() {
    let canned = Canned::new(|_| reply(400, query_error("Throttling", "Rate exceeded")));
    let error = canned.aws(4).group("g").await.unwrap_err();
    assert_eq!((error.kind, canned.sent().len()), (ErrorKind::Throttled, 4));
    let canned =
        Canned::new(|_| reply(400, query_error("ValidationError", "Invalid IAM Instance Profile name")));
    let error = canned.aws(4).group("g").await.unwrap_err();
    assert_eq!((error.kind, canned.sent().len()), (ErrorKind::Validation, 1));
}

#[tokio::test]
async fn an_error_names_operation_resource_region_code_and_request() {
    let (aws, _) = always(403, query_error("AccessDenied", "User x is not authorized"));
    let error = aws.perform(&Write::DeleteGroup { group: "g".into(), force: false }).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "autoscaling:DeleteAutoScalingGroup of Auto Scaling group g in eu-west-1 failed: \
         AccessDenied: User x is not authorized (request req-1)"
    );
}

#[tokio::test]
async fn answers_without_a_code_prove_nothing_and_are_never_repeated() {
    for (status, kind) in [
        (401, ErrorKind::NotAws),
        (403, ErrorKind::NotAws),
        (404, ErrorKind::NotAws),
        (429, ErrorKind::Throttled),
        (500, ErrorKind::Server),
        (502, ErrorKind::Server),
    ] {
        let (aws, _) = always(status, "<!doctype html><p>planted-secret</p>");
        let error = aws.group("g").await.unwrap_err();
        assert_eq!((error.kind, error.code), (kind, format!("HTTP {status}")));
        let error = aws.group("g").await.unwrap_err();
        assert!(!format!("{error}{error:?}").contains("planted"), "{error:?}");
    }
}

#[tokio::test]
async fn a_head_without_a_body_is_an_answer_all_the_same() {
    let canned = Canned::new(|request| {
        let is_head = request.method == "HEAD";
        reply(403, if is_head { "" } else { "<Error><Code>AccessDenied</Code><Message>no</Message></Error>" })
    });
    let aws = canned.aws(1);
    let error = aws.object("bucket", "key").await.unwrap_err();
    assert_eq!((error.kind, &*error.code), (ErrorKind::AccessDenied, "HTTP 403"));
    let told = crate::error::Failure::from(error).diagnostics.remove(0);
    assert!(told.summary.ends_with("failed: HTTP 403"), "{told:?}");
    assert!(told.detail.contains("was answered with HTTP 403: The credentials need"), "{told:?}");
    let (aws, _) = always(200, "not xml");
    let error = aws.group("g").await.unwrap_err();
    assert_eq!(error.code, "HTTP 200");
}

#[tokio::test]
async fn neither_payload_nor_credentials_get_into_an_error() {
    for (status, body) in [(200, "not xml"), (400, "planted"), (503, ""), (301, "")] {
        let (aws, _) = always(status, body);
        let body = Payload::new(b"planted-token".to_vec());
        let write = Write::PutObject { bucket: "bucket".into(), key: "k".into(), body, tags: [].into() };
        if let Err(error) = aws.perform(&write).await {
            assert!(!format!("{error}{error:?}").contains("planted"), "{error:?}");
        }
    }
}

#[tokio::test]
async fn an_endpoint_that_is_no_url_shows_neither_itself_nor_the_request() {
    for endpoint in ["nonsense", "user:planted-password@", "http://planted word/", "http://[planted"] {
        let canned = Canned::new(|_| reply(200, ""));
        let credentials = SharedCredentialsProvider::new(Credentials::new("a", "b", None, None, "tests"));
        let config = config(&canned, 3, credentials).into_builder().endpoint_url(endpoint).build();
        let body = Payload::new(b"planted-token".to_vec());
        let write = Write::PutObject { bucket: "bucket".into(), key: "k".into(), body, tags: [].into() };
        let aws = Aws::from_config(config);
        for error in [aws.perform(&write).await.unwrap_err(), aws.group("planted").await.unwrap_err()] {
            let told = format!("{}{}{:?}", error.message, error.code, error.kind);
            assert!(!told.contains("planted") && !told.contains("SdkBody"), "{told}");
            assert_eq!(error.kind, ErrorKind::Settings, "{endpoint}: {told}");
            assert!(error.message.contains("AWS_ENDPOINT_URL_S3"), "{told}");
        }
        assert!(canned.sent().is_empty());
    }
}

#[tokio::test]
async fn a_refused_signature_does_not_show_the_request_with_its_session_token() {
    let message = "The request signature we calculated does not match the signature you provided. Check your AWS \
                   Secret Access Key and signing method.\n\nThe Canonical String for this request should have been\n\
                   'POST\n/\n\nhost:autoscaling.eu-west-1.amazonaws.com\nx-amz-date:20260102T030405Z\n\
                   x-amz-security-token:planted-session-token\n\n'\n\nThe String-to-Sign should have been\n'AWS4-...'";
    let (aws, _) = always(403, query_error("SignatureDoesNotMatch", message));
    let error = aws.group("g").await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Credentials);
    assert!(error.message.ends_with("Check your AWS Secret Access Key and signing method."), "{error}");
    assert!(!format!("{error}{error:?}").contains("planted"), "{error:?}");
}

#[derive(Debug)]
struct Broken(fn() -> CredentialsError);

impl ProvideCredentials for Broken {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::ready(Err((self.0)()))
    }
}

#[tokio::test]
async fn failing_credentials_say_what_to_set_and_nothing_is_sent() {
    let cases: [fn() -> CredentialsError; 4] = [
        || CredentialsError::not_loaded("planted"),
        || CredentialsError::provider_timed_out(std::time::Duration::from_secs(5)),
        || CredentialsError::invalid_configuration("profile x loops"),
        || CredentialsError::provider_error("STS said no."),
    ];
    for case in cases {
        let canned = Canned::new(|_| reply(200, ""));
        let aws = Aws::from_config(config(&canned, 3, SharedCredentialsProvider::new(Broken(case))));
        let error = aws.group("g").await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Credentials, "{error}");
        assert!(error.message.contains("AWS_PROFILE"), "{error}");
        assert!(!error.message.contains("planted"), "{error}");
        assert!(canned.sent().is_empty());
    }
}

#[tokio::test]
async fn a_zone_is_no_region() {
    let error = Aws::connect(Some("us-east-1a"), Patience::Long).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Settings);
    assert!(error.message.contains("us-east-1a"), "{error}");
    assert_eq!(Aws::connect(Some("us-gov-west-1"), Patience::Long).await.unwrap().region(), "us-gov-west-1");
}
