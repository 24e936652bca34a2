//! How far a roll is, and what comes next.

use super::*;

/// A refresh that began ten minutes ago and whose newest replacement, `i-...0`, was launched so many seconds ago.
fn replacing(percentage: u32, launched: i64) -> Seen {
    let mut seen = testing::seen(&[2, 0, 0]);
    seen.instances[0].launched = Some(Timestamp(NOW.0 - launched * 1000));
    seen.refreshes = vec![Refresh {
        start: Some(Timestamp(NOW.0 - 600_000)),
        warmup_seconds: Some(300),
        ..refresh("InProgress", percentage)
    }];
    seen
}

/// In seconds from now.
fn end_of(seen: &Seen, now: Timestamp) -> Option<i64> {
    let scope = testing::request(|_| {}).scope;
    let rollout = status(&scope, "us-east-1", seen, EMPTY, now).rollout;
    rollout.refresh.unwrap().estimated_end_at.map(|end| (end.0 - now.0) / 1000)
}

#[test]
fn the_end_is_estimated_from_what_was_done_when_the_newest_replacement_was_launched() {
    let end = |percentage, launched| end_of(&replacing(percentage, launched), NOW);
    // 50 % in 500 s: 500 s more than until the launch.
    assert_eq!(end(50, 100), Some(400));
    assert_eq!(end(25, 100), Some(1400));
    assert_eq!(end(75, 100), None, "below the warm-up that may be left");
    assert_eq!(end(50, 301), None, "between two steps");
    assert_eq!(end(50, 3600), None, "nobody was launched for it");
    assert_eq!((end(0, 100), end(100, 100)), (None, None));
    for word in ["Pending", "Successful", "Cancelling"] {
        let mut seen = replacing(50, 100);
        seen.refreshes[0].status = word.into();
        assert_eq!(end_of(&seen, NOW), None, "{word}");
    }
    let mut untold = replacing(50, 100);
    untold.refreshes[0].warmup_seconds = None;
    assert_eq!(end_of(&untold, NOW), None, "how long a warm-up is nobody knows");
}

/// It was `about 2m55s more` at one look and `3m10s more` 30 seconds later.
#[test]
fn an_estimated_end_never_grows_from_look_to_look() {
    let seen = replacing(25, 0);
    let mut last = i64::MAX;
    for after in (0..1500).step_by(30) {
        let now = NOW.plus(std::time::Duration::from_secs(after));
        let Some(left) = end_of(&seen, now) else { continue };
        assert!(left < last && left >= 300, "after {after} s: {left} s, before {last} s");
        last = left;
    }
    assert!(last < i64::MAX, "there is an estimate at all");
}

#[test]
fn a_warm_up_is_told_with_whom_it_is_of() {
    let told = |seen: &Seen| {
        let rollout = of(seen).rollout;
        (rollout.warming.len(), rollout.next)
    };
    let id = "i-00000000000000000";
    let (count, next) = told(&replacing(33, 100));
    assert_eq!(count, 1);
    assert!(
        next.starts_with(&format!("It waits for the 300 s of warm-up of {id}, from when it is")),
        "{next}"
    );
    assert!(next.contains("then it goes on by itself."), "{next}");
    // Launched longer ago than that, and in service only since a moment: one more serves than wanted.
    let mut late = replacing(33, 320);
    assert_eq!(told(&late).0, 0);
    late.group.as_mut().unwrap().desired = 2;
    assert_eq!(told(&late).0, 1);
    late.group.as_mut().unwrap().members[0].lifecycle = "Pending".into();
    assert_eq!(told(&late).0, 0);
    for edit in [
        (|seen| seen.refreshes[0].status = "Cancelling".into()) as fn(&mut Seen),
        |seen| seen.refreshes[0].warmup_seconds = Some(0),
        |seen| seen.refreshes[0].warmup_seconds = None,
        |seen| seen.group.as_mut().unwrap().members[0].lifecycle = "Terminating".into(),
    ] {
        let mut seen = replacing(33, 100);
        edit(&mut seen);
        let (count, next) = told(&seen);
        assert!(count == 0 && !next.contains("warm-up"), "{next}");
    }
}

