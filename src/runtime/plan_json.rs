//! A plan as `show -json` prints it: Terraform's plan representation, format 1.2.
//!
//! The controller compares the bytes of two plans to tell whether they are of the same change. So what
//! moves without being changed (members, the newest instance refresh, a capacity that a scaler sets, the
//! input `replicas` into which the controller writes that capacity back) and what is renewed all the time
//! (the checksum of the bootstrap data) has no value here.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{
    TERRAFORM_VERSION,
    address::{MODULE, Parts},
    planfile::steady,
    root::Root,
    secrets::{MASK, Secrets},
    state::{OutputValue, Written},
};
use crate::{
    contract::{inputs::Inputs, outputs::Outputs},
    model::plan::{Action, Address, Change, FieldChange, Plan},
    view::Purpose,
};

/// What a plan is shown with.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Whether it makes the pool or destroys it.
    pub purpose: Purpose,
    /// The root module.
    pub root: &'a Root,
    /// The inputs of the role.
    pub inputs: &'a Inputs,
    /// What must not be shown.
    pub secrets: &'a Secrets,
    /// The outputs in the state, by their names in the root that they were recorded for.
    pub recorded: &'a BTreeMap<String, OutputValue>,
    /// The outputs as they are live; not needed for a destroy.
    pub live: Option<&'a Outputs>,
    /// Outputs of the role whose new values are no change; see [`moving`].
    pub passing: &'a [&'a str],
    /// Whether the input `replicas` is the size of the pool: not while something scales it, nor in its destroy.
    pub sized: bool,
    /// Whether a destroy removes outputs or resources from the state, whatever is left in AWS.
    pub empties: bool,
}

/// One output that changes.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputChange {
    /// Its name in the root.
    pub name: String,
    /// How.
    pub action: Action,
    /// The value in the state; `None` if there is none.
    pub before: Option<Value>,
    /// The value afterwards; `None` if only the apply will tell, or if it goes.
    pub after: Option<Value>,
    /// Whether the root marks it as sensitive.
    pub sensitive: bool,
}

/// Outputs that speak of members, which move by themselves.
const MOVING: [&str; 4] = ["provider_id_list", "instances", "health", "replicas"];

/// The input that moves by itself while something scales the pool: the controller writes the size back into it.
const REPLICAS: &str = "replicas";

/// The outputs that move by themselves; the size of a pool does so only if something scales it.
pub fn moving(scaled: bool) -> &'static [&'static str] {
    let [members @ .., _] = &MOVING;
    if scaled { &MOVING } else { members }
}

/// The outputs that change, by name. With resources that change, outputs that speak of members are listed
/// only where the plan makes the group: what becomes of them otherwise is no part of the change.
pub fn output_changes(shown: &Shown<'_>) -> Vec<OutputChange> {
    let live = shown.live.and_then(|outputs| serde_json::to_value(outputs).ok()).unwrap_or_default();
    let passes = |output: &str| shown.passing.contains(&output);
    let mut changes = Vec::new();
    for (name, output) in &shown.root.outputs {
        let before = shown.recorded.get(name).map(|recorded| recorded.value.clone());
        // A state has no outputs that are null.
        let known = live.get(&output.output).filter(|value| !value.is_null()).cloned();
        let moves = !shown.plan.is_empty() && MOVING.contains(&output.output.as_str());
        let (action, after) = if shown.purpose == Purpose::Destroy {
            (before.as_ref().map(|_| Action::Delete), None)
        } else if is_made(shown.plan, &output.output) || (moves && before.is_none()) {
            (Some(before.as_ref().map_or(Action::Create, |_| Action::Update)), None)
        } else if moves || before == known || (passes(&output.output) && before.is_some() && known.is_some())
        {
            (None, None)
        } else {
            let action = match (&before, &known) {
                (None, _) => Action::Create,
                (_, None) => Action::Delete,
                _ => Action::Update,
            };
            (Some(action), known)
        };
        if let Some(action) = action {
            changes.push(OutputChange {
                name: name.clone(),
                action,
                before,
                after,
                sensitive: output.sensitive,
            });
        }
    }
    changes.extend(forgotten(shown));
    changes.sort_by(|one, other| one.name.cmp(&other.name));
    changes
}

/// The recorded outputs that the root no longer has: whatever is done, they are removed from the state.
fn forgotten<'a>(shown: &Shown<'a>) -> impl Iterator<Item = OutputChange> + use<'a> {
    let outputs = &shown.root.outputs;
    let gone = shown.recorded.iter().filter(|(name, _)| !outputs.contains_key(*name));
    gone.map(|(name, recorded)| OutputChange {
        name: name.clone(),
        action: Action::Delete,
        before: Some(recorded.value.clone()),
        after: None,
        sensitive: recorded.sensitive,
    })
}

