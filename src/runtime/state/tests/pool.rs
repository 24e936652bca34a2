//! The entries of a pool's resources, and what is read back from a state.

use super::*;
use crate::{
    contract::payload::Payload,
    model::{
        desired::Desired,
        names::{POLICY, RollKey},
        observed::{Group, GroupTag, Launch, Object, Observed, Policy, Template, TemplateUse},
        plan::Address,
        records, testing,
    },
};

const GENERATED: &str = "captf-team-a-demo-pool-0-43c6d828-20260101120000000000000001";
/// The bootstrap data, and its base64.
const PLANTED: [&str; 2] = ["planted-join-token", "cGxhbnRlZC1qb2luLXRva2Vu"];

fn desired() -> Desired {
    testing::desired(|r| r.bootstrap_data = Payload::new(PLANTED[0].into()))
}

fn key(version: &str) -> RollKey {
    RollKey { kubernetes_version: Some(version.into()), machine_image_id: None }
}

/// AWS with the whole pool in it, its group on the template of this name.
fn world(desired: &Desired, template: &str, recorded: Option<&RollKey>) -> Observed {
    let mut tags = desired.identity.clone();
    let group_tags = tags.iter().map(|(k, v)| (k.clone(), GroupTag { value: v.clone(), propagate: false }));
    let group = Group {
        name: desired.names.group.clone(),
        arn: json_of(&state(MODULE))["resources"][1]["instances"][0]["attributes"]["arn"]
            .as_str()
            .unwrap()
            .into(),
        launch: Launch::Template(TemplateUse {
            id: "lt-0123456789abcdef0".into(),
            name: template.into(),
            version: "$Latest".into(),
        }),
        tags: group_tags.collect(),
        ..Group::default()
    };
    tags.extend(recorded.iter().flat_map(|key| records::key_tags(key)));
    Observed {
        group: Some(group),
        policies: vec![Policy { name: POLICY.into(), ..Policy::default() }],
        object: Object::Present {
            sha256: None,
            content_type: None,
            encryption: None,
            tags: desired.identity.clone(),
        },
        templates: vec![Template {
            id: "lt-0123456789abcdef0".into(),
            name: template.into(),
            tags,
            ..Template::default()
        }],
        ..testing::nothing()
    }
}

fn record_zones(observed: &mut Observed, zones: &str) {
    let tag = GroupTag { value: zones.into(), propagate: false };
    observed.group.as_mut().unwrap().tags.insert(records::ZONES.into(), tag);
}

#[test]
fn a_pool_that_is_being_taken_over_is_recorded_nowhere_else() {
    let desired = desired();
    let taken = world(&desired, GENERATED, None);
    assert!(!Live::is_recorded(&desired, &taken));
    let mut zoned = taken.clone();
    record_zones(&mut zoned, "us-east-1a");
    assert!(Live::is_recorded(&desired, &zoned));
    assert!(Live::is_recorded(&desired, &world(&desired, GENERATED, Some(&key("v1.34.1")))));
    assert!(Live::is_recorded(&desired, &Observed { group: None, ..taken }), "nothing is to be taken over");
}

/// The state after an apply that leaves `live`.
fn after(live: &Live, previous: Option<&State>) -> State {
    let mut ids = 0;
    let now = resources(live, previous, || {
        ids += 1;
        format!("00000000-0000-4000-8000-00000000000{ids}")
    });
    let recorded = Recorded {
        outputs: previous.map(State::outputs).unwrap_or_default(),
        resources: ResourcesChange::Now(now),
    };
    next(previous, &recorded, || "l".into()).unwrap()
}

fn entry(state: &State, kind: &str) -> Value {
    let json = json_of(state);
    let found = json["resources"]
        .as_array()
        .unwrap()
        .iter()
        .find(|r| r["mode"] == "managed" && (r["type"] == kind || r["name"] == kind));
    found.unwrap_or_else(|| panic!("no {kind}")).clone()
}

/// Everything that forces a new resource in the provider 6.67, and what identifies it.
const FORCES_NEW: [(&str, &[&str]); 6] = [
    ("aws_s3_object", &["id", "bucket", "key", "region"]),
    ("aws_launch_template", &["id", "name", "name_prefix", "region"]),
    ("aws_autoscaling_group", &["id", "arn", "name", "name_prefix", "initial_lifecycle_hook", "region"]),
    ("aws_autoscaling_policy", &["id", "name", "autoscaling_group_name", "region"]),
    ("kubernetes_version_roll", &["id", "input", "output", "triggers_replace"]),
    ("inherited_zones", &["id", "input", "output", "triggers_replace"]),
];

