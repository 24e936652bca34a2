//! What the program says when it fails: a kind, one or more diagnostics, one exit code.

use std::{ffi::OsStr, fmt, fs, io, os::unix::fs::MetadataExt as _};

use crate::contract::{
    problem::{Diagnostic, Problems, Severity},
    quote,
};

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

/// An error about a file that also says, if something is not allowed, to whom: in a container that is seldom
/// the user who mounted it.
pub fn naming_user(error: io::Error) -> io::Error {
    match (error.kind(), fs::metadata("/proc/self")) {
        (io::ErrorKind::PermissionDenied, Ok(own)) => {
            io::Error::new(error.kind(), format!("{error}; the program runs as user {}", own.uid()))
        }
        _ => error,
    }
}

/// A file's name for messages: as it is if there is one of that name, else only if it looks like one.
pub(crate) fn file_name(name: &(impl AsRef<OsStr> + ?Sized)) -> String {
    if is_there(name.as_ref()) { quote::known_file(name) } else { quote::file(name) }
}

/// What to say beside an error about a file whose name is not shown, for an option that takes one.
pub(crate) fn file_hint(name: &(impl AsRef<OsStr> + ?Sized), option: &str) -> Option<String> {
    if is_there(name.as_ref()) { None } else { quote::file_hint(name, option) }
}

fn is_there(name: &OsStr) -> bool {
    fs::symlink_metadata(name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_allowed_names_the_user() {
        let denied = naming_user(io::Error::from_raw_os_error(13));
        assert_eq!(denied.kind(), io::ErrorKind::PermissionDenied);
        let text = denied.to_string();
        assert!(text.starts_with("Permission denied (os error 13); the program runs as user "), "{text}");
        assert!(text.ends_with(|last: char| last.is_ascii_digit()), "{text}");
        let missing = io::Error::from_raw_os_error(2).to_string();
        assert_eq!(naming_user(io::Error::from_raw_os_error(2)).to_string(), missing);
    }
    #[test]
    fn the_name_of_a_file_that_is_there_is_shown() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["plan-2fd4e1c67a2d28fced849ee1bb76e7391b93eb12", "abcdef.0123456789abcdef", "c2VjcmV0"] {
            let path = directory.path().join(name);
            assert_eq!(file_name(name), format!("(a name of {} bytes, not shown)", name.len()));
            assert!(file_hint(name, "-out").is_some(), "{name}");
            fs::write(&path, "").unwrap();
            assert_eq!(file_name(&path), path.display().to_string());
            assert_eq!(file_hint(&path, "-out"), None, "{name}");
        }
    }
}