/// Whether the plan makes the thing that an output speaks of, so that only the apply will tell its value.
fn is_made(plan: &Plan, output: &str) -> bool {
    let makes = |address| {
        let made = |change: &&Change| matches!(change.action, Action::Create | Action::Replace);
        plan.changes.iter().filter(made).any(|change| change.address == address)
    };
    match output {
        "launch_template_id" => makes(Address::Template) || makes(Address::Group),
        "provider_id" => makes(Address::Group),
        moving if MOVING.contains(&moving) => makes(Address::Group),
        _ => false,
    }
}

/// The whole representation: one line of JSON with a line end.
pub fn plan_json(shown: &Shown<'_>) -> String {
    let outputs = output_changes(shown);
    let mut changes: Vec<&Change> = shown.plan.changes.iter().collect();
    changes.sort_by_key(|change| change.address.as_str());
    let secrets = shown.secrets;
    let sides: Vec<(Parts, Sides)> =
        changes.iter().map(|change| (Parts::of(change.address), Sides::of(change, secrets))).collect();
    let json = json!({
        "format_version": "1.2",
        "terraform_version": TERRAFORM_VERSION,
        "variables": variables(shown),
        "planned_values": {
            "outputs": planned_outputs(shown, &outputs),
            "root_module": root_module(sides.iter().map(|(parts, sides)| (*parts, &sides.after, &sides.after_sensitive))),
        },
        "resource_changes": changes.iter().zip(&sides).map(|(change, (parts, sides))| resource(change, *parts, sides)).collect::<Vec<_>>(),
        "output_changes": outputs.iter().map(|o| (o.name.clone(), output(o, secrets))).collect::<Map<_, _>>(),
        "prior_state": {
            "format_version": "1.0",
            "terraform_version": TERRAFORM_VERSION,
            "values": {
                "outputs": prior_outputs(shown),
                "root_module": root_module(sides.iter().map(|(parts, sides)| (*parts, &sides.before, &sides.before_sensitive))),
            },
        },
        "applyable": !shown.plan.is_empty() || !outputs.is_empty() || shown.empties,
        "complete": true,
        "errored": false,
    });
    format!("{json}\n")
}

/// The values of the inputs, secrets masked.
fn variables(shown: &Shown<'_>) -> Value {
    let sensitive = shown.root.sensitive();
    let value = |name: &str, value| {
        if sensitive.contains(name) {
            return json!(MASK);
        }
        mask(serde_json::to_value(Written(value)).unwrap_or_default(), shown.secrets)
    };
    let all = shown.inputs.iter().map(|(name, input)| {
        let moves = name == REPLICAS && !shown.sized;
        let entry = if moves { json!({}) } else { json!({"value": value(name, &input.value)}) };
        (name.to_owned(), entry)
    });
    Value::Object(all.collect())
}

/// A value without secrets in its texts. The names of its members tell what they are, and stay.
pub(super) fn mask(value: Value, secrets: &Secrets) -> Value {
    match value {
        Value::String(text) => Value::String(secrets.mask(&text)),
        Value::Array(items) => items.into_iter().map(|item| mask(item, secrets)).collect(),
        Value::Object(fields) => fields.into_iter().map(|(key, value)| (key, mask(value, secrets))).collect(),
        other => other,
    }
}

/// A resource before and after, with what in it is sensitive.
struct Sides {
    before: Value,
    after: Value,
    before_sensitive: Value,
    after_sensitive: Value,
}

impl Sides {
    fn of(change: &Change, secrets: &Secrets) -> Self {
        let (mut before, mut before_sensitive) = (Map::new(), Map::new());
        let (mut after, mut after_sensitive) = (Map::new(), Map::new());
        if change.fields.iter().all(|field| field.field != "name") {
            before.insert("name".to_owned(), json!(change.name));
            after.insert("name".to_owned(), json!(change.name));
        }
        // Where an update sets the desired capacity, bounds of the same size say so, and a scaler may have moved it.
        let passing = |field: &FieldChange| {
            let steady = |value: &Option<String>| value.as_deref().map(|value| steady(&field.field, value));
            change.action == Action::Update
                && (field.field == "desired_capacity" || steady(&field.now) == steady(&field.then))
        };
        for field in change.fields.iter().filter(|field| !passing(field)) {
            for (value, values, sensitive) in [
                (field.now.as_deref(), &mut before, &mut before_sensitive),
                (field.then.as_deref(), &mut after, &mut after_sensitive),
            ] {
                let shown = value.map(|value| visible(change.address, &field.field, value, secrets));
                if shown.as_ref().is_some_and(|shown| shown.contains(MASK)) {
                    sensitive.insert(field.field.clone(), json!(true));
                }
                values.insert(field.field.clone(), json!(shown));
            }
        }
        let none = || (Value::Null, json!(false));
        let some = |values, sensitive| (Value::Object(values), Value::Object(sensitive));
        let (before, before_sensitive) =
            if change.action == Action::Create { none() } else { some(before, before_sensitive) };
        let (after, after_sensitive) =
            if change.action == Action::Delete { none() } else { some(after, after_sensitive) };
        Self { before, after, before_sensitive, after_sensitive }
    }
}

