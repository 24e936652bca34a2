//! A roll that an operator asks for: members that do not run the latest version of the group's template are
//! replaced, also where no apply would do it by itself.

use std::collections::BTreeSet;

use super::{
    desired::Desired,
    members,
    observed::{Group, Observed, Refresh, TemplateUse},
    plan::{Action, Address, Change, INSTANCE_REFRESH, Plan, Step, Task},
    processes,
    records::{self, RollMark},
    resources::Write,
    roll::{self, Rolled},
    target,
};
use crate::contract::{problem::Diagnostic, request::Tags};

/// What there is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Rollout {
    /// Every member runs the latest version.
    NothingToDo,
    /// There are no members.
    NoMembers,
    /// The only members that do not are in standby, and a roll passes them by; their ids.
    OnlyAside(Vec<String>),
    /// A refresh for the group's template is under way already.
    Running(Refresh),
    /// This; one update of the group.
    Start(Plan),
}

/// Decides from the plan of an apply: what that would change comes first, for a roll before it would bring up
/// members that the next apply replaces again.
pub fn rollout(desired: &Desired, observed: &Observed, plan: &Plan) -> Result<Rollout, Diagnostic> {
    let group =
        observed.group.as_ref().filter(|group| !group.deleting).ok_or_else(|| no_group(desired, observed))?;
    refuse_changes(plan)?;
    let (Some(used), Some(latest)) = (target::current_use(group), latest(group, observed)) else {
        return Err(apply_first("The group does not launch from the pool's template."));
    };
    if let Some(active) = roll::active(&observed.refreshes) {
        let mark = roll::mark(group);
        let hash = desired.key.hash();
        let template = observed.templates.iter().find(|template| template.id == used.id);
        let own = roll::belonging(mark.as_ref(), &hash, template, &observed.refreshes);
        let own = roll::serving(own, group, &used.name, &observed.instances, &observed.refreshes);
        return if own.iter().any(|refresh| refresh.id == active.id) && active.status != "Cancelling" {
            Ok(Rollout::Running(active.clone()))
        } else {
            Err(in_the_way(active))
        };
    }
    let members = members::members(Some(group), &observed.instances);
    let rolled = roll::rolled(&members, |run| run.id == used.id && run.version == latest);
    if !rolled.replaced.is_empty() {
        return Ok(Rollout::Start(start(desired, observed, group, used, &rolled)));
    }
    if members.iter().all(|member| member.lifecycle.as_deref().is_none_or(roll::is_leaving)) {
        return Ok(Rollout::NoMembers);
    }
    let aside: Vec<String> = rolled.aside.iter().map(|member| member.id.clone()).collect();
    Ok(if aside.is_empty() { Rollout::NothingToDo } else { Rollout::OnlyAside(aside) })
}

/// Whether whoever approved one roll has approved another: it changes the same, and replaces nobody else. That some
/// have gone meanwhile is no difference.
pub fn is_covered(roll: &Plan, approved: &Plan) -> bool {
    let known: BTreeSet<&str> = approved.replaced.iter().map(|member| member.id.as_str()).collect();
    roll.changes == approved.changes && roll.replaced.iter().all(|member| known.contains(member.id.as_str()))
}

/// The version that the group launches, as members name it.
fn latest(group: &Group, observed: &Observed) -> Option<String> {
    let used = target::current_use(group)?;
    let template = observed.templates.iter().find(|template| template.id == used.id)?;
    Some(template.latest_version.to_string())
}

fn start(
    desired: &Desired,
    observed: &Observed,
    live: &Group,
    used: &TemplateUse,
    rolled: &Rolled<'_>,
) -> Plan {
    let group = &desired.names.group;
    let warmup_seconds = desired.warmup_seconds;
    // What failed or was stopped before does not count against a roll that somebody asks for.
    let newest = observed.refreshes.first().map(|refresh| refresh.id.clone());
    let mark = RollMark { hash: desired.key.hash(), newest }.to_string();
    let step = |write| Step { address: Address::Group, task: Task::Write(write), optional: false };
    let tags = Tags::from([(records::ROLL.to_owned(), mark)]);
    Plan {
        changes: vec![Change {
            address: Address::Group,
            name: group.clone(),
            action: Action::Update,
            fields: vec![roll::refresh_field(warmup_seconds)],
            reason: Some(
                "members that do not run the latest version of the launch template are replaced".to_owned(),
            ),
        }],
        replaced: rolled.affected(&used.id, &used.name).collect(),
        warnings: rolled
            .warning()
            .into_iter()
            .chain(processes::waits("roll", live, processes::OF_ROLLS))
            .collect(),
        stages: vec![
            vec![vec![step(Write::TagGroup { group: group.clone(), tags })]],
            vec![vec![step(Write::StartRefresh { group: group.clone(), warmup_seconds })]],
        ],
        ..Plan::default()
    }
}

