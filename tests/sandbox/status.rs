//! What a status costs and shows, and rolls that an operator starts and stops.

use std::time::Duration;

use machinepool::{
    engine::rollout::Cancelled,
    error::Kind,
    model::{
        observed::Launch,
        plan::Plan,
        rollout::Rollout,
        status::{self, Compared, Status},
    },
};
use serde_json::json;

use super::lab::{GROUP, Lab, patched};

/// A pool of three running members.
fn settled() -> Lab {
    let lab = Lab::new();
    lab.apply(&patched(json!({}))).unwrap();
    lab.wait(Duration::from_mins(10));
    lab.cloud.clear();
    lab
}

fn status_of(lab: &Lab) -> Status {
    let scope = patched(json!({})).scope;
    let looked = lab.look(&scope, None).unwrap();
    status::status(&scope, "us-east-1", &looked.seen, Compared::Not("a test"), lab.now())
}

/// The demo pool with other labels: a new template version that nobody runs.
fn relabelled() -> serde_json::Value {
    json!({"node_labels": {"example.com/team": "team-b"}})
}

#[test]
fn a_look_costs_six_calls_and_one_more_than_a_plan_if_it_compares() {
    let lab = settled();
    let request = patched(json!({}));
    assert!(lab.look(&request.scope, None).unwrap().planned.is_none());
    assert_eq!(lab.cloud.operations().len(), 6, "{:?}", lab.cloud.operations());
    let versions = lab.look(&request.scope, None).unwrap().seen.versions;
    lab.cloud.clear();
    let again = lab.look_again(&request.scope, &versions).unwrap();
    assert_eq!((again.seen.versions, lab.cloud.operations().len()), (versions, 5), "a version never changes");
    lab.cloud.clear();
    lab.plan(&request).unwrap();
    let plan = lab.cloud.operations().len();
    lab.cloud.clear();
    assert!(lab.look(&request.scope, Some(&request)).unwrap().planned.unwrap().is_ok());
    assert_eq!(lab.cloud.operations().len(), plan + 1, "{:?}", lab.cloud.operations());
    assert!(lab.cloud.writes().is_empty());
}

/// Without an answer about versions of the template, or about activities, there is a status all the same.
#[test]
fn what_a_status_can_do_without_does_not_fail_it() {
    let lab = settled();
    assert_eq!(status_of(&lab).node_labels.count, Some(1));
    let request = patched(json!({}));
    for code in ["UnauthorizedOperation", "RequestLimitExceeded", "InternalError", "RequestTimeout", ""] {
        lab.set_fault(move |_, call| {
            (call.operation == "ec2:DescribeLaunchTemplateVersions")
                .then(|| call.error("us-east-1", code, "no"))
        });
        let status = status_of(&lab);
        assert_eq!((status.node_labels.count, status.counts.running), (None, 3), "{code}");
        let told: Vec<&str> = status.warnings.iter().map(|warning| warning.summary.as_str()).collect();
        assert_eq!(told, ["The version of the launch template could not be read"], "{code}");
        lab.set_fault(move |_, call| {
            (call.operation == "autoscaling:DescribeScalingActivities")
                .then(|| call.error("us-east-1", code, "no"))
        });
        let status = status_of(&lab);
        assert_eq!((status.activities.as_ref(), status.node_labels.count), (None, Some(1)), "{code}");
        assert!(
            status.warnings[0].summary.starts_with("Scaling activities"),
            "{code}: {:?}",
            status.warnings
        );
        assert!(lab.look(&request.scope, Some(&request)).unwrap().planned.unwrap().is_ok(), "{code}");
    }
}

