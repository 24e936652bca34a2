//! The generated root module: which values reach the role, which of them are secret, which outputs leave.
//!
//! Read from Terraform's JSON syntax, in which a block may be an object or a list of objects. What is
//! not needed is ignored.

use std::collections::{BTreeMap, BTreeSet};

use super::argument::{Argument, argument, reference};
use crate::contract::{
    inputs::{Input, Inputs, shown_name},
    json::Json,
    known::{BOOTSTRAP_DATA, KNOWN, Kind, nearest},
    outputs::NAMES,
    problem::{Diagnostic, Problems},
};

/// The file in the working directory that makes the program a runtime.
pub const FILE: &str = "main.tf.json";

/// The module call of the role.
const ROLE: &str = "role";

/// Names in a module block that are Terraform's, not the module's.
const META_ARGUMENTS: [&str; 7] = ["source", "version", "providers", "count", "for_each", "depends_on", "//"];

/// A root module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Root {
    /// The settings in the `kubernetes` backend block, in the order written; `None` without the block.
    pub backend: Option<Vec<(String, Json)>>,
    /// The variables, by name.
    pub variables: BTreeMap<String, RootVariable>,
    /// Where the role's module is, as the root says it.
    pub source: Option<String>,
    /// What the root passes to the role, by argument; `None` for a root that only has a backend.
    pub arguments: Option<BTreeMap<String, Argument>>,
    /// The outputs that re-export one of the role's, by their name in the root.
    pub outputs: BTreeMap<String, RootOutput>,
}

/// One `variable` block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootVariable {
    /// Its value must never be shown or stored.
    pub sensitive: bool,
    /// Its value where none is given.
    pub default: Option<Json>,
    /// Whether its default also takes the place of a null.
    pub refuses_null: bool,
}

/// One `output` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootOutput {
    /// The role's output that it re-exports.
    pub output: String,
    /// Whether the root marks it as sensitive.
    pub sensitive: bool,
}

impl Root {
    /// The root of a pool that is managed without one: every output leaves under its own name, and only the
    /// bootstrap data is secret.
    pub fn of_operator() -> Self {
        let output = |name: &str| RootOutput { output: name.to_owned(), sensitive: false };
        Self {
            outputs: NAMES.iter().map(|name| ((*name).to_owned(), output(name))).collect(),
            ..Self::default()
        }
    }

    /// Reads the text of a root module.
    pub fn parse(text: &[u8]) -> Result<Self, Problems> {
        let json = Json::parse(text).map_err(|error| {
            let place = error
                .position
                .map_or_else(String::new, |(line, column)| format!(" (line {line}, column {column})"));
            Diagnostic::error(format!("Invalid {FILE}"), format!("{FILE} {}{place}.", error.reason))
        })?;
        if !matches!(json, Json::Object(_)) {
            let detail = format!("{FILE} holds {}; wanted one JSON object.", json.kind());
            return Err(Diagnostic::error(format!("Invalid {FILE}"), detail).into());
        }
        let module = labelled(&json, "module").into_iter().find(|(name, _)| *name == ROLE);
        Ok(Self {
            backend: backend(&json)?,
            variables: labelled(&json, "variable")
                .into_iter()
                .map(|(name, body)| (name.to_owned(), variable(body)))
                .collect(),
            source: module.and_then(|(_, body)| match body.get("source") {
                Some(Json::String(source)) => Some(source.clone()),
                _ => None,
            }),
            arguments: module.map(|(_, body)| arguments(body)),
            outputs: labelled(&json, "output")
                .into_iter()
                .filter_map(|(name, body)| Some((name.to_owned(), output(body)?)))
                .collect(),
        })
    }