#[test]
fn a_pool_handed_back_has_all_that_would_force_a_new_resource() {
    let module = state(MODULE);
    let desired = desired();
    // The module's own template, whose key the state knows and the tags do not hold yet.
    let live = Live::of(&desired, &world(&desired, GENERATED, None), "us-east-1", &facts(&module));
    let ours = after(&live, Some(&module));
    for (kind, attributes) in FORCES_NEW {
        let (ours, modules) = (entry(&ours, kind), entry(&module, kind));
        for member in ["module", "mode", "type", "name", "provider"] {
            assert_eq!(ours[member], modules[member], "{kind} {member}");
        }
        let (ours, modules) = (&ours["instances"][0], &modules["instances"][0]);
        for member in ["index_key", "schema_version", "create_before_destroy"] {
            assert_eq!(ours[member], modules[member], "{kind} {member}");
        }
        for attribute in attributes {
            let (ours, modules) = (&ours["attributes"][attribute], &modules["attributes"][attribute]);
            assert_eq!(ours, modules, "{kind} {attribute}");
        }
        assert!(ours["private"].is_null() && ours["sensitive_attributes"] == json!([]));
    }
    // Ours has the same prefix, which is what the module asks for.
    let named = desired.names.template(&key("v1.33.0"));
    let live = Live::of(&desired, &world(&desired, &named, None), "us-east-1", &facts(&module));
    let attributes =
        entry(&after(&live, Some(&module)), "aws_launch_template")["instances"][0]["attributes"].clone();
    assert_eq!(attributes["name_prefix"], "captf-team-a-demo-pool-0-43c6d828-");
    assert_eq!(attributes["name"], named.as_str());
}

#[test]
fn a_pool_of_our_own_is_recorded_as_terraform_would() {
    let desired = desired();
    let mut observed = world(&desired, &desired.template.name, Some(&desired.key));
    record_zones(&mut observed, "us-east-1a/us-east-1c");
    let live = Live::of(&desired, &observed, "us-east-1", &Facts::default());
    let state = after(&live, None);
    assert_eq!(state.addresses(), state_list_of_all());
    assert_eq!(
        entry(&state, "kubernetes_version_roll"),
        json!({
            "module": "module.role", "mode": "managed", "type": "terraform_data", "name": "kubernetes_version_roll",
            "provider": "provider[\"terraform.io/builtin/terraform\"]",
            "instances": [{
                "schema_version": 0,
                "attributes": {
                    "id": "00000000-0000-4000-8000-000000000002", "input": null, "output": null,
                    "triggers_replace": {
                        "value": {"kubernetes_version": "v1.34.1", "machine_image_id": null},
                        "type": ["object", {"kubernetes_version": "string", "machine_image_id": "string"}],
                    },
                },
                "sensitive_attributes": [],
                "create_before_destroy": true,
            }],
        })
    );
    let zones = json!({"value": ["us-east-1a", "us-east-1c"], "type": ["list", "string"]});
    let record = entry(&state, "inherited_zones")["instances"][0]["attributes"].clone();
    assert_eq!((&record["input"], &record["output"]), (&zones, &zones));
    let group = entry(&state, "aws_autoscaling_group");
    assert_eq!(group["provider"], "provider[\"registry.terraform.io/hashicorp/aws\"]");
    let needed = group["instances"][0]["dependencies"].as_array().unwrap();
    assert!(needed.contains(&json!("module.role.aws_launch_template.pool_launch_template")));
    // What is written is read again.
    let read = facts(&state);
    assert_eq!(read.zones.unwrap(), ["us-east-1a", "us-east-1c"]);
    assert_eq!(read.key.unwrap(), desired.key);
    assert_eq!(read.region.unwrap().as_str(), "us-east-1");
    assert_eq!(read.bucket.unwrap().as_str(), "demo-bootstrap");
}

fn state_list_of_all() -> Vec<&'static str> {
    use Address::{Group, InheritedZones, Object, Policy, Template, VersionRoll};
    [Group, Policy, Template, Object, InheritedZones, VersionRoll].map(Address::as_str).to_vec()
}

