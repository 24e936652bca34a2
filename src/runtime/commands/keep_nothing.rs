//! Stands in for the keeper of states in a build without Kubernetes.

use std::{convert::Infallible, time::Duration};

use super::ledger::Purpose;
use crate::{
    app::Ui,
    contract::problem::Diagnostic,
    engine::context::Interrupt,
    error::{Failure, Kind},
    runtime::state::State,
};

/// There is none.
pub(super) struct Keep(Infallible);

/// Why nothing can be kept.
pub(super) fn missing() -> Failure {
    Failure::new(
        Kind::Usage,
        "This build keeps no state",
        "It was built without the feature \"kubernetes\". Build it with cargo build --release (the feature is on \
         by default).",
    )
}

#[expect(clippy::unused_async, reason = "its twin with Kubernetes awaits")]
impl Keep {
    pub(super) async fn connect(_: &Ui, _: &Interrupt) -> Result<Self, Failure> {
        Err(missing())
    }

    pub(super) fn secret(&self) -> &str {
        match self.0 {}
    }

    pub(super) async fn lock(&mut self, _: &Ui, _: Duration, _: Purpose) -> Result<(), Failure> {
        match self.0 {}
    }

    pub(super) async fn unlock(&mut self) -> Result<(), Failure> {
        match self.0 {}
    }

    pub(super) async fn force_unlock(&self, _: &str) -> Result<(), Failure> {
        match self.0 {}
    }

    pub(super) async fn state(&mut self) -> Result<Option<State>, Failure> {
        match self.0 {}
    }

    pub(super) fn raw(&self) -> Option<&[u8]> {
        match self.0 {}
    }

    pub(super) async fn rehearse(&self, _: &State) -> Result<(), Failure> {
        match self.0 {}
    }

    pub(super) async fn write(&mut self, _: &[u8]) -> Result<(), Failure> {
        match self.0 {}
    }

    pub(super) fn warnings(&self) -> Vec<Diagnostic> {
        match self.0 {}
    }
}
