//! When there is a next state, and what stays in it.

use super::*;

/// The outputs that a state holds already.
fn again(state: &State) -> Recorded {
    kept(state.outputs())
}

#[test]
fn a_first_state_begins_at_one_with_a_new_lineage() {
    let state = next(None, &kept(BTreeMap::new()), || "0f3c".into()).unwrap();
    assert_eq!((state.serial(), state.lineage(), state.terraform_version()), (1, "0f3c", TERRAFORM_VERSION));
    assert_eq!(
        String::from_utf8(state.render()).unwrap(),
        "{\n  \"version\": 4,\n  \"terraform_version\": \"1.5.7\",\n  \"serial\": 1,\n  \"lineage\": \"0f3c\",\n  \
         \"outputs\": {},\n  \"resources\": [],\n  \"check_results\": null\n}\n"
    );
}

#[test]
fn nothing_new_is_nothing_to_write() {
    for name in [TERRAFORM, MODULE] {
        let state = state(name);
        assert!(next(Some(&state), &again(&state), no_lineage).is_none(), "{name}");
    }
    // The spelling of a number, the order of members and an explicit `false` are no news.
    let state = State::parse(
        br#"{"version": 4, "serial": 5, "lineage": "l", "outputs":
            {"a": {"type": ["object", {"x": "number", "y": "string"}], "value": {"y": "1", "x": 3.0}, "sensitive": false}}}"#,
    )
    .unwrap();
    assert!(next(Some(&state), &kept(outputs(json!({"a": {"x": 3, "y": "1"}}))), no_lineage).is_none());
}

#[test]
fn every_change_of_an_output_is_one_serial() {
    let before = state(MODULE);
    let changes: [(&str, Value); 4] = [
        ("replicas", json!(4)),
        ("replicas", json!("3")),
        ("provider_id_list", json!([])),
        ("launch_template_id", json!("lt-1")),
    ];
    for (name, value) in changes {
        let mut recorded = again(&before);
        recorded.outputs.insert(name.to_owned(), OutputValue { value: value.clone(), sensitive: false });
        let after = next(Some(&before), &recorded, no_lineage).unwrap();
        assert_eq!((after.serial(), after.lineage()), (42, before.lineage()), "{name}");
        assert_eq!(after.outputs()[name].value, value);
        assert!(next(Some(&after), &recorded, no_lineage).is_none());
    }
    let mut fewer = again(&before);
    fewer.outputs.remove("health");
    assert!(!next(Some(&before), &fewer, no_lineage).unwrap().outputs().contains_key("health"));
}

#[test]
fn a_refresh_passes_resources_unchanged() {
    let before = state(MODULE);
    let after = next(Some(&before), &kept(outputs(json!({"replicas": 9}))), no_lineage).unwrap();
    assert_eq!(json_of(&after)["resources"], json_of(&before)["resources"]);
    assert_eq!(facts(&after), facts(&before));
    assert_eq!((after.terraform_version(), after.lineage()), ("1.11.4", before.lineage()));
}

#[test]
fn an_output_that_says_the_same_keeps_its_type() {
    // A module that computes a set where this program would write a list.
    let before = State::parse(
        br#"{"version": 4, "serial": 1, "lineage": "l", "outputs":
            {"provider_id_list": {"value": ["a"], "type": ["set", "string"]}, "replicas": {"value": 1, "type": "number"}}}"#,
    )
    .unwrap();
    let recorded = |replicas: u32| kept(outputs(json!({"provider_id_list": ["a"], "replicas": replicas})));
    assert!(next(Some(&before), &recorded(1), no_lineage).is_none());
    let after = next(Some(&before), &recorded(2), no_lineage).unwrap();
    assert_eq!(json_of(&after)["outputs"]["provider_id_list"]["type"], json!(["set", "string"]));
}

#[test]
fn a_release_that_terraform_would_not_read_is_not_kept() {
    for (found, kept_release) in [
        ("1.11.4", "1.11.4"),
        ("1.12.0-beta1", "1.12.0-beta1"),
        ("", TERRAFORM_VERSION),
        ("latest", TERRAFORM_VERSION),
        ("1.11", TERRAFORM_VERSION),
    ] {
        let text = json!({"version": 4, "serial": 1, "lineage": "l", "terraform_version": found}).to_string();
        let before = State::parse(text.as_bytes()).unwrap();
        let after = next(Some(&before), &kept(outputs(json!({"x": 1}))), no_lineage).unwrap();
        assert_eq!(after.terraform_version(), kept_release);
    }
}

