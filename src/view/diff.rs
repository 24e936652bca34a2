//! Long text as a unified diff.

use similar::TextDiff;

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
    let diff = TextDiff::from_lines(now.as_str(), then.as_str());
    let plain = diff
        .unified_diff()
        .context_radius(CONTEXT)
        .header(&format!("{field} (now)"), &format!("{field} (then)"))
        .to_string();
    let lines: Vec<String> = plain.lines().map(|line| style.paint_diff_line(line)).collect();
    lines.join("\n")
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
    fn colours_by_side() {
        let shown = unified("f", "a\n", "b\n", Style::new(None, true));
        assert!(shown.contains("\u{1b}[31m-a\u{1b}[0m") && shown.contains("\u{1b}[32m+b\u{1b}[0m"));
    }
}
