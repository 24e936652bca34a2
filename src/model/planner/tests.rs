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

mod hands;
mod leaving;
mod moves;
mod rolling;
mod tags;
mod zones;

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
            zones: zones.iter().map(ToString::to_string).collect(),
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

fn refresh(id: &str, status: &str) -> Refresh {
    Refresh { id: id.into(), status: status.into(), start: Some(Timestamp(50)), ..Refresh::default() }
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
fn planning_twice_gives_the_same() {
    for observed in [settled(unchanged), repointed(), testing::nothing()] {
        assert_eq!(plan_for(v2, &observed), plan_for(v2, &observed));
    }
}
