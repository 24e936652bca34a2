//! Commands that read and change nothing: plan, plan -destroy, outputs, apply -refresh-only.

use super::{
    account::Place,
    load,
    session::{Run, Session},
    ui::Ui,
};
use crate::{
    cli::{ApplyArgs, OutputsArgs, OutputsFormat, PlanArgs, PlanFormat},
    contract::{outputs::Outputs, request::Scope},
    engine,
    error::{Failure, Kind},
    model::plan::{Counts, Plan},
    view::{self, Purpose, Subject},
};

/// The exit code of `plan -detailed-exitcode` when there are changes.
const CHANGES: u8 = 2;

/// What apply would do.
pub(super) fn plan(session: &Session<'_>, args: &PlanArgs) -> anyhow::Result<u8> {
    let request = load::request(&args.inputs)?;
    session.online(Place::Request(&request), async |run| {
        let planned = run.plan(&request).await?;
        Ok(show(run, args, &planned.plan, &request.scope, Purpose::Apply))
    })
}

/// What destroy would do.
pub(super) fn plan_destroy(session: &Session<'_>, args: &PlanArgs) -> anyhow::Result<u8> {
    let scope = load::scope(&args.inputs)?;
    session.online(Place::Scope(&scope), async |run| {
        let teardown = run.reading(engine::plan_destroy(run.account.cloud(), &scope)).await?;
        Ok(show(run, args, &teardown.plan, &scope, Purpose::Destroy))
    })
}

/// Prints a plan as a result; the exit code.
fn show(run: &Run<'_>, args: &PlanArgs, plan: &Plan, scope: &Scope, purpose: Purpose) -> u8 {
    let pool = load::pool(scope);
    let subject = Subject { pool: &pool, region: run.account.region(), purpose };
    run.ui.result(&match args.format {
        PlanFormat::Text => view::plan(plan, &subject, run.ui.result_style()),
        PlanFormat::Json => view::plan_json(plan, &subject),
    });
    if args.detailed_exitcode && !plan.is_empty() { CHANGES } else { 0 }
}

/// The outputs, or one of them.
pub(super) fn outputs(session: &Session<'_>, args: &OutputsArgs) -> anyhow::Result<u8> {
    let unknown = |unknown| Failure { kind: Kind::Usage, diagnostics: vec![unknown] };
    args.name.as_deref().map_or(Ok(()), view::check_output_name).map_err(unknown)?;
    let scope = load::scope(&args.inputs)?;
    session.online(Place::Scope(&scope), async |run| {
        let outputs = run.reading(engine::outputs(run.account.cloud(), &scope)).await?;
        let text = match (args.format, &args.name) {
            (OutputsFormat::Table, None) => view::outputs_table(&outputs, run.ui.result_style()),
            (_, name) => view::outputs_json(&outputs, name.as_deref()).map_err(unknown)?,
        };
        run.ui.result(&text);
        Ok(0)
    })
}

/// `apply -refresh-only`: the outputs, told as an apply without changes.
pub(super) fn refresh(session: &Session<'_>, args: &ApplyArgs) -> anyhow::Result<u8> {
    let scope = load::scope(&args.inputs)?;
    session.online(Place::Scope(&scope), async |run| {
        let outputs = run.reading(engine::outputs(run.account.cloud(), &scope)).await?;
        applied(run.ui, Counts::default(), &outputs);
        Ok(0)
    })
}

/// How an apply ends.
pub(super) fn applied(ui: &Ui, counts: Counts, outputs: &Outputs) {
    ui.result(&view::apply_complete(counts));
    ui.result(&format!("\n{}", view::outputs_table(outputs, ui.result_style())));
}
