#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};

use super::*;
use crate::{
    contract::schema,
    model::{
        advice::Cause,
        observed::{GroupMember, TemplateUse},
        plan::{Change, FieldChange},
        testing::{self, NOW},
    },
};

const EMPTY: Compared<'_> = Compared::Not("a test");

fn of(seen: &Seen) -> Status {
    status(&testing::request(|_| {}).scope, "us-east-1", seen, EMPTY, NOW)
}

fn refresh(status: &str, percentage: u32) -> Refresh {
    Refresh {
        id: "r-1".into(),
        status: status.into(),
        start: Some(Timestamp(NOW.0 - 300_000)),
        percentage: Some(percentage),
        ..Refresh::default()
    }
}

fn faults(json: &Value) -> Vec<String> {
    let mut whole: Value = serde_json::from_str(schema::status()).unwrap();
    if json.get("format_version").is_none() {
        // The part about the roll alone.
        whole = json!({"$ref": "#/$defs/rollout", "$defs": whole["$defs"]});
    }
    let validator = jsonschema::draft202012::new(&whole).unwrap();
    validator.iter_errors(json).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn the_json_form_is_what_the_schema_says() {
    jsonschema::draft202012::meta::validate(&serde_json::from_str(schema::status()).unwrap()).unwrap();
    let mut rolling = testing::seen(&[1, 1, 2, 0]);
    rolling.refreshes = vec![refresh("InProgress", 40)];
    rolling.activities = Some(vec![testing::activity("Failed", "not sufficient m6i.large capacity")]);
    rolling.group.as_mut().unwrap().members[0].template = None;
    let deleting = Seen {
        group: Some(Group { deleting: true, ..rolling.group.clone().unwrap() }),
        activities: None,
        ..rolling.clone()
    };
    for seen in [Seen::default(), rolling, deleting] {
        let json = serde_json::to_value(of(&seen)).unwrap();
        assert_eq!(faults(&json), [""; 0], "{json:#}");
        assert_eq!(faults(&json["rollout"]), [""; 0], "{json:#}");
    }
    let plan = Plan { changes: vec![change(Action::Update)], ..Plan::default() };
    let compared = status(&testing::request(|_| {}).scope, "r", &Seen::default(), Compared::With(&plan), NOW);
    assert_eq!(faults(&serde_json::to_value(compared).unwrap()), [""; 0]);
    assert_ne!(faults(&json!({"format_version": "1.0", "pool": 1})), [""; 0], "the schema can fail");
}

/// Every cause that the program can tell is in the schema.
#[test]
fn the_schema_knows_every_cause() {
    let schema: Value = serde_json::from_str(schema::status()).unwrap();
    let known = &schema["properties"]["activities"]["items"]["properties"]["cause"]["enum"];
    let mut words = Vec::new();
    let mut cause = Some(Cause::Capacity);
    while let Some(this) = cause {
        words.push(serde_json::to_value(this).unwrap());
        cause = after(this);
    }
    words.push(Value::Null);
    assert_eq!(known.as_array().unwrap(), &words);
}

/// The causes one after the other: does not compile when one is missing.
fn after(cause: Cause) -> Option<Cause> {
    Some(match cause {
        Cause::Capacity => Cause::NotOffered,
        Cause::NotOffered => Cause::Quota,
        Cause::Quota => Cause::Kms,
        Cause::Kms => Cause::Image,
        Cause::Image => Cause::Architecture,
        Cause::Architecture => Cause::Volume,
        Cause::Volume => Cause::InstanceProfile,
        Cause::InstanceProfile => Cause::SecurityGroup,
        Cause::SecurityGroup => Cause::Subnet,
        Cause::Subnet => Cause::KeyPair,
        Cause::KeyPair => Cause::Template,
        Cause::Template => Cause::ServiceRole,
        Cause::ServiceRole => Cause::Permission,
        Cause::Permission => Cause::Hook,
        Cause::Hook => Cause::Account,
        Cause::Account => Cause::Throttled,
        Cause::Throttled => return None,
    })
}

fn change(action: Action) -> Change {
    let field = FieldChange { field: "user_data".into(), now: None, then: None };
    Change { address: Address::Template, name: "x".into(), action, fields: vec![field], reason: None }
}

#[test]
fn a_member_is_compared_with_what_the_group_launches() {
    use Behind::{DeletedTemplate, No, NoTemplate, OlderVersion, OtherTemplate, Unknown};
    let mut seen = testing::seen(&[2, 1, 0, 2, 2]);
    let group = seen.group.as_mut().unwrap();
    group.members[3].template = None;
    // Made again under the same name.
    group.members[4].template.as_mut().unwrap().id = "lt-gone".into();
    let behind = |seen: &Seen| of(seen).members.iter().map(|m| m.behind).collect::<Vec<_>>();
    // By zone: members 0 and 3, 1 and 4, 2.
    assert_eq!(behind(&seen), [No, NoTemplate, OlderVersion, DeletedTemplate, OtherTemplate]);
    let counts = of(&seen).counts;
    assert_eq!((counts.on_older_version, counts.on_deleted_template, counts.on_other_template), (1, 1, 1));
    let pinned = |version: &str| {
        let mut seen = testing::seen(&[2, 1]);
        let launch = Launch::Template(TemplateUse { version: version.into(), ..testing::used(2) });
        seen.group.as_mut().unwrap().launch = launch;
        (behind(&seen), of(&seen).warnings.len())
    };
    assert_eq!(pinned("$Latest"), (vec![No, OlderVersion], 0));
    assert_eq!(pinned("1"), (vec![OlderVersion, No], 1), "a fixed version is worth a warning");
    assert_eq!(pinned("$Default"), (vec![OlderVersion, No], 1));
    seen.templates.clear();
    assert_eq!(behind(&seen)[0], Unknown, "no template is listed");
    assert_eq!(of(&seen).template.unwrap().version, None);
}

#[test]
fn everybody_alive_or_listed_is_shown() {
    let mut seen = testing::seen(&[2, 2, 2]);
    let listed = |id: &str, lifecycle: &str| GroupMember {
        id: id.into(),
        zone: "us-east-1a".into(),
        lifecycle: lifecycle.into(),
        ..GroupMember::default()
    };
    let group = seen.group.as_mut().unwrap();
    group.members.extend([listed("i-8", "Pending"), listed("i-9", "Terminating:Wait")]);
    for (id, state) in [("i-5", "terminated"), ("i-6", "shutting-down"), ("i-7", "running")] {
        seen.instances.push(Instance { id: id.into(), state: state.into(), ..Instance::default() });
    }
    let status = of(&seen);
    let shown: Vec<(&str, &str, bool)> =
        status.members.iter().map(|m| (m.instance_id.as_str(), m.state.as_str(), m.leaving)).collect();
    assert!(
        shown.contains(&("i-8", "pending", false)) && shown.contains(&("i-9", "pending", true)),
        "{shown:?}"
    );
    assert!(shown.contains(&("i-6", "shutting-down", true)) && shown.contains(&("i-7", "running", false)));
    assert!(!shown.iter().any(|(id, ..)| *id == "i-5"), "{shown:?}");
    assert_eq!((status.counts.members, status.counts.leaving), (6, 2));
}

#[test]
fn the_end_is_estimated_from_progress_so_far() {
    let end = |status: &str, percentage| {
        let mut seen = testing::seen(&[0, 0]);
        seen.refreshes = vec![refresh(status, percentage)];
        of(&seen).rollout.refresh.unwrap().estimated_end_at.map(|end| (end.0 - NOW.0) / 1000)
    };
    assert_eq!(end("InProgress", 50), Some(300));
    assert_eq!(end("InProgress", 75), Some(100));
    assert_eq!(end("InProgress", 0), None);
    assert_eq!(end("InProgress", 100), None);
    assert_eq!(end("Pending", 50), None);
    assert_eq!(end("Successful", 50), None);
}

#[test]
fn what_comes_next_follows_from_members_and_the_last_refresh() {
    let next = |versions: &[u32], refreshes: &[&str]| {
        let mut seen = testing::seen(versions);
        seen.refreshes = refreshes.iter().map(|status| refresh(status, 10)).collect();
        of(&seen).rollout.next
    };
    assert!(next(&[2], &[]).starts_with("All members run"));
    assert!(next(&[], &[]).starts_with("There are no members"));
    assert!(next(&[2, 1], &[]).starts_with("1 member runs another version"));
    assert!(next(&[1, 1, 0], &[]).starts_with("An apply replaces"));
    assert!(next(&[0], &["Failed"]).contains("up to three times"));
    assert!(next(&[0], &["Cancelled"]).contains("an apply leaves it so"));
    assert!(next(&[0], &["RollbackSuccessful"]).contains("an apply leaves it so"));
    assert!(next(&[0], &["Successful"]).contains("left members on another template behind"));
    assert!(next(&[0], &["InProgress"]).contains("rollout cancel stops it"));
    assert!(next(&[0], &["SomethingNew"]).contains("rollout cancel stops it"), "an unknown word is active");
    assert!(next(&[0], &["Cancelling"]).contains("being cancelled"));
    assert!(of(&Seen::default()).rollout.next.contains("There is no group"));
    let mut empty = testing::seen(&[0]);
    empty.group.as_mut().unwrap().max = 0;
    assert!(of(&empty).rollout.next.starts_with("An apply that gives the group members again"));
}

/// `status` warned of suspended processes, and said above it that the roll goes on by itself.
#[test]
fn a_roll_that_waits_for_suspended_processes_says_so() {
    let roll = |processes: &[&str], versions: &[u32], refreshes: &[&str]| {
        let mut seen = testing::seen(versions);
        let suspended = &mut seen.group.as_mut().unwrap().suspended;
        suspended.extend(processes.iter().map(|process| (*process).to_owned()));
        seen.refreshes = refreshes.iter().map(|status| refresh(status, 10)).collect();
        of(&seen)
    };
    for (processes, until) in [
        (&["Launch"][..], "until Launch is resumed"),
        (&["Terminate", "Launch"], "until Launch and Terminate are resumed"),
        (&["HealthCheck", "InstanceRefresh"], "until InstanceRefresh is resumed"),
    ] {
        let status = roll(processes, &[0], &["InProgress"]);
        let next = status.rollout.next.clone();
        assert!(next.starts_with(&format!("It waits {until}; then it goes on by itself.")), "{next}");
        assert!(!status.rollout.waits_for.is_empty());
        assert_eq!(
            status.rollout.refresh.as_ref().unwrap().estimated_end_at,
            None,
            "nobody knows when it goes on"
        );
        let told: Vec<&str> = status.rollout.warnings.iter().map(|w| w.summary.as_str()).collect();
        assert_eq!(told[1], format!("The roll waits {until}"), "{told:?}");
        assert!(status.rollout.warnings[1].detail.contains("aws autoscaling resume-processes"));
        assert!(status.rollout.warnings.iter().all(|warning| status.warnings.contains(warning)));
        let due = roll(processes, &[0], &[]).rollout;
        assert!(due.next.ends_with(&format!("It then waits {until}.")), "{}", due.next);
    }
    for (processes, versions, refreshes) in
        [(&["HealthCheck"][..], &[0][..], &["InProgress"][..]), (&["Launch"], &[2], &["Successful"])]
    {
        let rollout = roll(processes, versions, refreshes).rollout;
        assert!(!rollout.next.contains("wait") && rollout.waits_for.is_empty(), "{}", rollout.next);
        assert_eq!(rollout.warnings.len(), 1, "that something is suspended is told all the same");
    }
}

/// It was called an older version, and a plan says that nothing changes: both are about rolls, which go by the name.
#[test]
fn a_template_that_was_deleted_is_no_older_version() {
    let mut seen = testing::seen(&[2, 2]);
    for member in &mut seen.group.as_mut().unwrap().members {
        member.template.as_mut().unwrap().id = "lt-gone".into();
    }
    let told = of(&seen).rollout;
    assert_eq!((told.on_older_version, told.on_other_template, told.on_deleted_template), (0, 0, 2));
    assert_eq!(
        told.next,
        "2 members run a deleted template of the same name and stay; rollout start replaces them."
    );
    seen.templates.clear();
    let gone = of(&seen);
    assert!(gone.rollout.next.contains("launch template is deleted"), "{}", gone.rollout.next);
    assert!(gone.warnings.iter().any(|w| w.summary.contains("lt-0new is deleted")), "{:?}", gone.warnings);
}

/// A program must not have to read sentences.
#[test]
fn a_roll_tells_whose_group_it_is_and_whether_there_is_one() {
    assert_eq!(of(&Seen::default()).rollout.group, None);
    let mut seen = testing::seen(&[0]);
    let group = |seen: &Seen| of(seen).rollout.group.unwrap();
    assert!(group(&seen).owned && !group(&seen).deleting);
    seen.group.as_mut().unwrap().tags.get_mut("captf.io/cluster").unwrap().value = "other".into();
    seen.refreshes = vec![refresh("InProgress", 10)];
    let rollout = of(&seen).rollout;
    assert!(!rollout.group.unwrap().owned);
    assert!(rollout.next.contains("not known to be this pool's"), "{}", rollout.next);
    assert!(rollout.warnings[0].summary.ends_with("belongs to somebody else"), "{:?}", rollout.warnings);
    seen.group.as_mut().unwrap().deleting = true;
    assert!(group(&seen).deleting);
}

#[test]
fn an_apply_gives_up_after_three_failures_of_one_version() {
    let next = |created: Option<i64>| {
        let mut seen = testing::seen(&[0]);
        seen.refreshes = (0..3).map(|_| refresh("Failed", 10)).collect();
        match created {
            Some(seconds) => seen.versions[0].created = Timestamp(NOW.0 - seconds * 1000),
            None => seen.versions.clear(),
        }
        of(&seen).rollout.next
    };
    assert!(next(Some(600)).contains("an apply does not start it again"), "{}", next(Some(600)));
    assert!(next(Some(60)).contains("The next apply starts it again"), "a version made since begins anew");
    assert!(next(Some(60)).contains("it has not failed yet"), "{}", next(Some(60)));
    assert!(next(None).contains("The next apply starts it again"));
    let told = |failures: usize| {
        let mut seen = testing::seen(&[0]);
        seen.refreshes = (0..failures).map(|_| refresh("Failed", 10)).collect();
        seen.versions[0].created = Timestamp(NOW.0 - 600_000);
        let rollout = of(&seen).rollout;
        assert_eq!(rollout.failures, Some(failures));
        rollout.next
    };
    assert!(told(1).contains("it failed once") && told(2).contains("it failed twice"), "{}", told(2));
}

#[test]
fn who_runs_no_template_counts_and_who_is_in_standby_is_told_apart() {
    let mut seen = testing::seen(&[2, 2, 2]);
    seen.group.as_mut().unwrap().members[0].template = None;
    let status = of(&seen);
    assert_eq!((status.counts.on_no_template, status.rollout.on_no_template), (1, 1));
    assert_eq!(status.rollout.next, "1 member runs no launch template and stays; rollout start replaces it.");
    let mut seen = testing::seen(&[2, 1, 1]);
    seen.group.as_mut().unwrap().members[1].lifecycle = "Standby".into();
    let next = of(&seen).rollout.next;
    assert!(
        next.contains("rollout start replaces those not in standby.") && next.contains("exit-standby"),
        "{next}"
    );
    seen.group.as_mut().unwrap().members[2].lifecycle = "Standby".into();
    let next = of(&seen).rollout.next;
    assert!(!next.contains("rollout start replaces") && next.contains("exit-standby"), "{next}");
    for member in [1, 2] {
        seen.group.as_mut().unwrap().members[member].template = Some(testing::used(0));
    }
    seen.refreshes = vec![refresh("Successful", 100)];
    let next = of(&seen).rollout.next;
    assert!(!next.contains("protected") && !next.contains("rollout start replaces"), "{next}");
    seen.group.as_mut().unwrap().launch = Launch::Other;
    assert!(of(&seen).rollout.next.contains("no launch template"));
}

#[test]
fn a_limit_on_members_counts_members_only() {
    let mut seen = testing::seen(&vec![2; 10_000]);
    let warned =
        |seen: &Seen| of(seen).warnings.iter().any(|w| w.summary.contains("more than 10000 members"));
    seen.instances.push(Instance { id: "i-z".into(), state: "shutting-down".into(), ..Instance::default() });
    assert!(!warned(&seen), "one that leaves is none");
    seen.instances[10_000].state = "running".into();
    assert!(warned(&seen));
}

#[test]
fn failures_in_the_same_words_are_one_with_advice() {
    let at =
        |seconds: i64, activity: Activity| Activity { start: Timestamp(NOW.0 - seconds * 1000), ..activity };
    let capacity = "We currently do not have sufficient m6i.large capacity in the Availability Zone";
    let mut seen = testing::seen(&[2]);
    seen.activities = Some(vec![
        at(10, testing::activity("Failed", capacity)),
        at(20, testing::activity("Successful", "")),
        at(60, testing::activity("Failed", capacity)),
        at(90, testing::activity("Failed", "Something new under the sun")),
    ]);
    let told = of(&seen).activities.unwrap();
    assert_eq!(told.iter().map(|a| a.times).collect::<Vec<_>>(), [2, 1, 1]);
    assert_eq!((told[0].cause, told[0].first_started_at.0), (Some(Cause::Capacity), NOW.0 - 60_000));
    assert!(told[0].advice.unwrap().contains("instance_type"));
    assert_eq!(
        (told[0].description.as_str(), told[0].message.as_deref()),
        ("Launching a new EC2 instance.", Some(capacity))
    );
    assert_eq!((told[1].message.as_deref(), told[2].cause), (None, None));
}

#[test]
fn warnings_are_told_once() {
    let mut seen = testing::seen(&[2, 2]);
    let group = seen.group.as_mut().unwrap();
    group.suspended.insert("Launch".into());
    group.members[0].lifecycle = "Standby".into();
    group.members[1].health = "Unhealthy".into();
    group.deletion_protection = Some("prevent-all-deletion".into());
    group.tags.get_mut("captf.io/cluster").unwrap().value = "other".into();
    seen.activities = None;
    let scope = testing::request(|r| {
        r.scope.node_labels = testing::tags(&[("kubernetes.io/role", "x"), ("team", "a")]);
    })
    .scope;
    let plan = Plan {
        warnings: vec![
            Diagnostic::warning("Suspended on the group: Launch", ""),
            Diagnostic::warning("Only the plan knows", ""),
        ],
        ..Plan::default()
    };
    let status = status(&scope, "us-east-1", &seen, Compared::With(&plan), NOW);
    let told: Vec<&str> = status.warnings.iter().map(|warning| warning.summary.as_str()).collect();
    assert_eq!(
        told,
        [
            "Auto Scaling group captf-team-a-demo-pool-0-43c6d828 belongs to somebody else",
            "Suspended on the group: Launch",
            "Deletion protection is on: prevent-all-deletion",
            "Members in standby",
            "Unhealthy members",
            "Scaling activities may not be read",
            "Node labels left out: kubernetes.io/role",
            "Only the plan knows",
        ]
    );
    assert_eq!((status.node_labels.count, status.node_labels.dropped.len()), (Some(1), 1));
    assert_eq!(of(&testing::seen(&[2])).warnings, []);
}

/// What the inputs ask for is no news of the pool: they may be short, or not applied yet.
#[test]
fn labels_are_those_of_the_version_that_the_group_launches() {
    let plan = Plan::default();
    let labels = |seen: &Seen, asked: &[(&str, &str)], compared: Compared<'_>| {
        let scope = testing::request(|r| r.scope.node_labels = testing::tags(asked)).scope;
        let status = status(&scope, "us-east-1", seen, compared, NOW);
        let labels = serde_json::to_value(&status).unwrap();
        assert_eq!(faults(&labels), [""; 0], "{labels:#}");
        status.node_labels
    };
    let live = testing::tags(&[("team", "a")]);
    let seen = testing::seen(&[2]);
    for (asked, compared, as_asked) in [
        (&[][..], EMPTY, None),
        (&[("team", "b")], EMPTY, None),
        (&[("team", "b")], Compared::With(&plan), Some(false)),
        (&[("team", "a")], Compared::With(&plan), Some(true)),
        (&[("team", "a"), ("kubernetes.io/role", "x")], Compared::With(&plan), Some(true)),
    ] {
        let shown = labels(&seen, asked, compared);
        assert_eq!((shown.count, shown.registered.as_ref()), (Some(1), Some(&live)), "{asked:?}");
        assert_eq!(shown.as_asked, as_asked, "{asked:?}");
    }
    let unknown = |edit: fn(&mut Seen)| {
        let mut seen = testing::seen(&[2]);
        edit(&mut seen);
        let shown = labels(&seen, &[("team", "a")], Compared::With(&plan));
        assert_eq!((shown.count, shown.digest, shown.registered, shown.as_asked), (None, None, None, None));
    };
    unknown(|seen| seen.group = None);
    unknown(|seen| seen.versions.clear());
    unknown(|seen| seen.versions[0].data.user_data = None);
    unknown(|seen| seen.versions[0].data.user_data = Some("#!/bin/sh\nlabels='team=a'\n".into()));
    unknown(|seen| seen.versions[0].number = 1);
    unknown(|seen| seen.group.as_mut().unwrap().launch = Launch::Other);
}
