#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::{
    contract::request::Request,
    model::{
        observed::{
            Group, GroupMember, GroupTag, Launch, Observed, Refresh, Template, TemplateUse, TemplateVersion,
        },
        planner, testing,
    },
};

const SECRET: &str = "I2Nsb3VkLWNvbmZpZwo=";

/// Where plans of these tests are made.
pub(crate) fn origin() -> Origin {
    Origin {
        has_root: true,
        secret: Some("a/tfstate-default-b".into()),
        lineage: Some("6f96-19ff".into()),
        sandbox: None,
        region: "us-east-1".into(),
        account: Some("111111111111".into()),
    }
}

fn saved() -> SavedPlan {
    let mut inputs = Inputs::default();
    let text = format!(
        r#"{{"bootstrap_data": "{SECRET}", "n": 1.10, "big": 12345678901234567890, "deep": [{{"a": null}}, true]}}"#
    );
    inputs.add_file("t.json", text.as_bytes()).unwrap();
    SavedPlan {
        purpose: Purpose::Apply,
        origin: origin(),
        inputs,
        sensitive: ["bootstrap_data".to_owned()].into(),
        image: "ami-01".parse().ok(),
        essence: Essence::of(&plan(|_| {}, &testing::nothing())),
        outputs: ["health".to_owned()].into(),
        json: "{}\n".into(),
        text: "No changes.\n".into(),
    }
}

fn plan(edit: impl FnOnce(&mut Request), observed: &Observed) -> Plan {
    planner::plan(&testing::request(edit), observed).unwrap().1
}

/// AWS as an apply of the demo pool, changed by `edit`, leaves it.
pub(crate) fn applied(edit: impl FnOnce(&mut Request)) -> Observed {
    let desired = testing::desired(edit);
    let template = Template {
        id: "lt-1".into(),
        name: desired.template.name.clone(),
        default_version: 1,
        latest_version: 1,
        tags: desired.template.tags.clone(),
        ..Template::default()
    };
    let used = TemplateUse { id: "lt-1".into(), name: template.name.clone(), version: "$Latest".into() };
    let mut tags: std::collections::BTreeMap<String, GroupTag> = desired
        .group
        .tags
        .iter()
        .map(|(key, value)| (key.clone(), GroupTag { value: value.clone(), propagate: false }))
        .collect();
    let mark = RollMark { hash: desired.key.hash(), newest: None }.to_string();
    tags.insert(records::ROLL.into(), GroupTag { value: mark, propagate: false });
    let members = (0..3)
        .map(|i| GroupMember {
            id: format!("i-{i}"),
            zone: "us-east-1a".into(),
            lifecycle: "InService".into(),
            template: Some(TemplateUse { version: "1".into(), ..used.clone() }),
            ..GroupMember::default()
        })
        .collect();
    let group = Group {
        name: desired.names.group.clone(),
        min: desired.group.min,
        max: desired.group.max,
        desired: desired.group.initial,
        launch: Launch::Template(used),
        subnets: desired.group.subnets.iter().cloned().collect(),
        health_check_type: "EC2".into(),
        suspended: ["AZRebalance".to_owned()].into(),
        tags,
        members,
        ..Group::default()
    };
    let version = TemplateVersion {
        template_id: "lt-1".into(),
        number: 1,
        is_default: true,
        data: desired.template.data.clone(),
        ..TemplateVersion::default()
    };
    let object = crate::model::observed::Object::Present {
        sha256: Some(desired.object.sha256.clone()),
        content_type: Some("application/octet-stream".into()),
        encryption: Some("AES256".into()),
        tags: desired.object.tags.clone(),
    };
    Observed {
        group: Some(group),
        templates: vec![template],
        versions: vec![version],
        object,
        ..testing::nothing()
    }
}

fn group(observed: &mut Observed) -> &mut Group {
    observed.group.as_mut().unwrap()
}

/// Whether the plan made from `before` is stale when AWS is as in `now`.
fn is_stale(edit: impl Fn(&mut Request), before: &Observed, now: &Observed) -> bool {
    let essence = |observed: &Observed| Essence::of(&plan(&edit, observed));
    stale(&essence(before), &essence(now)).is_some()
}

fn newer(request: &mut Request) {
    request.kubernetes_version = Some("v1.35.0".into());
}

#[test]
fn it_comes_back_as_it_was_and_only_its_owner_reads_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("apply.tfplan");
    let plan = saved();
    plan.write(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let read = SavedPlan::read(&path).unwrap();
    assert!(read.purpose == plan.purpose && read.image == plan.image && read.essence == plan.essence);
    assert!(read.origin == plan.origin && read.sensitive == plan.sensitive && read.outputs == plan.outputs);
    assert!((read.json, read.text) == (plan.json.clone(), plan.text.clone()));
    for (name, input) in plan.inputs.iter() {
        assert!(read.inputs.get(name).unwrap().value == input.value, "{name}");
        assert_eq!(read.inputs.get(name).unwrap().origin, "t.json");
    }
    assert_eq!(plan.to_bytes().unwrap(), plan.to_bytes().unwrap());
}

