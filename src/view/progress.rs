//! What happens while a command runs, line by line.

use std::time::Duration;

use super::{
    diagnostics::diagnostic,
    duration::human,
    style::{Style, Tone},
    text,
};
use crate::engine::context::Event;

/// The line (or, of a warning, the block) that stays on the screen for an event, with a line end.
pub fn note_of(event: &Event, style: Style) -> String {
    match event {
        Event::Started { what, .. } => format!("{} ...\n", text::capitalised(&text::line(what))),
        Event::Done { what, took, .. } => {
            let took = style.paint(Tone::Faint, &format!("({})", human(*took)));
            format!("{} {} {took}\n", style.paint(Tone::Good, "Done:"), text::line(what))
        }
        Event::Waiting { what, waited } => {
            format!("{}\n", waiting(what, *waited))
        }
        Event::Warning(warning) => diagnostic(warning, style),
    }
}

/// The one line that a terminal keeps rewriting while something is waited for; no line end.
pub fn live(what: &str, waited: Duration, style: Style) -> String {
    text::fit(&waiting(what, waited), style.width.saturating_sub(1))
}

fn waiting(what: &str, waited: Duration) -> String {
    format!("Waiting ({}): {}", human(waited), text::line(what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{contract::problem::Diagnostic, model::plan::Address};

    #[test]
    fn one_line_per_event() {
        let style = Style::new(None, false);
        let what = "creating launch template captf-x".to_owned();
        let waited = Duration::from_secs(75);
        let events = [
            Event::Started { address: Address::Template, what: what.clone() },
            Event::Done { address: Address::Template, what, took: Duration::from_millis(432) },
            Event::Waiting { what: "3 of 5 members are left".into(), waited },
            Event::Warning(Diagnostic::warning("Old versions stay", "AccessDenied: no")),
        ];
        let shown: String = events.iter().map(|event| note_of(event, style)).collect();
        insta::assert_snapshot!(shown, @r"
        Creating launch template captf-x ...
        Done: creating launch template captf-x (0.4s)
        Waiting (1m15s): 3 of 5 members are left
        Warning: Old versions stay

        AccessDenied: no
        ");
    }

    #[test]
    fn the_live_line_never_wraps() {
        let line = live(&"x".repeat(200), Duration::from_secs(1), Style::new(Some(80), false));
        assert_eq!(line.chars().count(), 79);
        assert!(line.ends_with('…'));
    }
}