#[test]
fn only_what_exists_and_is_ours_is_recorded() {
    use Address::{Group, InheritedZones, Object as TheObject, Template, VersionRoll};

    let desired = desired();
    let listed = |edit: &dyn Fn(&mut Observed)| {
        let mut observed = world(&desired, &desired.template.name, Some(&desired.key));
        record_zones(&mut observed, "us-east-1a");
        edit(&mut observed);
        let live = Live::of(&desired, &observed, "us-east-1", &Facts::default());
        let now = resources(&live, None, || "id".into());
        now.iter().map(ResourceNow::address).collect::<Vec<_>>()
    };
    assert_eq!(listed(&|_| {}).len(), 6);
    assert_eq!(listed(&|o| o.policies.clear()).len(), 5);
    assert_eq!(
        listed(&|o| o.policies[0].name = "mine".into()),
        [Group, Template, TheObject, InheritedZones, VersionRoll]
    );
    assert_eq!(
        listed(&|o| o.group.as_mut().unwrap().deleting = true),
        [Template, TheObject, VersionRoll],
        "a policy goes with its group, and the zones were the group's"
    );
    assert!(listed(&|o| *o = testing::nothing()).is_empty());
    let stranger = |o: &mut Observed| {
        let other = GroupTag { value: "prod".into(), propagate: false };
        o.group.as_mut().unwrap().tags.insert("captf.io/cluster".into(), other);
        o.templates[0].tags.insert("captf.io/cluster".into(), "prod".into());
        o.object = Object::Present {
            sha256: None,
            content_type: None,
            encryption: None,
            tags: testing::tags(&[("captf.io/cluster", "prod")]),
        };
    };
    assert!(listed(&stranger).is_empty());
}

#[test]
fn the_record_follows_the_template_that_the_group_is_on() {
    let desired = desired();
    let known = |version: &str| Facts { key: Some(key(version)), ..Facts::default() };
    let recorded = |template: &str, tags: Option<&RollKey>, known: &Facts| {
        Live::of(&desired, &world(&desired, template, tags), "us-east-1", known).key.unwrap()
    };
    let old = desired.names.template(&key("v1.33.0"));
    // An apply that died before it pointed the group at the new template.
    assert_eq!(recorded(&old, Some(&key("v1.33.0")), &Facts::default()), key("v1.33.0"));
    // The name says more than tags edited by hand.
    assert_eq!(recorded(&desired.template.name, Some(&key("v1.2.3")), &Facts::default()), desired.key);
    // A template of the module's before its tags hold the key, and after.
    assert_eq!(recorded(GENERATED, None, &known("v1.33.0")), key("v1.33.0"));
    assert_eq!(recorded(GENERATED, None, &Facts::default()), desired.key);
    assert_eq!(recorded(GENERATED, Some(&key("v1.32.0")), &known("v1.33.0")), key("v1.32.0"));
    // A version that tags hold as a digest.
    let odd = key("v1.33.0~odd");
    let facts = Facts { key: Some(odd.clone()), ..Facts::default() };
    assert_eq!(recorded(GENERATED, Some(&odd), &facts), odd);
    let empty = RollKey::default();
    assert_eq!(recorded(GENERATED, Some(&empty), &Facts::default()), empty);
}

#[test]
fn ids_of_records_stay_until_a_roll() {
    let module = state(MODULE);
    let desired = desired();
    let id = |state: &State, name: &str| entry(state, name)["instances"][0]["attributes"]["id"].clone();
    let live = Live::of(&desired, &world(&desired, GENERATED, None), "us-east-1", &facts(&module));
    let same = after(&live, Some(&module));
    assert_eq!(id(&same, "kubernetes_version_roll"), id(&module, "kubernetes_version_roll"));
    let rolled = Live { key: Some(desired.key.clone()), ..live };
    let rolled_state = after(&rolled, Some(&same));
    assert_ne!(id(&rolled_state, "kubernetes_version_roll"), id(&module, "kubernetes_version_roll"));
    assert_eq!(id(&rolled_state, "inherited_zones"), id(&module, "inherited_zones"));
    // The same again is no news.
    let now = resources(&rolled, Some(&rolled_state), || panic!("no new id"));
    let recorded = Recorded { outputs: rolled_state.outputs(), resources: ResourcesChange::Now(now) };
    assert!(next(Some(&rolled_state), &recorded, no_lineage).is_none());
}

