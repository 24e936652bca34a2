//! Waits until a roll is over, tells meanwhile how far it is, and judges how it ended.

use std::{cell::RefCell, collections::BTreeMap, ops::ControlFlow};

use futures_util::join;

use super::{
    context::{Context, Event},
    status::pool,
    stoppable::Stoppable,
    wait,
};
use crate::{
    contract::request::Scope,
    error::{Failure, Kind},
    model::{
        launching,
        names::Names,
        observed::{Group, Refresh},
        processes, roll, status, target,
    },
};

/// Waits until the roll is over: the refresh that an apply started, else the one that is under way for
/// the group's template. A failed or stopped one is an error, with AWS's words about launches.
pub async fn await_roll(ctx: &Context<'_>, scope: &Scope, started: Option<&str>) -> Result<(), Failure> {
    let cloud = Stoppable::of(ctx);
    let ctx = &Context { cloud: &cloud, ..*ctx };
    let group = Names::of(scope).group;
    let seen = RefCell::new(started.map(|id| Running { id: id.to_owned(), hindrance: None }));
    let outcome = match last_refresh(ctx, scope, started, &seen).await {
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
    /// What keeps it from going on by itself: `waits in AWS until Launch is resumed`.
    hindrance: Option<String>,
}

/// A wait that was given up gives up nothing in AWS.
fn goes_on(mut failure: Failure, refresh: Option<Running>) -> Failure {
    if let (Some(Running { id, hindrance }), Some(last)) = (refresh, failure.diagnostics.last_mut()) {
        let is = hindrance.unwrap_or_else(|| "goes on in AWS".to_owned());
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
    scope: &Scope,
    started: Option<&str>,
    seen: &RefCell<Option<Running>>,
) -> Result<Option<Refresh>, Failure> {
    let limit = ctx.deadline.since(ctx.clock.now());
    let group = &Names::of(scope).group;
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
                let look = Look::at(ctx, scope, refresh, found.as_ref()).await;
                seen.replace(Some(Running { id: refresh.id.clone(), hindrance: look.hindrance() }));
                let (what, brief) = look.progress();
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

/// A refresh under way, as one look shows it.
struct Look<'a> {
    refresh: &'a Refresh,
    group: Option<&'a Group>,
    /// The suspended processes that it waits for.
    missing: Vec<&'static str>,
    /// Why its launches fail.
    failing: Option<String>,
}

impl<'a> Look<'a> {
    /// How launches fare is asked only while no replacement is there: one that is tells it.
    async fn at(ctx: &Context<'_>, scope: &Scope, refresh: &'a Refresh, group: Option<&'a Group>) -> Self {
        let missing = group.map(|g| roll::waits_for(&scope.identity, g, Some(refresh))).unwrap_or_default();
        let stays = |g: &Group| g.members.iter().filter(|m| !roll::is_leaving(&m.lifecycle)).count();
        let failing = match group {
            Some(group) if roll::replaces(refresh) && stays(group) <= group.desired as usize => {
                let activities = ctx.cloud.activities(&group.name).await.unwrap_or_default();
                launching::failing_roll(refresh, &activities)
            }
            _ => None,
        };
        Self { refresh, group, missing, failing }
    }

    /// What keeps it from going on by itself.
    fn hindrance(&self) -> Option<String> {
        if !self.missing.is_empty() {
            return Some(format!("waits in AWS {}", processes::until(&self.missing)));
        }
        self.failing.as_ref().map(|_| "is still under way in AWS, but its launches fail".to_owned())
    }

    /// How far it is: in full, and what of that a narrow terminal is to show, members first.
    fn progress(&self) -> (String, String) {
        let Self { refresh, group, missing, failing } = self;
        let left = match refresh.left() {
            Some(left) => format!("{left} left to replace"),
            None => "what is left not counted yet".to_owned(),
        };
        let warm_up = group.and_then(|group| roll::warm_up(group, refresh));
        let (waits, short) = match (&missing[..], failing, warm_up) {
            ([_, ..], ..) => (
                format!("it waits {}, ", processes::until(missing)),
                format!("{} suspended, ", processes::named(missing)),
            ),
            ([], Some(_), _) => ("launches fail, ".to_owned(), "launches fail, ".to_owned()),
            ([], None, Some(seconds)) => {
                (format!("it waits for {seconds} s of warm-up, "), format!("warm-up of {seconds} s, "))
            }
            ([], None, None) => (String::new(), String::new()),
        };
        let states = group.map(lifecycles).unwrap_or_default();
        let done = refresh.percentage.unwrap_or(0);
        let which = format!("instance refresh {} is {}", refresh.id, refresh.status);
        let words = failing.as_ref().map_or(String::new(), |words| format!(". {words}"));
        let members = states.trim_start_matches(", ");
        let gap = if members.is_empty() { "" } else { ", " };
        (
            format!("{done} % done, {waits}{left}{states}; {which}{words}"),
            format!("{short}{members}{gap}{left}; {which}"),
        )
    }
}

/// How many members of a group are in each state that it tells: `, 2 InService, 1 Pending`.
pub(super) fn lifecycles(group: &Group) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for member in &group.members {
        *counts.entry(&member.lifecycle).or_default() += 1;
    }
    counts.into_iter().fold(String::new(), |text, (lifecycle, count)| format!("{text}, {count} {lifecycle}"))
}

/// What comes next follows from what members run now, from how often the roll has failed, and from what others have
/// started since.
async fn unsuccessful(ctx: &Context<'_>, scope: &Scope, refresh: &Refresh) -> Failure {
    let next = match pool(ctx.cloud, scope, &[]).await {
        Ok(seen) => status::roll(scope, &seen, ctx.clock.now()).next_after(&refresh.id),
        Err(_) => status::ASK_ROLLOUT_STATUS.to_owned(),
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

    fn group(lifecycles: &[&str]) -> Group {
        let member =
            |lifecycle: &&str| GroupMember { lifecycle: (*lifecycle).into(), ..GroupMember::default() };
        Group { desired: 2, members: lifecycles.iter().map(member).collect(), ..Group::default() }
    }

    fn refresh() -> Refresh {
        Refresh {
            id: "r-1".into(),
            status: "InProgress".into(),
            percentage: Some(66),
            remaining: Some(1),
            warmup_seconds: Some(300),
            ..Refresh::default()
        }
    }

    fn look<'a>(refresh: &'a Refresh, group: Option<&'a Group>) -> Look<'a> {
        Look { refresh, group, missing: Vec::new(), failing: None }
    }

    #[test]
    fn members_come_first_where_room_is_short() {
        let (refresh, group) = (refresh(), group(&["InService", "Pending", "InService"]));
        let which = "instance refresh r-1 is InProgress";
        assert_eq!(
            look(&refresh, Some(&group)).progress(),
            (
                format!("66 % done, 1 left to replace, 2 InService, 1 Pending; {which}"),
                format!("2 InService, 1 Pending, 1 left to replace; {which}")
            )
        );
        assert_eq!(look(&refresh, None).progress().1, format!("1 left to replace; {which}"));
    }

    #[test]
    fn what_keeps_a_roll_from_going_on_is_told_with_how_far_it_is() {
        let (refresh, group) = (refresh(), group(&["InService", "Pending", "InService"]));
        let suspended = Look { missing: vec!["Launch"], ..look(&refresh, Some(&group)) };
        let (what, brief) = suspended.progress();
        assert!(what.starts_with("66 % done, it waits until Launch is resumed, 1 left"), "{what}");
        assert!(brief.starts_with("Launch suspended, 2 InService, 1 Pending"), "{brief}");
        let failing = Some("The last launch, on 2026-01-02 15:04 UTC, failed: no capacity".to_owned());
        let failing = Look { failing, ..look(&refresh, Some(&group)) };
        let (what, brief) = failing.progress();
        assert!(what.starts_with("66 % done, launches fail, ") && what.ends_with("no capacity"), "{what}");
        assert!(brief.starts_with("launches fail, "), "{brief}");
        let told = |look: &Look<'_>| {
            let running = Running { id: "r-1".into(), hindrance: look.hindrance() };
            goes_on(Failure::new(Kind::Aws, "x", "y"), Some(running)).diagnostics.remove(0).detail
        };
        assert!(told(&suspended).contains("r-1 waits in AWS until Launch is resumed. "));
        assert!(told(&failing).contains("but its launches fail. "));
        assert!(told(&look(&refresh, Some(&group))).contains("r-1 goes on in AWS. "));
    }

    /// It looks like a hang otherwise.
    #[test]
    fn a_warm_up_is_told_while_replacements_are_in_service_beside_the_others() {
        let told = |lifecycles: &[&str], refresh: &Refresh| {
            look(refresh, Some(&group(lifecycles))).progress().0.contains("it waits for 300 s of warm-up, ")
        };
        assert!(told(&["InService"; 3], &refresh()));
        assert!(!told(&["InService", "InService", "Pending"], &refresh()));
        assert!(!told(&["InService", "InService", "Terminating"], &refresh()));
        assert!(!told(&["InService"; 3], &Refresh { status: "Cancelling".into(), ..refresh() }));
        assert!(!told(&["InService"; 3], &Refresh { warmup_seconds: None, ..refresh() }));
    }
}
