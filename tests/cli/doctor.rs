//! `doctor` in the sandbox: the file of the account says what is wrong, and doctor finds it.

use serde_json::{Value, json};

use super::{Bench, Outcome, demo};

fn doctor(bench: &Bench, more: &str) -> Outcome {
    bench.run(&format!("doctor --format json --sandbox account.json -var-file={} {more}", demo().display()))
}

fn report(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.out)
        .unwrap_or_else(|error| panic!("{error}: {}{}", outcome.out, outcome.err))
}

/// Checks that did not pass: id, status, title.
fn odd(report: &Value) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let checks = report["checks"].as_array().unwrap().iter();
    checks
        .filter(|check| check["status"] != "pass")
        .map(|check| (text(&check["id"]), text(&check["status"]), text(&check["title"])))
        .collect()
}

/// A bench whose account is changed by `edit`.
fn edited(edit: impl FnOnce(&mut Value)) -> Bench {
    let bench = Bench::new();
    assert_eq!(doctor(&bench, "").code, 0);
    let text = std::fs::read_to_string(bench.path("account.json")).unwrap();
    let mut account: Value = serde_json::from_str(&text).unwrap();
    edit(&mut account["world"]);
    bench.write("account.json", &account.to_string());
    bench
}

#[test]
fn a_new_account_is_well_and_so_is_one_with_a_pool() {
    let bench = Bench::new();
    let outcome = doctor(&bench, "");
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    let found = report(&outcome);
    assert_eq!(odd(&found), []);
    assert_eq!((&found["healthy"], &found["account"]), (&json!(true), &json!("210987654321")));
    bench.run(&format!("apply -auto-approve --sandbox account.json -var-file={}", demo().display())).ok();
    let before = std::fs::read_to_string(bench.path("account.json")).unwrap();
    let found = report(&doctor(&bench, ""));
    assert_eq!(odd(&found), []);
    assert!(found.to_string().contains("permissions.launch"), "{found:#}");
    let after: Value =
        serde_json::from_str(&std::fs::read_to_string(bench.path("account.json")).unwrap()).unwrap();
    let before: Value = serde_json::from_str(&before).unwrap();
    assert_eq!(after["world"]["templates"], before["world"]["templates"], "what is tried is not done");
}

#[test]
fn text_fits_and_counts_and_quiet_is_short() {
    let bench = edited(|world| {
        world["surroundings"] =
            json!({"missing": ["captf-team-a-demo-worker", "AWSServiceRoleForAutoScaling"]});
    });
    let line = format!("doctor --sandbox account.json -var-file={}", demo().display());
    let all = bench.run(&line);
    assert!(all.out.lines().all(|line| line.chars().count() <= 100), "{}", all.out);
    let quiet = bench.run(&line.replacen("doctor", "doctor --quiet", 1));
    assert!(quiet.out.lines().count() < all.out.lines().count());
    assert_eq!(all.out.lines().last(), quiet.out.lines().last());
    assert!(all.out.lines().last().unwrap().starts_with("Check-up: "), "{}", all.out);
    assert_eq!((all.code, quiet.code), (1, 1));
}

#[test]
fn each_check_can_fail() {
    type Case = (&'static str, &'static str, fn(&mut Value, String), &'static str);
    let subnet = |world: &Value| world["subnets"].as_object().unwrap().keys().next().unwrap().clone();
    let cases: [Case; 15] = [
        ("subnets", "fail", |w, id| w["surroundings"] = json!({"missing": [id]}), ""),
        ("subnets.zones", "fail", |w, id| w["subnets"][id] = "us-east-1f".into(), ""),
        ("vpc", "fail", |w, id| w["surroundings"] = json!({"vpcs": {id: "vpc-02"}}), ""),
        ("subnets.addresses", "warning", |w, id| w["surroundings"] = json!({"free_addresses": {id: 0}}), ""),
        ("quota.vcpus", "fail", |w, _| w["surroundings"] = json!({"quotas": {"L-1216C47A": 1.0}}), ""),
        ("limits.groups", "fail", |w, _| w["surroundings"] = json!({"max_groups": 0}), ""),
        (
            "roles.spot",
            "warning",
            |w, _| w["surroundings"] = json!({"missing": ["AWSServiceRoleForEC2Spot"]}),
            "-var spot=true",
        ),
        ("key_pair", "fail", |w, _| w["surroundings"] = json!({"missing": ["ops"]}), "-var ssh_key_name=ops"),
        (
            "instance_type.zones",
            "fail",
            |w, _| w["surroundings"] = json!({"not_offered": {"c7i.large": ["us-east-1a"]}}),
            "-var instance_type=c7i.large",
        ),
        (
            "image.architecture",
            "fail",
            |w, _| {
                let arm = json!({"architectures": ["arm64"], "vcpus": 2});
                w["surroundings"] = json!({"instance_types": {"c7i.large": arm}});
            },
            "-var instance_type=c7i.large",
        ),
        (
            "image.root_device",
            "warning",
            |_, _| {},
            "-var machine_image={\"root_device_name\":\"/dev/xvda\"}",
        ),
        (
            "kms_key",
            "fail",
            |_, _| {},
            "-var root_volume_kms_key_id=arn:aws:kms:eu-west-1:123456789012:key/1",
        ),
        (
            "permissions.reads",
            "fail",
            |w, _| w["surroundings"] = json!({"denied": ["ec2:DescribeInstances"]}),
            "",
        ),
        (
            "permissions.create_template",
            "fail",
            |w, _| w["surroundings"] = json!({"denied": ["ec2:CreateLaunchTemplate"]}),
            "",
        ),
        (
            "security_groups",
            "skipped",
            |w, _| w["surroundings"] = json!({"denied": ["ec2:DescribeSecurityGroups"]}),
            "",
        ),
    ];
    for (id, status, edit, more) in cases {
        let bench = edited(|world| {
            let id = subnet(world);
            edit(world, id);
        });
        let outcome = doctor(&bench, more);
        let found: Vec<_> =
            odd(&report(&outcome)).into_iter().filter(|(found, ..)| found != "inputs").collect();
        assert_eq!(found.len(), 1, "{id}: {found:?}");
        assert_eq!((found[0].0.as_str(), found[0].1.as_str()), (id, status), "{found:?}");
        assert_eq!(outcome.code, i32::from(status == "fail"), "{id}");
    }
}

#[test]
fn what_inputs_name_and_the_account_does_not_have() {
    let bench = edited(|world| {
        let names: Vec<Value> = ["subnets", "security_groups", "instance_profiles", "buckets"]
            .into_iter()
            .flat_map(|kind| match &world[kind] {
                Value::Object(map) => map.keys().map(|name| name.clone().into()).collect::<Vec<Value>>(),
                list => list.as_array().unwrap().clone(),
            })
            .collect();
        world["surroundings"] = json!({"missing": names});
    });
    let outcome = doctor(&bench, "");
    let found: Vec<String> = odd(&report(&outcome)).into_iter().map(|(id, ..)| id).collect();
    for id in ["subnets", "security_groups", "instance_profile", "bucket"] {
        assert!(found.iter().any(|one| one == id), "{id}: {found:?}");
    }
    assert_eq!(outcome.code, 1);
}

#[test]
fn somebody_elses_group_under_the_name() {
    let bench = Bench::new();
    let pool = format!("--sandbox account.json -var-file={}", demo().display());
    bench.run(&format!("apply -auto-approve {pool}")).ok();
    let path = bench.path("account.json");
    let mut account: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let groups = account["world"]["groups"].as_object_mut().unwrap();
    groups.values_mut().for_each(|group| group["tags"]["captf.io/cluster"]["value"] = "another".into());
    bench.write("account.json", &account.to_string());
    let found = odd(&report(&doctor(&bench, "")));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, "ownership");
}

