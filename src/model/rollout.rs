//! A roll that an operator asks for: members that do not run the latest version of the group's template are
//! replaced, also where no apply would do it by itself.

use super::{
    desired::Desired,
    members::{self, Member},
    observed::{Group, Observed, Refresh},
    plan::{Action, Address, AffectedMember, Change, FieldChange, Plan, Step, Task},
    records::{self, RollMark},
    resources::Write,
    roll, target,
};
use crate::contract::{problem::Diagnostic, request::Tags};

/// What there is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Rollout {
    /// Every member runs the latest version.
    NothingToDo,
    /// A refresh for the group's template is under way already.
    Running(Refresh),
    /// This; one update of the group.
    Start(Plan),
}

/// The field under which a plan shows an instance refresh.
const REFRESH: &str = "instance_refresh";

/// Decides from the plan of an apply: what that would change comes first, for a roll before it would bring up
/// members that the next apply replaces again.
pub fn rollout(desired: &Desired, observed: &Observed, plan: &Plan) -> Result<Rollout, Diagnostic> {
    let group = observed.group.as_ref().filter(|group| !group.deleting).ok_or_else(|| no_group(observed))?;
    refuse_changes(plan)?;
    let (Some(used), Some(latest)) = (target::current_use(group), latest(group, observed)) else {
        return Err(apply_first("The group does not launch from the pool's template."));
    };
    if let Some(active) = roll::active(&observed.refreshes) {
        let mark = roll::mark(group);
        let hash = desired.key.hash();
        let template = observed.templates.iter().find(|template| template.id == used.id);
        let own = roll::belonging(mark.as_ref(), &hash, template, &observed.refreshes);
        return if own.iter().any(|refresh| refresh.id == active.id) && active.status != "Cancelling" {
            Ok(Rollout::Running(active.clone()))
        } else {
            Err(in_the_way(active))
        };
    }
    let members = members::members(Some(group), &observed.instances);
    let behind = |member: &&Member| {
        let runs_latest = member.template.as_ref().is_some_and(|t| t.id == used.id && t.version == latest);
        !runs_latest && !is_leaving(member)
    };
    let (aside, replaced): (Vec<&Member>, Vec<&Member>) =
        members.iter().filter(behind).partition(|member| member.is_standby());
    if replaced.is_empty() {
        return Ok(Rollout::NothingToDo);
    }
    Ok(Rollout::Start(start(desired, observed, &aside, &replaced)))
}

/// The version that the group launches, as members name it.
fn latest(group: &Group, observed: &Observed) -> Option<String> {
    let used = target::current_use(group)?;
    let template = observed.templates.iter().find(|template| template.id == used.id)?;
    Some(template.latest_version.to_string())
}

/// Whether a member is on its way out, or not the group's any more.
fn is_leaving(member: &Member) -> bool {
    let leaves = |lifecycle: &str| lifecycle.starts_with("Terminat") || lifecycle.starts_with("Detach");
    member.lifecycle.as_deref().is_none_or(leaves)
}

fn start(desired: &Desired, observed: &Observed, aside: &[&Member], replaced: &[&Member]) -> Plan {
    let group = &desired.names.group;
    let warmup_seconds = desired.warmup_seconds;
    // What failed or was stopped before does not count against a roll that somebody asks for.
    let newest = observed.refreshes.first().map(|refresh| refresh.id.clone());
    let mark = RollMark { hash: desired.key.hash(), newest }.to_string();
    let step = |write| Step { address: Address::Group, task: Task::Write(write), optional: false };
    let tags = Tags::from([(records::ROLL.to_owned(), mark)]);
    let mut warnings = Vec::new();
    if !aside.is_empty() {
        let ids: Vec<&str> = aside.iter().map(|member| member.id.as_str()).collect();
        warnings.push(Diagnostic::warning(
            "Standby members stay behind",
            format!("A roll does not replace members in standby: {}.", ids.join(", ")),
        ));
    }
    Plan {
        changes: vec![Change {
            address: Address::Group,
            name: group.clone(),
            action: Action::Update,
            fields: vec![FieldChange {
                field: REFRESH.to_owned(),
                now: None,
                then: Some(format!("rolling, 100 % to 200 % healthy, warmup {warmup_seconds} s")),
            }],
            reason: Some(
                "members that do not run the latest version of the launch template are replaced".to_owned(),
            ),
        }],
        replaced: replaced.iter().map(|member| affected(member)).collect(),
        warnings,
        stages: vec![
            vec![vec![step(Write::TagGroup { group: group.clone(), tags })]],
            vec![vec![step(Write::StartRefresh { group: group.clone(), warmup_seconds })]],
        ],
        ..Plan::default()
    }
}

