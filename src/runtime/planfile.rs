//! A saved plan: what was going to be done, and all that is needed to do just that later.
//!
//! It holds the inputs as they were, bootstrap data included, and so is written for its owner only. It
//! holds no steps: applying it observes and plans anew, and [`stale`] says whether what would be done is
//! still what was saved.

use std::{collections::BTreeSet, io, path::Path};

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{error::Category, value::RawValue};

use super::{
    plan_origin::{Origin, STALE},
    plan_place, private_file,
    state::Written,
};
use crate::{
    contract::{
        ids::ImageId,
        inputs::{Input, Inputs},
        json::{Json, MAX_BYTES},
        problem::{Diagnostic, sentence},
    },
    error::{file_hint, file_name},
    model::{
        plan::{Action, Address, Change, INSTANCE_REFRESH, Plan},
        records::{self, RollMark},
    },
    view::Purpose,
};

/// The version of the file's format. A file of any other one, earlier or later, is refused.
const VERSION: u64 = 4;

/// No plan is larger: each file of inputs may have [`MAX_BYTES`], and there may be several. In bytes.
const LARGEST: usize = 8 * MAX_BYTES;

/// A saved plan. Has no `Debug`: the inputs hold a secret.
pub struct SavedPlan {
    /// Whether it makes the pool or destroys it.
    pub purpose: Purpose,
    /// Where it was made, and so where alone it may be applied.
    pub origin: Origin,
    /// The inputs of the role.
    pub inputs: Inputs,
    /// The inputs that the root calls sensitive: they are not told wherever the plan is read.
    pub sensitive: BTreeSet<String>,
    /// The image that a look-up found; `None` if the inputs pin one, and for a destroy.
    pub image: Option<ImageId>,
    /// What it changes.
    pub essence: Essence,
    /// The outputs that it records anew or removes, by their names in the root, if it changes nothing else.
    pub outputs: BTreeSet<String>,
    /// The plan as `show -json` prints it; see [`super::plan_json`].
    pub json: String,
    /// The plan as a person reads it.
    pub text: String,
}

/// What a plan comes down to: the part that must be the same when it is applied. Members, the progress
/// of a refresh, a capacity that a scaler moved and pending clean-up are no part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Essence {
    /// What changes, in the plan's order.
    changes: Vec<EssentialChange>,
    /// Addresses of updates of which nothing essential is left, such as a roll that is started again.
    passing: BTreeSet<String>,
    /// Whether running instances are going to be replaced.
    rolls: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct EssentialChange {
    address: String,
    action: String,
    name: Option<String>,
    fields: Vec<EssentialField>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct EssentialField {
    field: String,
    now: Option<String>,
    then: Option<String>,
}

impl Essence {
    /// The essence of a plan.
    pub fn of(plan: &Plan) -> Self {
        let mut essence = Self { changes: Vec::new(), passing: BTreeSet::new(), rolls: rolls(plan) };
        for change in &plan.changes {
            let fields = essential_fields(change);
            if change.action == Action::Update && fields.is_empty() {
                essence.passing.insert(change.address.to_string());
                continue;
            }
            // A destroy lists every template of the pool, and clean-up may take some before it.
            let name = (change.action != Action::Delete).then(|| change.name.clone());
            let action = verb(change.action).to_owned();
            essence.changes.push(EssentialChange {
                address: change.address.to_string(),
                action,
                name,
                fields,
            });
        }
        essence
    }
}

fn verb(action: Action) -> &'static str {
    match action {
        Action::Create => "create",
        Action::Update => "update",
        Action::Replace => "replace",
        Action::Delete => "delete",
    }
}

/// A template that is replaced, or members that are.
fn rolls(plan: &Plan) -> bool {
    !plan.replaced.is_empty()
        || plan.changes.iter().any(|change| {
            change.action == Action::Replace
                || change.fields.iter().any(|field| field.field == INSTANCE_REFRESH)
        })
}

