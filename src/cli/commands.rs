//! The options of each command.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Subcommand, ValueEnum};

use super::{
    inputs::InputArgs,
    terraform::{LockArgs, TerraformArgs},
    values,
};
use crate::error::{Failure, Kind};

/// Options of `validate`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  machinepool validate -var-file=pool.tfvars.json
  generate-inputs | machinepool validate -json -var-file=-

Exit codes: 0 valid, 1 not valid.")]
pub struct ValidateArgs {
    /// Print one JSON object: format_version, valid, error_count, warning_count, diagnostics.
    #[arg(long)]
    pub json: bool,
    /// Where the inputs come from.
    #[command(flatten)]
    pub inputs: InputArgs,
}

/// Options of `plan`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "one per option")]
#[command(after_help = "Examples:
  machinepool plan -var-file=pool.tfvars.json
  machinepool plan -var-file=pool.tfvars.json -var instance_type=m7i.large
  machinepool plan -detailed-exitcode --format json -var-file=pool.tfvars.json
  machinepool plan -out=pool.tfplan -var-file=pool.tfvars.json

A saved plan holds the inputs, bootstrap data included; only its owner can read the file. It replaces an \
earlier plan, Terraform's included, and no other file.

Exit codes: 0 done, 1 failed; with -detailed-exitcode: 0 no changes, 1 failed, 2 changes.")]
pub struct PlanArgs {
    /// Exit with 2 when there are changes.
    #[arg(long)]
    pub detailed_exitcode: bool,
    /// Show what destroy would do.
    #[arg(long)]
    pub destroy: bool,
    /// Show only which outputs apply -refresh-only would record anew.
    #[arg(long, conflicts_with = "destroy")]
    pub refresh_only: bool,
    /// Save the plan in this file; apply FILE carries it out, show FILE prints it.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// How to print the plan.
    #[arg(long, value_enum, default_value_t, conflicts_with = "json")]
    pub format: PlanFormat,
    /// Print one JSON object per line, as Terraform does: version, planned_change, change_summary, outputs,
    /// diagnostic.
    #[arg(long)]
    pub json: bool,
    /// Where the inputs come from.
    #[command(flatten)]
    pub inputs: InputArgs,
    /// What Terraform's command understands, too.
    #[command(flatten)]
    pub terraform: TerraformArgs,
}

impl PlanArgs {
    /// Refuses what would mean something that the program does not do.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.refresh_only && self.out.is_some() {
            return Err(Failure::new(
                Kind::Usage,
                "-out is not supported with -refresh-only",
                "A refresh records the outputs as they are when it runs, so that there is nothing to save. Write apply \
                 -refresh-only to carry it out.",
            ));
        }
        self.terraform.check_refresh(self.refresh_only)?;
        self.terraform.check()
    }
}

/// How to print a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PlanFormat {
    /// For people.
    #[default]
    Text,
    /// For programs: verdict, counts, changes, replaced, terminated, warnings, notes.
    Json,
}

/// Options of `apply`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  machinepool apply -var-file=pool.tfvars.json
  machinepool apply -auto-approve --wait --timeout 1h -var-file=pool.tfvars.json
  machinepool apply -refresh-only -auto-approve -var-file=pool.tfvars.json
  machinepool apply pool.tfplan

Without -auto-approve it shows the plan and asks for \"yes\" on the terminal. Where nobody can answer (no \
terminal, or inputs from standard input), save the plan with plan -out=FILE and apply that. A saved plan is \
applied without a question, and only if it still is what would be done.")]
#[expect(clippy::struct_excessive_bools, reason = "one per option")]
pub struct ApplyArgs {
    /// A plan that plan -out saved; it holds the inputs.
    #[arg(value_name = "PLANFILE", conflicts_with = "refresh_only")]
    pub plan_file: Option<PathBuf>,
    /// Do not ask.
    #[arg(long)]
    pub auto_approve: bool,
    /// Delete everything that the pool owns, as destroy does.
    #[arg(long, conflicts_with_all = ["plan_file", "refresh_only", "wait"])]
    pub destroy: bool,
    /// Change nothing in AWS; print the outputs, and with a root module record them in its state.
    #[arg(long, conflicts_with = "wait")]
    pub refresh_only: bool,
    /// Print one JSON object per line, as Terraform does; needs -auto-approve or a saved plan.
    #[arg(long)]
    pub json: bool,
    /// Wait until the instances are replaced, if they are to be.
    #[arg(long)]
    pub wait: bool,
    /// How long all of it may take.
    #[arg(long, value_name = "DURATION", default_value = "45m", value_parser = values::timeout)]
    pub timeout: Duration,
    /// Where the inputs come from.
    #[command(flatten)]
    pub inputs: InputArgs,
    /// What Terraform's command understands, too.
    #[command(flatten)]
    pub terraform: TerraformArgs,
}

