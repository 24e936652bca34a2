//! What was said: the inputs' names and values from files and options, before anything is checked.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    json::{Json, JsonError, Step},
    known::{BOOTSTRAP_DATA, MAX_SHOWN_NAME},
    problem::Diagnostic,
    quote::looks_secret,
};

/// One value and where it came from.
#[derive(Clone)]
pub struct Input {
    /// The value as written.
    pub value: Json,
    /// The file's name, or `-var`.
    pub origin: String,
}

/// All values given, by top-level name. Has no `Debug`: one of them is a secret.
#[derive(Clone, Default)]
pub struct Inputs {
    given: BTreeMap<String, Input>,
    /// Names of inputs whose values no message repeats.
    hidden: BTreeSet<String>,
}

impl Inputs {
    /// Adds the values of one file. Each replaces the whole earlier value of its name, as Terraform does.
    ///
    /// `origin` is the file's name for messages, `bytes` its content: one JSON object. On an error
    /// nothing is added.
    pub fn add_file(&mut self, origin: &str, bytes: &[u8]) -> Result<(), Diagnostic> {
        match Json::parse(bytes) {
            Ok(Json::Object(fields)) => {
                for (name, value) in fields {
                    self.given.insert(name, Input { value, origin: origin.to_owned() });
                }
                Ok(())
            }
            Ok(other) => Err(Diagnostic::error(
                format!("Invalid input file {origin}"),
                format!("{origin} holds {}; wanted one JSON object with an input per key.", other.kind()),
            )),
            Err(error) => {
                Err(Diagnostic::error(format!("Invalid input file {origin}"), describe(origin, "", error)))
            }
        }
    }

    /// Adds the `NAME=VALUE` of one `-var` option; it replaces any earlier value of that name.
    ///
    /// The value is read as JSON, else taken as a string. A number or bool keeps its text:
    /// `kubernetes_version=1.10` stays `1.10`, and a text that is a number converts to one anyway.
    /// What begins like a JSON object or list but is not well-formed is an error, as no input takes
    /// such a string.
    pub fn add_var(&mut self, assignment: &str) -> Result<(), Diagnostic> {
        let Some((name, text)) =
            assignment.split_once('=').filter(|(name, _)| !name.is_empty() && !name.starts_with(['{', '[']))
        else {
            // The text itself is not repeated: it may be a value that lacks its name.
            return Err(Diagnostic::error(
                "Invalid -var option",
                "A -var option must be NAME=VALUE, such as -var replicas=3.",
            ));
        };
        let value = match Json::parse(text.as_bytes()) {
            Ok(Json::Number(_) | Json::Bool(_)) => Json::String(text.trim_ascii().to_owned()),
            Ok(value) => value,
            Err(error) if text.trim_start().starts_with(['{', '[']) => {
                let name = shown_name(name);
                let detail = describe(&format!("The value of -var {name}"), &name, error);
                return Err(Diagnostic::error(format!("Invalid value for {name}"), detail));
            }
            Err(_) => Json::String(text.to_owned()),
        };
        self.given.insert(name.to_owned(), Input { value, origin: "-var".to_owned() });
        Ok(())
    }

    /// Gives one name a value; it replaces any earlier one.
    pub fn set(&mut self, name: &str, input: Input) {
        self.given.insert(name.to_owned(), input);
    }

    /// From now on no message about an input called one of `names` repeats its value.
    pub fn hide(&mut self, names: BTreeSet<String>) {
        self.hidden = names;
    }

    /// Whether no message may repeat the value of an input.
    pub fn is_hidden(&self, name: &str) -> bool {
        self.hidden.contains(name)
    }

    /// The value of one name.
    pub fn get(&self, name: &str) -> Option<&Input> {
        self.given.get(name)
    }

    /// Every name given, sorted, with its value.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Input)> {
        self.given.iter().map(|(name, input)| (name.as_str(), input))
    }
}

/// An unknown name for a message: on one line, and only if it can be no value that was put in the wrong place.
pub(crate) fn shown_name(name: &str) -> String {
    let is_document = name.contains('\n') && name.contains(' ');
    if name.len() > MAX_SHOWN_NAME || is_document || looks_secret(name) {
        return format!("(a name of {} characters)", name.chars().count());
    }
    escaped(name)
}

/// A text on one line, whatever is in it. An apostrophe stays one.
pub(crate) fn escaped(text: &str) -> String {
    text.split('\'').map(|part| part.escape_debug().to_string()).collect::<Vec<_>>().join("'")
}

/// A sentence that begins with `subject`; `root` is the name of the input that the path starts in, if any.
fn describe(subject: &str, root: &str, error: JsonError) -> String {
    let mut text = format!("{subject} {}", error.reason);
    if !error.path.is_empty() {
        text = format!("{text}: {}", path(root, error.path));
    }
    if let Some((line, column)) = error.position {
        text = format!("{text} (line {line}, column {column})");
    }
    text.push('.');
    text
}

