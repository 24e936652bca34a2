//! What every command that asks AWS runs in: a runtime, signals, an account.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

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
    model::observed::Known,
};

/// What the command line gives to every command.
pub(crate) struct Session<'a> {
    pub(crate) ui: &'a Ui,
    /// The directory that the command was told to work in.
    pub(crate) chdir: Option<&'a Path>,
    /// The sandbox's file, if there is one.
    pub(crate) sandbox: Option<PathBuf>,
    /// How much is told of calls.
    pub(crate) log: Option<LogLevel>,
    pub(super) signals: Signals,
}

/// A command that is under way.
pub(crate) struct Run<'a> {
    pub(crate) ui: &'a Ui,
    pub(crate) account: Account<'a>,
    pub(crate) interrupt: Interrupt,
    console: Console<'a>,
}

impl Session<'_> {
    /// Runs `work` against the account at `place` on this thread. Reading inputs comes before: nothing
    /// else here waits without an ear for signals.
    pub(crate) fn online(
        &self,
        place: Place<'_>,
        work: impl AsyncFnOnce(&Run<'_>) -> anyhow::Result<u8>,
    ) -> anyhow::Result<u8> {
        self.listening(async |interrupt| work(&self.open(place, interrupt).await?).await)
    }

    /// Runs `work` on this thread, with an ear for signals.
    pub(crate) fn listening(
        &self,
        work: impl AsyncFnOnce(&Interrupt) -> anyhow::Result<u8>,
    ) -> anyhow::Result<u8> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("Cannot set up input and output")?;
        let outcome = runtime.block_on(async {
            let mut signals = self.signals.listen().context("Cannot listen for signals")?;
            let (interrupter, interrupt) = Interrupt::new();
            tokio::select! {
                outcome = work(&interrupt) => outcome,
                never = signals.obey(self.ui, &interrupter) => match never {},
            }
        });
        // What was given up on another thread, such as a program or the look-up of a name, is not waited for.
        runtime.shutdown_background();
        outcome
    }

    /// Opens the account at `place`.
    pub(crate) async fn open(&self, place: Place<'_>, interrupt: &Interrupt) -> Result<Run<'_>, Failure> {
        let opening = Account::open(self.sandbox.as_deref(), place, self.ui, self.log);
        let account = unless_interrupted(interrupt, opening).await?;
        Ok(Run { ui: self.ui, account, interrupt: interrupt.clone(), console: Console::new(self.ui) })
    }
}

impl Run<'_> {
    /// The plan for a request, with what a state says of the pool. What is odd about the inputs stands in the
    /// plan, and is told if there is none.
    pub(crate) async fn plan(&self, request: &Request, known: &Known) -> Result<Planned, Failure> {
        let planned = self.reading(engine::plan_with(self.account.cloud(), request, known)).await;
        planned.inspect_err(|_| self.ui.tell(&request.warnings))
    }

    /// Work that only reads: it is dropped at an interrupt.
    pub(crate) async fn reading<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        unless_interrupted(&self.interrupt, work).await
    }

    /// What the engine is given for work that writes and may take `timeout` from now on.
    pub(crate) fn context(&self, timeout: Duration) -> Context<'_> {
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

/// Work that only reads: it is dropped at an interrupt, and not begun after one.
pub(crate) async fn unless_interrupted<T, E: Into<Failure>>(
    interrupt: &Interrupt,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, Failure> {
    tokio::select! {
        biased;
        () = interrupt.raised() => Err(Failure::new(Kind::Interrupted, "Interrupted", "Nothing was changed.")),
        outcome = work => outcome.map_err(Into::into),
    }
}