fn affected(member: &Member) -> AffectedMember {
    let why = match &member.template {
        Some(used) => format!("runs version {} of {}", used.version, used.name),
        None => "runs no launch template".to_owned(),
    };
    AffectedMember { id: member.id.clone(), zone: member.zone.clone(), why }
}

fn refuse_changes(plan: &Plan) -> Result<(), Diagnostic> {
    // An apply that would do nothing but start the roll is no hindrance.
    let only_rolls = |change: &Change| {
        change.address == Address::Group
            && change.action == Action::Update
            && change.fields.iter().all(|field| field.field == REFRESH)
    };
    let others: Vec<&str> = plan
        .changes
        .iter()
        .filter(|change| !only_rolls(change))
        .map(|change| change.address.noun())
        .collect();
    if others.is_empty() {
        return Ok(());
    }
    Err(apply_first(&format!("An apply would change: {}.", others.join(", "))))
}

fn apply_first(why: &str) -> Diagnostic {
    Diagnostic::error(
        "The pool is not as the inputs ask for",
        format!(
            "{why} New members would come up with what is there now. Nothing was changed. Run apply first; it rolls \
             by itself if the version or the pinned image changed, and rollout start rolls the rest."
        ),
    )
}

fn no_group(observed: &Observed) -> Diagnostic {
    let summary = match &observed.group {
        Some(group) => format!("Auto Scaling group {} is being deleted", group.name),
        None => "There is no Auto Scaling group".to_owned(),
    };
    Diagnostic::error(summary, "There is nothing to roll. Nothing was changed. Run apply to make the pool.")
}