    /// All that is wrong with it, in Terraform's words; empty if nothing is.
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let empty = BTreeMap::new();
        for (name, argument) in self.arguments.as_ref().unwrap_or(&empty) {
            found.extend(unsupported(name));
            found.extend(self.unusable(name, argument));
        }
        if let Some(arguments) = &self.arguments {
            let required = KNOWN.iter().filter(|(_, kind)| matches!(kind, Kind::Required | Kind::Nullable));
            found.extend(required.filter(|(name, _)| !arguments.contains_key(*name)).map(|(name, _)| {
                Diagnostic::error(
                    format!("Missing required argument: \"{name}\""),
                    format!(
                        "The argument \"{name}\" is required, but module.{ROLE} in {FILE} does not pass it."
                    ),
                )
            }));
        }
        found.extend(self.check_outputs());
        found
    }

    /// The outputs that re-export what the role does not have.
    pub fn check_outputs(&self) -> Vec<Diagnostic> {
        self.outputs
            .iter()
            .filter(|(_, output)| !NAMES.contains(&output.output.as_str()))
            .map(|(name, output)| {
                let mut detail = format!(
                    "This object does not have an attribute named \"{}\". The output \"{name}\" in {FILE} asks \
                     for it.",
                    output.output
                );
                if let Some(meant) = nearest(&output.output, NAMES) {
                    detail = format!("{detail} Did you mean \"{meant}\"?");
                }
                Diagnostic::error(format!("Unsupported attribute: \"{}\"", output.output), detail)
            })
            .collect()
    }

    fn unusable(&self, name: &str, argument: &Argument) -> Vec<Diagnostic> {
        if *argument == Argument::Expression {
            return vec![Diagnostic::error(
                format!("Unsupported expression: \"{name}\""),
                format!(
                    "The argument \"{name}\" of module.{ROLE} is not made of values and whole variables, such as \
                     ${{var.{name}}}, alone."
                ),
            )];
        }
        let undeclared = argument.variables().into_iter().filter(|v| !self.variables.contains_key(*v));
        undeclared
            .map(|variable| {
                Diagnostic::error(
                    format!("Reference to undeclared input variable: \"{variable}\""),
                    format!(
                        "An input variable with the name \"{variable}\" has not been declared; the argument \
                         \"{name}\" of module.{ROLE} refers to it."
                    ),
                )
            })
            .collect()
    }

    /// What the role is given when the root's variables have the values `given`, and warnings about
    /// values that no variable is declared for: they reach nothing.
    pub fn inputs(&self, given: &Inputs) -> (Inputs, Vec<Diagnostic>) {
        let mut inputs = Inputs::default();
        for (name, argument) in self.arguments.iter().flatten() {
            let input = match argument {
                Argument::Variable(variable) => self.variable(variable, given),
                other => self.value(other, given).map(of_root),
            };
            if let Some(input) = input {
                inputs.set(name, input);
            }
        }
        let undeclared = given.iter().filter(|(name, _)| !self.variables.contains_key(*name));
        let warnings = undeclared.map(|(name, input)| {
            Diagnostic::warning(
                format!("Value for undeclared variable: \"{}\"", shown_name(name)),
                format!(
                    "{FILE} does not declare a variable named \"{}\", but {} gives it a value. It is ignored.",
                    shown_name(name),
                    input.origin
                ),
            )
        });
        (inputs, warnings.collect())
    }

    /// What a variable has: the value given, else its default.
    fn variable(&self, name: &str, given: &Inputs) -> Option<Input> {
        let variable = self.variables.get(name);
        let default = || Some(of_root(variable?.default.clone()?));
        match given.get(name) {
            Some(input) if input.value == Json::Null && variable.is_some_and(|v| v.refuses_null) => default(),
            Some(input) => Some(input.clone()),
            None => default(),
        }
    }

    /// The value of an argument; `None` if a variable in it has none.
    fn value(&self, argument: &Argument, given: &Inputs) -> Option<Json> {
        match argument {
            Argument::Variable(name) => Some(self.variable(name, given)?.value),
            Argument::Literal(value) => Some(value.clone()),
            Argument::List(items) => {
                let items = items.iter().map(|item| self.value(item, given));
                Some(Json::Array(items.collect::<Option<_>>()?))
            }
            Argument::Object(fields) => {
                let fields =
                    fields.iter().map(|(name, field)| Some((name.clone(), self.value(field, given)?)));
                Some(Json::Object(fields.collect::<Option<_>>()?))
            }
            Argument::Expression => None,
        }
    }

    /// The arguments whose values must never be shown or stored.
    pub fn sensitive(&self) -> BTreeSet<String> {
        let sensitive = |name: &&str| self.variables.get(*name).is_some_and(|variable| variable.sensitive);
        let mut names = BTreeSet::from([BOOTSTRAP_DATA.to_owned()]);
        for (name, argument) in self.arguments.iter().flatten() {
            if argument.variables().iter().any(sensitive) {
                names.insert(name.clone());
            }
        }
        names
    }
}

