#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};

use super::*;
use crate::{
    contract::schema,
    model::{
        advice::Cause,
        observed::{GroupMember, TemplateUse},
        plan::{Change, FieldChange},
        testing::{self, NOW},
    },
};

mod labels;
mod members;
mod news;
mod rollout;

const EMPTY: Compared<'_> = Compared::Not("a test");

fn of(seen: &Seen) -> Status {
    status(&testing::request(|_| {}).scope, "us-east-1", seen, EMPTY, NOW)
}

fn refresh(status: &str, percentage: u32) -> Refresh {
    Refresh {
        id: "r-1".into(),
        status: status.into(),
        start: Some(Timestamp(NOW.0 - 300_000)),
        percentage: Some(percentage),
        ..Refresh::default()
    }
}

fn faults(json: &Value) -> Vec<String> {
    let mut whole: Value = serde_json::from_str(schema::status()).unwrap();
    if json.get("format_version").is_none() {
        // The part about the roll alone.
        whole = json!({"$ref": "#/$defs/rollout", "$defs": whole["$defs"]});
    }
    let validator = jsonschema::draft202012::new(&whole).unwrap();
    validator.iter_errors(json).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn the_json_form_is_what_the_schema_says() {
    jsonschema::draft202012::meta::validate(&serde_json::from_str(schema::status()).unwrap()).unwrap();
    let mut rolling = testing::seen(&[1, 1, 2, 0]);
    rolling.refreshes = vec![refresh("InProgress", 40)];
    rolling.activities = Some(vec![testing::activity("Failed", "not sufficient m6i.large capacity")]);
    rolling.group.as_mut().unwrap().members[0].template = None;
    let deleting = Seen {
        group: Some(Group { deleting: true, ..rolling.group.clone().unwrap() }),
        activities: None,
        ..rolling.clone()
    };
    for seen in [Seen::default(), rolling, deleting] {
        let json = serde_json::to_value(of(&seen)).unwrap();
        assert_eq!(faults(&json), [""; 0], "{json:#}");
        assert_eq!(faults(&json["rollout"]), [""; 0], "{json:#}");
    }
    let plan = Plan { changes: vec![change(Action::Update)], ..Plan::default() };
    let compared = status(&testing::request(|_| {}).scope, "r", &Seen::default(), Compared::With(&plan), NOW);
    assert_eq!(faults(&serde_json::to_value(compared).unwrap()), [""; 0]);
    assert_ne!(faults(&json!({"format_version": "1.0", "pool": 1})), [""; 0], "the schema can fail");
}

/// Every cause that the program can tell is in the schema.
#[test]
fn the_schema_knows_every_cause() {
    let schema: Value = serde_json::from_str(schema::status()).unwrap();
    let known = &schema["properties"]["activities"]["items"]["properties"]["cause"]["enum"];
    let mut words = Vec::new();
    let mut cause = Some(Cause::Capacity);
    while let Some(this) = cause {
        words.push(serde_json::to_value(this).unwrap());
        cause = after(this);
    }
    words.push(Value::Null);
    assert_eq!(known.as_array().unwrap(), &words);
}

/// The causes one after the other: does not compile when one is missing.
fn after(cause: Cause) -> Option<Cause> {
    Some(match cause {
        Cause::Capacity => Cause::NotOffered,
        Cause::NotOffered => Cause::Quota,
        Cause::Quota => Cause::Kms,
        Cause::Kms => Cause::Image,
        Cause::Image => Cause::Architecture,
        Cause::Architecture => Cause::Volume,
        Cause::Volume => Cause::InstanceProfile,
        Cause::InstanceProfile => Cause::SecurityGroup,
        Cause::SecurityGroup => Cause::Subnet,
        Cause::Subnet => Cause::KeyPair,
        Cause::KeyPair => Cause::Template,
        Cause::Template => Cause::ServiceRole,
        Cause::ServiceRole => Cause::Permission,
        Cause::Permission => Cause::Hook,
        Cause::Hook => Cause::Account,
        Cause::Account => Cause::Throttled,
        Cause::Throttled => return None,
    })
}

fn change(action: Action) -> Change {
    let field = FieldChange { field: "user_data".into(), now: None, then: None };
    Change { address: Address::Template, name: "x".into(), action, fields: vec![field], reason: None }
}
