use super::*;
use crate::{
    clock::Timestamp,
    contract::{
        payload::Payload,
        request::{Autoscaler, Autoscaling},
    },
    model::{
        names::POLICY,
        observed::{
            GroupMember, GroupTag, Instance, Known, Launch, Policy, Refresh, TemplateUse, TemplateVersion,
        },
        records::{self, RollMark},
        resources::UpdateGroup,
        testing,
    },
};

type Edit = fn(&mut Request);
type GroupEdit = fn(&mut Group);

fn unchanged(_: &mut Request) {}

fn v2(request: &mut Request) {
    request.kubernetes_version = Some("v1.35.0".into());
}

fn native(request: &mut Request) {
    request.autoscaling = Autoscaling::On { min: 1, max: 5, by: Autoscaler::Native(60.0) };
}

/// AWS as an apply of the demo pool, changed by `edit`, leaves it: three members in three zones.
fn settled(edit: Edit) -> Observed {
    let request = testing::request(edit);
    let desired = testing::desired(edit);
    let used = TemplateUse { id: "lt-1".into(), name: desired.template.name.clone(), version: "1".into() };
    let mark = RollMark { hash: desired.key.hash(), newest: None };
    let mut tags = desired.group.tags.clone();
    tags.insert(records::ROLL.into(), mark.to_string());
    let zones: Vec<&String> = request.exports.failure_domains.keys().collect();
    let member = |i: usize| GroupMember {
        id: format!("i-{i}"),
        zone: zones[i].clone(),
        lifecycle: "InService".into(),
        template: Some(used.clone()),
        ..GroupMember::default()
    };
    let instance = |i: usize| Instance {
        id: format!("i-{i}"),
        state: "running".into(),
        zone: zones[i].clone(),
        addresses: vec![format!("10.0.0.{i}")],
        ..Instance::default()
    };
    Observed {
        group: Some(Group {
            name: desired.names.group.clone(),
            arn: "arn:aws:autoscaling:us-east-1:1:autoScalingGroup:x".into(),
            deleting: false,
            min: desired.group.min,
            max: desired.group.max,
            desired: desired.group.initial,
            launch: Launch::Template(TemplateUse { version: "$Latest".into(), ..used.clone() }),
            subnets: desired.group.subnets.iter().cloned().collect(),
            health_check_type: "EC2".into(),
            capacity_rebalance: desired.group.capacity_rebalance,
            suspended: ["AZRebalance".to_owned()].into(),
            tags: tags.into_iter().map(|(k, value)| (k, GroupTag { value, propagate: false })).collect(),
            members: (0..3).map(member).collect(),
            warm_pool: false,
            deletion_protection: None,
        }),
        known: Known::default(),
        instances: (0..3).map(instance).collect(),
        policies: desired
            .policy
            .map(|target| Policy {
                name: POLICY.into(),
                target_tracking: Some(("ASGAverageCPUUtilization".into(), target)),
                extras: BTreeMap::new(),
            })
            .into_iter()
            .collect(),
        refreshes: Vec::new(),
        templates: vec![Template {
            id: "lt-1".into(),
            name: desired.template.name.clone(),
            created: Timestamp(0),
            default_version: 1,
            latest_version: 1,
            tags: desired.template.tags.clone(),
        }],
        versions: vec![TemplateVersion {
            template_id: "lt-1".into(),
            template_name: desired.template.name.clone(),
            number: 1,
            created: Timestamp(0),
            is_default: true,
            description: None,
            data: desired.template.data.clone(),
        }],
        object: Object::Present {
            sha256: Some(desired.object.sha256.clone()),
            content_type: Some("application/octet-stream".into()),
            encryption: Some("AES256".into()),
            tags: desired.object.tags.clone(),
        },
        images: testing::nothing().images,
    }
}

fn plan_for(edit: Edit, observed: &Observed) -> Plan {
    plan(&testing::request(edit), observed).unwrap().1
}

fn actions(plan: &Plan) -> Vec<(Address, Action)> {
    plan.changes.iter().map(|c| (c.address, c.action)).collect()
}

