//! The IAM policy: as JSON, explained, and compared with another.

use super::{
    style::{Style, Tone},
    table::table,
    text,
};
use crate::model::permissions::{
    Policy, Statement,
    compare::{Finding, Verdict},
};

/// The policy as IAM takes it, with a line end.
pub fn policy_json(policy: &Policy) -> String {
    text::exact_json(policy)
}

/// What each statement is for and what it allows, in the policy's order.
pub fn explanation(policy: &Policy, style: Style) -> String {
    let rows: Vec<Vec<String>> = policy
        .statements
        .iter()
        .map(|statement| {
            let mut lines = vec![text::capitalised(statement.purpose)];
            lines.extend(statement.actions.iter().map(|&action| action.to_owned()));
            lines.extend(narrowed(statement));
            vec![statement.sid.to_owned(), lines.join("\n")]
        })
        .collect();
    table(&["statement", "for what, which actions, on what and if what"], &rows, style) + "\n"
}

/// What narrows a statement, one thing a line: resources, then keys of conditions.
fn narrowed(statement: &Statement) -> Vec<String> {
    let resources = statement.resources.iter().filter(|one| *one != "*").cloned();
    let keys = statement.conditions.values().flatten();
    let conditions = keys.map(|(key, values)| format!("if {key} is {}", values.join(" or ")));
    let lines: Vec<String> = resources.chain(conditions).map(|one| text::line(&one)).collect();
    if lines.is_empty() { vec!["(not narrowed)".to_owned()] } else { lines }
}

/// The table of the documentation.
pub fn permissions_markdown(policy: &Policy) -> String {
    let mut lines = vec!["| Statement | For | Actions |".to_owned(), "| --- | --- | --- |".to_owned()];
    lines.extend(policy.statements.iter().map(|statement| {
        let actions: Vec<String> = statement.actions.iter().map(|action| format!("`{action}`")).collect();
        let purpose = text::capitalised(statement.purpose);
        format!("| `{}` | {purpose} | {} |", statement.sid, actions.join(", "))
    }));
    lines.join("\n") + "\n"
}

/// What a policy lacks, and what cannot be judged.
pub fn comparison(findings: &[Finding], style: Style) -> String {
    let (lacking, unclear): (Vec<&Finding>, Vec<&Finding>) =
        findings.iter().partition(|finding| finding.is_lacking());
    let mut parts = Vec::new();
    if lacking.is_empty() {
        parts.push(style.paint(Tone::Good, "No action is lacking."));
    } else {
        let verb = if lacking.len() == 1 { "is" } else { "are" };
        let heading = format!("{} {verb} lacking:", text::count(lacking.len(), "permission"));
        parts.push(style.paint(Tone::Bad, &heading));
        parts.push(rows(&lacking, style));
    }
    if !unclear.is_empty() {
        let heading = format!(
            "{} cannot be judged; look whether the pool is within what the policy says:",
            text::count(unclear.len(), "permission")
        );
        parts.push(style.paint(Tone::Caution, &text::wrap(&heading, style.width)));
        parts.push(rows(&unclear, style));
    }
    parts.join("\n") + "\n"
}

/// One row for the actions that the same is the matter with.
fn rows(findings: &[&Finding], style: Style) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for finding in findings {
        let why = match &finding.verdict {
            Verdict::Lacking => text::capitalised(finding.purpose),
            Verdict::Denied(by) => text::capitalised(&format!("denied by statement {by}")),
            Verdict::Shut(doubts) | Verdict::Unclear(doubts) => text::capitalised(&doubts.join("; ")),
        };
        let resources: Vec<String> = finding.resources.iter().map(|one| text::line(one)).collect();
        let (on, why) = (resources.join("\n"), text::line(&why));
        match rows.iter_mut().find(|row| row[1] == on && row[2] == why) {
            Some(row) => row[0] = format!("{}\n{}", row[0], finding.action),
            None => rows.push(vec![finding.action.to_owned(), on, why]),
        }
    }
    table(&["action", "on", "why"], &rows, style)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::BTreeSet;

    use super::*;
    use crate::model::permissions::{Document, Grant, Pools, compare::compare};

    fn policy() -> Policy {
        Policy::of(&Grant {
            partition: "aws",
            region: "eu-*".to_owned(),
            account: "123456789012".to_owned(),
            buckets: vec!["captf-*".to_owned()],
            worker_roles: vec!["arn:aws:iam::123456789012:role/workers".to_owned()],
            pools: Pools::All,
            doctor: true,
        })
    }

    #[test]
    fn explanations() {
        for width in [80, 120] {
            let shown = explanation(&policy(), Style::new(Some(width), false));
            assert!(shown.lines().all(|line| line.chars().count() <= width), "{shown}");
            insta::assert_snapshot!(format!("explanation_{width}"), shown);
        }
    }

    #[test]
    fn comparisons() {
        let theirs = r#"{"Statement": [
            {"Effect": "Allow", "NotAction": ["ec2:CreateTags", "s3:*"], "Resource": "*"},
            {"Sid": "Objects", "Effect": "Allow", "Action": "s3:*", "Resource": "arn:aws:s3:::captf-eu/*"},
            {"Sid": "NoRoles", "Effect": "Deny", "Action": "iam:*", "Resource": "*"}
        ]}"#;
        let findings = compare(&policy(), &Document::parse(theirs.as_bytes()).unwrap());
        for width in [80, 120] {
            let shown = comparison(&findings, Style::new(Some(width), false));
            assert!(shown.lines().all(|line| line.chars().count() <= width), "{shown}");
            insta::assert_snapshot!(format!("comparison_{width}"), shown);
        }
        assert_eq!(comparison(&[], Style::new(Some(80), false)), "No action is lacking.\n");
    }

    fn action_like(word: &str) -> bool {
        ["autoscaling:", "ec2:", "iam:", "s3:"].iter().any(|service| word.starts_with(service))
    }

    /// Somebody wants to copy the name of an action, or looks for it.
    #[test]
    fn every_action_stands_in_one_piece() {
        let policy = policy();
        let nothing = compare(&policy, &Document::default());
        for width in [80, 100, 120] {
            let style = Style::new(Some(width), false);
            for shown in [explanation(&policy, style), comparison(&nothing, style)] {
                let words: BTreeSet<&str> = shown.split_whitespace().collect();
                for action in policy.statements.iter().flat_map(|statement| &statement.actions) {
                    assert!(words.contains(action), "{action}: {shown}");
                }
                let of_service =
                    |line: &str| line.split_whitespace().filter(|word| action_like(word)).count();
                assert!(shown.lines().all(|line| of_service(line) <= 1), "{shown}");
            }
        }
    }

    #[test]
    fn json_for_iam() {
        insta::assert_snapshot!("policy_json", policy_json(&policy()));
    }
}
