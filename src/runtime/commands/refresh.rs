//! `apply -refresh-only`: records the outputs as they are; AWS is only read. `plan -refresh-only`: says which.

use super::{
    ledger::{Ledger, Purpose as Holding},
    plan::{CHANGES, changed_outputs},
    setting::{Given, Setting},
    tell,
};
use crate::{
    app::{account::Place, load, session::Session},
    cli::{ApplyArgs, PlanArgs},
    contract::request::Scope,
    engine::{self, context::Interrupt},
    model::plan::{Counts, Plan},
    runtime::plan_json::Shown,
    view::Purpose,
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

/// Says which outputs a refresh would record anew. Nothing else can change.
pub(crate) fn plan_refresh(session: &Session<'_>, args: &PlanArgs) -> anyhow::Result<u8> {
    let setting = Setting::here()?;
    setting.check_outputs()?;
    let given = setting.inputs(session.ui, &args.inputs)?;
    let scope = given.scope()?;
    session.listening(async |interrupt| {
        let locking = args.terraform.locking;
        Ledger::hold(session, &setting, locking, Holding::Plan, interrupt, async |ledger| {
            let scope = ledger.placed(scope.clone());
            let changes = compare(session, args, &setting, &given, &scope, ledger, interrupt).await?;
            Ok(if args.detailed_exitcode && changes { CHANGES } else { 0 })
        })
        .await
    })
}

/// Whether any output would be recorded anew.
async fn compare(
    session: &Session<'_>,
    args: &PlanArgs,
    setting: &Setting,
    given: &Given,
    scope: &Scope,
    ledger: &Ledger,
    interrupt: &Interrupt,
) -> anyhow::Result<bool> {
    let run = session.open(Place::Scope(scope), interrupt).await?;
    let outputs = run.reading(engine::outputs(run.account.cloud(), scope)).await?;
    let shown = Shown {
        plan: &Plan::default(),
        purpose: Purpose::Apply,
        root: &setting.root,
        inputs: &given.inputs,
        secrets: &given.secrets,
        recorded: &ledger.outputs(),
        live: Some(&outputs),
        passing: &[],
        sized: false,
        empties: false,
    };
    let changes = changed_outputs(setting, &shown);
    tell::refresh(run.ui, &load::pool(scope), run.account.region(), &changes, args.format);
    Ok(!changes.is_empty())
}
