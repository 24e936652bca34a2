//! The one place where an SDK error becomes a [`CloudError`]. Raw responses and debug prints never
//! get in: both can hold what was sent.

use std::{error::Error, fmt::Write as _};

use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_ec2::{error::ProvideErrorMetadata, operation::RequestId as _};
use aws_smithy_runtime_api::client::{orchestrator::HttpResponse, result::SdkError};

use crate::cloud::{CloudError, ErrorKind, operations};

/// A failed call, with what only the HTTP answer tells.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    /// What it means.
    pub(super) error: CloudError,
    /// HTTP status, if there was an answer.
    pub(super) status: Option<u16>,
    /// Where S3 says that the bucket lies.
    pub(super) bucket_region: Option<String>,
}

/// What was asked of AWS, to be named when it fails.
#[derive(Clone, Debug)]
pub(super) struct Asked<'a> {
    /// Service and operation in IAM's spelling.
    pub(super) operation: &'static str,
    /// What it is done to.
    pub(super) resource: String,
    /// Region of the call.
    pub(super) region: &'a str,
}

impl Asked<'_> {
    /// An error in our own words, about an answer of AWS or for want of one.
    pub(super) fn failed(&self, kind: ErrorKind, message: impl Into<String>) -> CloudError {
        CloudError {
            operation: self.operation,
            resource: self.resource.clone(),
            region: self.region.to_owned(),
            kind,
            code: String::new(),
            message: message.into(),
            request_id: None,
        }
    }

    /// What the SDK's error means.
    pub(super) fn failure<E>(&self, error: &SdkError<E, HttpResponse>) -> Failure
    where
        E: ProvideErrorMetadata + Error + 'static,
    {
        let response = error.raw_response();
        let bucket_region = response.and_then(|response| response.headers().get("x-amz-bucket-region"));
        let bucket_region = bucket_region.filter(|region| !region.is_empty()).map(str::to_owned);
        let status = response.map(|response| response.status().as_u16());
        let request_id = error.request_id().map(str::to_owned);
        let error = CloudError { request_id, ..self.error(error, status) };
        let mut failure = Failure { error, status, bucket_region };
        if let (ErrorKind::WrongRegion, Some(region)) = (failure.error.kind, &failure.bucket_region) {
            let _ = write!(failure.error.message, " (the bucket is in {region})");
        }
        failure
    }

    fn error<E>(&self, error: &SdkError<E, HttpResponse>, status: Option<u16>) -> CloudError
    where
        E: ProvideErrorMetadata + Error + 'static,
    {
        match (error, status) {
            (SdkError::TimeoutError(_), _) => self.failed(ErrorKind::Network, "no answer in time"),
            (SdkError::ServiceError(service), Some(status)) => {
                let meta = service.err().meta();
                let (code, message) = (meta.code().unwrap_or_default(), meta.message().unwrap_or_default());
                self.answered(status, code, message)
            }
            (_, Some(status)) => {
                let kind = match kind_of_status(status) {
                    // Cut off, or not from AWS at all; whether it took effect is not known.
                    ErrorKind::Other => ErrorKind::Network,
                    kind => kind,
                };
                let error = self.failed(kind, "the answer cannot be read");
                CloudError { code: CloudError::code_of_status(status), ..error }
            }
            (_, None) => self.unanswered(error),
        }
    }

    fn answered(&self, status: u16, code: &str, message: &str) -> CloudError {
        // The SDK's own word for a 404 of S3 without a body. S3 has none but for a HEAD.
        let code = if code == "NotFound" && message.is_empty() { "" } else { code };
        let kind = match ErrorKind::classify(code, message) {
            ErrorKind::Other if code.is_empty() && self.operation != operations::HEAD_OBJECT => {
                kind_without_code(status)
            }
            ErrorKind::Other => kind_of_status(status),
            kind => kind,
        };
        let message = match without_request(message) {
            "" if kind == ErrorKind::NotAws => NOT_AWS.to_owned(),
            "" => "an answer without a message".to_owned(),
            message => message.to_owned(),
        };
        let code = if code.is_empty() { CloudError::code_of_status(status) } else { code.to_owned() };
        CloudError { code, ..self.failed(kind, message) }
    }

    fn unanswered<E>(&self, error: &SdkError<E, HttpResponse>) -> CloudError
    where
        E: Error + 'static,
    {
        if let Some(credentials) = find_cause::<CredentialsError>(error) {
            return self.failed(ErrorKind::Credentials, credentials_message(credentials));
        }
        let causes = causes(error);
        match error {
            _ if NO_ENDPOINT.iter().any(|words| causes.contains(words)) => {
                self.failed(ErrorKind::Settings, NOT_A_URL)
            }
            SdkError::DispatchFailure(_) => {
                self.failed(ErrorKind::Network, format!("no connection to AWS: {causes}"))
            }
            _ => self.failed(ErrorKind::Other, format!("the request could not be made: {causes}")),
        }
    }
}

