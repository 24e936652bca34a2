//! `destroy`: deletes everything that the pool owns.

use std::time::Duration;

use super::{
    apply::{belongs_here, both, still_holds},
    ledger::{Ledger, Purpose as Holding},
    setting::{Given, Setting},
    tell,
};
use crate::{
    app::{account::Place, ask::Approval, load, session::Session},
    cli::{DestroyArgs, LockArgs},
    contract::request::Scope,
    engine::{self, context::Interrupt},
    error::Failure,
    runtime::{planfile::SavedPlan, ui_json::Operation},
    view::{Purpose, Subject},
};

/// How long what is left is looked at after a failure.
const LOOK_BACK: Duration = Duration::from_secs(10);

/// How a destroy comes about.
pub(super) struct How {
    pub(super) approval: Approval,
    pub(super) timeout: Duration,
    pub(super) locking: LockArgs,
}

/// Deletes everything that the pool owns. The root is not checked: it may be months old.
pub(crate) fn destroy(session: &Session<'_>, args: &DestroyArgs) -> anyhow::Result<u8> {
    let setting = Setting::here()?;
    let how = How {
        approval: Approval::new(args.auto_approve, &args.terraform, session.ui),
        timeout: args.timeout,
        locking: args.terraform.locking,
    };
    let given = setting.inputs(session.ui, &args.inputs)?;
    carry_out(session, &setting, &given, &how, None)
}

/// Deletes, if a saved plan says so only what it says.
pub(super) fn carry_out(
    session: &Session<'_>,
    setting: &Setting,
    given: &Given,
    how: &How,
    saved: Option<&SavedPlan>,
) -> anyhow::Result<u8> {
    let scope = given.scope()?;
    session.listening(async |interrupt| {
        let mut ledger = Ledger::open(session, setting, how.locking, Holding::Apply, interrupt).await?;
        let scope = ledger.placed(scope.clone());
        let outcome = run(session, setting, &scope, how, saved, &mut ledger, interrupt).await;
        ledger.close(session.ui, outcome).await
    })
}

async fn run(
    session: &Session<'_>,
    setting: &Setting,
    scope: &Scope,
    how: &How,
    saved: Option<&SavedPlan>,
    ledger: &mut Ledger,
    interrupt: &Interrupt,
) -> anyhow::Result<u8> {
    let run = session.open(Place::Scope(scope), interrupt).await?;
    let here = ledger.origin(setting, &run.account);
    belongs_here(saved, &here)?;
    let teardown = run.reading(engine::plan_destroy(run.account.cloud(), scope)).await?;
    belongs_here(saved, &here.with_group(teardown.group_arn()))?;
    still_holds(saved, &teardown.plan)?;
    let pool = load::pool(scope);
    let subject = Subject { pool: &pool, region: run.account.region(), purpose: Purpose::Destroy };
    tell::proposal(run.ui, &teardown.plan, &subject, &[]);
    if !teardown.plan.is_empty() {
        how.approval.obtain(run.ui, &run.interrupt, Purpose::Destroy).await?;
    }
    tell::begin(run.ui, &teardown.plan);
    let outcome = engine::destroy(&run.context(how.timeout), &teardown).await;
    let recorded = match &outcome {
        Ok(_) => ledger.record_nothing_left().await,
        Err(_) if ledger.keeps() => {
            // What is left stays listed; only the outputs are told anew.
            let reading = engine::outputs(run.account.cloud(), scope);
            match tokio::time::timeout(LOOK_BACK, reading).await {
                Ok(Ok(outputs)) => ledger.record_outputs(setting, &outputs, run.account.region()).await,
                // The failure itself says more than this one.
                Ok(Err(_)) | Err(_) => Ok(()),
            }
        }
        Err(_) => Ok::<(), Failure>(()),
    };
    let counts = both(outcome, recorded)?;
    let operation = if saved.is_some() { Operation::Apply } else { Operation::Destroy };
    tell::destroyed(run.ui, counts, operation);
    Ok(0)
}