#[test]
fn what_is_no_plan_of_ours_is_refused_and_not_repeated() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("p");
    let whole = saved().to_bytes().unwrap();
    let refuse = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let error = SavedPlan::read(&path).err().unwrap();
        assert!(
            error.summary.starts_with("Failed to load \"") && error.summary.ends_with("\" as a plan file")
        );
        assert!(!error.to_string().contains(SECRET) && !error.to_string().contains("I2Ns"), "{error}");
        error.detail
    };
    for length in [30, whole.len() / 2, whole.len() - 1] {
        assert!(refuse(&whole[..length]).contains("cut off"), "{length}");
    }
    let text = String::from_utf8(whole.clone()).unwrap();
    assert!(refuse(text.replacen(":4,", ":5,", 1).as_bytes()).contains("version 5 of the format"));
    // Whether it was a sandbox, not which: found after an upgrade.
    let former = text.replacen(":4,", ":3,", 1).replacen("\"sandbox\":null", "\"sandbox\":false", 1);
    assert!(former.contains("\"sandbox\":false"), "the origin is written another way");
    let told = refuse(former.as_bytes());
    assert!(told.contains("version 3 of the format") && told.contains("plan again"), "{told}");
    assert!(
        refuse(text.replacen("\"inputs\":{", "\"inputs\":[{}],\"x\":{", 1).as_bytes()).contains("damaged")
    );
    assert!(refuse(text.replacen('{', "{\"x\":{\"k\":1,\"k\":2},", 1).as_bytes()).contains("no plan"));
    assert!(refuse(text.replacen(":4,", ":4,\"x\":{\"k\":1,\"k\":2},", 1).as_bytes()).contains("damaged"));
    assert!(refuse(text.replacen("ami-01", "ami-0x", 1).as_bytes()).contains("damaged"));
    let archive = |name: &[u8]| {
        let length = [u8::try_from(name.len()).unwrap(), 0];
        [&b"PK\x03\x04"[..], &[0; 22], &length, &[9, 0], name, b"UT..."].concat()
    };
    assert!(refuse(&archive(b"tfplan")).contains("Terraform"));
    for other in [b"tfplan2".as_slice(), b"tfpla", b"xl/workbook.xml", b""] {
        assert!(refuse(&archive(other)).contains("no plan"), "{other:?}");
    }
    assert!(refuse(b"PK\x03\x04\x00").contains("no plan"));
    for other in [&b""[..], b"{}", b"[]", b"{\"version\": 4}", b"\xff\xfe", b"null"] {
        assert!(refuse(other).contains("no plan"), "{other:?}");
    }
    assert!(
        SavedPlan::read(&directory.path().join("missing")).err().unwrap().detail.contains("no such file")
    );
}

#[test]
fn an_input_in_the_place_of_a_file_loses_its_value() {
    let error = SavedPlan::read(Path::new(&format!("bootstrap_data={SECRET}"))).err().unwrap();
    assert_eq!(error.summary, "Failed to load \"bootstrap_data\" as a plan file");
    assert!(SavedPlan::read(Path::new("a=b.tfplan")).err().unwrap().summary.contains("\"a=b.tfplan\""));
}

#[test]
fn inputs_of_several_files_come_back() {
    let mut plan = saved();
    for name in ["a", "b"] {
        let text = format!("{{\"{name}\": \"{}\"}}", "x".repeat(MAX_BYTES / 2 + 100));
        plan.inputs.add_file("t.json", text.as_bytes()).unwrap();
    }
    assert!(SavedPlan::from_bytes(&plan.to_bytes().unwrap()).is_ok());
}

#[test]
fn outputs_that_are_recorded_by_now_are_no_reason_to_apply() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(stale_outputs(&names(&[]), &names(&[])), None, "it was going to do nothing");
    assert_eq!(stale_outputs(&names(&["a", "b"]), &names(&["b", "c"])), None);
    for left in [&[][..], &["c"]] {
        let error = stale_outputs(&names(&["a", "b"]), &names(left)).unwrap();
        assert_eq!(error.summary, "Saved plan is stale");
        assert!(error.detail.contains("(a, b)"), "{error}");
    }
}