impl ApplyArgs {
    /// Refuses what would mean something that the program does not do.
    pub(super) fn check(&self) -> Result<(), Failure> {
        self.terraform.check_refresh(self.refresh_only)?;
        self.terraform.check()
    }
}

/// Options of `destroy`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  machinepool destroy -var-file=pool.tfvars.json
  machinepool destroy -auto-approve --timeout 30m -var-file=pool.tfvars.json

It needs captf_object.namespace, machinepool_name and a region; the rest of the inputs may be old or \
missing. A destroy of nothing succeeds. Without -auto-approve it asks for \"yes\" on the terminal. Where \
nobody can answer (no terminal, or inputs from standard input), save it with plan -destroy -out=FILE and \
apply that.")]
pub struct DestroyArgs {
    /// Do not ask.
    #[arg(long)]
    pub auto_approve: bool,
    /// Print one JSON object per line, as Terraform does; needs -auto-approve.
    #[arg(long)]
    pub json: bool,
    /// How long all of it may take.
    #[arg(long, value_name = "DURATION", default_value = "45m", value_parser = values::timeout)]
    pub timeout: Duration,
    /// Where the inputs come from.
    #[command(flatten)]
    pub inputs: InputArgs,
    /// What Terraform's command understands, too.
    #[command(flatten)]
    pub terraform: TerraformArgs,
}

/// Options of `outputs`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  machinepool outputs -var-file=pool.tfvars.json
  machinepool outputs provider_id_list -var-file=pool.tfvars.json
  machinepool outputs --format table -var-file=pool.tfvars.json")]
pub struct OutputsArgs {
    /// Print the value of this output only.
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// How to print them; one value is always JSON.
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputsFormat,
    /// Where the inputs come from.
    #[command(flatten)]
    pub inputs: InputArgs,
}

/// How to print outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputsFormat {
    /// For programs.
    #[default]
    Json,
    /// For people.
    Table,
}

/// Options of `status`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  machinepool status -var-file=pool.tfvars.json
  machinepool status --watch --interval 10s -var-file=pool.tfvars.json
  machinepool status --format json -var-file=pool.tfvars.json | jq .counts

It needs captf_object.namespace, machinepool_name and a region. With complete inputs it also says what \
apply would change. It changes nothing and takes no lock. With --watch it looks again and again: on a \
terminal until q or Ctrl-C (arrows, j, k, PageUp, PageDown and space show what does not fit), elsewhere \
(one text, or one line of JSON, after the other) until it is interrupted or nobody reads any more.")]
pub struct StatusArgs {
    /// Look again and again.
    #[arg(long)]
    pub watch: bool,
    /// How long --watch waits between two looks, at least 1s; shorter ones cost many AWS calls.
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = values::interval, requires = "watch")]
    pub interval: Duration,
    /// How to print it.
    #[arg(long, value_enum, default_value_t)]
    pub format: StatusFormat,
    /// Where the inputs come from.
    #[command(flatten)]
    pub inputs: InputArgs,
}

/// How to print a status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum StatusFormat {
    /// For people.
    #[default]
    Text,
    /// For programs; machinepool schema status describes it.
    Json,
}

/// The commands of `rollout`.
#[derive(Debug, Subcommand)]
pub enum RolloutCommand {
    /// Show the instance refresh: how far it is, or how the last one ended.
    Status(RolloutStatusArgs),
    /// Replace the members that do not run the latest version of the launch template.
    Start(RolloutStartArgs),
    /// Stop the instance refresh that is under way.
    Cancel(RolloutCancelArgs),
}

