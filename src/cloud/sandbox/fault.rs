//! AWS's refusals: code and message as the services write them.

use crate::cloud::{CloudError, ErrorKind};

/// A refusal before it is told which call met it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// AWS's code.
    pub(super) code: &'static str,
    /// AWS's message.
    pub(super) message: String,
}

impl Fault {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// The group API's general refusal.
    pub(super) fn validation(message: impl Into<String>) -> Self {
        Self::new("ValidationError", message)
    }

    /// A template that the group API will not launch from; EC2's reason is part of the message.
    pub(super) fn template(reason: impl AsRef<str>) -> Self {
        Self::validation(format!("You must use a valid fully-formed launch template. {}", reason.as_ref()))
    }

    pub(super) fn no_such_group(name: &str) -> Self {
        Self::validation(format!("AutoScalingGroup name not found - AutoScalingGroup {name} not found"))
    }

    pub(super) fn pending_delete() -> Self {
        Self::validation("The AutoScaling group may not be modified while it is pending delete")
    }

    pub(super) fn no_such_template_id(id: &str) -> Self {
        Self::new(
            "InvalidLaunchTemplateId.NotFound",
            format!("The specified launch template, with template ID {id}, does not exist."),
        )
    }

    pub(super) fn no_such_bucket() -> Self {
        Self::new("NoSuchBucket", "The specified bucket does not exist")
    }

    pub(super) fn at(self, operation: &'static str, resource: String, region: &str) -> CloudError {
        CloudError {
            operation,
            resource,
            region: region.to_owned(),
            kind: ErrorKind::classify(self.code, &self.message),
            code: self.code.to_owned(),
            message: self.message,
            request_id: None,
        }
    }
}
