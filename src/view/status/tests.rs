#![allow(clippy::unwrap_used)]

use std::time::Duration;

use super::*;
use crate::model::{
    observed::{Group, Instance, Refresh},
    plan::{Action, Address, Change, FieldChange, Plan},
    status::{self as model, Compared, Seen},
    testing::{self, NOW},
};

fn of(seen: &Seen, compared: Compared<'_>) -> Status {
    let scope = testing::request(|r| r.scope.node_labels = testing::tags(&[("team", "a")])).scope;
    model::status(&scope, "us-east-1", seen, compared, NOW)
}

fn plain(width: usize) -> Style {
    Style::new(Some(width), false)
}

fn refresh(status: &str, percentage: u32) -> Refresh {
    Refresh {
        id: "08b91cf7-8fa6-48af-b6a6-d227f40f1b9b".into(),
        status: status.into(),
        start: Some(Timestamp(NOW.0 - 293_000)),
        percentage: Some(percentage),
        remaining: Some(1),
        ..Refresh::default()
    }
}

/// A roll that has come half way, with members in every odd state.
fn rolling() -> Seen {
    let mut seen = testing::seen(&[2, 1, 0, 2, 2, 0]);
    let group = seen.group.as_mut().unwrap();
    group.desired = 5;
    group.suspended.insert("Launch".into());
    group.members[0].protected = true;
    group.members[1].health = "Unhealthy".into();
    group.members[1].protected = true;
    group.members[3].lifecycle = "Pending".into();
    group.members[4].lifecycle = "Standby".into();
    group.members[5].lifecycle = "Terminating:Wait".into();
    seen.instances[3].state = "pending".into();
    seen.instances[5].state = "shutting-down".into();
    let stray = Instance { id: "i-0stray".into(), state: "running".into(), ..Instance::default() };
    seen.instances.push(stray);
    seen.refreshes = vec![Refresh {
        reason: Some(
            "Waiting for remaining instances to be available.\n  For example: i-00000000000000003".into(),
        ),
        ..refresh("InProgress", 66)
    }];
    let capacity = "We currently do not have sufficient m6i.large capacity in the Availability Zone you requested \
                    (us-east-1a). Our system will be working on provisioning additional capacity. Launching EC2 \
                    instance failed.";
    let at = |seconds: i64, status: &str, reason: &str| {
        let activity = testing::activity(status, reason);
        crate::model::observed::Activity { start: Timestamp(NOW.0 - seconds * 1000), ..activity }
    };
    seen.activities = Some(vec![
        at(12, "InProgress", ""),
        at(75, "Failed", capacity),
        at(90, "Failed", capacity),
        at(700, "Failed", "Something that nobody has seen yet"),
        at(90_000, "Successful", ""),
        at(300_000, "Successful", ""),
        at(400_000, "Successful", ""),
    ]);
    seen
}

fn changes() -> Plan {
    let field = |field: &str| FieldChange { field: field.into(), now: None, then: None };
    let change = |address, action| Change {
        address,
        name: "x".into(),
        action,
        fields: ["user_data", "instance_type", "image_id", "spot", "metadata.hop_limit"].map(field).into(),
        reason: None,
    };
    Plan {
        changes: vec![change(Address::Template, Action::Update), change(Address::Policy, Action::Create)],
        terminated: 2,
        ..Plan::default()
    }
}

/// Two thousand members in the middle of a roll, 30 of them odd.
fn large() -> Seen {
    let versions: Vec<u32> = (0..2000).map(|at| if at % 4 == 0 { 0 } else { 2 }).collect();
    let mut seen = testing::seen(&versions);
    for at in (0..300).step_by(10) {
        seen.instances[at].state = "stopped".into();
    }
    seen
}

#[test]
fn screens_at_three_widths() {
    let plan = Plan::default();
    let (none, some) = (Compared::With(&plan), changes());
    let gone = Seen { instances: testing::seen(&[2]).instances, ..Seen::default() };
    let ordinary = testing::seen(&[2, 2, 2]);
    let deleting = Seen {
        group: Some(Group { deleting: true, desired: 0, min: 0, max: 0, ..ordinary.group.clone().unwrap() }),
        ..ordinary.clone()
    };
    for width in [60, 80, 120] {
        for (name, seen, compared) in [
            ("ordinary", &ordinary, none),
            ("rolling", &rolling(), Compared::With(&some)),
            ("large", &large(), none),
            ("missing", &gone, Compared::Not("bootstrap_data is missing, and 3 more")),
            ("deleting", &deleting, none),
        ] {
            let shown = status(&of(seen, compared), plain(width));
            insta::assert_snapshot!(format!("status_{name}_{width}"), shown);
        }
    }
}

