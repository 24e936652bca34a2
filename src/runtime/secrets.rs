//! Values that must never be shown.
//!
//! They are kept out of what is told in three ways. Where it is known which input a value comes from (the
//! fields of a plan, its variables, an error about an input) it is left out because of the input's name,
//! whatever it is. A text that anything else says is searched for secrets. Those that are shorter than
//! four bytes, and `true`, `false` and `null`, cannot be found in that way: every text has them.

use std::collections::BTreeSet;

use super::sources::sources;
use crate::{
    contract::{
        inputs::{Inputs, escaped},
        json::Json,
        problem::Diagnostic,
    },
    model::plan::{Address, Plan},
};

/// What stands in a text in place of a secret.
pub const MASK: &str = "(sensitive value)";

/// The shortest text that is looked for: shorter ones would be found everywhere by accident.
const SHORTEST: usize = 4;

/// The secret values of one run. Has no `Debug`.
#[derive(Clone, Default)]
pub struct Secrets {
    /// The values, the longest first.
    texts: Vec<String>,
    /// The inputs that have them.
    inputs: BTreeSet<String>,
}

impl Secrets {
    /// The values of the inputs called `names`, and every text and number inside them.
    pub fn of(inputs: &Inputs, names: &BTreeSet<String>) -> Self {
        let mut found = BTreeSet::new();
        for (_, input) in inputs.iter().filter(|(name, _)| names.contains(*name)) {
            collect(&input.value, &mut found);
        }
        let mut texts: Vec<String> = found.into_iter().collect();
        // A secret may be part of another: the longer one goes first.
        texts.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self { texts, inputs: names.clone() }
    }

    /// Whether `text` is a secret, as a whole.
    pub fn holds(&self, text: &str) -> bool {
        self.texts.iter().any(|secret| secret == text)
    }

    /// Whether a field of a resource has a value that is made from a secret one.
    pub fn hides(&self, address: Address, field: &str) -> bool {
        sources(address, field).iter().any(|input| self.inputs.contains(*input))
    }

    /// A plan to be shown: with [`MASK`] as the value of each field that [`Self::hides`] says.
    pub fn conceal(&self, plan: &Plan) -> Plan {
        let mut plan = plan.clone();
        for change in &mut plan.changes {
            for field in change.fields.iter_mut().filter(|field| self.hides(change.address, &field.field)) {
                for value in field.now.iter_mut().chain(&mut field.then) {
                    MASK.clone_into(value);
                }
            }
        }
        plan
    }

    /// `text` with [`MASK`] in place of each secret.
    pub fn mask(&self, text: &str) -> String {
        let mut masked = text.to_owned();
        for secret in self.texts.iter().filter(|secret| text.contains(secret.as_str())) {
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
            found.extend([text.clone(), escaped(text)].into_iter().filter(|form| form.len() >= SHORTEST));
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
    fn no_error_repeats_the_value_of_a_secret_input_however_short() {
        for (name, value, told) in [
            ("spot", "\"xyz\"", "spot must be a bool (true or false)"),
            ("root_volume_size_gib", "7", "root_volume_size_gib must be a whole number from 8 to 16384"),
            ("machine_image", "{\"owner\": \"me\"}", "machine_image.owner must be "),
            ("additional_security_group_ids", "[\"sg\"]", "additional_security_group_ids[0] must be "),
        ] {
            let (mut inputs, _) = secrets(&format!("{{\"{name}\": {value}}}"), &[name]);
            let plain = Request::parse(&inputs).unwrap_err();
            assert!(!plain.0[0].detail.starts_with(told), "{plain:?}");
            inputs.hide([name.to_owned()].into());
            let hidden = Request::parse(&inputs).unwrap_err();
            assert!(hidden.0[0].detail.starts_with(told), "{hidden:?}");
        }
    }

    #[test]
    fn a_plan_tells_no_value_that_is_made_from_a_secret_one() {
        use crate::model::{planner, testing};
        let plan = planner::plan(&testing::request(|r| r.spot = true), &testing::nothing()).unwrap().1;
        let (_, secrets) = secrets(r#"{"spot": true}"#, &["spot", "root_volume_size_gib"]);
        let shown = secrets.conceal(&plan);
        let mut hidden = BTreeSet::new();
        for (was, is) in plan.changes.iter().zip(&shown.changes) {
            for (was, is) in was.fields.iter().zip(&is.fields) {
                if is != was {
                    assert_eq!((is.now.as_deref(), is.then.as_deref()), (None, Some(MASK)));
                    hidden.insert(is.field.as_str());
                }
            }
        }
        assert_eq!(
            hidden.into_iter().collect::<Vec<_>>(),
            ["capacity_rebalance", "market_type", "volumes[\"/dev/sda1\"].size_gib"]
        );
        assert_eq!(Secrets::default().conceal(&plan), plan);
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
