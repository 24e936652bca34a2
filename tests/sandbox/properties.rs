//! What holds for any two sets of inputs.

use std::{collections::BTreeMap, time::Duration};

use machinepool::{
    contract::request::{Autoscaling, Request},
    model::resources::Write,
};
use proptest::{collection::btree_map, prelude::*, sample::subsequence, test_runner::RngSeed};
use serde_json::{Value, json};

use super::{
    lab::{GROUP, Lab, patched},
    shape::{Members, Settings, assert_same, strangers},
    text,
};

fn config(cases: u32) -> ProptestConfig {
    // The same cases on every machine; PROPTEST_RNG_SEED and PROPTEST_CASES look elsewhere.
    let given = ProptestConfig::default();
    let rng_seed = match given.rng_seed {
        RngSeed::Random => RngSeed::Fixed(1),
        chosen @ RngSeed::Fixed(_) => chosen,
    };
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { given.cases } else { cases };
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..given }
}

fn one_of(values: &[Value]) -> impl Strategy<Value = Value> + use<> {
    prop::sample::select(values.to_vec())
}

fn some_of(values: &[&'static str]) -> impl Strategy<Value = Vec<&'static str>> + use<> {
    let count = values.len();
    subsequence(values.to_vec(), 0..=count).prop_shuffle()
}

/// What the controller sends.
fn controller() -> impl Strategy<Value = Value> {
    let version =
        one_of(&[json!("v1.34.1"), json!("v1.35.0"), json!("v1.34.1+rke2r1"), json!("v1.34.1~odd")]);
    let format = one_of(&[json!("cloud-config"), json!("cloud-config"), json!("ignition")]);
    let scaling = (any::<bool>(), 0..4u32, 0..4u32)
        .prop_map(|(enabled, min, more)| json!({"enabled": enabled, "min": min, "max": min + more}));
    (
        version,
        format,
        scaling,
        0..5u32,
        one_of(&[json!("YQ=="), json!("Yg=="), json!("AAECAw==")]),
        some_of(&["us-east-1a", "us-east-1b", "us-east-1c"]),
        btree_map("(example\\.com/)?[a-c]", "[A-Za-z0-9]{0,3}", 0..3),
        one_of(&[json!(""), json!("workers"), json!("others")]),
    )
        .prop_map(|(version, format, autoscaling, replicas, data, zones, labels, template)| {
            let labels = if format == "ignition" { BTreeMap::new() } else { labels };
            let mut labels = json!(labels);
            // The shared inputs have this one, and patches are merged.
            labels["tier"] = Value::Null;
            json!({
                "kubernetes_version": version,
                "bootstrap_format": format,
                "autoscaling": autoscaling,
                "replicas": replicas,
                "bootstrap_data": data,
                "failure_domains": zones,
                "node_labels": labels,
                "captf_tags": {"captf.io/template": template},
            })
        })
}

/// What users set.
fn variables() -> impl Strategy<Value = Value> {
    let tags = btree_map("(Name|team|cost centre|Größe|a:b/c)", "[a-z +@é]{0,4}", 0..4);
    let machine = (
        one_of(&[json!("m6i.large"), json!("c7i.xlarge")]),
        some_of(&["sg-01", "sg-02", "sg-03"]),
        one_of(&[json!(null), json!(""), json!("ops"), json!("dev")]),
        one_of(&[json!(1), json!("2"), json!(64)]),
        any::<bool>(),
        any::<bool>(),
    );
    let volume = (
        one_of(&[json!(40), json!("80"), json!(16384)]),
        one_of(&[json!("gp3"), json!("gp2")]),
        one_of(&[
            json!(null),
            json!("arn:aws:kms:us-east-1:210987654321:key/1234abcd-12ab-34cd-56ef-1234567890ab"),
        ]),
        one_of(&[json!("/dev/sda1"), json!("/dev/xvda")]),
    );
    let scaler =
        (one_of(&[json!("native"), json!("external")]), one_of(&[json!(60), json!("0.5"), json!(72.25)]));
    (
        tags,
        machine,
        volume,
        scaler,
        one_of(&[json!(null), json!("ami-135001"), json!("ami-136001")]),
        0..600u32,
    )
        .prop_map(|(tags, machine, volume, scaler, image, warmup)| {
            json!({
                "additional_tags": tags,
                "instance_type": machine.0,
                "additional_security_group_ids": machine.1,
                "ssh_key_name": machine.2,
                "instance_metadata_hop_limit": machine.3,
                "public_ip": machine.4,
                "spot": machine.5,
                "root_volume_size_gib": volume.0,
                "root_volume_type": volume.1,
                "root_volume_kms_key_id": volume.2,
                "machine_image": {"root_device_name": volume.3, "id": image},
                "autoscaler": scaler.0,
                "autoscaling_target_cpu_percent": scaler.1,
                "rollout_instance_warmup_seconds": warmup,
            })
        })
}

/// What the cluster exports.
fn cluster() -> impl Strategy<Value = Value> {
    let profile = one_of(&[json!("demo-worker"), json!("demo-worker-2")]);
    let fourth = one_of(&[json!(null), json!({"subnet_id": "subnet-0d"})]);
    let id = one_of(&[json!("demo"), json!("demo-2")]);
    (profile, fourth, id, some_of(&["us-east-1a", "us-east-1b", "us-east-1c"])).prop_map(
        |(profile, fourth, id, zones)| {
            json!({
                "captf_cluster_outputs": {
                    "instance_profiles": {"worker": profile},
                    "failure_domains": {"us-east-1d": fourth},
                    "kubernetes_cluster_id": id,
                },
                "cluster_failure_domains": zones,
            })
        },
    )
}

fn any_request() -> impl Strategy<Value = Request> {
    (controller(), variables(), cluster()).prop_map(|(controller, variables, cluster)| {
        let mut all = controller;
        for more in [variables, cluster] {
            super::lab::merge(&mut all, &more);
        }
        // No image is named so; a pinned one is needed.
        if all["kubernetes_version"] == "v1.34.1~odd" && all["machine_image"]["id"].is_null() {
            all["machine_image"]["id"] = json!("ami-134101");
        }
        patched(all)
    })
}

fn scaled(request: &Request) -> bool {
    request.autoscaling != Autoscaling::Off
}

/// Applies, and holds what must hold of the writes and of the plan afterwards.
fn apply(lab: &Lab, request: &Request) {
    lab.cloud.clear();
    let planned = lab.plan(request).unwrap();
    assert_eq!(planned, lab.plan(request).unwrap(), "planning twice");
    lab.apply_planned(request, &planned).unwrap();
    let writes = lab.cloud.writes();
    check_order(&writes);
    if scaled(request) {
        let sets_capacity =
            |write: &Write| matches!(write, Write::UpdateGroup(update) if update.desired.is_some());
        assert!(!writes.iter().any(sets_capacity), "{writes:?}");
    }
    let after = lab.plan(request).unwrap().plan;
    assert!(after.is_empty(), "apply leaves changes:\n{}", text::plan(&after));
}

/// What comes before what.
fn check_order(writes: &[Write]) {
    let rank = |write: &Write| -> Option<i32> {
        Some(match write {
            Write::UntagGroup { .. } | Write::UntagTemplate { .. } | Write::CancelRefresh { .. } => 0,
            Write::PutObject { .. }
            | Write::CreateTemplate { .. }
            | Write::CreateTemplateVersion { .. }
            | Write::SetDefaultVersion { .. }
            | Write::TagTemplate { .. } => 1,
            Write::CreateGroup(_) | Write::UpdateGroup(_) => 2,
            Write::SuspendProcess { .. } | Write::PutPolicy { .. } | Write::DeletePolicy { .. } => 3,
            Write::StartRefresh { .. } => 4,
            Write::DeleteTemplate { .. } | Write::DeleteTemplateVersions { .. } => 5,
            // Tags of the group are set before (the mark) and after it is pointed elsewhere.
            Write::TagGroup { .. } => return None,
            other => panic!("an apply never needs {other:?}"),
        })
    };
    let ranks: Vec<i32> = writes.iter().filter_map(rank).collect();
    assert!(ranks.is_sorted(), "{ranks:?} of {writes:#?}");
    let position = |wanted: &dyn Fn(&Write) -> bool| writes.iter().position(wanted);
    let marked = position(
        &|write| matches!(write, Write::TagGroup { tags, .. } if tags.contains_key("machinepool.captf.io/roll")),
    );
    let pointed = position(&|write| matches!(write, Write::UpdateGroup(update) if update.template.is_some()));
    assert!(pointed.is_none() || marked < pointed, "the mark comes first: {writes:#?}");
    assert!(pointed.is_none() || marked.is_some(), "the mark comes first: {writes:#?}");
}

/// Applies until all is quiet, and holds that everybody runs the right template then.
fn settle(lab: &Lab, request: &Request) {
    lab.settle(request, "the pool");
    let world = lab.world();
    let group = &world.groups[GROUP];
    let members = Members::of(&world);
    assert_eq!(members.runs.values().sum::<usize>(), group.desired as usize, "{members:?}");
    let template = lab.plan(request).unwrap().desired.template.name;
    assert!(members.runs.keys().all(|(name, _)| *name == template), "{members:?}");
}

fn comparable(lab: &Lab, request: &Request) -> Settings {
    let settings = Settings::of(&lab.world()).without_history();
    if scaled(request) { settings.without_desired() } else { settings }
}

proptest! {
    #![proptest_config(config(40))]

    /// Whatever a pool was, applying makes it what it would be had it been made so; and nothing of other
    /// people is touched on the way, nor left of the pool at the end.
    #[test]
    fn any_two_sets_of_inputs_convert_into_each_other(a in any_request(), b in any_request()) {
        let empty = Lab::new();
        let lab = empty.fork();
        apply(&lab, &a);
        settle(&lab, &a);
        apply(&lab, &b);
        settle(&lab, &b);
        let fresh = empty.fork();
        apply(&fresh, &b);
        settle(&fresh, &b);
        assert_same(&comparable(&fresh, &b), &comparable(&lab, &b), "A, then B, is not B");
        assert_same(&strangers(&empty.world()), &strangers(&lab.world()), "strangers");
        lab.destroy(&b.scope).unwrap();
        assert_same(&Settings::none(), &Settings::of(&lab.world()), "destroyed");
        assert_same(&strangers(&empty.world()), &strangers(&lab.world()), "strangers after destroy");
        lab.cloud.clear();
        prop_assert_eq!(lab.destroy(&b.scope).unwrap().destroy, 0);
        prop_assert!(lab.cloud.writes().is_empty());
    }

    /// Inputs that change again and again, without waiting for anything.
    #[test]
    fn any_haste_ends_at_the_last_inputs(
        steps in prop::collection::vec((any_request(), 0..900u64), 2..5),
    ) {
        let lab = Lab::new();
        let (last, _) = steps.last().unwrap().clone();
        for (request, seconds) in steps {
            apply(&lab, &request);
            lab.wait(Duration::from_secs(seconds));
        }
        settle(&lab, &last);
        let fresh = Lab::new();
        apply(&fresh, &last);
        settle(&fresh, &last);
        assert_same(&comparable(&fresh, &last), &comparable(&lab, &last), "in haste");
    }

    /// A kill at any call between any two sets of inputs.
    #[test]
    fn any_crash_is_healed(a in any_request(), b in any_request(), at in 8..30usize, after in any::<bool>()) {
        let lab = Lab::new();
        apply(&lab, &a);
        lab.wait(Duration::from_mins(4));
        super::chaos::kill(&lab, at, after);
        let _ = lab.apply(&b);
        lab.clear_fault();
        lab.apply(&b).unwrap();
        settle(&lab, &b);
        let fresh = Lab::new();
        apply(&fresh, &b);
        settle(&fresh, &b);
        assert_same(&comparable(&fresh, &b), &comparable(&lab, &b), "after a crash");
    }
}
