//! Long text as a unified diff.

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

/// What stands behind a value that is shown like another one that it is not.
pub(super) const CHANGED: &str = "(hidden, changed)";

/// What changes from `now` to `then`, in unified form; `field` stands in the heading. What differs is made safe to
/// show only then: also what is not shown can change.
pub(super) fn unified(field: &str, now: &str, then: &str, style: Style) -> String {
    let shown = [text::lines(now), text::lines(then)];
    let now: Vec<&str> = now.split_inclusive('\n').collect();
    let then: Vec<&str> = then.split_inclusive('\n').collect();
    let hunks = hunks(&now, &then);
    let mut lines = Vec::new();
    if !hunks.is_empty() {
        lines.extend([format!("--- {field} (now)"), format!("+++ {field} (then)")]);
    }
    for hunk in hunks {
        lines.push(UnifiedHunkHeader::new(&hunk).to_string());
        for op in &hunk {
            differences(op, &shown, &mut lines);
        }
    }
    let painted: Vec<String> = lines.iter().map(|line| style.paint_diff_line(line)).collect();
    painted.join("\n")
}

/// The lines of one difference.
fn differences(op: &DiffOp, [now, then]: &[Vec<String>; 2], lines: &mut Vec<String>) {
    let (old, new) = (&now[op.old_range()], &then[op.new_range()]);
    let mut push = |sign, line: &str, remark: &str| {
        lines.push(format!("{sign}{}{remark}", line.trim_end_matches('\n')));
        if !line.ends_with('\n') {
            lines.push("\\ No newline at end of file".to_owned());
        }
    };
    let sign = if op.tag() == DiffTag::Equal { ' ' } else { '-' };
    for line in old {
        push(sign, line, "");
    }
    if op.tag() == DiffTag::Equal {
        return;
    }
    for line in new {
        let remark = if old.contains(line) { format!(" {CHANGED}") } else { String::new() };
        push('+', line, &remark);
    }
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
    fn a_line_end_that_comes_or_goes_is_told() {
        let style = Style::new(None, false);
        insta::assert_snapshot!(unified("f", "a\nb", "a\nb\n", style), @r"
        --- f (now)
        +++ f (then)
        @@ -1,2 +1,2 @@
         a
        -b
        \ No newline at end of file
        +b
        ");
        assert_eq!(unified("f", "a\n", "a\n", style), "");
    }

    #[test]
    fn what_changes_in_a_hidden_part_is_told() {
        let style = Style::new(None, false);
        let key = |body: &str| format!("a\n-----BEGIN KEY-----\n{body}\n-----END KEY-----\nb\n");
        insta::assert_snapshot!(unified("f", &key("one"), &key("two"), style), @r"
        --- f (now)
        +++ f (then)
        @@ -1,5 +1,5 @@
         a
         (19 bytes, not shown)
        -(3 bytes, not shown)
        +(3 bytes, not shown) (hidden, changed)
         (17 bytes, not shown)
         b
        ");
        let join = |token: &str| format!("join {token}\n");
        insta::assert_snapshot!(
            unified("f", &join("abcdef.0123456789abcdef"), &join("abcdef.0123456789abcdeg"), style), @r"
        --- f (now)
        +++ f (then)
        @@ -1 +1 @@
        -join (23 bytes, not shown)
        +join (23 bytes, not shown) (hidden, changed)
        ");
    }

    #[test]
    fn colours_by_side() {
        let shown = unified("f", "a\n", "b\n", Style::new(None, true));
        assert!(shown.contains("\u{1b}[31m-a\u{1b}[0m") && shown.contains("\u{1b}[32m+b\u{1b}[0m"));
    }
}
