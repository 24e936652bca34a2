#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::{
    contract::{payload::Payload, request::Request},
    model::{
        observed::{Observed, Template},
        outputs, planner, testing,
    },
};

use crate::runtime::{planfile::tests::applied, root::tests::generated};

const SECRET: &str = "dG9rZW46IHMzY3IzdA==";

struct Case {
    root: Root,
    inputs: Inputs,
    secrets: Secrets,
    recorded: BTreeMap<String, OutputValue>,
    live: Option<Outputs>,
    plan: Plan,
    purpose: Purpose,
    sized: bool,
}

impl Case {
    /// The demo pool, changed by `edit`, planned against `observed`, with its outputs recorded.
    fn new(edit: impl FnOnce(&mut Request), observed: &Observed) -> Self {
        let root = Root::parse(generated(|_| {}).to_string().as_bytes()).unwrap();
        let mut inputs = Inputs::default();
        let text =
            format!(r#"{{"bootstrap_data": "{SECRET}", "replicas": 3, "kubernetes_version": "1.10"}}"#);
        inputs.add_file("t", text.as_bytes()).unwrap();
        let request = testing::request(edit);
        let live = outputs::outputs(&request.scope, observed.group.as_ref(), &[], &[]).unwrap();
        let recorded = match serde_json::to_value(&live).unwrap() {
            Value::Object(fields) if observed.group.is_some() => {
                fields.into_iter().map(|(name, value)| (name, recorded(value))).collect()
            }
            _ => BTreeMap::new(),
        };
        let secrets = Secrets::of(&inputs, &root.sensitive());
        let plan = planner::plan(&request, observed).unwrap().1;
        let sized = !request.autoscaling.is_on();
        Self { root, inputs, secrets, recorded, live: Some(live), plan, purpose: Purpose::Apply, sized }
    }

    fn shown(&self) -> Shown<'_> {
        let Self { root, inputs, secrets, recorded, live, plan, purpose, sized } = self;
        let (purpose, sized, live) = (*purpose, *sized, live.as_ref());
        Shown { plan, purpose, root, inputs, secrets, recorded, live, passing: &[], sized, empties: false }
    }

    fn text(&self) -> String {
        plan_json(&self.shown())
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.text()).unwrap()
    }
}

fn recorded(value: Value) -> OutputValue {
    OutputValue { value, sensitive: false }
}

fn change(json: &Value, address: Address) -> &Value {
    let found =
        json["resource_changes"].as_array().unwrap().iter().find(|c| c["address"] == address.as_str());
    found.unwrap_or_else(|| panic!("no {address} in {json:#}"))
}

fn newer(request: &mut Request) {
    request.kubernetes_version = Some("v1.35.0".into());
}

#[test]
fn a_creation() {
    let json = Case::new(|_| {}, &testing::nothing()).json();
    assert_eq!(json["format_version"], "1.2");
    assert_eq!(
        (&json["applyable"], &json["complete"], &json["errored"]),
        (&json!(true), &json!(true), &json!(false))
    );
    assert_eq!(json["variables"]["bootstrap_data"], json!({"value": "(sensitive value)"}));
    assert_eq!(json["variables"]["kubernetes_version"]["value"], "1.10");
    assert_eq!(json["variables"]["replicas"]["value"], 3);
    let group = change(&json, Address::Group);
    assert_eq!(group["module_address"], "module.role");
    assert_eq!(
        (&group["type"], &group["name"]),
        (&json!("aws_autoscaling_group"), &json!("pool_autoscaling_group"))
    );
    assert_eq!((&group["mode"], &group["index"]), (&json!("managed"), &json!(0)));
    assert_eq!(group["provider_name"], "registry.terraform.io/hashicorp/aws");
    assert_eq!(group["change"]["actions"], json!(["create"]));
    assert_eq!(group["change"]["before"], Value::Null);
    assert_eq!(group["change"]["after"]["max_size"], "3");
    assert_eq!(group["change"]["before_sensitive"], false);
    assert!(change(&json, Address::InheritedZones).get("index").is_none());
    assert_eq!(json["output_changes"].as_object().unwrap().len(), 8);
    assert_eq!(json["output_changes"]["provider_id"]["after_unknown"], true);
    assert_eq!(
        json["output_changes"]["autoscaling_group_name"]["after"],
        "captf-team-a-demo-pool-0-43c6d828"
    );
    let addresses: Vec<&str> =
        json["resource_changes"].as_array().unwrap().iter().map(|c| c["address"].as_str().unwrap()).collect();
    assert!(addresses.is_sorted(), "{addresses:?}");
    assert_eq!(json["prior_state"]["values"], json!({"outputs": {}, "root_module": {}}));
}

