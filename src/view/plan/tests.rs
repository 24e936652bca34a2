#![allow(clippy::unwrap_used)]

use super::*;
use crate::{
    contract::problem::Diagnostic,
    model::plan::{Address, AffectedMember, SUBNET_EXCHANGED},
    view::plan_json,
};

const GROUP: &str = "captf-team-a-demo-pool-0-43c6d828";

fn subject(purpose: Purpose) -> Subject<'static> {
    Subject { pool: "team-a/demo-pool-0", region: "us-east-1", purpose }
}

fn field(name: &str, now: Option<&str>, then: Option<&str>) -> FieldChange {
    FieldChange { field: name.into(), now: now.map(Into::into), then: then.map(Into::into) }
}

fn change(address: Address, action: Action, name: &str, fields: Vec<FieldChange>) -> Change {
    Change { address, name: name.into(), action, fields, reason: None }
}

fn member(id: &str, zone: &str) -> AffectedMember {
    AffectedMember { id: id.into(), zone: zone.into(), why: format!("runs template {GROUP}-0f2a version 3") }
}

fn script(labels: &str) -> String {
    format!("#cloud-boothook\n#!/bin/sh\nset -eu\nlabels='{labels}'\necho \"$labels\"\n")
}

fn creation() -> Plan {
    Plan {
        terminated: 0,
        overlap: 0,
        changes: vec![
            change(
                Address::Object,
                Action::Create,
                "s3://demo-bootstrap/pool/demo-pool-0",
                vec![field("sha256", None, Some("n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg="))],
            ),
            change(
                Address::Template,
                Action::Create,
                &format!("{GROUP}-0f2a"),
                vec![
                    field("instance_type", None, Some("m6i.large")),
                    field("user_data", None, Some(&script("a=b"))),
                ],
            ),
            change(
                Address::Group,
                Action::Create,
                GROUP,
                vec![field("min", None, Some("0")), field("subnets", None, Some("subnet-0a, subnet-0b"))],
            ),
        ],
        ..Plan::default()
    }
}

fn roll() -> Plan {
    let mut template = change(
        Address::Template,
        Action::Replace,
        &format!("{GROUP}-77b1"),
        vec![
            field("key_name", None, Some("ops")),
            field("image_id", Some("ami-0aaa"), Some("ami-0bbb")),
            field("user_data", Some(&script("a=b")), Some(&script("a=c"))),
        ],
    );
    template.reason = Some("made for v1.31.4, wanted for v1.31.5".into());
    Plan {
        terminated: 0,
        overlap: 0,
        changes: vec![
            template,
            change(
                Address::Group,
                Action::Update,
                GROUP,
                vec![field("max", Some("3"), Some("5")), field("tags.team", Some("\u{1b}[31mred"), None)],
            ),
            change(
                Address::Policy,
                Action::Delete,
                "captf-cpu-target-tracking",
                vec![field("target", Some("60"), None)],
            ),
        ],
        replaced: vec![member("i-0a", "us-east-1a"), member("i-0b", "us-east-1b")],
        warnings: vec![Diagnostic::warning(
            "AZRebalance is the only process that is suspended",
            "Launch is, too.",
        )],
        remains: Vec::new(),
        notes: vec!["launch template captf-old is deleted once no member runs from it".into()],
        stages: Vec::new(),
    }
}

#[test]
fn creation_at_two_widths() {
    for width in [80, 120] {
        let shown = plan(&creation(), &subject(Purpose::Apply), Style::new(Some(width), false));
        insta::assert_snapshot!(format!("creation_{width}"), shown);
    }
}

#[test]
fn roll_at_two_widths() {
    for width in [80, 120] {
        let shown = plan(&roll(), &subject(Purpose::Apply), Style::new(Some(width), false));
        assert!(shown.lines().all(|line| line.chars().count() <= width), "{shown}");
        insta::assert_snapshot!(format!("roll_{width}"), shown);
    }
}

