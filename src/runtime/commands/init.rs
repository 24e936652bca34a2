//! `init`: checks a working directory and records where its state is kept.

use std::{fs, path::Path};

use super::setting::Setting;
use crate::{
    app::Ui,
    cli::InitArgs,
    contract::problem::Diagnostic,
    error::{Failure, Kind},
    runtime::root::FILE,
};

/// No file of backend settings is larger; what is (a device, a wrong file) is not read to its end. In bytes.
#[cfg(feature = "kubernetes")]
const LARGEST_SETTINGS: u64 = 1 << 20;

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
    let open = |path: &Path| crate::runtime::private_file::read(path, LARGEST_SETTINGS);
    super::keep::record(&crate::runtime::backend::Settings::given(block, flags, &open)?)
}

#[cfg(not(feature = "kubernetes"))]
fn record(_: &[(String, crate::contract::json::Json)], _: &[String]) -> Result<(), Failure> {
    Err(super::keep::missing())
}

/// What every description of this role declares, and others do not.
const OURS: &str = "\"machinepool_name\"";

/// Refuses a root that calls another module than this role. One that is no directory cannot be checked.
fn check_module(source: &str) -> Result<(), Failure> {
    if !(source.starts_with("./") || source.starts_with("../") || source.starts_with('/')) {
        return Ok(());
    }
    let refused = |detail: String| {
        Failure::new(Kind::Input, format!("Module directory {source} is not this role's"), detail)
    };
    let entries = fs::read_dir(source).map_err(|error| {
        refused(format!("{FILE} calls the module in {source}, which cannot be read: {error}."))
    })?;
    let is_module = |path: &Path| {
        let ends_in = |path: &Path, extension: &str| path.extension().is_some_and(|found| found == extension);
        ends_in(path, "tf") || (ends_in(path, "json") && ends_in(&path.with_extension(""), "tf"))
    };
    let declares = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| is_module(path))
        .any(|path| fs::read_to_string(path).is_ok_and(|text| text.contains(OURS)));
    if declares {
        return Ok(());
    }
    Err(refused(format!(
        "{FILE} calls the module in {source}, but no .tf file there declares machinepool_name. This program is the \
         machinepool role and no other."
    )))
}
