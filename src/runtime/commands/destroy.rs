//! `destroy`: deletes everything that the pool owns.

use std::time::Duration;

use futures_util::join;

use super::{
    aftermath::{both, in_time},
    apply::{belongs_here, outputs_left, still_holds},
    ledger::{Ledger, Purpose as Holding},
    setting::{Given, Setting},
    steps::Steps,
    tell,
};
use crate::{
    app::{
        account::Place,
        ask::{Approval, Asking},
        load,
        session::{Run, Session},
    },
    cli::{ApplyArgs, DestroyArgs, InputArgs, LockArgs, TerraformArgs},
    contract::request::Scope,
    engine::{
        self,
        context::{Context, Interrupt},
    },
    error::Failure,
    runtime::{planfile::SavedPlan, ui_json::Operation},
    view::{Purpose, Subject},
};

/// How a destroy comes about.
pub(super) struct How {
    pub(super) approval: Approval,
    pub(super) timeout: Duration,
    pub(super) locking: LockArgs,
    /// What the command is called in the sentence that it ends with.
    pub(super) operation: Operation,
}

impl How {
    pub(super) fn new(
        approval: Approval,
        timeout: Duration,
        terraform: &TerraformArgs,
        operation: Operation,
    ) -> Self {
        Self { approval, timeout, locking: terraform.locking, operation }
    }
}

/// Deletes everything that the pool owns.
pub(crate) fn destroy(session: &Session<'_>, args: &DestroyArgs) -> anyhow::Result<u8> {
    let approval =
        Approval::new(Asking::Destroy, args.auto_approve, &args.terraform, &args.inputs, session.ui);
    let how = How::new(approval, args.timeout, &args.terraform, Operation::Destroy);
    all(session, &args.inputs, &how)
}

/// `apply -destroy`: the same, told as Terraform tells it.
pub(crate) fn apply_destroy(session: &Session<'_>, args: &ApplyArgs) -> anyhow::Result<u8> {
    let approval =
        Approval::new(Asking::Destroy, args.auto_approve, &args.terraform, &args.inputs, session.ui);
    let how = How::new(approval, args.timeout, &args.terraform, Operation::Apply);
    all(session, &args.inputs, &how)
}

/// Deletes what the inputs name. The root is not checked: it may be months old.
fn all(session: &Session<'_>, inputs: &InputArgs, how: &How) -> anyhow::Result<u8> {
    let setting = Setting::here()?;
    let given = setting.inputs(session.ui, inputs)?;
    carry_out(session, &setting, &given, how, None)
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
        Ledger::hold(session, setting, how.locking, Holding::Apply, interrupt, async |ledger| {
            let scope = ledger.placed(scope.clone());
            run(session, setting, &scope, how, saved, ledger, interrupt).await
        })
        .await
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
    if let Some(saved) = saved {
        outputs_left(saved, &ledger.outputs().into_keys().collect())?;
    }
    let pool = load::pool(scope);
    let subject = Subject { pool: &pool, region: run.account.region(), purpose: Purpose::Destroy };
    tell::proposal(run.ui, &teardown.plan, &subject, tell::Record::default());
    if !teardown.plan.is_empty() {
        how.approval.obtain(run.ui, &run.interrupt, Purpose::Destroy).await?;
    }
    tell::begin(run.ui, &teardown.plan);
    let context = run.context(how.timeout);
    let steps = Steps::of_destroy(context.progress);
    let context = Context { progress: &steps, ..context };
    let outcome = engine::destroy(&context, &teardown).await.map_err(|failure| steps.tell(failure));
    let recorded = match &outcome {
        Ok(_) => ledger.record_nothing_left().await,
        Err(_) => look_back(&run, setting, scope, ledger).await,
    };
    let counts = both(outcome, recorded)?;
    tell::destroyed(run.ui, counts, how.operation);
    Ok(0)
}

/// Records what is left after a failure, as far as AWS tells in time. If it does not, the failure itself says
/// more than that.
async fn look_back(
    run: &Run<'_>,
    setting: &Setting,
    scope: &Scope,
    ledger: &mut Ledger,
) -> Result<(), Failure> {
    if !ledger.keeps() {
        return Ok(());
    }
    let (cloud, interrupt) = (run.account.cloud(), &run.interrupt);
    let (outputs, teardown) = join!(
        in_time(interrupt, engine::outputs(cloud, scope)),
        in_time(interrupt, engine::plan_destroy(cloud, scope)),
    );
    let left = teardown.ok().map(|teardown| teardown.left());
    ledger.record_left(setting, outputs.ok().as_ref(), left, run.account.region()).await
}