/// What was asked for is done.
#[test]
fn a_cancel_is_a_success_whatever_fails_after_it() {
    for operation in ["ec2:DescribeLaunchTemplateVersions", "ec2:DescribeInstances"] {
        let lab = settled();
        let newer = patched(json!({"kubernetes_version": "v1.35.0"}));
        lab.apply(&newer).unwrap();
        lab.wait(Duration::from_secs(30));
        lab.set_fault(move |_, call| {
            (call.operation == operation).then(|| call.error("us-east-1", "RequestLimitExceeded", "no"))
        });
        let Cancelled::Ended { left, .. } = lab.cancel_rollout(&newer.scope).unwrap() else { panic!() };
        assert_eq!(left.is_some(), operation == "ec2:DescribeLaunchTemplateVersions", "{operation}");
    }
}

/// What AWS says of one refresh is no word about the one that somebody has started since.
#[test]
fn a_wait_for_a_roll_that_another_one_took_the_place_of_says_so() {
    let lab = settled();
    let newer = patched(json!({"kubernetes_version": "v1.35.0"}));
    let first = lab.apply(&newer).unwrap().refresh.unwrap();
    lab.wait(Duration::from_secs(30));
    lab.cancel_rollout(&newer.scope).unwrap();
    assert!(matches!(lab.start_rollout(&newer).unwrap(), Rollout::Start(_)));
    let failure = lab.await_roll(&newer.scope, Some(&first)).unwrap_err();
    let detail = &failure.diagnostics[0].detail;
    assert!(
        detail.contains("Another one, instance refresh") && !detail.contains("goes on by itself"),
        "{detail}"
    );
}

/// Whoever has pinned the group to a version that is neither the latest nor the default sees that version's labels,
/// with short inputs and with complete ones.
#[test]
fn labels_are_those_of_a_pinned_version() {
    let lab = settled();
    for team in ["b", "c"] {
        lab.apply(&patched(json!({"node_labels": {"team": team}}))).unwrap();
    }
    lab.edit(|world| {
        let Launch::Template(used) = &mut world.groups.get_mut(GROUP).unwrap().launch else { panic!() };
        used.version = "2".to_owned();
    });
    let request = patched(json!({"node_labels": {"team": "c"}}));
    let plan = Plan::default();
    for (request, compared) in [(None, Compared::Not("a test")), (Some(&request), Compared::With(&plan))] {
        let scope = patched(json!({"node_labels": {"team": "c"}})).scope;
        let looked = lab.look(&scope, request).unwrap();
        let labels = status::status(&scope, "us-east-1", &looked.seen, compared, lab.now()).node_labels;
        assert_eq!(labels.registered.as_ref().unwrap()["team"], "b", "{labels:?}");
        assert_eq!(labels.as_asked, request.map(|_| false));
    }
}

#[test]
fn what_hinders_the_comparison_does_not_hinder_the_look() {
    let lab = settled();
    let request = patched(json!({}));
    let (region, denied) = ("us-east-1", ["ec2:DescribeImages", "autoscaling:DescribeScalingActivities"]);
    lab.set_fault(move |_, call| {
        denied.contains(&call.operation).then(|| call.error(region, "AccessDenied", "no"))
    });
    let looked = lab.look(&request.scope, Some(&request)).unwrap();
    assert!(looked.planned.unwrap().is_err());
    assert_eq!(looked.seen.activities, None);
    assert_eq!(looked.seen.group.unwrap().members.len(), 3);
    lab.set_fault(move |_, call| {
        (call.operation == "ec2:DescribeInstances").then(|| call.error(region, "AccessDenied", "no"))
    });
    assert!(lab.look(&request.scope, Some(&request)).is_err(), "half a status would be a wrong one");
}