fn writes(plan: &Plan) -> Vec<&Write> {
    plan.stages
        .iter()
        .flatten()
        .flatten()
        .filter_map(|step| match &step.task {
            Task::Write(write) => Some(write),
            _ => None,
        })
        .collect()
}

fn group_of(observed: &mut Observed) -> &mut Group {
    observed.group.as_mut().unwrap()
}

fn refresh(id: &str, status: &str) -> Refresh {
    Refresh { id: id.into(), status: status.into(), start: Some(Timestamp(50)), ..Refresh::default() }
}

/// The demo pool right after its group was pointed at the template of v1.35.0: nothing rolled yet.
fn repointed() -> Observed {
    let mut old = settled(unchanged);
    let new = settled(v2);
    let mut template = new.templates[0].clone();
    template.id = "lt-2".into();
    let mut version = new.versions[0].clone();
    version.template_id = "lt-2".into();
    let group = group_of(&mut old);
    group.launch = Launch::Template(TemplateUse {
        id: "lt-2".into(),
        name: template.name.clone(),
        version: "$Latest".into(),
    });
    group.tags.insert(records::ROLL.into(), new.group.unwrap().tags[records::ROLL].clone());
    old.templates.push(template);
    old.templates.sort_by(|a, b| a.name.cmp(&b.name));
    old.versions.push(version);
    old
}

#[test]
fn a_new_pool_is_made_in_order() {
    let plan = plan_for(native, &testing::nothing());
    let all = [
        Address::Object,
        Address::Template,
        Address::Group,
        Address::Policy,
        Address::VersionRoll,
        Address::InheritedZones,
    ];
    assert_eq!(actions(&plan), all.map(|address| (address, Action::Create)));
    assert_eq!(plan.stages.len(), 3);
    assert!(matches!(
        writes(&plan)[..],
        [
            Write::PutObject { .. },
            Write::CreateTemplate { .. },
            Write::CreateGroup(_),
            Write::SuspendProcess { .. },
            Write::PutPolicy { .. },
        ]
    ));
    assert_eq!(plan.counts().add, 6);
}

#[test]
fn what_was_applied_needs_no_change_whatever_the_order_of_answers() {
    for edit in [unchanged as Edit, v2, native] {
        let mut observed = settled(edit);
        assert!(plan_for(edit, &observed).is_empty(), "{:?}", plan_for(edit, &observed).changes);
        assert!(plan_for(edit, &observed).stages.is_empty());
        observed.instances.reverse();
        for interface in observed.versions[0].data.interfaces.values_mut() {
            interface.security_groups.reverse();
        }
        assert!(plan_for(edit, &observed).is_empty());
    }
}

#[test]
fn a_rotation_is_one_write() {
    let plan =
        plan_for(|r| r.bootstrap_data = Payload::new(b"#cloud-config\nnew".to_vec()), &settled(unchanged));
    assert_eq!(actions(&plan), [(Address::Object, Action::Update)]);
    assert!(matches!(writes(&plan)[..], [Write::PutObject { .. }]));
    assert_eq!(plan.changes[0].fields.len(), 1);
}

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
fn a_data_change_is_one_version_that_becomes_the_default() {
    let edits: [Edit; 8] = [
        |r| r.node_labels = testing::tags(&[("team", "platform")]),
        |r| r.instance_type = "m6i.xlarge".into(),
        |r| r.root_volume_size_gib = 50,
        |r| r.additional_security_group_ids = vec!["sg-0f".parse().unwrap()],
        |r| r.public_ip = true,
        |r| r.ssh_key_name = Some("key".into()),
        |r| r.instance_metadata_hop_limit = 2,
        |r| r.root_volume_kms_key_id = Some("arn:aws:kms:us-east-1:1:key/k".into()),
    ];
    for (i, edit) in edits.into_iter().enumerate() {
        let plan = plan_for(edit, &settled(unchanged));
        assert_eq!(actions(&plan), [(Address::Template, Action::Update)], "edit {i}");
        assert!(
            matches!(
                writes(&plan)[..],
                [Write::CreateTemplateVersion { .. }, Write::SetDefaultVersion { version: None, .. },]
            ),
            "edit {i}: {:?}",
            writes(&plan)
        );
        assert!(plan.replaced.is_empty());
    }
    // Spot is also a setting of the group.
    let spot = plan_for(|r| r.spot = true, &settled(unchanged));
    assert_eq!(actions(&spot), [(Address::Template, Action::Update), (Address::Group, Action::Update)]);
}

