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
    text::json(policy)
}

/// What each statement is for, in the policy's order.
pub fn explanation(policy: &Policy, style: Style) -> String {
    let rows: Vec<Vec<String>> = policy
        .statements
        .iter()
        .map(|statement| {
            let actions = statement.actions.join(" ");
            vec![statement.sid.to_owned(), text::capitalised(statement.purpose), actions, narrowed(statement)]
        })
        .collect();
    table(&["statement", "for", "actions", "only where"], &rows, style) + "\n"
}

/// What narrows a statement: resources, then keys of conditions.
fn narrowed(statement: &Statement) -> String {
    let mut parts: Vec<String> = statement.resources.iter().filter(|one| *one != "*").cloned().collect();
    for keys in statement.conditions.values() {
        parts.extend(keys.iter().map(|(key, values)| format!("{key} is {}", values.join(" or "))));
    }
    if parts.is_empty() { "(not narrowed)".to_owned() } else { text::line(&parts.join(" ")) }
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

fn rows(findings: &[&Finding], style: Style) -> String {
    let rows: Vec<Vec<String>> = findings
        .iter()
        .map(|finding| {
            let resources = finding.resources.join(" ");
            let why = match &finding.verdict {
                Verdict::Lacking => text::capitalised(finding.purpose),
                Verdict::Denied(by) => text::capitalised(&format!("denied by statement {by}")),
                Verdict::Unclear(doubts) => text::capitalised(&doubts.join("; ")),
            };
            [finding.action.to_owned(), resources, why].map(|cell| text::line(&cell)).to_vec()
        })
        .collect();
    table(&["action", "on", "why"], &rows, style)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

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

    #[test]
    fn json_for_iam() {
        insta::assert_snapshot!("policy_json", policy_json(&policy()));
    }
}
