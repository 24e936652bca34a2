//! Ctrl-C and termination signals: the first asks the engine to stop, the second stops the process.

use std::{convert::Infallible, io, process::exit};

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::ui::Ui;
use crate::engine::context::Interrupter;

/// The exit code of an interrupted command.
const INTERRUPTED: i32 = 1;

/// The signals that are listened to.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Listens from now on. Needs a runtime.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Never returns.
    pub(super) async fn obey(mut self, ui: &Ui, interrupter: &Interrupter) -> Infallible {
        self.next().await;
        interrupter.raise();
        // Before a second signal can end the process.
        ui.leave_screen();
        ui.say("Stopping: the calls in flight are finished first. A second signal stops at once.\n");
        self.next().await;
        exit(INTERRUPTED);
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
