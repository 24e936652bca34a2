//! Compares what a pool should be with what AWS shows, and writes the plan.

use std::collections::BTreeMap;

use super::{
    desired::{self, Desired},
    image,
    names::Names,
    observed::{Group, Object, Observed, Template},
    ownership::{self, Resource},
    plan::{Action, Address, AffectedMember, Change, FieldChange, Plan, Step, Task},
    resources::Write,
    roll::{self, Decision},
    target::{self, Target},
};
use crate::contract::{problem::Diagnostic, request::Request};

mod cleanup;
mod group;
mod leaving;
mod object;
mod policy;
mod rolling;
mod tag_limit;
mod template;
#[cfg(test)]
mod tests;

pub use cleanup::prunable;

/// When a step runs; steps of one phase run side by side.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Tags that go, a refresh that ends, a deleting group that is awaited.
    Clear,
    /// Object, template, roll mark.
    Prepare,
    /// The group itself.
    Group,
    /// What hangs on the group.
    Settle,
    /// The instance refresh.
    Refresh,
    /// What is no longer needed.
    CleanUp,
}

const PHASES: usize = 6;

/// What all parts of the planner look at.
struct View<'a> {
    desired: &'a Desired,
    observed: &'a Observed,
    /// The group, unless it is being deleted.
    live: Option<&'a Group>,
    target: Target<'a>,
    /// What to do about members of another template.
    roll: Decision,
}

impl View<'_> {
    /// The group has to be pointed at another template.
    fn repoints(&self) -> bool {
        self.live.is_some() && self.target.repoints()
    }

    /// Nobody is to be left: whoever goes is not replaced, and there is nobody to roll.
    fn empties(&self) -> bool {
        self.live.is_some() && self.desired.group.is_empty()
    }

    /// An active refresh has to end first: the group is pointed elsewhere, or one of ours is to start.
    fn ends_refresh(&self) -> bool {
        let active = self.live.is_some() && roll::active(&self.observed.refreshes).is_some();
        active && (self.repoints() || self.roll == Decision::Start)
    }
}

/// A plan being written.
#[derive(Default)]
struct Draft {
    changes: BTreeMap<Address, Change>,
    stages: [Vec<Vec<Step>>; PHASES],
    replaced: Vec<AffectedMember>,
    terminated: u32,
    overlap: u32,
    warnings: Vec<Diagnostic>,
    remains: Vec<String>,
    notes: Vec<String>,
    /// What AWS would refuse half-way.
    problems: Vec<Diagnostic>,
}

impl Draft {
    fn change(&mut self, address: Address, name: &str, action: Action, fields: Vec<FieldChange>) {
        let change = Change { address, name: name.to_owned(), action, fields, reason: None };
        self.changes.insert(address, change);
    }

    fn chain(&mut self, phase: Phase, address: Address, tasks: impl IntoIterator<Item = Task>) {
        self.push(phase, address, tasks, false);
    }

    fn write(&mut self, phase: Phase, address: Address, write: Write) {
        self.push(phase, address, [Task::Write(write)], false);
    }

    fn clean_up(&mut self, address: Address, task: Task) {
        self.push(Phase::CleanUp, address, [task], true);
    }

    fn push(
        &mut self,
        phase: Phase,
        address: Address,
        tasks: impl IntoIterator<Item = Task>,
        optional: bool,
    ) {
        let chain: Vec<Step> = tasks.into_iter().map(|task| Step { address, task, optional }).collect();
        if !chain.is_empty() {
            self.stages[phase as usize].push(chain);
        }
    }
}

/// What the pool should be, and the plan that makes it so; or what is wrong with the inputs, or which
/// resources belong to somebody else. Nothing of a stranger's is even read for records.
pub fn plan(request: &Request, observed: &Observed) -> Result<(Desired, Plan), Vec<Diagnostic>> {
    desired::check(request).map_err(|problems| problems.0)?;
    let foreign = foreign(request, observed.group.as_ref(), &observed.templates, Some(&observed.object));
    if !foreign.is_empty() {
        return Err(foreign);
    }
    let ours: Vec<&Template> =
        observed.templates.iter().filter(|t| ownership::is_ours(&request.scope.identity, &t.tags)).collect();
    let desired =
        desired::desired(request, &observed.images, observed.group.as_ref(), &ours, &observed.known)
            .map_err(|problems| problems.0)?;
    image::check_launchable(
        request,
        &observed.images,
        launched_image(&desired, observed),
        request.exports.region.as_str(),
    )
    .map_err(|problem| vec![problem])?;
    let plan = draw(&desired, observed)?;
    Ok((desired, plan))
}

/// The image that a live group launches now, if it stays on its template: who rolls needs one that is there.
fn launched_image<'a>(desired: &Desired, observed: &'a Observed) -> Option<&'a str> {
    observed.group.as_ref().filter(|group| !group.deleting)?;
    let target = target::target(desired, observed);
    let template = target.existing.filter(|_| !target.repoints())?;
    target::latest(observed, template)?.data.image_id.as_deref()
}

fn draw(desired: &Desired, observed: &Observed) -> Result<Plan, Vec<Diagnostic>> {
    let live = observed.group.as_ref().filter(|g| !g.deleting);
    let target = target::target(desired, observed);
    let roll = rolling::decision(desired, observed, live, &target);
    let view = View { desired, observed, live, target, roll };
    let mut draft = Draft { warnings: desired.warnings.clone(), ..Draft::default() };

    object::plan(&view, &mut draft);
    let resulting_version = template::plan(&view, &mut draft);
    group::plan(&view, &mut draft);
    policy::plan(&view, &mut draft);
    rolling::plan(&view, resulting_version, &mut draft);
    leaving::plan(&view, &mut draft);
    cleanup::plan(&view, &mut draft);

    if !draft.problems.is_empty() {
        return Err(draft.problems);
    }
    Ok(Plan {
        changes: draft.changes.into_values().collect(),
        replaced: draft.replaced,
        terminated: draft.terminated,
        overlap: draft.overlap,
        warnings: draft.warnings,
        remains: draft.remains,
        notes: draft.notes,
        stages: draft.stages.into_iter().filter(|stage| !stage.is_empty()).collect(),
    })
}

/// What an apply would use and is somebody else's: the group, the template that is wanted and the one in use,
/// the object. Other templates under the prefix are left alone, whosever they are.
pub fn foreign(
    request: &Request,
    group: Option<&Group>,
    templates: &[Template],
    object: Option<&Object>,
) -> Vec<Diagnostic> {
    let identity = &request.scope.identity;
    let names = Names::of(&request.scope);
    let wanted = names.template(&desired::roll_key(request));
    let mut foreign = Vec::new();
    if let Some(group) = group {
        foreign.extend(ownership::check(Resource::Group(&group.name), identity, &group.tags()).err());
    }
    let in_use = group.and_then(target::current_use);
    for template in templates {
        let ours_by_name = template.name.starts_with(&names.template_prefix());
        let used = in_use.is_some_and(|used| used.id == template.id);
        if template.name == wanted || (used && ours_by_name) {
            let resource = Resource::Template { id: &template.id, name: &template.name };
            foreign.extend(ownership::check(resource, identity, &template.tags).err());
        }
    }
    if let Some(Object::Present { tags, .. }) = object {
        let bucket = request.exports.bootstrap_bucket.as_str();
        let resource = Resource::Object { bucket, key: &names.object_key };
        foreign.extend(ownership::check(resource, identity, tags).err());
    }
    foreign
}
