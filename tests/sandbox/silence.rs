//! A check-up of an account in which something never answers.

use std::time::{Duration, Instant};

use machinepool::{
    engine,
    model::checkup::{Check, Status},
};

use crate::lab::{Lab, base_inputs, request, run};

const LIMIT: Duration = Duration::from_millis(200);

/// The checks, which come within the time for what is read and for what is then tried.
fn checks(silent: impl Fn(&str) -> bool + 'static) -> Vec<Check> {
    let cloud = Lab::new().cloud.with_silence(silent);
    let begin = Instant::now();
    let found = run(engine::checkup(&cloud, &request(&base_inputs()), LIMIT));
    let took = begin.elapsed();
    assert!(took < 5 * LIMIT, "{took:?}: one check waited for another");
    found.checks
}

fn check<'a>(checks: &'a [Check], id: &str) -> &'a Check {
    checks.iter().find(|check| check.id == id).unwrap_or_else(|| panic!("{id}: {checks:#?}"))
}

#[test]
fn a_silent_sts_delays_and_hides_nothing_else() {
    let (silent, all) = (checks(|operation| operation.starts_with("sts:")), checks(|_| false));
    let credentials = check(&silent, "credentials");
    assert_eq!(credentials.status, Status::Skipped);
    let words = "It could not be checked: no answer within 0.2 s (sts:GetCallerIdentity).";
    assert_eq!(credentials.detail, words);
    assert_eq!(silent[1..], all[1..]);
}

#[test]
fn any_silent_service_costs_its_own_checks_alone() {
    for service in ["autoscaling:", "ec2:", "iam:", "s3:", "servicequotas:", "sts:"] {
        let checks = checks(move |operation| operation.starts_with(service));
        assert!(checks.len() > 10, "{service}: {checks:#?}");
        assert!(checks.iter().all(|check| check.status != Status::Fail), "{service}: {checks:#?}");
        let told = |check: &Check| check.detail.contains("no answer within 0.2 s");
        assert!(
            checks.iter().filter(|check| check.status == Status::Skipped).any(told),
            "{service}: {checks:#?}"
        );
    }
}

#[test]
fn where_nothing_answers_the_only_check_says_so() {
    let checks = checks(|_| true);
    assert_eq!(checks.len(), 1, "{checks:#?}");
    assert_eq!((checks[0].id, checks[0].status), ("credentials", Status::Fail));
    assert_eq!(checks[0].title, "AWS cannot be reached");
    assert_eq!(checks[0].detail, "no answer within 0.2 s");
}
