//! Deletes all that a pool owns, with little to go by, and ends.

use std::{ops::ControlFlow, time::Duration};

use futures_util::join;

use super::{
    context::{Context, Event},
    describe,
    explain::together,
    observe,
    perform::{self, Performer},
    wait,
};
use crate::{
    cloud::{Cloud, CloudError, ErrorKind, TemplateQuery},
    contract::{
        problem::Diagnostic,
        request::{Scope, Tags},
    },
    error::{Failure, Kind},
    model::{
        diff::Fields,
        members::{self, Member},
        names::{self, Names},
        observed::{Group, Object, Template},
        ownership::{self, Resource},
        plan::{Action, Address, Change, Counts, Plan, Task},
        records,
        resources::{UpdateGroup, Write},
        roll, target,
    },
};

/// After this long, members that still have not left are terminated by force.
const PATIENCE: Duration = Duration::from_mins(20);

/// Auto Scaling's limit on instances in one `SetInstanceProtection` call.
const UNPROTECT_PER_CALL: usize = 50;

/// What a destroy is going to delete.
#[derive(Clone, Debug, PartialEq)]
pub struct Teardown {
    /// What is deleted, to be shown and counted.
    pub plan: Plan,
    names: Names,
    identity: Tags,
    group: Option<Group>,
    refreshing: bool,
    has_policy: bool,
    scheduled: Vec<String>,
    templates: Vec<Template>,
    bucket: Option<String>,
    object: bool,
    /// What is known already to be impossible; told at the end.
    problems: Vec<Diagnostic>,
}

/// Finds what the pool owns. Resources of strangers are refused; nothing else about the inputs matters.
pub async fn plan_destroy(cloud: &dyn Cloud, scope: &Scope) -> Result<Teardown, Failure> {
    let names = Names::of(scope);
    let by_prefix = TemplateQuery::NamePrefix(names.template_prefix());
    let by_tags = TemplateQuery::Tagged(scope.identity.clone().into_iter().collect());
    let (group, policies, refreshes, scheduled, by_prefix, by_tags) = join!(
        cloud.group(&names.group),
        cloud.policies(&names.group),
        cloud.refreshes(&names.group),
        cloud.scheduled_actions(&names.group),
        cloud.templates(&by_prefix),
        cloud.templates(&by_tags),
    );
    let mut errors: Vec<CloudError> = Vec::new();
    let group = keep(group, &mut errors).flatten();
    let policies = keep(policies, &mut errors).unwrap_or_default();
    let refreshes = keep(refreshes, &mut errors).unwrap_or_default();
    let scheduled = keep(scheduled, &mut errors).unwrap_or_default();
    let mut templates = keep(by_prefix, &mut errors).unwrap_or_default();
    templates.extend(keep(by_tags, &mut errors).unwrap_or_default());
    if !errors.is_empty() {
        return Err(together(errors));
    }
    if let Some(used) = group.as_ref().and_then(target::current_use)
        && !templates.iter().any(|t| t.id == used.id)
    {
        templates.extend(cloud.templates(&TemplateQuery::Id(used.id.clone())).await?);
    }
    templates.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
    templates.dedup_by(|a, b| a.id == b.id);
    refuse_strangers(scope, &names, group.as_ref(), &templates)?;
    templates.retain(|t| ownership::is_ours(&scope.identity, &t.tags));

    let mut teardown = Teardown {
        plan: Plan::default(),
        identity: scope.identity.clone(),
        refreshing: roll::active(&refreshes).is_some(),
        has_policy: policies.iter().any(|p| p.name == names::POLICY),
        bucket: bucket(scope, &templates),
        object: false,
        problems: Vec::new(),
        names,
        group,
        scheduled,
        templates,
    };
    find_object(cloud, &mut teardown).await?;
    teardown.plan = plan(&teardown);
    Ok(teardown)
}

fn keep<T>(result: Result<T, CloudError>, errors: &mut Vec<CloudError>) -> Option<T> {
    result.map_err(|error| errors.push(error)).ok()
}

