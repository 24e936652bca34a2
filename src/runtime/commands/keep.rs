//! Keeps a state in Kubernetes, under a lock.

use std::{
    cell::RefCell,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    ending::{RECORD, RELEASE, within},
    ledger::Purpose,
};
use crate::{
    app::{Ui, session::unless_interrupted},
    clock::SystemClock,
    contract::problem::Diagnostic,
    engine::context::Interrupt,
    error::{Failure, Kind},
    runtime::{
        TERRAFORM_VERSION,
        backend::Settings,
        kubernetes::{Holder, LockInfo, Patience, SERVICE_ACCOUNT, Store, Stored, may_be_held, who},
        state::State,
    },
};

/// The state's Secret, and the lock if it is ours. An interrupt ends every read at once, and everything else in
/// seconds.
pub(super) struct Keep {
    store: Store,
    interrupt: Interrupt,
    secret: String,
    lock: Option<LockInfo>,
    stored: Option<Stored>,
    /// What is odd, but no error; told at the end.
    warnings: RefCell<Vec<Diagnostic>>,
}

/// A variable of the environment; one that is no text is none.
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Where `init` records what the other commands need.
pub(super) fn data_directory() -> PathBuf {
    std::env::var_os("TF_DATA_DIR")
        .filter(|name| !name.is_empty())
        .map_or_else(|| ".terraform".into(), PathBuf::from)
}

/// The workspace that the environment selects.
fn workspace() -> String {
    environment("TF_WORKSPACE").filter(|name| !name.is_empty()).unwrap_or_else(|| "default".to_owned())
}

/// Records backend settings for the commands that follow, once they are known to make sense.
pub(super) fn record(settings: &Settings) -> Result<(), Failure> {
    settings.with_environment(&environment)?.names(&workspace())?;
    settings.record(&data_directory())
}

impl Keep {
    #[cfg(test)]
    pub(super) fn of(store: Store, interrupt: &Interrupt) -> Self {
        let (interrupt, secret) = (interrupt.clone(), String::new());
        Self { store, interrupt, secret, lock: None, stored: None, warnings: RefCell::default() }
    }

    /// Prepares to talk to the cluster that `init` was told of; nothing is sent yet.
    pub(super) async fn connect(ui: &Ui, interrupt: &Interrupt) -> Result<Self, Failure> {
        let settings = Settings::recorded(&data_directory())?.with_environment(&environment)?;
        let names = settings.names(&workspace())?;
        let secret = format!("{}/{}", names.namespace, names.secret);
        let connecting = Store::connect(&settings, names, &environment, Path::new(SERVICE_ACCOUNT));
        let (store, warnings) = unless_interrupted(interrupt, connecting).await?;
        ui.tell(&warnings);
        let interrupt = interrupt.clone();
        Ok(Self { store, interrupt, secret, lock: None, stored: None, warnings: RefCell::default() })
    }

    /// The Secret: `<namespace>/<name>`.
    pub(super) fn secret(&self) -> &str {
        &self.secret
    }

    /// Takes the lock, after waiting for it if need be.
    pub(super) async fn lock(&mut self, ui: &Ui, timeout: Duration, purpose: Purpose) -> Result<(), Failure> {
        let info = LockInfo::new(purpose.operation(), who(&environment), TERRAFORM_VERSION);
        let waiting = |holder: &Holder, waited: Duration| {
            let by = match &holder.info {
                Some(info) => format!("{}, {} since {}", info.who, info.operation, info.created),
                None => holder.id.clone(),
            };
            let text =
                format!("Waiting for the state lock, which {by} holds [{}s elapsed]", waited.as_secs());
            match ui.lines() {
                Some(lines) => lines.log(&text),
                None => ui.say(&format!("{text}\n")),
            }
        };
        let patience =
            Patience { timeout, clock: &SystemClock, interrupt: &self.interrupt, waiting: &waiting };
        self.store.lock(&info, &patience).await?;
        self.lock = Some(info);
        Ok(())
    }

    /// Gives the lock back, if it is ours.
    pub(super) async fn unlock(&mut self) -> Result<(), Failure> {
        let Some(info) = self.lock.take() else { return Ok(()) };
        match within(&self.interrupt, RELEASE, self.store.unlock(&info.id)).await {
            Some(released) => Ok(released?),
            None => Err(late("The state lock was not given back", &may_be_held(&info.id), RELEASE)),
        }
    }

    /// Takes the lock away from whoever holds it under this ID.
    pub(super) async fn force_unlock(&self, id: &str) -> Result<(), Failure> {
        match within(&self.interrupt, RELEASE, self.store.force_unlock(id)).await {
            Some(taken) => Ok(taken?),
            None => Err(late("The state may still be locked", "", RELEASE)),
        }
    }

    /// Reads the state; `None` only if there is none.
    pub(super) async fn state(&mut self) -> Result<Option<State>, Failure> {
        self.stored = unless_interrupted(&self.interrupt, self.store.read()).await?;
        self.stored
            .as_ref()
            .map(|stored| State::parse(stored.state()))
            .transpose()
            .map_err(|error| Failure { kind: Kind::Refused, diagnostics: vec![error.diagnostic()] })
    }

    /// The text of the state that was read.
    pub(super) fn raw(&self) -> Option<&[u8]> {
        self.stored.as_ref().map(Stored::state)
    }

    /// Has the cluster check a write of this state, and do nothing.
    pub(super) async fn rehearse(&self, state: &State) -> Result<(), Failure> {
        let text = state.render();
        unless_interrupted(&self.interrupt, self.store.rehearse(&text, self.stored.as_ref())).await
    }

    /// Puts a state in the place of the one that was read.
    pub(super) async fn write(&mut self, state: &[u8]) -> Result<(), Failure> {
        let writing = self.store.write(state, self.stored.as_ref());
        let (stored, warning) = match within(&self.interrupt, RECORD, writing).await {
            Some(written) => written?,
            None => return Err(late("The state was not recorded", "", RECORD)),
        };
        self.stored = Some(stored);
        self.warnings.borrow_mut().extend(warning);
        Ok(())
    }

    /// What was odd so far.
    pub(super) fn warnings(&self) -> Vec<Diagnostic> {
        self.warnings.take()
    }
}

/// What an interrupt did not leave the time for.
fn late(what: &str, detail: &str, limit: Duration) -> Failure {
    let seconds = limit.as_secs();
    let summary = format!("{what}: the Kubernetes API did not answer within {seconds} s after the interrupt");
    Failure::new(Kind::Interrupted, summary, detail)
}
