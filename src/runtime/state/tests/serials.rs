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
    let mut resources = json_of(&before)["resources"].clone();
    let object = resources.as_array_mut().unwrap().iter_mut().find(|r| r["type"] == "aws_s3_object").unwrap();
    let content = &mut object["instances"][0]["attributes"]["content_base64"];
    assert!(content.is_string(), "the module leaves it there");
    *content = Value::Null;
    assert_eq!(json_of(&after)["resources"], resources, "all but the bootstrap data");
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
fn a_secret_that_terraform_recorded_is_not_written_again() {
    let before = r#"{"version": 4, "serial": 1, "lineage": "l", "outputs": {}, "resources": [
        {"mode": "managed", "type": "aws_s3_object", "name": "x", "instances": [
            {"attributes": {"id": "i", "key": "SECRET", "content": "SECRET"}},
            {"deposed": "0a1b2c3d", "attributes": {"content_base64": "SECRET", "source": "f"}},
            {"attributes_flat": {"content": "SECRET", "key": "k"}}]},
        {"mode": "data", "type": "aws_s3_object", "name": "x", "instances": [{"attributes": {"body": "SECRET"}}]},
        {"mode": "managed", "type": "aws_launch_template", "name": "x", "instances": [{
            "attributes": {"name": "n", "tags": {"a": "SECRET"}, "user_data": "SECRET", "image_id": "ami-1"},
            "sensitive_attributes": [
                [{"type": "get_attr", "value": "user_data"}], [{"type": "get_attr", "value": "name"}],
                [{"type": "get_attr", "value": "tags"}, {"type": "index", "value": {"value": "a", "type": "string"}}]]}]},
        {"mode": "managed", "type": "terraform_data", "name": "x", "instances": [{
            "attributes": {"id": "i", "input": "kept"}, "sensitive_attributes": [[{"type": "get_attr", "value": "input"}]]}]}
    ]}"#;
    // What identifies a resource stays, or a pool that is handed back would be replaced.
    let mut state = State::parse(before.replace("\"key\": \"SECRET\"", "\"key\": \"k\"").as_bytes()).unwrap();
    assert!(next(Some(&state), &again(&state), no_lineage).is_none(), "a secret is no news");
    let after = next(Some(&state), &kept(outputs(json!({"replicas": 1}))), no_lineage).unwrap();
    let text = String::from_utf8(after.render()).unwrap();
    assert!(!text.contains("SECRET"), "{text}");
    for kept in
        ["\"id\": \"i\"", "\"source\": \"f\"", "\"name\": \"n\"", "\"image_id\": \"ami-1\"", "\"kept\""]
    {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    assert!(state.scrub() && !state.scrub());
    assert_eq!(json_of(&state)["resources"], json_of(&after)["resources"]);
}
