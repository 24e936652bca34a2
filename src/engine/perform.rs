//! Carries out one task: the write itself, and what AWS's answers to it call for. All judgement about
//! repeating a write is here; the SDK repeats what throttling, time-outs and faults of AWS's cut off.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
    time::Duration,
};

use super::{
    context::{Context, Event},
    explain::diagnostic,
    wait,
};
use crate::{
    cloud::{CloudError, ErrorKind, TemplateQuery, VersionQuery},
    contract::{problem::words, request::Tags},
    error::{Failure, Kind},
    model::{
        diff,
        observed::{Template, TemplateVersion},
        ownership::{self, Resource},
        plan::Task,
        planner,
        resources::{Answer, CreateGroup, TemplateData, TemplateRef, UpdateGroup, Write},
    },
};

/// How long a resource made a moment ago may stay unknown to Auto Scaling: instance profiles, launch
/// templates and security groups spread through AWS within seconds, in bad cases a minute or more.
const PROPAGATION: Duration = Duration::from_mins(2);

/// EC2's limit on versions in one `DeleteLaunchTemplateVersions` call.
const VERSIONS_PER_CALL: usize = 200;

/// Carries out tasks of one run, and remembers what it made.
pub(super) struct Performer<'a> {
    pub(super) ctx: &'a Context<'a>,
    pub(super) identity: &'a Tags,
    /// Hash of the wanted roll key; empty where nothing is going to roll.
    pub(super) hash: String,
    /// Name of the template that the group is to launch from; empty likewise.
    pub(super) template: String,
    /// The instance refresh that this run started, or found to be its own.
    pub(super) refresh: RefCell<Option<String>>,
    /// Template name -> id, of those made in this run.
    made: RefCell<BTreeMap<String, String>>,
    /// Template id -> version made in this run.
    versions: RefCell<BTreeMap<String, u64>>,
}

impl<'a> Performer<'a> {
    pub(super) fn new(ctx: &'a Context<'a>, identity: &'a Tags, hash: String) -> Self {
        Self {
            ctx,
            identity,
            hash,
            template: String::new(),
            refresh: RefCell::default(),
            made: RefCell::default(),
            versions: RefCell::default(),
        }
    }

    /// The instance refresh that this run started, if any.
    pub(super) fn started(&self) -> Option<String> {
        self.refresh.borrow().clone()
    }

    /// Carries out a task to its end; breaks where what follows in its chain has to wait for a later run.
    pub(super) async fn task(&self, task: &Task) -> Result<ControlFlow<()>, Failure> {
        match task {
            Task::Write(write) => self.write(write).await?,
            Task::EndRefresh { group } => self.end_refresh(group).await?,
            Task::Supersede { group, template, .. } => self.supersede(group, template).await?,
            Task::RollStragglers { group, template, warmup_seconds } => {
                self.roll_stragglers(group, template, *warmup_seconds).await?;
            }
            Task::CheckFetchers { group, bucket, key, left } => {
                return self.check_fetchers(group, bucket, key, left).await;
            }
            Task::RemoveObject { bucket, key } => self.remove_object(bucket, key).await?,
            Task::AwaitGroupGone { group } => self.await_group_gone(group).await?,
            Task::PruneVersions { template_id, keep } => self.prune_versions(template_id, keep).await?,
        }
        Ok(ControlFlow::Continue(()))
    }

    async fn prune_versions(&self, template_id: &str, keep: &BTreeSet<u64>) -> Result<(), Failure> {
        let versions = self.ctx.cloud.versions(&VersionQuery::All(template_id.to_owned())).await?;
        let old = planner::prunable(&versions, keep);
        for batch in old.chunks(VERSIONS_PER_CALL) {
            let template_id = template_id.to_owned();
            self.send(&Write::DeleteTemplateVersions { template_id, versions: batch.to_vec() }).await?;
        }
        Ok(())
    }

