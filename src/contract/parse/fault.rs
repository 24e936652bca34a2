//! Refused values, and the report that collects them.

use std::collections::BTreeSet;

use crate::contract::{
    inputs::{Inputs, shown_name},
    json::Json,
    known::{KNOWN, nearest},
    problem::{Diagnostic, Problems},
    quote::{is_quotable, quoted},
};

/// The most faults told of one input. More of one kind help nobody and could fill a terminal.
const MAX_TOLD: usize = 20;

/// How many missing inputs are told one by one. More than these mean that a whole file was forgotten.
const MAX_MISSING_TOLD: usize = 3;

/// What somebody at a shell can do about missing inputs.
const WHERE_FROM: &str = "Give -var-file=FILE with the inputs that the controller rendered for the pool; \
                          `machinepool schema inputs` describes them.";

/// One refused value: where in its input, and what about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The way from the input to the value: empty, `.id`, `["key"]`, `[0]`.
    place: String,
    /// The sentence that begins with the path: `is -1, but must be ...`.
    complaint: String,
    /// The same without the value: `must be ...`; `None` if the sentence repeats none.
    without_value: Option<String>,
}

/// Faults of one input; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Faults(pub(super) Vec<Fault>);

impl Fault {
    /// A fault in a value's own words.
    pub(super) fn new(complaint: impl Into<String>) -> Self {
        Self { place: String::new(), complaint: complaint.into(), without_value: None }
    }

    /// A value that is not what it must be.
    pub(super) fn unlike(found: &Json, wanted: &str) -> Self {
        let without_value = Some(format!("must be {wanted}"));
        Self { without_value, ..Self::new(format!("is {}, but must be {wanted}", shown(found))) }
    }

    /// The same, with another complaint where no message may repeat a part of the value.
    pub(super) fn or_without_value(mut self, complaint: &str) -> Self {
        self.without_value = Some(complaint.to_owned());
        self
    }

    /// The fault as seen from the value around it.
    pub(super) fn within(mut self, place: &str) -> Self {
        self.place.insert_str(0, place);
        self
    }
}

impl Faults {
    /// All faults as seen from the value around them.
    pub(super) fn within(self, place: &str) -> Self {
        Self(self.0.into_iter().map(|fault| fault.within(place)).collect())
    }
}

impl From<Fault> for Faults {
    fn from(one: Fault) -> Self {
        Self(vec![one])
    }
}

/// A value for a message: short, on one line, and nothing that may be a secret.
fn shown(json: &Json) -> String {
    match json {
        Json::Bool(value) => value.to_string(),
        Json::Number(text) if is_quotable(text) => text.clone(),
        Json::Number(text) => format!("a number of {} characters", text.len()),
        Json::String(text) => quoted(text),
        Json::Null | Json::Array(_) | Json::Object(_) => json.kind().to_owned(),
    }
}

/// The place of a map's key.
pub(super) fn key_place(key: &str) -> String {
    if is_quotable(key) { format!("[{}]", quoted(key)) } else { format!("[a key of {} bytes]", key.len()) }
}

/// Reads inputs by name and keeps what was wrong with each.
pub(super) struct Report<'a> {
    inputs: &'a Inputs,
    /// Index in [`KNOWN`], error.
    errors: Vec<(usize, Diagnostic)>,
    /// Required inputs that nobody gave.
    missing: Vec<&'static str>,
    pub(super) warnings: Vec<Diagnostic>,
}

impl<'a> Report<'a> {
    pub(super) fn new(inputs: &'a Inputs) -> Self {
        Self { inputs, errors: Vec::new(), missing: Vec::new(), warnings: Vec::new() }
    }

