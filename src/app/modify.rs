//! Commands that change something: apply and destroy.

use super::{
    account::Place,
    ask::Approval,
    inspect, load,
    session::{Run, Session},
};
use crate::{
    cli::{ApplyArgs, DestroyArgs},
    contract::request::{Request, Scope},
    engine::{self, Planned},
    error::{Failure, Kind},
    model::plan::{Counts, Plan},
    view::{self, Purpose, Subject},
};

/// Makes the pool what the inputs ask for. An apply without changes still cleans up.
pub(super) fn apply(session: &Session<'_>, args: &ApplyArgs) -> anyhow::Result<u8> {
    let approval = Approval::new(args.auto_approve, &args.terraform, session.ui);
    let request = load::request(&args.inputs)?;
    session.online(Place::Request(&request), async |run| {
        let mut planned = run.plan(&request).await?;
        approve(run, approval, &planned.plan, &request.scope, Purpose::Apply).await?;
        if approval == Approval::Asked && !planned.plan.is_empty() {
            planned = as_approved(run, &request, &planned.plan).await?;
        }
        let context = run.context(args.timeout);
        let mut applied = engine::apply(&context, &request, &planned).await?;
        if args.wait {
            engine::await_roll(&context, &request.scope, applied.refresh.as_deref())
                .await
                .map_err(|failure| after_changes(failure, applied.counts))?;
            applied.outputs = run.reading(engine::outputs(run.account.cloud(), &request.scope)).await?;
        }
        inspect::applied(run.ui, applied.counts, &applied.outputs);
        Ok(0)
    })
}

/// Deletes everything that the pool owns.
pub(super) fn destroy(session: &Session<'_>, args: &DestroyArgs) -> anyhow::Result<u8> {
    let approval = Approval::new(args.auto_approve, &args.terraform, session.ui);
    let scope = load::scope(&args.inputs)?;
    session.online(Place::Scope(&scope), async |run| {
        let teardown = run.reading(engine::plan_destroy(run.account.cloud(), &scope)).await?;
        approve(run, approval, &teardown.plan, &scope, Purpose::Destroy).await?;
        let counts = engine::destroy(&run.context(args.timeout), &teardown).await?;
        run.ui.result(&view::destroy_complete(counts));
        Ok(0)
    })
}

/// The plan anew: a question can stand for hours, and only what was shown may be done.
async fn as_approved(run: &Run<'_>, request: &Request, approved: &Plan) -> anyhow::Result<Planned> {
    let fresh = run.plan(request).await?;
    if fresh.plan.changes == approved.changes {
        return Ok(fresh);
    }
    Err(Failure::new(
        Kind::Refused,
        "The pool has changed since the plan was shown",
        "What was approved is no longer what apply would do. Nothing was changed. Run the command again to see \
         what it would do now.",
    )
    .into())
}

/// A wait that failed says what was done before it.
fn after_changes(mut failure: Failure, counts: Counts) -> Failure {
    let done = format!(
        "Everything else is done: {} added, {} changed, {} destroyed.",
        counts.add, counts.change, counts.destroy
    );
    if let Some(last) = failure.diagnostics.last_mut() {
        last.add(&done);
    }
    failure
}

/// Shows the plan, which here is no result, and has it approved if there is something to approve.
async fn approve(
    run: &Run<'_>,
    approval: Approval,
    plan: &Plan,
    scope: &Scope,
    purpose: Purpose,
) -> Result<(), Failure> {
    let pool = load::pool(scope);
    let subject = Subject { pool: &pool, region: run.account.region(), purpose };
    run.ui.say(&view::plan(plan, &subject, run.ui.talk_style()));
    if plan.is_empty() {
        return Ok(());
    }
    approval.obtain(run.ui, &run.interrupt, purpose).await
}
