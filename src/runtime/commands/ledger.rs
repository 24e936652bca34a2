//! The state of a pool and its lock, for the time of one command. Without a root module, or with one that
//! names no backend, nothing is locked and nothing is kept.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::{keep::Keep, setting::Setting};
use crate::{
    app::{Ui, account::Account, session::Session},
    cli::LockArgs,
    contract::{outputs::Outputs, problem::sentence, request::Scope},
    engine::context::Interrupt,
    error::Failure,
    model::{
        desired::Desired,
        observed::{Known, Observed},
        plan::Address,
    },
    runtime::{
        plan_origin::Origin,
        private_file,
        secrets::Secrets,
        state::{self, Facts, Live, OutputValue, Recorded, ResourcesChange, State},
    },
};

/// Where a state is left that could not be kept, in the working directory.
const ERRORED: &str = "errored.tfstate";

/// What the lock is held for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A plan.
    Plan,
    /// An apply or a destroy.
    Apply,
    /// An apply that only refreshes.
    Refresh,
    /// A state that is put in the place of another.
    Push,
}

impl Purpose {
    /// As Terraform names it in its lock info.
    #[cfg_attr(not(feature = "kubernetes"), expect(dead_code, reason = "only a lock tells it"))]
    pub(super) fn operation(self) -> &'static str {
        match self {
            Self::Plan => "OperationTypePlan",
            Self::Apply | Self::Refresh => "OperationTypeApply",
            Self::Push => "state-push",
        }
    }
}

/// A state under lock.
pub(super) struct Ledger {
    keep: Option<Keep>,
    state: Option<State>,
    facts: Facts,
    /// What of the inputs is in no state.
    secrets: Secrets,
}

impl Ledger {
    /// Takes the lock, reads the state, does the work, and gives the lock back, whatever comes of it.
    pub(super) async fn hold<T>(
        session: &Session<'_>,
        setting: &Setting,
        locking: LockArgs,
        purpose: Purpose,
        interrupt: &Interrupt,
        work: impl AsyncFnOnce(&mut Self) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let secrets = session.ui.secrets();
        let mut ledger = Self { keep: None, state: None, facts: Facts::default(), secrets };
        // What is waited for is large, and would be part of every caller's future.
        let all = Box::pin(async move {
            if setting.root.backend.is_some() {
                let keep = ledger.keep.insert(Keep::connect(session.ui, interrupt).await?);
                if locking.lock {
                    keep.lock(session.ui, locking.lock_timeout, purpose).await?;
                }
            }
            ledger.work(session.ui, work).await
        });
        all.await
    }

    /// Works on the state, and gives the lock back.
    async fn work<T>(
        mut self,
        ui: &Ui,
        work: impl AsyncFnOnce(&mut Self) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let outcome = match self.read().await {
            Ok(()) => work(&mut self).await,
            Err(failure) => Err(failure.into()),
        };
        self.close(ui, outcome).await
    }

    async fn read(&mut self) -> Result<(), Failure> {
        if let Some(keep) = &mut self.keep {
            self.state = keep.state().await?;
            self.facts = self.state.as_ref().map(state::facts).unwrap_or_default();
        }
        Ok(())
    }

    /// Gives the lock back.
    async fn close<T>(mut self, ui: &Ui, outcome: anyhow::Result<T>) -> anyhow::Result<T> {
        let released = match &mut self.keep {
            Some(keep) => {
                ui.tell(&keep.warnings());
                keep.unlock().await
            }
            None => Ok(()),
        };
        match (outcome, released) {
            (outcome, Ok(())) => outcome,
            (Ok(_), Err(failure)) => Err(failure.into()),
            (Err(error), Err(failure)) => {
                // The first error tells the story; that the lock stays is worth knowing, too.
                ui.tell(&failure.diagnostics.into_iter().map(super::tell::as_warning).collect::<Vec<_>>());
                Err(error)
            }
        }
    }

    /// Whether anything is kept.
    pub(super) fn keeps(&self) -> bool {
        self.keep.is_some()
    }

    /// Where plans are made and applied, as far as it is known before AWS is looked at.
    pub(super) fn origin(&self, setting: &Setting, account: &Account<'_>) -> Origin {
        let lineage = self.state.as_ref().map(State::lineage).filter(|lineage| !lineage.is_empty());
        Origin {
            has_root: setting.has_root,
            secret: self.keep.as_ref().map(|keep| keep.secret().to_owned()),
            lineage: lineage.map(str::to_owned),
            sandbox: account.sandbox().map(str::to_owned),
            region: account.region().to_owned(),
            account: None,
        }
    }

    /// What the state says of a pool that Terraform made.
    pub(super) fn known(&self) -> Known {
        Known { zones: self.facts.zones.clone(), key: self.facts.key.clone() }
    }

    /// A scope with the place that the state knows, where the inputs no longer say it.
    pub(super) fn placed(&self, mut scope: Scope) -> Scope {
        scope.region = scope.region.or_else(|| self.facts.region.clone());
        scope.bucket = scope.bucket.or_else(|| self.facts.bucket.clone());
        scope
    }

