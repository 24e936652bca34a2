//! Walks a plan: stages in order, the chains of a stage side by side.

use std::{cell::RefCell, collections::BTreeMap, ops::ControlFlow, time::Duration};

use futures_util::{future::join_all, join};

use super::{
    Planned,
    context::{Context, Event},
    describe, observe,
    perform::{self, Performer},
    status::pool,
    stoppable::Stoppable,
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
        launching::{self, Launching},
        members,
        names::Names,
        observed::{Group, Instance, Refresh},
        plan::{Counts, Plan, Step, Task},
        processes,
        resources::Write,
        roll, status, target,
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

/// Waits until the roll is over: the refresh that an apply started, else the one that is under way for
/// the group's template. A failed or stopped one is an error, with AWS's words about launches.
pub async fn await_roll(ctx: &Context<'_>, scope: &Scope, started: Option<&str>) -> Result<(), Failure> {
    let cloud = Stoppable::of(ctx);
    let ctx = &Context { cloud: &cloud, ..*ctx };
    let group = Names::of(scope).group;
    let seen = RefCell::new(started.map(|id| Running { id: id.to_owned(), waits: None }));
    let outcome = match last_refresh(ctx, &group, started, &seen).await {
        Ok(Some(refresh)) if refresh.status != "Successful" => Err(unsuccessful(ctx, scope, &refresh).await),
        Ok(_) => Ok(()),
        Err(failure) => Err(goes_on(failure, seen.into_inner())),
    };
    let Err(mut failure) = outcome else { return Ok(()) };
    if failure.kind != Kind::Interrupted
        && let Ok(activities) = ctx.cloud.activities(&group).await
        && let Some(words) = launching::launch_failure(&activities)
        && let Some(last) = failure.diagnostics.last_mut()
    {
        last.add(&words);
    }
    Err(failure)
}

/// The refresh that is waited for.
struct Running {
    id: String,
    /// What it waits for itself: `until Launch is resumed`.
    waits: Option<String>,
}

/// A wait that was given up gives up nothing in AWS.
fn goes_on(mut failure: Failure, refresh: Option<Running>) -> Failure {
    if let (Some(Running { id, waits }), Some(last)) = (refresh, failure.diagnostics.last_mut()) {
        let is = waits.map_or_else(|| "goes on in AWS".to_owned(), |until| format!("waits in AWS {until}"));
        last.add(&format!(
            "Instance refresh {id} {is}. machinepool rollout status tells how far it is, rollout cancel stops it."
        ));
    }
    failure
}

/// The refresh to be judged, once it has come to an end; none if members run what they should. `seen` is the one that
/// is waited for.
async fn last_refresh(
    ctx: &Context<'_>,
    group: &str,
    started: Option<&str>,
    seen: &RefCell<Option<Running>>,
) -> Result<Option<Refresh>, Failure> {
    let limit = ctx.deadline.since(ctx.clock.now());
    wait::until(ctx, limit, async || {
        let (found, refreshes) = join!(ctx.cloud.group(group), ctx.cloud.refreshes(group));
        let (found, refreshes) = (found?, refreshes?);
        let refresh = match (started, &found) {
            (Some(id), _) => refreshes.iter().find(|r| r.id == id),
            (None, Some(found)) => newest_of_template(found, &refreshes),
            (None, None) => None,
        };
        Ok(match (refresh, started) {
            (Some(refresh), _) if !roll::is_final(&refresh.status) => {
                let missing = missing(found.as_ref());
                let waits = (!missing.is_empty()).then(|| processes::until(&missing));
                seen.replace(Some(Running { id: refresh.id.clone(), waits }));
                let (what, brief) = progress(refresh, found.as_ref());
                ctx.progress.tell(Event::Share { done: refresh.percentage.unwrap_or(0), of: 100, brief });
                ControlFlow::Continue(what)
            }
            (None, Some(id)) => ControlFlow::Continue(format!("AWS does not show instance refresh {id} yet")),
            (refresh, _) => ControlFlow::Break(refresh.cloned()),
        })
    })
    .await
}

/// The newest refresh that belongs to the group's template; a final one only while some member runs
/// another template.
fn newest_of_template<'a>(group: &Group, refreshes: &'a [Refresh]) -> Option<&'a Refresh> {
    let mark = roll::mark(group)?;
    let name = target::current_use(group).map(|used| used.name.as_str()).unwrap_or_default();
    let newest = roll::marked(group, &mark.hash, name, refreshes).first().copied()?;
    let rolls = !roll::is_final(&newest.status) || roll::outdated(group, name).next().is_some();
    rolls.then_some(newest)
}

