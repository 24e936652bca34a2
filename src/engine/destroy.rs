//! Deletes all that a pool owns, and ends.

use std::{cell::RefCell, ops::ControlFlow, time::Duration};

use super::{
    await_roll::lifecycles,
    context::{Context, Event},
    describe, observe,
    perform::Performer,
    stoppable::Stoppable,
    teardown::Teardown,
    wait,
};
use crate::{
    cloud::{ErrorKind, TemplateQuery},
    contract::problem::Diagnostic,
    error::{Failure, Kind},
    model::{
        names,
        observed::{Group, GroupMember, Template},
        ownership,
        plan::{Address, Counts, Task},
        records,
        resources::{UpdateGroup, Write},
        roll,
    },
};

/// After this long, members that still have not left are terminated by force.
const PATIENCE: Duration = Duration::from_mins(20);

/// Auto Scaling's limit on instances in one `SetInstanceProtection` call.
const UNPROTECT_PER_CALL: usize = 50;

/// Deletes all of it. Every failure is told at the end, and what can be deleted is.
pub async fn destroy(ctx: &Context<'_>, teardown: &Teardown) -> Result<Counts, Failure> {
    if teardown.plan.is_empty() {
        // Nothing was shown and nothing approved: what has come to be since is another destroy's.
        return finish(teardown, teardown.problems.clone());
    }
    let cloud = Stoppable::of(ctx);
    let ctx = &Context { cloud: &cloud, ..*ctx };
    let performer = Performer::new(ctx, &teardown.identity, String::new());
    let problems = RefCell::new(teardown.problems.clone());
    let run =
        Run { ctx, teardown, performer, done: RefCell::default(), given_up: RefCell::default(), problems };
    match run.all().await {
        Ok(()) => finish(teardown, run.problems.into_inner()),
        Err(failure) => Err(run.told(failure)),
    }
}

/// How many resources were destroyed, or all that failed.
fn finish(teardown: &Teardown, failures: Vec<Diagnostic>) -> Result<Counts, Failure> {
    if failures.is_empty() {
        Ok(teardown.plan.counts())
    } else {
        Err(Failure { kind: Kind::Partial, diagnostics: failures })
    }
}

struct Run<'a> {
    ctx: &'a Context<'a>,
    teardown: &'a Teardown,
    performer: Performer<'a>,
    /// What was done so far, in words.
    done: RefCell<Vec<String>>,
    /// What an interrupt ended half-way.
    given_up: RefCell<Option<String>>,
    /// What went wrong so far and stopped nothing.
    problems: RefCell<Vec<Diagnostic>>,
}