#[test]
fn a_status_follows_a_pool_from_nothing_to_nothing() {
    let lab = Lab::new();
    assert_eq!(status_of(&lab).health.state, "terminated");
    lab.apply(&patched(json!({}))).unwrap();
    lab.wait(Duration::from_secs(5));
    assert_eq!(status_of(&lab).counts.pending, 3);
    lab.wait(Duration::from_mins(5));
    let settled = status_of(&lab);
    assert!(
        settled.health.healthy && settled.members.iter().all(status::MemberStatus::is_ordinary),
        "{settled:#?}"
    );
    lab.edit(|world| {
        world.launch_error = Some("We currently do not have sufficient m6i.large capacity".into());
    });
    lab.apply(&patched(json!({"replicas": 5}))).unwrap();
    lab.wait(Duration::from_mins(2));
    let failing = status_of(&lab);
    assert!(failing.activities.as_ref().unwrap()[0].advice.is_some(), "{failing:#?}");
    lab.edit(|world| {
        world.groups.get_mut(GROUP).unwrap().deleting = Some(machinepool::clock::Timestamp(0));
    });
    assert!(status_of(&lab).group.is_none_or(|group| group.deleting));
}

#[test]
fn a_roll_by_hand_brings_the_latest_version_to_those_that_have_it_not() {
    let lab = settled();
    let request = patched(relabelled());
    let refused = lab.start_rollout(&request).unwrap_err();
    assert_eq!(refused.kind, Kind::Refused, "{refused:?}");
    assert!(refused.diagnostics[0].detail.contains("Run apply first"), "{refused:?}");
    assert!(lab.cloud.writes().is_empty());

    let applied = lab.apply(&request).unwrap();
    assert_eq!(applied.refresh, None, "labels do not roll by themselves");
    lab.wait(Duration::from_mins(10));
    assert_eq!(status_of(&lab).counts.on_older_version, 3);
    let before = lab.world().members(GROUP);
    lab.cloud.clear();
    let Rollout::Start(plan) = lab.start_rollout(&request).unwrap() else { panic!() };
    assert_eq!(plan.replaced.len(), 3);
    assert_eq!(lab.cloud.writes().len(), 2, "{:?}", lab.cloud.writes());
    assert!(matches!(lab.start_rollout(&request).unwrap(), Rollout::Running(_)), "once is enough");

    lab.wait(Duration::from_secs(90));
    let rolling = status_of(&lab);
    assert!(rolling.rollout.active && rolling.rollout.refresh.unwrap().of_current_template);
    lab.wait(Duration::from_hours(1));
    let after = lab.world().members(GROUP);
    assert!(after.len() == 3 && after.iter().all(|id| !before.contains(id)), "{before:?} {after:?}");
    let done = status_of(&lab);
    assert_eq!((done.counts.on_older_version, done.rollout.active), (0, false));
    assert_eq!(lab.start_rollout(&request).unwrap(), Rollout::NothingToDo);
    let plan = lab.plan(&request).unwrap().plan;
    assert!(plan.is_empty() && plan.warnings.is_empty(), "{plan:#?}");
}

/// It looked like a hang, with an end that moved away.
#[test]
fn a_roll_tells_its_warm_ups_and_no_end_that_is_not_one() {
    let lab = Lab::new();
    lab.apply(&patched(json!({"replicas": 4}))).unwrap();
    lab.wait(Duration::from_mins(10));
    lab.apply(&patched(json!({"replicas": 4, "kubernetes_version": "v1.35.0"}))).unwrap();
    let (mut warming, mut estimates) = (0, Vec::new());
    let end = loop {
        lab.wait(Duration::from_secs(20));
        let rollout = status_of(&lab).rollout;
        if !rollout.active {
            break lab.now();
        }
        warming += usize::from(rollout.next.contains("for the 300 s of warm-up of i-"));
        let refresh = rollout.refresh.unwrap();
        estimates.extend(refresh.estimated_end_at.map(|at| (refresh.percentage, at)));
    };
    assert!(warming >= 28, "two batches of 300 s each, looked at every 20 s: {warming}");
    assert!(!estimates.is_empty());
    for (_, at) in &estimates {
        assert!(at.plus(Duration::from_mins(1)) >= end, "{estimates:?}, {end:?}");
    }
    assert!(estimates.windows(2).all(|two| two[0].0 != two[1].0 || two[0].1 == two[1].1), "{estimates:?}");
}