fn refuse_changes(plan: &Plan) -> Result<(), Diagnostic> {
    // An apply that would do nothing but start the roll is no hindrance.
    let only_rolls = |change: &Change| {
        change.address == Address::Group
            && change.action == Action::Update
            && change.fields.iter().all(|field| field.field == INSTANCE_REFRESH)
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
             by itself if the version or the pinned image changed, and machinepool rollout start rolls the rest."
        ),
    )
}

fn no_group(desired: &Desired, observed: &Observed) -> Diagnostic {
    let name = &desired.names.group;
    let summary = match &observed.group {
        Some(_) => format!("Auto Scaling group {name} is being deleted"),
        None => format!("There is no Auto Scaling group {name}"),
    };
    Diagnostic::error(summary, "There is nothing to roll. Nothing was changed. Run apply to make the pool.")
}

fn in_the_way(active: &Refresh) -> Diagnostic {
    Diagnostic::error(
        format!("Instance refresh {} is {}", active.id, active.status),
        "It was not started for the group's present template, or is about to end, and a group has one at a time. \
         Nothing was changed. Wait until it has ended, or stop it with machinepool rollout cancel, then start again.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        observed::{GroupMember, GroupTag, Instance, Launch, Template, TemplateUse},
        plan::FieldChange,
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
    fn who_was_shown_and_nobody_else_is_approved() {
        let roll = |versions: &[u32]| {
            let (desired, observed) = world(versions);
            let Ok(Rollout::Start(plan)) = rollout(&desired, &observed, &Plan::default()) else { panic!() };
            plan
        };
        let approved = roll(&[3, 2, 1]);
        assert!(is_covered(&roll(&[3, 2, 1]), &approved));
        assert!(is_covered(&roll(&[3, 3, 1]), &approved), "one has gone meanwhile");
        assert!(!is_covered(&roll(&[1, 2, 1]), &approved), "one has come");
        assert!(!is_covered(&roll(&[1, 3, 3]), &approved), "as many, but another one");
        let mut otherwise = roll(&[3, 2, 1]);
        otherwise.changes[0].fields[0].then = Some("another warmup".into());
        assert!(!is_covered(&otherwise, &approved));
    }

    #[test]
    fn nothing_behind_is_nothing_to_do() {
        let (desired, mut observed) = world(&[3, 3]);
        assert_eq!(rollout(&desired, &observed, &Plan::default()), Ok(Rollout::NothingToDo));
        let (_, behind) = world(&[2]);
        observed.group.as_mut().unwrap().members = behind.group.unwrap().members;
        observed.group.as_mut().unwrap().members[0].lifecycle = "Terminating:Wait".into();
        observed.instances.truncate(1);
        assert_eq!(
            rollout(&desired, &observed, &Plan::default()),
            Ok(Rollout::NoMembers),
            "the last one leaves"
        );
        let (_, empty) = world(&[]);
        assert_eq!(rollout(&desired, &empty, &Plan::default()), Ok(Rollout::NoMembers));
    }

    #[test]
    fn members_in_standby_are_not_said_to_be_on_the_latest_version() {
        let (desired, mut observed) = world(&[3, 2, 1]);
        let group = observed.group.as_mut().unwrap();
        group.members[1].lifecycle = "Standby".into();
        group.members[2].lifecycle = "EnteringStandby".into();
        let aside = Rollout::OnlyAside(vec!["i-1".into(), "i-2".into()]);
        assert_eq!(rollout(&desired, &observed, &Plan::default()), Ok(aside));
    }

    #[test]
    fn an_apply_comes_first_unless_it_would_only_roll() {
        let (desired, observed) = world(&[2]);
        let plan = |changes| Plan { changes, ..Plan::default() };
        let rolls = plan(vec![change(Address::Group, INSTANCE_REFRESH)]);
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
        assert_eq!(refused.summary, format!("There is no Auto Scaling group {}", desired.names.group));
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
