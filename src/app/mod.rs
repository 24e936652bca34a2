//! The commands: one short function each that reads like its story.

pub(crate) mod account;
pub(crate) mod ask;
mod calls;
mod console;
mod doctor;
mod furnish;
mod inspect;
pub(crate) mod load;
mod offline;
mod policy;
pub(crate) mod session;
mod signals;
mod ui;

use anyhow::Context as _;

use crate::{
    cli::{Cli, Command},
    runtime::commands,
};
use session::Session;

pub use ui::{Taste, Ui};

/// Runs a command; the exit code of a command that did not fail.
pub fn run(ui: &Ui, cli: &Cli) -> anyhow::Result<u8> {
    if let Some(directory) = &cli.global.chdir {
        std::env::set_current_dir(directory)
            .with_context(|| format!("Cannot work in the directory {}", directory.display()))?;
    }
    let session = Session { ui, sandbox: cli.global.sandbox(), log: cli.global.log };
    match &cli.command {
        Command::Validate(args) => commands::validate(ui, args),
        Command::Schema(args) => offline::schema(ui, args),
        Command::Version(args) => {
            commands::version(ui, args);
            Ok(0)
        }
        Command::Init(args) => commands::init(ui, args),
        Command::Plan(args) => commands::plan(&session, args),
        Command::Apply(args) if args.refresh_only => commands::refresh(&session, args),
        Command::Apply(args) => commands::apply(&session, args),
        Command::Destroy(args) => commands::destroy(&session, args),
        Command::Show(args) => commands::show(ui, args),
        Command::State(command) => commands::state(&session, command),
        Command::ForceUnlock(args) => commands::force_unlock(&session, args),
        Command::Doctor(args) => doctor::doctor(&session, args),
        Command::IamPolicy(args) => policy::iam_policy(ui, args),
        Command::Outputs(args) => inspect::outputs(&session, args),
    }
}