fn essential_fields(change: &Change) -> Vec<EssentialField> {
    let updates_group = change.address == Address::Group && change.action == Action::Update;
    let passing = |field: &str| updates_group && matches!(field, INSTANCE_REFRESH | "desired_capacity");
    change
        .fields
        .iter()
        .filter(|field| !passing(&field.field))
        .map(|field| EssentialField {
            field: field.field.clone(),
            now: field.now.as_deref().map(|value| steady(&field.field, value)),
            then: field.then.as_deref().map(|value| steady(&field.field, value)),
        })
        // Only the part that moves differs: an active refresh is to be ended.
        .filter(|field| field.now != field.then)
        .collect()
}

/// A value without the part that moves with an instance refresh: the roll mark names the newest one.
pub(super) fn steady(field: &str, value: &str) -> String {
    if field == format!("tags[\"{}\"]", records::ROLL)
        && let Some(mark) = RollMark::parse(value)
    {
        return mark.hash;
    }
    value.to_owned()
}

/// Whether the saved plan no longer is what an apply would do, as the error to tell.
pub fn stale(saved: &Essence, fresh: &Essence) -> Option<Diagnostic> {
    let addresses = if saved.changes == fresh.changes {
        // Of a plan that was nothing but a roll to start again, nothing is left once it is under way.
        let gone = saved.changes.is_empty() && fresh.passing.is_empty() && !saved.passing.is_empty();
        if gone {
            saved.passing.clone()
        } else if fresh.rolls && !saved.rolls {
            BTreeSet::from([Address::Group.to_string()])
        } else {
            return None;
        }
    } else {
        differing(saved, fresh)
    };
    let addresses: Vec<String> = addresses.into_iter().collect();
    Some(Diagnostic::error(
        STALE,
        format!(
            "Since it was made, the pool or what it stands on has changed: {} would now be changed otherwise, or \
             not at all. Nothing was done. Plan again, and apply the new plan.",
            addresses.join(", ")
        ),
    ))
}

/// The same of a plan that changes outputs only: `left` are those that are still to be changed.
pub fn stale_outputs(saved: &BTreeSet<String>, left: &BTreeSet<String>) -> Option<Diagnostic> {
    if saved.is_empty() || !saved.is_disjoint(left) {
        return None;
    }
    let names: Vec<String> = saved.iter().map(|name| crate::view::text::line(name)).collect();
    Some(Diagnostic::error(
        STALE,
        format!(
            "It was going to change recorded outputs only ({}), and that has been done since. Nothing was done.",
            names.join(", ")
        ),
    ))
}

fn differing(saved: &Essence, fresh: &Essence) -> BTreeSet<String> {
    let only_in = |one: &Essence, other: &Essence| {
        one.changes
            .iter()
            .filter(|c| !other.changes.contains(c))
            .map(|c| c.address.clone())
            .collect::<Vec<_>>()
    };
    only_in(saved, fresh).into_iter().chain(only_in(fresh, saved)).collect()
}

/// The file's content. Read in two steps: the first two members tell whether it is a plan at all.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    machinepool_plan: u64,
    written_by: String,
    destroys: bool,
    origin: Origin,
    sensitive: BTreeSet<String>,
    inputs: Box<RawValue>,
    origins: std::collections::BTreeMap<String, String>,
    image: Option<String>,
    essence: Essence,
    outputs: BTreeSet<String>,
    json: String,
    text: String,
}

#[derive(Deserialize)]
struct Head {
    machinepool_plan: u64,
    written_by: String,
}

impl SavedPlan {
    /// Writes the plan to `path`, readable by its owner only, whole or not at all; not over anything but a plan.
    pub fn write(&self, path: &Path) -> Result<(), Diagnostic> {
        let cannot = |error: &dyn std::fmt::Display| {
            Diagnostic::error(
                format!("Cannot write the plan file {}", file_name(path)),
                sentence(&error.to_string()),
            )
        };
        let bytes = self.to_bytes().map_err(|error| cannot(&error))?;
        plan_place::check_content(path)?;
        private_file::write(path, &bytes).map_err(|error| cannot(&error))
    }

