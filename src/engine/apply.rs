//! Walks a plan: stages in order, the chains of a stage side by side.

use std::{cell::RefCell, ops::ControlFlow, time::Duration};

use futures_util::future::join_all;

use super::{
    Planned,
    context::{Context, Event},
    describe, observe,
    perform::{self, Performer},
    stoppable::Stoppable,
    wait,
};
use crate::{
    contract::{outputs::Outputs, problem::Diagnostic, request::Request},
    error::{Failure, Kind},
    model::{
        launching::{self, Launching},
        members,
        observed::{Group, Instance},
        plan::{Counts, Plan, Step, Task},
        resources::Write,
        target,
    },
};

/// What an apply did.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// Added, changed, destroyed.
    pub counts: Counts,
    /// The outputs afterwards.
    pub outputs: Outputs,
    /// The instance refresh that was started, if any.
    pub refresh: Option<String>,
    /// The group as it was last seen.
    pub group: Option<Group>,
}

/// Carries out a plan, then reads the outputs (anew only if the group was touched).
pub async fn apply(ctx: &Context<'_>, request: &Request, planned: &Planned) -> Result<Applied, Failure> {
    let cloud = Stoppable::of(ctx);
    let ctx = &Context { cloud: &cloud, ..*ctx };
    let refresh = walk(ctx, planned).await?;
    let mut group = planned.observed.group.clone();
    let outputs = if touches_group(&planned.plan) {
        let (live, instances) = reread(ctx, &planned.desired.names.group).await?;
        let live = group.insert(live);
        let launching = launching::launching(Some(live), &members::members(Some(live), &instances));
        let begins = refresh.is_some() && launching == Launching::Replacing;
        if begins || creates_group(&planned.plan) {
            // It has had no time to fail at launching anything: asking how launches fare is in vain.
            observe::outputs_from(&request.scope, Some(live), &instances, &[])?
        } else {
            observe::outputs_of(ctx.cloud, &request.scope, Some(live), &instances).await?
        }
    } else {
        let instances = &planned.observed.instances;
        observe::outputs_of(ctx.cloud, &request.scope, group.as_ref(), instances).await?
    };
    Ok(Applied { counts: planned.plan.counts(), outputs, refresh, group })
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

fn creates_group(plan: &Plan) -> bool {
    steps(plan).any(|step| matches!(step.task, Task::Write(Write::CreateGroup(_))))
}

fn steps(plan: &Plan) -> impl Iterator<Item = &Step> {
    plan.stages.iter().flatten().flatten()
}

fn touches_group(plan: &Plan) -> bool {
    steps(plan).any(|step| match &step.task {
        Task::EndRefresh { .. }
        | Task::Supersede { .. }
        | Task::RollStragglers { .. }
        | Task::AwaitGroupGone { .. } => true,
        Task::Write(write) => {
            matches!(write, Write::CreateGroup(_) | Write::UpdateGroup(_) | Write::StartRefresh { .. })
        }
        Task::PruneVersions { .. } | Task::CheckFetchers { .. } | Task::RemoveObject { .. } => false,
    })
}

/// What became of the steps so far. What is in neither list was not begun.
#[derive(Default)]
struct Ledger<'a> {
    done: Vec<&'a Step>,
    failed: Vec<(&'a Step, Failure)>,
    interrupted: Option<Failure>,
}

/// Walks all stages; the instance refresh that was started, if any.
pub(super) async fn walk(ctx: &Context<'_>, planned: &Planned) -> Result<Option<String>, Failure> {
    let mut performer = Performer::new(ctx, &planned.desired.identity, planned.desired.key.hash());
    performer.template = target::target(&planned.desired, &planned.observed).name;
    let ledger = RefCell::new(Ledger::default());
    for stage in &planned.plan.stages {
        join_all(stage.iter().map(|chain| walk_chain(ctx, &performer, chain, &ledger))).await;
        let stops = !ledger.borrow().failed.is_empty() || ledger.borrow().interrupted.is_some();
        if stops {
            return Err(partial(&planned.plan, ledger.into_inner()));
        }
    }
    Ok(performer.started())
}

async fn walk_chain<'a>(
    ctx: &Context<'_>,
    performer: &Performer<'_>,
    chain: &'a [Step],
    ledger: &RefCell<Ledger<'a>>,
) {
    for step in chain {
        if let Err(interrupted) = wait::check_interrupt(ctx) {
            ledger.borrow_mut().interrupted.get_or_insert(interrupted);
            return;
        }
        match walk_step(ctx, performer, step).await {
            Ok(flow) => {
                ledger.borrow_mut().done.push(step);
                if flow.is_break() {
                    return;
                }
            }
            Err(failure) if step.optional && failure.kind != Kind::Interrupted => {
                let what = describe::task(&step.task);
                ctx.progress.tell(Event::Warning(perform::as_warning(&what, &failure)));
                ledger.borrow_mut().done.push(step);
                return;
            }
            Err(failure) => {
                ledger.borrow_mut().failed.push((step, failure));
                return;
            }
        }
    }
}

async fn walk_step(
    ctx: &Context<'_>,
    performer: &Performer<'_>,
    step: &Step,
) -> Result<ControlFlow<()>, Failure> {
    let what = describe::task(&step.task);
    let begin = ctx.clock.now();
    let address = step.address;
    ctx.progress.tell(Event::Started { address, what: what.clone() });
    let outcome = performer.task(&step.task).await;
    let took = ctx.clock.now().since(begin);
    ctx.progress.tell(match &outcome {
        Ok(_) => Event::Done { address, what, took },
        Err(_) => Event::Failed { address, what, took },
    });
    outcome
}

/// All that failed, and what was done and what was not.
fn partial(plan: &Plan, ledger: Ledger<'_>) -> Failure {
    let begun = |step: &Step| {
        let mut all = ledger.done.iter().copied().chain(ledger.failed.iter().map(|(step, _)| *step));
        all.any(|known| std::ptr::eq(known, step))
    };
    let mut given_up = ledger.failed.iter().filter(|(_, f)| f.kind == Kind::Interrupted).peekable();
    // It may have several calls, of which some were made: an instance refresh was told to end, say.
    let given_up = match given_up.peek() {
        Some(_) => {
            format!("Begun, and given up before its end: {}.\n", list(given_up.map(|(step, _)| *step)))
        }
        None => String::new(),
    };
    let summary = format!(
        "Done before: {}.\n{given_up}Not begun: {}.\nRun the command again to go on from here.",
        list(ledger.done.iter().copied()),
        list(steps(plan).filter(|step| !begun(step)))
    );
    let interrupted =
        ledger.interrupted.is_some() || ledger.failed.iter().any(|(_, f)| f.kind == Kind::Interrupted);
    let kind = match ledger.failed.first() {
        _ if interrupted => Kind::Interrupted,
        Some((_, failure)) if ledger.done.is_empty() => failure.kind,
        _ => Kind::Partial,
    };
    let failures = ledger.failed.into_iter().map(|(_, failure)| failure).chain(ledger.interrupted);
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    for diagnostic in failures.flat_map(|failure| failure.diagnostics) {
        if !diagnostics.contains(&diagnostic) {
            diagnostics.push(diagnostic);
        }
    }
    if let Some(last) = diagnostics.last_mut() {
        last.add(&summary);
    }
    Failure { kind, diagnostics }
}

fn list<'a>(steps: impl Iterator<Item = &'a Step>) -> String {
    let words: Vec<String> = steps.map(|step| describe::task(&step.task)).collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}
