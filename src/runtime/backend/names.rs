//! Names and labels of the Secret and the Lease, and what they may look like.

use std::collections::BTreeMap;

use super::Settings;
use crate::contract::problem::{Diagnostic, Problems};

/// The labels by which Terraform finds a state: that it is one, its suffix, its workspace.
pub const TERRAFORM_LABELS: [&str; 3] = ["tfstate", "tfstateSecretSuffix", "tfstateWorkspace"];

/// The longest value of a Kubernetes label; suffix and workspace are values of labels.
const MAX_LABEL: usize = 63;

/// The longest name of a Secret or Lease: a DNS-1123 subdomain.
const MAX_NAME: usize = 253;

/// The longest namespace: a DNS-1123 label.
const MAX_NAMESPACE: usize = 63;

const SECRET_SUFFIX: &str = "secret_suffix";

/// Where a state and its lock are. Only made of names that Kubernetes accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The namespace of both.
    pub namespace: String,
    /// The Secret: `tfstate-<workspace>-<suffix>`.
    pub secret: String,
    /// The Lease: `lock-tfstate-<workspace>-<suffix>`.
    pub lease: String,
    /// The suffix alone.
    pub suffix: String,
    /// The workspace alone.
    pub workspace: String,
    /// Labels of both, the configured ones among them.
    pub labels: BTreeMap<String, String>,
}

impl Settings {
    /// The names of a workspace's state and lock. Refuses everything that Kubernetes would refuse later,
    /// and suffixes that end like the number of a part of a large state.
    pub fn names(&self, workspace: &str) -> Result<Names, Problems> {
        let Some(suffix) = self.secret_suffix.as_deref() else {
            return Err(problem(
                "The backend setting secret_suffix is missing",
                "It ends the name of the Secret that holds the state: set it in the backend block or with \
                 -backend-config=secret_suffix=NAME.",
            )
            .into());
        };
        let secret = format!("tfstate-{workspace}-{suffix}");
        let mut problems = Vec::new();
        problems.extend(part_fault("The workspace", workspace));
        problems.extend(part_fault(SECRET_SUFFIX, suffix));
        problems.extend(number_fault(suffix));
        let namespace = self.namespace();
        if !bounded(namespace, MAX_NAMESPACE, lower_or_digit, |b| b == b'-') {
            problems.push(problem(
                format!("{namespace:?} is no Kubernetes namespace"),
                "Wanted 1 to 63 of a-z, 0-9 and \"-\", the first and the last a letter or digit.",
            ));
        }
        // With parts in order, only dots can still make a bad name: Kubernetes wants a letter or digit
        // on both sides of each.
        if problems.is_empty() && !is_subdomain(&secret) {
            problems.push(problem(
                format!("{secret:?} is no name for a Kubernetes Secret"),
                "On both sides of a dot there must be a letter or digit.",
            ));
        }
        problems.extend(self.labels.iter().flatten().filter_map(|(key, value)| label_fault(key, value)));
        if !problems.is_empty() {
            return Err(Problems(problems));
        }
        Ok(Names {
            namespace: namespace.to_owned(),
            lease: format!("lock-{secret}"),
            secret,
            suffix: suffix.to_owned(),
            workspace: workspace.to_owned(),
            labels: self.all_labels(workspace, suffix),
        })
    }

    fn all_labels(&self, workspace: &str, suffix: &str) -> BTreeMap<String, String> {
        let [state, state_suffix, state_workspace] = TERRAFORM_LABELS;
        let own = [
            (state, "true"),
            (state_suffix, suffix),
            (state_workspace, workspace),
            ("app.kubernetes.io/managed-by", "terraform"),
        ];
        let mut labels: BTreeMap<_, _> = own.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        labels.extend(self.labels.clone().unwrap_or_default());
        labels
    }
}

impl Names {
    /// The name of a part of a state that Terraform has split: the Secret itself is part 0.
    pub fn part(&self, index: usize) -> String {
        match index {
            0 => self.secret.clone(),
            index => format!("{}-part-{index}", self.secret),
        }
    }

