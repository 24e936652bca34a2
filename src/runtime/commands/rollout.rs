//! `rollout start` and `rollout cancel`: instance refreshes by hand, under the lock where there is one. Nothing
//! is recorded: what changes by it, the next refresh of the state sees.

use super::{
    ledger::{Ledger, Purpose as Holding},
    setting::Setting,
    tell,
};
use crate::{
    app::{
        account::Place,
        ask::Approval,
        load,
        session::{Run, Session},
    },
    cli::{RolloutCancelArgs, RolloutStartArgs},
    contract::request::Request,
    engine::{self, Planned, context::Interrupt},
    error::{Failure, Kind},
    model::{
        observed::Known,
        plan::Plan,
        rollout::{self, Rollout},
    },
    view::{self, Purpose, Subject},
};

/// Replaces the members that do not run the latest version.
pub(crate) fn start_rollout(session: &Session<'_>, args: &RolloutStartArgs) -> anyhow::Result<u8> {
    let setting = Setting::here()?;
    setting.check()?;
    let request = setting.inputs(session.ui, &args.inputs)?.request()?;
    let approval = Approval::new(args.auto_approve, &args.terraform, session.ui);
    session.listening(async |interrupt| {
        let locking = args.terraform.locking;
        Ledger::hold(session, &setting, locking, Holding::Apply, interrupt, async |ledger| {
            let start = Start { args, request: &request, approval, known: ledger.known() };
            start.run(session, interrupt).await
        })
        .await
    })
}

struct Start<'a> {
    args: &'a RolloutStartArgs,
    request: &'a Request,
    approval: Approval,
    known: Known,
}

impl Start<'_> {
    async fn run(&self, session: &Session<'_>, interrupt: &Interrupt) -> anyhow::Result<u8> {
        let run = session.open(Place::Request(self.request), interrupt).await?;
        let planned = run.plan(self.request, &self.known).await?;
        let id = match engine::rollout::plan_rollout(&planned)? {
            Rollout::NothingToDo => {
                run.ui.result(&view::nothing_to_roll());
                return Ok(0);
            }
            Rollout::OnlyAside(ids) => {
                run.ui.result(&view::only_aside(&ids));
                return Ok(0);
            }
            Rollout::Running(refresh) => {
                run.ui.result(&view::rollout_runs(&refresh.id, &refresh.status));
                refresh.id
            }
            Rollout::Start(plan) => self.roll(&run, planned, plan).await?,
        };
        if self.args.wait {
            let context = run.context(self.args.timeout);
            engine::await_roll(&context, &self.request.scope, Some(&id)).await?;
            run.ui.result(&view::rollout_complete());
        }
        Ok(0)
    }

    /// Shows, asks, and starts; the id of the refresh.
    async fn roll(&self, run: &Run<'_>, planned: Planned, plan: Plan) -> anyhow::Result<String> {
        let pool = load::pool(&self.request.scope);
        let subject = Subject { pool: &pool, region: run.account.region(), purpose: Purpose::Apply };
        tell::proposal(run.ui, &plan, &subject, tell::Record::default());
        self.approval.obtain(run.ui, &run.interrupt, Purpose::Apply).await?;
        let (planned, plan) = match self.approval {
            Approval::Asked => self.as_approved(run, &plan).await?,
            Approval::Given | Approval::Nobody(_) => (planned, plan),
        };
        let replaced = plan.replaced.len();
        let context = run.context(self.args.timeout);
        let applied = engine::apply(&context, self.request, &Planned { plan, ..planned }).await?;
        let id = applied.refresh.unwrap_or_default();
        run.ui.result(&view::rollout_started(&id, replaced));
        Ok(id)
    }

    /// The roll anew: a question can stand for hours, and only what was shown may be done.
    async fn as_approved(&self, run: &Run<'_>, approved: &Plan) -> Result<(Planned, Plan), Failure> {
        let planned = run.plan(self.request, &self.known).await?;
        match engine::rollout::plan_rollout(&planned)? {
            Rollout::Start(plan) if rollout::is_covered(&plan, approved) => Ok((planned, plan)),
            _ => Err(Failure::new(
                Kind::Refused,
                "The pool has changed since the roll was shown",
                "What was approved is no longer what would be done, or others would be replaced as well. Nothing was \
                 changed. Run the command again.",
            )),
        }
    }
}

/// Stops the roll that is under way.
pub(crate) fn cancel_rollout(session: &Session<'_>, args: &RolloutCancelArgs) -> anyhow::Result<u8> {
    let setting = Setting::here()?;
    let scope = setting.inputs(session.ui, &args.inputs)?.scope()?;
    session.listening(async |interrupt| {
        Ledger::hold(session, &setting, args.locking, Holding::Apply, interrupt, async |ledger| {
            let scope = ledger.placed(scope.clone());
            let run = session.open(Place::Scope(&scope), interrupt).await?;
            let cancelled = engine::rollout::cancel(&run.context(args.timeout), &scope).await?;
            run.ui.result(&match cancelled.refresh.zip(cancelled.left) {
                Some((refresh, left)) => view::rollout_cancelled(&refresh.id, &refresh.status, &left),
                None => view::nothing_to_cancel(),
            });
            Ok(0)
        })
        .await
    })
}