#[test]
fn what_is_gone_leaves_the_state_and_the_rest_passes_unchanged() {
    use crate::model::plan::Address;

    let before = state(MODULE);
    let left = BTreeSet::from([Address::Template, Address::VersionRoll]);
    let recorded = Recorded { outputs: before.outputs(), resources: ResourcesChange::Left(left) };
    let after = next(Some(&before), &recorded, no_lineage).unwrap();
    let ours = |state: &State| {
        let addresses = state.addresses();
        let ours: Vec<Address> = Address::ALL
            .into_iter()
            .filter(|a| addresses.iter().any(|listed| listed == a.as_str()))
            .collect();
        (addresses.len() - ours.len(), ours)
    };
    assert_eq!(ours(&after), (ours(&before).0, vec![Address::Template, Address::VersionRoll]));
    let resources = |state: &State| json_of(state)["resources"].as_array().unwrap().clone();
    assert!(resources(&after).iter().all(|entry| resources(&before).contains(entry)));
    assert!(next(Some(&after), &recorded, no_lineage).is_none(), "nothing new is nothing to write");
}

#[test]
fn bootstrap_data_in_force_is_not_written_again_and_all_else_passes() {
    let before = r#"{"version": 4, "serial": 1, "lineage": "l", "outputs": {}, "resources": [
        {"mode": "managed", "type": "aws_s3_object", "name": "x", "instances": [
            {"attributes": {"id": "U0VDUkVU", "content": "SECRET", "content_base64": "b2xk"}},
            {"deposed": "0a1b2c3d", "attributes": {"content_base64": "U0VDUkVU", "source": "f"}},
            {"attributes_flat": {"content": "SECRET", "key": "k"}}]},
        {"mode": "data", "type": "aws_s3_object", "name": "x", "instances": [{"attributes": {"body": "SECRET"}}]},
        {"mode": "managed", "type": "terraform_data", "name": "x", "instances": [{
            "attributes": {"id": "i", "content": "SECRET"}}]}
    ]}"#;
    let before = State::parse(before.as_bytes()).unwrap();
    assert!(next(Some(&before), &again(&before), no_lineage).is_none(), "a secret is no news");
    let mut after = next(Some(&before), &kept(outputs(json!({"replicas": 1}))), no_lineage).unwrap();
    assert_eq!(json_of(&after)["resources"], json_of(&before)["resources"]);
    let in_force = |content: &str| content == "U0VDUkVU";
    assert!(after.scrub(&in_force) && !after.scrub(&in_force));
    let scrubbed = json_of(&after)["resources"].clone();
    let objects = &scrubbed[0]["instances"];
    assert_eq!(
        objects[0]["attributes"],
        json!({"id": "U0VDUkVU", "content": null, "content_base64": "b2xk"})
    );
    assert_eq!(objects[1]["attributes"], json!({"content_base64": null, "source": "f"}));
    assert_eq!(objects[2]["attributes_flat"], json!({"content": null, "key": "k"}));
    assert_eq!(scrubbed[1]["instances"][0]["attributes"], json!({"body": null}));
    assert_eq!(scrubbed[2], json_of(&before)["resources"][2]);
}

#[test]
fn no_content_of_the_pools_own_object_is_written_again() {
    let before = r#"{"version": 4, "serial": 1, "lineage": "l", "outputs": {}, "resources": [
        {"module": "module.role", "mode": "managed", "type": "aws_s3_object", "name": "bootstrap_object", "instances": [
            {"index_key": 0, "attributes": {"key": "pool/a", "content": null, "content_base64": "b2xk"}},
            {"index_key": 0, "deposed": "0a1b2c3d", "attributes": {"key": "pool/old", "content": "older"}}]},
        {"mode": "data", "type": "aws_s3_object", "name": "x", "instances": [
            {"attributes": {"key": "pool/a", "body": "old"}}, {"attributes_flat": {"key": "pool/old", "body": "older"}},
            {"attributes": {"key": "pool/b", "body": "another's"}}]}
    ]}"#;
    let mut state = State::parse(before.as_bytes()).unwrap();
    assert!(state.scrub(&|_| false) && !state.scrub(&|_| false));
    let resources = json_of(&state)["resources"].clone();
    let own = &resources[0]["instances"];
    assert_eq!(own[0]["attributes"], json!({"key": "pool/a", "content": null, "content_base64": null}));
    assert_eq!(own[1]["attributes"], json!({"key": "pool/old", "content": null}));
    let read = &resources[1]["instances"];
    assert_eq!(read[0]["attributes"], json!({"key": "pool/a", "body": null}));
    assert_eq!(read[1]["attributes_flat"], json!({"key": "pool/old", "body": null}));
    assert_eq!(read[2]["attributes"], json!({"key": "pool/b", "body": "another's"}));
}