    /// Reads the plan in `path`.
    pub fn read(path: &Path) -> Result<Self, Diagnostic> {
        let bytes = private_file::read(path, LARGEST as u64).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => refused(path, "There is no such file."),
            _ => refused(path, &sentence(&error.to_string())),
        })?;
        Self::from_bytes(&bytes).map_err(|reason| refused(path, &reason))
    }

    /// The content of a plan file; the same plan gives the same bytes. Secret: it holds the inputs.
    ///
    /// # Errors
    /// None that an input which was read could cause.
    pub fn to_bytes(&self) -> serde_json::Result<Vec<u8>> {
        let origins =
            self.inputs.iter().map(|(name, input)| (name.to_owned(), input.origin.clone())).collect();
        serde_json::to_vec(&Content {
            machinepool_plan: VERSION,
            written_by: env!("CARGO_PKG_VERSION").to_owned(),
            destroys: self.purpose == Purpose::Destroy,
            origin: self.origin.clone(),
            sensitive: self.sensitive.clone(),
            inputs: serde_json::value::to_raw_value(&InputsAsJson(&self.inputs))?,
            origins,
            image: self.image.as_ref().map(ToString::to_string),
            essence: self.essence.clone(),
            outputs: self.outputs.clone(),
            json: self.json.clone(),
            text: self.text.clone(),
        })
    }

    /// Reads the content of a plan file.
    ///
    /// # Errors
    /// The reason, as a sentence that quotes nothing of the file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let head: Head = serde_json::from_slice(bytes).map_err(|error| fault(bytes, &error))?;
        if head.machinepool_plan != VERSION {
            return Err(format!(
                "It was written by machinepool {} in version {} of the format, and this program reads version \
                 {VERSION}. Apply it with the program that wrote it, or plan again.",
                crate::view::text::line(&head.written_by),
                head.machinepool_plan
            ));
        }
        let content: Content = serde_json::from_slice(bytes).map_err(|error| fault(bytes, &error))?;
        let damaged = || "It is damaged: its content is not what the program writes.".to_owned();
        let Ok(Json::Object(fields)) = Json::parse_within(content.inputs.get().as_bytes(), LARGEST) else {
            return Err(damaged());
        };
        let mut inputs = Inputs::default();
        for (name, value) in fields {
            let origin = content.origins.get(&name).cloned().unwrap_or_else(|| "the saved plan".to_owned());
            inputs.set(&name, Input { value, origin });
        }
        let image = content.image.map(|id| id.parse()).transpose().map_err(|_| damaged())?;
        let purpose = if content.destroys { Purpose::Destroy } else { Purpose::Apply };
        let Content { origin, sensitive, essence, outputs, json, text, .. } = content;
        Ok(Self { purpose, origin, inputs, sensitive, image, essence, outputs, json, text })
    }
}

fn refused(path: &Path, reason: &str) -> Diagnostic {
    let mut problem =
        Diagnostic::error(format!("Failed to load \"{}\" as a plan file", file_name(path)), reason);
    if let Some(hint) = file_hint(path, "PLANFILE") {
        problem.add(&hint);
    }
    problem
}

fn fault(bytes: &[u8], error: &serde_json::Error) -> String {
    let ours = bytes.starts_with(plan_place::OURS);
    match error.classify() {
        Category::Eof if ours => "It was cut off: the end is missing. Plan again.".to_owned(),
        _ if ours => "It is damaged: its content is not what the program writes. Plan again.".to_owned(),
        _ if plan_place::is_terraforms(bytes) => {
            "It is a plan that Terraform or OpenTofu saved; only they can read it. Plan again.".to_owned()
        }
        _ => "It is no plan that this program saved with plan -out=FILE.".to_owned(),
    }
}

/// Inputs as one JSON object, every number as it was written.
struct InputsAsJson<'a>(&'a Inputs);

impl Serialize for InputsAsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, input)| (name, Written(&input.value))))
    }
}

#[cfg(test)]
#[path = "planfile_tests.rs"]
pub(super) mod tests;