/// What is odd about a member is what somebody looks for: other columns give way to it.
#[test]
fn marks_are_whole_at_any_width() {
    let mut odd = rolling();
    odd.group.as_mut().unwrap().members[0].template.as_mut().unwrap().id = "lt-gone".into();
    odd.group.as_mut().unwrap().members[3].template = None;
    let marks = [
        "older version",
        "other template",
        "deleted template",
        "no template",
        "not in the group",
        "unhealthy",
        "standby",
        "protected",
    ];
    let ids: Vec<String> = odd.instances.iter().map(|instance| instance.id.clone()).collect();
    for width in [60, 70, 79, 80, 100, 120] {
        let shown = status(&of(&odd, Compared::Not("a test")), plain(width));
        let members = shown.split("Members\n").nth(1).unwrap();
        for part in marks.iter().copied().chain(ids.iter().map(String::as_str)) {
            assert!(members.contains(part), "{width}, {part}: {members}");
        }
        let shown = status(&of(&large(), Compared::Not("a test")), plain(width));
        let sums = shown.split("Members\n").nth(1).unwrap();
        assert!(sums.contains("other template") && !sums.contains('…'), "{width}: {sums}");
    }
}

#[test]
fn rolls_at_two_widths() {
    let mut seen = testing::seen(&[2, 1, 0]);
    let mut shown = String::new();
    for width in [80, 120] {
        for (status, percentage) in
            [("InProgress", 66), ("Pending", 0), ("Cancelled", 33), ("Failed", 10), ("Successful", 100)]
        {
            let end = crate::model::roll::is_final(status).then_some(Timestamp(NOW.0 - 60_000));
            seen.refreshes = vec![Refresh { end, ..refresh(status, percentage) }];
            shown.push_str(&rollout(&of(&seen, Compared::Not("")), plain(width)));
            shown.push('\n');
        }
    }
    insta::assert_snapshot!("rollouts", shown);
}

#[test]
fn a_watch_tells_how_old_it_is_and_what_failed() {
    let problem = Diagnostic::error(
        "DescribeAutoScalingGroups of Auto Scaling group captf-x failed: ExpiredToken",
        "autoscaling:DescribeAutoScalingGroups in us-east-1 was answered with ExpiredToken: The security token \
         included in the request is expired\n\nThe AWS credentials are missing, expired or wrong.",
    );
    let trouble = Trouble { problems: vec![problem], since: NOW, tries: 9 };
    let seen = of(&testing::seen(&[2]), Compared::Not("a test"));
    let fresh = |trouble, said| Freshness {
        age: Duration::from_secs(47),
        every: Duration::from_secs(5),
        trouble,
        said,
        keyboard: true,
    };
    let tall = |fresh: &Freshness<'_>| watched_status(&seen, fresh, 99, 0, plain(80)).text;
    let shown = tall(&fresh(Some(&trouble), Some("Warning: slow")));
    insta::assert_snapshot!("watched_80", shown);
    let shown = tall(&fresh(None, None));
    assert!(shown.starts_with("Pool ") && shown.ends_with("\nRead 47s ago, every 5s. q quits.\n"), "{shown}");
}

fn unhurried(keyboard: bool) -> Freshness<'static> {
    Freshness { age: Duration::ZERO, every: Duration::from_secs(5), trouble: None, said: None, keyboard }
}

