//! The command line: what may be said, in which spellings. Nothing here reads a file or calls AWS.

mod commands;
mod doctor;
mod epilog;
mod inputs;
mod names;
mod parse;
mod permissions;
mod spelling;
mod terraform;
#[cfg(test)]
mod tests;
mod values;

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, Parser, Subcommand};

use crate::error::{Failure, Kind};

pub use commands::{
    ApplyArgs, CompletionsArgs, DestroyArgs, ManArgs, OutputsArgs, OutputsFormat, PlanArgs, PlanFormat,
    RolloutCancelArgs, RolloutCommand, RolloutStartArgs, RolloutStatusArgs, SchemaArgs, SchemaFormat,
    SchemaOf, StatusArgs, StatusFormat, ValidateArgs,
};
pub use doctor::{DoctorArgs, DoctorFormat};
pub use inputs::{InputArgs, Source};
pub use names::{named, shown};
pub use parse::{Form, Parsed, form, parse};
pub use permissions::PolicyArgs;
pub use terraform::{
    ForceUnlockArgs, InitArgs, LockArgs, ShowArgs, StateCommand, StateListArgs, StatePushArgs, TerraformArgs,
    VersionArgs,
};

/// Manages one AWS Auto Scaling group of Kubernetes worker nodes per Cluster API MachinePool.
///
/// There is no state file: what is live in AWS is the state, and every command can be run again after
/// any failure. An option may be written with one hyphen or two, its value behind = or a space.
#[derive(Debug, Parser)]
#[command(
    name = "machinepool",
    bin_name = "machinepool",
    version,
    args_override_self = true,
    max_term_width = 100,
    after_help = "Examples:
  machinepool plan -var-file=pool.tfvars.json
  machinepool apply -auto-approve --sandbox demo.json -var-file=pool.tfvars.json

Exit codes: 0 done; 1 failed or interrupted; 2 changes, with plan -detailed-exitcode only."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// What every command understands.
    #[command(flatten)]
    pub global: GlobalArgs,
}

/// Options of every command.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct GlobalArgs {
    /// Work in this directory, as if started there.
    #[arg(long, global = true, value_name = "DIR")]
    pub chdir: Option<PathBuf>,
    /// Use a simulated account kept in this file, made on first use: no AWS, no network.
    #[arg(long, global = true, value_name = "FILE", env = "MACHINEPOOL_SANDBOX", hide_env_values = true)]
    sandbox: Option<OsString>,
    /// No colour, also on a terminal; NO_COLOR in the environment does the same.
    #[arg(long, global = true)]
    pub no_color: bool,
    /// Trace every AWS call on standard error: operation, time, outcome.
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "LEVEL",
        env = "MACHINEPOOL_LOG",
        hide_env_values = true
    )]
    pub log: Option<LogLevel>,
}

/// How much is told of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LogLevel {
    /// Only what is always told: calls that go without an answer for a while.
    Warn,
    /// Failed calls as well.
    Info,
    /// Every call.
    Debug,
}

impl Cli {
    /// Whether warnings go without their details.
    pub fn compact_warnings(&self) -> bool {
        match &self.command {
            Command::Plan(args) => args.terraform.compact_warnings,
            Command::Apply(args) => args.terraform.compact_warnings,
            Command::Destroy(args) => args.terraform.compact_warnings,
            Command::Init(args) => args.compact_warnings,
            Command::Rollout(RolloutCommand::Start(args)) => args.terraform.compact_warnings,
            _ => false,
        }
    }
}

impl Cli {
    /// Refuses what clap has read, but what would mean something that the program does not do.
    fn check(&self) -> Result<(), Failure> {
        self.reads_standard_input_once()?;
        match &self.command {
            Command::Plan(args) => args.check(),
            Command::Apply(args) => args.check(),
            Command::Destroy(args) => args.terraform.check(),
            Command::Rollout(RolloutCommand::Start(args)) => args.terraform.check(),
            _ => Ok(()),
        }
    }

