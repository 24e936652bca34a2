//! Keeps a state in Kubernetes, under a lock.

use std::{
    cell::RefCell,
    path::{Path, PathBuf},
    time::Duration,
};

use super::ledger::Purpose;
use crate::{
    app::Ui,
    clock::SystemClock,
    contract::problem::Diagnostic,
    engine::context::Interrupt,
    error::{Failure, Kind},
    runtime::{
        TERRAFORM_VERSION,
        backend::Settings,
        kubernetes::{Holder, LockInfo, Patience, SERVICE_ACCOUNT, Store, Stored, who},
        state::State,
    },
};

/// The state's Secret, and the lock if it is ours.
pub(super) struct Keep {
    store: Store,
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
    /// Prepares to talk to the cluster that `init` was told of; nothing is sent yet.
    pub(super) fn connect(ui: &Ui) -> Result<Self, Failure> {
        let settings = Settings::recorded(&data_directory())?.with_environment(&environment)?;
        let names = settings.names(&workspace())?;
        let secret = format!("{}/{}", names.namespace, names.secret);
        let (store, warnings) = Store::connect(&settings, names, &environment, Path::new(SERVICE_ACCOUNT))?;
        ui.tell(&warnings);
        Ok(Self { store, secret, lock: None, stored: None, warnings: RefCell::default() })
    }

    /// The Secret: `<namespace>/<name>`.
    pub(super) fn secret(&self) -> &str {
        &self.secret
    }

    /// Takes the lock, after waiting for it if need be.
    pub(super) async fn lock(
        &mut self,
        ui: &Ui,
        timeout: Duration,
        purpose: Purpose,
        interrupt: &Interrupt,
    ) -> Result<(), Failure> {
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
        let patience = Patience { timeout, clock: &SystemClock, interrupt, waiting: &waiting };
        self.store.lock(&info, &patience).await?;
        self.lock = Some(info);
        Ok(())
    }

    /// Gives the lock back, if it is ours.
    pub(super) async fn unlock(&mut self) -> Result<(), Failure> {
        match self.lock.take() {
            Some(info) => Ok(self.store.unlock(&info.id).await?),
            None => Ok(()),
        }
    }

    /// Takes the lock away from whoever holds it under this ID.
    pub(super) async fn force_unlock(&self, id: &str) -> Result<(), Failure> {
        Ok(self.store.force_unlock(id).await?)
    }

    /// Reads the state; `None` only if there is none.
    pub(super) async fn state(&mut self) -> Result<Option<State>, Failure> {
        self.stored = self.store.read().await?;
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
        Ok(self.store.rehearse(&state.render(), self.stored.as_ref()).await?)
    }

    /// Puts a state in the place of the one that was read.
    pub(super) async fn write(&mut self, state: &[u8]) -> Result<(), Failure> {
        let (stored, warning) = self.store.write(state, self.stored.as_ref()).await?;
        self.stored = Some(stored);
        self.warnings.borrow_mut().extend(warning);
        Ok(())
    }

    /// What was odd so far.
    pub(super) fn warnings(&self) -> Vec<Diagnostic> {
        self.warnings.take()
    }
}