/// What needs a person comes first, and the rest is a key away.
#[test]
fn a_small_terminal_shows_what_matters_and_scrolls() {
    let seen = of(&rolling(), Compared::Not("a test"));
    for width in [60, 80] {
        let whole = watched_status(&seen, &unhurried(true), 24, 0, plain(width));
        assert_eq!((whole.text.lines().count(), whole.from, whole.page), (24, 0, 23));
        for part in ["Health  ", "What to do: ", "Rollout  "] {
            assert!(whole.text.contains(part), "{width}, {part}: {}", whole.text);
        }
        let words = whole.text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words.matches("We currently do not have").count(), 1, "told once: {words}");
        let (mut lines, mut from) = (Vec::new(), 0);
        loop {
            let shown = watched_status(&seen, &unhurried(true), 24, from, plain(width));
            assert!(shown.text.lines().last().unwrap().contains("q quits"), "{}", shown.text);
            let skipped = from - shown.from;
            lines.extend(shown.text.lines().take(23).skip(skipped).map(str::to_owned));
            if skipped > 0 || from > 500 {
                break;
            }
            from += 23;
        }
        let all = lines.join("\n");
        for part in ["Scaling activities", "Template ", "i-00000000000000001", "Labels "] {
            assert_eq!(all.matches(part).count().min(1), 1, "{part}: {all}");
        }
        let last = watched_status(&seen, &unhurried(true), 24, usize::MAX, plain(width));
        assert!(
            last.from > 0 && last.text.contains(&format!("-{0} of {0}:", last.from + 23)),
            "{}",
            last.text
        );
    }
}

#[test]
fn healthy_members_of_a_small_terminal_are_a_line_a_zone() {
    let mut seen = testing::seen(&[2; 40]);
    seen.instances[7].state = "stopped".into();
    let shown = watched_status(&of(&seen, Compared::Not("a test")), &unhurried(true), 24, 0, plain(80)).text;
    let at = |part: &str| shown.find(part).unwrap_or_else(|| panic!("no {part}: {shown}"));
    assert!(at("i-00000000000000007") < at("Other members"), "{shown}");
    assert_eq!(
        shown.matches("i-0000").count(),
        2,
        "the odd one, there and among the reasons of health: {shown}"
    );
    for zone in ["us-east-1a     14", "us-east-1b     12", "us-east-1c     13"] {
        assert!(shown.contains(zone), "{zone}: {shown}");
    }
    assert!(!shown.contains("Lines "), "all of it fits: {shown}");
    let small = watched_status(&of(&seen, Compared::Not("a test")), &unhurried(false), 10, 0, plain(80)).text;
    assert!(small.contains(" more: enlarge the terminal. Ctrl-C quits"), "{small}");
}

#[test]
fn more_members_than_wanted_are_told_with_the_reason() {
    let mut seen = testing::seen(&[2, 2, 2]);
    let group = seen.group.as_mut().unwrap();
    (group.min, group.max, group.desired) = (1, 1, 1);
    group.members.iter_mut().for_each(|member| member.protected = true);
    let shown = status(&of(&seen, Compared::Not("a test")), plain(120));
    assert!(
        shown.contains("3 members: 3 running; 2 more than wanted stay: protected from scale-in"),
        "{shown}"
    );
    assert!(shown.contains("running, not healthy: 3 members running, 1 wanted\n"), "{shown}");
    seen.refreshes = vec![refresh("InProgress", 33)];
    let rolled = of(&seen, Compared::Not("a test"));
    let shown = status(&rolled, plain(120)) + &rollout(&rolled, plain(120));
    assert!(!shown.contains("stay: protected"), "a roll replaces also those: {shown}");
    assert!(shown.contains("Beyond     2 members more than the 1 wanted."), "{shown}");
    seen.instances[0].state = "pending".into();
    let shown = status(&of(&seen, Compared::Not("a test")), plain(120));
    assert!(shown.contains("2 members running, 1 pending, 1 wanted\n"), "{shown}");
}

/// The time of day is what tells one picture from another.
#[test]
fn the_heading_shows_the_time_at_any_width() {
    let seen = of(&testing::seen(&[2]), Compared::Not("a test"));
    for (width, whole) in [(80, true), (60, false), (40, false), (30, false)] {
        for shown in [status(&seen, plain(width)), rollout(&seen, plain(width))] {
            let first = shown.lines().next().unwrap();
            assert!(first.starts_with("Pool team-a") && first.ends_with(" 12:00:00 UTC"), "{width}: {first}");
            assert_eq!(
                (first.contains("2026-"), first.contains("us-east-1")),
                (whole, width >= 60),
                "{first}"
            );
        }
    }
}

