//! Credentials and permissions, and what they hide.

use super::*;

/// Every read of the pool fails so.
fn all_fail(pool: &mut PoolFacts, kind: Trouble) {
    *pool = PoolFacts {
        group: failed("autoscaling:DescribeAutoScalingGroups", kind),
        instances: failed("ec2:DescribeInstances", kind),
        policies: failed("autoscaling:DescribePolicies", kind),
        refreshes: failed("autoscaling:DescribeInstanceRefreshes", kind),
        activities: failed("autoscaling:DescribeScalingActivities", kind),
        scheduled_actions: failed("autoscaling:DescribeScheduledActions", kind),
        templates: failed("ec2:DescribeLaunchTemplates", kind),
        versions: failed("ec2:DescribeLaunchTemplateVersions", kind),
        object: failed("s3:HeadObject", kind),
        images: Look::Idle("No image is asked for."),
    };
}

#[test]
fn without_credentials_nothing_else_is_told() {
    let call = "sts:GetCallerIdentity";
    let none = found(|_| {}, |f| f.caller = failed(call, Trouble::Credentials));
    assert_eq!(none.checks.len(), 1);
    only(&none, "credentials", Status::Fail, "no luck");
    // A private network may have no way to STS alone.
    let no_sts = found(|_| {}, |f| f.caller = failed(call, Trouble::Network));
    only(&no_sts, "credentials", Status::Skipped, "could not be checked: no luck (sts:GetCallerIdentity)");
    let nothing = |caller: fn(&mut Look<Caller>)| {
        found(
            |_| {},
            |f| {
                caller(&mut f.caller);
                all_fail(&mut f.pool, Trouble::Network);
            },
        )
    };
    let offline = nothing(|caller| *caller = failed("sts:GetCallerIdentity", Trouble::Network));
    assert_eq!(offline.checks.len(), 1);
    only(&offline, "credentials", Status::Fail, "AWS cannot be reached");
    let only_sts = nothing(|_| {});
    assert_eq!(check(&only_sts, "permissions.reads").status, Status::Fail);
    assert!(check(&only_sts, "permissions.reads").title.contains("cannot be reached"));
}

#[test]
fn reads_that_fail_are_never_a_pass() {
    let reads = |change: &dyn Fn(&mut PoolFacts)| {
        let found = found(|_| {}, |f| change(&mut f.pool));
        check(&found, "permissions.reads").clone()
    };
    // An account that is not active yet: EC2 lets nobody in.
    let inactive = reads(&|pool| pool.instances = failed("ec2:DescribeInstances", Trouble::Credentials));
    assert_eq!(inactive.status, Status::Fail);
    assert!(inactive.detail.contains("ec2:DescribeInstances failed: no luck"), "{inactive:#?}");
    let both = reads(&|pool| {
        pool.group = failed("autoscaling:DescribeAutoScalingGroups", Trouble::Unjudged);
        pool.versions = failed("ec2:DescribeLaunchTemplateVersions", Trouble::Credentials);
    });
    assert_eq!(both.status, Status::Fail, "{both:#?}");
    for kind in [Trouble::Network, Trouble::Other, Trouble::Unjudged, Trouble::Missing, Trouble::Elsewhere] {
        let one = reads(&|pool| pool.templates = failed("ec2:DescribeLaunchTemplates", kind));
        assert_eq!(one.status, Status::Skipped, "{kind:?}: {one:#?}");
    }
    // These have checks of their own.
    let own = reads(&|pool| {
        pool.object = failed("s3:HeadObject", Trouble::Elsewhere);
        pool.images = failed("ec2:DescribeImages", Trouble::Missing);
    });
    assert_eq!(own.status, Status::Pass, "{own:#?}");
}

