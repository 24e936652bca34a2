//! Instance refreshes that an operator starts and stops.

use std::time::Duration;

use super::{
    Planned,
    context::{Context, Event},
    describe,
    perform::Performer,
    status::pool,
    stoppable::Stoppable,
};
use crate::{
    contract::request::{Scope, Tags},
    error::{Failure, Kind},
    model::{
        names::Names,
        observed::Refresh,
        ownership::{self, Resource},
        plan::{Address, Task},
        roll,
        rollout::{self, Rollout},
        status,
    },
};

/// What a roll would do, from the plan of an apply.
pub fn plan_rollout(planned: &Planned) -> Result<Rollout, Failure> {
    rollout::rollout(&planned.desired, &planned.observed, &planned.plan)
        .map_err(|problem| Failure { kind: Kind::Refused, diagnostics: vec![problem] })
}

/// What came of a cancel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cancelled {
    /// The refresh that ended; `None` if none was active.
    pub refresh: Option<Refresh>,
    /// What is left then, and what comes of it; `None` if none was active.
    pub left: Option<status::Rollout>,
}

/// Cancels the active instance refresh of the pool's group and waits until it has ended.
pub async fn cancel(ctx: &Context<'_>, scope: &Scope) -> Result<Cancelled, Failure> {
    let cloud = Stoppable::of(ctx);
    let ctx = &Context { cloud: &cloud, ..*ctx };
    let name = Names::of(scope).group;
    let (tags, refreshes) = own_refreshes(ctx, scope, &name).await?;
    let Some(active) = roll::active(&refreshes).cloned() else {
        return Ok(Cancelled { refresh: None, left: None });
    };
    if let Some(warning) = ownership::unsaid(&scope.identity, [&tags]) {
        ctx.progress.tell(Event::Warning(warning));
    }
    end(ctx, scope, &name).await?;
    let seen = pool(ctx.cloud, scope).await?;
    let left = status::roll(&seen, ctx.clock.now());
    let ended = seen.refreshes.into_iter().find(|refresh| refresh.id == active.id).unwrap_or(active);
    Ok(Cancelled { refresh: Some(ended), left: Some(left) })
}

/// The tags of the group, which must be the pool's, and its refreshes; none if there is no group.
async fn own_refreshes(
    ctx: &Context<'_>,
    scope: &Scope,
    name: &str,
) -> Result<(Tags, Vec<Refresh>), Failure> {
    let (group, refreshes) = futures_util::join!(ctx.cloud.group(name), ctx.cloud.refreshes(name));
    let Some(group) = group? else { return Ok((Tags::new(), Vec::new())) };
    let tags = group.tags();
    ownership::check(Resource::Group(name), &scope.identity, &tags)
        .map_err(|problem| Failure { kind: Kind::Refused, diagnostics: vec![problem] })?;
    Ok((tags, refreshes?))
}

async fn end(ctx: &Context<'_>, scope: &Scope, name: &str) -> Result<(), Failure> {
    let task = Task::EndRefresh { group: name.to_owned() };
    let (address, what, begin) = (Address::Group, describe::task(&task), ctx.clock.now());
    ctx.progress.tell(Event::Started { address, what: what.clone() });
    let outcome = Performer::new(ctx, &scope.identity, String::new()).task(&task).await;
    let took: Duration = ctx.clock.now().since(begin);
    ctx.progress.tell(match &outcome {
        Ok(()) => Event::Done { address, what, took },
        Err(_) => Event::Failed { address, what, took },
    });
    outcome
}
