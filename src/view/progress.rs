//! What happens while a command runs, line by line; each but the live one with its line end.

use std::time::Duration;

use super::{
    duration::human,
    status::progress_bar,
    style::{Style, Tone},
    text,
};

/// A step begins; `what` is a present participle and its object.
pub fn started(what: &str) -> String {
    format!("{} ...\n", text::capitalised(&text::line(what)))
}

/// A step is done.
pub fn done(what: &str, took: Duration, style: Style) -> String {
    let took = style.paint(Tone::Faint, &format!("({})", human(took)));
    format!("{} {} {took}\n", style.paint(Tone::Good, "Done:"), text::line(what))
}

/// Something is waited for.
pub fn waiting(what: &str, waited: Duration) -> String {
    // The time comes first: a narrow terminal cuts the end.
    format!("Waiting ({}): {}\n", human(waited), text::line(what))
}

/// The one line that a terminal keeps rewriting while something is waited for; no line end. With a share in
/// percent, it shows a bar, where that leaves room for the rest.
pub fn live(what: &str, waited: Duration, share: Option<u32>, style: Style) -> String {
    let line = match share {
        Some(share) if style.width < WITH_BAR => {
            format!("({}) {share} %, {}", human(waited), text::line(what))
        }
        Some(share) => {
            let [full, empty] = progress_bar(share, BAR);
            format!("Waiting ({}): {full}{empty} {share} %, {}", human(waited), text::line(what))
        }
        None => waiting(what, waited),
    };
    text::fit(line.trim_end(), style.width.saturating_sub(1))
}

/// The least columns of a live line with a bar.
const WITH_BAR: usize = 80;

/// Columns of the bar in a live line.
const BAR: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_per_event() {
        let style = Style::new(None, false);
        let what = "creating launch template captf-\u{1b}x";
        let shown = [
            started(what),
            done(what, Duration::from_millis(432), style),
            waiting("3 of 5 members are left", Duration::from_secs(75)),
        ]
        .concat();
        insta::assert_snapshot!(shown, @r"
        Creating launch template captf-\u{1b}x ...
        Done: creating launch template captf-\u{1b}x (0.4s)
        Waiting (1m15s): 3 of 5 members are left
        ");
    }

    /// The states of members are what somebody watches.
    #[test]
    fn a_live_line_keeps_the_members_states_at_any_width() {
        let brief = "3 InService, 1 Pending, 2 Terminating:Wait, 1 left to replace; instance refresh \
                     08b91cf7-8fa6-48af-b6a6-d227f40f1b9b is InProgress";
        let shown = [60, 80, 120]
            .map(|width| live(brief, Duration::from_secs(75), Some(66), Style::new(Some(width), false)))
            .join("\n");
        insta::assert_snapshot!(shown);
    }

    #[test]
    fn the_live_line_never_wraps() {
        let style = Style::new(Some(80), false);
        let line = live(&"x".repeat(200), Duration::from_secs(1), None, style);
        assert_eq!(line.chars().count(), 79);
        assert!(line.starts_with("Waiting (1.0s): ") && line.ends_with('…'), "{line}");
        let line = live(&"x".repeat(200), Duration::from_secs(1), Some(66), style);
        assert_eq!(line.chars().count(), 79);
        assert!(line.starts_with("Waiting (1.0s): ██████░░░░ 66 %, xxx") && line.ends_with('…'), "{line}");
    }
}