#[test]
fn providers_are_called_what_the_state_found_calls_them() {
    let desired = desired();
    let live = Live::of(&desired, &world(&desired, GENERATED, None), "us-east-1", &Facts::default());
    let text = String::from_utf8(read(MODULE)).unwrap();
    let tofu = text.replace("registry.terraform.io", "registry.opentofu.org");
    let inner = text.replace("\"provider[\\\"registry", "\"module.role.provider[\\\"registry");
    let only_data =
        text.replace("\"managed\"", "\"data\"").replace("registry.terraform.io", "registry.opentofu.org");
    for (found, wanted) in [
        (&tofu, "provider[\"registry.opentofu.org/hashicorp/aws\"]"),
        (&inner, "module.role.provider[\"registry.terraform.io/hashicorp/aws\"]"),
        (&only_data, "provider[\"registry.opentofu.org/hashicorp/aws\"]"),
    ] {
        let found = State::parse(found.as_bytes()).unwrap();
        let state = after(&live, Some(&found));
        for kind in ["aws_autoscaling_group", "aws_s3_object"] {
            assert_eq!(entry(&state, kind)["provider"], wanted);
        }
        assert_eq!(
            entry(&state, "kubernetes_version_roll")["provider"],
            "provider[\"terraform.io/builtin/terraform\"]"
        );
    }
    // An earlier provider would refuse the schema of a later one.
    let early =
        State::parse(text.replace("\"schema_version\": 1", "\"schema_version\": 0").as_bytes()).unwrap();
    assert_eq!(
        entry(&after(&live, Some(&early)), "aws_launch_template")["instances"][0]["schema_version"],
        0
    );
}

#[test]
fn bootstrap_data_is_in_no_state_of_ours() {
    let module = state(MODULE);
    assert!(String::from_utf8(module.render()).unwrap().contains(PLANTED[1]), "the module leaves it there");
    assert!(!format!("{module:?}").contains(PLANTED[1]));
    let desired = desired();
    let live = Live::of(&desired, &world(&desired, GENERATED, None), "us-east-1", &facts(&module));
    for previous in [None, Some(&module)] {
        let state = after(&live, previous);
        let text = String::from_utf8(state.render()).unwrap();
        for planted in PLANTED {
            assert!(!text.contains(planted) && !format!("{live:?} {state:?}").contains(planted));
        }
        assert!(!text.contains("content_base64"));
    }
}

#[test]
fn facts_of_a_state_that_the_module_wrote() {
    let found = facts(&state(MODULE));
    assert_eq!(found.zones.unwrap(), ["us-east-1a", "us-east-1b"]);
    assert_eq!(found.key.unwrap(), key("v1.33.0"));
    assert_eq!(found.region.unwrap().as_str(), "us-east-1");
    assert_eq!(found.bucket.unwrap().as_str(), "demo-bootstrap");
    let found = facts(&state(TERRAFORM));
    assert_eq!(found.zones.unwrap(), ["us-east-1a", "us-east-1b"]);
    assert_eq!(found.key.unwrap(), key("v1.34.1"));
    assert_eq!((found.region, found.bucket), (None, None));
}

#[test]
fn facts_are_tolerant_of_what_is_absent_or_odd() {
    let text = String::from_utf8(read(MODULE)).unwrap();
    let of = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        facts(&State::parse(text.replace(from, to).as_bytes()).unwrap())
    };
    // Before its release 6 the provider wrote no region.
    assert_eq!(of("\"region\": \"us-east-1\"", "\"gone\": 1").region.unwrap().as_str(), "us-east-1");
    let region = of("\"region\": \"us-east-1\"", "\"region\": \"us-east-1; rm\"").region;
    assert_eq!(region.unwrap().as_str(), "us-east-1");
    assert_eq!(of("\"bucket\": \"demo-bootstrap\"", "\"bucket\": \"NO/BUCKET\"").bucket, None);
    assert_eq!(of("\"module.role\"", "\"module.other\""), Facts::default());
    assert_eq!(of("\"managed\"", "\"data\""), Facts::default());
    assert_eq!(of("\"triggers_replace\": {", "\"other\": {").key, None);
    assert_eq!(of("\"kubernetes_version\": \"v1.33.0\"", "\"kubernetes_version\": 1").key, None);
    assert_eq!(
        of("\"kubernetes_version\": \"v1.33.0\"", "\"kubernetes_version\": null").key,
        Some(RollKey::default())
    );
    assert_eq!(
        of("\"kubernetes_version\": \"v1.33.0\"", "\"kubernetes_version\": \"\"").key,
        Some(RollKey::default())
    );
    assert!(of("\"input\": {", "\"other\": {").zones.is_some(), "the output says the same");
    // A deposed object waits for its deletion: it says nothing of the pool.
    assert_eq!(
        of(
            "\"schema_version\": 0,\n          \"attributes\": {\n            \"id\"",
            "\"deposed\": \"0a1b2c3d\",\n          \"attributes\": {\n            \"id\""
        )
        .key,
        None
    );
}
