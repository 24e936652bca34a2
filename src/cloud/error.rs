//! One error type for every AWS call: what was done to which resource, AWS's words, what kind it is.

use std::fmt;

/// What a failed call means for the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The thing named is not there.
    NotFound,
    /// There is one of that name already.
    AlreadyExists,
    /// The credentials do not allow it.
    AccessDenied,
    /// An instance refresh is active.
    RefreshInProgress,
    /// No instance refresh is active.
    NoActiveRefresh,
    /// Something still uses it, or a scaling activity runs.
    InUse,
    /// The request was refused as wrong.
    Validation,
    /// Too many requests, still after retries.
    Throttled,
    /// AWS's own fault, still after retries.
    Server,
    /// No usable credentials.
    Credentials,
    /// No answer: connection, TLS, time-out.
    Network,
    /// The bucket lies in another region.
    WrongRegion,
    /// Anything else.
    Other,
}

impl ErrorKind {
    /// Classifies AWS's error code. `message` decides where one code has several meanings.
    pub fn classify(code: &str, message: &str) -> Self {
        match code {
            "AlreadyExists" | "AlreadyExistsFault" | "InvalidLaunchTemplateName.AlreadyExistsException" => {
                Self::AlreadyExists
            }
            "AccessDenied"
            | "AccessDeniedException"
            | "UnauthorizedOperation"
            | "AuthFailure.ServiceLinkedRoleCreationNotPermitted"
            | "Forbidden" => Self::AccessDenied,
            "InstanceRefreshInProgress" | "InstanceRefreshInProgressFault" => Self::RefreshInProgress,
            "ActiveInstanceRefreshNotFound" | "ActiveInstanceRefreshNotFoundFault" => Self::NoActiveRefresh,
            "ResourceInUse"
            | "ResourceInUseFault"
            | "ScalingActivityInProgress"
            | "ScalingActivityInProgressFault"
            | "ResourceContention"
            | "ResourceContentionFault" => Self::InUse,
            "NoSuchKey"
            | "NoSuchBucket"
            | "NotFound"
            | "InvalidLaunchTemplateId.VersionNotFound"
            | "launchTemplateVersionDoesNotExist" => Self::NotFound,
            "PermanentRedirect" | "AuthorizationHeaderMalformed" | "IllegalLocationConstraintException" => {
                Self::WrongRegion
            }
            "AuthFailure"
            | "ExpiredToken"
            | "ExpiredTokenException"
            | "InvalidClientTokenId"
            | "UnrecognizedClientException"
            | "InvalidAccessKeyId"
            | "SignatureDoesNotMatch"
            | "RequestExpired" => Self::Credentials,
            "Throttling"
            | "ThrottlingException"
            | "RequestLimitExceeded"
            | "SlowDown"
            | "TooManyRequestsException" => Self::Throttled,
            "InternalFailure"
            | "InternalError"
            | "ServiceUnavailable"
            | "Unavailable"
            | "InternalServerError" => Self::Server,
            // The group API has no code of its own for a missing group: ValidationError, "... not found".
            "ValidationError"
                if message.contains("not found") && message.contains("AutoScalingGroup name") =>
            {
                Self::NotFound
            }
            "ValidationError" => Self::Validation,
            "InvalidParameterValue" | "InvalidParameterCombination" | "MissingParameter" | "InvalidTag" => {
                Self::Validation
            }
            code if code.ends_with(".NotFound") || code.ends_with(".NotFoundException") => Self::NotFound,
            code if code.ends_with(".Malformed") || code.ends_with(".MalformedException") => Self::Validation,
            _ => Self::Other,
        }
    }
}

/// A call that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloudError {
    /// Service and operation in IAM's spelling: `autoscaling:CreateAutoScalingGroup`.
    pub operation: &'static str,
    /// What it was done to: `Auto Scaling group captf-...`.
    pub resource: String,
    /// Region of the call.
    pub region: String,
    /// What it means.
    pub kind: ErrorKind,
    /// AWS's code; empty if there was no answer.
    pub code: String,
    /// AWS's message, or what happened instead of an answer.
    pub message: String,
    /// AWS's request id.
    pub request_id: Option<String>,
}

impl fmt::Display for CloudError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} in {} failed", self.operation, self.resource, self.region)?;
        match self.code.as_str() {
            "" => write!(f, ": {}", self.message)?,
            code => write!(f, ": {code}: {}", self.message)?,
        }
        match &self.request_id {
            Some(id) => write!(f, " (request {id})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for CloudError {}