#[test]
fn the_last_line_counts_and_the_first_sentence_says_whether_instances_go() {
    let shown = plan(&roll(), &subject(Purpose::Apply), Style::new(Some(400), false));
    assert_eq!(shown.lines().last(), Some("Plan: 1 to add, 1 to change, 2 to destroy."));
    let opening = shown.lines().next().unwrap();
    assert!(opening.contains("2 running instances (i-0a and i-0b) are replaced"), "{opening}");
    assert!(
        opening.contains("because the launch template was made for v1.31.4, wanted for v1.31.5."),
        "{opening}"
    );

    let shown = plan(&creation(), &subject(Purpose::Apply), Style::new(Some(400), false));
    assert!(shown.lines().next().unwrap().contains("No running instance is replaced."), "{shown}");
    assert_eq!(shown.lines().last(), Some("Plan: 3 to add, 0 to change, 0 to destroy."));
}

#[test]
fn a_roll_that_only_continues_takes_its_reason_from_the_members() {
    let mut plan_of_group = roll();
    plan_of_group.changes.retain(|change| change.address == Address::Group);
    let shown = plan(&plan_of_group, &subject(Purpose::Apply), Style::new(Some(400), false));
    assert!(shown.lines().next().unwrap().contains("because each runs template captf-"), "{shown}");
}

#[test]
fn many_members_are_counted_in_the_sentence_and_named_in_the_table() {
    let mut many = roll();
    many.replaced = (0..30).map(|n| member(&format!("i-{n:03}"), "us-east-1a")).collect();
    let shown = plan(&many, &subject(Purpose::Apply), Style::new(Some(300), false));
    assert!(shown.lines().next().unwrap().contains("(i-000, i-001, i-002, i-003 and 26 more)"), "{shown}");
    assert!((0..20).all(|n| shown.contains(&format!("│ i-{n:03} "))), "{shown}");
    assert!(shown.contains("\n... and 10 more (all of them with --format json)\n"), "{shown}");
    assert!(!shown.contains("│ i-020 "), "{shown}");
    let json: serde_json::Value =
        serde_json::from_str(&plan_json(&many, &subject(Purpose::Apply), &[])).unwrap();
    assert_eq!(json["replaced"].as_array().unwrap().len(), 30);
}

/// A plan that costs `rolled`, `leaving` and `terminated` instances.
fn costly(rolled: usize, leaving: usize, terminated: u32) -> Plan {
    let moved = |n| AffectedMember { why: "its zone is removed".into(), ..member(&format!("i-z{n}"), "c") };
    let mut plan = roll();
    plan.replaced = (0..rolled).map(|n| member(&format!("i-r{n}"), "a")).collect();
    plan.replaced.extend((0..leaving).map(moved));
    plan.terminated = terminated;
    if rolled == 0 {
        plan.changes.retain(|change| change.address == Address::Group);
    }
    plan
}

#[test]
fn whoever_may_be_replaced_is_told_so_at_once() {
    let shown = |count: usize| {
        let mut plan = costly(0, 0, 0);
        plan.replaced = (0..count)
            .map(|n| AffectedMember { why: SUBNET_EXCHANGED.into(), ..member(&format!("i-s{n}"), "a") })
            .collect();
        super::plan(&plan, &subject(Purpose::Apply), Style::new(Some(500), false))
    };
    let one = shown(1);
    assert!(!one.contains("No running instance is replaced"), "{one}");
    for words in [
        "1 running instance (i-s0) may be terminated without drain and replaced, because its zone gets another subnet.",
        "1 running instance in zones that get another subnet, Auto Scaling may terminate it",
    ] {
        assert!(one.contains(words), "{words}: {one}");
    }
    assert!(
        shown(2)
            .contains("(i-s0 and i-s1) may be terminated without drain and replaced, because their zones")
    );
}

#[test]
fn whoever_shrinking_ends_instead_of_replacing_is_told() {
    let plan = Plan { overlap: 2, ..costly(3, 0, 0) };
    let text = super::plan(&plan, &subject(Purpose::Apply), Style::new(Some(500), false));
    let told = "At least 2 of these are terminated without drain and not replaced, because the pool shrinks.";
    assert!(text.lines().next().unwrap().ends_with(told), "{text}");
}

