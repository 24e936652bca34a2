//! What scripts and runners written for Terraform say: its commands around a state, and its options.

use std::{path::PathBuf, time::Duration};

use clap::{ArgAction, Args, Subcommand};

use super::values;
use crate::error::{Failure, Kind};

/// Options that scripts written for Terraform use.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options known from Terraform")]
pub struct TerraformArgs {
    /// Whether questions may be asked.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "true",
          default_missing_value = "true", value_parser = values::truth, action = ArgAction::Set, hide_default_value = true)]
    pub input: bool,
    /// Print warnings without their details.
    #[arg(long)]
    pub compact_warnings: bool,
    /// Accepted; live AWS is the only state there is to look at.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "true",
          default_missing_value = "true", value_parser = values::truth, action = ArgAction::Set, hide_default_value = true)]
    pub refresh: bool,
    /// The lock of the state.
    #[command(flatten)]
    pub locking: LockArgs,
    /// Accepted; calls that may run side by side do.
    #[arg(long, value_name = "NUMBER", default_value = "10", hide_default_value = true,
          value_parser = clap::value_parser!(u32))]
    pub parallelism: u32,
    /// Refused: a pool is planned as a whole.
    #[arg(long, value_name = "ADDRESS", hide = true)]
    target: Vec<String>,
    /// Refused: a pool is planned as a whole.
    #[arg(long, value_name = "ADDRESS", hide = true)]
    replace: Vec<String>,
}

/// How to deal with the lock of a state.
#[derive(Clone, Copy, Debug, Args)]
pub struct LockArgs {
    /// Whether to hold the lock of the state meanwhile, where there is one.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "true",
          default_missing_value = "true", value_parser = values::truth, action = ArgAction::Set, hide_default_value = true)]
    pub lock: bool,
    /// How long to wait for a lock that somebody else holds, such as 300s.
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = values::go_duration,
          hide_default_value = true)]
    pub lock_timeout: Duration,
}

/// Options that are known only to be refused by name.
pub(super) const REFUSED: [&str; 2] = ["target", "replace"];

impl TerraformArgs {
    /// Refuses a refresh that is not to refresh, as Terraform does.
    pub(super) fn check_refresh(&self, refresh_only: bool) -> Result<(), Failure> {
        if refresh_only && !self.refresh {
            return Err(Failure::new(
                Kind::Usage,
                "Incompatible refresh options",
                "-refresh-only and -refresh=false exclude each other: there would be nothing to do. Leave one of \
                 them away.",
            ));
        }
        Ok(())
    }

    /// Refuses what would mean something that the program does not do.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let refuse = |option: &str, instead: &str| {
            let detail = format!("A pool is planned and applied as a whole. {instead}");
            Err(Failure::new(Kind::Usage, format!("{option} is not supported"), detail))
        };
        if !self.target.is_empty() {
            return refuse("-target", "Leave the option away: what is as it should be stays untouched.");
        }
        if !self.replace.is_empty() {
            return refuse("-replace", "To replace the instances, change the version or the image.");
        }
        Ok(())
    }
}

/// Options of `init`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "one per option")]
#[command(after_help = "Examples:
  machinepool init -input=false -backend-config=secret_suffix=demo -backend-config=namespace=team-a
  machinepool init -backend-config=backend.json

