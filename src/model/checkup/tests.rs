#![allow(clippy::unwrap_used)]

use super::{testing::facts, *};
use crate::{
    contract::request::Autoscaler,
    model::{
        desired,
        names::Names,
        observed::{Group, GroupTag, Instance, Object, Template},
        records,
        testing::{self, request},
    },
};

fn found(edit: impl FnOnce(&mut Request), change: impl FnOnce(&mut Facts)) -> Checkup {
    let request = request(edit);
    let mut facts = facts(&request);
    change(&mut facts);
    checkup(&request, &facts)
}

#[track_caller]
fn check<'a>(found: &'a Checkup, id: &str) -> &'a Check {
    found.checks.iter().find(|check| check.id == id).unwrap_or_else(|| panic!("{id}: {found:#?}"))
}

/// Exactly this check has this status, and all others pass.
#[track_caller]
fn only(found: &Checkup, id: &str, status: Status, words: &str) {
    let others: Vec<&Check> =
        found.checks.iter().filter(|check| check.id != id && check.status != Status::Pass).collect();
    assert!(others.is_empty(), "{others:#?}");
    let check = check(found, id);
    assert_eq!(check.status, status, "{check:#?}");
    assert!(check.title.contains(words) || check.detail.contains(words), "{words}: {check:#?}");
    assert!(
        status != Status::Fail || id == "ownership" || id == "image" || check.fix.is_some(),
        "{check:#?}"
    );
}

#[test]
fn where_all_is_well_everything_passes() {
    let found = found(
        |r| {
            r.spot = true;
            r.ssh_key_name = Some("ops".into());
            r.root_volume_kms_key_id = Some("arn:aws:kms:us-east-1:123456789012:key/1".into());
        },
        |_| {},
    );
    assert_eq!(found.count(Status::Pass), found.checks.len(), "{found:#?}");
    let ids: std::collections::BTreeSet<&str> = found.checks.iter().map(|check| check.id).collect();
    assert_eq!(ids.len(), found.checks.len());
    assert!(found.checks.iter().all(|check| check.fix.is_none()));
}

fn failed<T>(call: &'static str, kind: Trouble) -> Look<T> {
    Look::Failed { call, kind, words: "no luck".into() }
}

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
fn subnets() {
    let missing = |n: usize| {
        found(
            |_| {},
            |f| f.subnets = f.subnets.clone().map(|all| all.into_iter().skip(n).collect::<Vec<_>>()),
        )
    };
    only(&missing(1), "subnets", Status::Fail, "subnet-00 of us-east-1a");
    assert!(check(&missing(1), "subnets.zones").title.contains("that exists"));
    let all = missing(3);
    for id in ["subnets.zones", "subnets.addresses", "vpc"] {
        assert_eq!(check(&all, id).status, Status::Skipped, "{id}");
    }
    assert!(check(&all, "subnets").detail.contains("wrong region or wrong account"), "{all:#?}");

    let change = |edit: fn(&mut Subnet)| {
        found(
            |_| {},
            |f| {
                f.subnets = f.subnets.clone().map(|mut all| {
                    edit(&mut all[0]);
                    all
                });
            },
        )
    };
    only(
        &change(|s| s.zone = "us-east-1f".into()),
        "subnets.zones",
        Status::Fail,
        "subnet-00 is in us-east-1f, not in us-east-1a",
    );
    only(&change(|s| s.vpc = "vpc-02".into()), "vpc", Status::Fail, "vpc-02 has subnet-00");
    only(&change(|s| s.free_addresses = 1), "subnets.addresses", Status::Warning, "subnet-00");
}