#[test]
fn a_cancelled_roll_stays_so_until_somebody_starts_it_again() {
    let lab = settled();
    let newer = patched(json!({"kubernetes_version": "v1.35.0"}));
    let nothing = lab.cancel_rollout(&newer.scope).unwrap();
    assert!(matches!(nothing, Cancelled::Nothing(Some(_))), "nothing to cancel is a success");
    lab.apply(&newer).unwrap();
    lab.wait(Duration::from_secs(30));
    let cancelled = lab.cancel_rollout(&newer.scope).unwrap();
    let Cancelled::Ended { status, left: Some(left), .. } = cancelled else { panic!("{cancelled:?}") };
    assert_eq!(status.as_deref(), Some("Cancelled"));
    assert!(left.on_other_template > 0 && left.next.contains("an apply leaves it so"), "{left:?}");
    let warned = lab.apply(&newer).unwrap();
    assert_eq!(warned.refresh, None, "an apply leaves it so");
    assert!(status_of(&lab).rollout.next.contains("rollout start goes on"));
    assert!(lab.plan(&newer).unwrap().plan.warnings[0].detail.contains("rollout start"));

    let Rollout::Start(plan) = lab.start_rollout(&newer).unwrap() else { panic!() };
    assert!(!plan.replaced.is_empty());
    lab.wait(Duration::from_hours(1));
    assert_eq!(status_of(&lab).counts.on_other_template, 0);
    lab.settle(&newer, "after a roll by hand");
}

/// A roll launches first. What it has launched beside the wanted size goes by the termination policy once nobody
/// replaces any more, and that may be good old members.
#[test]
fn a_cancel_says_how_many_members_are_too_many() {
    let twelve = |version: &str| patched(json!({"replicas": 12, "kubernetes_version": version}));
    let lab = Lab::new();
    lab.apply(&patched(json!({"replicas": 12}))).unwrap();
    lab.wait(Duration::from_hours(1));
    let old = lab.world().members(GROUP);
    assert_eq!(old.len(), 12);
    lab.apply(&twelve("v1.35.0")).unwrap();
    lab.wait(Duration::from_mins(1));
    let kept = lab.fork();
    kept.edit(|world| {
        for id in &old {
            world.instances.get_mut(id).unwrap().protected = true;
        }
    });

    lab.cancel_rollout(&twelve("v1.35.0").scope).unwrap();
    let told = lab.warnings();
    let told =
        told.iter().find(|one| one.summary.contains("more than")).unwrap_or_else(|| panic!("{told:?}"));
    assert_eq!(told.summary, "6 members more than the 12 wanted are left by the roll");
    assert!(told.detail.contains("--scaling-processes Terminate"), "{told:?}");
    lab.wait(Duration::from_hours(1));
    let staying = |lab: &Lab| lab.world().members(GROUP).iter().filter(|id| old.contains(id)).count();
    assert_eq!(staying(&lab), 6, "Auto Scaling ends those of the oldest template first");

    kept.cancel_rollout(&twelve("v1.35.0").scope).unwrap();
    kept.wait(Duration::from_hours(1));
    assert_eq!(staying(&kept), 12, "those that are protected stay");
}

#[test]
fn a_roll_of_members_in_standby_is_not_said_to_be_done() {
    let lab = settled();
    let request = patched(relabelled());
    lab.apply(&request).unwrap();
    lab.wait(Duration::from_mins(10));
    let put = |lifecycle: &str| {
        lab.edit(|world| {
            for instance in world.instances.values_mut().filter(|instance| instance.lifecycle.is_some()) {
                instance.lifecycle = Some(lifecycle.to_owned());
            }
        });
    };
    put("Standby");
    let Rollout::OnlyAside(ids) = lab.start_rollout(&request).unwrap() else { panic!() };
    assert_eq!(ids.len(), 3);
    assert!(status_of(&lab).rollout.next.contains("exit-standby"));
    put("InService");
    assert!(matches!(lab.start_rollout(&request).unwrap(), Rollout::Start(_)));
}

