//! `apply -refresh-only`: records the outputs as they are; AWS is only read.

use super::{
    ledger::{Ledger, Purpose as Holding},
    setting::Setting,
    tell,
};
use crate::{
    app::{account::Place, session::Session},
    cli::ApplyArgs,
    contract::request::Scope,
    engine::{self, context::Interrupt},
    model::plan::{Counts, Plan},
};

/// Reads the outputs and records them if they changed, told as an apply without changes.
pub(crate) fn refresh(session: &Session<'_>, args: &ApplyArgs) -> anyhow::Result<u8> {
    let setting = Setting::here()?;
    setting.check_outputs()?;
    let scope = setting.inputs(session.ui, &args.inputs)?.scope()?;
    session.listening(async |interrupt| {
        let locking = args.terraform.locking;
        Ledger::hold(session, &setting, locking, Holding::Refresh, interrupt, async |ledger| {
            let scope = ledger.placed(scope.clone());
            run(session, &setting, &scope, ledger, interrupt).await
        })
        .await
    })
}

async fn run(
    session: &Session<'_>,
    setting: &Setting,
    scope: &Scope,
    ledger: &mut Ledger,
    interrupt: &Interrupt,
) -> anyhow::Result<u8> {
    let run = session.open(Place::Scope(scope), interrupt).await?;
    let outputs = run.reading(engine::outputs(run.account.cloud(), scope)).await?;
    ledger.record_outputs(setting, &outputs, run.account.region()).await?;
    tell::begin(run.ui, &Plan::default());
    tell::applied(run.ui, Counts::default(), &outputs, setting);
    Ok(0)
}