#[test]
fn applying_twice_and_other_changes_are_refused() {
    assert!(is_stale(|_| {}, &testing::nothing(), &applied(|_| {})), "a creation, twice");
    assert!(is_stale(newer, &applied(|_| {}), &applied(newer)), "a roll, twice");
    let rotate = |r: &mut Request| r.bootstrap_data = crate::contract::payload::Payload::new(b"new".to_vec());
    assert!(is_stale(rotate, &applied(|_| {}), &applied(rotate)), "a rotation, twice");
    let mut edited = applied(|_| {});
    group(&mut edited).capacity_rebalance = true;
    assert!(is_stale(|_| {}, &applied(|_| {}), &edited), "somebody edited the group");
    let mut untagged = applied(|_| {});
    group(&mut untagged).tags.remove("captf.io/managed-by");
    assert!(is_stale(newer, &applied(|_| {}), &untagged));
    let error = stale(
        &Essence::of(&plan(|_| {}, &testing::nothing())),
        &Essence::of(&plan(|_| {}, &applied(|_| {}))),
    )
    .unwrap();
    assert_eq!(error.summary, "Saved plan is stale");
    assert!(error.detail.contains(Address::Object.as_str()), "{error}");
}

#[test]
fn what_moves_by_itself_does_not_matter() {
    let before = applied(|_| {});
    assert!(!is_stale(newer, &before, &before));
    assert!(!is_stale(|_| {}, &before, &before), "a plan without changes");

    let mut moved = before.clone();
    group(&mut moved).members.pop();
    group(&mut moved).members[0].lifecycle = "Pending".into();
    assert!(!is_stale(newer, &before, &moved), "members came and went");
    group(&mut moved).members.clear();
    assert!(!is_stale(newer, &before, &moved) && !is_stale(newer, &moved, &before), "the pool was empty");

    let mut refreshing = before.clone();
    refreshing.refreshes =
        vec![Refresh { id: "r-2".into(), status: "InProgress".into(), ..Refresh::default() }];
    assert!(!is_stale(newer, &before, &refreshing), "a refresh was started");
    let mut ended = refreshing.clone();
    ended.refreshes[0].status = "Successful".into();
    assert!(!is_stale(newer, &refreshing, &ended), "a refresh went on");

    let mut leftover = before.clone();
    leftover.templates.push(Template {
        id: "lt-0".into(),
        name: "captf-team-a-demo-pool-0-43c6d828-old".into(),
        ..before.templates[0].clone()
    });
    assert!(!is_stale(newer, &leftover, &before), "a leftover template was deleted");
}

#[test]
fn a_capacity_that_a_scaler_moved_does_not_matter() {
    use crate::contract::request::{Autoscaler, Autoscaling};
    let on = |r: &mut Request| r.autoscaling = Autoscaling::On { min: 1, max: 9, by: Autoscaler::External };
    let mut scaled = applied(on);
    group(&mut scaled).desired = 5;
    for desired in [3, 4, 7] {
        let mut moved = scaled.clone();
        group(&mut moved).desired = desired;
        assert!(!is_stale(|_| {}, &scaled, &moved), "autoscaling is switched off at {desired}");
        assert!(
            !is_stale(
                |r| {
                    on(r);
                    newer(r);
                },
                &scaled,
                &moved
            ),
            "a roll at {desired}"
        );
    }
}

#[test]
fn a_roll_that_is_started_again_is_a_plan_of_its_own() {
    // A crash came between pointing the group at the template and starting the refresh.
    let mut due = applied(|_| {});
    for member in &mut group(&mut due).members {
        member.template = Some(TemplateUse { name: "older".into(), ..TemplateUse::default() });
    }
    let mut begun = due.clone();
    begun.refreshes = vec![Refresh { id: "r".into(), status: "InProgress".into(), ..Refresh::default() }];
    assert!(!is_stale(|_| {}, &due, &due));
    assert!(is_stale(|_| {}, &due, &begun), "it is under way already");
    assert!(is_stale(|_| {}, &begun, &due), "nobody approved that instances are replaced");
}

#[test]
fn a_destroy_holds_while_something_is_left_of_the_same() {
    let deletion = |name: &str, addresses: &[Address]| Plan {
        changes: addresses
            .iter()
            .map(|address| Change {
                address: *address,
                name: name.into(),
                action: Action::Delete,
                fields: Vec::new(),
                reason: None,
            })
            .collect(),
        ..Plan::default()
    };
    let all = Essence::of(&deletion("a, b", &[Address::Template, Address::Group]));
    assert!(stale(&all, &Essence::of(&deletion("b", &[Address::Template, Address::Group]))).is_none());
    assert!(stale(&all, &Essence::of(&deletion("b", &[Address::Template]))).is_some());
    assert!(stale(&all, &Essence::of(&Plan::default())).is_some());
}

/// The fuzz target sees little of what follows, if nothing it begins with is a plan of this format.
#[test]
fn the_fuzzers_first_plans_are_plans() {
    let seeds = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/planfile");
    let mut read = 0;
    for seed in std::fs::read_dir(seeds).unwrap() {
        let path = seed.unwrap().path();
        let plan = SavedPlan::from_bytes(&std::fs::read(&path).unwrap());
        read += usize::from(plan.is_ok_and(|plan| Request::parse(&plan.inputs).is_ok()));
    }
    assert!(read >= 3, "{read} are read: make them again, as tests/README.md says");
}
