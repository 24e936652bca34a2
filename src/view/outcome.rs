//! The sentences that begin and end a command. Programs parse the two that end one.

use super::{plan::Purpose, text};
use crate::model::plan::Counts;

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
