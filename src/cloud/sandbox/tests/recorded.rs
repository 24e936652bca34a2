//! The recording wrapper.

use super::*;
use crate::cloud::recorded::{Moment, Recorded};

fn sandbox() -> Sandbox {
    Sandbox::in_memory(&seed(), Rc::new(ManualClock::default()))
}

#[test]
fn calls_are_counted_and_writes_kept() {
    let cloud = Recorded::new(sandbox());
    let delete = delete_group(false);
    assert!(run(cloud.perform(&delete)).is_err());
    run(cloud.object("bootstrap", "k")).unwrap();
    run(cloud.group(GROUP)).unwrap();
    run(cloud.group(GROUP)).unwrap();
    let counts = cloud.counts();
    assert_eq!(counts["autoscaling:DescribeAutoScalingGroups"], 2);
    assert_eq!(counts["s3:HeadObject"], 1);
    assert_eq!(counts["s3:GetObjectTagging"], 1);
    assert_eq!(cloud.operations()[0], "autoscaling:DeleteAutoScalingGroup");
    assert_eq!(cloud.writes(), [delete]);
    cloud.clear();
    assert!(cloud.operations().is_empty() && cloud.writes().is_empty());
}

#[test]
fn a_fault_before_has_no_effect_and_a_fault_after_has() {
    for moment in [Moment::Before, Moment::After] {
        let cloud = Recorded::new(sandbox()).with_hook(move |at, call| {
            let hit = at == moment && call.operation == "ec2:CreateLaunchTemplate";
            hit.then(|| call.error("us-east-1", "RequestLimitExceeded", "slow down"))
        });
        let data = data(cloud.inner());
        let error = run(cloud.perform(&create_template("pool-1", data))).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Throttled);
        assert_eq!(error.resource, "launch template pool-1");
        let effect = cloud.inner().world().template_named("pool-1").is_some();
        assert_eq!(effect, moment == Moment::After);
    }
}