#[test]
fn a_version_whose_default_was_not_moved_is_finished() {
    let mut observed = settled(unchanged);
    observed.templates[0].latest_version = 2;
    observed.versions[0].number = 2;
    let plan = plan_for(unchanged, &observed);
    assert!(matches!(writes(&plan)[..], [Write::SetDefaultVersion { version: Some(2), .. }]));
}

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
            Write::UpdateGroup(UpdateGroup { template: Some(super::super::resources::TemplateRef::Id(id)), .. }),
            Write::DeleteTemplate { template_id },
        ] if id == "lt-1" && template_id == "lt-2"),
        "no version, no refresh: members run what they should: {:?}",
        writes(&plan)
    );
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
fn with_a_scaler_no_request_carries_a_desired_capacity() {
    let edits: [Edit; 4] = [
        |r| {
            native(r);
            r.replicas = 9;
        },
        |r| r.autoscaling = Autoscaling::On { min: 4, max: 8, by: Autoscaler::Native(60.0) },
        |r| r.autoscaling = Autoscaling::On { min: 0, max: 2, by: Autoscaler::External },
        |r| {
            native(r);
            v2(r);
        },
    ];
    for edit in edits {
        let mut observed = settled(native);
        group_of(&mut observed).desired = 4;
        for write in writes(&plan_for(edit, &observed)) {
            assert!(!matches!(write, Write::UpdateGroup(UpdateGroup { desired: Some(_), .. })), "{write:?}");
        }
    }
}

#[test]
fn turning_external_on_or_scaling_off_deletes_the_policy() {
    let external: Edit = |r| r.autoscaling = Autoscaling::On { min: 1, max: 5, by: Autoscaler::External };
    let plan = plan_for(external, &settled(native));
    assert_eq!(actions(&plan), [(Address::Policy, Action::Delete)]);
    let plan = plan_for(unchanged, &settled(native));
    assert_eq!(actions(&plan), [(Address::Group, Action::Update), (Address::Policy, Action::Delete)]);
    // The bounds are back before the policy goes.
    assert!(matches!(writes(&plan)[..], [Write::UpdateGroup(_), Write::DeletePolicy { .. }]));
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
fn a_zone_removed_lists_whom_it_costs_and_the_clusters_zones_change_nothing() {
    let plan = plan_for(|r| r.failure_domains = vec!["us-east-1a".into()], &settled(unchanged));
    assert_eq!(actions(&plan), [(Address::Group, Action::Update)]);
    let warning = plan.warnings.iter().find(|w| w.summary.contains("removed zones")).unwrap();
    assert!(
        warning.detail.contains("i-1") && warning.detail.contains("i-2") && !warning.detail.contains("i-0")
    );
    let gained: Edit = |r| {
        r.exports.failure_domains.insert("us-east-1d".into(), "subnet-0d".parse().unwrap());
        r.cluster_failure_domains = vec!["us-east-1d".into()];
    };
    assert!(plan_for(gained, &settled(unchanged)).is_empty());
}

#[test]
fn scaling_in_says_that_nothing_is_drained() {
    let plan = plan_for(|r| r.replicas = 1, &settled(unchanged));
    assert!(plan.warnings.iter().any(|w| w.summary.contains("2 members are terminated without drain")));
    let zero = plan_for(|r| r.replicas = 0, &settled(unchanged));
    assert!(matches!(
        writes(&zero)[..],
        [Write::UpdateGroup(UpdateGroup { min: Some(0), max: Some(0), desired: Some(0), .. })]
    ));
}

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

#[test]
fn planning_twice_gives_the_same() {
    for observed in [settled(unchanged), repointed(), testing::nothing()] {
        assert_eq!(plan_for(v2, &observed), plan_for(v2, &observed));
    }
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
