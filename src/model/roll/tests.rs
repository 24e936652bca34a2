use super::*;
use crate::model::observed::{GroupTag, Launch, TemplateUse};

fn refresh(id: &str, status: &str, start: i64) -> Refresh {
    Refresh { id: id.into(), status: status.into(), start: Some(Timestamp(start)), ..Refresh::default() }
}

fn group(templates: &[&str]) -> Group {
    let members = templates
        .iter()
        .enumerate()
        .map(|(i, name)| GroupMember {
            id: format!("i-{i}"),
            lifecycle: "InService".into(),
            template: Some(TemplateUse { name: (*name).into(), ..TemplateUse::default() }),
            ..GroupMember::default()
        })
        .collect();
    Group { members, ..Group::default() }
}

fn decide_for(refreshes: &[Refresh]) -> Decision {
    decide(&group(&["new", "old"]), "new", &refreshes.iter().collect::<Vec<_>>(), Some(Timestamp(10)))
}

#[test]
fn whoever_leaves_is_not_replaced_and_standby_is_passed_by() {
    let mut group = group(&["old"; 6]);
    let lifecycles =
        ["InService", "Standby", "Terminating:Wait", "Detaching", "EnteringStandby", "InService"];
    for (member, lifecycle) in group.members.iter_mut().zip(lifecycles) {
        member.lifecycle = lifecycle.into();
    }
    group.members[5].template.as_mut().unwrap().name = "new".into();
    let mut members = crate::model::members::members(Some(&group), &[]);
    // EC2 shows it still.
    let leaving = Member { lifecycle: Some("Detaching".into()), id: "i-9".into(), ..members[0].clone() };
    members.extend([Member { lifecycle: None, id: "i-8".into(), ..leaving.clone() }, leaving]);
    let rolled = rolled(&members, |used| used.name == "new");
    let ids = |members: &[&Member]| members.iter().map(|m| m.id.clone()).collect::<Vec<_>>();
    assert_eq!(
        (ids(&rolled.replaced), ids(&rolled.aside)),
        (vec!["i-0".into()], vec!["i-1".into(), "i-4".into()])
    );
    let warning = rolled.warning().unwrap();
    assert!(warning.detail.contains("i-1, i-4") && warning.detail.contains("exit-standby"), "{warning:?}");
}

#[test]
fn due_is_what_members_run() {
    assert_eq!(decide(&group(&["new", "new"]), "new", &[], None), Decision::NotDue);
    assert_eq!(decide(&group(&[]), "new", &[], None), Decision::NotDue);
    assert_eq!(decide_for(&[]), Decision::Start);
    let mut leaving = group(&["old"]);
    leaving.members[0].lifecycle = "Terminating:Wait".into();
    assert_eq!(decide(&leaving, "new", &[], None), Decision::NotDue);
    leaving.members[0].lifecycle = "InService".into();
    leaving.members[0].template = None;
    assert_eq!(decide(&leaving, "new", &[], None), Decision::NotDue);
}

#[test]
fn only_the_newest_refresh_decides() {
    for status in ["Pending", "InProgress", "Cancelling", "RollbackInProgress", "Baking", "SomethingNew"] {
        let running = refresh("r", status, 20);
        assert_eq!(decide_for(std::slice::from_ref(&running)), Decision::Running(running));
    }
    assert_eq!(decide_for(&[refresh("r", "Successful", 20)]), Decision::Leftover);
    for status in ["Cancelled", "RollbackFailed", "RollbackSuccessful"] {
        assert_eq!(decide_for(&[refresh("r", status, 20)]), Decision::Stopped(status.into()));
    }
    assert_eq!(decide_for(&[refresh("s", "Failed", 30), refresh("r", "Cancelled", 20)]), Decision::Start);
}

#[test]
fn three_failures_for_one_version_are_enough() {
    let failed =
        |starts: &[i64]| starts.iter().map(|s| refresh(&format!("r{s}"), "Failed", *s)).collect::<Vec<_>>();
    assert_eq!(decide_for(&failed(&[30, 20])), Decision::Start);
    assert!(matches!(decide_for(&failed(&[40, 30, 20])), Decision::GivenUp(_)));
    // Failures of an earlier version do not count against the latest.
    assert_eq!(decide_for(&failed(&[40, 30, 5])), Decision::Start);
    let all = failed(&[40, 30, 20]);
    let references: Vec<&Refresh> = all.iter().collect();
    assert_eq!(decide(&group(&["old"]), "new", &references, None), Decision::Start);
}

#[test]
fn the_mark_says_whose_a_refresh_is() {
    let refreshes = [refresh("c", "Failed", 30), refresh("b", "Failed", 20), refresh("a", "Failed", 10)];
    let of = |mark: Option<RollMark>| {
        belonging(mark.as_ref(), "h", None, &refreshes).iter().map(|r| r.id.clone()).collect::<Vec<_>>()
    };
    let mark = |hash: &str, newest: Option<&str>| {
        Some(RollMark { hash: hash.into(), newest: newest.map(Into::into) })
    };
    assert_eq!(of(mark("h", Some("b"))), ["c"]);
    assert_eq!(of(mark("h", None)), ["c", "b", "a"]);
    assert_eq!(of(mark("h", Some("expired"))), ["c", "b", "a"]);
    assert!(of(mark("other", None)).is_empty());
}

