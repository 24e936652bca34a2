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

use signal_hook::{consts, flag};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::ui::Ui;
use crate::engine::context::Interrupter;

/// The exit code of an interrupted command.
const INTERRUPTED: i32 = 1;

/// The signals of the process.
pub(super) struct Signals {
    /// Whether the next one ends the process. The handler itself looks, so that it does whatever the process is
    /// busy with.
    deadly: Arc<AtomicBool>,
}

impl Signals {
    /// From now on a signal ends the process. By default it would not, if it is the first of its container.
    pub(super) fn of_process() -> io::Result<Self> {
        let deadly = Arc::new(AtomicBool::new(true));
        for signal in [consts::SIGINT, consts::SIGTERM] {
            // In this order: the one that sets the flag is not the one that it ends the process for.
            flag::register_conditional_shutdown(signal, INTERRUPTED, Arc::clone(&deadly))?;
            flag::register(signal, Arc::clone(&deadly))?;
        }
        Ok(Self { deadly })
    }

    /// Something is under way from now on, until what is returned is dropped. Needs a runtime.
    pub(super) fn listen(&self) -> io::Result<Listening<'_>> {
        let listening = Listening {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            deadly: &self.deadly,
        };
        self.deadly.store(false, Ordering::SeqCst);
        Ok(listening)
    }
}

/// Waits for the first signal.
pub(super) struct Listening<'a> {
    interrupt: Signal,
    terminate: Signal,
    deadly: &'a AtomicBool,
}

impl Listening<'_> {
    /// Raises the flag at the first signal. Never returns.
    pub(super) async fn obey(&mut self, ui: &Ui, interrupter: &Interrupter) -> Infallible {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
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