#[test]
fn a_roll_replaces_the_template_and_creates_first() {
    let json = Case::new(newer, &applied(|_| {})).json();
    for address in [Address::Template, Address::VersionRoll] {
        let replaced = change(&json, address);
        assert_eq!(replaced["change"]["actions"], json!(["create", "delete"]));
        assert_eq!(replaced["action_reason"], "replace_because_cannot_update");
        assert!(replaced["change"]["before"].is_object() && replaced["change"]["after"].is_object());
    }
    assert_eq!(change(&json, Address::Group)["change"]["actions"], json!(["update"]));
    let outputs: Vec<&String> = json["output_changes"].as_object().unwrap().keys().collect();
    assert_eq!(outputs, ["launch_template_id"]);
}

#[test]
fn a_rotation_is_one_update_whatever_the_token() {
    let rotated = |token: &[u8]| {
        Case::new(|r| r.bootstrap_data = Payload::new(token.to_vec()), &applied(|_| {})).text()
    };
    let json: Value = serde_json::from_str(&rotated(b"one")).unwrap();
    assert_eq!(json["resource_changes"].as_array().unwrap().len(), 1);
    let object = change(&json, Address::Object);
    assert_eq!(object["change"]["actions"], json!(["update"]));
    assert_eq!(object["change"]["after_sensitive"], json!({"sha256": true}));
    assert_eq!(json["output_changes"], json!({}));
    assert_eq!(rotated(b"one"), rotated(b"two"));
}

