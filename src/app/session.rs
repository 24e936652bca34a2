//! What every command that asks AWS runs in: a runtime, signals, an account.

use std::{path::PathBuf, time::Duration};

use super::{
    account::{Account, Place},
    console::Console,
    signals::Signals,
    ui::Ui,
};
use anyhow::Context as _;

use crate::{
    cli::LogLevel,
    contract::request::Request,
    engine::{
        self, Planned,
        context::{Context, Interrupt},
    },
    error::{Failure, Kind},
};

/// What the command line gives to every command.
pub(super) struct Session<'a> {
    pub(super) ui: &'a Ui,
    /// The sandbox's file, if there is one.
    pub(super) sandbox: Option<PathBuf>,
    /// How much is told of calls.
    pub(super) log: Option<LogLevel>,
}

/// A command that is under way.
pub(super) struct Run<'a> {
    pub(super) ui: &'a Ui,
    pub(super) account: Account<'a>,
    pub(super) interrupt: Interrupt,
    console: Console<'a>,
}

impl Session<'_> {
    /// Runs `work` against the account at `place` on this thread. Reading inputs comes before: nothing
    /// else here waits without an ear for signals.
    pub(super) fn online(
        &self,
        place: Place<'_>,
        work: impl AsyncFnOnce(&Run<'_>) -> anyhow::Result<u8>,
    ) -> anyhow::Result<u8> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("Cannot set up input and output")?;
        runtime.block_on(async {
            let signals = Signals::new().context("Cannot listen for signals")?;
            let (interrupter, interrupt) = Interrupt::new();
            let command = async {
                let opening = Account::open(self.sandbox.as_deref(), place, self.ui, self.log);
                let account = unless_interrupted(&interrupt, opening).await?;
                let run = Run {
                    ui: self.ui,
                    account,
                    interrupt: interrupt.clone(),
                    console: Console::new(self.ui),
                };
                work(&run).await
            };
            tokio::select! {
                outcome = command => outcome,
                never = signals.obey(self.ui, &interrupter) => match never {},
            }
        })
    }
}

impl Run<'_> {
    /// The plan for a request. What is odd about the inputs stands in the plan, and is told if there is none.
    pub(super) async fn plan(&self, request: &Request) -> Result<Planned, Failure> {
        let planned = self.reading(engine::plan(self.account.cloud(), request)).await;
        planned.inspect_err(|_| self.ui.tell(&request.warnings))
    }

    /// Work that only reads: it is dropped at an interrupt.
    pub(super) async fn reading<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        unless_interrupted(&self.interrupt, work).await
    }

    /// What the engine is given for work that writes and may take `timeout` from now on.
    pub(super) fn context(&self, timeout: Duration) -> Context<'_> {
        let clock = self.account.clock();
        Context {
            cloud: self.account.cloud(),
            clock,
            progress: &self.console,
            interrupt: &self.interrupt,
            deadline: clock.now().plus(timeout),
        }
    }
}

async fn unless_interrupted<T>(
    interrupt: &Interrupt,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::select! {
        outcome = work => outcome,
        () = interrupt.raised() => Err(Failure::new(Kind::Interrupted, "Interrupted", "Nothing was changed.")),
    }
}
