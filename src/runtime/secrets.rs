//! Values that must never be shown, taken out of every text that leaves the program.

use std::collections::BTreeSet;

use crate::contract::{
    inputs::{Inputs, escaped},
    json::Json,
    problem::Diagnostic,
};

/// What stands in a text in place of a secret.
pub const MASK: &str = "(sensitive value)";

/// The shortest text that is looked for: shorter ones would be found everywhere by accident.
const SHORTEST: usize = 4;

/// As much of a value as messages repeat; see `contract::parse::fault`.
const QUOTED: usize = 80;

/// The secret values of one run. Has no `Debug`.
#[derive(Clone, Default)]
pub struct Secrets(Vec<String>);

impl Secrets {
    /// The values of the inputs called `names`, and every text and number inside them.
    pub fn of(inputs: &Inputs, names: &BTreeSet<String>) -> Self {
        let mut found = BTreeSet::new();
        for (_, input) in inputs.iter().filter(|(name, _)| names.contains(*name)) {
            collect(&input.value, &mut found);
        }
        let mut secrets: Vec<String> = found.into_iter().collect();
        // A secret may be part of another: the longer one goes first.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self(secrets)
    }

    /// `text` with [`MASK`] in place of each secret.
    pub fn mask(&self, text: &str) -> String {
        let mut masked = text.to_owned();
        for secret in self.0.iter().filter(|secret| text.contains(secret.as_str())) {
            masked = masked.replace(secret.as_str(), MASK);
        }
        masked
    }

    /// Diagnostics without secrets.
    pub fn mask_all(&self, diagnostics: &[Diagnostic]) -> Vec<Diagnostic> {
        diagnostics
            .iter()
            .map(|d| Diagnostic {
                severity: d.severity,
                summary: self.mask(&d.summary),
                detail: self.mask(&d.detail),
            })
            .collect()
    }
}

fn collect(value: &Json, found: &mut BTreeSet<String>) {
    match value {
        Json::String(text) | Json::Number(text) => {
            let quoted: String = text.chars().take(QUOTED).collect();
            found.extend(
                [text.clone(), escaped(text), escaped(&quoted)]
                    .into_iter()
                    .filter(|form| form.len() >= SHORTEST),
            );
        }
        Json::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Json::Object(fields) => fields.iter().for_each(|(_, value)| collect(value, found)),
        Json::Null | Json::Bool(_) => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::contract::request::Request;

    fn secrets(json: &str, names: &[&str]) -> (Inputs, Secrets) {
        let mut inputs = Inputs::default();
        inputs.add_file("t", include_bytes!("../../testdata/demo.tfvars.json")).unwrap();
        inputs.add_file("t", json.as_bytes()).unwrap();
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let secrets = Secrets::of(&inputs, &names);
        (inputs, secrets)
    }

    #[test]
    fn values_inside_a_secret_are_secret_and_no_others() {
        let (_, secrets) = secrets(
            r#"{"additional_tags": {"a": "s3cr3t", "b": "s3cr3t-and-more", "c": "x"}, "spot": true}"#,
            &["additional_tags", "spot"],
        );
        assert_eq!(
            secrets.mask("s3cr3t-and-more, s3cr3t, x, true, m6i.large"),
            "(sensitive value), (sensitive value), x, true, m6i.large"
        );
    }

    #[test]
    fn what_errors_repeat_of_a_secret_is_masked() {
        let long = format!("p\\n{}", "ssw0rd ".repeat(40));
        for (name, value) in [
            ("instance_type", format!("\"{long}\"")),
            ("root_volume_size_gib", "\"hunter2hunter2\"".to_owned()),
            ("root_volume_size_gib", "123456".to_owned()),
            ("additional_tags", format!("{{\"aws:x\": \"{long}\"}}")),
            ("additional_security_group_ids", format!("[\"{long}\"]")),
        ] {
            let (inputs, secrets) = secrets(&format!("{{\"{name}\": {value}}}"), &[name]);
            let problems = Request::parse(&inputs).unwrap_err();
            for shown in secrets.mask_all(&problems.0) {
                let shown = shown.to_string();
                assert!(
                    !shown.contains("ssw0rd") && !shown.contains("hunter2") && !shown.contains("123456"),
                    "{shown}"
                );
            }
        }
    }
}
