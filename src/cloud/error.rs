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
    /// What answered is not AWS: a wrong endpoint, or a proxy that answers for everybody. It says nothing of what was
    /// asked.
    NotAws,
    /// No usable credentials.
    Credentials,
    /// No answer: connection, TLS, time-out.
    Network,
    /// Nothing was asked: what the environment or the profile sets for the SDK cannot be used.
    Settings,
    /// The bucket lies in another region.
    WrongRegion,
    /// The run was interrupted: it was not begun, or given up without an answer.
    Interrupted,
    /// Anything else.
    Other,
}

impl ErrorKind {
    /// Classifies AWS's error code. `message` decides where one code has several meanings.
    pub fn classify(code: &str, message: &str) -> Self {
        match code {
            // EC2's word both for bad credentials and for things that are not ours to see.
            "AuthFailure" if message.contains("Not authorized") => Self::AccessDenied,
            "AlreadyExists" | "AlreadyExistsFault" | "InvalidLaunchTemplateName.AlreadyExistsException" => {
                Self::AlreadyExists
            }
            "AccessDenied"
            | "AccessDeniedException"
            | "UnauthorizedOperation"
            | "UnauthorizedAccess"
            | "NotAuthorized"
            | "AuthFailure.ServiceLinkedRoleCreationNotPermitted"
            | "AllAccessDisabled"
            | "Forbidden" => Self::AccessDenied,
            "InstanceRefreshInProgress" | "InstanceRefreshInProgressFault" => Self::RefreshInProgress,
            "ActiveInstanceRefreshNotFound" | "ActiveInstanceRefreshNotFoundFault" => Self::NoActiveRefresh,
            "ResourceInUse"
            | "ResourceInUseFault"
            | "ScalingActivityInProgress"
            | "ScalingActivityInProgressFault"
            | "ResourceContention"
            | "ResourceContentionFault"
            | "OperationAborted"
            | "IdempotentCallInProgress" => Self::InUse,
            "NoSuchKey" | "NoSuchBucket" | "NotFound" | "InvalidAMIID.Unavailable" => Self::NotFound,
            "PermanentRedirect"
            | "TemporaryRedirect"
            | "Redirect"
            | "AuthorizationHeaderMalformed"
            | "IllegalLocationConstraintException" => Self::WrongRegion,
            "AuthFailure"
            | "ExpiredToken"
            | "ExpiredTokenException"
            | "InvalidToken"
            | "TokenRefreshRequired"
            | "InvalidClientTokenId"
            | "UnrecognizedClientException"
            | "InvalidAccessKeyId"
            | "InvalidSecurity"
            | "MissingAuthenticationToken"
            | "MissingAuthenticationTokenException"
            | "IncompleteSignature"
            | "InvalidSignatureException"
            | "SignatureDoesNotMatch"
            | "RequestTimeTooSkewed"
            | "RequestExpired"
            | "OptInRequired" => Self::Credentials,
            "Throttling"
            | "ThrottlingException"
            | "ThrottledException"
            | "RequestThrottled"
            | "RequestThrottledException"
            | "EC2ThrottledException"
            | "RequestLimitExceeded"
            | "BandwidthLimitExceeded"
            | "PriorRequestNotComplete"
            | "SlowDown"
            | "TooManyRequestsException" => Self::Throttled,
            // The role is being made, or is not usable yet.
            "ServiceLinkedRoleFailure"
            | "InternalFailure"
            | "InternalError"
            | "ServiceUnavailable"
            | "ServiceUnavailableException"
            | "Unavailable"
            | "RequestTimeout"
            | "RequestTimeoutException"
            | "InternalServerError" => Self::Server,
            "ValidationError" if names_something_missing(message) => Self::NotFound,
            "ValidationError"
            | "ValidationException"
            | "MissingParameter"
            | "UnknownParameter"
            | "MalformedXML"
            | "InvalidTag"
            | "InvalidRequest"
            | "InvalidArgument"
            | "BadDigest"
            | "TagLimitExceeded" => Self::Validation,
            code if ["NotFound", "NotFoundException"].iter().any(|end| code.ends_with(end)) => Self::NotFound,
            // `launchTemplateVersionDoesNotExist` and its kind, inside an answer.
            code if code.ends_with("DoesNotExist") => Self::NotFound,
            code if code.starts_with("InvalidParameter") || code.contains(".Malformed") => Self::Validation,
            _ => Self::Other,
        }
    }
}

