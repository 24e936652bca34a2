//! Instance refreshes that an operator starts and stops.

use std::time::Duration;

use super::{
    Planned, apply,
    context::{Context, Event},
    describe,
    perform::Performer,
    status::pool,
    stoppable::Stoppable,
};
use crate::{
    contract::request::Scope,
    error::{Failure, Kind},
    model::{
        names::Names,
        observed::{Group, Refresh},
        ownership::{self, Resource},
        plan::{Address, Task},
        roll,
        rollout::{self, Rollout},
        status, surplus,
    },
};

/// What a roll would do, from the plan of an apply.
pub fn plan_rollout(planned: &Planned) -> Result<Rollout, Failure> {
    rollout::rollout(&planned.desired, &planned.observed, &planned.plan)
        .map_err(|problem| Failure { kind: Kind::Refused, diagnostics: vec![problem] })
}

/// Starts the roll of such a plan. Answers the id of the instance refresh.
pub async fn start(ctx: &Context<'_>, planned: &Planned) -> Result<String, Failure> {
    let cloud = Stoppable::of(ctx);
    let ctx = &Context { cloud: &cloud, ..*ctx };
    apply::walk(ctx, planned).await?.ok_or_else(|| {
        Failure::new(Kind::Aws, "No instance refresh was started", "The plan held none: this is a defect.")
    })
}

/// What came of a cancel.
#[derive(Clone, Debug, PartialEq)]
pub enum Cancelled {
    /// The refresh of this id has ended.
    Ended {
        /// Its id.
        id: String,
        /// How it ended; `None` if AWS does not tell.
        status: Option<String>,
        /// What is left then, and what comes of it; `None` if AWS does not tell.
        left: Option<Box<status::Rollout>>,
    },
    /// None was active in the group, if there even is one.
    Nothing(Option<Box<Group>>),
}

/// Cancels the active instance refresh of the pool's group and waits until it has ended.
pub async fn cancel(ctx: &Context<'_>, scope: &Scope) -> Result<Cancelled, Failure> {
    let cloud = Stoppable::of(ctx);
    let ctx = &Context { cloud: &cloud, ..*ctx };
    let name = Names::of(scope).group;
    let (group, refreshes) = own_refreshes(ctx, scope, &name).await?;
    let ends = group.as_ref().is_none_or(|group| group.deleting);
    let Some(active) = roll::active(&refreshes).filter(|_| !ends).cloned() else {
        return Ok(Cancelled::Nothing(group.map(Box::new)));
    };
    let tags = group.as_ref().map(Group::tags).unwrap_or_default();
    let warnings = ownership::unsaid(&scope.identity, [&tags]).into_iter();
    for warning in warnings.chain(group.as_ref().and_then(surplus::of_a_cancelled_roll)) {
        ctx.progress.tell(Event::Warning(warning));
    }
    end(ctx, scope, &name).await?;
    // What was asked for is done, whatever comes of a look at what is left.
    let seen = pool(ctx.cloud, scope, &[]).await.ok();
    let ended = seen.as_ref().and_then(|seen| seen.refreshes.iter().find(|refresh| refresh.id == active.id));
    let status = ended.map(|ended| ended.status.clone()).filter(|status| roll::is_final(status));
    let left = seen.as_ref().map(|seen| Box::new(status::roll(scope, seen, ctx.clock.now())));
    Ok(Cancelled::Ended { id: active.id, status, left })
}

/// The group, which must be the pool's, and its refreshes; none if there is no group.
async fn own_refreshes(
    ctx: &Context<'_>,
    scope: &Scope,
    name: &str,
) -> Result<(Option<Group>, Vec<Refresh>), Failure> {
    let (group, refreshes) = futures_util::join!(ctx.cloud.group(name), ctx.cloud.refreshes(name));
    let Some(group) = group? else { return Ok((None, Vec::new())) };
    ownership::check(Resource::Group(name), &scope.identity, &group.tags())
        .map_err(|problem| Failure { kind: Kind::Refused, diagnostics: vec![problem] })?;
    Ok((Some(group), refreshes?))
}

async fn end(ctx: &Context<'_>, scope: &Scope, name: &str) -> Result<(), Failure> {
    let task = Task::EndRefresh { group: name.to_owned() };
    let (address, what, begin) = (Address::Group, describe::task(&task), ctx.clock.now());
    ctx.progress.tell(Event::Started { address, what: what.clone() });
    let outcome = Performer::new(ctx, &scope.identity, String::new()).task(&task).await.map(drop);
    let took: Duration = ctx.clock.now().since(begin);
    ctx.progress.tell(match &outcome {
        Ok(()) => Event::Done { address, what, took },
        Err(_) => Event::Failed { address, what, took },
    });
    outcome.map_err(|mut failure| {
        if let Some(last) = failure.diagnostics.last_mut() {
            last.add(
                "If AWS was asked already to end the instance refresh, it does so by itself: machinepool rollout status \
                 tells.",
            );
        }
        failure
    })
}