/// Options of `rollout status`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  machinepool rollout status -var-file=pool.tfvars.json
  machinepool rollout status --format json -var-file=pool.tfvars.json | jq .refresh.percentage")]
pub struct RolloutStatusArgs {
    /// How to print it.
    #[arg(long, value_enum, default_value_t)]
    pub format: StatusFormat,
    /// Where the inputs come from.
    #[command(flatten)]
    pub inputs: InputArgs,
}

/// Options of `rollout start`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  machinepool rollout start -var-file=pool.tfvars.json
  machinepool rollout start -auto-approve --wait --timeout 1h -var-file=pool.tfvars.json

A new Kubernetes version or pinned image rolls with apply. Other changes (node labels, instance type, a \
newer image of the same version) reach new members only: this brings them to the others, each \
replacement launched before an old member goes, without a drain. Members that are right already stay. It \
also goes on with a roll that was cancelled or failed too often. If apply would change anything, say \
apply first. In a directory with a main.tf.json it holds the lock of the state.")]
pub struct RolloutStartArgs {
    /// Do not ask.
    #[arg(long)]
    pub auto_approve: bool,
    /// Wait until the members are replaced.
    #[arg(long)]
    pub wait: bool,
    /// How long all of it may take.
    #[arg(long, value_name = "DURATION", default_value = "45m", value_parser = values::timeout)]
    pub timeout: Duration,
    /// Where the inputs come from.
    #[command(flatten)]
    pub inputs: InputArgs,
    /// What Terraform's command understands, too.
    #[command(flatten)]
    pub terraform: TerraformArgs,
}

/// Options of `rollout cancel`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  machinepool rollout cancel -var-file=pool.tfvars.json
  machinepool rollout cancel -lock=false -var-file=terraform.tfvars.json

It asks nothing. Nobody is replaced any more, and what was replaced is not taken back. Members beyond the \
wanted size, which a roll launches first, may be terminated by Auto Scaling, and old ones before new ones: \
rollout status says how many there are. Protect those that are to stay from scale-in first. An apply leaves \
a cancelled roll alone; rollout start goes on with it. In a directory with a main.tf.json it waits for the lock of the \
state as long as -lock-timeout says; -lock=false stops a roll that another command, such as apply \
--wait, holds the lock for.")]
pub struct RolloutCancelArgs {
    /// How long all of it may take.
    #[arg(long, value_name = "DURATION", default_value = "45m", value_parser = values::timeout)]
    pub timeout: Duration,
    /// Where the inputs come from.
    #[command(flatten)]
    pub inputs: InputArgs,
    /// The lock of the state.
    #[command(flatten)]
    pub locking: LockArgs,
}

/// Options of `completions`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  machinepool completions bash > /etc/bash_completion.d/machinepool
  machinepool completions zsh > ~/.zfunc/_machinepool
  machinepool completions fish > ~/.config/fish/completions/machinepool.fish

They complete options with two hyphens; one hyphen, as Terraform spells them, means the same.")]
pub struct CompletionsArgs {
    /// Of which shell.
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// Options of `man`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  machinepool man | man -l -
  machinepool man rollout start | man -l -
  machinepool man --dir /usr/local/share/man/man1")]
pub struct ManArgs {
    /// The page of this command; without one, that of the program.
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    pub command: Vec<String>,
    /// Write all pages into this directory, one file each, and print their names.
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// Options of `schema`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  machinepool schema inputs > inputs.schema.json
  machinepool schema variables
  machinepool schema variables --format json
  machinepool schema status")]
pub struct SchemaArgs {
    /// Of what.
    #[arg(value_enum, default_value_t)]
    pub of: SchemaOf,
    /// JSON Schema, or (of the variables, and their default) a Markdown table.
    #[arg(long, value_enum)]
    pub format: Option<SchemaFormat>,
}

/// What there is a schema of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SchemaOf {
    /// What the controller says.
    #[default]
    Inputs,
    /// What the program answers.
    Outputs,
    /// What a user may say beside the inputs.
    Variables,
    /// What plan --format json prints.
    Plan,
    /// What status --format json prints.
    Status,
    /// What doctor finds.
    Doctor,
}

/// How to print a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaFormat {
    /// JSON Schema, draft 2020-12.
    Json,
    /// A Markdown table.
    Markdown,
}
