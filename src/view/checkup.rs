//! What a check-up found, for people and for programs.

use serde::Serialize;

use super::{
    style::{Style, Tone},
    text,
};
use crate::model::checkup::{Check, Checkup, Status};

/// Where findings begin: behind the longest word for how a check ended.
const MARGIN: usize = 6;

/// One paragraph a check: how it ended, what was found, why, and what to do. The last line counts.
/// With `quiet`, checks that passed are only counted.
pub fn checkup(found: &Checkup, pool: &str, region: &str, quiet: bool, style: Style) -> String {
    let heading = format!("Check-up of the pool {} in {}", text::line(pool), text::line(region));
    let mut parts = vec![style.paint(Tone::Strong, &text::wrap(&heading, style.width)), String::new()];
    let shown = found.checks.iter().filter(|check| !quiet || check.status != Status::Pass);
    let before = parts.len();
    parts.extend(shown.map(|check| one(check, style)));
    if parts.len() > before {
        parts.push(String::new());
    }
    parts.push(style.paint(Tone::Strong, &text::wrap(&counts(found), style.width)));
    parts.join("\n") + "\n"
}

fn one(check: &Check, style: Style) -> String {
    let (word, tone) = match check.status {
        Status::Pass => ("ok", Tone::Good),
        Status::Warning => ("warn", Tone::Caution),
        Status::Fail => ("FAIL", Tone::Bad),
        Status::Skipped => ("skip", Tone::Faint),
    };
    let mut lines = vec![text::line(&check.title)];
    lines.extend(check.detail.lines().filter(|line| !line.is_empty()).map(text::line));
    if let Some(fix) = &check.fix {
        let fix = format!("Fix: {fix}");
        lines.extend(fix.lines().filter(|line| !line.is_empty()).map(text::line));
    }
    let width = style.width - MARGIN;
    let each = lines.iter().map(|line| {
        if text::is_command(line) { text::command(line, width) } else { text::wrap(line, width) }
    });
    let body = each.collect::<Vec<_>>().join("\n");
    let body = text::indent(&body, MARGIN);
    format!("{}{}", style.paint(tone, word), &body[word.len()..])
}

fn counts(found: &Checkup) -> String {
    let number = |status| found.count(status);
    format!(
        "Check-up: {} ok, {}, {} failed, {} skipped.",
        number(Status::Pass),
        text::count(number(Status::Warning), "warning"),
        number(Status::Fail),
        number(Status::Skipped)
    )
}

/// The same in the form that `contract/doctor.schema.json` describes.
#[derive(Serialize)]
struct Report<'a> {
    format_version: &'static str,
    pool: &'a str,
    region: &'a str,
    account: Option<&'a str>,
    caller: Option<&'a str>,
    healthy: bool,
    summary: Summary,
    checks: &'a [Check],
}

#[derive(Serialize)]
struct Summary {
    pass: usize,
    warning: usize,
    fail: usize,
    skipped: usize,
}

/// One indented JSON object with a line end.
pub fn checkup_json(found: &Checkup, pool: &str, region: &str) -> String {
    let caller = found.caller.as_ref();
    text::json(&Report {
        format_version: "1.0",
        pool,
        region,
        account: caller.map(|caller| caller.account.as_str()),
        caller: caller.map(|caller| caller.arn.as_str()),
        healthy: found.count(Status::Fail) == 0,
        summary: Summary {
            pass: found.count(Status::Pass),
            warning: found.count(Status::Warning),
            fail: found.count(Status::Fail),
            skipped: found.count(Status::Skipped),
        },
        checks: &found.checks,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::model::{checkup as model, testing};

    fn found() -> Checkup {
        let request = testing::request(|r| r.warnings.clear());
        let mut facts = model::testing::facts(&request);
        facts.subnets = model::Look::Denied { call: "ec2:DescribeSubnets" };
        facts.instance_profile = model::Look::Seen(None);
        facts.roles.insert(model::AUTOSCALING_ROLE, model::Look::Seen(false));
        facts.quota = model::Look::Failed {
            call: "servicequotas:GetServiceQuota",
            kind: model::Trouble::Other,
            words: "\u{1b}[2JInternal".to_owned(),
        };
        model::checkup(&request, &facts)
    }

    #[test]
    fn findings_for_people() {
        for width in [80, 120] {
            let shown =
                checkup(&found(), "team-a/demo-pool-0", "us-east-1", false, Style::new(Some(width), false));
            assert!(shown.lines().all(|line| line.chars().count() <= width), "{shown}");
            insta::assert_snapshot!(format!("checkup_{width}"), shown);
        }
    }

    #[test]
    fn quiet_leaves_out_what_is_well() {
        let shown = checkup(&found(), "a/b", "us-east-1", true, Style::new(None, false));
        assert!(!shown.contains("\nok ") && shown.contains("\nFAIL ") && shown.contains(" ok, "), "{shown}");
        assert!(!shown.contains('\u{1b}'), "{shown}");
    }

    #[test]
    fn findings_for_programs_fit_their_schema() {
        let schema = serde_json::from_str(crate::contract::schema::doctor()).unwrap();
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        let report = serde_json::from_str(&checkup_json(&found(), "a/b", "us-east-1")).unwrap();
        let faults: Vec<String> = validator.iter_errors(&report).map(|fault| fault.to_string()).collect();
        assert_eq!(faults, [""; 0]);
        assert_eq!(report["healthy"], false);
        assert_eq!(report["account"], "123456789012");
    }
}