/// How the SDK begins to say that an endpoint is no URL. It goes on with the endpoint, which may hold a password,
/// or even with the whole request, which may hold the bootstrap data.
const NO_ENDPOINT: [&str; 2] = ["failed to apply endpoint", "Custom endpoint `"];

const NOT_A_URL: &str = "The endpoint that is set for a service is not a URL: see AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_S3 \
                         and the like in the environment, and endpoint_url in the profile.";

const NOT_AWS: &str = "What answered is not AWS: its answer has no error code of AWS's in it.";

/// What an answer without any code means. All of AWS's services have one in each answer, but for a `HEAD` and where a
/// load balancer is too busy to ask them.
fn kind_without_code(status: u16) -> ErrorKind {
    match status {
        429 => ErrorKind::Throttled,
        500.. => ErrorKind::Server,
        _ => ErrorKind::NotAws,
    }
}

/// What an answer without a known code means. A `HEAD` never has a code.
fn kind_of_status(status: u16) -> ErrorKind {
    match status {
        301 | 307 | 308 => ErrorKind::WrongRegion,
        401 => ErrorKind::Credentials,
        403 => ErrorKind::AccessDenied,
        404 => ErrorKind::NotFound,
        429 => ErrorKind::Throttled,
        500.. => ErrorKind::Server,
        _ => ErrorKind::Other,
    }
}

fn credentials_message(error: &CredentialsError) -> String {
    const HOW: &str = "give the pod an IAM role (IRSA or EKS Pod Identity), or set AWS_PROFILE, or \
                       AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
    let what = match error {
        CredentialsError::CredentialsNotLoaded(_) => "no AWS credentials were found".to_owned(),
        CredentialsError::ProviderTimedOut(timeout) => {
            format!("no AWS credentials within {} s", timeout.timeout_duration().as_secs())
        }
        CredentialsError::InvalidConfiguration(_) => {
            format!("the configuration of AWS credentials is not valid: {}", causes(error))
        }
        _ => format!("AWS credentials could not be fetched: {}", causes(error)),
    };
    format!("{}; {HOW}", what.trim_end_matches('.'))
}

/// What a `credential_process` wrote to its standard error can hold anything, also what it fetched.
fn without_stderr(text: &str) -> String {
    text.split("Stderr:").next().unwrap_or_default().trim_end().to_owned()
}

/// Nothing with the SDK's debug print of a request or a body in it, whoever put it there.
fn without_debug(text: &str) -> String {
    let begin = ["Request {", "Response {", "SdkBody"].into_iter().filter_map(|name| text.find(name)).min();
    match begin {
        None => text.to_owned(),
        Some(begin) => format!("{}(not shown)", &text[..begin]),
    }
}

/// A refused signature is explained with the request as AWS read it, and so with the session token among its headers.
fn without_request(message: &str) -> &str {
    let end = ["The Canonical String", "The canonical string", "The String-to-Sign", "The string to sign"]
        .into_iter()
        .filter_map(|words| message.find(words))
        .min();
    message.get(..end.unwrap_or(message.len())).unwrap_or(message).trim_end()
}

fn find_cause<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    std::iter::successors(Some(error), |&error| error.source()).find_map(|error| error.downcast_ref())
}

/// The innermost cause of an error: what went wrong, without what it went wrong in.
pub(super) fn root_cause(error: &(dyn Error + 'static)) -> String {
    let root = std::iter::successors(Some(error), |&error| error.source()).last();
    root.map(|root| without_debug(&without_stderr(&root.to_string()))).unwrap_or_default()
}

/// The causes of an error, outermost first, each said once.
fn causes(error: &(dyn Error + 'static)) -> String {
    let mut told: Vec<String> = Vec::new();
    for cause in std::iter::successors(error.source(), |&error| error.source()) {
        let text = without_debug(&without_stderr(&cause.to_string()));
        if !told.iter().any(|earlier| earlier.contains(&text)) {
            told.push(text);
        }
    }
    if told.is_empty() { error.to_string() } else { told.join(": ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_credential_process_says_stays_with_it() {
        let told = "Error retrieving credentials: external process exited with code 1. Stderr: token=hunter2";
        assert_eq!(
            without_stderr(told),
            "Error retrieving credentials: external process exited with code 1."
        );
        assert_eq!(without_stderr("plain"), "plain");
    }

    #[test]
    fn a_debug_print_is_left_out() {
        assert_eq!(without_debug("sent `Request { body: SdkBody { .. } }`"), "sent `(not shown)");
        assert_eq!(without_debug("tcp connect error"), "tcp connect error");
    }
}