/// What failed three times for one version counts no longer, so that applies go on with it.
#[test]
fn a_roll_by_hand_begins_anew() {
    let lab = settled();
    let newer = patched(json!({"kubernetes_version": "v1.35.0"}));
    lab.edit(|world| world.launch_error = Some("no capacity".to_owned()));
    for (failures, told) in [(1, "it failed once"), (2, "it failed twice"), (3, "does not start it again")] {
        let started = lab.apply(&newer).unwrap().refresh;
        assert!(started.is_some());
        lab.wait(Duration::from_hours(2));
        // The count is known, so that a wait tells what is true, and nothing else.
        let failure = lab.await_roll(&newer.scope, started.as_deref()).unwrap_err();
        let detail = &failure.diagnostics[0].detail;
        assert!(detail.contains(told) && !detail.contains("unless"), "{failures}: {detail}");
        assert_eq!(status_of(&lab).rollout.failures, Some(failures));
    }
    let failure = lab.await_roll(&newer.scope, None).unwrap_err();
    assert!(failure.diagnostics[0].detail.contains("does not start it again"), "{failure:?}");
    assert_eq!(lab.apply(&newer).unwrap().refresh, None, "given up");
    assert!(
        status_of(&lab).rollout.next.contains("an apply does not start it again"),
        "{:?}",
        status_of(&lab)
    );
    assert!(matches!(lab.start_rollout(&newer).unwrap(), Rollout::Start(_)));
    lab.wait(Duration::from_hours(2));
    assert!(status_of(&lab).rollout.next.contains("up to three times"));
    lab.edit(|world| world.launch_error = None);
    assert!(lab.apply(&newer).unwrap().refresh.is_some(), "an apply starts it again");
    lab.settle(&newer, "after a roll that failed often");
}

#[test]
fn nothing_of_a_strangers_is_rolled_or_stopped() {
    let lab = settled();
    let request = patched(json!({}));
    lab.edit(|world| {
        let group = world.groups.get_mut(GROUP).unwrap();
        group.tags.get_mut("captf.io/cluster").unwrap().value = "other".to_owned();
    });
    lab.cloud.clear();
    for failure in [lab.start_rollout(&request).unwrap_err(), lab.cancel_rollout(&request.scope).unwrap_err()]
    {
        assert_eq!(failure.kind, Kind::Refused);
        assert!(failure.diagnostics[0].summary.contains("belongs to somebody else"), "{failure:?}");
    }
    assert!(lab.cloud.writes().is_empty());
    assert!(status_of(&lab).warnings[0].summary.contains("belongs to somebody else"));
}

/// A start whose answer is lost, before and after it took effect, rolls once.
#[test]
fn a_start_that_dies_is_gone_on_with() {
    use machinepool::cloud::recorded::Moment;
    for moment in [Moment::Before, Moment::After] {
        for operation in ["autoscaling:CreateOrUpdateTags", "autoscaling:StartInstanceRefresh"] {
            let lab = settled();
            let request = patched(relabelled());
            lab.apply(&request).unwrap();
            lab.wait(Duration::from_mins(10));
            lab.set_fault(move |now, call| {
                (now == moment && call.operation == operation)
                    .then(|| call.error("us-east-1", "InternalFailure", "cut off"))
            });
            assert!(lab.start_rollout(&request).is_err(), "{moment:?} {operation}");
            lab.clear_fault();
            lab.start_rollout(&request).unwrap();
            let refreshes = lab.world().groups[GROUP].refreshes.len();
            assert_eq!(refreshes, 1, "{moment:?} {operation}");
            lab.wait(Duration::from_hours(1));
            assert_eq!(status_of(&lab).counts.on_older_version, 0, "{moment:?} {operation}");
            assert!(lab.plan(&request).unwrap().plan.is_empty());
        }
    }
}