/// The path in the notation of all messages: `machine_image.id`, `node_labels["a/b"]`, `list[0]`.
fn path(root: &str, steps: Vec<Step>) -> String {
    let mut text = root.to_owned();
    for step in steps {
        if text == BOOTSTRAP_DATA {
            break;
        }
        match step {
            Step::Key(key) if text.is_empty() => text = shown_name(&key),
            Step::Key(key) => text = format!("{text}[\"{}\"]", shown_name(&key)),
            Step::Index(index) => text = format!("{text}[{index}]"),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    fn value(inputs: &Inputs, name: &str) -> Json {
        inputs.get(name).unwrap().value.clone()
    }

    #[test]
    fn later_wins_per_top_level_name() {
        let mut inputs = Inputs::default();
        inputs
            .add_file("a.json", br#"{"spot": true, "machine_image": {"id": "ami-1", "owner": "self"}}"#)
            .unwrap();
        inputs.add_file("b.json", br#"{"machine_image": {"architecture": "arm64"}}"#).unwrap();
        assert!(value(&inputs, "machine_image").get("id").is_none(), "objects are replaced, not merged");
        assert_eq!(inputs.get("machine_image").unwrap().origin, "b.json");
        assert_eq!(inputs.get("spot").unwrap().origin, "a.json");
        inputs.add_var("spot=false").unwrap();
        assert_eq!(inputs.get("spot").unwrap().origin, "-var");
        assert_eq!(inputs.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["machine_image", "spot"]);
    }

    #[test]
    fn options_are_json_if_they_parse_else_text() {
        for (text, wanted) in [
            ("1.10", Json::String("1.10".into())),
            (" 3 ", Json::String("3".into())),
            ("1e2", Json::String("1e2".into())),
            ("true", Json::String("true".into())),
            ("null", Json::Null),
            ("", Json::String(String::new())),
            ("v1.31.4+rke2r1", Json::String("v1.31.4+rke2r1".into())),
            ("\"1.10\"", Json::String("1.10".into())),
            ("a=b", Json::String("a=b".into())),
            ("\"open", Json::String("\"open".into())),
            ("[1]", Json::Array(vec![Json::Number("1".into())])),
        ] {
            let mut inputs = Inputs::default();
            inputs.add_var(&format!("x={text}")).unwrap();
            assert!(value(&inputs, "x") == wanted, "{text}");
        }
    }

    #[test]
    fn faulty_options_are_refused_without_repeating_them() {
        for assignment in
            ["s3cr3t", "=s3cr3t", "", "bootstrap_data={\"s3cr3t\":1,\"s3cr3t\":2}", "replicas=[s3cr3t"]
        {
            let error = Inputs::default().add_var(assignment).unwrap_err();
            assert!(!error.to_string().contains("s3cr3t"), "{error}");
        }
        let error = Inputs::default().add_var(r#"additional_tags={"a":"1","a":"2"}"#).unwrap_err();
        assert_eq!(error.summary, "Invalid value for additional_tags");
        assert_eq!(
            error.detail,
            "The value of -var additional_tags has a key twice in one object: additional_tags[\"a\"] \
             (line 1, column 10)."
        );
    }

    #[test]
    fn faulty_files_are_named_with_the_place() {
        let fault = |bytes: &[u8]| Inputs::default().add_file("x.tfvars.json", bytes).unwrap_err();
        assert_eq!(
            fault(b"[]").detail,
            "x.tfvars.json holds a list; wanted one JSON object with an input per key."
        );
        assert_eq!(
            fault(b"{\n\"node_labels\": {\"a/b\": \"1\", \"a/b\": \"2\"}}").detail,
            "x.tfvars.json has a key twice in one object: node_labels[\"a/b\"] (line 2, column 29)."
        );
        assert!(fault(b"{\"replicas\": 1").detail.contains("ends too early"));
        let secret = fault(b"{\"bootstrap_data\": {\"s3cr3t\": [{\"s3cr3t\": 1, \"s3cr3t\": 2}]}}");
        assert!(!secret.to_string().contains("s3cr3t"));
        assert!(secret.detail.contains(": bootstrap_data ("));
    }

    #[test]
    fn a_refused_file_adds_nothing() {
        let mut inputs = Inputs::default();
        assert!(inputs.add_file("x", br#"{"spot": true, "spot": false}"#).is_err());
        assert!(inputs.get("spot").is_none());
    }

    #[test]
    fn names_are_shown_on_one_line_and_never_at_length() {
        assert_eq!(shown_name("a\nb\u{1b}"), "a\\nb\\u{1b}");
        assert_eq!(shown_name(&"A".repeat(65)), "(a name of 65 characters)");
    }
}