#[test]
fn what_moves_by_itself_leaves_the_bytes_as_they_are() {
    use crate::contract::request::{Autoscaler, Autoscaling};
    use crate::model::observed::Refresh;
    let scaled =
        |r: &mut Request| r.autoscaling = Autoscaling::On { min: 1, max: 9, by: Autoscaler::External };
    let before = applied(scaled);
    let mut moved = before.clone();
    let group = moved.group.as_mut().unwrap();
    group.desired = 7;
    group.members.pop();
    moved.refreshes = vec![Refresh { id: "r-9".into(), status: "Successful".into(), ..Refresh::default() }];
    moved.templates.push(Template {
        id: "lt-0".into(),
        name: "captf-team-a-demo-pool-0-43c6d828-0".into(),
        tags: before.templates[0].tags.clone(),
        ..Template::default()
    });
    for edit in [newer, |r: &mut Request| r.autoscaling = Autoscaling::Off, |_: &mut Request| {}] {
        let both = |r: &mut Request| {
            scaled(r);
            edit(r);
        };
        let text = Case::new(both, &before).text();
        assert_eq!(text, Case::new(both, &before).text());
        assert_eq!(text, Case::new(both, &moved).text());
    }
    // Into `replicas` the controller writes the size back, which is that of nobody's change.
    let with_replicas = |replicas: u32, edit: fn(&mut Request)| {
        let mut case = Case::new(edit, &before);
        case.inputs.add_file("t", format!(r#"{{"replicas": {replicas}}}"#).as_bytes()).unwrap();
        case
    };
    let roll = |r: &mut Request| {
        r.autoscaling = Autoscaling::On { min: 1, max: 9, by: Autoscaler::External };
        newer(r);
    };
    assert_eq!(with_replicas(3, roll).text(), with_replicas(7, roll).text());
    assert_eq!(with_replicas(3, roll).json()["variables"]["replicas"], json!({}));
    let off = |r: &mut Request| r.autoscaling = Autoscaling::Off;
    assert_eq!(with_replicas(7, off).json()["variables"]["replicas"], json!({"value": 7}));
}

#[test]
fn outputs_alone_are_a_change() {
    let mut case = Case::new(|_| {}, &applied(|_| {}));
    assert!(output_changes(&case.shown()).is_empty());
    assert_eq!(case.json()["applyable"], false);
    case.recorded.insert("replicas".into(), recorded(json!(2)));
    case.recorded.remove("health");
    let json = case.json();
    assert_eq!(json["applyable"], true);
    assert_eq!(json["output_changes"]["replicas"]["before"], 2);
    assert_eq!(json["output_changes"]["replicas"]["after"], 3);
    assert_eq!(json["output_changes"]["health"]["actions"], json!(["create"]));
    assert_eq!(json["output_changes"].as_object().unwrap().len(), 2);
}

#[test]
fn a_destroy_deletes_the_outputs_too() {
    let mut case = Case::new(|_| {}, &applied(|_| {}));
    case.purpose = Purpose::Destroy;
    case.plan.changes = vec![Change {
        address: Address::Group,
        name: "g".into(),
        action: Action::Delete,
        fields: Vec::new(),
        reason: None,
    }];
    case.live = None;
    let json = case.json();
    let group = change(&json, Address::Group);
    assert_eq!((&group["change"]["actions"], &group["change"]["after"]), (&json!(["delete"]), &Value::Null));
    assert_eq!(group["change"]["after_unknown"], false);
    assert_eq!(json["output_changes"]["health"]["actions"], json!(["delete"]));
    assert_eq!(json["output_changes"]["health"]["after"], Value::Null);
}

#[test]
fn no_secret_is_in_it_wherever_it_came_from() {
    let mut case =
        Case::new(|r| r.additional_tags = testing::tags(&[("key", "hunter2-hunter2")]), &testing::nothing());
    case.inputs.add_file("t", br#"{"additional_tags": {"key": "hunter2-hunter2"}}"#).unwrap();
    case.root = Root::parse(
        generated(|root| {
            root["variable"]["additional_tags"] = json!({"sensitive": true});
            root["module"]["role"]["additional_tags"] = json!("${var.additional_tags}");
            root["output"]["provider_id"]["sensitive"] = json!(true);
        })
        .to_string()
        .as_bytes(),
    )
    .unwrap();
    case.secrets = Secrets::of(&case.inputs, &case.root.sensitive());
    case.recorded.insert("provider_id".into(), recorded(json!("arn:old")));
    let text = case.text();
    for secret in [SECRET, "hunter2", "arn:old"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    let json = case.json();
    assert_eq!(change(&json, Address::Group)["change"]["after_sensitive"], json!({"tags[\"key\"]": true}));
    assert_eq!(json["output_changes"]["provider_id"]["before_sensitive"], true);
}

#[test]
fn what_moves_by_itself_is_no_drift() {
    let mut case = Case::new(|_| {}, &applied(|_| {}));
    for name in ["provider_id_list", "instances", "health", "replicas"] {
        case.recorded.insert(name.to_owned(), recorded(json!("something else")));
    }
    let changed = |case: &Case, passing: &[&str]| -> Vec<String> {
        let shown = Shown { passing, ..case.shown() };
        output_changes(&shown).into_iter().map(|change| change.name).collect()
    };
    assert!(case.plan.is_empty());
    assert_eq!(changed(&case, &[]), ["health", "instances", "provider_id_list", "replicas"]);
    assert_eq!(changed(&case, moving(false)), ["replicas"], "nothing scales the pool");
    assert_eq!(changed(&case, moving(true)), [""; 0]);
    case.recorded.insert("provider_id".to_owned(), recorded(json!("another")));
    assert_eq!(changed(&case, moving(true)), ["provider_id"]);
    case.recorded.remove("health");
    assert_eq!(changed(&case, moving(true)), ["health", "provider_id"], "it was never recorded");
}

#[test]
fn an_output_that_the_root_no_longer_has_is_removed() {
    let mut case = Case::new(|_| {}, &applied(|_| {}));
    assert!(output_changes(&case.shown()).is_empty());
    case.recorded.insert("earlier".to_owned(), recorded(json!("public")));
    let hidden = OutputValue { value: json!("s3cr3t"), sensitive: true };
    case.recorded.insert("apart".to_owned(), hidden);
    let json = case.json();
    assert_eq!(json["applyable"], true);
    assert_eq!(
        json["output_changes"],
        json!({
            "apart": {
                "actions": ["delete"], "before": MASK, "after": null, "after_unknown": false,
                "before_sensitive": true, "after_sensitive": true,
            },
            "earlier": {
                "actions": ["delete"], "before": "public", "after": null, "after_unknown": false,
                "before_sensitive": false, "after_sensitive": false,
            },
        })
    );
    assert!(!case.text().contains("s3cr3t"));
    // Also beside resources that change, in a destroy, and of a root that has no outputs at all.
    let names =
        |case: &Case| output_changes(&case.shown()).into_iter().map(|change| change.name).collect::<Vec<_>>();
    case.purpose = Purpose::Destroy;
    assert!(names(&case).contains(&"earlier".to_owned()));
    case.purpose = Purpose::Apply;
    case.root.outputs.clear();
    case.live = None;
    assert_eq!(names(&case).len(), case.recorded.len());
}
