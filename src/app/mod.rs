//! The commands: one short function each that reads like its story.

mod account;
mod ask;
mod calls;
mod console;
mod furnish;
mod inspect;
mod load;
mod modify;
mod offline;
mod session;
mod signals;
mod ui;

use anyhow::Context as _;

use crate::cli::{Cli, Command};
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
        Command::Validate(args) => offline::validate(ui, args),
        Command::Schema(args) => offline::schema(ui, args),
        Command::Version => {
            offline::version(ui);
            Ok(0)
        }
        Command::Plan(args) if args.destroy => inspect::plan_destroy(&session, args),
        Command::Plan(args) => inspect::plan(&session, args),
        Command::Apply(args) if args.refresh_only => inspect::refresh(&session, args),
        Command::Apply(args) => modify::apply(&session, args),
        Command::Destroy(args) => modify::destroy(&session, args),
        Command::Outputs(args) => inspect::outputs(&session, args),
    }
}