#[test]
fn the_first_sentence_tells_every_kind_of_loss_and_the_headings_tell_how_they_go() {
    let shown = |plan: &Plan| super::plan(plan, &subject(Purpose::Apply), Style::new(Some(500), false));
    for (counts, opening, headings) in [
        ((0, 0, 0), vec!["No running instance is replaced."], vec![]),
        (
            (0, 0, 1),
            vec!["No running instance is replaced. 1 running instance is terminated without drain"],
            vec![],
        ),
        (
            (0, 1, 0),
            vec![
                "1 running instance (i-z0) may be terminated without drain and replaced elsewhere, because its zone",
            ],
            vec![
                "1 running instance in removed zones, perhaps terminated without drain, its replacement launched",
            ],
        ),
        (
            (1, 0, 2),
            vec!["1 running instance (i-r0) is replaced, because the", "2 running instances are terminated"],
            vec!["1 running instance to replace, a replacement launched before it goes; its node"],
        ),
        (
            (2, 3, 4),
            vec![
                "2 running instances (i-r0 and i-r1) are replaced, because the launch template was made for",
                "3 running instances (i-z0, i-z1 and i-z2) may be terminated without drain and replaced elsewhere",
                "4 running instances are terminated without drain, because the pool shrinks.",
            ],
            vec![
                "2 running instances to replace, a replacement launched before each one goes; nodes are not",
                "3 running instances in removed zones, perhaps terminated without drain, replacements launched",
            ],
        ),
    ] {
        let text = shown(&costly(counts.0, counts.1, counts.2));
        let (first, rest) = text.split_once('\n').unwrap();
        assert!(opening.iter().all(|part| first.contains(part)), "{counts:?}: {first}");
        assert!(headings.iter().all(|part| rest.contains(part)), "{counts:?}: {rest}");
        assert_eq!(rest.matches(" launched ").count(), headings.len(), "{counts:?}: {rest}");
        let json: serde_json::Value = serde_json::from_str(&plan_json(
            &costly(counts.0, counts.1, counts.2),
            &subject(Purpose::Apply),
            &[],
        ))
        .unwrap();
        assert_eq!((&json["terminated"], json["verdict"].as_str()), (&counts.2.into(), Some(first)));
    }
}

#[test]
fn a_reason_that_all_members_have_stands_in_no_row() {
    let mut plan = costly(3, 0, 0);
    let shown = |plan: &Plan| super::plan(plan, &subject(Purpose::Apply), Style::new(Some(200), false));
    assert!(shown(&plan).contains("; each runs template captf-") && !shown(&plan).contains("│ why "));
    plan.replaced[1].why = "runs no launch template".into();
    assert!(shown(&plan).contains("│ why ") && shown(&plan).contains("│ runs no launch template "));
}

#[test]
fn two_thousand_instances_fit_every_width() {
    let mut plan = costly(2000, 2000, 0);
    let ids: Vec<String> = (0..2000).map(|n| format!("i-0123456789abcdef{n:04} (us-east-1a)")).collect();
    plan.warnings = vec![
        Diagnostic::warning(
            "Standby members stay behind, and this is told in a rather long summary",
            ids.join(", "),
        ),
        Diagnostic::warning(
            "Odd",
            format!("Members that are odd: {}. Mend them, or let them be.", ids.join(", ")),
        ),
    ];
    plan.notes = vec![format!("Members in zones that the pool no longer spans: {}.", ids.join(", "))];
    for width in [40, 80, 120] {
        for colour in [false, true] {
            let shown = super::plan(&plan, &subject(Purpose::Apply), Style::new(Some(width), colour));
            assert!(shown.lines().count() < 1000 && shown.len() < 40_000, "{width}: {} bytes", shown.len());
            assert_eq!(shown.replace('\n', " ").matches("and 1980 more").count(), 5, "{shown}");
            assert!(shown.contains("Mend them"), "{shown}");
            if !colour {
                // A difference is for copying, the last line for programs.
                let wide = |line: &&str| {
                    line.chars().count() > width
                        && line.contains(' ')
                        && !line.contains("---")
                        && !line.starts_with("Plan: ")
                };
                assert_eq!(shown.lines().find(wide), None, "{width}");
            }
        }
    }
}

