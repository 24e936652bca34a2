//! Who leaves without a roll, and who is said to.

use super::*;

const ONE_ZONE: Edit = |r| r.failure_domains = vec!["us-east-1a".into()];
const TWO: Edit = |r| r.replicas = 2;

/// The demo pool with `count` members, one after the other in its zones, changed by `edit`.
fn pool(count: usize, edit: impl FnOnce(&mut Group)) -> Observed {
    let mut observed = settled(unchanged);
    let group = group_of(&mut observed);
    let first = group.members.clone();
    group.members =
        (0..count).map(|i| GroupMember { id: format!("i-{i}"), ..first[i % 3].clone() }).collect();
    let size = u32::try_from(count).unwrap();
    (group.min, group.max, group.desired) = (size, size, size);
    edit(group);
    let shown = group.members.iter().map(|m| Instance {
        id: m.id.clone(),
        state: "running".into(),
        zone: m.zone.clone(),
        ..Instance::default()
    });
    observed.instances = shown.collect();
    observed
}

fn replaced(plan: &Plan) -> Vec<&str> {
    plan.replaced.iter().map(|m| m.id.as_str()).collect()
}

/// The one warning whose summary holds `words`.
fn warning<'a>(plan: &'a Plan, words: &str) -> &'a Diagnostic {
    let mut found = plan.warnings.iter().filter(|w| w.summary.contains(words));
    let first = found.next().unwrap_or_else(|| panic!("no {words:?} in {:#?}", plan.warnings));
    assert!(found.next().is_none(), "{words:?} is told twice: {:#?}", plan.warnings);
    first
}

fn is_silent(plan: &Plan, words: &str) -> bool {
    !plan.warnings.iter().any(|w| w.summary.contains(words))
}

#[test]
fn who_is_put_aside_or_protected_stays_in_a_removed_zone_and_is_named() {
    let plan = plan_for(
        ONE_ZONE,
        &pool(3, |g| {
            g.members[1].lifecycle = "Standby".into();
            g.members[2].protected = true;
        }),
    );
    assert!(plan.replaced.is_empty(), "{:?}", plan.replaced);
    assert!(is_silent(&plan, "replaced elsewhere"));
    let told = warning(&plan, "2 members stay in removed zones");
    for words in [
        "i-1 (us-east-1b, in standby)",
        "i-2 (us-east-1c, protected from scale-in)",
        "exit-standby",
        "--no-protected-from-scale-in",
    ] {
        assert!(told.detail.contains(words), "{words}: {}", told.detail);
    }
    // Each is told what helps it.
    let plan = plan_for(ONE_ZONE, &pool(3, |g| g.members[2].protected = true));
    assert_eq!(replaced(&plan), ["i-1"]);
    let told = warning(&plan, "1 member stays in removed zones");
    assert!(!told.detail.contains("exit-standby") && !told.detail.contains("i-1 "), "{}", told.detail);
}

#[test]
fn a_roll_with_a_zone_removed_tells_each_member_once() {
    let roll: Edit = |r| {
        ONE_ZONE(r);
        v2(r);
    };
    let plan = plan_for(
        roll,
        &pool(6, |g| {
            g.members[1].lifecycle = "Standby".into();
            g.members[2].protected = true;
        }),
    );
    // A roll replaces the protected one and moves it with that; the one in standby it passes by.
    assert_eq!(replaced(&plan), ["i-0", "i-3", "i-4", "i-2", "i-5"]);
    assert!(warning(&plan, "1 member stays in removed zones").detail.starts_with("i-1 "));
    assert!(warning(&plan, "Standby members stay behind").detail.contains("i-1"));
}

