//! Walks a plan: stages in order, the chains of a stage side by side.

use std::{cell::RefCell, ops::ControlFlow, time::Duration};

use futures_util::future::join_all;

use super::{
    Planned,
    context::{Context, Event},
    describe, observe,
    perform::{self, Performer},
    wait,
};
use crate::{
    contract::{
        outputs::Outputs,
        problem::Diagnostic,
        request::{Request, Scope},
    },
    error::{Failure, Kind},
    model::{
        names::Names,
        observed::{Group, Instance},
        plan::{Counts, Plan, Step, Task},
        resources::Write,
        roll,
    },
};

/// What an apply did.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// Added, changed, destroyed.
    pub counts: Counts,
    /// The outputs afterwards.
    pub outputs: Outputs,
}

/// Carries out a plan, then reads the outputs (anew only if the group was touched).
pub async fn apply(ctx: &Context<'_>, request: &Request, planned: &Planned) -> Result<Applied, Failure> {
    walk(ctx, planned).await?;
    let outputs = if touches_group(&planned.plan) {
        let (group, instances) = reread(ctx, &planned.desired.names.group).await?;
        observe::outputs_of(ctx.cloud, &request.scope, Some(&group), &instances).await?
    } else {
        let observed = &planned.observed;
        observe::outputs_of(ctx.cloud, &request.scope, observed.group.as_ref(), &observed.instances).await?
    };
    Ok(Applied { counts: planned.plan.counts(), outputs })
}

/// A group that this very run made or changed is there: a reading without it lags.
async fn reread(ctx: &Context<'_>, name: &str) -> Result<(Group, Vec<Instance>), Failure> {
    wait::until(ctx, Duration::from_mins(1), async || {
        Ok(match observe::membership(ctx.cloud, name).await? {
            (Some(group), instances) => ControlFlow::Break((group, instances)),
            (None, _) => ControlFlow::Continue(format!("AWS does not show Auto Scaling group {name} yet")),
        })
    })
    .await
}

fn touches_group(plan: &Plan) -> bool {
    plan.stages.iter().flatten().flatten().any(|step| match &step.task {
        Task::EndRefresh { .. } | Task::AwaitGroupGone { .. } => true,
        Task::Write(write) => {
            matches!(write, Write::CreateGroup(_) | Write::UpdateGroup(_) | Write::StartRefresh { .. })
        }
        Task::PruneVersions { .. } => false,
    })
}

/// What became of the steps so far.
#[derive(Debug, Default)]
struct Ledger {
    done: Vec<String>,
    failed: Vec<(String, Failure)>,
}

async fn walk(ctx: &Context<'_>, planned: &Planned) -> Result<(), Failure> {
    let performer = Performer::new(ctx, &planned.desired.identity);
    let ledger = RefCell::new(Ledger::default());
    for stage in &planned.plan.stages {
        join_all(stage.iter().map(|chain| walk_chain(ctx, &performer, chain, &ledger))).await;
        if !ledger.borrow().failed.is_empty() {
            return Err(partial(&planned.plan, ledger.into_inner()));
        }
    }
    Ok(())
}

async fn walk_chain(ctx: &Context<'_>, performer: &Performer<'_>, chain: &[Step], ledger: &RefCell<Ledger>) {
    for step in chain {
        let what = describe::task(&step.task);
        let outcome = match wait::check_interrupt(ctx) {
            Ok(()) => walk_step(ctx, performer, step, &what).await,
            interrupted => interrupted,
        };
        match outcome {
            Ok(()) => ledger.borrow_mut().done.push(what),
            Err(failure) if step.optional && failure.kind != Kind::Interrupted => {
                ctx.progress.tell(Event::Warning(perform::as_warning(&what, &failure)));
                return;
            }
            Err(failure) => {
                ledger.borrow_mut().failed.push((what, failure));
                return;
            }
        }
    }
}

async fn walk_step(
    ctx: &Context<'_>,
    performer: &Performer<'_>,
    step: &Step,
    what: &str,
) -> Result<(), Failure> {
    let begin = ctx.clock.now();
    let address = step.address;
    ctx.progress.tell(Event::Started { address, what: what.to_owned() });
    performer.task(&step.task).await?;
    let took = ctx.clock.now().since(begin);
    ctx.progress.tell(Event::Done { address, what: what.to_owned(), took });
    Ok(())
}

/// All that failed, and what was done and what was not.
fn partial(plan: &Plan, ledger: Ledger) -> Failure {
    let touched: Vec<&String> =
        ledger.done.iter().chain(ledger.failed.iter().map(|(what, _)| what)).collect();
    let not_started: Vec<String> = plan
        .stages
        .iter()
        .flatten()
        .flatten()
        .map(|step| describe::task(&step.task))
        .filter(|what| !touched.contains(&what))
        .collect();
    let list = |items: &[String]| if items.is_empty() { "nothing".to_owned() } else { items.join(", ") };
    let summary = format!(
        "Done before: {}.\nNot begun: {}.\nRun the command again to go on from here.",
        list(&ledger.done),
        list(&not_started)
    );
    let interrupted = ledger.failed.iter().any(|(_, f)| f.kind == Kind::Interrupted);
    let kind = match ledger.failed.first() {
        _ if interrupted => Kind::Interrupted,
        _ if !ledger.done.is_empty() => Kind::Partial,
        Some((_, failure)) => failure.kind,
        None => Kind::Partial,
    };
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    for (_, failure) in ledger.failed {
        for diagnostic in failure.diagnostics {
            if !diagnostics.contains(&diagnostic) {
                diagnostics.push(diagnostic);
            }
        }
    }
    if let Some(last) = diagnostics.last_mut() {
        if !last.detail.is_empty() {
            last.detail.push_str("\n\n");
        }
        last.detail.push_str(&summary);
    }
    Failure { kind, diagnostics }
}

/// Waits until no instance refresh of the group is active; a failed or stopped one is an error.
pub async fn await_roll(ctx: &Context<'_>, scope: &Scope) -> Result<(), Failure> {
    let group = Names::of(scope).group;
    let limit = ctx.deadline.since(ctx.clock.now());
    let last = wait::until(ctx, limit, async || {
        let refreshes = ctx.cloud.refreshes(&group).await?;
        Ok(match roll::active(&refreshes) {
            None => ControlFlow::Break(refreshes.into_iter().next()),
            Some(active) => ControlFlow::Continue(format!(
                "instance refresh {} is {}, {} % done, {} instances left",
                active.id,
                active.status,
                active.percentage.unwrap_or(0),
                active.remaining.map_or_else(|| "?".to_owned(), |n| n.to_string()),
            )),
        })
    })
    .await?;
    match last {
        Some(refresh) if refresh.status != "Successful" => Err(Failure::new(
            Kind::Aws,
            format!("Instance refresh {} is {}", refresh.id, refresh.status),
            format!(
                "AWS says: {}. The next apply starts a failed one again; one that was cancelled or rolled \
                 back is left alone.",
                refresh.reason.unwrap_or_else(|| "no reason given".to_owned())
            ),
        )),
        _ => Ok(()),
    }
}
