//! Processes of a group that somebody has suspended, and what waits until they are resumed.

use super::observed::Group;
use crate::contract::problem::Diagnostic;

/// The one process that a pool itself has suspended: replacing running nodes to even out zones is never wanted.
pub const SUSPENDED: &str = "AZRebalance";

/// What an instance refresh does not go on without.
pub const OF_ROLLS: &[&str] = &["InstanceRefresh", "Launch", "Terminate"];

/// The processes that others have suspended, or AWS itself.
pub fn suspended(group: &Group) -> Vec<&str> {
    group.suspended.iter().map(String::as_str).filter(|process| *process != SUSPENDED).collect()
}

/// Of the processes that something needs, those that are suspended.
pub fn missing<'a>(group: &Group, needs: &[&'a str]) -> Vec<&'a str> {
    needs.iter().copied().filter(|need| *need != SUSPENDED && group.suspended.contains(*need)).collect()
}

/// Says what others have suspended, if they have.
pub fn warning(group: &Group) -> Option<Diagnostic> {
    let foreign = suspended(group);
    (!foreign.is_empty()).then(|| {
        Diagnostic::warning(
            format!("Suspended on the group: {}", foreign.join(", ")),
            "By an operator, or by AWS itself after a day of launches that failed. It stays so until it is resumed: \
             `aws autoscaling resume-processes`.",
        )
    })
}

/// `until Launch and Terminate are resumed`
pub fn until(missing: &[&str]) -> String {
    let verb = if missing.len() == 1 { "is" } else { "are" };
    format!("until {} {verb} resumed", named(missing))
}

/// `Launch and Terminate`
pub fn named(processes: &[&str]) -> String {
    match processes {
        [init @ .., last] if !init.is_empty() => format!("{} and {last}", init.join(", ")),
        _ => processes.concat(),
    }
}

/// Says that something waits for processes, if any are missing, with the command that lets it go on.
pub fn waits(what: &str, group: &Group, needs: &[&str]) -> Option<Diagnostic> {
    let missing = missing(group, needs);
    (!missing.is_empty()).then(|| {
        Diagnostic::warning(
            format!("The {what} waits {}", until(&missing)),
            format!(
                "When it may go on:\n\n  aws autoscaling resume-processes --auto-scaling-group-name {} \
                 --scaling-processes {}",
                group.name,
                missing.join(" ")
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(suspended: &[&str]) -> Group {
        Group {
            name: "g".into(),
            suspended: suspended.iter().map(|process| (*process).to_owned()).collect(),
            ..Group::default()
        }
    }

    #[test]
    fn what_is_suspended_for_good_is_no_news() {
        let ours = group(&[SUSPENDED]);
        assert_eq!((warning(&ours), waits("roll", &ours, OF_ROLLS)), (None, None));
    }

    #[test]
    fn who_waits_says_for_what() {
        let all = group(&["AZRebalance", "HealthCheck", "InstanceRefresh", "Launch", "Terminate"]);
        let told = waits("roll", &all, OF_ROLLS).unwrap();
        assert_eq!(told.summary, "The roll waits until InstanceRefresh, Launch and Terminate are resumed");
        assert!(told.detail.ends_with("--scaling-processes InstanceRefresh Launch Terminate"), "{told:?}");
        let one = waits("scale-out", &group(&["Launch"]), &["Launch"]).unwrap();
        assert_eq!(one.summary, "The scale-out waits until Launch is resumed");
        assert_eq!(waits("scale-in", &group(&["Launch"]), &["Terminate"]), None);
        assert!(
            warning(&all).unwrap().summary.ends_with(": HealthCheck, InstanceRefresh, Launch, Terminate")
        );
    }
}
