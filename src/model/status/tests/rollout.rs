//! How far a roll is, and what comes next.

use super::*;

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