fn in_the_way(active: &Refresh) -> Diagnostic {
    Diagnostic::error(
        format!("Instance refresh {} is {}", active.id, active.status),
        "It was not started for the group's present template, or is about to end, and a group has one at a time. \
         Nothing was changed. Wait until it has ended, or stop it with rollout cancel, then start again.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        observed::{GroupMember, GroupTag, Instance, Launch, Template, TemplateUse},
        testing,
    };

    /// A group on version 3, with members on the versions given; 0 is another template.
    fn world(versions: &[u32]) -> (Desired, Observed) {
        let desired = testing::desired(|_| {});
        let used = |name: &str, version: &str| TemplateUse {
            id: format!("lt-{name}"),
            name: name.to_owned(),
            version: version.to_owned(),
        };
        let member = |(at, version): (usize, &u32)| GroupMember {
            id: format!("i-{at}"),
            zone: "us-east-1a".into(),
            lifecycle: "InService".into(),
            template: Some(if *version == 0 { used("old", "1") } else { used("new", &version.to_string()) }),
            ..GroupMember::default()
        };
        let members: Vec<GroupMember> = versions.iter().enumerate().map(member).collect();
        let running = |member: &GroupMember| Instance {
            id: member.id.clone(),
            state: "running".into(),
            zone: member.zone.clone(),
            ..Instance::default()
        };
        let observed = Observed {
            instances: members.iter().map(running).collect(),
            group: Some(Group {
                name: desired.names.group.clone(),
                launch: Launch::Template(used("new", "$Latest")),
                members,
                ..Group::default()
            }),
            templates: vec![Template {
                id: "lt-new".into(),
                name: "new".into(),
                latest_version: 3,
                ..Template::default()
            }],
            ..testing::nothing()
        };
        (desired, observed)
    }

    fn change(address: Address, field: &str) -> Change {
        Change {
            address,
            name: String::new(),
            action: Action::Update,
            fields: vec![FieldChange { field: field.into(), now: None, then: None }],
            reason: None,
        }
    }

    #[test]
    fn whoever_does_not_run_the_latest_version_is_replaced() {
        let (desired, mut observed) = world(&[3, 2, 0, 1]);
        let group = observed.group.as_mut().unwrap();
        group.members[3].lifecycle = "Standby".into();
        observed.refreshes =
            vec![Refresh { id: "r-1".into(), status: "Cancelled".into(), ..Refresh::default() }];
        let Ok(Rollout::Start(plan)) = rollout(&desired, &observed, &Plan::default()) else { panic!() };
        let ids: Vec<&str> = plan.replaced.iter().map(|member| member.id.as_str()).collect();
        assert_eq!(ids, ["i-1", "i-2"]);
        assert!(plan.warnings[0].detail.contains("i-3"), "{:?}", plan.warnings);
        let tasks: Vec<&Task> = plan.stages.iter().flatten().flatten().map(|step| &step.task).collect();
        let [
            Task::Write(Write::TagGroup { tags, .. }),
            Task::Write(Write::StartRefresh { warmup_seconds: 300, .. }),
        ] = tasks[..]
        else {
            panic!("{tasks:?}")
        };
        assert_eq!(tags[records::ROLL], format!("{}/r-1", desired.key.hash()));
    }

    #[test]
    fn nothing_behind_is_nothing_to_do() {
        let (desired, mut observed) = world(&[3, 3]);
        assert_eq!(rollout(&desired, &observed, &Plan::default()), Ok(Rollout::NothingToDo));
        let (_, behind) = world(&[2]);
        observed.group.as_mut().unwrap().members = behind.group.unwrap().members;
        observed.group.as_mut().unwrap().members[0].lifecycle = "Terminating:Wait".into();
        observed.instances.truncate(1);
        assert_eq!(rollout(&desired, &observed, &Plan::default()), Ok(Rollout::NothingToDo));
    }

    #[test]
    fn an_apply_comes_first_unless_it_would_only_roll() {
        let (desired, observed) = world(&[2]);
        let plan = |changes| Plan { changes, ..Plan::default() };
        let rolls = plan(vec![change(Address::Group, REFRESH)]);
        assert!(matches!(rollout(&desired, &observed, &rolls), Ok(Rollout::Start(_))));
        for address in [Address::Object, Address::Template, Address::Group, Address::Policy] {
            let refused = rollout(&desired, &observed, &plan(vec![change(address, "x")])).unwrap_err();
            assert!(
                refused.detail.contains(address.noun()) && refused.detail.contains("Run apply"),
                "{refused}"
            );
        }
    }

    #[test]
    fn a_group_that_is_not_there_has_nothing_to_roll() {
        let (desired, mut observed) = world(&[2]);
        observed.group.as_mut().unwrap().deleting = true;
        let refused = rollout(&desired, &observed, &Plan::default()).unwrap_err();
        assert!(refused.summary.ends_with("is being deleted"), "{refused}");
        observed.group = None;
        let refused = rollout(&desired, &observed, &Plan::default()).unwrap_err();
        assert_eq!(refused.summary, "There is no Auto Scaling group");
    }

    #[test]
    fn one_that_runs_is_ours_or_in_the_way() {
        let (desired, mut observed) = world(&[2]);
        let running = Refresh { id: "r-2".into(), status: "InProgress".into(), ..Refresh::default() };
        observed.refreshes = vec![running.clone(), Refresh { status: "Failed".into(), ..Refresh::default() }];
        let mut with = |hash: &str, newest: Option<&str>, status: &str| {
            let mark = RollMark { hash: hash.into(), newest: newest.map(Into::into) }.to_string();
            let tag = GroupTag { value: mark, propagate: false };
            observed.group.as_mut().unwrap().tags.insert(records::ROLL.into(), tag);
            observed.refreshes[0].status = status.into();
            rollout(&desired, &observed, &Plan::default())
        };
        let hash = desired.key.hash();
        assert_eq!(with(&hash, None, "InProgress"), Ok(Rollout::Running(running)));
        assert!(with(&hash, None, "Cancelling").is_err());
        assert!(with(&hash, Some("r-2"), "InProgress").is_err());
        assert!(with("other", None, "InProgress").unwrap_err().detail.contains("rollout cancel"));
    }
}