    /// The value of an input; `None` if left out or null.
    pub(super) fn given(&self, name: &str) -> Option<&'a Json> {
        self.inputs.get(name).map(|input| &input.value).filter(|value| **value != Json::Null)
    }

    /// Whether no message may repeat the value of an input.
    pub(super) fn is_hidden(&self, name: &str) -> bool {
        self.inputs.is_hidden(name)
    }

    /// Reads an input that must be there.
    pub(super) fn required<T, E: Into<Faults>>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'a Json) -> Result<T, E>,
    ) -> Option<T> {
        let Some(value) = self.given(name) else {
            match self.inputs.get(name) {
                Some(input) => {
                    let detail = format!("{name} is null ({}), but must have a value.", input.origin);
                    self.error(name, format!("Missing required input {name}"), detail);
                }
                None => self.missing(name),
            }
            return None;
        };
        self.accept(name, read(value))
    }

    /// Takes note of a required input that nobody gave.
    pub(super) fn missing(&mut self, name: &'static str) {
        self.missing.push(name);
    }

    /// Reads an input that has a default.
    pub(super) fn or_default<T, E: Into<Faults>>(
        &mut self,
        name: &'static str,
        default: T,
        read: impl FnOnce(&'a Json) -> Result<T, E>,
    ) -> Option<T> {
        match self.given(name) {
            Some(value) => self.accept(name, read(value)),
            None => Some(default),
        }
    }

    /// Keeps the faults of a value of `name`.
    pub(super) fn accept<T, E: Into<Faults>>(&mut self, name: &'static str, read: Result<T, E>) -> Option<T> {
        read.map_err(|faults| self.refuse(name, faults.into())).ok()
    }

    /// One error for each fault of a value of `name`.
    pub(super) fn refuse(&mut self, name: &'static str, Faults(faults): Faults) {
        let origin = self.inputs.get(name).map_or("default", |input| input.origin.as_str());
        let untold = faults.len().saturating_sub(MAX_TOLD);
        let hidden = self.is_hidden(name);
        for Fault { place, complaint, without_value } in faults.into_iter().take(MAX_TOLD) {
            let complaint = without_value.filter(|_| hidden).unwrap_or(complaint);
            let detail = format!("{name}{place} {complaint} ({origin}).");
            self.error(name, format!("Invalid value for {name}"), detail);
        }
        if untold > 0 {
            let faults = if untold == 1 { "fault" } else { "faults" };
            let detail = format!("{name} has {untold} more {faults} like these ({origin}).");
            self.error(name, format!("Invalid value for {name}"), detail);
        }
    }

    /// An error about the input `name`, in its own words.
    pub(super) fn error(&mut self, name: &str, summary: String, detail: String) {
        self.errors.push((index(name), Diagnostic::error(summary, detail)));
    }

    /// An error for each name that is neither a contract input nor a variable.
    pub(super) fn unknown_names(&mut self) {
        let unknown = |name: &str| KNOWN.iter().all(|(known, _)| *known != name);
        let inputs = self.inputs;
        let mut names = inputs.iter().filter(|(name, _)| unknown(name));
        for (name, input) in names.by_ref().take(MAX_TOLD) {
            let mut detail = format!(
                "\"{}\" ({}) is neither a contract input nor a variable.",
                shown_name(name),
                input.origin
            );
            if let Some(meant) = nearest(name, KNOWN.map(|(known, _)| known)) {
                detail = format!("{detail} Did you mean \"{meant}\"?");
            }
            self.error("", format!("Unsupported argument \"{}\"", shown_name(name)), detail);
        }
        let untold = names.count();
        if untold > 0 {
            let names = if untold == 1 { "name is" } else { "names are" };
            let detail = format!("{untold} more {names} neither a contract input nor a variable.");
            self.error("", "Unsupported arguments".to_owned(), detail);
        }
    }

    /// A warning about the input `name`.
    pub(super) fn warn(&mut self, summary: impl Into<String>, detail: impl Into<String>) {
        self.warnings.push(Diagnostic::warning(summary, detail));
    }

    /// The errors in the order of [`KNOWN`], unknown names last; never empty.
    pub(super) fn problems(mut self) -> Problems {
        self.tell_missing();
        self.errors.sort_by_key(|(index, _)| *index);
        Problems(self.errors.into_iter().map(|(_, error)| error).collect())
    }

    /// One error for each missing input; if there are many, one for all.
    fn tell_missing(&mut self) {
        let mut missing = std::mem::take(&mut self.missing);
        missing.sort_by_key(|name| index(name));
        if missing.len() > MAX_MISSING_TOLD {
            let summary = format!("{} required inputs are missing", missing.len());
            let detail = format!("Missing are {}.\n\n{WHERE_FROM}", missing.join(", "));
            self.errors.push((index(missing[0]), Diagnostic::error(summary, detail)));
            return;
        }
        for name in missing {
            let detail = format!("No value is given for {name}. {WHERE_FROM}");
            self.error(name, format!("Missing required input {name}"), detail);
        }
    }

    /// Whether an input was given, be it as null.
    pub(super) fn is_declared(&self, name: &str) -> bool {
        self.inputs.get(name).is_some()
    }

    /// Takes over the errors of a report about other values.
    pub(super) fn take_errors_of(&mut self, other: Report<'_>) {
        self.errors.extend(other.errors);
    }

    /// The known inputs that something is wrong with.
    pub(super) fn faulty(&self) -> BTreeSet<&'static str> {
        let told = self.errors.iter().filter_map(|(index, _)| KNOWN.get(*index)).map(|(name, _)| *name);
        told.chain(self.missing.iter().copied()).collect()
    }

    /// Whether nothing was wrong.
    pub(super) fn is_clean(&self) -> bool {
        self.errors.is_empty() && self.missing.is_empty()
    }
}

/// The place of an input among all; behind them for a name that is none.
fn index(name: &str) -> usize {
    KNOWN.iter().position(|(known, _)| *known == name).unwrap_or(KNOWN.len())
}
