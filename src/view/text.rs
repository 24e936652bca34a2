//! Making text safe and fit to show: escapes, wrapping, counting, listing.

use std::fmt::Write as _;

use serde::Serialize;
use tabled::grid::util::string::{get_char_width, get_string_width};

use crate::contract::mask::{masked, masked_json, masked_lines};
pub use crate::prose::{capitalised, list};

/// One line of data: control characters, line breaks and characters that reorder or hide text are
/// shown as escapes such as `\u{1b}`, and what looks like a credential as its size.
pub fn line(text: &str) -> String {
    escape(&masked(text), false)
}

/// As [`line()`], for a text that can be no credential, whatever it looks like: a checksum.
pub fn checksum(text: &str) -> String {
    escape(text, false)
}

/// Lines of data: as [`line()`], but line breaks and tabs stay.
pub fn block(text: &str) -> String {
    escape(&masked(text), true)
}

/// The same line by line, with the ends of the lines: as many as the text has.
pub(super) fn lines(text: &str) -> Vec<String> {
    masked_lines(text).iter().map(|line| escape(line, true)).collect()
}

fn escape(text: &str, keep_layout: bool) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' if keep_layout => safe.push(c),
            '\n' => safe.push_str("\\n"),
            '\t' => safe.push_str("\\t"),
            '\r' => safe.push_str("\\r"),
            c if steers(c) => safe.extend(c.escape_unicode()),
            c => safe.push(c),
        }
    }
    safe
}

/// Control characters, and the invisible ones that move, reorder or hide what is around them.
fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// `text` broken at blanks so that no line is wider than `width`; a longer word has a line of its own.
pub fn wrap(text: &str, width: usize) -> String {
    let mut wrapped = String::with_capacity(text.len());
    for (number, paragraph) in text.split('\n').enumerate() {
        if number > 0 {
            wrapped.push('\n');
        }
        let mut used = 0;
        for word in paragraph.split(' ') {
            let needed = get_string_width(word);
            if used > 0 && used + 1 + needed > width {
                wrapped.push('\n');
                used = 0;
            } else if used > 0 {
                wrapped.push(' ');
                used += 1;
            }
            wrapped.push_str(word);
            used += needed;
        }
    }
    wrapped
}

/// As [`wrap`], but no line is wider than `width`: a longer word is broken, behind a `:`, `/` or `,` if it can be.
pub fn fold(text: &str, width: usize) -> String {
    let mut folded = String::with_capacity(text.len());
    for (number, line) in wrap(text, width).split('\n').enumerate() {
        if number > 0 {
            folded.push('\n');
        }
        let mut rest = line;
        while let Some(at) = fold_at(rest, width) {
            let (fitting, remaining) = rest.split_at(at);
            folded.push_str(fitting);
            folded.push('\n');
            rest = remaining;
        }
        folded.push_str(rest);
    }
    folded
}

/// Where to break a line that is wider than `width`; never at its beginning.
fn fold_at(line: &str, width: usize) -> Option<usize> {
    let mut used = 0;
    let (full, _) = line.char_indices().find(|(at, c)| {
        used += get_char_width(*c);
        used > width && *at > 0
    })?;
    let seam = |seams: &[char]| line[..full].rfind(seams).map(|at| at + 1);
    seam(&[':', '/', ',']).or_else(|| seam(&['-', '_', '.', '='])).or(Some(full))
}

/// Each line of `text` that is not empty behind `blanks` blanks.
pub fn indent(text: &str, blanks: usize) -> String {
    let mut indented = String::with_capacity(text.len());
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            indented.push('\n');
        }
        if !line.is_empty() {
            indented.extend(std::iter::repeat_n(' ', blanks));
            indented.push_str(line);
        }
    }
    indented
}

/// `text` if it fits into `width` columns, else its beginning and an ellipsis.
pub fn fit(text: &str, width: usize) -> String {
    if get_string_width(text) <= width {
        return text.to_owned();
    }
    let mut fitting = String::with_capacity(width);
    let mut used = 1;
    for c in text.chars() {
        used += get_char_width(c);
        if used > width {
            break;
        }
        fitting.push(c);
    }
    fitting.push('…');
    fitting
}

/// `1 instance`, `3 instances`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// As [`list`], with at most `shown` items and the number of the others.
pub fn list_some(items: &[String], shown: usize) -> String {
    if items.len() <= shown {
        return list(items);
    }
    let mut text = items[..shown].join(", ");
    // Writing to a String cannot fail.
    let _ = write!(text, " and {} more", items.len() - shown);
    text
}

/// `value` as indented JSON with a line end, in which what looks like a credential is shown as its size,
/// and as a number where two of one size differ.
pub fn json<T: Serialize + ?Sized>(value: &T) -> String {
    json_but(value, &[])
}

/// As [`json`], but the texts in `kept` stay.
pub fn json_but<T: Serialize + ?Sized>(value: &T, kept: &[&str]) -> String {
    masked_json(&exact_json(value), kept).into_owned()
}

/// `value` as indented JSON with a line end, as it is: for data that programs go on with.
pub fn exact_json<T: Serialize + ?Sized>(value: &T) -> String {
    // Only maps with keys that are no strings fail, and nothing that is shown has such.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_else(|error| error.to_string());
    text.push('\n');
    text
}

/// How many columns the rest of a broken command stands further in, and as many take blank and sign at a break.
const CONTINUED: usize = 2;