/// Auto Scaling has no code of its own for a group that is not there. It answers `ValidationError`
/// and one of `AutoScalingGroup name not found - ...`, `AutoScalingGroup not found - ...`,
/// `AutoScaling Group ... not found` and `Group ... not found`; for a scheduled action `Scheduled action
/// name not found`. What such a thing merely refers to, a launch template or a subnet, stays what it
/// is: a request that was wrong.
fn names_something_missing(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    let things = ["autoscalinggroup", "autoscaling group", "auto scaling group", "scheduled action"];
    message.contains("not found")
        && (message.starts_with("group ") || things.iter().any(|words| message.contains(words)))
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

/// Before a status that stands for AWS's code where an answer has none, so that it is not taken for no answer.
const STATUS: &str = "HTTP ";

impl CloudError {
    /// What stands for a code where an answer has none.
    pub fn code_of_status(status: u16) -> String {
        format!("{STATUS}{status}")
    }

    /// Whether there was an answer with a code of AWS's.
    pub fn has_code(&self) -> bool {
        !self.code.is_empty() && !self.is_without_code()
    }

    /// Whether there was an answer, and no code of AWS's in it.
    pub fn is_without_code(&self) -> bool {
        self.code.starts_with(STATUS)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_from_other_validation_errors() {
        let kind = |message| ErrorKind::classify("ValidationError", message);
        for message in [
            "AutoScalingGroup name not found - AutoScalingGroup 'captf-a-b-01234567' not found",
            "AutoScalingGroup name not found - null",
            "AutoScalingGroup not found - AutoScaling Group captf-a-b-01234567 not found",
            "Group captf-a-b-01234567 not found",
            "Scheduled action name not found",
        ] {
            assert_eq!(kind(message), ErrorKind::NotFound, "{message}");
        }
        for message in [
            "Invalid IAM Instance Profile name: workers",
            "The specified launch template, with template ID lt-1, does not exist.",
            "Launch template version not found",
            "Placement group 'x' not found",
            "The subnet ID 'subnet-1' not found",
        ] {
            assert_eq!(kind(message), ErrorKind::Validation, "{message}");
        }
    }

    #[test]
    fn not_found_has_many_codes_and_denied_is_never_one() {
        for code in [
            "InvalidLaunchTemplateId.NotFound",
            "InvalidLaunchTemplateId.VersionNotFound",
            "InvalidLaunchTemplateName.NotFoundException",
            "InvalidAMIID.NotFound",
            "InvalidAMIID.Unavailable",
            "NoSuchKey",
            "NoSuchBucket",
            "launchTemplateVersionDoesNotExist",
        ] {
            assert_eq!(ErrorKind::classify(code, ""), ErrorKind::NotFound, "{code}");
        }
        for code in ["AccessDenied", "UnauthorizedOperation", "AccessDeniedException"] {
            assert_eq!(ErrorKind::classify(code, "image not found"), ErrorKind::AccessDenied, "{code}");
        }
        assert_eq!(
            ErrorKind::classify("ActiveInstanceRefreshNotFound", "not found"),
            ErrorKind::NoActiveRefresh
        );
    }

    #[test]
    fn one_code_of_ec2_means_two_things() {
        let kind = |message| ErrorKind::classify("AuthFailure", message);
        assert_eq!(kind("Not authorized for images: [ami-0123]"), ErrorKind::AccessDenied);
        assert_eq!(
            kind("AWS was not able to validate the provided access credentials"),
            ErrorKind::Credentials
        );
    }
}
