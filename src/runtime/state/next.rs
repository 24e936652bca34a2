//! The state that follows a state.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    OutputValue, State, TERRAFORM_VERSION, document, facts, is_sensitive, resources::ResourceNow, types,
};
use crate::{contract::json::Json, model::plan::Address};

/// What is to be in the state now.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The outputs of the root. One whose value is `null` is left out, as Terraform does it.
    pub outputs: BTreeMap<String, OutputValue>,
    /// The resources.
    pub resources: ResourcesChange,
}

/// How a state comes into the place of another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placed {
    /// Not at all: what is there says the same.
    Already,
    /// With its own serial.
    AsIs,
    /// With this serial: its own is one that the other one, or one before it, may have had.
    Renumbered(State),
}

/// What becomes of the resources in the state.
#[derive(Clone, Debug)]
pub enum ResourcesChange {
    /// They pass as they are, whoever wrote them: a refresh.
    Keep,
    /// Of the pool's own only these are left; they pass as they are, and so do all others.
    Left(BTreeSet<Address>),
    /// These are all.
    Now(Vec<ResourceNow>),
}

/// The state to write after `previous`, the one that was read (if there was one); `None` if nothing in it
/// changed, so that there is nothing to write and the serial stays.
///
/// Lineage and release of a state found are kept; a first one, or one without a lineage, gets
/// `new_lineage`. Results of checks are dropped: nobody has checked again.
pub fn next(
    previous: Option<&State>,
    recorded: &Recorded,
    new_lineage: impl FnOnce() -> String,
) -> Option<State> {
    let outputs = outputs(previous, &recorded.outputs);
    let resources: Vec<Json> = match (&recorded.resources, previous) {
        (ResourcesChange::Now(resources), _) => resources.iter().map(ResourceNow::entry).cloned().collect(),
        (ResourcesChange::Keep, Some(previous)) => previous.resources.clone(),
        (ResourcesChange::Left(left), Some(previous)) => {
            let stays = |entry: &&Json| facts::address(entry).is_none_or(|address| left.contains(&address));
            previous.resources.iter().filter(stays).cloned().collect()
        }
        (ResourcesChange::Keep | ResourcesChange::Left(_), None) => Vec::new(),
    };
    if previous
        .is_some_and(|p| same_outputs(&p.outputs, &outputs) && same_resources(&p.resources, &resources))
    {
        return None;
    }
    let lineage = previous.map(|p| p.lineage.clone()).filter(|lineage| !lineage.is_empty());
    let release = previous.map(|p| p.terraform_version.clone()).filter(|release| is_release(release));
    let mut others: Vec<(String, Json)> = previous.map(|p| p.others.clone()).unwrap_or_default();
    others.retain(|(name, _)| name != "check_results");
    others.insert(0, ("check_results".to_owned(), Json::Null));
    Some(State {
        terraform_version: release.unwrap_or_else(|| TERRAFORM_VERSION.to_owned()),
        serial: previous.map_or(1, |p| p.serial.saturating_add(1)),
        lineage: lineage.unwrap_or_else(new_lineage),
        outputs,
        resources,
        others,
    })
}

impl State {
    /// Whether there is nothing in it, as a destroy leaves it.
    pub fn is_empty(&self) -> bool {
        self.outputs.is_empty() && self.resources.is_empty()
    }

    /// Whether two states say the same, whatever their numbers and the releases that wrote them.
    pub fn says_the_same(&self, other: &Self) -> bool {
        let rest = |state: &Self| {
            let said = state.others.iter().filter(|(_, value)| *value != Json::Null);
            Json::Object(said.cloned().collect())
        };
        same_outputs(&self.outputs, &other.outputs)
            && same_resources(&self.resources, &other.resources)
            && document::same(&rest(self), &rest(other))
    }

    /// How this state comes into the place of the present one. A serial that was in use never gets another content:
    /// whoever keeps backups by serial would take it for one that it has.
    pub fn in_place_of(&self, present: &Self) -> Placed {
        if self.serial > present.serial {
            return Placed::AsIs;
        }
        if self.lineage == present.lineage && self.says_the_same(present) {
            return Placed::Already;
        }
        Placed::Renumbered(Self { serial: present.serial.saturating_add(1), ..self.clone() })
    }
}

/// The entries of `outputs`. One that says the same as before stays as it was, its type included.
fn outputs(previous: Option<&State>, outputs: &BTreeMap<String, OutputValue>) -> BTreeMap<String, Json> {
    let entry = |name: &String, output: &OutputValue| {
        let value = document::from_value(&output.value);
        let before = previous.and_then(|p| p.outputs.get(name)).filter(|before| {
            is_sensitive(before) == output.sensitive
                && before.get("value").is_some_and(|before| document::same(before, &value))
        });
        if let Some(before) = before {
            return before.clone();
        }
        let kind = types::output_type(name, &value);
        let mut members = vec![("value".to_owned(), value), ("type".to_owned(), kind)];
        if output.sensitive {
            members.push(("sensitive".to_owned(), Json::Bool(true)));
        }
        Json::Object(members)
    };
    outputs
        .iter()
        .filter(|(_, output)| !output.value.is_null())
        .map(|(name, output)| (name.clone(), entry(name, output)))
        .collect()
}

fn same_outputs(a: &BTreeMap<String, Json>, b: &BTreeMap<String, Json>) -> bool {
    a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same_output(a, b)))
}

/// That one is not sensitive may be said, or not.
fn same_output(a: &Json, b: &Json) -> bool {
    let rest = |entry: &Json| match entry {
        Json::Object(members) => {
            Json::Object(members.iter().filter(|(name, _)| name != "sensitive").cloned().collect())
        }
        other => other.clone(),
    };
    is_sensitive(a) == is_sensitive(b) && document::same(&rest(a), &rest(b))
}

/// Whether two lists hold the same entries, in whatever order.
fn same_resources(a: &[Json], b: &[Json]) -> bool {
    let within = |a: &[Json], b: &[Json]| a.iter().all(|a| b.iter().any(|b| document::same(a, b)));
    a.len() == b.len() && within(a, b) && within(b, a)
}

/// Whether a text is a release as Terraform reads one, such as `1.11.4` or `1.12.0-beta1`.
fn is_release(text: &str) -> bool {
    let core = text.split(['-', '+']).next().unwrap_or_default();
    let parts: Vec<&str> = core.split('.').collect();
    parts.len() == 3
        && parts.iter().all(|p| (1..=9).contains(&p.len()) && p.bytes().all(|b| b.is_ascii_digit()))
}