#[test]
fn one_to_another_template_belongs_to_nobody_of_ours() {
    let used = |id: &str, name: &str| TemplateUse { id: id.into(), name: name.into(), version: "1".into() };
    let current = Template { id: "lt-1".into(), name: "new".into(), ..Template::default() };
    let mark = RollMark { hash: "h".into(), newest: None };
    for (desired, is_own) in [
        (None, true),
        (Some(used("lt-1", "")), true),
        (Some(used("", "new")), true),
        (Some(used("lt-2", "")), false),
        (Some(used("", "old")), false),
        // It was deleted and made again.
        (Some(used("lt-0", "new")), false),
        (Some(used("", "")), false),
    ] {
        let newest = Refresh { desired_template: desired.clone(), ..refresh("b", "Cancelled", 20) };
        let refreshes = [newest, refresh("a", "Failed", 10)];
        let own = belonging(Some(&mark), "h", Some(&current), &refreshes);
        assert_eq!(own.len(), if is_own { 2 } else { 1 }, "{desired:?}");
        let launch = Launch::Template(used("lt-1", "new"));
        let tags = GroupTag { value: mark.to_string(), propagate: false };
        let mut group =
            Group { launch, tags: [(records::ROLL.into(), tags)].into(), ..group(&["new", "old"]) };
        assert_eq!(marked(&group, "h", "new", &refreshes), own, "{desired:?}");
        group.tags.clear();
        assert!(marked(&group, "h", "new", &refreshes).is_empty(), "nothing is known of any");
    }
}

/// Members on the templates given, launched at 30 each.
fn served(templates: &[&str], refreshes: &[Refresh]) -> Vec<String> {
    served_by(&Group { name: "pool".into(), ..group(templates) }, refreshes)
}

fn served_by(group: &Group, refreshes: &[Refresh]) -> Vec<String> {
    let instance =
        |i| Instance { id: format!("i-{i}"), launched: Some(Timestamp(30)), ..Instance::default() };
    let instances: Vec<Instance> = (0..group.members.len()).map(instance).collect();
    let own = refreshes.iter().filter(|r| r.desired_template.is_none()).collect();
    serving(own, group, "pool-new", &instances, refreshes).iter().map(|r| r.id.clone()).collect()
}

/// EC2's launch time is that of the last start.
#[test]
fn a_start_of_a_member_that_does_not_serve_is_no_launch() {
    let refreshes = [refresh("b", "Successful", 20)];
    let mut group = Group { name: "pool".into(), ..group(&["pool-new", "pool-old"]) };
    for (lifecycle, serves) in [
        ("Standby", true),
        ("EnteringStandby", true),
        ("Warmed:Running", true),
        ("Quarantined", true),
        ("Pending", false),
        ("Pending:Wait", false),
        ("InService", false),
    ] {
        lifecycle.clone_into(&mut group.members[1].lifecycle);
        assert_eq!(served_by(&group, &refreshes).len(), usize::from(serves), "{lifecycle}");
    }
}

#[test]
fn a_launch_from_another_template_tells_that_a_refresh_was_not_for_ours() {
    let hidden = [refresh("b", "Successful", 20), refresh("a", "Failed", 10)];
    assert!(served(&["pool-new", "pool-old"], &hidden).is_empty());
    assert_eq!(served(&["pool-new", "pool-new"], &hidden), ["b", "a"]);
    assert_eq!(served(&["pool-new", "by-hand"], &hidden), ["b", "a"], "nobody's launch");
    let later = [refresh("c", "Failed", 40), refresh("b", "Successful", 20)];
    assert_eq!(served(&["pool-new", "pool-old"], &later), ["c"]);
    let waiting = [Refresh { start: None, ..refresh("c", "Pending", 0) }];
    assert_eq!(served(&["pool-old"], &waiting), ["c"], "it has launched nothing");
}

#[test]
fn whom_a_refresh_of_somebody_else_brought_is_no_leftover_of_ours() {
    let desired_template = Some(TemplateUse { name: "by-hand".into(), ..TemplateUse::default() });
    let theirs = Refresh { desired_template, ..refresh("b", "Cancelled", 25) };
    let all = [theirs.clone(), refresh("a", "Successful", 20)];
    assert!(served(&["pool-new", "by-hand"], &all).is_empty());
    let stopped = [theirs, refresh("a", "Cancelled", 20)];
    assert_eq!(served(&["pool-new", "by-hand"], &stopped), ["a"], "an operator's word stands");
}

#[test]
fn without_a_mark_the_desired_configuration_or_the_start_says() {
    let mut desired = refresh("c", "InProgress", 30);
    desired.desired_template = Some(TemplateUse { id: "lt-other".into(), ..TemplateUse::default() });
    let refreshes = [desired, refresh("b", "Failed", 20), refresh("a", "Failed", 5)];
    let current = Template { id: "lt-1".into(), created: Timestamp(10), ..Template::default() };
    let ids: Vec<&str> =
        belonging(None, "h", Some(&current), &refreshes).iter().map(|r| r.id.as_str()).collect();
    assert_eq!(ids, ["b"]);
}