/// A command in a line of its own, with what stands before it; broken where a shell sees that it goes on, and never
/// inside quotes, so that it can be pasted.
pub fn command(line: &str, width: usize) -> String {
    let words = line.trim_start();
    let indent = &line[..line.len() - words.len()];
    if get_string_width(line) <= width {
        return line.to_owned();
    }
    let room = width.saturating_sub(indent.len() + 2 * CONTINUED);
    let mut lines: Vec<String> = Vec::new();
    for word in shell_words(words) {
        match lines.last_mut() {
            Some(last) if get_string_width(last) + 1 + get_string_width(word) <= room => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    format!("{indent}{}", lines.join(&format!(" \\\n{indent}{}", " ".repeat(CONTINUED))))
}

/// Whether a line is a command in a line of its own.
pub fn is_command(line: &str) -> bool {
    let words = line.trim_start();
    words.len() < line.len()
        && ["aws ", "kubectl ", "machinepool "].iter().any(|program| words.starts_with(program))
}

/// The words of a command, each with its quotes.
fn shell_words(command: &str) -> Vec<&str> {
    let mut quote = None;
    command
        .split(|c| {
            match quote {
                Some(open) if open == c => quote = None,
                None if matches!(c, '\'' | '"') => quote = Some(c),
                _ => {}
            }
            c == ' ' && quote.is_none()
        })
        .filter(|word| !word.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// What a shell hands to the program of a command.
    fn arguments(command: &str) -> String {
        let script = format!("aws() {{ printf '[%s]' \"$@\"; }}\n{command}\n");
        let output = std::process::Command::new("sh").arg("-ec").arg(script).output().unwrap();
        assert!(output.status.success() && !output.stdout.is_empty(), "{command}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn a_broken_command_stays_the_command_that_it_is() {
        let line =
            "  aws x --tags 'Key=a b,Value=c' 'Key=longer than the line,Value=it\"s' --last \"d 'e' f\" g";
        for width in [20, 30, 50, 80, 200] {
            let broken = command(line, width);
            assert_eq!(arguments(&broken), arguments(line), "{width}: {broken}");
            assert!(broken.lines().all(|line| line.starts_with("  ")), "{broken}");
        }
        assert!(command(line, 40).contains(" \\\n    "));
        assert!(is_command(line) && !is_command("aws is here") && !is_command("  key is \"x\""));
    }

    #[test]
    fn nothing_steers_a_terminal() {
        assert_eq!(line("a\u{1b}[31mb\r\nc\td\u{7f}\u{9b}1m"), "a\\u{1b}[31mb\\r\\nc\\td\\u{7f}\\u{9b}1m");
        assert_eq!(line("\u{202e}txt.exe\u{200b}\u{2028}"), "\\u{202e}txt.exe\\u{200b}\\u{2028}");
        assert_eq!(block("one\n\ttwo\u{7}"), "one\n\ttwo\\u{7}");
        assert_eq!(line("größe 名前 🦀"), "größe 名前 🦀");
    }

    #[test]
    fn no_credential_is_shown() {
        let token = "abcdef.0123456789abcdef";
        assert_eq!(line(&format!("a {token}\u{1b}")), "a (23 bytes, not shown)\\u{1b}");
        assert_eq!(block(&format!("a\n'{token}'")), "a\n'(23 bytes, not shown)'");
        assert_eq!(json(&[token, "x"]), "[\n  \"(23 bytes, not shown)\",\n  \"x\"\n]\n");
        assert!(json_but(&[token], &[token]).contains(token));
        assert!(exact_json(&[token]).contains(token));
    }

    #[test]
    fn wrapping_loses_nothing() {
        let text = "one two three-is-a-very-long-word four\n\nfive";
        let wrapped = wrap(text, 10);
        assert_eq!(wrapped, "one two\nthree-is-a-very-long-word\nfour\n\nfive");
        assert_eq!(indent(&wrapped, 2), "  one two\n  three-is-a-very-long-word\n  four\n\n  five");
    }

    #[test]
    fn folding_loses_nothing_and_breaks_names_at_their_seams() {
        for (text, width, wanted) in [
            ("on arn:aws:iam::1:role/workers", 14, "on\narn:aws:iam::\n1:role/workers"),
            ("captf-team-a-demo", 12, "captf-team-\na-demo"),
            ("0123456789abcdef", 6, "012345\n6789ab\ncdef"),
            ("名前名前", 5, "名前\n名前"),
            ("名", 1, "名"),
            ("one\ntwo three", 5, "one\ntwo\nthree"),
            ("", 3, ""),
        ] {
            assert_eq!(fold(text, width), wanted);
        }
    }

    #[test]
    fn cutting_shows_a_sign() {
        assert_eq!(fit("abcdef", 6), "abcdef");
        assert_eq!(fit("abcdefg", 6), "abcde…");
        assert_eq!(fit("名前名前", 5), "名前…");
    }

    #[test]
    fn lists_read_like_sentences() {
        let items: Vec<String> = ["a", "b", "c", "d"].map(String::from).to_vec();
        assert_eq!(list(&items[..0]), "");
        assert_eq!(list(&items[..1]), "a");
        assert_eq!(list(&items), "a, b, c and d");
        assert_eq!(list_some(&items, 2), "a, b and 2 more");
        assert_eq!(count(1, "instance"), "1 instance");
        assert_eq!(count(0, "instance"), "0 instances");
        assert_eq!(capitalised("überall"), "Überall");
    }
}
