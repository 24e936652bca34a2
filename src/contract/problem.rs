//! Errors and warnings as values: one short sentence, then what to do about it.

use std::fmt;

use serde::Serialize;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing can be done until it is mended.
    Error,
    /// Worth a look; nothing stops.
    Warning,
}

/// One error or warning. Never holds the value of a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// One line that tells the story.
    pub summary: String,
    /// What was found, what was wanted, what to do; may be empty.
    pub detail: String,
}

impl Diagnostic {
    /// An error.
    pub fn error(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { severity: Severity::Error, summary: summary.into(), detail: detail.into() }
    }

    /// Adds a paragraph to the detail.
    pub fn add(&mut self, paragraph: &str) {
        if !self.detail.is_empty() {
            self.detail.push_str("\n\n");
        }
        self.detail.push_str(paragraph);
    }

    /// A warning.
    pub fn warning(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, summary: summary.into(), detail: detail.into() }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.summary)?;
        if !self.detail.is_empty() {
            write!(f, "\n\n{}", self.detail)?;
        }
        Ok(())
    }
}

/// What somebody else says (AWS, the system, a library), fit to stand within a sentence: on one line, and without
/// the stop at its end. Nothing said is said, too.
pub fn words(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.trim_end_matches(['.', ':', ' ']) {
        "" => "no reason given".to_owned(),
        words => words.to_owned(),
    }
}

/// The same as a sentence, or as the end of one: with one stop.
pub fn sentence(text: &str) -> String {
    let words = words(text);
    let stop = if words.ends_with(['!', '?']) { "" } else { "." };
    format!("{words}{stop}")
}

/// All that is wrong with the inputs, reported together; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} problem(s) in the inputs", .0.len())]
pub struct Problems(pub Vec<Diagnostic>);

impl From<Diagnostic> for Problems {
    fn from(one: Diagnostic) -> Self {
        Self(vec![one])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_ends_once_whatever_somebody_else_said() {
        for (said, within, alone) in [
            ("No capacity", "No capacity", "No capacity."),
            ("No capacity.\n  Try later..", "No capacity. Try later", "No capacity. Try later."),
            ("Really?", "Really?", "Really?"),
            ("Failed: ", "Failed", "Failed."),
            (" . ", "no reason given", "no reason given."),
            ("", "no reason given", "no reason given."),
        ] {
            assert_eq!((words(said).as_str(), sentence(said).as_str()), (within, alone), "{said}");
        }
    }
}
