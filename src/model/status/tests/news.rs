//! Scaling activities and warnings.

use super::*;

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

/// A status can do without these, and says so.
#[test]
fn what_could_not_be_read_is_a_warning_with_the_reason() {
    let mut seen = testing::seen(&[2]);
    seen.activities = None;
    seen.versions.clear();
    seen.untold = Untold {
        activities: Some("Throttling: slow down.".into()),
        versions: Some("RequestTimeout.".into()),
    };
    for refreshes in [Vec::new(), vec![refresh("InProgress", 10)]] {
        seen.refreshes = refreshes;
        let told = of(&seen).warnings;
        let summaries: Vec<&str> = told.iter().map(|warning| warning.summary.as_str()).collect();
        let expected =
            ["The version of the launch template could not be read", "Scaling activities could not be read"];
        assert_eq!(summaries, expected);
        assert!(
            told[0].detail.contains("RequestTimeout") && told[1].detail.contains("slow down"),
            "{told:?}"
        );
    }
}