/// How far a refresh is: in full, and what of that a narrow terminal is to show, members first.
fn progress(refresh: &Refresh, group: Option<&Group>) -> (String, String) {
    let left = match refresh.left() {
        Some(left) => format!("{left} left to replace"),
        None => "what is left not counted yet".to_owned(),
    };
    let missing = missing(group);
    let (waits, suspended) = match missing[..] {
        [] => (String::new(), String::new()),
        _ => (
            format!("it waits {}, ", processes::until(&missing)),
            format!("{} suspended, ", processes::named(&missing)),
        ),
    };
    let states = group.map(lifecycles).unwrap_or_default();
    let done = refresh.percentage.unwrap_or(0);
    let which = format!("instance refresh {} is {}", refresh.id, refresh.status);
    let members = states.trim_start_matches(", ");
    let gap = if members.is_empty() { "" } else { ", " };
    (
        format!("{done} % done, {waits}{left}{states}; {which}"),
        format!("{suspended}{members}{gap}{left}; {which}"),
    )
}

/// The suspended processes that a refresh waits for.
fn missing(group: Option<&Group>) -> Vec<&'static str> {
    group.map(|group| processes::missing(group, processes::OF_ROLLS)).unwrap_or_default()
}

/// How many members of a group are in each state that it tells: `, 2 InService, 1 Pending`.
pub(super) fn lifecycles(group: &Group) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for member in &group.members {
        *counts.entry(&member.lifecycle).or_default() += 1;
    }
    counts.into_iter().fold(String::new(), |text, (lifecycle, count)| format!("{text}, {count} {lifecycle}"))
}

/// What comes next follows from what members run now, and from how often the roll has failed.
async fn unsuccessful(ctx: &Context<'_>, scope: &Scope, refresh: &Refresh) -> Failure {
    let next = match pool(ctx.cloud, scope, &[]).await {
        Ok(seen) => status::roll(scope, &seen, ctx.clock.now()).next,
        Err(_) => "machinepool rollout status tells what comes next.".to_owned(),
    };
    Failure::new(
        Kind::Aws,
        format!("Instance refresh {} is {}", refresh.id, refresh.status),
        format!("AWS says: {}. {next}", refresh.reason_in_a_line()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::observed::GroupMember;

    #[test]
    fn members_come_first_where_room_is_short() {
        let member = |lifecycle: &str| GroupMember { lifecycle: lifecycle.into(), ..GroupMember::default() };
        let mut group =
            Group { members: ["InService", "Pending", "InService"].map(member).into(), ..Group::default() };
        let refresh = Refresh {
            id: "r-1".into(),
            status: "InProgress".into(),
            percentage: Some(66),
            remaining: Some(1),
            ..Refresh::default()
        };
        let told = |group: &Group| progress(&refresh, Some(group));
        let which = "instance refresh r-1 is InProgress";
        assert_eq!(
            told(&group),
            (
                format!("66 % done, 1 left to replace, 2 InService, 1 Pending; {which}"),
                format!("2 InService, 1 Pending, 1 left to replace; {which}")
            )
        );
        group.suspended = ["AZRebalance", "HealthCheck", "Launch"].map(str::to_owned).into();
        let (what, brief) = told(&group);
        assert!(what.starts_with("66 % done, it waits until Launch is resumed, 1 left"), "{what}");
        assert!(brief.starts_with("Launch suspended, 2 InService, 1 Pending"), "{brief}");
        let waits = Some("until Launch is resumed".to_owned());
        let told = goes_on(Failure::new(Kind::Aws, "x", "y"), Some(Running { id: "r-1".into(), waits }));
        let told = &told.diagnostics[0].detail;
        assert!(told.contains("r-1 waits in AWS until Launch is resumed. "), "{told}");
        assert_eq!(progress(&refresh, None).1, format!("1 left to replace; {which}"));
    }
}
