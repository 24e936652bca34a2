//! `init`: checks a working directory and records where its state is kept.

use std::{collections::BTreeSet, fs};

use super::setting::Setting;
use crate::{
    app::Ui,
    cli::InitArgs,
    contract::problem::{Diagnostic, sentence},
    error::{Failure, Kind},
    runtime::{module, private_file, root::FILE},
};

/// No file of backend settings is larger; what is (a device, a wrong file) is not read to its end. In bytes.
#[cfg(feature = "kubernetes")]
const LARGEST_SETTINGS: u64 = 1 << 20;

/// No file of a module is larger. In bytes.
const LARGEST_MODULE_FILE: u64 = 4 << 20;

/// Checks the module directory and records the backend's settings. Touches nothing else.
pub(crate) fn init(ui: &Ui, args: &InitArgs) -> anyhow::Result<u8> {
    let setting = Setting::with_root("init")?;
    if let Some(source) = &setting.root.source {
        check_module(source)?;
    }
    match &setting.root.backend {
        Some(_) if !args.backend => {}
        Some(block) => record(block, &args.backend_config)?,
        None if args.backend && !args.backend_config.is_empty() => ui.tell(&[Diagnostic::warning(
            "Missing backend configuration",
            format!("-backend-config was given, but {FILE} has no backend block. No state is kept."),
        )]),
        None => {}
    }
    let done = "The working directory is ready.";
    match ui.lines() {
        Some(lines) => lines.log(done),
        None => ui.result(&format!("{done}\n")),
    }
    Ok(0)
}

#[cfg(feature = "kubernetes")]
fn record(block: &[(String, crate::contract::json::Json)], flags: &[String]) -> Result<(), Failure> {
    let open = |path: &std::path::Path| private_file::read(path, LARGEST_SETTINGS);
    super::keep::record(&crate::runtime::backend::Settings::given(block, flags, &open)?)
}

#[cfg(not(feature = "kubernetes"))]
fn record(_: &[(String, crate::contract::json::Json)], _: &[String]) -> Result<(), Failure> {
    Err(super::keep::missing())
}

/// Refuses a root that calls another module than this role. One that is no directory cannot be checked.
fn check_module(source: &str) -> Result<(), Failure> {
    if !(source.starts_with("./") || source.starts_with("../") || source.starts_with('/')) {
        return Ok(());
    }
    let refused = |detail: String| {
        Failure::new(Kind::Input, format!("Module directory {source} is not this role's"), detail)
    };
    let entries = fs::read_dir(source).map_err(|error| {
        refused(format!(
            "{FILE} calls the module in {source}, which cannot be read: {}",
            sentence(&error.to_string())
        ))
    })?;
    let mut declared = BTreeSet::new();
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        // A pipe or a device would never end.
        if module::is_terraform(name) && path.is_file() {
            let text = private_file::read(&path, LARGEST_MODULE_FILE).map_err(|error| {
                refused(format!("{} cannot be read: {}", path.display(), sentence(&error.to_string())))
            })?;
            declared.extend(module::variables(name, &text));
        }
    }
    match module::stranger(&declared) {
        Some(why) => Err(refused(format!("{FILE} calls the module in {source}, but {why}"))),
        None => Ok(()),
    }
}