#[test]
fn addresses_are_counted_against_twice_the_size() {
    let free_and = |each: u32, zones: &[&str], edit: fn(&mut Request)| {
        found(edit, |f| {
            f.subnets = f.subnets.clone().map(|mut all| {
                for subnet in &mut all {
                    subnet.free_addresses = each;
                }
                all
            });
            let member = |zone: &&str| Instance {
                state: "running".into(),
                zone: (*zone).to_owned(),
                ..Instance::default()
            };
            f.pool.instances = Look::Seen(zones.iter().map(member).collect());
        })
    };
    let free = |each, edit| free_and(each, &[], edit);
    let (a, b, c) = ("us-east-1a", "us-east-1b", "us-east-1c");
    let seven = |r: &mut Request| r.replicas = 7;
    only(&free(2, seven), "subnets.addresses", Status::Fail, "6 for a pool of 7");
    only(&free(3, seven), "subnets.addresses", Status::Warning, "twice the size of 7");
    only(&free(5, seven), "subnets.addresses", Status::Pass, "15 free");
    only(&free_and(3, &[a, a, b, b, c, c, c], seven), "subnets.addresses", Status::Pass, "9 free");
    // What a member uses in one zone is of no help in another.
    let crowded = free_and(3, &[a; 7], seven);
    only(&crowded, "subnets.addresses", Status::Warning, "Few free addresses in subnet-01, subnet-02");
    // Members of a zone that the pool no longer spans have to find room in those that it does.
    let left = |r: &mut Request| (r.replicas, r.failure_domains) = (7, vec!["us-east-1b".into()]);
    let words = "3, and 2 of the pool's, for a pool of 7";
    only(&free_and(3, &[a, a, a, c, c, b, b], left), "subnets.addresses", Status::Fail, words);
    let scaled =
        |r: &mut Request| r.autoscaling = Autoscaling::On { min: 1, max: 16, by: Autoscaler::External };
    only(&free(5, scaled), "subnets.addresses", Status::Fail, "15 for a pool of 16");
    // Only the zones that the pool spans count.
    let one_zone = |r: &mut Request| (r.replicas, r.failure_domains) = (7, vec!["us-east-1b".into()]);
    only(&free(6, one_zone), "subnets.addresses", Status::Fail, "6 for a pool of 7");
}

#[test]
fn security_groups() {
    let found = found(
        |r| r.additional_security_group_ids = vec!["sg-0b".parse().unwrap()],
        |f| f.security_groups = f.security_groups.clone().map(|mut all| all.drain(..1).collect::<Vec<_>>()),
    );
    only(&found, "security_groups", Status::Fail, "sg-0b");
}

#[test]
fn regions_and_zones() {
    let elsewhere = found(|r| r.exports.region = "eu-west-1".parse().unwrap(), |_| {});
    let region = check(&elsewhere, "region");
    assert_eq!(region.status, Status::Fail);
    assert!(region.title.contains("us-east-1a"), "{region:?}");
    let unknown = found(|r| r.failure_domains = vec!["us-east-1z".into()], |_| {});
    assert_eq!(check(&unknown, "zones").status, Status::Fail);
    for id in ["subnets.addresses", "instance_type.zones"] {
        assert_eq!(check(&unknown, id).status, Status::Skipped, "{id}");
    }
}

#[test]
fn nothing_lies_in_one_vpc_that_was_not_seen() {
    let vpc = |change: fn(&mut Facts)| {
        let found = found(|_| {}, change);
        check(&found, "vpc").clone()
    };
    let denied = vpc(|f| f.subnets = Look::Denied { call: "ec2:DescribeSubnets" });
    assert_eq!(denied.status, Status::Skipped);
    assert!(denied.fix.unwrap().contains("ec2:DescribeSubnets"));
    assert_eq!(vpc(|f| f.security_groups = Look::Seen(Vec::new())).status, Status::Skipped);
    assert_eq!(vpc(|f| f.subnets = Look::Seen(Vec::new())).status, Status::Skipped);
}

/// A template of this name, with this owner's cluster and a record of these zones.
fn template(name: &str, cluster: &str, zones: &str) -> Template {
    let mut tags = request(|_| {}).scope.identity;
    tags.insert("captf.io/cluster".into(), cluster.into());
    tags.insert(records::ZONES.into(), zones.into());
    Template { id: format!("lt-{name}"), name: name.into(), tags, ..Template::default() }
}

#[test]
fn zones_are_the_pools_own() {
    let without_c = |templates: Vec<Template>| {
        found(
            |_| {},
            |f| {
                f.offered = Look::Seen(["us-east-1a".to_owned(), "us-east-1b".to_owned()].into());
                f.pool.templates = Look::Seen(templates);
            },
        )
    };
    // A zone that the cluster gained later is never taken up.
    let began = template("captf-x", "demo", "us-east-1a/us-east-1b");
    only(&without_c(vec![began]), "instance_type.zones", Status::Pass, "offered");
    let stranger = template("captf-x", "another", "us-east-1a");
    only(&without_c(vec![stranger]), "instance_type.zones", Status::Fail, "us-east-1c");
    let facts = facts(&request(|_| {}));
    assert_eq!(launch_subnet(&request(|_| {}), &facts.pool).unwrap(), "subnet-00");
    let b = |r: &mut Request| r.failure_domains = vec!["us-east-1b".into()];
    assert_eq!(launch_subnet(&request(b), &facts.pool).unwrap(), "subnet-01");
}

