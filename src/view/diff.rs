//! Long text as a unified diff.

use std::fmt::Write as _;

use similar::{
    DiffOp, DiffTag,
    algorithms::{Capture, Compact, Replace, myers},
    udiff::UnifiedHunkHeader,
};

use super::{
    style::{Style, Tone},
    text,
};

/// Lines of context around a difference.
const CONTEXT: usize = 3;

/// What changes from `now` to `then`, in unified form; `field` stands in the heading. Both sides are
/// made safe to show.
pub(super) fn unified(field: &str, now: &str, then: &str, style: Style) -> String {
    let (now, then) = (text::block(now), text::block(then));
    let (now, then): (Vec<&str>, Vec<&str>) =
        (now.split_inclusive('\n').collect(), then.split_inclusive('\n').collect());
    let mut plain = format!("--- {field} (now)\n+++ {field} (then)\n");
    for hunk in hunks(&now, &then) {
        // Writing to a String cannot fail.
        let _ = writeln!(plain, "{}", UnifiedHunkHeader::new(&hunk));
        for op in &hunk {
            if op.tag() != DiffTag::Insert {
                let sign = if op.tag() == DiffTag::Equal { ' ' } else { '-' };
                push(&mut plain, sign, &now[op.old_range()]);
            }
            if op.tag() != DiffTag::Equal {
                push(&mut plain, '+', &then[op.new_range()]);
            }
        }
    }
    let lines: Vec<String> = plain.lines().map(|line| style.paint_diff_line(line)).collect();
    lines.join("\n")
}

/// Groups of differences with their context. Myers' algorithm by its name: what chooses among all of them at run
/// time brings the code of all into the program, a quarter of a megabyte.
fn hunks(now: &[&str], then: &[&str]) -> Vec<Vec<DiffOp>> {
    let mut found = Compact::new(Replace::new(Capture::new()), now, then);
    match myers::diff(&mut found, now, 0..now.len(), then, 0..then.len()) {
        Ok(()) => found.into_inner().into_inner().into_grouped_ops(CONTEXT),
        Err(never) => match never {},
    }
}

fn push(plain: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        plain.push(sign);
        plain.push_str(line);
        if !line.ends_with('\n') {
            plain.push_str("\n\\ No newline at end of file\n");
        }
    }
}

impl Style {
    fn paint_diff_line(self, line: &str) -> String {
        let tone = match line.as_bytes().first() {
            Some(b'+') => Tone::Good,
            Some(b'-') => Tone::Bad,
            Some(b'@') => Tone::Faint,
            _ => return line.to_owned(),
        };
        self.paint(tone, line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_the_lines_that_differ_with_context() {
        let style = Style::new(None, false);
        let now = (1..=9).fold(String::new(), |text, n| format!("{text}line {n}\n"));
        let then = now.replace("line 5", "line \u{1b}5");
        insta::assert_snapshot!(unified("user_data", &now, &then, style), @r"
        --- user_data (now)
        +++ user_data (then)
        @@ -2,7 +2,7 @@
         line 2
         line 3
         line 4
        -line 5
        +line \u{1b}5
         line 6
         line 7
         line 8
        ");
    }

    #[test]
    fn a_line_end_that_is_missing_is_a_difference() {
        assert_eq!(
            unified("f", "a\nb", "a\nb\n", Style::new(None, false)),
            "--- f (now)\n+++ f (then)\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b"
        );
    }

    #[test]
    fn colours_by_side() {
        let shown = unified("f", "a\n", "b\n", Style::new(None, true));
        assert!(shown.contains("\u{1b}[31m-a\u{1b}[0m") && shown.contains("\u{1b}[32m+b\u{1b}[0m"));
    }
}
