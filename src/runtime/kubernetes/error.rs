//! What can go wrong with the state and its lock, in words for the person who must act.

use std::{error::Error, fmt, io};

use kube::error::Status;

use crate::error::{Failure, Kind};

/// What a failure means for the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// Settings or credentials that lead nowhere.
    Settings,
    /// No answer: connection, TLS, time-out.
    Unreachable,
    /// The API server does not know who asks (401).
    Unauthenticated,
    /// The API server does not allow it (403).
    Denied,
    /// Somebody else wrote at the same time.
    Conflict,
    /// What is stored cannot be a state: a part is missing, it does not unpack.
    Damaged,
    /// The state does not fit into a Secret.
    TooLarge,
    /// Somebody else holds the lock.
    Locked,
    /// The lock is not held by whom it should be.
    NotLocked,
    /// A signal came while waiting for the lock.
    Interrupted,
    /// Any other answer.
    Other,
}

/// A failure. Never holds credentials or what is in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreError {
    /// What it means.
    pub kind: StoreErrorKind,
    /// One line that tells the story.
    pub summary: String,
    /// What to do about it; may be empty.
    pub detail: String,
}

impl StoreError {
    pub(super) fn new(kind: StoreErrorKind, summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { kind, summary: summary.into(), detail: detail.into() }
    }

    pub(super) fn settings(fault: String) -> Self {
        Self::new(StoreErrorKind::Settings, format!("No way to the Kubernetes API: {fault}"), "")
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.summary)
    }
}

impl Error for StoreError {}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let kind = match error.kind {
            StoreErrorKind::Locked | StoreErrorKind::NotLocked | StoreErrorKind::Conflict => Kind::Refused,
            StoreErrorKind::Interrupted => Kind::Interrupted,
            _ => Kind::Local,
        };
        Self::new(kind, error.summary, error.detail)
    }
}

/// One kind of request to the API server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    /// In RBAC's spelling.
    pub(super) verb: &'static str,
    /// In RBAC's spelling.
    pub(super) resource: &'static str,
    /// One object, or none for a list.
    pub(super) name: Option<&'a str>,
    /// Where.
    pub(super) namespace: &'a str,
    /// The API server.
    pub(super) address: &'a str,
}

impl fmt::Display for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.resource)?;
        if let Some(name) = self.name {
            write!(f, " {name}")?;
        }
        write!(f, " in namespace {}", self.namespace)
    }
}

impl Call<'_> {
    /// Words for what came instead of a good answer.
    pub(super) fn failed(&self, error: &kube::Error) -> StoreError {
        match error {
            kube::Error::Api(status) => self.refused(status),
            kube::Error::SerdeError(_) | kube::Error::FromUtf8(_) => StoreError::new(
                StoreErrorKind::Other,
                format!("Cannot {self}: the answer is not what a Kubernetes API gives"),
                format!("{} may be something else, or a proxy in between may answer for it.", self.address),
            ),
            error => self.unanswered(error),
        }
    }

    fn refused(&self, status: &Status) -> StoreError {
        let message = status.message.trim();
        let words = |kind, reason: &str| {
            StoreError::new(kind, format!("Cannot {self}: {reason} (HTTP {})", status.code), message)
        };
        let Self { verb, resource, namespace, .. } = self;
        match status.code {
            401 => words(
                StoreErrorKind::Unauthenticated,
                "the Kubernetes API does not accept the credentials; the token may have expired",
            ),
            403 if message.contains("being terminated") => {
                words(StoreErrorKind::Denied, "the namespace is being deleted")
            }
            403 => words(
                StoreErrorKind::Denied,
                &format!(
                    "forbidden; the identity of this run needs the verb {verb:?} on the resource {resource:?} \
                     in namespace {namespace}"
                ),
            ),
            404 if self.verb == "create" => {
                words(StoreErrorKind::Other, &format!("the namespace {namespace} does not exist"))
            }
            404 => words(StoreErrorKind::Other, "not found"),
            409 => words(StoreErrorKind::Conflict, "somebody else wrote at the same time"),
            413 => words(StoreErrorKind::TooLarge, "it is too large"),
            422 => words(StoreErrorKind::Other, "the Kubernetes API finds it invalid"),
            429 => words(StoreErrorKind::Other, "the Kubernetes API has too much to do, still after retries"),
            500.. => words(StoreErrorKind::Other, "the Kubernetes API has a fault, still after retries"),
            _ => words(StoreErrorKind::Other, &status.reason),
        }
    }

    fn unanswered(&self, error: &kube::Error) -> StoreError {
        let address = self.address;
        let (what, detail) = match cause(error) {
            Cause::Refused => {
                ("the connection was refused", "Is this the API server's address, and does it run?")
            }
            Cause::TimedOut => {
                ("no answer came in time", "The way there may be blocked, or it is overloaded.")
            }
            Cause::Tls => (
                "TLS failed",
                "Its certificate must be signed by cluster_ca_certificate (or the CA of the kubeconfig or the \
                 pod), name the host (or tls_server_name), and not be expired.",
            ),
            Cause::Credentials => (
                "the credentials could not be had",
                "The token file or the exec program of the settings failed.",
            ),
            Cause::Other => ("the connection failed", ""),
        };
        let mut causes = chain(error).map(ToString::to_string).collect::<Vec<_>>();
        causes.dedup();
        let told = if matches!(cause(error), Cause::Credentials) { String::new() } else { causes.join(": ") };
        StoreError::new(
            StoreErrorKind::Unreachable,
            format!("Cannot {self}: no answer from the Kubernetes API at {address}: {what}"),
            [detail, &told].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n"),
        )
    }
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Refused,
    TimedOut,
    Tls,
    /// What a program that gets credentials printed must not be shown.
    Credentials,
    Other,
}

fn cause(error: &kube::Error) -> Cause {
    for source in chain(error) {
        if source.is::<kube::client::AuthError>() {
            return Cause::Credentials;
        }
        let Some(error) = source.downcast_ref::<io::Error>() else { continue };
        match error.kind() {
            io::ErrorKind::ConnectionRefused => return Cause::Refused,
            io::ErrorKind::TimedOut => return Cause::TimedOut,
            // rustls wraps its errors so, and nothing else on the way does.
            io::ErrorKind::InvalidData => return Cause::Tls,
            _ => {}
        }
    }
    Cause::Other
}

/// Whether asking again may help.
pub(super) fn is_transient(error: &kube::Error) -> bool {
    match error {
        kube::Error::Api(status) => status.code == 429 || status.code >= 500,
        kube::Error::HyperError(_) | kube::Error::Service(_) => {
            matches!(cause(error), Cause::Refused | Cause::TimedOut | Cause::Other)
        }
        _ => false,
    }
}

/// Whether the API server says that this one object is not there, and not a proxy, a wrong path or a
/// namespace that is missing at creation.
pub(super) fn is_not_found(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 404
        && status.reason == "NotFound"
        && status.message != "the server could not find the requested resource")
}

/// Whether somebody else was first.
pub(super) fn is_conflict(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 409)
}

/// The causes of an error, without kube's own words.
fn chain(error: &kube::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |&error| {
        // An io::Error that wraps another error is silent about it in `source`.
        match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner) => Some(inner as &(dyn Error + 'static)),
            None => error.source(),
        }
    })
}
