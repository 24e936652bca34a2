//! A status that is looked at again and again: on a terminal one picture over the other, elsewhere one behind
//! the other.

use std::time::Duration;

use anyhow::Context as _;
use tokio::{
    signal::unix::{SignalKind, signal},
    time::{Instant, MissedTickBehavior, interval, sleep},
};

use super::{
    keys::{Key, Keyboard},
    session::Run,
    status::Look,
};
use crate::{
    cli::StatusFormat,
    clock::Timestamp,
    contract::problem::Diagnostic,
    error::{Failure, Kind},
    model::status::Status,
    view::{self, Freshness, Style, Trouble},
};

/// What the inputs ask for changes rarely, and comparing costs twice the calls.
const COMPARE_EVERY: Duration = Duration::from_mins(1);

/// How often the age of what is shown is drawn anew.
const TICK: Duration = Duration::from_secs(1);

/// Takes note of a look that failed. What fails for the reason that the one before failed for is the same trouble;
/// whether it is another one. Requests have numbers in their details, so that only summaries are compared.
fn note(trouble: &mut Option<Trouble>, failure: Failure, now: Timestamp) -> bool {
    fn summaries(of: &[Diagnostic]) -> impl Iterator<Item = &String> {
        of.iter().map(|problem| &problem.summary)
    }
    match trouble {
        Some(known) if summaries(&known.problems).eq(summaries(&failure.diagnostics)) => {
            known.problems = failure.diagnostics;
            known.tries = known.tries.saturating_add(1);
            false
        }
        _ => {
            *trouble = Some(Trouble { problems: failure.diagnostics, since: now, tries: 1 });
            true
        }
    }
}

/// Looks every `every` until somebody ends it. The first look must succeed: wrong inputs or credentials are told
/// at once; after that a failure is shown, and the watch goes on.
pub(super) async fn watch(
    run: &Run<'_>,
    look: &mut Look<'_>,
    every: Duration,
    format: StatusFormat,
) -> anyhow::Result<u8> {
    let first = run.reading(look.status()).await?;
    let mut rounds = Rounds { look, every, compared: Instant::now() };
    match format {
        StatusFormat::Text if run.ui.is_screen() => on_screen(run, &mut rounds, first).await,
        _ => in_turn(run, &mut rounds, first, format).await,
    }
}

/// One look after the other.
struct Rounds<'r, 'l> {
    look: &'r mut Look<'l>,
    every: Duration,
    /// When the pool was last compared with its inputs.
    compared: Instant,
}

impl Rounds<'_, '_> {
    /// Waits, then looks.
    async fn next(&mut self) -> Result<Status, Failure> {
        sleep(self.every).await;
        self.look.compares = self.compared.elapsed() >= COMPARE_EVERY;
        let outcome = self.look.status().await;
        if self.look.compares {
            self.compared = Instant::now();
        }
        outcome
    }
}

/// Prints what each look shows, until nobody reads it any more. Trouble is told when it begins and when it ends.
async fn in_turn(
    run: &Run<'_>,
    rounds: &mut Rounds<'_, '_>,
    first: Status,
    format: StatusFormat,
) -> anyhow::Result<u8> {
    let mut outcome: Result<Status, Failure> = Ok(first);
    let mut is_first = true;
    let mut trouble = None;
    loop {
        let now = run.account.clock().now();
        if let Some(over) = trouble.take_if(|_| outcome.is_ok()) {
            run.ui.say(&view::trouble_ends(&over, now));
        }
        match outcome {
            Ok(status) => run.ui.result(&match format {
                StatusFormat::Json => view::status_json_line(&status),
                StatusFormat::Text if is_first => view::status(&status, run.ui.result_style()),
                StatusFormat::Text => format!("\n{}", view::status(&status, run.ui.result_style())),
            }),
            Err(failure) => {
                if note(&mut trouble, failure, now)
                    && let Some(trouble) = &trouble
                {
                    run.ui.say(&view::trouble_begins(trouble, rounds.every));
                }
            }
        }
        if !run.ui.is_heard() {
            return Ok(0);
        }
        is_first = false;
        outcome = tokio::select! {
            biased;
            () = run.interrupt.raised() => return Err(ended().into()),
            outcome = rounds.next() => outcome,
        };
    }
}

