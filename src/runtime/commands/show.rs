//! `show` and `version`: what needs nothing but the program and a file.

use serde_json::json;

use crate::{
    app::Ui,
    cli::{ShowArgs, VersionArgs},
    error::{Failure, Kind},
    runtime::{TERRAFORM_VERSION, planfile::SavedPlan},
    view::text,
};

/// Prints a saved plan.
pub(crate) fn show(ui: &Ui, args: &ShowArgs) -> anyhow::Result<u8> {
    let saved = SavedPlan::read(&args.plan_file)
        .map_err(|problem| Failure { kind: Kind::Local, diagnostics: vec![problem] })?;
    ui.result(if args.json { &saved.json } else { &saved.text });
    Ok(0)
}

/// Prints name and version; for programs, those of the Terraform whose formats are spoken.
pub(crate) fn version(ui: &Ui, args: &VersionArgs) {
    if !args.json {
        ui.result(concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"), "\n"));
        return;
    }
    ui.result(&text::json(&json!({
        "terraform_version": TERRAFORM_VERSION,
        "platform": platform(),
        "provider_selections": {},
        "terraform_outdated": false,
    })));
}

/// Operating system and processor as Go names them.
fn platform() -> String {
    let processor = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    format!("{system}_{processor}")
}
