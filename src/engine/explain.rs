//! Turns a failed AWS call into words for the person who must act.

use crate::{
    cloud::{CloudError, ErrorKind},
    contract::problem::{Diagnostic, sentence, words},
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
            ErrorKind::Interrupted
                | ErrorKind::Credentials
                | ErrorKind::Network
                | ErrorKind::NotAws
                | ErrorKind::Settings
        )
    };
    if let Some(common) = errors.iter().position(is_common) {
        return errors.swap_remove(common).into();
    }
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    while !errors.is_empty() {
        let first = errors.remove(0);
        let (alike, others) = errors.into_iter().partition(|other| is_alike(&first, other));
        errors = others;
        diagnostics.push(with_others(diagnostic(&first), &first, &alike));
    }
    Failure { kind: Kind::Aws, diagnostics }
}

/// Whether one call failed for what another failed for. What may be called is told of each.
fn is_alike(one: &CloudError, other: &CloudError) -> bool {
    let (CloudError { kind, code, message, .. }, same) = (one, other);
    *kind != ErrorKind::AccessDenied && (*kind, code, message) == (same.kind, &same.code, &same.message)
}

/// Names the calls that failed alike.
fn with_others(mut told: Diagnostic, first: &CloudError, alike: &[CloudError]) -> Diagnostic {
    let mut names: Vec<&str> = alike.iter().map(|error| operation_name(error.operation)).collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| *name != operation_name(first.operation));
    if !names.is_empty() {
        told.add(&format!("Others failed alike: {}.", names.join(", ")));
    }
    told
}

/// What was tried, what came back, what to do.
pub(super) fn diagnostic(error: &CloudError) -> Diagnostic {
    if error.kind == ErrorKind::Interrupted {
        return Diagnostic::error(
            "Interrupted",
            format!("{} Run the command again to go on.", sentence(&error.message)),
        );
    }
    if error.kind == ErrorKind::Settings {
        return Diagnostic::error("Cannot use AWS", error.message.clone());
    }
    let CloudError { operation, resource, region, kind, code, message, request_id } = error;
    let (code, answer) = match code.as_str() {
        "" if *kind == ErrorKind::Credentials => ("no credentials", "was not asked".to_owned()),
        "" => ("no answer", "had no answer".to_owned()),
        code => (code, format!("was answered with {code}")),
    };
    let request = request_id.as_ref().map_or(String::new(), |id| format!(" (request {id})"));
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = if message.is_empty() { words(&message) } else { message.clone() };
    let mut detail = format!("{operation} in {region} {answer}: {said}{request}");
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
        ErrorKind::NotAws => {
            "Nothing of AWS is known from it, and nothing is lost. Check what is set for the endpoint (AWS_ENDPOINT_URL \
             and the like, endpoint_url of the profile), the proxy settings (HTTPS_PROXY, NO_PROXY) and the network."
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_cause_of_many_failures_is_told_once() {
        let failed = |operation: &'static str, kind: ErrorKind, message: &str| CloudError {
            operation,
            resource: "captf-x".to_owned(),
            region: "us-east-1".to_owned(),
            kind,
            code: "Code".to_owned(),
            message: message.to_owned(),
            request_id: None,
        };
        let told = together(vec![
            failed("autoscaling:DescribeAutoScalingGroups", ErrorKind::Other, "the file is gone"),
            failed("ec2:DescribeInstances", ErrorKind::AccessDenied, "not allowed"),
            failed("ec2:DescribeLaunchTemplates", ErrorKind::Other, "the file is gone"),
            failed("autoscaling:DescribeInstanceRefreshes", ErrorKind::Other, "the file is gone"),
            failed("autoscaling:DescribePolicies", ErrorKind::AccessDenied, "not allowed"),
        ]);
        let summaries: Vec<&str> = told.diagnostics.iter().map(|one| one.summary.as_str()).collect();
        assert_eq!(
            summaries,
            [
                "DescribeAutoScalingGroups of captf-x failed: Code",
                "DescribeInstances of captf-x failed: Code",
                "DescribePolicies of captf-x failed: Code"
            ],
            "what must be allowed is told of each"
        );
        let others = "Others failed alike: DescribeInstanceRefreshes, DescribeLaunchTemplates.";
        assert!(told.diagnostics[0].detail.ends_with(others), "{:?}", told.diagnostics[0]);
    }
}
