//! Variables of the environment in which Terraform looks for options and values of variables, and this program does not.

use super::Ui;
use crate::{
    cli::{Command, StateCommand},
    contract::{problem::Diagnostic, quote},
    view::text,
};

/// Options for every command of Terraform's.
const ALL: &str = "TF_CLI_ARGS";

/// What the variables begin with from which Terraform takes values.
const VALUES: &str = "TF_VAR_";

/// How many of them are named.
const NAMED: usize = 5;

/// Says once that options and values from the environment are not taken; never which.
pub(super) fn warn(ui: &Ui, command: &Command) {
    options(ui, command);
    values(ui, command);
}

/// The controller's runner sets none, so this is told in a root module, too.
fn values(ui: &Ui, command: &Command) {
    if !takes_inputs(command) {
        return;
    }
    let mut set: Vec<String> = std::env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .filter(|name| {
            name.strip_prefix(VALUES).is_some_and(|rest| !rest.is_empty() && quote::is_quotable(rest))
        })
        .collect();
    set.sort_unstable();
    if !set.is_empty() {
        let verb = if set.len() == 1 { "is" } else { "are" };
        ui.tell(&[Diagnostic::warning(
            format!("{} in the environment {verb} ignored", text::list_some(&set, NAMED)),
            "Inputs are taken from -var and -var-file only. Write them there.",
        )]);
    }
}

fn takes_inputs(command: &Command) -> bool {
    matches!(
        command,
        Command::Validate(_)
            | Command::Plan(_)
            | Command::Apply(_)
            | Command::Destroy(_)
            | Command::Outputs(_)
            | Command::Status(_)
            | Command::Rollout(_)
            | Command::Doctor(_)
            | Command::IamPolicy(_)
    )
}

fn options(ui: &Ui, command: &Command) {
    let Some(suffix) = suffix(command) else { return };
    let is_set = |name: &String| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let set: Vec<String> = [ALL.to_owned(), format!("{ALL}_{suffix}")].into_iter().filter(is_set).collect();
    if !set.is_empty() {
        let verb = if set.len() == 1 { "is" } else { "are" };
        ui.tell(&[Diagnostic::warning(
            format!("{} in the environment {verb} ignored", set.join(" and ")),
            "Options are taken from the command line only. Write them there.",
        )]);
    }
}

/// What Terraform calls the command in such a variable; `None` for commands that are not Terraform's.
fn suffix(command: &Command) -> Option<&'static str> {
    Some(match command {
        Command::Validate(_) => "validate",
        Command::Plan(_) => "plan",
        Command::Apply(_) => "apply",
        Command::Destroy(_) => "destroy",
        Command::Init(_) => "init",
        Command::Show(_) => "show",
        Command::State(StateCommand::List(_)) => "state_list",
        Command::State(StateCommand::Pull) => "state_pull",
        Command::State(StateCommand::Push(_)) => "state_push",
        Command::ForceUnlock(_) => "force_unlock",
        Command::Version(_) => "version",
        Command::Outputs(_)
        | Command::Status(_)
        | Command::Rollout(_)
        | Command::Schema(_)
        | Command::Doctor(_)
        | Command::IamPolicy(_)
        | Command::Completions(_)
        | Command::Man(_) => return None,
    })
}
