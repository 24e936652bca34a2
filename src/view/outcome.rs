//! The sentences that begin and end a command. Programs parse the last three.

use super::{plan::Purpose, status::told_behind, text};
use crate::model::{
    observed::Group,
    plan::Counts,
    roll,
    status::{ASK_ROLLOUT_STATUS, Rollout},
};

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

/// There is nobody at all.
pub fn nobody_to_roll() -> String {
    "Nothing to roll: the group has no members.\n".to_owned()
}

/// Those that could be replaced are in standby.
pub fn only_aside(ids: &[String]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| text::line(id)).collect();
    format!(
        "Nothing to roll: only members in standby do not run the latest version of the launch template, and a roll \
         passes them by: {}. {}\n",
        ids.join(", "),
        roll::BRING_BACK
    )
}

/// A roll is under way already.
pub fn rollout_runs(id: &str, status: &str) -> String {
    format!(
        "Nothing to start: instance refresh {} is {} already. machinepool rollout status tells how far it is.\n",
        text::line(id),
        text::line(status)
    )
}

/// A roll that was waited for is over.
pub fn rollout_complete() -> String {
    "Rollout complete!\n".to_owned()
}

/// No roll is under way in the group of that name, if there even is one.
pub fn nothing_to_cancel(name: &str, group: Option<&Group>) -> String {
    let name = text::line(name);
    let why = match group {
        None => format!("there is no Auto Scaling group {name}"),
        Some(group) if group.deleting => format!("Auto Scaling group {name} is being deleted"),
        Some(_) => format!("no instance refresh of Auto Scaling group {name} is active"),
    };
    format!("Nothing to cancel: {why}.\n")
}

/// A cancel is done: the refresh that ended, its status, and what is left; the latter two as far as AWS tells.
pub fn rollout_cancelled(id: &str, status: Option<&str>, left: Option<&Rollout>) -> String {
    let how = status.map_or(String::new(), |status| format!(": {}", text::line(status)));
    let behind = left.and_then(told_behind).map_or_else(String::new, |behind| format!("Behind: {behind}. "));
    let next = left.map_or_else(|| ASK_ROLLOUT_STATUS.to_owned(), |left| left.next_after(id));
    format!(
        "Instance refresh {} has ended{how}. What was replaced stays. {behind}{}\n",
        text::line(id),
        text::line(&next)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        observed::Refresh,
        status,
        testing::{self, NOW},
    };

    /// What a cancel says of a refresh for this template that ended so, with members on these versions.
    fn cancelled(status: &str, template: Option<&str>, versions: &[u32]) -> String {
        let mut seen = testing::seen(versions);
        let desired =
            template.map(|id| crate::model::observed::TemplateUse { id: id.to_owned(), ..testing::used(2) });
        let start = Some(NOW);
        let refresh = Refresh {
            id: "r-1".into(),
            status: status.into(),
            start,
            desired_template: desired,
            ..Refresh::default()
        };
        seen.refreshes = vec![refresh];
        let left = status::roll(&testing::request(|_| {}).scope, &seen, NOW);
        rollout_cancelled("r-1", Some(status), Some(&left))
    }

    #[test]
    fn an_apply_leaves_only_a_roll_of_ours_that_was_cancelled() {
        let ours = cancelled("Cancelled", None, &[2, 1, 0]);
        assert!(ours.contains("an apply leaves it so. machinepool rollout start goes on."), "{ours}");
        let foreign = cancelled("Cancelled", Some("lt-other"), &[2, 0]);
        assert!(!foreign.contains("leaves it so") && foreign.contains("An apply replaces"), "{foreign}");
        let failed = cancelled("Failed", None, &[2, 0]);
        assert!(!failed.contains("leaves it so") && failed.contains("The next apply starts it"), "{failed}");
    }

    #[test]
    fn a_cancel_of_which_aws_tells_no_more_is_done_all_the_same() {
        let told = rollout_cancelled("r-1", None, None);
        assert_eq!(
            told,
            "Instance refresh r-1 has ended. What was replaced stays. machinepool rollout status tells what comes \
             next.\n"
        );
    }

    #[test]
    fn members_on_a_deleted_template_are_left_behind_as_well() {
        let mut seen = testing::seen(&[2, 2, 1, 0]);
        let group = seen.group.as_mut().unwrap();
        for member in &mut group.members[..2] {
            member.template.as_mut().unwrap().id = "lt-gone".into();
        }
        let left = status::roll(&testing::request(|_| {}).scope, &seen, NOW);
        let told = rollout_cancelled("r-1", Some("Cancelled"), Some(&left));
        let behind = "Behind: 1 member on another launch template than the group's, 1 on another version of the group's, \
                      2 on a deleted template of the same name. ";
        assert!(told.contains(behind), "{told}");
    }

    #[test]
    fn a_roll_of_labels_cancelled_half_way_left_somebody_behind() {
        let half = cancelled("Cancelled", None, &[2, 1, 1]);
        assert!(half.contains("Behind: 2 members on another version of the group's."), "{half}");
        assert!(half.contains("rollout start replaces them"), "{half}");
        let whole = cancelled("Cancelled", None, &[2, 2]);
        assert!(
            whole.ends_with("What was replaced stays. All members run what the group launches.\n"),
            "{whole}"
        );
    }
}