/// A value that the root itself gives.
fn of_root(value: Json) -> Input {
    Input { value, origin: FILE.to_owned() }
}

fn unsupported(name: &str) -> Option<Diagnostic> {
    if KNOWN.iter().any(|(known, _)| *known == name) {
        return None;
    }
    let shown = shown_name(name);
    let mut detail = format!("An argument named \"{shown}\" is not expected here.");
    if let Some(meant) = nearest(name, KNOWN.map(|(known, _)| known)) {
        detail = format!("{detail} Did you mean \"{meant}\"?");
    }
    Some(Diagnostic::error(format!("Unsupported argument: \"{shown}\""), detail))
}

/// The bodies of a block: an object is one, a list holds several.
fn bodies(json: &Json) -> Vec<&Json> {
    match json {
        Json::Array(items) => items.iter().collect(),
        Json::Null => Vec::new(),
        one => vec![one],
    }
}

/// The blocks of a kind that has a label, such as `variable "x"`, with their labels. Of a block that is
/// given as a list, the last body counts.
pub(super) fn labelled<'a>(json: &'a Json, kind: &str) -> Vec<(&'a str, &'a Json)> {
    let mut found = Vec::new();
    for outer in json.get(kind).map(bodies).unwrap_or_default() {
        if let Json::Object(blocks) = outer {
            let blocks = blocks.iter().filter(|(label, _)| label != "//");
            found.extend(blocks.filter_map(|(label, body)| Some((label.as_str(), *bodies(body).last()?))));
        }
    }
    found
}

fn backend(json: &Json) -> Result<Option<Vec<(String, Json)>>, Problems> {
    let settings = json.get("terraform").map(bodies).unwrap_or_default();
    let Some((kind, body)) = settings.iter().flat_map(|block| labelled(block, "backend")).next() else {
        return Ok(None);
    };
    match (kind, body) {
        ("kubernetes", Json::Object(fields)) => {
            Ok(Some(fields.iter().filter(|(name, _)| name != "//").cloned().collect()))
        }
        ("kubernetes", other) => {
            let detail =
                format!("The kubernetes backend block in {FILE} is {}; wanted an object.", other.kind());
            Err(Diagnostic::error("Invalid backend configuration", detail).into())
        }
        (other, _) => Err(Diagnostic::error(
            "Unsupported backend type",
            format!("{FILE} asks for the backend \"{other}\"; state is kept in a kubernetes backend only."),
        )
        .into()),
    }
}

fn variable(body: &Json) -> RootVariable {
    let refuses_null = match body.get("nullable") {
        Some(Json::Bool(nullable)) => !nullable,
        Some(Json::String(text)) => text == "false",
        _ => false,
    };
    RootVariable { sensitive: is_sensitive(body), default: body.get("default").cloned(), refuses_null }
}

/// Whether a block says `sensitive`. What is not plainly false counts as true.
fn is_sensitive(body: &Json) -> bool {
    match body.get("sensitive") {
        None | Some(Json::Null | Json::Bool(false)) => false,
        Some(Json::String(text)) => text != "false",
        Some(_) => true,
    }
}

fn arguments(body: &Json) -> BTreeMap<String, Argument> {
    let Json::Object(fields) = body else { return BTreeMap::new() };
    fields
        .iter()
        .filter(|(name, _)| !META_ARGUMENTS.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), argument(value)))
        .collect()
}

fn output(body: &Json) -> Option<RootOutput> {
    let Json::String(text) = body.get("value")? else { return None };
    let output = reference(text, &format!("module.{ROLE}."))?;
    Some(RootOutput { output: output.to_owned(), sensitive: is_sensitive(body) })
}

#[cfg(test)]
#[path = "root_tests.rs"]
pub(super) mod tests;