    /// Whoever reads it a second time finds nothing there, and would call it empty.
    fn reads_standard_input_once(&self) -> Result<(), Failure> {
        let compared = match &self.command {
            Command::IamPolicy(args) => {
                args.compare.iter().filter(|file| file.as_os_str() == inputs::STANDARD_INPUT).count()
            }
            _ => 0,
        };
        let read = self.inputs().map_or(0, InputArgs::readings_of_standard_input);
        if compared + read <= 1 {
            return Ok(());
        }
        let options = match (compared, read) {
            (0, _) => "-var-file=- more than once",
            (_, 0) => "--compare - more than once",
            _ => "--compare - and -var-file=-",
        };
        Err(Failure::new(
            Kind::Usage,
            "Standard input can be given only once",
            format!(
                "It was given as {options}, and is read to its end the first time. Put the others into files."
            ),
        ))
    }

    /// Where the inputs come from, of a command that takes any.
    fn inputs(&self) -> Option<&InputArgs> {
        match &self.command {
            Command::Validate(args) => Some(&args.inputs),
            Command::Plan(args) => Some(&args.inputs),
            Command::Apply(args) => Some(&args.inputs),
            Command::Destroy(args) => Some(&args.inputs),
            Command::Outputs(args) => Some(&args.inputs),
            Command::Status(args) => Some(&args.inputs),
            Command::Doctor(args) => Some(&args.inputs),
            Command::IamPolicy(args) => Some(&args.inputs),
            Command::Rollout(RolloutCommand::Status(args)) => Some(&args.inputs),
            Command::Rollout(RolloutCommand::Start(args)) => Some(&args.inputs),
            Command::Rollout(RolloutCommand::Cancel(args)) => Some(&args.inputs),
            Command::Schema(_)
            | Command::Init(_)
            | Command::Show(_)
            | Command::State(_)
            | Command::ForceUnlock(_)
            | Command::Version(_)
            | Command::Completions(_)
            | Command::Man(_) => None,
        }
    }
}

impl GlobalArgs {
    /// The sandbox's file; an empty environment variable names none.
    pub fn sandbox(&self) -> Option<PathBuf> {
        self.sandbox.as_ref().filter(|name| !name.is_empty()).map(PathBuf::from)
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check the inputs; AWS is not asked.
    Validate(ValidateArgs),
    /// Show what apply would do.
    Plan(PlanArgs),
    /// Make the pool what the inputs ask for.
    Apply(ApplyArgs),
    /// Delete everything that the pool owns.
    Destroy(DestroyArgs),
    /// Print the pool's outputs, read live.
    Outputs(OutputsArgs),
    /// Show members, versions, health, roll and last scaling activities on one screen.
    Status(StatusArgs),
    /// Look at the instance refresh, start one, or stop it.
    #[command(
        subcommand,
        after_help = "Examples:
  machinepool rollout status -var-file=pool.tfvars.json
  machinepool rollout start --wait -var-file=pool.tfvars.json
  machinepool rollout cancel -var-file=pool.tfvars.json"
    )]
    Rollout(RolloutCommand),
    /// Print a JSON Schema, of the inputs or of what a command prints.
    Schema(SchemaArgs),
    /// Look for what will go wrong before it does; changes nothing.
    Doctor(DoctorArgs),
    /// Print the least-privilege IAM policy for this pool, or for all pools.
    IamPolicy(PolicyArgs),
    /// Prepare a working directory that a main.tf.json makes one of Terraform's.
    Init(InitArgs),
    /// Print a saved plan.
    Show(ShowArgs),
    /// Look at the state of a working directory, or replace it.
    #[command(
        subcommand,
        after_help = "Examples:
  machinepool state list
  machinepool state pull > state.json
  machinepool state push errored.tfstate"
    )]
    State(StateCommand),
    /// Take the lock of the state away from a holder that does not run any more.
    ForceUnlock(ForceUnlockArgs),
    /// Print name and version of the program.
    Version(VersionArgs),
    /// Print a script that completes the command line in a shell.
    Completions(CompletionsArgs),
    /// Print man pages.
    Man(ManArgs),
}
