//! Subnets, zones, addresses, security groups.

use super::*;

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
