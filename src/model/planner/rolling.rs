//! Whether an instance refresh is started, and whom it replaces.

use super::{Draft, Phase, View};
use crate::contract::problem::Diagnostic;
use crate::model::{
    desired::Desired,
    diff, members,
    observed::{Group, GroupMember, Observed, Refresh},
    plan::{Action, Address, Change, Task},
    resources::Write,
    roll::{self, Decision},
    target::{self, Target},
};

/// What to do about members of another template than the target. In a group that is emptied they go without a roll,
/// and whoever stays all the same is rolled once there is a capacity again.
pub(super) fn decision(
    desired: &Desired,
    observed: &Observed,
    live: Option<&Group>,
    target: &Target<'_>,
) -> Decision {
    match outdated(desired, observed, live, target) {
        Decision::Start if desired.group.is_empty() => Decision::NotDue,
        decision => decision,
    }
}

fn outdated(desired: &Desired, observed: &Observed, live: Option<&Group>, target: &Target<'_>) -> Decision {
    let Some(live) = live else { return Decision::NotDue };
    if target.repoints() {
        let due = roll::outdated(live, &target.name).next().is_some();
        return if due { Decision::Start } else { Decision::NotDue };
    }
    let mark = roll::mark(live);
    let hash = desired.key.hash();
    let own = roll::belonging(mark.as_ref(), &hash, target.existing, &observed.refreshes);
    let own = roll::serving(own, live, &target.name, &observed.instances, &observed.refreshes);
    let latest = target.existing.and_then(|t| target::latest(observed, t));
    let unchanged = latest.filter(|v| diff::template_data(Some(&v.data), &desired.template.data).is_empty());
    roll::decide(live, &target.name, &own, unchanged.map(|v| v.created))
}

/// Plans the refresh. `version` is the template version that the group launches then.
pub(super) fn plan(view: &View<'_>, version: u64, draft: &mut Draft) {
    let Some(live) = view.live else { return };
    let name = &view.target.name;
    draft.remains.extend(remains(view, live));
    match view.roll.clone() {
        Decision::NotDue => {
            foreign_refresh(view, draft);
            stragglers(view, draft);
        }
        Decision::Running(refresh) => {
            draft.notes.push(under_way(&refresh));
        }
        Decision::Start => {
            foreign_refresh(view, draft);
            start(view, live, version, draft);
        }
        Decision::GivenUp(reason) => draft.warnings.push(Diagnostic::warning(
            format!("The roll failed {} times and is not started again", roll::FAILURES_MAX),
            format!(
                "Members still run another launch template than {name}. AWS says: {reason}. Mend the cause; a \
                 new template version, or machinepool rollout start, begins anew."
            ),
        )),
        Decision::Stopped(status) => draft.warnings.push(Diagnostic::warning(
            format!("The roll was stopped: its instance refresh is {status}"),
            format!(
                "Members of {} still run another launch template than {name}. machinepool rollout start goes on with \
                 the roll.",
                live.name
            ),
        )),
        Decision::Leftover => draft.warnings.push(left_behind(live, name)),
    }
}

/// How many run another template and go on doing so whatever this plan does.
fn remains(view: &View<'_>, live: &Group) -> Option<String> {
    if view.roll == Decision::Start || view.empties() || view.repoints() {
        return None;
    }
    match roll::outdated(live, &view.target.name).count() {
        0 => None,
        1 => Some("1 member still runs another launch template".to_owned()),
        many => Some(format!("{many} members still run another launch template")),
    }
}

/// A roll that goes on, as far as it tells itself; why launches fail is not read for a plan.
fn under_way(refresh: &Refresh) -> String {
    let done = refresh.percentage.map_or(String::new(), |done| format!(", {done} % done"));
    let said = match &refresh.reason {
        Some(_) => {
            format!(" AWS says: {}. machinepool status tells whether it gets on.", refresh.reason_in_a_line())
        }
        None => String::new(),
    };
    format!("A roll is under way: instance refresh {} is {}{done}.{said}", refresh.id, refresh.status)
}

/// What a successful roll has passed by, and what to do about it.
fn left_behind(live: &Group, template: &str) -> Diagnostic {
    let (aside, others): (Vec<&GroupMember>, Vec<&GroupMember>) =
        roll::outdated(live, template).partition(|member| members::is_standby(&member.lifecycle));
    let ids = |members: &[&GroupMember]| {
        members.iter().map(|member| member.id.as_str()).collect::<Vec<_>>().join(", ")
    };
    let mut told = vec![format!("They run another launch template than {template}.")];
    if !aside.is_empty() {
        told.push(format!("In standby, which a roll passes by: {}. {}", ids(&aside), roll::BRING_BACK));
    }
    if !others.is_empty() {
        told.push(format!(
            "Attached by hand since, or otherwise left: {}. machinepool rollout start replaces them.",
            ids(&others)
        ));
    }
    Diagnostic::warning("Members were left behind by a successful roll", told.join(" "))
}

/// A refresh that is ended first may launch from its template until it has come to an end.
fn stragglers(view: &View<'_>, draft: &mut Draft) {
    if view.ends_refresh() && !view.empties() {
        let (group, template) = (view.desired.names.group.clone(), view.target.name.clone());
        let task = Task::RollStragglers { group, template, warmup_seconds: view.desired.warmup_seconds };
        draft.chain(Phase::Refresh, Address::Group, [task]);
    }
}

fn start(view: &View<'_>, live: &Group, version: u64, draft: &mut Draft) {
    let group = &view.desired.names.group;
    let name = &view.target.name;
    let warmup_seconds = view.desired.warmup_seconds;
    let members = members::members(Some(live), &view.observed.instances);
    // What AWS skips is told by id: a template made again under the same name matches nobody.
    let rolled = roll::rolled(&members, |used| {
        view.target.existing.is_some_and(|t| t.id == used.id) && used.version == version.to_string()
    });
    let id = view.target.existing.map(|template| template.id.as_str()).unwrap_or_default();
    draft.replaced.extend(rolled.affected(id, name));
    draft.warnings.extend(rolled.warning());
    let change = draft.changes.entry(Address::Group).or_insert_with(|| Change {
        address: Address::Group,
        name: group.clone(),
        action: Action::Update,
        fields: Vec::new(),
        reason: None,
    });
    change.fields.push(roll::refresh_field(warmup_seconds));
    change.reason = Some(if view.repoints() {
        format!("running instances are replaced: they run another launch template than {name}")
    } else {
        format!("running instances are still to be replaced: they run another launch template than {name}")
    });
    draft.write(Phase::Refresh, Address::Group, Write::StartRefresh { group: group.clone(), warmup_seconds });
}

fn foreign_refresh(view: &View<'_>, draft: &mut Draft) {
    if let Some(refresh) = roll::active(&view.observed.refreshes) {
        let what = match (view.ends_refresh(), &view.roll) {
            (true, Decision::NotDue) if !view.empties() => {
                "is ended first, and what it launches until then is rolled"
            }
            (true, _) => "is ended first",
            (false, _) => "is somebody else's, and left alone",
        };
        draft.notes.push(format!("Instance refresh {} is {}; it {what}.", refresh.id, refresh.status));
    }
}
