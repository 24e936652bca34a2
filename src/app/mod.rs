//! The commands: one short function each that reads like its story.

pub(crate) mod account;
pub(crate) mod again;
pub(crate) mod ask;
mod calls;
mod console;
mod doctor;
mod furnish;
mod inspect;
mod keys;
pub(crate) mod load;
mod manual;
mod offline;
mod policy;
mod screen;
pub(crate) mod session;
mod signals;
mod status;
mod ui;
mod unheeded;
mod watch;

use anyhow::Context as _;

use crate::{
    cli::{Cli, Command, RolloutCommand},
    error::file_name,
    runtime::commands,
};
use session::Session;
use signals::Signals;

pub use ui::{Taste, Ui, help_width};

/// Runs a command; the exit code of a command that did not fail.
pub fn run(ui: &Ui, cli: &Cli) -> anyhow::Result<u8> {
    let signals = Signals::of_process().context("Cannot listen for signals")?;
    if let Some(directory) = &cli.global.chdir {
        std::env::set_current_dir(directory)
            .with_context(|| format!("Cannot work in the directory {}", file_name(directory)))?;
    }
    unheeded::warn(ui, &cli.command);
    let session = Session {
        ui,
        chdir: cli.global.chdir.as_deref(),
        sandbox: cli.global.sandbox(),
        log: cli.global.log,
        signals,
    };
    match &cli.command {
        Command::Validate(args) => commands::validate(ui, args),
        Command::Schema(args) => offline::schema(ui, args),
        Command::Version(args) => {
            commands::version(ui, args);
            Ok(0)
        }
        Command::Init(args) => commands::init(ui, args),
        Command::Plan(args) if args.refresh_only => commands::plan_refresh(&session, args),
        Command::Plan(args) => commands::plan(&session, args),
        Command::Apply(args) if args.refresh_only => commands::refresh(&session, args),
        Command::Apply(args) if args.destroy => commands::apply_destroy(&session, args),
        Command::Apply(args) => commands::apply(&session, args),
        Command::Destroy(args) => commands::destroy(&session, args),
        Command::Show(args) => commands::show(ui, args),
        Command::State(command) => commands::state(&session, command),
        Command::ForceUnlock(args) => commands::force_unlock(&session, args),
        Command::Doctor(args) => doctor::doctor(&session, args),
        Command::IamPolicy(args) => policy::iam_policy(ui, args),
        Command::Outputs(args) => inspect::outputs(&session, args),
        Command::Status(args) => status::status(&session, args),
        Command::Rollout(RolloutCommand::Status(args)) => status::rollout(&session, args),
        Command::Rollout(RolloutCommand::Start(args)) => commands::start_rollout(&session, args),
        Command::Rollout(RolloutCommand::Cancel(args)) => commands::cancel_rollout(&session, args),
        Command::Completions(args) => {
            manual::completions(ui, args);
            Ok(0)
        }
        Command::Man(args) => manual::man(ui, args),
    }
}
