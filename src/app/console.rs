//! Tells a person what the engine does.

use std::{cell::Cell, time::Duration};

use super::ui::Ui;
use crate::{
    engine::context::{Event, Progress},
    view,
};

/// Where no line can be rewritten, a wait shows one so often. People are promised one every 10 seconds;
/// events come with some jitter.
const WAITING_LINE_EVERY: Duration = Duration::from_secs(8);

/// Progress on standard error: lines, and on a terminal a live line while something is waited for.
pub(super) struct Console<'a> {
    ui: &'a Ui,
    /// How far the wait was when a line about it was last printed.
    told: Cell<Option<Duration>>,
    /// How far it was at the latest event.
    seen: Cell<Duration>,
    /// How much of what is waited for is done, in percent, if that can be told, and the rest in brief.
    share: Cell<Option<(u32, String)>>,
}

impl<'a> Console<'a> {
    pub(super) fn new(ui: &'a Ui) -> Self {
        Self { ui, told: Cell::default(), seen: Cell::default(), share: Cell::default() }
    }

    /// Whether a wait deserves a line again: a new one always, one that goes on every few seconds.
    fn is_due(&self, waited: Duration) -> bool {
        let goes_on = waited >= self.seen.replace(waited);
        let told = self.told.get().filter(|_| goes_on);
        let due = told.is_none_or(|told| waited.saturating_sub(told) >= WAITING_LINE_EVERY);
        if due {
            self.told.set(Some(waited));
        }
        due
    }
}

impl Progress for Console<'_> {
    fn tell(&self, event: Event) {
        if let Some(lines) = self.ui.lines() {
            return lines.tell(event);
        }
        let style = self.ui.talk_style();
        let text = match event {
            Event::Waiting { what, waited } if self.ui.is_live() => {
                // A share is of one look: what the next one shows may have none.
                let line = match self.share.take() {
                    Some((share, brief)) => view::live(&brief, waited, Some(share), style),
                    None => view::live(&what, waited, None, style),
                };
                return self.ui.show_live(&line);
            }
            Event::Waiting { what, waited } => {
                if !self.is_due(waited) {
                    return;
                }
                view::waiting(&what, waited)
            }
            Event::Started { what, .. } => {
                // Whatever is waited for next is a new wait.
                self.told.set(None);
                self.share.take();
                view::started(&what)
            }
            Event::Done { what, took, .. } => {
                self.share.take();
                view::done(&what, took, style)
            }
            Event::Share { done, of, brief } => {
                self.share.replace((done * 100).checked_div(of).map(|share| (share, brief)));
                return;
            }
            // The error at the end says it, with the reason.
            Event::Failed { .. } => return,
            Event::Warning(warning) => view::diagnostic(&warning, style),
        };
        self.ui.say(&text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{app::ui::tests::on_paper, model::plan::Address};

    fn wait(console: &Console<'_>, seconds: impl IntoIterator<Item = u64>) {
        for second in seconds {
            console.tell(Event::Waiting { what: "members".into(), waited: Duration::from_secs(second) });
        }
    }

    #[test]
    fn a_log_gets_a_line_at_least_every_ten_seconds_and_not_many_more() {
        for step in [1, 2, 5, 10] {
            let (ui, err) = on_paper(false);
            wait(&Console::new(&ui), (0..=60).step_by(step));
            let shown = err.text().lines().count();
            assert!((7..=9).contains(&shown), "every {step} s: {shown} lines");
        }
    }

    #[test]
    fn a_second_wait_is_told_at_once() {
        let (ui, err) = on_paper(false);
        let console = Console::new(&ui);
        wait(&console, [0, 5]);
        wait(&console, [0]);
        console.tell(Event::Started { address: Address::Group, what: "deleting".into() });
        wait(&console, [0, 5]);
        assert_eq!(err.text().matches("Waiting").count(), 3, "{}", err.text());
    }

    #[test]
    fn a_share_is_a_bar_until_the_next_look() {
        let (ui, err) = on_paper(true);
        let console = Console::new(&ui);
        console.tell(Event::Share { done: 1, of: 2, brief: "members".into() });
        wait(&console, [3]);
        assert!(err.text().contains("█████░░░░░ 50 %"), "{}", err.text());
        let lags = "AWS does not show instance refresh r-1 yet";
        console.tell(Event::Waiting { what: lags.into(), waited: Duration::from_secs(4) });
        assert!(err.text().ends_with(lags), "{}", err.text());
        console.tell(Event::Share { done: 1, of: 2, brief: "members".into() });
        console.tell(Event::Started { address: Address::Group, what: "deleting".into() });
        console.tell(Event::Share { done: 0, of: 0, brief: String::new() });
        wait(&console, [3]);
        assert_eq!(err.text().matches('%').count(), 1, "{}", err.text());
    }

    #[test]
    fn a_terminal_rewrites_one_line() {
        let (ui, err) = on_paper(true);
        wait(&Console::new(&ui), 0..3);
        assert!(!err.text().contains('\n') && err.text().matches("members").count() == 3, "{}", err.text());
    }
}