/// Draws what each look shows, until a key or a signal ends it; the last picture stays behind.
async fn on_screen(run: &Run<'_>, rounds: &mut Rounds<'_, '_>, first: Status) -> anyhow::Result<u8> {
    let mut resized = signal(SignalKind::window_change()).context("Cannot listen for signals")?;
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut shown = Shown::new(first, rounds.every);
    run.ui.enter_screen();
    let mut keyboard = Keyboard::listen();
    let outcome = 'rounds: loop {
        let round = rounds.next();
        tokio::pin!(round);
        let outcome = loop {
            let said = run.ui.held();
            run.ui.draw(|style, height, keyboard| shown.picture(said.as_deref(), keyboard, height, style));
            if !run.ui.is_heard() {
                break 'rounds Ok(0);
            }
            tokio::select! {
                // Whatever else is ready: after a signal the screen has been left already.
                biased;
                () = run.interrupt.raised() => break 'rounds Err(ended()),
                key = keyboard.next() => match key {
                    Key::Quit => break 'rounds Ok(0),
                    _ => shown.scroll(key),
                },
                outcome = &mut round => break outcome,
                _ = resized.recv() => {}
                _ = ticks.tick() => {}
            }
        };
        shown.take(outcome, run.account.clock().now());
    };
    run.ui.leave_screen();
    run.ui.result(&view::status(&shown.status, run.ui.result_style()));
    Ok(outcome?)
}

/// The latest look that succeeded, the trouble since, if there is any, and what of it is on the screen.
struct Shown {
    status: Status,
    trouble: Option<Trouble>,
    read: Instant,
    every: Duration,
    /// The first line that shows, and how many there is room for.
    from: usize,
    page: usize,
}

impl Shown {
    fn new(status: Status, every: Duration) -> Self {
        Self { status, trouble: None, read: Instant::now(), every, from: 0, page: 1 }
    }

    fn take(&mut self, outcome: Result<Status, Failure>, now: Timestamp) {
        match outcome {
            Ok(status) => {
                (self.status, self.trouble, self.read) = (status, None, Instant::now());
            }
            Err(failure) => {
                note(&mut self.trouble, failure, now);
            }
        }
    }

    /// Goes on or back from the line that shows first now; the next picture knows where the end is.
    fn scroll(&mut self, key: Key) {
        // A line of the page before stays in sight.
        let page = self.page.saturating_sub(1).max(1);
        self.from = match key {
            Key::Up => self.from.saturating_sub(1),
            Key::Down => self.from + 1,
            Key::PageUp => self.from.saturating_sub(page),
            Key::PageDown => self.from + page,
            Key::Quit => self.from,
        };
    }

    fn picture(&mut self, said: Option<&str>, keyboard: bool, height: usize, style: Style) -> String {
        let freshness = Freshness {
            age: self.read.elapsed(),
            every: self.every,
            trouble: self.trouble.as_ref(),
            said,
            keyboard,
        };
        let excerpt = view::watched_status(&self.status, &freshness, height, self.from, style);
        (self.from, self.page) = (excerpt.from, excerpt.page);
        excerpt.text
    }
}

fn ended() -> Failure {
    Failure::new(Kind::Interrupted, "Interrupted", "Nothing was changed.")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_same_cause_is_one_trouble_whatever_its_requests_are_called() {
        let failed = |code: &str, request: u8| {
            Failure::new(Kind::Aws, format!("DescribeX failed: {code}"), format!("request {request}"))
        };
        let mut trouble = None;
        assert!(note(&mut trouble, failed("Throttling", 1), Timestamp(1)));
        assert!(!note(&mut trouble, failed("Throttling", 2), Timestamp(2)));
        let known = trouble.as_ref().unwrap();
        assert_eq!(
            (known.since, known.tries, known.problems[0].detail.as_str()),
            (Timestamp(1), 2, "request 2")
        );
        assert!(note(&mut trouble, failed("AccessDenied", 3), Timestamp(3)));
        assert_eq!((trouble.as_ref().unwrap().since, trouble.unwrap().tries), (Timestamp(3), 1));
    }
}