#[test]
fn whoever_leaves_already_is_counted_by_nobody() {
    for lifecycle in ["Terminating", "Terminating:Wait", "Terminating:Proceed", "Detaching"] {
        let leaving = |g: &mut Group| {
            for member in &mut g.members[1..3] {
                member.lifecycle = lifecycle.into();
            }
        };
        let scaled = plan_for(
            |r| r.replicas = 1,
            &pool(4, |g| {
                leaving(g);
                (g.min, g.max, g.desired) = (2, 2, 2);
            }),
        );
        assert_eq!(scaled.terminated, 1, "{lifecycle}");
        assert!(warning(&scaled, "terminated without drain").summary.starts_with("1 member is"));
        let moved = plan_for(ONE_ZONE, &pool(3, leaving));
        assert!(moved.replaced.is_empty() && is_silent(&moved, "removed zones"), "{lifecycle}: {moved:?}");
        let later = plan_for(
            ONE_ZONE,
            &pool(3, |g| {
                leaving(g);
                g.subnets = ["subnet-00".to_owned()].into();
            }),
        );
        assert!(is_silent(&later, "zones"), "{lifecycle}: {:?}", later.warnings);
    }
}

#[test]
fn a_pool_that_is_emptied_replaces_nobody() {
    for (name, edit) in [
        ("zone", (|r| (r.replicas, r.failure_domains) = (0, vec!["us-east-1a".into()])) as Edit),
        ("version", |r| (r.replicas, r.kubernetes_version) = (0, Some("v1.35.0".into()))),
        ("subnet", |r| {
            r.replicas = 0;
            r.exports.failure_domains.insert("us-east-1b".into(), "subnet-0b".parse().unwrap());
        }),
    ] {
        let plan = plan_for(edit, &pool(3, |_| {}));
        assert!(plan.replaced.is_empty(), "{name}: {:?}", plan.replaced);
        assert_eq!((plan.terminated, plan.overlap), (3, 0), "{name}");
        assert!(!writes(&plan).iter().any(|w| matches!(w, Write::StartRefresh { .. })), "{name}");
        assert!(is_silent(&plan, "replaced") && is_silent(&plan, "Another subnet"), "{:?}", plan.warnings);
        let fields = plan.changes.iter().flat_map(|change| &change.fields);
        assert!(fields.clone().all(|f| f.field != crate::model::plan::INSTANCE_REFRESH), "{name}");
    }
}

#[test]
fn an_empty_pool_whose_members_still_leave_is_settled() {
    for lifecycle in ["InService", "Terminating", "Terminating:Wait", "Standby"] {
        let mut observed = repointed();
        let group = group_of(&mut observed);
        (group.min, group.max, group.desired) = (0, 0, 0);
        group.members.iter_mut().for_each(|m| lifecycle.clone_into(&mut m.lifecycle));
        let plan = plan_for(|r| (r.replicas, r.kubernetes_version) = (0, Some("v1.35.0".into())), &observed);
        assert!(plan.is_empty() && plan.replaced.is_empty(), "{lifecycle}: {plan:?}");
    }
}

#[test]
fn whoever_is_terminated_of_those_listed_as_replaced_is_counted() {
    let rolls: Edit = |r| (r.replicas, r.kubernetes_version) = (1, Some("v1.35.0".into()));
    let zone: Edit = |r| (r.replicas, r.failure_domains) = (2, vec!["us-east-1a".into()]);
    let none: Edit = |r| r.replicas = 2;
    for (edit, named, terminated, overlap) in [(rolls, 3, 0, 2), (zone, 2, 1, 0), (none, 0, 1, 0)] {
        let plan = plan_for(edit, &pool(3, |_| {}));
        assert_eq!((plan.replaced.len(), plan.terminated, plan.overlap), (named, terminated, overlap));
    }
    let both: Edit = |r| (r.replicas, r.failure_domains) = (1, vec!["us-east-1a".into()]);
    let plan = plan_for(both, &pool(3, |_| {}));
    assert_eq!((plan.replaced.len(), plan.terminated, plan.overlap), (2, 1, 1));
    // Those in standby are not terminated, and may be replaced all the same by nobody.
    let plan = plan_for(rolls, &pool(3, |g| g.members[1].lifecycle = "Standby".into()));
    assert_eq!((plan.replaced.len(), plan.terminated, plan.overlap), (2, 0, 1));
    assert!(warning(&plan, "terminated without drain").summary.starts_with("1 member is"));
}

