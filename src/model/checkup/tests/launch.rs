//! What is launched, and how much of it.

use super::*;

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