fn refuse_strangers(
    scope: &Scope,
    names: &Names,
    group: Option<&Group>,
    templates: &[Template],
) -> Result<(), Failure> {
    let mut diagnostics = Vec::new();
    if let Some(group) = group {
        let tags = group.tags.iter().map(|(key, tag)| (key.clone(), tag.value.clone())).collect();
        diagnostics.extend(ownership::check(Resource::Group(&group.name), &scope.identity, &tags).err());
    }
    let used = group.and_then(target::current_use);
    for template in templates {
        let ours_by_name = template.name.starts_with(&names.template_prefix());
        if ours_by_name && used.is_some_and(|used| used.id == template.id) {
            let resource = Resource::Template { id: &template.id, name: &template.name };
            diagnostics.extend(ownership::check(resource, &scope.identity, &template.tags).err());
        }
    }
    if diagnostics.is_empty() { Ok(()) } else { Err(Failure { kind: Kind::Refused, diagnostics }) }
}

/// The bucket that the exports name, else the one that a template records.
fn bucket(scope: &Scope, templates: &[Template]) -> Option<String> {
    let recorded = || templates.iter().find_map(|t| t.tags.get(records::BUCKET)).cloned();
    scope.bucket.as_ref().map(ToString::to_string).or_else(recorded)
}

/// Looks at the object. What hinders that is told at the end, and does not stop the rest; with the
/// bucket gone, the object is gone.
async fn find_object(cloud: &dyn Cloud, teardown: &mut Teardown) -> Result<(), Failure> {
    let key = &teardown.names.object_key;
    let Some(bucket) = &teardown.bucket else {
        let problem = (
            format!("Bootstrap object {key} may remain"),
            "Neither the cluster exports nor a launch template of the pool say in which bucket it lies. If it \
             was ever made, delete it by hand.",
        );
        if teardown.group.is_some() || !teardown.templates.is_empty() {
            teardown.problems.push(Diagnostic::error(problem.0, problem.1));
        } else {
            teardown.plan.warnings.push(Diagnostic::warning(problem.0, problem.1));
        }
        return Ok(());
    };
    match cloud.object(bucket, key).await {
        Ok(Object::Missing) => {}
        Ok(Object::Present { tags, .. }) => {
            ownership::check(Resource::Object { bucket, key }, &teardown.identity, &tags)
                .map_err(|problem| Failure { kind: Kind::Refused, diagnostics: vec![problem] })?;
            teardown.object = true;
        }
        Err(error) if error.kind == ErrorKind::NotFound => teardown.plan.warnings.push(Diagnostic::warning(
            format!("Bucket {bucket} does not exist"),
            "So the bootstrap object is gone with it.",
        )),
        Err(error) if matches!(error.kind, ErrorKind::Credentials | ErrorKind::Network) => {
            return Err(error.into());
        }
        Err(error) => teardown.problems.push(perform::as_error(&error)),
    }
    Ok(())
}

fn plan(teardown: &Teardown) -> Plan {
    let names = &teardown.names;
    let mut changes = Vec::new();
    let mut delete = |address, name: &str| {
        let fields = Fields::default().into_vec();
        changes.push(Change { address, name: name.to_owned(), action: Action::Delete, fields, reason: None });
    };
    if let (true, Some(bucket)) = (teardown.object, &teardown.bucket) {
        delete(Address::Object, &format!("s3://{bucket}/{}", names.object_key));
    }
    if !teardown.templates.is_empty() {
        let list: Vec<&str> = teardown.templates.iter().map(|t| t.name.as_str()).collect();
        delete(Address::Template, &list.join(", "));
    }
    if teardown.group.is_some() {
        delete(Address::Group, &names.group);
    }
    if teardown.has_policy {
        delete(Address::Policy, names::POLICY);
    }
    if teardown.templates.iter().any(|t| records::has_key(&t.tags)) {
        delete(Address::VersionRoll, &names.group);
    }
    let on_group = teardown.group.as_ref().is_some_and(|g| g.tags.contains_key(records::ZONES));
    if on_group || teardown.templates.iter().any(|t| t.tags.contains_key(records::ZONES)) {
        delete(Address::InheritedZones, &names.group);
    }
    Plan { changes, warnings: teardown.plan.warnings.clone(), ..Plan::default() }
}