#[test]
fn a_warm_pool_is_no_part_of_a_scale_in() {
    for lifecycle in ["Warmed:Stopped", "Warmed:Running", "Warmed:Pending:Wait", "Warmed:Hibernated"] {
        let plan = plan_for(
            TWO,
            &pool(5, |g| {
                for member in &mut g.members[3..] {
                    member.lifecycle = lifecycle.into();
                }
                (g.min, g.max, g.desired) = (3, 3, 3);
            }),
        );
        assert_eq!(plan.terminated, 1, "{lifecycle}");
    }
    // As AWS has it: a group does not list its warm pool, whose instances carry its tag.
    let mut observed = settled(unchanged);
    let warm = Instance {
        id: "i-9".into(),
        state: "stopped".into(),
        zone: "us-east-1b".into(),
        ..Instance::default()
    };
    observed.instances.push(warm);
    assert_eq!(plan_for(TWO, &observed).terminated, 1);
    let moved = plan_for(ONE_ZONE, &observed);
    assert_eq!(replaced(&moved), ["i-1", "i-2"]);
}

#[test]
fn what_a_roll_has_launched_beside_is_no_part_of_a_scale_in() {
    let rolling = |status: &str| {
        let mut observed = pool(6, |g| (g.min, g.max, g.desired) = (4, 4, 4));
        observed.refreshes = vec![refresh("r-1", status)];
        observed
    };
    for status in ["InProgress", "Cancelling", "Baking"] {
        assert_eq!(plan_for(|r| r.replicas = 3, &rolling(status)).terminated, 1, "{status}");
    }
    // Whatever is too many once no roll is at it goes as well.
    assert_eq!(plan_for(|r| r.replicas = 3, &rolling("Successful")).terminated, 3);
}

#[test]
fn what_waits_for_a_suspended_process_says_so() {
    let suspended =
        |processes: &[&str]| pool(3, |g| g.suspended.extend(processes.iter().map(|p| (*p).to_owned())));
    let four: Edit = |r| r.replicas = 4;
    let cases: [(Edit, &[&str], &str); 5] = [
        (TWO, &["Terminate"], "The scale-in waits until Terminate is resumed"),
        (four, &["Launch"], "The scale-out waits until Launch is resumed"),
        (v2, &["InstanceRefresh"], "The roll waits until InstanceRefresh is resumed"),
        (v2, &["Launch", "Terminate"], "The roll waits until Launch and Terminate are resumed"),
        (ONE_ZONE, &["Launch"], "The move out of removed zones waits until Launch is resumed"),
    ];
    for (edit, processes, words) in cases {
        let plan = plan_for(edit, &suspended(processes));
        let told = warning(&plan, words);
        let command = format!("--scaling-processes {}", processes.join(" "));
        assert!(told.detail.contains("resume-processes --auto-scaling-group-name captf-"), "{}", told.detail);
        assert!(told.detail.ends_with(&command), "{}", told.detail);
        warning(&plan, "Suspended on the group");
    }
    // What nothing waits for is only told to be suspended.
    let cases: [(Edit, &str); 4] =
        [(TWO, "Launch"), (four, "Terminate"), (unchanged, "InstanceRefresh"), (v2, "HealthCheck")];
    for (edit, process) in cases {
        assert!(is_silent(&plan_for(edit, &suspended(&[process])), "waits"), "{process}");
    }
}