/// An applied pool whose account is changed by `edit`, and what doctor finds odd in it.
fn applied(edit: impl FnOnce(&mut Value)) -> Vec<(String, String, String)> {
    let bench = Bench::new();
    bench.run(&format!("apply -auto-approve --sandbox account.json -var-file={}", demo().display())).ok();
    let text = std::fs::read_to_string(bench.path("account.json")).unwrap();
    let mut account: Value = serde_json::from_str(&text).unwrap();
    edit(&mut account["world"]);
    bench.write("account.json", &account.to_string());
    odd(&report(&doctor(&bench, "")))
}

#[test]
fn a_launch_is_tried_from_the_template_that_the_group_uses() {
    // One of the pool's that was made later, in which nothing would launch; the group does not use it.
    let another = |world: &mut Value| {
        let templates = world["templates"].as_object_mut().unwrap();
        let mut other = templates.values().next().unwrap().clone();
        other["name"] =
            format!("{}-other", other["name"].as_str().unwrap().rsplit_once('-').unwrap().0).into();
        other["created"] = 4_102_444_800_000_i64.into();
        for version in other["versions"].as_object_mut().unwrap().values_mut() {
            version["data"]["image_id"] = "ami-0dead".into();
        }
        templates.insert("lt-0fffffffffffffff0".into(), other);
    };
    assert_eq!(applied(another), []);
    let broken = |world: &mut Value| {
        for template in world["templates"].as_object_mut().unwrap().values_mut() {
            for version in template["versions"].as_object_mut().unwrap().values_mut() {
                version["data"]["image_id"] = "ami-0dead".into();
            }
        }
    };
    let found = applied(broken);
    assert_eq!((found.len(), found[0].0.as_str(), found[0].1.as_str()), (1, "permissions.launch", "fail"));
}

#[test]
fn a_template_without_a_network_interface_is_tried_with_the_subnet_alone() {
    let without = |world: &mut Value| {
        for template in world["templates"].as_object_mut().unwrap().values_mut() {
            for version in template["versions"].as_object_mut().unwrap().values_mut() {
                version["data"]["interfaces"] = json!({});
            }
        }
    };
    assert_eq!(applied(without), []);
}

#[test]
fn somebody_elses_template_that_an_apply_leaves_alone_is_no_failure() {
    let stranger = |world: &mut Value| {
        let templates = world["templates"].as_object_mut().unwrap();
        let mut other = templates.values().next().unwrap().clone();
        other["name"] =
            format!("{}-other", other["name"].as_str().unwrap().rsplit_once('-').unwrap().0).into();
        other["tags"]["captf.io/cluster"] = "another".into();
        templates.insert("lt-0fffffffffffffff0".into(), other);
    };
    assert_eq!(applied(stranger), []);
}

#[test]
fn wrong_inputs_are_told_as_everywhere() {
    let bench = Bench::new();
    let outcome =
        bench.run(&format!("doctor --sandbox s.json -var replicas=-1 -var-file={}", demo().display()));
    // The file comes later and wins.
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    bench
        .run(&format!("doctor --sandbox s.json -var-file={} -var replicas=-1", demo().display()))
        .fails("replicas");
    bench.run("doctor --sandbox s.json").fails("No inputs given");
}

#[test]
fn the_schema_is_printed() {
    let schema: Value = serde_json::from_str(&Bench::new().run("schema doctor").ok()).unwrap();
    assert_eq!(schema["properties"]["format_version"]["const"], "1.0");
}
