//! Ctrl-C and termination signals. Where something is under way, the first asks the engine to stop and the second
//! ends the process; everywhere else the first does.

use std::{
    convert::Infallible,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use futures_util::future::select_all;
use signal_hook::{consts, flag};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::ui::Ui;
use crate::engine::context::Interrupter;

/// The exit code of an interrupted command.
const INTERRUPTED: i32 = 1;

/// What is asked of every process that is to end.
const ALWAYS: [i32; 2] = [consts::SIGINT, consts::SIGTERM];

/// What a terminal sends as well: it has gone away, or Ctrl-\. Whoever started the process may have said that they are
/// to be ignored (`nohup`), and then they are.
const UNLESS_IGNORED: [i32; 2] = [consts::SIGHUP, consts::SIGQUIT];

/// The signals of the process.
pub(super) struct Signals {
    heeded: Vec<i32>,
    /// Whether the next one ends the process. The handler itself looks, so that it does whatever the process is
    /// busy with.
    deadly: Arc<AtomicBool>,
}

impl Signals {
    /// From now on a signal ends the process. By default it would not, if it is the first of its container.
    pub(super) fn of_process() -> io::Result<Self> {
        let deadly = Arc::new(AtomicBool::new(true));
        let ignored = std::fs::read_to_string("/proc/self/status").map_or(0, |status| ignored(&status));
        let not_ignored = UNLESS_IGNORED.into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0);
        let heeded: Vec<i32> = ALWAYS.into_iter().chain(not_ignored).collect();
        for &signal in &heeded {
            // In this order: the one that sets the flag is not the one that it ends the process for.
            flag::register_conditional_shutdown(signal, INTERRUPTED, Arc::clone(&deadly))?;
            flag::register(signal, Arc::clone(&deadly))?;
        }
        Ok(Self { heeded, deadly })
    }

    /// Something is under way from now on, until what is returned is dropped. Needs a runtime.
    pub(super) fn listen(&self) -> io::Result<Listening<'_>> {
        let signals = self.heeded.iter().map(|&number| signal(SignalKind::from_raw(number)));
        let listening = Listening { signals: signals.collect::<io::Result<_>>()?, deadly: &self.deadly };
        self.deadly.store(false, Ordering::SeqCst);
        Ok(listening)
    }
}

/// The signals that a process ignores, as bits, from Linux's description of it; none where it does not tell.
fn ignored(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Waits for the first signal.
pub(super) struct Listening<'a> {
    signals: Vec<Signal>,
    deadly: &'a AtomicBool,
}

impl Listening<'_> {
    /// Raises the flag at the first signal. Never returns.
    pub(super) async fn obey(&mut self, ui: &Ui, interrupter: &Interrupter) -> Infallible {
        select_all(self.signals.iter_mut().map(|signal| Box::pin(signal.recv()))).await;
        interrupter.raise();
        // Before a second signal can end the process.
        ui.leave_screen();
        ui.say("Stopping: the calls in flight are finished first. A second signal stops at once.\n");
        std::future::pending().await
    }
}

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.deadly.store(true, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_is_read_from_the_mask() {
        assert_eq!(ignored("Name:\tx\nSigBlk:\t0000000000000004\nSigIgn:\t0000000000001001\n"), 0x1001);
        assert_eq!(ignored("SigIgn:\tnonsense\n"), 0);
        assert_eq!(ignored(""), 0);
    }
}
