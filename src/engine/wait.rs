//! The only place that lets time pass.

use std::{ops::ControlFlow, time::Duration};

use super::context::{Context, Event};
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
        let what = match finish(ctx, look()).await?? {
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

/// How long a call in flight may still take once the run is interrupted. The SDK's own retries could go on
/// for minutes, and whoever sent the signal kills after a while.
const GRACE: Duration = Duration::from_secs(10);

/// Lets a call in flight finish; once interrupted, not for long. What became of a call that was given up
/// is not known, and the next run looks.
pub(super) async fn finish<T>(ctx: &Context<'_>, call: impl Future<Output = T>) -> Result<T, Failure> {
    tokio::pin!(call);
    tokio::select! {
        biased;
        answer = &mut call => return Ok(answer),
        () = ctx.interrupt.raised() => {}
    }
    tokio::select! {
        biased;
        answer = call => Ok(answer),
        () = ctx.clock.sleep(GRACE) => Err(Failure::new(
            Kind::Interrupted,
            "Interrupted while AWS was silent",
            format!(
                "A call had no answer {} s after the interrupt and was given up: it may or may not have taken \
                 effect. Run the command again, which looks and goes on.",
                GRACE.as_secs()
            ),
        )),
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
    Failure::new(Kind::Interrupted, "Interrupted", "Nothing new was begun. Run the command again to go on.")
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::{
        clock::{Clock as _, Timestamp},
        cloud::sandbox::{ManualClock, Sandbox, Seed},
        engine::context::{Interrupt, Silent},
    };

    #[tokio::test(flavor = "current_thread")]
    async fn an_interrupt_gives_up_a_call_that_nobody_answers() {
        let clock = Rc::new(ManualClock::default());
        let sandbox =
            Sandbox::in_memory(&Seed { region: "us-east-1".into(), ..Seed::default() }, clock.clone());
        let (interrupter, interrupt) = Interrupt::new();
        let deadline = clock.now().plus(Duration::from_hours(1));
        let ctx =
            Context { cloud: &sandbox, clock: &*clock, progress: &Silent, interrupt: &interrupt, deadline };
        assert_eq!(finish(&ctx, async { 1 }).await.unwrap(), 1);
        interrupter.raise();
        assert_eq!(finish(&ctx, async { 2 }).await.unwrap(), 2, "what has an answer is not lost");
        let before: Timestamp = clock.now();
        let failure = finish(&ctx, std::future::pending::<()>()).await.unwrap_err();
        assert_eq!(failure.kind, Kind::Interrupted);
        assert_eq!(clock.now().since(before), GRACE);
    }
}
