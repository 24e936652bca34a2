//! The sentences that begin and end a command. Programs parse the last three.

use super::{plan::Purpose, text};
use crate::model::plan::Counts;

/// `Plan: 2 to add, 1 to change, 0 to destroy.` Without a line end.
pub fn plan_summary(counts: Counts) -> String {
    format!("Plan: {} to add, {} to change, {} to destroy.", counts.add, counts.change, counts.destroy)
}

/// `Apply complete! Resources: 5 added, 0 changed, 0 destroyed.`
pub fn apply_complete(counts: Counts) -> String {
    format!(
        "Apply complete! Resources: {} added, {} changed, {} destroyed.\n",
        counts.add, counts.change, counts.destroy
    )
}

/// `Destroy complete! Resources: 5 destroyed.`
pub fn destroy_complete(counts: Counts) -> String {
    format!("Destroy complete! Resources: {} destroyed.\n", counts.destroy)
}

/// The question before anything is written. Only `yes` means yes.
pub fn confirmation(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Apply => "\nDo this now? Only \"yes\" is accepted: ",
        Purpose::Destroy => "\nDestroy all of this now? It cannot be undone. Only \"yes\" is accepted: ",
    }
}

/// Says that nothing of what follows is real.
pub fn sandbox_notice(file: &str) -> String {
    format!("Sandbox: a simulated account kept in {}; nothing of it exists in AWS.\n", text::line(file))
}

/// A roll was started.
pub fn rollout_started(id: &str, replaced: usize) -> String {
    format!(
        "Instance refresh {} started: {} replaced, a replacement launched before each one goes.\n",
        text::line(id),
        if replaced == 1 { "1 member is".to_owned() } else { format!("{replaced} members are") }
    )
}

/// There is nobody to replace.
pub fn nothing_to_roll() -> String {
    "Nothing to roll: every member runs the latest version of the launch template.\n".to_owned()
}

/// A roll is under way already.
pub fn rollout_runs(id: &str, status: &str) -> String {
    format!(
        "Nothing to start: instance refresh {} is {} already. rollout status tells how far it is.\n",
        text::line(id),
        text::line(status)
    )
}

/// A roll that was waited for is over.
pub fn rollout_complete() -> String {
    "Rollout complete!\n".to_owned()
}

/// A cancel is done; `ended` is the refresh and its status, if there was one.
pub fn rollout_cancelled(ended: Option<(&str, &str)>, on_other_template: usize) -> String {
    let Some((id, status)) = ended else {
        return "Nothing to cancel: no instance refresh is active.\n".to_owned();
    };
    let left = match on_other_template {
        0 => "No member runs another launch template than the group's.".to_owned(),
        1 => "1 member still runs another launch template than the group's.".to_owned(),
        many => format!("{many} members still run another launch template than the group's."),
    };
    format!(
        "Instance refresh {} has ended: {}. What was replaced stays. {left} An apply leaves it so; rollout start goes \
         on.\n",
        text::line(id),
        text::line(status)
    )
}