/// Deletes all of it. Every failure is told at the end, and what can be deleted is.
pub async fn destroy(ctx: &Context<'_>, teardown: &Teardown) -> Result<Counts, Failure> {
    let run = Run { ctx, teardown, performer: Performer::new(ctx, &teardown.identity) };
    let mut failures: Vec<Diagnostic> = Vec::new();
    if let Err(failure) = run.group().await {
        if failure.kind == Kind::Interrupted {
            return Err(failure);
        }
        failures.extend(failure.diagnostics);
        // Templates and object are still in use by what could not be deleted.
        failures.extend(teardown.problems.clone());
        return Err(Failure { kind: Kind::Partial, diagnostics: failures });
    }
    if let (true, Some(bucket)) = (teardown.object, teardown.bucket.clone()) {
        let write = Write::DeleteObject { bucket, key: teardown.names.object_key.clone() };
        failures.extend(run.tell(Address::Object, write).await?);
    }
    for template in &teardown.templates {
        let write = Write::DeleteTemplate { template_id: template.id.clone() };
        failures.extend(run.tell(Address::Template, write).await?);
    }
    failures.extend(teardown.problems.clone());
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
}

impl Run<'_> {
    fn name(&self) -> String {
        self.teardown.names.group.clone()
    }

    /// Does something, tells of it, and collects its failure; only an interrupt ends the run.
    async fn tell(&self, address: Address, write: Write) -> Result<Vec<Diagnostic>, Failure> {
        match self.step(address, Task::Write(write)).await {
            Ok(()) => Ok(Vec::new()),
            Err(failure) if failure.kind == Kind::Interrupted => Err(failure),
            Err(failure) => Ok(failure.diagnostics),
        }
    }

    async fn step(&self, address: Address, task: Task) -> Result<(), Failure> {
        wait::check_interrupt(self.ctx)?;
        let what = describe::task(&task);
        let begin = self.ctx.clock.now();
        self.ctx.progress.tell(Event::Started { address, what: what.clone() });
        self.performer.task(&task).await?;
        let took = self.ctx.clock.now().since(begin);
        self.ctx.progress.tell(Event::Done { address, what, took });
        Ok(())
    }

    async fn write(&self, write: Write) -> Result<(), Failure> {
        self.step(Address::Group, Task::Write(write)).await
    }

    /// The group and everything that hangs on it, until no member is left. If somebody else deletes it
    /// meanwhile, what failed for that reason does not matter.
    async fn group(&self) -> Result<(), Failure> {
        if let Some(group) = self.teardown.group.as_ref().filter(|group| !group.deleting)
            && let Err(failure) = self.take_down(group).await
            && (failure.kind == Kind::Interrupted || !self.is_vanishing().await)
        {
            return Err(failure);
        }
        self.await_gone().await
    }

    async fn take_down(&self, group: &Group) -> Result<(), Failure> {
        self.unblock(group).await?;
        self.empty().await?;
        let force = !self.await_leaving().await?;
        self.delete(force).await
    }

    async fn is_vanishing(&self) -> bool {
        self.ctx.cloud.group(&self.name()).await.is_ok_and(|group| group.is_none_or(|group| group.deleting))
    }

    /// Undoes what would keep members from leaving, or make new ones come.
    async fn unblock(&self, group: &Group) -> Result<(), Failure> {
        let name = self.name();
        if self.teardown.refreshing {
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
            self.write(Write::ResumeProcess { group: name.clone(), process: "Terminate".to_owned() }).await?;
        }
        self.unprotect().await
    }

    /// Clears scale-in protection. An instance that vanishes meanwhile makes AWS refuse a whole batch:
    /// then the group is read again.
    async fn unprotect(&self) -> Result<(), Failure> {
        wait::until(self.ctx, wait::LIMIT, async || {
            let Some(group) = self.ctx.cloud.group(&self.name()).await? else {
                return Ok(ControlFlow::Break(()));
            };
            let protected: Vec<String> =
                group.members.iter().filter(|m| m.protected).map(|m| m.id.clone()).collect();
            if protected.is_empty() {
                return Ok(ControlFlow::Break(()));
            }
            for batch in protected.chunks(UNPROTECT_PER_CALL) {
                let write = Write::Unprotect { group: self.name(), instances: batch.to_vec() };
                match self.ctx.cloud.perform(&write).await {
                    Err(error)
                        if error.kind != ErrorKind::Validation && error.kind != ErrorKind::NotFound =>
                    {
                        return Err(error.into());
                    }
                    _ => {}
                }
            }
            Ok(ControlFlow::Continue(format!("{} members are protected from scale-in", protected.len())))
        })
        .await
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
    async fn await_leaving(&self) -> Result<bool, Failure> {
        let begin = self.ctx.clock.now();
        let patience = PATIENCE.min(self.ctx.deadline.since(begin) / 2);
        wait::until(self.ctx, PATIENCE + wait::LIMIT, async || {
            let Some(group) = self.ctx.cloud.group(&self.name()).await? else {
                return Ok(ControlFlow::Break(true));
            };
            let left: Vec<_> = group.members.iter().filter(|m| m.lifecycle != "Terminated").collect();
            if left.is_empty() {
                return Ok(ControlFlow::Break(true));
            }
            let stuck = left.iter().all(|m| m.lifecycle == "Standby");
            if stuck || self.ctx.clock.now().since(begin) >= patience {
                return Ok(ControlFlow::Break(false));
            }
            let count = self.teardown.group.as_ref().map_or(left.len(), |g| g.members.len()).max(left.len());
            Ok(ControlFlow::Continue(format!("{} of {count} members are left", left.len())))
        })
        .await
    }

    /// Deletes the group; while an activity still runs, waits and tries again.
    async fn delete(&self, force: bool) -> Result<(), Failure> {
        let write = Write::DeleteGroup { group: self.name(), force };
        let what = describe::task(&Task::Write(write.clone()));
        let address = Address::Group;
        let begin = self.ctx.clock.now();
        self.ctx.progress.tell(Event::Started { address, what: what.clone() });
        wait::until(self.ctx, wait::LIMIT, async || match self.ctx.cloud.perform(&write).await {
            Ok(_) => Ok(ControlFlow::Break(())),
            Err(error) if error.kind == ErrorKind::NotFound => Ok(ControlFlow::Break(())),
            Err(error) if error.kind == ErrorKind::InUse => Ok(ControlFlow::Continue(error.message)),
            Err(error) => Err(error.into()),
        })
        .await?;
        let took = self.ctx.clock.now().since(begin);
        self.ctx.progress.tell(Event::Done { address, what, took });
        Ok(())
    }

    /// Waits until neither group nor any instance of it is left: a network interface that lingers would
    /// block the deletion of the cluster's own subnets and security groups.
    async fn await_gone(&self) -> Result<(), Failure> {
        wait::until(self.ctx, wait::LIMIT, async || {
            let (group, instances) = observe::membership(self.ctx.cloud, &self.name()).await?;
            let left = instances.iter().filter(|i| i.state != "terminated").count();
            let alive: Vec<Member> = members::members(None, &instances);
            Ok(match (group, left) {
                (None, 0) => ControlFlow::Break(()),
                (Some(_), 0) => {
                    ControlFlow::Continue(format!("Auto Scaling group {} is being deleted", self.name()))
                }
                (_, left) => ControlFlow::Continue(format!(
                    "{left} instances are not terminated yet{}",
                    alive.first().map_or(String::new(), |m| format!(", among them {}", m.id))
                )),
            })
        })
        .await
    }
}