    async fn write(&self, write: &Write) -> Result<(), Failure> {
        match write {
            Write::CreateTemplate { name, data, description, tags } => {
                self.create_template(write, name, description, data, tags).await
            }
            Write::CreateTemplateVersion { template_id, .. } => {
                let answer = self.send(write).await?;
                self.note_version(template_id, &answer);
                Ok(())
            }
            Write::SetDefaultVersion { template_id, version: None } => {
                let version = self.versions.borrow().get(template_id).copied();
                let write = Write::SetDefaultVersion { template_id: template_id.clone(), version };
                self.send(&write).await.map(drop)
            }
            Write::CreateGroup(group) => self.create_group(group).await,
            Write::UpdateGroup(update) => self.update_group(update).await,
            Write::StartRefresh { group, .. } => self.start_refresh(write, group).await,
            _ => self.send(write).await.map(drop),
        }
    }

    /// One call, repeated while something else is going on with the resource. Deleting what is gone
    /// already is success.
    pub(super) async fn send(&self, write: &Write) -> Result<Answer, Failure> {
        let deletes = matches!(
            write,
            Write::DeleteObject { .. }
                | Write::DeleteTemplate { .. }
                | Write::DeletePolicy { .. }
                | Write::DeleteGroup { .. }
                | Write::DeleteScheduledAction { .. }
                | Write::DeleteWarmPool { .. }
        );
        match self.patiently(write).await? {
            Err(error) if deletes && is_gone(&error) => Ok(Answer::Done),
            answer => Ok(answer?),
        }
    }

    fn note_version(&self, template_id: &str, answer: &Answer) {
        if let Answer::Version(number) = answer {
            self.versions.borrow_mut().insert(template_id.to_owned(), *number);
        }
    }

    /// A template of this name can be there already: an answer of an earlier run was lost, or another
    /// run was quicker. If it is the pool's it is used, with a new version where its data differ.
    async fn create_template(
        &self,
        write: &Write,
        name: &str,
        description: &str,
        data: &TemplateData,
        tags: &Tags,
    ) -> Result<(), Failure> {
        let error = match self.ctx.cloud.perform(write).await {
            Ok(Answer::Template { id }) => {
                self.made.borrow_mut().insert(name.to_owned(), id);
                return Ok(());
            }
            Ok(_) => return Ok(()),
            Err(error) if error.kind == ErrorKind::AlreadyExists => error,
            Err(error) => return Err(error.into()),
        };
        let template = self.await_template(name, &error).await?;
        let resource = Resource::Template { id: &template.id, name };
        ownership::check(resource, self.identity, &template.tags).map_err(refused)?;
        let template_id = &template.id;
        self.send(&Write::TagTemplate { template_id: template_id.clone(), tags: tags.clone() }).await?;
        let latest = self.await_latest(&template).await?;
        let version = if diff::template_data(Some(&latest.data), data).is_empty() {
            latest.number
        } else {
            let new = Write::CreateTemplateVersion {
                template_id: template_id.clone(),
                description: description.to_owned(),
                data: Box::new(data.clone()),
            };
            match self.send(&new).await? {
                Answer::Version(number) => number,
                _ => latest.number,
            }
        };
        if version != template.default_version {
            let version = Some(version);
            self.send(&Write::SetDefaultVersion { template_id: template_id.clone(), version }).await?;
        }
        self.made.borrow_mut().insert(name.to_owned(), template.id);
        Ok(())
    }

    /// A template that exists may take a moment to be listed.
    async fn await_template(&self, name: &str, error: &CloudError) -> Result<Template, Failure> {
        let query = TemplateQuery::NamePrefix(name.to_owned());
        wait::until(self.ctx, PROPAGATION, async || {
            let found = self.ctx.cloud.templates(&query).await?;
            Ok(match found.into_iter().find(|t| t.name == name) {
                Some(template) => ControlFlow::Break(template),
                None => {
                    ControlFlow::Continue(format!("{}, and AWS does not list it yet", words(&error.message)))
                }
            })
        })
        .await
    }