#[test]
fn nothing_to_do_keeps_warnings_and_notes_apart() {
    let mut nothing = roll();
    nothing.changes.clear();
    nothing.replaced.clear();
    insta::assert_snapshot!(plan(&nothing, &subject(Purpose::Apply), Style::new(Some(80), false)), @r"
    No changes. The pool team-a/demo-pool-0 in us-east-1 is as the inputs ask for.

    Warning: AZRebalance is the only process that is suspended

    Launch is, too.

    Notes:
    - launch template captf-old is deleted once no member runs from it
    ");
    let shown = plan(&Plan::default(), &subject(Purpose::Destroy), Style::new(Some(80), false));
    assert!(shown.starts_with("No changes. "), "{shown}");
}

#[test]
fn values_cannot_steer_the_terminal_and_colour_comes_only_when_told() {
    let plain = plan(&roll(), &subject(Purpose::Apply), Style::new(Some(80), false));
    assert!(!plain.contains('\u{1b}') && plain.contains("\\u{1b}[31mred"), "{plain}");
    let coloured = plan(&roll(), &subject(Purpose::Apply), Style::new(Some(80), true));
    assert!(coloured.contains("\u{1b}[31m+/- launch template"), "{coloured}");
    let hostile = Subject { pool: "a\u{1b}c/b", region: "\u{7}", purpose: Purpose::Apply };
    assert!(!plan(&roll(), &hostile, Style::new(Some(80), false)).contains(['\u{1b}', '\u{7}']));
}

#[test]
fn json_has_a_stable_order_and_the_same_sentence() {
    let json = plan_json(&roll(), &subject(Purpose::Apply), &[]);
    insta::assert_snapshot!("roll_json", json);
    assert_eq!(json, plan_json(&roll(), &subject(Purpose::Apply), &[]));
}

/// Names of pools as programs make them: parts of digests, in each alphabet and length that is usual.
fn names_by_chance() -> impl Iterator<Item = String> {
    use sha2::{Digest as _, Sha256};
    const BASE36: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    const CROCKFORD: &[u8] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let word = |number: u32, alphabet: &[u8], length: usize| -> String {
        let bytes = [0_u8, 1]
            .into_iter()
            .flat_map(|half| Sha256::digest([&[half], &number.to_be_bytes()[..]].concat()));
        bytes.take(length).map(|byte| char::from(alphabet[usize::from(byte) % alphabet.len()])).collect()
    };
    (0..50).flat_map(move |number| {
        let sha = word(number, &BASE36[..16], 64);
        [
            word(number, CROCKFORD, 26),
            word(number, BASE36, 20),
            format!("c{}", word(number, BASE36, 24)),
            format!("a{}", word(number, BASE36, 23)),
            word(number, BASE36, 27),
            format!("z{}", word(number, BASE36, 20)),
            format!("{}-{}-{}-{}-{}", &sha[..8], &sha[8..12], &sha[12..16], &sha[16..20], &sha[20..32]),
            sha[..40].to_owned(),
            format!("g{}", &sha[..40]),
            sha.clone(),
            format!("workers.{}", &sha[..16]),
            format!("demo.workersinstancerole{}-{}", &sha[..8], word(number, BASE36, 13)),
        ]
    })
}

#[test]
fn programs_get_the_names_of_any_pool_as_they_are() {
    use crate::model::{planner, testing};
    for name in names_by_chance() {
        let request = testing::request(|r| r.scope.name.clone_from(&name));
        let (_, plan) = planner::plan(&request, &testing::nothing()).unwrap();
        let pool = format!("team-a/{name}");
        let subject = Subject { pool: &pool, ..subject(Purpose::Apply) };
        for told in [plan_json(&plan, &subject, &[]), super::plan(&plan, &subject, Style::new(None, false))] {
            assert!(told.contains(&format!("pool/{name}")) && !told.contains("not shown"), "{name}: {told}");
        }
    }
}

#[test]
fn what_differs_looks_different_however_much_is_hidden() {
    let fields = vec![
        field("key_name", Some("abcdef.0123456789abcdef"), Some("abcdef.0123456789abcdeg")),
        field("instance_type", Some("m6i.large"), Some("m7i.large")),
    ];
    let plan =
        Plan { changes: vec![change(Address::Template, Action::Update, GROUP, fields)], ..Plan::default() };
    let subject = subject(Purpose::Apply);
    let told = super::plan(&plan, &subject, Style::new(None, false));
    assert!(told.contains("(23 bytes, not shown) (hidden, changed)"), "{told}");
    assert_eq!(told.matches("changed").count(), 1, "{told}");
    let told = plan_json(&plan, &subject, &[]);
    assert!(
        told.contains("\"(23 bytes, not shown)\"") && told.contains("\"(23 bytes, not shown) (2)\""),
        "{told}"
    );
}
