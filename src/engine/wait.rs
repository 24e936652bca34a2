//! Waits: for what AWS is to show, and for the time between two looks.

use std::{ops::ControlFlow, time::Duration};

use super::{
    context::{Context, Event},
    stoppable::NOTHING_NEW,
};
use crate::error::{Failure, Kind};

/// How long one wait may take, where nothing else is said.
pub(super) const LIMIT: Duration = Duration::from_mins(10);

/// The longest pause between two looks, so that somebody who watches hears something.
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// Looks again and again, with growing pauses, until `look` breaks with a value. What it continues
/// with says what is still waited for. Ends with an error at `limit`, at the command's deadline, or
/// at once on an interrupt.
pub(super) async fn until<T>(
    ctx: &Context<'_>,
    limit: Duration,
    mut look: impl AsyncFnMut() -> Result<ControlFlow<T, String>, Failure>,
) -> Result<T, Failure> {
    let begin = ctx.clock.now();
    let mut pause = Duration::from_secs(1);
    loop {
        let what = match look().await? {
            ControlFlow::Break(value) => return Ok(value),
            ControlFlow::Continue(what) => what,
        };
        let now = ctx.clock.now();
        let waited = now.since(begin);
        if waited >= limit || now >= ctx.deadline {
            let why = if now >= ctx.deadline {
                "The time of the whole command (--timeout) is over."
            } else {
                "No single wait of this kind takes longer."
            };
            return Err(Failure::new(
                Kind::Aws,
                format!("Gave up waiting after {} s: {what}", waited.as_secs()),
                format!("{why} Nothing is lost: run the command again to go on."),
            ));
        }
        ctx.progress.tell(Event::Waiting { what, waited });
        let left = limit.saturating_sub(waited).min(ctx.deadline.since(now));
        sleep(ctx, pause.min(left)).await?;
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

/// Lets `pause` pass, unless interrupted.
pub(super) async fn sleep(ctx: &Context<'_>, pause: Duration) -> Result<(), Failure> {
    tokio::select! {
        biased;
        () = ctx.interrupt.raised() => Err(interrupted()),
        () = ctx.clock.sleep(pause) => Ok(()),
    }
}

/// Refuses to begin anything new once interrupted.
pub(super) fn check_interrupt(ctx: &Context<'_>) -> Result<(), Failure> {
    if ctx.interrupt.is_raised() { Err(interrupted()) } else { Ok(()) }
}

fn interrupted() -> Failure {
    Failure::new(Kind::Interrupted, "Interrupted", format!("{NOTHING_NEW} Run the command again to go on."))
}