It works in a directory with a main.tf.json, checks it, and records the settings of the kubernetes \
backend under TF_DATA_DIR (.terraform) for the commands that follow. Nothing is asked over the network.")]
pub struct InitArgs {
    /// A setting of the backend as NAME=VALUE, or a file of settings. May be repeated; a later one wins.
    #[arg(long, value_name = "SETTING")]
    pub backend_config: Vec<String>,
    /// Whether to set up the backend.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "true",
          default_missing_value = "true", value_parser = values::truth, action = ArgAction::Set, hide_default_value = true)]
    pub backend: bool,
    /// Accepted; settings are recorded anew each time.
    #[arg(long)]
    pub reconfigure: bool,
    /// Accepted; there is nothing to migrate.
    #[arg(long)]
    pub migrate_state: bool,
    /// Accepted; there is nothing to copy.
    #[arg(long)]
    pub force_copy: bool,
    /// Accepted; there is nothing to upgrade.
    #[arg(long)]
    pub upgrade: bool,
    /// Accepted; there are no modules to get.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "true",
          default_missing_value = "true", value_parser = values::truth, action = ArgAction::Set, hide = true)]
    pub get: bool,
    /// Accepted; there are no providers to lock.
    #[arg(long, value_name = "MODE")]
    pub lockfile: Option<String>,
    /// Accepted; there are no providers to look for.
    #[arg(long, value_name = "DIR", hide = true)]
    pub plugin_dir: Vec<String>,
    /// Accepted, and not read: inputs matter to later commands.
    #[arg(long, value_name = "NAME=VALUE", hide = true)]
    pub var: Vec<String>,
    /// Accepted, and not read: inputs matter to later commands.
    #[arg(long, value_name = "FILE", hide = true)]
    pub var_file: Vec<String>,
    /// Accepted; nothing is asked.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "true",
          default_missing_value = "true", value_parser = values::truth, action = ArgAction::Set, hide_default_value = true)]
    pub input: bool,
    /// Accepted; nothing is locked.
    #[command(flatten)]
    pub locking: LockArgs,
    /// Print warnings without their details.
    #[arg(long)]
    pub compact_warnings: bool,
    /// Print one JSON object per line.
    #[arg(long)]
    pub json: bool,
}

/// Options of `show`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  machinepool show pool.tfplan
  machinepool show -json pool.tfplan")]
pub struct ShowArgs {
    /// Print Terraform's JSON representation of the plan.
    #[arg(long)]
    pub json: bool,
    /// A plan that plan -out saved.
    #[arg(value_name = "PLANFILE")]
    pub plan_file: PathBuf,
}

/// The commands of `state`.
#[derive(Debug, Subcommand)]
pub enum StateCommand {
    /// List the resources in the state.
    List(StateListArgs),
    /// Print the state.
    #[command(after_help = "Examples:
  machinepool state pull > state.json")]
    Pull,
    /// Put a state in the place of the one there is.
    Push(StatePushArgs),
}

/// Options of `state list`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  machinepool state list
  machinepool state list module.role.aws_autoscaling_group.pool_autoscaling_group")]
pub struct StateListArgs {
    /// List only what is at or below one of these addresses.
    #[arg(value_name = "ADDRESS")]
    pub addresses: Vec<String>,
}

/// Options of `state push`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  machinepool state push errored.tfstate
  machinepool state push -force -lock-timeout=300s backup.tfstate

Without -force, a state of another lineage, of a lower serial, or of the same serial with another \
content is refused, unless nothing is left in the present one. What comes into the place of a state with \
an equal or higher serial gets one serial more than that.")]
pub struct StatePushArgs {
    /// Whatever the state that is there.
    #[arg(long)]
    pub force: bool,
    /// Accepted; there is no Terraform at the other end.
    #[arg(long, hide = true)]
    pub ignore_remote_version: bool,
    /// The lock of the state.
    #[command(flatten)]
    pub locking: LockArgs,
    /// The state, - is standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// Options of `force-unlock`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  machinepool force-unlock -force 6c5a7e0e-4f0e-4a8e-9b06-0d6a3b1f7a52

Only for a lock whose holder does not run any more: two runs at once on one pool undo each other's work.")]
pub struct ForceUnlockArgs {
    /// Do not ask.
    #[arg(long)]
    pub force: bool,
    /// The ID of the lock, as the error that names it shows it.
    #[arg(value_name = "LOCK_ID")]
    pub id: String,
}

/// Options of `version`.
#[derive(Debug, Default, Args)]
#[command(after_help = "Examples:
  machinepool version
  machinepool version -json")]
pub struct VersionArgs {
    /// Print one JSON object: terraform_version (whose formats are spoken), platform, provider_selections,
    /// terraform_outdated.
    #[arg(long)]
    pub json: bool,
}