#[test]
fn what_a_template_names() {
    let profile = |profile| found(|_| {}, |f| f.instance_profile = Look::Seen(profile));
    only(&profile(None), "instance_profile", Status::Fail, "demo-worker does not exist");
    only(&profile(Some(InstanceProfile::default())), "instance_profile", Status::Fail, "no role");
    let none = found(|_| {}, |f| f.pool.images = Look::Seen(Vec::new()));
    only(&none, "image", Status::Fail, "No image found");
    let key = found(|r| r.ssh_key_name = Some("ops".into()), |f| f.key_pair = Look::Seen(false));
    only(&key, "key_pair", Status::Fail, "ops");
    let key = "arn:aws:kms:eu-west-1:123456789012:key/1";
    let kms = found(|r| r.root_volume_kms_key_id = Some(key.into()), |_| {});
    only(&kms, "kms_key", Status::Fail, "eu-west-1");
}

#[test]
fn images() {
    let change = |edit: fn(&mut crate::model::observed::Image)| {
        found(
            |r| r.machine_image.id = "ami-01".parse().ok(),
            |f| {
                f.pool.images = f.pool.images.clone().map(|mut all| {
                    edit(&mut all[0]);
                    all
                });
            },
        )
    };
    only(&change(|i| i.state = "failed".into()), "image", Status::Fail, "failed, not available");
    only(
        &change(|i| i.root_device_name = "/dev/xvda".into()),
        "image.root_device",
        Status::Warning,
        "/dev/xvda",
    );
    only(&change(|i| i.architecture = "arm64".into()), "image.architecture", Status::Fail, "needs x86_64");
    only(&change(|i| i.root_volume_size_gib = Some(41)), "volume", Status::Fail, "40 GiB is smaller");
    only(&change(|i| i.root_volume_size_gib = Some(40)), "volume", Status::Pass, "40 GiB");
    let gone = found(
        |r| r.machine_image.id = "ami-0dead".parse().ok(),
        |f| {
            let (call, kind) = ("ec2:DescribeImages", Trouble::Missing);
            f.pool.images = Look::Failed { call, kind, words: "InvalidAMIID.NotFound".into() };
        },
    );
    only(&gone, "image", Status::Fail, "ami-0dead does not exist");
}

#[test]
fn where_the_type_may_not_be_looked_at_its_name_tells_the_architecture() {
    let found = found(
        |r| r.instance_type = "m7g.large".into(),
        |f| f.instance_type = Look::Denied { call: "ec2:DescribeInstanceTypes" },
    );
    assert_eq!(check(&found, "image.architecture").status, Status::Fail);
    assert_eq!(check(&found, "instance_type").status, Status::Skipped);
    assert!(check(&found, "instance_type").fix.as_ref().unwrap().contains("ec2:DescribeInstanceTypes"));
}

#[test]
fn instance_types_and_quotas() {
    let none = found(|_| {}, |f| (f.instance_type, f.quota) = (Look::Seen(None), Look::Idle("x")));
    assert_eq!(check(&none, "instance_type").status, Status::Fail);
    let without_c = found(
        |_| {},
        |f| {
            f.offered = f.offered.clone().map(|mut zones| {
                zones.remove("us-east-1c");
                zones
            });
        },
    );
    only(&without_c, "instance_type.zones", Status::Fail, "us-east-1c");
    // A zone that the pool is not asked to span does not count.
    let elsewhere = found(
        |r| r.failure_domains = vec!["us-east-1a".into()],
        |f| f.offered = Look::Seen(["us-east-1a".to_owned()].into()),
    );
    only(&elsewhere, "instance_type.zones", Status::Pass, "offered");

    let quota = |value: f64| found(|_| {}, move |f| f.quota = Look::Seen(Some(value)));
    only(&quota(5.0), "quota.vcpus", Status::Fail, "5 vCPUs, and 3 m6i.large need 6");
    only(&quota(11.0), "quota.vcpus", Status::Warning, "11 vCPUs");
    only(&quota(12.0), "quota.vcpus", Status::Pass, "12 vCPUs");
    only(&found(|_| {}, |f| f.quota = Look::Seen(None)), "quota.vcpus", Status::Skipped, "no such quota");
}

