//! Rolls: what starts one, goes on with it, ends it.

use super::*;

#[test]
fn a_roll_replaces_template_and_record_and_starts_one_refresh() {
    let plan = plan_for(v2, &settled(unchanged));
    assert_eq!(
        actions(&plan),
        [
            (Address::Template, Action::Replace),
            (Address::Group, Action::Update),
            (Address::VersionRoll, Action::Replace),
        ]
    );
    let counts = plan.counts();
    assert_eq!((counts.add, counts.change, counts.destroy), (2, 1, 2));
    assert!(
        matches!(
            writes(&plan)[..],
            [
                Write::CreateTemplate { .. },
                Write::TagGroup { .. },
                Write::UpdateGroup(_),
                Write::StartRefresh { warmup_seconds: 300, .. },
            ]
        ),
        "{:?}",
        writes(&plan)
    );
    assert_eq!(plan.replaced.len(), 3);
    let reason = plan.changes[0].reason.as_ref().unwrap();
    assert!(reason.contains("v1.34.1") && reason.contains("v1.35.0"), "{reason}");
    // The old template is in use until the roll is over.
    assert!(plan.notes.iter().any(|n| n.contains("once no member runs it")));
}

#[test]
fn a_pinned_image_and_a_distribution_suffix_roll_too() {
    let pinned = plan_for(|r| r.machine_image.id = "ami-0123".parse().ok(), &settled(unchanged));
    assert!(writes(&pinned).iter().any(|w| matches!(w, Write::StartRefresh { .. })));
    let rke2: Edit = |r| r.kubernetes_version = Some("v1.34.1+rke2r1".into());
    let next: Edit = |r| r.kubernetes_version = Some("v1.34.1+rke2r2".into());
    let suffix = plan_for(next, &settled(rke2));
    assert!(writes(&suffix).iter().any(|w| matches!(w, Write::StartRefresh { .. })));
}

#[test]
fn a_roll_that_died_before_its_refresh_is_continued() {
    let plan = plan_for(v2, &repointed());
    assert_eq!(actions(&plan), [(Address::Group, Action::Update)]);
    assert!(matches!(writes(&plan)[..], [Write::StartRefresh { .. }]));
    assert_eq!(plan.replaced.len(), 3);
}

#[test]
fn a_roll_under_way_is_a_note_and_a_finished_one_cleans_up() {
    let mut observed = repointed();
    observed.refreshes = vec![refresh("r-1", "InProgress")];
    let plan = plan_for(v2, &observed);
    assert!(plan.is_empty() && plan.stages.is_empty(), "{plan:?}");
    assert!(plan.notes.iter().any(|n| n.contains("r-1")));

    let new =
        TemplateUse { id: "lt-2".into(), name: testing::desired(v2).template.name, version: "1".into() };
    for member in &mut group_of(&mut observed).members {
        member.template = Some(new.clone());
    }
    observed.refreshes[0].status = "Successful".into();
    let plan = plan_for(v2, &observed);
    assert!(plan.is_empty());
    assert!(matches!(writes(&plan)[..], [Write::DeleteTemplate { template_id }] if template_id == "lt-1"));
    assert!(plan.stages[0][0][0].optional);
}

#[test]
fn another_refresh_is_marked_off_and_ended_before_the_group_moves() {
    let mut observed = settled(unchanged);
    observed.refreshes = vec![refresh("r-1", "InProgress")];
    let plan = plan_for(v2, &observed);
    let first: Vec<&Task> = plan.stages[0].iter().flatten().map(|s| &s.task).collect();
    let desired = testing::desired(v2);
    assert!(
        matches!(first[..], [Task::Supersede { template, hash, .. }]
            if *template == desired.template.name && *hash == desired.key.hash()),
        "{first:?}"
    );
    let mark = RollMark { hash: desired.key.hash(), newest: Some("r-1".into()) }.to_string();
    assert!(plan.changes[1].fields.iter().any(|f| f.then.as_deref() == Some(mark.as_str())));
    assert!(plan.notes.iter().any(|n| n.contains("is ended first")), "{:?}", plan.notes);
}

