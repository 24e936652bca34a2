//! Turns a failed AWS call into words for the person who must act.

use crate::{
    cloud::{CloudError, ErrorKind},
    contract::problem::Diagnostic,
    error::{Failure, Kind},
    model::permissions,
};

impl From<CloudError> for Failure {
    fn from(error: CloudError) -> Self {
        Self { kind: kind(&error), diagnostics: vec![diagnostic(&error)] }
    }
}

fn kind(error: &CloudError) -> Kind {
    if error.kind == ErrorKind::Interrupted { Kind::Interrupted } else { Kind::Aws }
}

/// One failure for several failed calls. What stopped all of them alike is told once.
pub(super) fn together(mut errors: Vec<CloudError>) -> Failure {
    let is_common = |e: &CloudError| {
        matches!(
            e.kind,
            ErrorKind::Interrupted | ErrorKind::Credentials | ErrorKind::Network | ErrorKind::Settings
        )
    };
    if let Some(common) = errors.iter().position(is_common) {
        return errors.swap_remove(common).into();
    }
    let mut diagnostics: Vec<Diagnostic> = errors.iter().map(diagnostic).collect();
    diagnostics.dedup();
    Failure { kind: Kind::Aws, diagnostics }
}

/// What was tried, what came back, what to do.
pub(super) fn diagnostic(error: &CloudError) -> Diagnostic {
    if error.kind == ErrorKind::Interrupted {
        return Diagnostic::error(
            "Interrupted",
            format!("{} Run the command again to go on.", error.message),
        );
    }
    if error.kind == ErrorKind::Settings {
        return Diagnostic::error("Cannot use AWS", error.message.clone());
    }
    let CloudError { operation, resource, region, kind, code, message, request_id } = error;
    let answer =
        if code.is_empty() { "had no answer".to_owned() } else { format!("was answered with {code}") };
    let code = if code.is_empty() { "no answer" } else { code };
    let request = request_id.as_ref().map_or(String::new(), |id| format!(" (request {id})"));
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut detail = format!("{operation} in {region} {answer}: {message}{request}");
    if let Some(hint) = hint(*kind, operation, &message) {
        detail.push_str("\n\n");
        detail.push_str(&hint);
    }
    Diagnostic::error(format!("{} of {resource} failed: {code}", operation_name(operation)), detail)
}

fn operation_name(operation: &str) -> &str {
    operation.split_once(':').map_or(operation, |(_, name)| name)
}

fn hint(kind: ErrorKind, operation: &'static str, message: &str) -> Option<String> {
    let text = match kind {
        ErrorKind::AccessDenied => return Some(denied(operation)),
        ErrorKind::Credentials => {
            "The AWS credentials are missing, expired or wrong. Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and \
             AWS_SECRET_ACCESS_KEY, or log in anew (aws sso login)."
        }
        ErrorKind::Network => {
            "AWS could not be reached. Check the network, the proxy settings (HTTPS_PROXY, NO_PROXY) and the \
             region; nothing is lost, run the command again."
        }
        ErrorKind::Throttled => {
            "AWS limits the rate of calls, and went on doing so after several attempts. Run the command again \
             later."
        }
        ErrorKind::Server => "This is AWS's own fault. Run the command again.",
        ErrorKind::WrongRegion => {
            "The bucket lies in another region than the cluster exports say. Check region and \
             bootstrap_bucket of the exports."
        }
        ErrorKind::InUse => "Something else is still going on with it. Run the command again in a minute.",
        ErrorKind::NotFound if operation.starts_with("s3:") => {
            "The bootstrap bucket does not exist. Check bootstrap_bucket of the cluster exports, and that the \
             cluster has been applied."
        }
        ErrorKind::Validation if is_about_launching(message) => {
            "If everything that is named exists: the credentials need iam:PassRole on the workers' role, and \
             ec2:RunInstances and ec2:CreateTags."
        }
        _ => return None,
    };
    Some(text.to_owned())
}

fn is_about_launching(message: &str) -> bool {
    let message = message.to_lowercase();
    ["launch template", "instance profile", "iaminstanceprofile"].iter().any(|words| message.contains(words))
}

/// The statement that would allow an operation, with what AWS checks behind it.
fn denied(operation: &'static str) -> String {
    let actions = permissions::needed_for(operation);
    let list: Vec<String> = actions.iter().map(|action| format!("\"{action}\"")).collect();
    format!(
        "The credentials do not allow it. Add to their policy:\n  {{\"Effect\": \"Allow\", \"Action\": [{}], \
         \"Resource\": \"*\"}}",
        list.join(", ")
    )
}