/// Behind one another in a pipe, each is one line.
#[test]
fn trouble_has_one_line_at_its_begin_and_one_at_its_end() {
    let problem = Diagnostic::error("It failed", "for a reason\n\n  and\u{1b} another");
    let trouble = Trouble { problems: vec![problem], since: NOW, tries: 3 };
    let every = Duration::from_secs(5);
    let shown = trouble_begins(&trouble, every) + &trouble_ends(&trouble, NOW.plus(Duration::from_secs(15)));
    insta::assert_snapshot!(shown, @r"
    Error: It failed (since 12:00:00 UTC; asked again every 5s): for a reason. and\u{1b} another.
    Read again at 12:00:15 UTC, after 15s and 3 tries in vain.
    ");
}

/// A watch draws over what was there before: a line that wraps would push everything out of its place.
#[test]
fn no_line_is_wider_than_the_terminal() {
    let some = changes();
    for seen in [testing::seen(&[2, 1]), rolling(), large(), Seen::default()] {
        let status = of(&seen, Compared::With(&some));
        let fresh = Freshness {
            age: Duration::ZERO,
            every: Duration::from_secs(5),
            trouble: None,
            said: None,
            keyboard: true,
        };
        for width in [40, 60, 79, 80, 100, 119, 160, 240] {
            let watched = |height| watched_status(&status, &fresh, height, 0, plain(width)).text;
            for shown in [watched(999), watched(12), rollout(&status, plain(width))] {
                for line in shown.lines() {
                    assert!(line.chars().count() <= width, "{width}: {line}");
                }
            }
        }
    }
}

#[test]
fn nothing_of_awss_steers_the_terminal() {
    let mut seen = testing::seen(&[2]);
    seen.activities = Some(vec![testing::activity("Failed", "evil \u{1b}[2J words \u{7}")]);
    seen.instances[0].state = "odd\u{1b}[31m".into();
    seen.refreshes = vec![Refresh { reason: Some("\u{9b}1m".into()), ..refresh("InProgress", 1) }];
    let shown = status(&of(&seen, Compared::Not("\u{1b}]0;x\u{7}")), plain(80));
    assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}");
}

#[test]
fn colour_adds_nothing_but_colour() {
    let seen = of(&rolling(), Compared::Not("a test"));
    let coloured = status(&seen, Style::new(Some(80), true));
    let mut bare = coloured.clone();
    for code in ["0", "1", "2", "31", "32", "33"] {
        bare = bare.replace(&format!("\u{1b}[{code}m"), "");
    }
    assert_eq!(bare, status(&seen, plain(80)));
    assert_ne!(bare, coloured);
}

/// AWS says 0 of those whom it has not counted yet.
#[test]
fn a_roll_just_started_is_not_said_to_be_over() {
    let lines_of = |versions: &[u32]| {
        let mut seen = testing::seen(versions);
        seen.refreshes = vec![Refresh {
            percentage: Some(0),
            remaining: Some(0),
            start: Some(NOW),
            ..refresh("Pending", 0)
        }];
        let seen = of(&seen, Compared::Not("a test"));
        assert_eq!(seen.rollout.refresh.as_ref().unwrap().remaining, None);
        [status(&seen, plain(200)), rollout(&seen, plain(200))]
    };
    for shown in lines_of(&[2, 1, 0]) {
        assert!(shown.contains(", 2 members behind, not counted by AWS yet"), "{shown}");
    }
    for shown in lines_of(&[2]) {
        assert!(shown.contains(", AWS has not counted yet what is left"), "{shown}");
    }
}

#[test]
fn a_command_in_a_warning_can_be_copied_at_any_width() {
    let command = "aws autoscaling resume-processes --auto-scaling-group-name captf-team-a-demo-pool-0-43c6d828 \
                   --scaling-processes Launch Terminate";
    let one = Diagnostic::warning("The roll waits", format!("Resume them:\n\n  {command}"));
    for width in [70, 80, 100, 120, 200] {
        let shown = warning(&one, plain(width));
        assert!(shown.lines().all(|line| line.chars().count() <= width), "{shown}");
        let pasted = shown.replace(" \\\n", " ");
        let words: Vec<&str> = pasted.split_whitespace().collect();
        assert!(words.join(" ").ends_with(command), "{shown}");
    }
}