#[test]
fn a_refresh_that_this_program_cancelled_does_not_look_like_an_operators() {
    // The group is on v2 and rolling; inputs go to v1.34.1; the run dies after the cancel, before the
    // group moves; inputs go to v2 again: the roll must go on.
    let mut observed = repointed();
    observed.refreshes = vec![refresh("r-1", "Cancelled")];
    let mark = RollMark { hash: testing::desired(unchanged).key.hash(), newest: Some("r-1".into()) };
    group_of(&mut observed).tags.get_mut(records::ROLL).unwrap().value = mark.to_string();
    let plan = plan_for(v2, &observed);
    assert!(matches!(writes(&plan)[..], [Write::TagGroup { .. }, Write::StartRefresh { .. }]), "{plan:?}");
}

#[test]
fn an_operators_stop_failures_and_leftovers_are_warnings() {
    for (statuses, word) in [
        (vec!["Cancelled"], "stopped"),
        (vec!["RollbackSuccessful"], "stopped"),
        (vec!["Failed", "Failed", "Failed"], "failed 3 times"),
        (vec!["Successful"], "left behind"),
    ] {
        let mut observed = repointed();
        observed.refreshes =
            statuses.iter().enumerate().map(|(i, s)| refresh(&format!("r-{i}"), s)).collect();
        let plan = plan_for(v2, &observed);
        assert!(plan.is_empty(), "{word}: {plan:?}");
        assert!(plan.warnings.iter().any(|w| w.summary.contains(word)), "{word}: {:?}", plan.warnings);
        assert_eq!(plan.remains, ["3 members still run another launch template"], "{word}");
    }
}

/// `rollout start` replaces nobody in standby, and everybody who is protected.
#[test]
fn what_a_roll_left_behind_comes_with_what_helps() {
    let mut observed = repointed();
    observed.refreshes = vec![refresh("r-0", "Successful")];
    let told = |observed: &Observed| {
        let plan = plan_for(v2, observed);
        plan.warnings.iter().find(|w| w.summary.contains("left behind")).unwrap().detail.clone()
    };
    let by_hand = told(&observed);
    assert!(
        by_hand.contains("rollout start replaces them") && !by_hand.contains("exit-standby"),
        "{by_hand}"
    );
    for member in &mut group_of(&mut observed).members {
        member.lifecycle = "Standby".into();
    }
    let aside = told(&observed);
    assert!(aside.contains("exit-standby") && !aside.contains("replaces them"), "{aside}");
}

#[test]
fn going_back_uses_the_earlier_template_again() {
    let observed = repointed();
    let plan = plan_for(unchanged, &observed);
    assert_eq!(
        actions(&plan),
        [
            (Address::Template, Action::Replace),
            (Address::Group, Action::Update),
            (Address::VersionRoll, Action::Replace),
        ]
    );
    assert!(
        matches!(writes(&plan)[..], [
            Write::TagGroup { .. },
            Write::UpdateGroup(UpdateGroup { template: Some(crate::model::resources::TemplateRef::Id(id)), .. }),
            Write::DeleteTemplate { template_id },
        ] if id == "lt-1" && template_id == "lt-2"),
        "no version, no refresh: members run what they should: {:?}",
        writes(&plan)
    );
}

/// A plan reads no activities: what the refresh itself says is all it knows.
#[test]
fn a_roll_under_way_is_told_with_what_aws_says_of_it_and_where_more_is() {
    let mut observed = repointed();
    let reason = Some("Waiting for remaining instances to be available.".to_owned());
    observed.refreshes = vec![Refresh { reason, ..refresh("r-1", "InProgress") }];
    let plan = plan_for(v2, &observed);
    let told = plan.notes.iter().find(|note| note.contains("under way")).unwrap();
    assert!(told.contains("AWS says: Waiting for remaining instances to be available. "), "{told}");
    assert!(told.ends_with("machinepool status tells whether it gets on."), "{told}");
    assert_eq!(plan.remains, ["3 members still run another launch template"]);
    assert!(plan_for(unchanged, &settled(unchanged)).remains.is_empty());
    assert!(plan_for(v2, &settled(unchanged)).remains.is_empty(), "they are about to be rolled");
}

#[test]
fn a_refresh_that_is_cancelled_waits_for_no_process() {
    let waits = |status: &str| {
        let mut observed = repointed();
        group_of(&mut observed).suspended.insert("Launch".into());
        observed.refreshes = vec![refresh("r-1", status)];
        plan_for(v2, &observed).warnings.iter().any(|w| w.summary.starts_with("The roll waits"))
    };
    assert!(waits("InProgress"));
    assert!(!waits("Cancelling") && !waits("RollbackInProgress"));
}