impl Run<'_> {
    /// All of it, in order: what is used by something else comes after it.
    async fn all(&self) -> Result<(), Failure> {
        // Templates and object are still in use by what could not be deleted.
        self.group().await?;
        let teardown = self.teardown;
        let mut remaining = teardown.unreadable.clone();
        for bucket in teardown.buckets.clone() {
            let key = teardown.names.object_key.clone();
            if !self.tell(Address::Object, Write::DeleteObject { bucket: bucket.clone(), key }).await? {
                remaining.push(bucket);
            }
        }
        // Where an object lies must not be forgotten while it is there.
        remaining.retain(|bucket| teardown.named_bucket.as_ref() != Some(bucket));
        let keeps = |t: &Template| {
            records::buckets(&t.tags).any(|bucket| remaining.iter().any(|left| left == bucket))
        };
        for template in &teardown.templates {
            if keeps(template) {
                self.problems.borrow_mut().push(Diagnostic::error(
                    format!("Launch template {} is kept", template.name),
                    "It alone records in which bucket the bootstrap object lies. The next destroy deletes both.",
                ));
            } else {
                self.delete_template(template).await?;
            }
        }
        // One made by a run that ended just before this one began may not have been listed then.
        for template in self.attempt(self.templates_left().await)?.unwrap_or_default() {
            if !keeps(&template) {
                self.delete_template(&template).await?;
            }
        }
        Ok(())
    }

    /// A failure that ends the run: with it all that went wrong before, and after an interrupt what was done.
    fn told(&self, mut failure: Failure) -> Failure {
        if failure.kind == Kind::Interrupted
            && let Some(last) = failure.diagnostics.last_mut()
        {
            let done = self.done.borrow().join(", ");
            let done = if done.is_empty() { "nothing" } else { &done };
            let given_up = match &*self.given_up.borrow() {
                Some(what) => format!("Begun, and given up before its end: {what}.\n"),
                None => String::new(),
            };
            last.add(&format!("Done before: {done}.\n{given_up}Run the command again to go on from here."));
        }
        failure.diagnostics.extend(self.problems.borrow().iter().cloned());
        failure
    }

    /// Collects a failure; only an interrupt ends the run.
    fn attempt<T>(&self, outcome: Result<T, Failure>) -> Result<Option<T>, Failure> {
        match outcome {
            Ok(value) => Ok(Some(value)),
            Err(failure) if failure.kind == Kind::Interrupted => Err(failure),
            Err(failure) => {
                self.problems.borrow_mut().extend(failure.diagnostics);
                Ok(None)
            }
        }
    }

    fn name(&self) -> String {
        self.teardown.names.group.clone()
    }

    /// Does something, tells of it, and collects its failure; whether it was done.
    async fn tell(&self, address: Address, write: Write) -> Result<bool, Failure> {
        Ok(self.attempt(self.step(address, Task::Write(write)).await)?.is_some())
    }

    async fn delete_template(&self, template: &Template) -> Result<(), Failure> {
        let write = Write::DeleteTemplate { template_id: template.id.clone() };
        self.tell(Address::Template, write).await.map(drop)
    }

    /// Templates under the pool's names, and of the pool, that are still listed and were not known.
    async fn templates_left(&self) -> Result<Vec<Template>, Failure> {
        let query = TemplateQuery::NamePrefix(self.teardown.names.template_prefix());
        let mut listed = self.ctx.cloud.templates(&query).await?;
        let known = &self.teardown.templates;
        listed.retain(|t| {
            ownership::is_ours(&self.teardown.identity, &t.tags) && !known.iter().any(|k| k.id == t.id)
        });
        Ok(listed)
    }

    async fn step(&self, address: Address, task: Task) -> Result<(), Failure> {
        wait::check_interrupt(self.ctx)?;
        let what = describe::task(&task);
        let begin = self.ctx.clock.now();
        self.ctx.progress.tell(Event::Started { address, what: what.clone() });
        let outcome = self.performer.task(&task).await.map(drop);
        let took = self.ctx.clock.now().since(begin);
        match &outcome {
            Ok(()) => self.done.borrow_mut().push(what.clone()),
            Err(failure) if failure.kind == Kind::Interrupted => {
                *self.given_up.borrow_mut() = Some(what.clone());
            }
            Err(_) => {}
        }
        self.ctx.progress.tell(match &outcome {
            Ok(()) => Event::Done { address, what, took },
            Err(_) => Event::Failed { address, what, took },
        });
        outcome
    }

    async fn write(&self, write: Write) -> Result<(), Failure> {
        self.step(Address::Group, Task::Write(write)).await
    }

    /// The group and everything that hangs on it, until no member is left.
    async fn group(&self) -> Result<(), Failure> {
        // Time may have passed since the group was found: somebody else may be deleting it, or have made
        // another one of its name.
        if self.teardown.group.is_some()
            && let Some(group) = self.live().await?
            && self.is_ours(&group)
            && let Err(failure) = self.clear(&group).await
            && (failure.kind == Kind::Interrupted || self.live().await?.is_some())
        {
            return Err(failure);
        }
        self.await_gone().await
    }

    fn is_ours(&self, group: &Group) -> bool {
        ownership::is_ours(&self.teardown.identity, &group.tags())
    }

    /// The group as it is now, unless it is being deleted.
    async fn live(&self) -> Result<Option<Group>, Failure> {
        Ok(self.ctx.cloud.group(&self.name()).await?.filter(|group| !group.deleting))
    }

    async fn clear(&self, group: &Group) -> Result<(), Failure> {
        self.unblock(group).await?;
        self.empty().await?;
        let force = !self.await_leaving(group).await?;
        self.delete(force).await
    }

    /// Deletes the group. While something is still going on with it, tries again; if another run has
    /// filled it again meanwhile, empties it again.
    async fn delete(&self, force: bool) -> Result<(), Failure> {
        let write = Write::DeleteGroup { group: self.name(), force };
        let what = describe::task(&Task::Write(write.clone()));
        let (address, begin) = (Address::Group, self.ctx.clock.now());
        self.ctx.progress.tell(Event::Started { address, what: what.clone() });
        wait::until(self.ctx, wait::LIMIT, async || match self.ctx.cloud.perform(&write).await {
            Ok(_) => Ok(ControlFlow::Break(())),
            Err(error) if error.kind == ErrorKind::NotFound => Ok(ControlFlow::Break(())),
            Err(error) if error.kind == ErrorKind::InUse => {
                if self.live().await?.is_some_and(|group| group.max > 0) {
                    self.empty().await?;
                }
                Ok(ControlFlow::Continue(error.message))
            }
            Err(error) => Err(error.into()),
        })
        .await?;
        let took = self.ctx.clock.now().since(begin);
        self.done.borrow_mut().push(what.clone());
        self.ctx.progress.tell(Event::Done { address, what, took });
        Ok(())
    }

    /// Undoes what would keep members from leaving, or make new ones come.
    async fn unblock(&self, group: &Group) -> Result<(), Failure> {
        let name = self.name();
        if self.teardown.refreshing {
            self.mark_off(group).await?;
            self.step(Address::Group, Task::EndRefresh { group: name.clone() }).await?;
        }
        if self.teardown.has_policy {
            let write = Write::DeletePolicy { group: name.clone(), name: names::POLICY.to_owned() };
            self.step(Address::Policy, Task::Write(write)).await?;
        }
        for action in &self.teardown.scheduled {
            self.write(Write::DeleteScheduledAction { group: name.clone(), name: action.clone() }).await?;
        }
        if group.warm_pool {
            self.write(Write::DeleteWarmPool { group: name.clone() }).await?;
        }
        if group.suspended.contains("Terminate") {
            self.write(Write::ResumeProcess { group: name, process: "Terminate".to_owned() }).await?;
        }
        Ok(())
    }

    /// An apply may follow a destroy that was stopped half-way: what this run ends must not look to it like a roll
    /// that an operator cancelled. Whoever may not write tags can destroy all the same.
    async fn mark_off(&self, group: &Group) -> Result<(), Failure> {
        let Some(mark) = roll::mark(group) else { return Ok(()) };
        let refreshes = self.ctx.cloud.refreshes(&group.name).await?;
        if roll::active(&refreshes).is_none_or(|active| active.status == "Cancelling") {
            return Ok(());
        }
        match self.performer.mark_off(&group.name, &mark.hash, &refreshes).await {
            Err(failure) if failure.kind == Kind::Interrupted => Err(failure),
            _ => Ok(()),
        }
    }

    /// Clears scale-in protection as far as AWS lets it be: a member on its way in or out is refused, and
    /// with it the whole batch that it is in. What is refused is tried again at the next look.
    async fn unprotect(&self, group: &Group) -> Result<(), Failure> {
        let can_be = |m: &&GroupMember| {
            m.protected && matches!(m.lifecycle.as_str(), "InService" | "EnteringStandby" | "Standby")
        };
        let protected: Vec<String> = group.members.iter().filter(can_be).map(|m| m.id.clone()).collect();
        for batch in protected.chunks(UNPROTECT_PER_CALL) {
            if !self.unprotect_batch(batch).await? && batch.len() > 1 {
                for member in batch.chunks(1) {
                    self.unprotect_batch(member).await?;
                }
            }
        }
        Ok(())
    }

    /// Whether AWS accepted the batch.
    async fn unprotect_batch(&self, instances: &[String]) -> Result<bool, Failure> {
        let write = Write::Unprotect { group: self.name(), instances: instances.to_vec() };
        match self.ctx.cloud.perform(&write).await {
            Ok(_) => Ok(true),
            Err(error) if matches!(error.kind, ErrorKind::Validation | ErrorKind::NotFound) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    async fn empty(&self) -> Result<(), Failure> {
        let update = UpdateGroup {
            name: self.name(),
            min: Some(0),
            max: Some(0),
            desired: Some(0),
            ..UpdateGroup::default()
        };
        self.write(Write::UpdateGroup(update)).await
    }

    /// Waits until all members have left; `false` if the rest can only be removed by force: standby
    /// members, and those that outlast all patience.
    async fn await_leaving(&self, before: &Group) -> Result<bool, Failure> {
        let begin = self.ctx.clock.now();
        // Somebody has said that members must not be removed by force.
        let may_force = before.deletion_protection.as_deref() != Some("prevent-force-deletion");
        wait::until(self.ctx, PATIENCE + wait::LIMIT, async || {
            let Some(group) = self.live().await? else { return Ok(ControlFlow::Break(true)) };
            let left: Vec<_> = group.members.iter().filter(|m| m.lifecycle != "Terminated").collect();
            if left.is_empty() {
                return Ok(ControlFlow::Break(true));
            }
            let stuck = left.iter().all(|m| m.lifecycle == "Standby");
            if may_force && (stuck || self.ctx.clock.now().since(begin) >= PATIENCE) {
                return Ok(ControlFlow::Break(false));
            }
            self.unprotect(&group).await?;
            let count = before.members.len().max(left.len());
            let verb = if left.len() == 1 { "is" } else { "are" };
            let gone = u32::try_from(count - left.len()).unwrap_or(u32::MAX);
            let what = format!("{} of {count} members {verb} left{}", left.len(), lifecycles(&group));
            let of = u32::try_from(count).unwrap_or(u32::MAX);
            self.ctx.progress.tell(Event::Share { done: gone, of, brief: what.clone() });
            Ok(ControlFlow::Continue(what))
        })
        .await
    }

    /// Waits until neither group nor any instance of it is left: a network interface that lingers would
    /// block the deletion of the cluster's own subnets and security groups.
    async fn await_gone(&self) -> Result<(), Failure> {
        wait::until(self.ctx, wait::LIMIT, async || {
            let (group, instances) = observe::membership(self.ctx.cloud, &self.name()).await?;
            let left = instances.iter().filter(|i| i.state != "terminated").count();
            Ok(match (group, left) {
                (None, 0) => ControlFlow::Break(()),
                (Some(_), 0) => {
                    ControlFlow::Continue(format!("Auto Scaling group {} is being deleted", self.name()))
                }
                (_, 1) => ControlFlow::Continue("1 instance is not terminated yet".to_owned()),
                (_, left) => ControlFlow::Continue(format!("{left} instances are not terminated yet")),
            })
        })
        .await
    }
}