#[test]
fn permissions() {
    let denied = |call| found(|_| {}, move |f| f.pool.refreshes = Look::Denied { call });
    let found_denied = denied("autoscaling:DescribeInstanceRefreshes");
    only(&found_denied, "permissions.reads", Status::Fail, "autoscaling:DescribeInstanceRefreshes");
    let call = "autoscaling:DescribeScheduledActions";
    let useful = found(|_| {}, move |f| f.pool.scheduled_actions = Look::Denied { call });
    only(&useful, "permissions.reads", Status::Warning, call);
    let pinned = found(
        |r| r.machine_image.id = "ami-01".parse().ok(),
        |f| f.pool.images = Look::Denied { call: "ec2:DescribeImages" },
    );
    assert_eq!(check(&pinned, "permissions.reads").status, Status::Warning);
    assert_eq!(check(&pinned, "image").status, Status::Skipped);

    let template_id = "lt-0".to_owned();
    let launch = Rehearsal::Launch { template_id, subnet: "subnet-00".into(), interface: None };
    let tried = |look| {
        let launch = launch.clone();
        found(|_| {}, move |f| f.rehearsals = vec![(launch, look)])
    };
    let denied = tried(Look::Denied { call: "ec2:RunInstances" });
    only(&denied, "permissions.launch", Status::Fail, "may not launch");
    assert!(check(&denied, "permissions.launch").fix.as_ref().unwrap().contains("iam:PassRole"));
    let words = "InvalidParameterValue: no profile".to_owned();
    let refused = tried(Look::Failed { call: "ec2:RunInstances", kind: Trouble::Other, words });
    only(&refused, "permissions.launch", Status::Fail, "no profile");
    for (kind, words) in [
        (Trouble::Network, "could not be checked: no luck (ec2:RunInstances)"),
        (Trouble::Unjudged, "ec2:RunInstances failed: no luck"),
    ] {
        only(&tried(failed("ec2:RunInstances", kind)), "permissions.launch", Status::Skipped, words);
    }
}

#[test]
fn what_may_not_be_looked_at_is_skipped_and_says_what_to_allow() {
    let found = found(
        |r| r.ssh_key_name = Some("ops".into()),
        |f| {
            f.subnets = Look::Denied { call: "ec2:DescribeSubnets" };
            f.security_groups = Look::Denied { call: "ec2:DescribeSecurityGroups" };
            f.key_pair = Look::Denied { call: "ec2:DescribeKeyPairs" };
            f.offered = Look::Denied { call: "ec2:DescribeInstanceTypeOfferings" };
            f.instance_profile = Look::Denied { call: "iam:GetInstanceProfile" };
            f.limits = Look::Denied { call: "autoscaling:DescribeAccountLimits" };
            f.quota = Look::Denied { call: "servicequotas:GetServiceQuota" };
            f.roles.insert(AUTOSCALING_ROLE, Look::Denied { call: "iam:GetRole" });
        },
    );
    assert_eq!((found.count(Status::Fail), found.count(Status::Warning)), (0, 0), "{found:#?}");
    let skipped: Vec<&Check> = found.checks.iter().filter(|check| check.status == Status::Skipped).collect();
    assert_eq!(skipped.len(), 8);
    for check in skipped {
        assert!(check.detail.contains("not permitted to look"), "{check:#?}");
        assert!(check.fix.as_ref().unwrap().contains(':'), "{check:#?}");
    }
}

#[test]
fn what_something_else_answers_is_no_proof() {
    fn other<T>(call: &'static str) -> Look<T> {
        Look::Failed { call, kind: Trouble::NotAws, words: "HTTP 404: no code".into() }
    }
    let one = found(
        |_| {},
        |f| {
            f.instance_profile = other("iam:GetInstanceProfile");
            f.pool.images = other("ec2:DescribeImages");
            f.pool.object = other("s3:HeadObject");
        },
    );
    assert_eq!(one.count(Status::Fail), 0, "{one:#?}");
    for id in ["instance_profile", "image", "bucket"] {
        assert_eq!(check(&one, id).status, Status::Skipped, "{one:#?}");
        assert!(check(&one, id).detail.contains("is not AWS"), "{one:#?}");
    }
    let all = found(
        |_| {},
        |f| {
            f.caller = other("sts:GetCallerIdentity");
            f.pool = PoolFacts {
                group: other("a"),
                instances: other("a"),
                policies: other("a"),
                refreshes: other("a"),
                activities: other("a"),
                scheduled_actions: other("a"),
                templates: other("a"),
                versions: other("a"),
                object: other("a"),
                images: other("a"),
            };
        },
    );
    assert_eq!((all.checks.len(), all.checks[0].status), (1, Status::Fail), "{all:#?}");
    assert!(all.checks[0].title.contains("does not answer as AWS does"), "{all:#?}");
    // One that nobody pins is not said to be.
    let images = found(|r| r.machine_image.id = None, |f| f.pool.images = failed("a", Trouble::Missing));
    assert_eq!(check(&images, "image").status, Status::Skipped, "{images:#?}");
}