#[test]
fn quotas_are_those_of_the_family_and_the_market() {
    let code =
        |kind: &str, spot: bool| quota_code(&request(|r| (r.instance_type, r.spot) = (kind.into(), spot)));
    for (kind, on_demand, spot) in [
        ("m6i.large", Some("L-1216C47A"), Some("L-34B43A08")),
        ("t4g.nano", Some("L-1216C47A"), Some("L-34B43A08")),
        ("im4gn.large", Some("L-1216C47A"), Some("L-34B43A08")),
        ("is4gen.medium", Some("L-1216C47A"), Some("L-34B43A08")),
        ("g5.xlarge", Some("L-DB2E81BA"), Some("L-3819A6DF")),
        ("vt1.3xlarge", Some("L-DB2E81BA"), Some("L-3819A6DF")),
        ("p3.2xlarge", Some("L-417A185B"), Some("L-7212CCBC")),
        ("p4de.24xlarge", Some("L-417A185B"), Some("L-7212CCBC")),
        ("p5.48xlarge", Some("L-417A185B"), Some("L-C4BD4855")),
        ("p5en.48xlarge", Some("L-417A185B"), Some("L-C4BD4855")),
        ("p6-b200.48xlarge", Some("L-417A185B"), None),
        ("inf2.xlarge", None, None),
        ("trn1.2xlarge", None, None),
        ("hpc7g.4xlarge", None, None),
        ("mac2.metal", None, None),
        ("u-6tb1.metal", None, None),
        ("x2gd.large", None, None),
        ("f1.2xlarge", None, None),
        ("dl1.24xlarge", None, None),
    ] {
        assert_eq!((code(kind, false), code(kind, true)), (on_demand, spot), "{kind}");
    }
}

#[test]
fn buckets_groups_and_roles() {
    let object = |look| found(|_| {}, |f| f.pool.object = look);
    let call = "s3:HeadObject";
    let failed = |kind, words: &str| Look::Failed { call, kind, words: words.into() };
    only(&object(failed(Trouble::Missing, "NoSuchBucket")), "bucket", Status::Fail, "does not exist");
    only(
        &object(failed(Trouble::Elsewhere, "the bucket is in eu-west-1")),
        "bucket",
        Status::Fail,
        "eu-west-1",
    );
    let denied = object(Look::Denied { call });
    assert_eq!(check(&denied, "bucket").status, Status::Fail);
    assert!(check(&denied, "bucket").fix.as_ref().unwrap().contains("s3:ListBucket"), "{denied:#?}");

    let limits = Look::Seen(Limits { max_groups: 3, groups: 3 });
    only(&found(|_| {}, |f| f.limits = limits.clone()), "limits.groups", Status::Fail, "3 of 3");
    let missing = |name| found(|r| r.spot = true, move |f| drop(f.roles.insert(name, Look::Seen(false))));
    only(&missing(AUTOSCALING_ROLE), "roles.autoscaling", Status::Warning, "does not exist yet");
    only(&missing(SPOT_ROLE), "roles.spot", Status::Warning, "does not exist yet");
}

#[test]
fn a_name_in_somebody_elses_hands() {
    let theirs = |pool: &mut PoolFacts| {
        let tag = GroupTag { value: "another".into(), propagate: false };
        let tags = [("captf.io/namespace".to_owned(), tag)].into();
        pool.group = Look::Seen(Some(Group { name: "captf-x".into(), tags, ..Group::default() }));
    };
    only(&found(|_| {}, |f| theirs(&mut f.pool)), "ownership", Status::Fail, "belongs to somebody else");
    let object = Object::Present {
        sha256: None,
        content_type: None,
        encryption: None,
        tags: testing::tags(&[("captf.io/name", "another")]),
    };
    let with_object = found(|_| {}, |f| f.pool.object = Look::Seen(object));
    only(&with_object, "ownership", Status::Fail, "belongs to somebody else");

    // Of templates, those that an apply would use, as for a plan.
    let templates = |template: Template| found(|_| {}, |f| f.pool.templates = Look::Seen(vec![template]));
    let names = Names::of(&request(|_| {}).scope);
    let wanted = names.template(&desired::roll_key(&request(|_| {})));
    only(&templates(template(&wanted, "another", "")), "ownership", Status::Fail, "belongs to somebody else");
    let other = format!("{}older", names.template_prefix());
    only(&templates(template(&other, "another", "")), "ownership", Status::Pass, "is free");
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
