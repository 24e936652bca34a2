//! What others did, and what belongs to others.

use super::*;

#[test]
fn every_edit_of_the_object_is_mended_by_one_put() {
    let edits: [fn(&mut Object); 5] = [
        |o| {
            if let Object::Present { sha256, .. } = o {
                *sha256 = None;
            }
        },
        |o| {
            if let Object::Present { content_type, .. } = o {
                *content_type = Some("text/plain".into());
            }
        },
        |o| {
            if let Object::Present { encryption, .. } = o {
                *encryption = Some("aws:kms".into());
            }
        },
        |o| {
            if let Object::Present { tags, .. } = o {
                tags.insert("extra".into(), "x".into());
            }
        },
        |o| *o = Object::Missing,
    ];
    for edit in edits {
        let mut observed = settled(unchanged);
        edit(&mut observed.object);
        let plan = plan_for(unchanged, &observed);
        assert!(matches!(writes(&plan)[..], [Write::PutObject { .. }]), "{:?}", observed.object);
    }
}

#[test]
fn every_edit_of_the_group_is_seen_alone_and_mended_alone() {
    fn sent(write: &Write) -> Vec<&'static str> {
        let Write::UpdateGroup(UpdateGroup {
            name: _,
            template,
            min,
            max,
            desired,
            subnets,
            health_check_type,
            capacity_rebalance,
        }) = write
        else {
            return vec!["other"];
        };
        let sent = [
            ("template", template.is_some()),
            ("min", min.is_some()),
            ("max", max.is_some()),
            ("desired", desired.is_some()),
            ("subnets", subnets.is_some()),
            ("health", health_check_type.is_some()),
            ("rebalance", capacity_rebalance.is_some()),
        ];
        sent.into_iter().filter(|s| s.1).map(|s| s.0).collect()
    }
    let edits: [(&str, GroupEdit); 13] = [
        ("min", |g| g.min = 1),
        ("max", |g| g.max = 9),
        ("desired", |g| g.desired = 2),
        ("subnets", |g| g.subnets = ["subnet-00".to_owned()].into()),
        ("health", |g| g.health_check_type = "ELB".into()),
        ("rebalance", |g| g.capacity_rebalance = true),
        ("template", |g| {
            if let Launch::Template(used) = &mut g.launch {
                used.version = "1".into();
            }
        }),
        ("template", |g| {
            if let Launch::Template(used) = g.launch.clone() {
                g.launch = Launch::Mixed(used);
            }
        }),
        ("other", |g| g.suspended.clear()),
        ("other", |g| {
            g.tags.remove("captf.io/kind");
        }),
        ("other", |g| g.tags.get_mut("captf.io/managed-by").unwrap().value = "me".into()),
        ("other", |g| g.tags.get_mut("captf.io/managed-by").unwrap().propagate = true),
        ("other", |g| {
            g.tags.remove(records::ROLL);
        }),
    ];
    for (i, (what, edit)) in edits.into_iter().enumerate() {
        let mut observed = settled(unchanged);
        edit(group_of(&mut observed));
        let plan = plan_for(unchanged, &observed);
        assert_eq!(actions(&plan), [(Address::Group, Action::Update)], "edit {i} ({what})");
        assert_eq!(plan.changes[0].fields.len(), 1, "edit {i}: {:?}", plan.changes[0].fields);
        let writes = writes(&plan);
        assert_eq!(writes.len(), 1, "edit {i}");
        assert_eq!(sent(writes[0]), [what], "edit {i}");
    }
}

#[test]
fn what_others_put_there_is_no_change() {
    let mut observed = settled(unchanged);
    let group = group_of(&mut observed);
    group.tags.insert("aws:cloudformation:x".into(), GroupTag { value: "y".into(), propagate: true });
    group.tags.insert("cost-centre".into(), GroupTag { value: "7".into(), propagate: false });
    group.suspended.insert("Launch".into());
    observed.policies.push(Policy { name: "somebody-elses".into(), ..Policy::default() });
    let plan = plan_for(unchanged, &observed);
    assert!(plan.is_empty());
    assert!(plan.warnings[0].summary.contains("Suspended on the group: Launch"));
}

#[test]
fn a_template_deleted_by_hand_is_made_again_and_replaces_nobody() {
    let mut observed = settled(unchanged);
    observed.templates.clear();
    observed.versions.clear();
    let plan = plan_for(unchanged, &observed);
    assert_eq!(plan.changes[0].action, Action::Create);
    assert!(!writes(&plan).iter().any(|w| matches!(w, Write::StartRefresh { .. })));
    assert!(plan.replaced.is_empty());
}