    /// The latest version of a template, once AWS shows it.
    async fn await_latest(&self, template: &Template) -> Result<TemplateVersion, Failure> {
        let query = VersionQuery::CurrentById(template.id.clone());
        wait::until(self.ctx, PROPAGATION, async || {
            let versions = self.ctx.cloud.versions(&query).await?;
            let latest = versions.into_iter().max_by_key(|v| v.number);
            Ok(match latest.filter(|v| v.number >= template.latest_version) {
                Some(version) => ControlFlow::Break(version),
                None => {
                    ControlFlow::Continue(format!("AWS does not show the versions of {} yet", template.name))
                }
            })
        })
        .await
    }

    /// The id of a template that an earlier step made.
    fn resolve(&self, template: &TemplateRef) -> TemplateRef {
        match template {
            TemplateRef::Named(name) => self
                .made
                .borrow()
                .get(name)
                .map_or_else(|| template.clone(), |id| TemplateRef::Id(id.clone())),
            TemplateRef::Id(_) => template.clone(),
        }
    }

    /// A group of this name can be there already; if it is the pool's it is brought to what was wanted.
    async fn create_group(&self, group: &CreateGroup) -> Result<(), Failure> {
        let group = CreateGroup { template: self.resolve(&group.template), ..group.clone() };
        let error = match self.patiently(&Write::CreateGroup(group.clone())).await? {
            Ok(_) => return Ok(()),
            Err(error) if error.kind == ErrorKind::AlreadyExists => error,
            Err(error) => return Err(error.into()),
        };
        let Some(found) = self.ctx.cloud.group(&group.name).await? else { return Err(error.into()) };
        ownership::check(Resource::Group(&group.name), self.identity, &found.tags()).map_err(refused)?;
        if found.deleting {
            self.await_group_gone(&group.name).await?;
            self.patiently(&Write::CreateGroup(group)).await??;
            return Ok(());
        }
        // The desired capacity is left alone: if it is out of bounds AWS moves it, and whoever made the
        // group meanwhile may have a scaler at work.
        let update = UpdateGroup {
            name: group.name.clone(),
            template: Some(group.template),
            min: Some(group.min),
            max: Some(group.max),
            subnets: Some(group.subnets),
            health_check_type: None,
            desired: None,
            capacity_rebalance: Some(group.capacity_rebalance),
        };
        self.update_group(&update).await?;
        self.send(&Write::TagGroup { group: group.name, tags: group.tags }).await.map(drop)
    }

    /// While a refresh with a desired configuration runs, AWS refuses another template: the refresh is
    /// ended, as the plan would have done had it seen it.
    async fn update_group(&self, update: &UpdateGroup) -> Result<(), Failure> {
        let template = update.template.as_ref().map(|template| self.resolve(template));
        let write = Write::UpdateGroup(UpdateGroup { template, ..update.clone() });
        match self.patiently(&write).await? {
            Err(error) if error.kind == ErrorKind::Validation && mentions(&error, &["instance refresh"]) => {
                let refreshes = self.ctx.cloud.refreshes(&update.name).await?;
                self.mark_off(&update.name, &self.hash, &refreshes).await?;
                self.end_refresh(&update.name).await?;
                self.patiently(&write).await??;
                Ok(())
            }
            answer => answer.map(drop).map_err(Failure::from),
        }
    }

    /// Repeats what AWS refuses because it does not see something new yet, and what has to wait for a
    /// scaling activity.
    pub(super) async fn patiently(&self, write: &Write) -> Result<Result<Answer, CloudError>, Failure> {
        let begin = self.ctx.clock.now();
        let mut pause = Duration::from_secs(2);
        loop {
            let error = match self.ctx.cloud.perform(write).await {
                Ok(answer) => return Ok(Ok(answer)),
                Err(error) => error,
            };
            let limit = match error.kind {
                ErrorKind::Validation if is_propagation(write, &error) => PROPAGATION,
                ErrorKind::InUse => wait::LIMIT,
                _ => return Ok(Err(error)),
            };
            let now = self.ctx.clock.now();
            let waited = now.since(begin);
            if waited + pause > limit || now.plus(pause) > self.ctx.deadline {
                return Ok(Err(error));
            }
            self.ctx.progress.tell(Event::Waiting { what: error.message, waited });
            wait::sleep(self.ctx, pause).await?;
            pause = (pause * 2).min(Duration::from_secs(20));
        }
    }