    /// Which part of this state a Secret of that name is.
    pub fn part_index(&self, name: &str) -> Option<usize> {
        match name.strip_prefix(&self.secret)? {
            "" => Some(0),
            rest => {
                let index = rest.strip_prefix("-part-")?.parse().ok()?;
                (index > 0 && name == self.part(index)).then_some(index)
            }
        }
    }

    /// Selects the Secrets of this state, whatever else they are labelled with.
    pub fn selector(&self) -> String {
        let [state, suffix, workspace] = TERRAFORM_LABELS;
        format!("{state}=true,{suffix}={},{workspace}={}", self.suffix, self.workspace)
    }
}

fn problem(summary: impl Into<String>, detail: impl Into<String>) -> Diagnostic {
    Diagnostic::error(summary, detail)
}

/// What is wrong with a suffix or a workspace: both are part of names and values of labels.
fn part_fault(what: &str, text: &str) -> Option<Diagnostic> {
    let reason = if text.is_empty() {
        "it is empty".to_owned()
    } else if text.len() > MAX_LABEL {
        format!(
            "it has {} characters, but is the value of a label, too, and those have at most {MAX_LABEL}",
            text.len()
        )
    } else if text.bytes().any(|b| b.is_ascii_uppercase()) {
        "it has upper-case letters, which names in Kubernetes cannot have".to_owned()
    } else if !bounded(text, MAX_LABEL, lower_or_digit, |b| matches!(b, b'-' | b'.')) {
        "only a-z, 0-9, \"-\" and \".\" can be in it, and the first and the last must be a letter or digit"
            .to_owned()
    } else {
        return None;
    };
    let shown: String = text.chars().take(2 * MAX_LABEL).collect();
    Some(problem(
        format!("{what} {shown:?} cannot name a state: {reason}"),
        "The state is in the Secret tfstate-<workspace>-<secret_suffix>.",
    ))
}

/// `x-1` would be taken for part 1 of the state `x` by Terraform, which goes by the number at the end.
fn number_fault(suffix: &str) -> Option<Diagnostic> {
    let last = suffix.rsplit('-').next().unwrap_or_default();
    let number = !last.is_empty() && last.bytes().all(|b| b.is_ascii_digit());
    number.then(|| {
        problem(
            format!("secret_suffix must not end with '-<number>', got {suffix:?}"),
            format!(
                "The parts of a large state are told apart by the number at the end of their names: \
                 tfstate-...-{suffix} would be taken for part {last}."
            ),
        )
    })
}

fn label_fault(key: &str, value: &str) -> Option<Diagnostic> {
    if TERRAFORM_LABELS.contains(&key) {
        return Some(problem(
            format!("The backend setting labels must not hold {key:?}"),
            "The state is found by this label.",
        ));
    }
    let name = |text: &str| {
        bounded(text, MAX_LABEL, |b| b.is_ascii_alphanumeric(), |b| matches!(b, b'-' | b'_' | b'.'))
    };
    let key_is_valid = match key.split_once('/') {
        Some((prefix, rest)) => is_subdomain(prefix) && name(rest),
        None => name(key),
    };
    if !key_is_valid {
        return Some(problem(
            format!("The backend setting labels holds {key:?}, which is no key of a Kubernetes label"),
            "Wanted an optional DNS subdomain and a slash, then 1 to 63 letters, digits, \"-\", \"_\" or \".\".",
        ));
    }
    (!value.is_empty() && !name(value)).then(|| {
        problem(
            format!("The backend setting labels gives {key:?} a value that no Kubernetes label can have"),
            "Wanted at most 63 letters, digits, \"-\", \"_\" or \".\", the first and the last a letter or digit.",
        )
    })
}

fn lower_or_digit(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

/// Neither empty nor longer than `max` bytes, `inner` bytes only, first and last an `outer` one.
fn bounded(text: &str, max: usize, outer: fn(u8) -> bool, inner: fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    bytes.len() <= max
        && bytes.iter().all(|&b| outer(b) || inner(b))
        && bytes.first().is_some_and(|&b| outer(b))
        && bytes.last().is_some_and(|&b| outer(b))
}

fn is_subdomain(text: &str) -> bool {
    text.len() <= MAX_NAME
        && text.split('.').all(|part| bounded(part, MAX_NAME, lower_or_digit, |b| b == b'-'))
}