#[test]
fn whoever_is_still_in_a_zone_that_was_left_is_named_with_what_to_do() {
    let left = |edit: fn(&mut Group)| {
        pool(3, |g| {
            g.subnets = ["subnet-00".to_owned()].into();
            edit(g);
        })
    };
    let plan = plan_for(ONE_ZONE, &left(|_| {}));
    assert!(plan.is_empty() && plan.replaced.is_empty());
    let told = warning(&plan, "2 members are still in zones that the pool has left");
    assert_eq!(plan.remains, ["2 members are still in zones that the pool has left"]);
    for words in [
        "i-1 (us-east-1b), i-2 (us-east-1c)",
        "resume-processes --auto-scaling-group-name captf-team-a-demo-pool-0-43c6d828 --scaling-processes AZRebalance",
        "terminate-instance-in-auto-scaling-group --no-should-decrement-desired-capacity",
    ] {
        assert!(told.detail.contains(words), "{words}: {}", told.detail);
    }
    // AZRebalance moves no protected one.
    let plan = plan_for(
        ONE_ZONE,
        &left(|g| {
            g.members.remove(1);
            g.members[1].protected = true;
        }),
    );
    let told = warning(&plan, "1 member is still in zones");
    assert!(
        told.detail.contains("--no-protected-from-scale-in") && !told.detail.contains("resume-processes")
    );
    // A zone that goes now does not make one that went earlier go again.
    let plan = plan_for(
        ONE_ZONE,
        &pool(3, |g| {
            g.subnets = ["subnet-00".to_owned(), "subnet-01".to_owned()].into();
        }),
    );
    assert_eq!(replaced(&plan), ["i-1"]);
    assert!(warning(&plan, "1 member is still in zones").detail.starts_with("i-2 "));
    // A roll that moves them anyway needs nobody's help.
    let rolled: Edit = |r| {
        ONE_ZONE(r);
        v2(r);
    };
    assert!(is_silent(&plan_for(rolled, &left(|_| {})), "still in zones"));
}

#[test]
fn a_subnet_exchanged_in_a_zone_that_stays_may_cost_its_members() {
    let other: Edit = |r| {
        r.exports.failure_domains.insert("us-east-1b".into(), "subnet-0f".parse().unwrap());
    };
    let plan = plan_for(other, &pool(6, |g| g.members[1].protected = true));
    assert_eq!(replaced(&plan), ["i-4"]);
    let told = warning(&plan, "Another subnet in us-east-1b, where the pool has 2 members");
    for words in
        ["from subnet-01 to subnet-0f", "may replace them without drain", "i-1 (us-east-1b, protected"]
    {
        assert!(told.detail.contains(words), "{words}: {}", told.detail);
    }
    // All of them at once: which was which, nobody says.
    let all: Edit = |r| {
        for (zone, subnet) in
            [("us-east-1a", "subnet-0d"), ("us-east-1b", "subnet-0e"), ("us-east-1c", "subnet-0f")]
        {
            r.exports.failure_domains.insert(zone.into(), subnet.parse().unwrap());
        }
    };
    let plan = plan_for(all, &pool(3, |_| {}));
    assert_eq!(replaced(&plan).len(), 3);
    assert!(
        warning(&plan, "us-east-1c").detail.contains("one of subnet-00, subnet-01, subnet-02 to subnet-0f")
    );
    // A roll tells its own, and a zone without members loses none.
    let rolled: Edit = |r| {
        r.exports.failure_domains.insert("us-east-1b".into(), "subnet-0f".parse().unwrap());
        v2(r);
    };
    let plan = plan_for(rolled, &pool(3, |_| {}));
    assert!(plan.replaced.iter().all(|m| m.why.starts_with("runs version")), "{:?}", plan.replaced);
    assert!(is_silent(&plan_for(other, &pool(1, |_| {})), "Another subnet"));
}

#[test]
fn a_zone_added_or_removed_exchanges_no_subnet() {
    let swapped: Edit = |r| {
        r.exports.failure_domains.insert("us-east-1d".into(), "subnet-0d".parse().unwrap());
        r.failure_domains = ["us-east-1a", "us-east-1b", "us-east-1d"].map(Into::into).into();
    };
    let plan = plan_for(swapped, &pool(3, |_| {}));
    assert!(is_silent(&plan, "Another subnet"));
    assert_eq!(replaced(&plan), ["i-2"]);
}