    /// The recorded outputs.
    pub(super) fn outputs(&self) -> BTreeMap<String, OutputValue> {
        self.state.as_ref().map(State::outputs).unwrap_or_default()
    }

    /// Whether the state holds an output or a resource.
    pub(super) fn says_anything(&self) -> bool {
        self.state.as_ref().is_some_and(|state| !state.is_empty())
    }

    /// Makes sure that the state can be written, before AWS is.
    pub(super) async fn rehearse(&self) -> Result<(), Failure> {
        let Some(keep) = &self.keep else { return Ok(()) };
        let empty = Recorded { outputs: BTreeMap::new(), resources: ResourcesChange::Keep };
        match self.state.clone().or_else(|| state::next(None, &empty, new_id)) {
            Some(state) => keep.rehearse(&state).await,
            None => Ok(()),
        }
    }

    /// Records the pool as an apply left it, complete or not.
    pub(super) async fn record_apply(
        &mut self,
        setting: &Setting,
        desired: &Desired,
        observed: &Observed,
        outputs: &Outputs,
        region: &str,
    ) -> Result<(), Failure> {
        let live = Live::of(desired, observed, region, &self.facts);
        let resources = state::resources(&live, self.state.as_ref(), new_id);
        self.record(setting.outputs(outputs), ResourcesChange::Now(resources)).await
    }

    /// Records outputs only. A state that lists nothing gets the group at least, if there is one: readers
    /// take an empty list for a pool that is gone.
    pub(super) async fn record_outputs(
        &mut self,
        setting: &Setting,
        outputs: &Outputs,
        region: &str,
    ) -> Result<(), Failure> {
        self.record_rest(setting, outputs, region, ResourcesChange::Keep).await
    }

    /// Records what a destroy that failed has left, as far as AWS told: outputs, resources, or both.
    pub(super) async fn record_left(
        &mut self,
        setting: &Setting,
        outputs: Option<&Outputs>,
        left: Option<BTreeSet<Address>>,
        region: &str,
    ) -> Result<(), Failure> {
        let resources = left.map_or(ResourcesChange::Keep, ResourcesChange::Left);
        match (outputs, &self.state) {
            (Some(outputs), _) => self.record_rest(setting, outputs, region, resources).await,
            (None, Some(state)) => self.record(state.outputs(), resources).await,
            (None, None) => Ok(()),
        }
    }

    async fn record_rest(
        &mut self,
        setting: &Setting,
        outputs: &Outputs,
        region: &str,
        rest: ResourcesChange,
    ) -> Result<(), Failure> {
        let is_empty = self.state.as_ref().is_none_or(|state| state.addresses().is_empty());
        let resources = match &outputs.provider_id {
            Some(arn) if is_empty => {
                let group = Some((outputs.autoscaling_group_name.clone(), arn.clone()));
                let live = Live { region: region.to_owned(), group, ..Live::default() };
                ResourcesChange::Now(state::resources(&live, self.state.as_ref(), new_id))
            }
            _ => rest,
        };
        self.record(setting.outputs(outputs), resources).await
    }

    /// Records that nothing is left; where there never was a state, there is none afterwards.
    pub(super) async fn record_nothing_left(&mut self) -> Result<(), Failure> {
        if self.state.is_none() {
            return Ok(());
        }
        self.record(BTreeMap::new(), ResourcesChange::Now(Vec::new())).await
    }

    /// Writes the next state, if it says anything new.
    async fn record(
        &mut self,
        outputs: BTreeMap<String, OutputValue>,
        resources: ResourcesChange,
    ) -> Result<(), Failure> {
        let Some(keep) = &mut self.keep else { return Ok(()) };
        let recorded = Recorded { outputs, resources };
        let Some(mut next) = state::next(self.state.as_ref(), &recorded, new_id) else { return Ok(()) };
        next.scrub(&|content| self.secrets.holds(content));
        keep.write(&next.render()).await.map_err(|failure| leave(failure, &next))?;
        self.state = Some(next);
        Ok(())
    }
}

/// Leaves a state that could not be kept where a runner finds it.
fn leave(mut failure: Failure, state: &State) -> Failure {
    let left = match private_file::write(Path::new(ERRORED), &state.render()) {
        Ok(()) => format!(
            "The state was left in {ERRORED}; state push puts it back. Without it nothing real is lost: the next \
             apply records anew what is in AWS."
        ),
        Err(error) => format!(
            "It could not be left in {ERRORED} either: {} Nothing real is lost: the next apply records anew what is in \
             AWS.",
            sentence(&error.to_string())
        ),
    };
    if let Some(last) = failure.diagnostics.last_mut() {
        last.add(&left);
    }
    failure
}

fn new_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

#[cfg(all(test, feature = "kubernetes"))]
#[path = "ledger_tests.rs"]
mod tests;