/// The checksum of the bootstrap data is as good as the data to somebody who guesses, and each renewal of a
/// token changes it.
fn visible(address: Address, field: &str, value: &str, secrets: &Secrets) -> String {
    if (address == Address::Object && field == "sha256") || secrets.hides(address, field) {
        MASK.to_owned()
    } else {
        secrets.mask(&steady(field, value))
    }
}

fn resource(change: &Change, parts: Parts, sides: &Sides) -> Value {
    let unknown = match change.action {
        Action::Create | Action::Replace => json!({"id": true}),
        Action::Update => json!({}),
        Action::Delete => json!(false),
    };
    let mut resource = identity(parts);
    resource.insert("module_address".to_owned(), json!(parts.module));
    resource.insert(
        "change".to_owned(),
        json!({
            "actions": actions(change.action),
            "before": sides.before,
            "after": sides.after,
            "after_unknown": unknown,
            "before_sensitive": sides.before_sensitive,
            "after_sensitive": sides.after_sensitive,
        }),
    );
    if change.action == Action::Replace {
        resource.insert("action_reason".to_owned(), json!("replace_because_cannot_update"));
    }
    Value::Object(resource)
}

fn actions(action: Action) -> &'static [&'static str] {
    match action {
        Action::Create => &["create"],
        Action::Update => &["update"],
        Action::Replace => &["create", "delete"],
        Action::Delete => &["delete"],
    }
}

fn identity(parts: Parts) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("address".to_owned(), json!(parts.address));
    fields.insert("mode".to_owned(), json!("managed"));
    fields.insert("type".to_owned(), json!(parts.kind));
    fields.insert("name".to_owned(), json!(parts.name));
    fields.insert("provider_name".to_owned(), json!(parts.provider()));
    if let Some(index) = parts.index {
        fields.insert("index".to_owned(), json!(index));
    }
    fields
}

/// The resources that change, those with values only.
fn root_module<'a>(resources: impl Iterator<Item = (Parts, &'a Value, &'a Value)>) -> Value {
    let resources: Vec<Value> = resources
        .filter(|(_, values, _)| !values.is_null())
        .map(|(parts, values, sensitive)| {
            let mut resource = identity(parts);
            resource.insert("values".to_owned(), values.clone());
            resource.insert("sensitive_values".to_owned(), sensitive.clone());
            Value::Object(resource)
        })
        .collect();
    if resources.is_empty() {
        return json!({});
    }
    json!({"child_modules": [{"address": MODULE, "resources": resources}]})
}

fn output(change: &OutputChange, secrets: &Secrets) -> Value {
    let shown = |value: &Option<Value>| match value {
        Some(_) if change.sensitive => json!(MASK),
        Some(value) => mask(value.clone(), secrets),
        None => Value::Null,
    };
    let mut fields = Map::new();
    fields.insert("actions".to_owned(), json!(actions(change.action)));
    fields.insert("before".to_owned(), shown(&change.before));
    let unknown = change.after.is_none() && change.action != Action::Delete;
    if !unknown {
        fields.insert("after".to_owned(), shown(&change.after));
    }
    fields.insert("after_unknown".to_owned(), json!(unknown));
    fields.insert("before_sensitive".to_owned(), json!(change.sensitive));
    fields.insert("after_sensitive".to_owned(), json!(change.sensitive));
    Value::Object(fields)
}

/// Whether an output says the same in two plans of the same change.
fn is_steady(shown: &Shown<'_>, name: &str) -> bool {
    shown.root.outputs.get(name).is_some_and(|output| !MOVING.contains(&output.output.as_str()))
}

fn prior_outputs(shown: &Shown<'_>) -> Value {
    let steady = shown.recorded.iter().filter(|(name, _)| is_steady(shown, name));
    Value::Object(
        steady.map(|(name, recorded)| (name.clone(), stated(shown, name, Some(&recorded.value)))).collect(),
    )
}

fn planned_outputs(shown: &Shown<'_>, changes: &[OutputChange]) -> Value {
    if shown.purpose == Purpose::Destroy {
        return json!({});
    }
    let all = shown.root.outputs.keys().map(|name| {
        let value = match changes.iter().find(|change| change.name == *name) {
            Some(change) => change.after.as_ref(),
            None => shown.recorded.get(name).map(|recorded| &recorded.value),
        };
        (name.clone(), stated(shown, name, value.filter(|_| is_steady(shown, name))))
    });
    Value::Object(all.collect())
}

/// An output's value, if there is one to state, and whether it is sensitive.
fn stated(shown: &Shown<'_>, name: &str, value: Option<&Value>) -> Value {
    let sensitive = shown.root.outputs.get(name).is_some_and(|output| output.sensitive);
    match value {
        None => json!({"sensitive": sensitive}),
        Some(_) if sensitive => json!({"sensitive": true, "value": MASK}),
        Some(value) => json!({"sensitive": false, "value": mask(value.clone(), shown.secrets)}),
    }
}

#[cfg(test)]
#[path = "plan_json_tests.rs"]
mod tests;