    async fn await_group_gone(&self, group: &str) -> Result<(), Failure> {
        wait::until(self.ctx, wait::LIMIT, async || {
            Ok(match self.ctx.cloud.group(group).await? {
                None => ControlFlow::Break(()),
                Some(_) => ControlFlow::Continue(format!("Auto Scaling group {group} is being deleted")),
            })
        })
        .await
    }
}

fn refused(problem: crate::contract::problem::Diagnostic) -> Failure {
    Failure { kind: Kind::Refused, diagnostics: vec![problem] }
}

fn mentions(error: &CloudError, words: &[&str]) -> bool {
    let message = error.message.to_lowercase();
    words.iter().any(|word| message.contains(word))
}

/// Whether what was to be deleted is not there. Auto Scaling has no code for a policy or a warm pool that is
/// missing: only the words of a `ValidationError` tell.
fn is_gone(error: &CloudError) -> bool {
    error.kind == ErrorKind::NotFound
        || (error.kind == ErrorKind::Validation && mentions(error, &["not found", "no warm pool found"]))
}

/// What Auto Scaling puts before every fault that it finds in a launch template.
const PREAMBLE: &str = "you must use a valid fully-formed launch template.";

/// Whether a `ValidationError` is about something that AWS may just not see yet: the instance profile,
/// a security group, or the template itself. Whatever else is wrong with a template stays wrong.
fn is_propagation(write: &Write, error: &CloudError) -> bool {
    if !matches!(write, Write::CreateGroup(_) | Write::UpdateGroup(_)) {
        return false;
    }
    let message = error.message.to_lowercase();
    let message = message.trim_start().strip_prefix(PREAMBLE).unwrap_or(&message);
    let says = |words: &str| message.contains(words);
    let missing = says("does not exist") || says("not found") || says("could not be found");
    says("iaminstanceprofile")
        || says("instance profile")
        || says("not authorized to use launch template")
        || (missing && (says("launch template") || says("security group")))
}

/// The words of a failed optional task, as a warning.
pub(super) fn as_warning(what: &str, failure: &Failure) -> crate::contract::problem::Diagnostic {
    let detail: Vec<String> = failure.diagnostics.iter().map(ToString::to_string).collect();
    crate::contract::problem::Diagnostic::warning(
        format!("Failed: {what}"),
        format!("{}\nThe pool itself is as wanted; the next apply tries again.", detail.join("\n")),
    )
}

/// The words of a failed call that did not stop the rest.
pub(super) fn as_error(error: &CloudError) -> crate::contract::problem::Diagnostic {
    diagnostic(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_still_appear_is_waited_for() {
        let write = Write::UpdateGroup(UpdateGroup::default());
        let error = |message: &str| CloudError {
            operation: "autoscaling:CreateAutoScalingGroup",
            resource: String::new(),
            region: String::new(),
            kind: ErrorKind::Validation,
            code: "ValidationError".into(),
            message: message.into(),
            request_id: None,
        };
        for waits in [
            "You must use a valid fully-formed launch template. Value (demo-worker) for parameter \
             iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name",
            "The specified launch template, with template ID lt-0123, does not exist.",
            "You are not authorized to use launch template: captf-x",
            "You must use a valid fully-formed launch template. The security group 'sg-01' does not exist",
            "The launch template version 3 could not be found",
        ] {
            assert!(is_propagation(&write, &error(waits)), "{waits}");
        }
        for stays in [
            "You must use a valid fully-formed launch template. The image id '[ami-0123]' does not exist",
            "Desired capacity:9 must be between the specified min size:1 and max size:3",
            "The subnet ID 'subnet-01' does not exist",
            "AutoScalingGroup name not found - null",
            "You must use a valid fully-formed launch template. The key pair 'x' does not exist",
            "You must use a valid fully-formed launch template. Invalid value 'm9.huge' for InstanceType",
        ] {
            assert!(!is_propagation(&write, &error(stays)), "{stays}");
        }
    }
}
