//! Errors and warnings, for people and for programs.

use serde::Serialize;

use super::{
    style::{Style, Tone},
    text,
};
use crate::contract::problem::{Diagnostic, Severity};

/// `Error: <summary>` (or `Warning: `) at column 0, a blank line, the detail; with a line end. The
/// summary is one line, whatever is in it; the detail is not wrapped, since programs read it.
pub fn diagnostic(diagnostic: &Diagnostic, style: Style) -> String {
    let (heading, tone) = match diagnostic.severity {
        Severity::Error => ("Error:", Tone::Bad),
        Severity::Warning => ("Warning:", Tone::Caution),
    };
    let summary = text::line(&diagnostic.summary.split_whitespace().collect::<Vec<_>>().join(" "));
    let detail = text::block(&diagnostic.detail.replace("\r\n", "\n"));
    let heading = style.paint(tone, heading);
    if style.compact_warnings && diagnostic.severity == Severity::Warning {
        return format!("{heading} {summary}\n");
    }
    match detail.trim() {
        "" => format!("{heading} {summary}\n"),
        detail => format!("{heading} {summary}\n\n{detail}\n"),
    }
}

/// What `validate -json` prints, in the shape that Terraform's has.
#[derive(Debug, Serialize)]
pub struct Validation<'a> {
    format_version: &'static str,
    valid: bool,
    error_count: usize,
    warning_count: usize,
    diagnostics: &'a [Diagnostic],
}

impl<'a> Validation<'a> {
    /// The verdict on inputs with these problems.
    pub fn new(diagnostics: &'a [Diagnostic]) -> Self {
        let error_count = diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
        Self {
            format_version: "1.0",
            valid: error_count == 0,
            error_count,
            warning_count: diagnostics.len() - error_count,
            diagnostics,
        }
    }

    /// One indented JSON object with a line end.
    pub fn to_json(&self) -> String {
        text::json(self)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_first_line_tells_the_story() {
        let style = Style::new(None, false);
        let error = Diagnostic::error("replicas\nis \u{1b}]0;no\u{7} number", "Found:\r\n\u{1b}[2J\n");
        assert_eq!(
            diagnostic(&error, style),
            "Error: replicas is \\u{1b}]0;no\\u{7} number\n\nFound:\n\\u{1b}[2J\n"
        );
        assert_eq!(diagnostic(&Diagnostic::warning("Odd", ""), style), "Warning: Odd\n");
        let coloured = diagnostic(&Diagnostic::error("No", ""), Style::new(None, true));
        assert_eq!(coloured, "\u{1b}[31mError:\u{1b}[0m No\n");
    }

    #[test]
    fn validation_counts_by_severity() {
        let found = [Diagnostic::error("a", "b"), Diagnostic::warning("c", "")];
        let json: serde_json::Value = serde_json::from_str(&Validation::new(&found).to_json()).unwrap();
        assert_eq!(
            json,
            serde_json::json!({
                "format_version": "1.0", "valid": false, "error_count": 1, "warning_count": 1,
                "diagnostics": [
                    {"severity": "error", "summary": "a", "detail": "b"},
                    {"severity": "warning", "summary": "c", "detail": ""},
                ],
            })
        );
        assert!(Validation::new(&found[1..]).valid);
    }
}
