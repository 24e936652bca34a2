//! Observing, walking plans, waiting: all that happens over time. What to do is decided in the model;
//! here is decided only how to answer what AWS says to a single call.

pub mod apply;
mod await_roll;
mod checkup;
pub mod context;
mod describe;
pub mod destroy;
mod explain;
mod leftovers;
pub mod observe;
mod perform;
mod refreshes;
pub mod rollout;
pub mod status;
mod stoppable;
pub mod teardown;
mod wait;

use crate::{
    cloud::Cloud,
    contract::{
        outputs::Outputs,
        request::{Request, Scope},
    },
    error::{Failure, Kind},
    model::{
        desired::{self, Desired},
        observed::{Known, Observed},
        plan::Plan,
        planner,
    },
};

pub use apply::{Applied, apply};
pub use await_roll::await_roll;
pub use checkup::checkup;
pub use destroy::destroy;
pub use teardown::{Teardown, plan_destroy};

/// A plan, and what it was made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// What AWS showed.
    pub observed: Observed,
    /// What the pool should be.
    pub desired: Desired,
    /// What to do.
    pub plan: Plan,
}

/// Reads AWS and plans. Inputs that cannot work are refused before the first call.
pub async fn plan(cloud: &dyn Cloud, request: &Request) -> Result<Planned, Failure> {
    plan_with(cloud, request, &Known::default()).await
}

/// As [`plan`]; a state file has told what the tags may not say.
pub async fn plan_with(cloud: &dyn Cloud, request: &Request, known: &Known) -> Result<Planned, Failure> {
    desired::check(request)?;
    let mut observed = observe::for_plan(cloud, request).await?;
    observed.known = known.clone();
    let (desired, plan) = planner::plan(request, &observed)
        .map_err(|diagnostics| Failure { kind: Kind::Refused, diagnostics })?;
    Ok(Planned { observed, desired, plan })
}

/// The outputs that a plan's reading of AWS shows; one call while the group should be launching.
pub async fn outputs_of(cloud: &dyn Cloud, scope: &Scope, observed: &Observed) -> Result<Outputs, Failure> {
    observe::outputs_of(cloud, scope, observed.group.as_ref(), &observed.instances).await
}

/// Reads what outputs need: two calls, three while the group should be launching.
pub async fn outputs(cloud: &dyn Cloud, scope: &Scope) -> Result<Outputs, Failure> {
    observe::outputs(cloud, scope).await
}