#[test]
fn a_group_deleted_by_hand_is_made_again_from_what_is_left() {
    let mut observed = settled(unchanged);
    observed.group = None;
    observed.instances.clear();
    let plan = plan_for(unchanged, &observed);
    assert_eq!(actions(&plan), [(Address::Group, Action::Create)]);
    let mut observed = settled(unchanged);
    group_of(&mut observed).deleting = true;
    let plan = plan_for(unchanged, &observed);
    assert!(matches!(plan.stages[0][0][0].task, Task::AwaitGroupGone { .. }));
}

#[test]
fn a_policy_edited_by_hand_is_put_back() {
    let edits: [fn(&mut Policy); 3] = [
        |p| p.target_tracking = Some(("ASGAverageCPUUtilization".into(), 61.0)),
        |p| p.target_tracking = None,
        |p| {
            p.extras.insert("disable_scale_in".into(), "true".into());
        },
    ];
    for edit in edits {
        let mut observed = settled(native);
        edit(&mut observed.policies[0]);
        let plan = plan_for(native, &observed);
        assert_eq!(actions(&plan), [(Address::Policy, Action::Update)]);
    }
}

#[test]
fn strangers_are_refused() {
    let other = |tags: &mut crate::contract::request::Tags| {
        tags.insert("captf.io/cluster".into(), "prod".into());
    };
    let edits: [&dyn Fn(&mut Observed); 4] = [
        &|o| group_of(o).tags.get_mut("captf.io/cluster").unwrap().value = "prod".into(),
        &|o| other(&mut o.templates[0].tags),
        &|o| {
            if let Object::Present { tags, .. } = &mut o.object {
                other(tags);
            }
        },
        &|o| {
            if let Object::Present { tags, .. } = &mut o.object {
                tags.clear();
            }
        },
    ];
    let words = ["belongs to somebody else"; 3].into_iter().chain(["is not known to be this pool's"]);
    for (edit, words) in edits.into_iter().zip(words) {
        let mut observed = settled(unchanged);
        edit(&mut observed);
        let refused = plan(&testing::request(unchanged), &observed).unwrap_err();
        assert_eq!(refused.len(), 1);
        assert!(refused[0].summary.contains(words), "{}", refused[0].summary);
    }
}

#[test]
fn a_pool_that_terraform_made_is_taken_over_without_a_roll() {
    let mut observed = settled(unchanged);
    let generated = "captf-team-a-demo-pool-0-43c6d828-20260101120000000000000001";
    observed.templates[0].name = generated.into();
    observed.versions[0].template_name = generated.into();
    observed.versions[0].data.user_data = Some("#cloud-boothook\nthe module's".into());
    observed.templates[0].tags.retain(|key, _| !key.starts_with("machinepool.captf.io/"));
    let group = group_of(&mut observed);
    group.tags.retain(|key, _| !key.starts_with("machinepool.captf.io/"));
    let used = TemplateUse { id: "lt-1".into(), name: generated.into(), version: "$Latest".into() };
    group.launch = Launch::Template(used.clone());
    for member in &mut group.members {
        member.template = Some(TemplateUse { version: "1".into(), ..used.clone() });
    }
    let taken = plan_for(unchanged, &observed);
    assert_eq!(
        actions(&taken),
        [
            (Address::Template, Action::Update),
            (Address::Group, Action::Update),
            (Address::VersionRoll, Action::Create),
            (Address::InheritedZones, Action::Create),
        ]
    );
    assert!(taken.replaced.is_empty());
    assert!(
        !writes(&taken)
            .iter()
            .any(|w| matches!(w, Write::StartRefresh { .. } | Write::CreateTemplate { .. }))
    );
    assert!(taken.warnings.iter().any(|w| w.summary.contains("does not record")));

    // Its records written, a version change rolls it once, onto a template of our own naming.
    let tags = testing::desired(unchanged).template.tags;
    observed.templates[0].tags.extend(tags);
    let rolled = plan_for(v2, &observed);
    assert!(writes(&rolled).iter().any(|w| matches!(w, Write::CreateTemplate { .. })));
    assert!(writes(&rolled).iter().any(|w| matches!(w, Write::StartRefresh { .. })));
}
