//! Tags, and the room that there is for them.

use super::*;

#[test]
fn a_tag_no_longer_wanted_goes_before_the_new_version_comes() {
    let tagged: Edit = |r| r.additional_tags = testing::tags(&[("team", "x")]);
    let plan = plan_for(unchanged, &settled(tagged));
    let first: Vec<&Task> = plan.stages[0].iter().flatten().map(|s| &s.task).collect();
    assert!(
        matches!(first[..], [Task::Write(Write::UntagTemplate { .. }), Task::Write(Write::UntagGroup { keys, .. })]
            if keys.contains("team")),
        "{first:?}"
    );
    assert!(matches!(writes(&plan)[2], Write::CreateTemplateVersion { .. }));
}

#[test]
fn the_copied_zone_record_makes_room_for_the_users_tags() {
    let full: Edit = |r| r.additional_tags = (0..40).map(|i| (format!("tag-{i}"), String::new())).collect();
    let plan = plan_for(full, &settled(unchanged));
    assert!(
        matches!(writes(&plan)[0], Write::UntagTemplate { keys, .. } if keys.contains(records::ZONES)),
        "{:?}",
        writes(&plan)
    );
    assert!(!plan.changes.iter().any(|c| c.address == Address::InheritedZones));
}

#[test]
fn others_tags_count_to_the_limit_before_anything_is_written() {
    let crowd = |count: usize| (0..count).map(|n| (format!("cost-{n}"), "x".to_owned()));
    let crowded = |count: usize| {
        let mut observed = settled(unchanged);
        let group = observed.group.as_mut().unwrap();
        let tag = |value: String| GroupTag { value, propagate: false };
        group.tags.extend(crowd(count).map(|(key, value)| (key, tag(value))));
        group.tags.insert("aws:cloudformation:stack-name".into(), tag("s".into()));
        let template = observed.templates.first_mut().unwrap();
        template.tags.extend(crowd(count));
        observed
    };
    let own = settled(unchanged).templates[0].tags.len();
    // As many as there is room for: settled, and full.
    let full = crowded(50 - own);
    assert!(plan(&testing::request(unchanged), &full).unwrap().1.changes.is_empty());
    // One more tag of the user's: the copy of the zone record makes room.
    let one_more = testing::request(|r| {
        r.additional_tags.insert("team".into(), "a".into());
    });
    let (_, planned) = plan(&one_more, &full).unwrap();
    let removed = planned.stages.iter().flatten().flatten().any(|step| {
        matches!(&step.task, Task::Write(Write::UntagTemplate { keys, .. }) if keys.contains(records::ZONES))
    });
    assert!(removed, "{planned:?}");
    let many = testing::request(|r| {
        r.additional_tags.extend(crowd(40).map(|(key, _)| (format!("own-{key}"), "a".into())));
    });
    let problems = plan(&many, &full).unwrap_err();
    assert_eq!(problems.len(), 2, "{problems:?}");
    for (problem, resource) in problems.iter().zip(["launch template", "Auto Scaling group"]) {
        assert!(problem.summary.contains(resource) && problem.detail.contains("cost-0"), "{problem:?}");
        assert!(!problem.detail.contains("aws:") && !problem.detail.contains("captf"), "{problem:?}");
    }
    // Nothing to add: whoever filled it up, it is full and settled.
    assert!(plan(&testing::request(unchanged), &crowded(60)).is_ok());
}