/// `It goes on by itself` was said of a roll that could launch nothing.
#[test]
fn a_roll_whose_launches_fail_is_not_said_to_go_on() {
    let roll = |status: &str, versions: &[u32], at: i64| {
        let mut seen = testing::seen(versions);
        seen.refreshes = vec![refresh(status, 0)];
        let failed = testing::activity("Failed", "We have no m6i.large left.");
        let start = Timestamp(NOW.0 - at * 1000);
        seen.activities = Some(vec![Activity { start, ..failed }]);
        let json = serde_json::to_value(of(&seen)).unwrap();
        assert_eq!(faults(&json), [""; 0], "{json:#}");
        of(&seen).rollout
    };
    // Whoever replaces an older version by hand has the same launches.
    for versions in [&[0, 0][..], &[1, 1]] {
        let rollout = roll("InProgress", versions, 60);
        let failure = "The last launch, on 2026-01-01 11:59 UTC, failed: We have no m6i.large left.";
        assert_eq!(rollout.launch_failure.as_deref(), Some(failure));
        let next =
            format!("{failure} It goes on once launches succeed; machinepool rollout cancel stops it.");
        assert_eq!(rollout.next, next);
    }
    for (status, at) in [("InProgress", 6000), ("Cancelling", 60), ("Failed", 60), ("Successful", 60)] {
        let rollout = roll(status, &[1, 1], at);
        assert!(rollout.launch_failure.is_none() && !rollout.next.contains("m6i"), "{status}: {rollout:?}");
    }
}

/// `Instance refresh A is Cancelled` came with what is true of B.
#[test]
fn what_comes_after_one_refresh_is_not_said_of_another() {
    let next = |refreshes: &[(&str, &str)]| {
        let mut seen = testing::seen(&[0]);
        seen.refreshes =
            refreshes.iter().map(|(id, word)| Refresh { id: (*id).into(), ..refresh(word, 10) }).collect();
        of(&seen).rollout.next_after("r-a")
    };
    let other = next(&[("r-b", "InProgress"), ("r-a", "Cancelled")]);
    assert!(other.starts_with("Another one, instance refresh r-b, is InProgress now. "), "{other}");
    assert!(!other.contains("goes on by itself"), "{other}");
    let ended = next(&[("r-b", "Cancelled"), ("r-a", "Failed")]);
    assert!(
        ended.starts_with("The latest one, instance refresh r-b, is Cancelled. It was stopped"),
        "{ended}"
    );
    assert!(next(&[("r-a", "Cancelled")]).starts_with("It was stopped"));
    assert_eq!(next(&[("r-a", "InProgress")]), ASK_ROLLOUT_STATUS, "the reading lags");
}

/// Whoever reads one of these has the command to paste.
#[test]
fn what_comes_next_names_whole_commands() {
    let bare = |text: &str| {
        let mut parts = text.split("rollout ");
        let mut before = parts.next().unwrap_or_default();
        for part in parts {
            if !before.ends_with("machinepool ")
                && ["start", "cancel", "status"].iter().any(|c| part.starts_with(c))
            {
                return true;
            }
            before = part;
        }
        false
    };
    for versions in [&[2][..], &[1], &[0], &[1, 0]] {
        for words in [
            &[][..],
            &["InProgress"],
            &["Cancelled"],
            &["Successful"],
            &["Failed"],
            &["Failed", "Failed", "Failed"],
        ] {
            for desired_template in [None, Some(testing::used(0))] {
                let mut seen = testing::seen(versions);
                seen.refreshes = words
                    .iter()
                    .map(|word| Refresh { desired_template: desired_template.clone(), ..refresh(word, 10) })
                    .collect();
                seen.versions[0].created = Timestamp(0);
                let next = of(&seen).rollout.next;
                assert!(!bare(&next), "{next}");
            }
        }
    }
    assert!(bare("Say rollout start."), "the test can fail");
}

/// A resume-processes command was told for refreshes that somebody has cancelled, and for a stranger's group.
#[test]
fn only_a_roll_of_ours_that_goes_on_waits_for_processes() {
    let roll = |status: &str, foreign: bool| {
        let mut seen = testing::seen(&[0]);
        let group = seen.group.as_mut().unwrap();
        group.suspended.insert("Launch".into());
        if foreign {
            group.tags.get_mut("captf.io/cluster").unwrap().value = "other".into();
        }
        seen.refreshes = if status.is_empty() { Vec::new() } else { vec![refresh(status, 10)] };
        of(&seen).rollout
    };
    let waits = |rollout: &Rollout| {
        let told = rollout.warnings.iter().any(|w| w.detail.contains("--scaling-processes"));
        (!rollout.waits_for.is_empty(), rollout.next.contains("It waits"), told)
    };
    assert_eq!(waits(&roll("InProgress", false)), (true, true, true));
    for status in ["Cancelling", "RollbackInProgress", "Baking"] {
        assert_eq!(waits(&roll(status, false)), (false, false, false), "{status}");
    }
    for status in ["", "InProgress", "Cancelling"] {
        assert_eq!(waits(&roll(status, true)), (false, false, false), "{status}");
    }
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
        "2 members run a deleted template of the same name and stay; machinepool rollout start replaces them."
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
    assert_eq!(
        status.rollout.next,
        "1 member runs no launch template and stays; machinepool rollout start replaces it."
    );
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
