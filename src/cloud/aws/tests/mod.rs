//! The adapter against canned HTTP answers: what goes over the wire, and what its answers mean.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use aws_config::{BehaviorVersion, Region, SdkConfig, retry::RetryConfig};
use aws_credential_types::{Credentials, provider::SharedCredentialsProvider};
use aws_smithy_runtime_api::client::{
    http::{HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector},
    orchestrator::{HttpRequest, HttpResponse},
    runtime_components::RuntimeComponents,
};
use aws_smithy_types::body::SdkBody;
use percent_encoding::percent_decode_str;

use super::Aws;

mod errors;
mod inspect;
mod objects;
mod reads;
mod silent;
mod writes;

/// One request as it was sent.
#[derive(Clone, Debug)]
struct Sent {
    method: String,
    uri: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl Sent {
    /// The fields of a query-protocol request, without the API's version.
    fn fields(&self) -> BTreeMap<String, String> {
        let body = std::str::from_utf8(&self.body).unwrap();
        let decoded = |text: &str| percent_decode_str(text).decode_utf8().unwrap().into_owned();
        body.split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (decoded(name), decoded(value)))
            .filter(|(name, _)| name != "Version")
            .collect()
    }
}

/// Status, headers, body.
type Reply = (u16, Vec<(&'static str, &'static str)>, String);

fn reply(status: u16, body: impl Into<String>) -> Reply {
    (status, Vec::new(), body.into())
}

/// An error as the Auto Scaling API words it.
fn query_error(code: &str, message: &str) -> String {
    format!(
        "<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error>\
         </ErrorResponse>"
    )
}

/// An error as the EC2 API words it.
fn ec2_error(code: &str, message: &str) -> String {
    format!(
        "<Response><Errors><Error><Code>{code}</Code><Message>{message}</Message></Error></Errors></Response>"
    )
}

/// An error as S3 words it.
fn s3_error(code: &str) -> String {
    format!("<Error><Code>{code}</Code><Message>said {code}</Message></Error>")
}

/// Answers requests from a function and keeps them.
#[derive(Clone)]
struct Canned {
    answer: Arc<dyn Fn(&Sent) -> Reply + Send + Sync>,
    sent: Arc<Mutex<Vec<Sent>>>,
}

impl fmt::Debug for Canned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Canned")
    }
}

impl HttpConnector for Canned {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let sent = Sent {
            method: request.method().to_owned(),
            uri: request.uri().to_owned(),
            headers: request.headers().iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect(),
            body: request.body().bytes().unwrap_or_default().to_vec(),
        };
        let (status, headers, body) = (self.answer)(&sent);
        self.sent.lock().unwrap().push(sent);
        let mut response = HttpResponse::new(status.try_into().unwrap(), SdkBody::from(body));
        response.headers_mut().insert("x-amzn-requestid", "req-1");
        for (name, value) in headers {
            response.headers_mut().insert(name, value);
        }
        HttpConnectorFuture::ready(Ok(response))
    }
}

impl HttpClient for Canned {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl Canned {
    fn new(answer: impl Fn(&Sent) -> Reply + Send + Sync + 'static) -> Self {
        Self { answer: Arc::new(answer), sent: Arc::default() }
    }

    fn sent(&self) -> Vec<Sent> {
        self.sent.lock().unwrap().clone()
    }

    /// An adapter that talks to this, with so many attempts a call.
    fn aws(&self, attempts: u32) -> Aws {
        let credentials = Credentials::new("AKIDEXAMPLE", "planted-secret", None, None, "tests");
        Aws::from_config(config(self, attempts, SharedCredentialsProvider::new(credentials)))
    }
}

fn config(canned: &Canned, attempts: u32, credentials: SharedCredentialsProvider) -> SdkConfig {
    let retry = RetryConfig::standard()
        .with_max_attempts(attempts)
        .with_initial_backoff(Duration::from_millis(1))
        .with_max_backoff(Duration::from_millis(1));
    SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("eu-west-1"))
        .credentials_provider(credentials)
        .retry_config(retry)
        .http_client(canned.clone())
        .build()
}

/// An adapter and its double that answers everything alike.
fn always(status: u16, body: impl Into<String>) -> (Aws, Canned) {
    let body = body.into();
    let canned = Canned::new(move |_| reply(status, body.clone()));
    (canned.aws(1), canned)
}
