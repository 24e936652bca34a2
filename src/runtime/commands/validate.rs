//! `validate`: checks the root module and the inputs without AWS.

use std::{collections::BTreeSet, path::Path};

use super::setting::Setting;
use crate::{
    app::{Ui, load},
    cli::ValidateArgs,
    contract::problem::{Diagnostic, Severity},
    error::{Failure, Kind, diagnostics},
    view::Validation,
};

/// The inputs that lie beside a root module.
const BESIDE: &str = "terraform.tfvars.json";

/// Checks root and inputs. Exit code 1 without an error is an invalid verdict told as JSON.
pub(crate) fn validate(ui: &Ui, args: &ValidateArgs) -> anyhow::Result<u8> {
    let found = match Setting::here() {
        Ok(setting) => check(ui, &setting, args),
        Err(error) => diagnostics(&error),
    };
    let valid = found.iter().all(|diagnostic| diagnostic.severity == Severity::Warning);
    if args.json {
        ui.result(&Validation::new(&found).to_json());
        return Ok(u8::from(!valid));
    }
    if !valid {
        return Err(Failure { kind: Kind::Input, diagnostics: found }.into());
    }
    ui.tell(&found);
    ui.result("Success! The inputs are valid.\n");
    Ok(0)
}

/// All that is wrong or odd. Beside a root, inputs are checked where there are some.
fn check(ui: &Ui, setting: &Setting, args: &ValidateArgs) -> Vec<Diagnostic> {
    let mut found = if setting.has_root { setting.root.check() } else { Vec::new() };
    // One that cannot be looked up is read all the same, which says why it cannot be.
    let given = !args.inputs.sources.is_empty() || load::is_there(Path::new(BESIDE)).unwrap_or(true);
    if setting.has_root && (setting.root.arguments.is_none() || !given) {
        return found;
    }
    let said = match load::inputs(&args.inputs) {
        Ok(said) => said,
        Err(error) => {
            found.extend(diagnostics(&error));
            return found;
        }
    };
    let (inputs, warnings) = if setting.has_root { setting.root.inputs(&said) } else { (said, Vec::new()) };
    let given = setting.given(ui, inputs, &BTreeSet::new(), &args.inputs);
    let verdict = given.request().map(|request| request.warnings);
    let told = verdict.unwrap_or_else(|failure| failure.diagnostics);
    // An argument that is not ours and one that is missing are told once, by the root.
    let new = |d: &Diagnostic| {
        !setting.has_root || !(d.summary.starts_with("Unsupported argument") || is_told(&found, d))
    };
    let told: Vec<Diagnostic> = told.into_iter().filter(new).collect();
    found.extend(told);
    found.extend(warnings);
    given.secrets.mask_all(&found)
}

/// Whether the root's own check names the input that a diagnostic calls missing.
fn is_told(found: &[Diagnostic], diagnostic: &Diagnostic) -> bool {
    diagnostic.summary.strip_prefix("Missing required input ").is_some_and(|name| {
        let told = format!("Missing required argument: \"{name}\"");
        found.iter().any(|d| d.summary == told)
    })
}
