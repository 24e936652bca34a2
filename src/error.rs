//! What the program says when it fails: a kind, one or more diagnostics, one exit code.

use std::fmt;

use crate::contract::problem::{Diagnostic, Problems, Severity};

/// What went wrong, in the largest sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The command line.
    Usage,
    /// The inputs.
    Input,
    /// Something that belongs to somebody else, or that needs a yes first.
    Refused,
    /// AWS, or the way to it.
    Aws,
    /// Some steps were done, some were not.
    Partial,
    /// Ctrl-C or a termination signal.
    Interrupted,
    /// The machine the program runs on: files, terminal.
    Local,
    /// This program is wrong.
    Defect,
}

/// A failed command. Every one ends with exit code 1: 2 means "changes" for `plan -detailed-exitcode`.
#[derive(Debug)]
pub struct Failure {
    /// What kind.
    pub kind: Kind,
    /// At least one error, told to the person who must act.
    pub diagnostics: Vec<Diagnostic>,
}

impl Failure {
    /// One error.
    pub fn new(kind: Kind, summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { kind, diagnostics: vec![Diagnostic::error(summary, detail)] }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let summaries: Vec<&str> = self.diagnostics.iter().map(|d| d.summary.as_str()).collect();
        f.write_str(&summaries.join("; "))
    }
}

impl std::error::Error for Failure {}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Self { kind: Kind::Input, diagnostics: problems.0 }
    }
}

/// The diagnostics of any error: a [`Failure`]'s own, else the chain of causes as one.
pub fn diagnostics(error: &anyhow::Error) -> Vec<Diagnostic> {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return failure.diagnostics.clone();
    }
    let causes: Vec<String> = error.chain().skip(1).map(ToString::to_string).collect();
    vec![Diagnostic { severity: Severity::Error, summary: error.to_string(), detail: causes.join("\n") }]
}
