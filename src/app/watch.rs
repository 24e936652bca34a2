//! A status that is looked at again and again: on a terminal one picture over the other, elsewhere one behind
//! the other.

use std::time::Duration;

use anyhow::Context as _;
use tokio::{
    signal::unix::{SignalKind, signal},
    time::{Instant, MissedTickBehavior, interval, sleep},
};

use super::{screen, session::Run, status::Look};
use crate::{
    cli::StatusFormat,
    error::{Failure, Kind},
    model::status::Status,
    view::{self, Freshness, Style},
};

/// What the inputs ask for changes rarely, and comparing costs twice the calls.
const COMPARE_EVERY: Duration = Duration::from_mins(1);

/// How often the age of what is shown is drawn anew.
const TICK: Duration = Duration::from_secs(1);

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

/// Prints what each look shows, until nobody reads it any more.
async fn in_turn(
    run: &Run<'_>,
    rounds: &mut Rounds<'_, '_>,
    first: Status,
    format: StatusFormat,
) -> anyhow::Result<u8> {
    let mut outcome: Result<Status, Failure> = Ok(first);
    let mut is_first = true;
    loop {
        match &outcome {
            Ok(status) => run.ui.result(&match format {
                StatusFormat::Json => view::status_json_line(status),
                StatusFormat::Text if is_first => view::status(status, run.ui.result_style()),
                StatusFormat::Text => format!("\n{}", view::status(status, run.ui.result_style())),
            }),
            Err(failure) => run.ui.tell(&failure.diagnostics),
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
    let mut shown = Shown { status: first, failure: None, read: Instant::now(), every: rounds.every };
    run.ui.enter_screen();
    let quit = screen::quit();
    tokio::pin!(quit);
    let outcome = 'rounds: loop {
        let round = rounds.next();
        tokio::pin!(round);
        let outcome = loop {
            run.ui.draw(|style, keyboard| shown.picture(run.ui.held().as_deref(), keyboard, style));
            if !run.ui.is_heard() {
                break 'rounds Ok(0);
            }
            tokio::select! {
                // Whatever else is ready: after a signal the screen has been left already.
                biased;
                () = run.interrupt.raised() => break 'rounds Err(ended()),
                () = &mut quit => break 'rounds Ok(0),
                outcome = &mut round => break outcome,
                _ = resized.recv() => {}
                _ = ticks.tick() => {}
            }
        };
        shown.take(outcome);
    };
    run.ui.leave_screen();
    run.ui.result(&view::status(&shown.status, run.ui.result_style()));
    Ok(outcome?)
}

/// The latest look that succeeded, and the failure since, if there is one.
struct Shown {
    status: Status,
    failure: Option<Failure>,
    read: Instant,
    every: Duration,
}

impl Shown {
    fn take(&mut self, outcome: Result<Status, Failure>) {
        match outcome {
            Ok(status) => {
                *self = Self { status, failure: None, read: Instant::now(), every: self.every };
            }
            Err(failure) => self.failure = Some(failure),
        }
    }

    fn picture(&self, said: Option<&str>, keyboard: bool, style: Style) -> String {
        let freshness = Freshness {
            age: self.read.elapsed(),
            every: self.every,
            failure: self.failure.as_ref().map(|failure| failure.diagnostics.as_slice()),
            said,
            keyboard,
        };
        view::watched_status(&self.status, &freshness, style)
    }
}

fn ended() -> Failure {
    Failure::new(Kind::Interrupted, "Interrupted", "Nothing was changed.")
}
