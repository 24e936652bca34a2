//! The options of `doctor`.

use clap::{Args, ValueEnum};

use super::inputs::InputArgs;

/// Options of `doctor`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  machinepool doctor -var-file=pool.tfvars.json
  machinepool doctor --quiet -var-file=pool.tfvars.json
  machinepool doctor --format json -var-file=pool.tfvars.json
  machinepool doctor --sandbox demo.json -var-file=pool.tfvars.json

It reads, and tries some calls without doing them (EC2's dry run); nothing changes. What the credentials may \
not look at is skipped: machinepool iam-policy --doctor prints what it reads beside the other commands. So is what has \
no answer within 15 seconds.

Exit codes: 0 nothing failed (warnings and skipped checks included), 1 something failed.")]
pub struct DoctorArgs {
    /// How to print what was found.
    #[arg(long, value_enum, default_value_t)]
    pub format: DoctorFormat,
    /// Leave out what is well.
    #[arg(long)]
    pub quiet: bool,
    /// Where the inputs come from.
    #[command(flatten)]
    pub inputs: InputArgs,
}

/// How to print findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DoctorFormat {
    /// For people.
    #[default]
    Text,
    /// For programs: machinepool schema doctor describes it.
    Json,
}
