//! `rollout start` and `rollout cancel`: instance refreshes by hand, under the lock where there is one. Nothing
//! is recorded: what changes by it, the next refresh of the state sees.

use super::{
    ledger::{Ledger, Purpose as Holding},
    setting::Setting,
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
    cli::{RolloutCancelArgs, RolloutStartArgs},
    contract::request::Request,
    engine::{
        self, Planned,
        context::{Context, Interrupt},
        rollout::Cancelled,
    },
    error::{Failure, Kind},
    model::{
        names::Names,
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
    let approval =
        Approval::new(Asking::Rollout, args.auto_approve, &args.terraform, &args.inputs, session.ui);
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
        match engine::rollout::plan_rollout(&planned)? {
            Rollout::NothingToDo => run.ui.result(&view::nothing_to_roll()),
            Rollout::NoMembers => run.ui.result(&view::nobody_to_roll()),
            Rollout::OnlyAside(ids) => run.ui.result(&view::only_aside(&ids)),
            Rollout::Running(refresh) => {
                run.ui.result(&view::rollout_runs(&refresh.id, &refresh.status));
                self.see_through(&run, &run.context(self.args.timeout), &refresh.id).await?;
            }
            Rollout::Start(plan) => self.roll(&run, planned, plan).await?,
        }
        Ok(0)
    }

    /// Waits until the roll is over, if told to.
    async fn see_through(&self, run: &Run<'_>, context: &Context<'_>, id: &str) -> Result<(), Failure> {
        if self.args.wait {
            engine::await_roll(context, &self.request.scope, Some(id)).await?;
            run.ui.result(&view::rollout_complete());
        }
        Ok(())
    }

    /// Shows, asks, starts, and waits if told to: all that comes after the question has one deadline.
    async fn roll(&self, run: &Run<'_>, planned: Planned, plan: Plan) -> anyhow::Result<()> {
        let pool = load::pool(&self.request.scope);
        let subject = Subject { pool: &pool, region: run.account.region(), purpose: Purpose::Apply };
        tell::proposal(run.ui, &plan, &subject, tell::Record::default());
        self.approval.obtain(run.ui, &run.interrupt, Purpose::Apply).await?;
        let (planned, plan) = match self.approval {
            Approval::Asked => self.as_approved(run, &plan).await?,
            Approval::Given | Approval::Nobody(..) => (planned, plan),
        };
        let replaced = plan.replaced.len();
        let context = run.context(self.args.timeout);
        let steps = Steps::of_roll(&plan, context.progress);
        let context = Context { progress: &steps, ..context };
        let planned = Planned { plan, ..planned };
        let id = engine::rollout::start(&context, &planned)
            .await
            .map_err(|failure| not_started(steps.tell(failure)))?;
        run.ui.result(&view::rollout_started(&id, replaced));
        self.see_through(run, &context, &id).await.map_err(|failure| started(failure, &id))?;
        Ok(())
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

/// A start that did not come to its end, as far as is known.
fn not_started(mut failure: Failure) -> Failure {
    if let Some(last) = failure.diagnostics.last_mut() {
        last.add("Whether a roll is under way, machinepool rollout status tells.");
    }
    failure
}

/// A wait for a roll that was started which did not come to its end: what was asked for is done.
fn started(mut failure: Failure, id: &str) -> Failure {
    let summary = format!("Interrupted while waiting for instance refresh {id}, which was started");
    for diagnostic in failure.diagnostics.iter_mut().filter(|d| d.summary == "Interrupted") {
        diagnostic.summary.clone_from(&summary);
    }
    failure
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
            run.ui.result(&match cancelled {
                Cancelled::Ended { id, status, left } => {
                    view::rollout_cancelled(&id, status.as_deref(), left.as_deref())
                }
                Cancelled::Nothing(group) => {
                    view::nothing_to_cancel(&Names::of(&scope).group, group.as_deref())
                }
            });
            Ok(0)
        })
        .await
    })
}
