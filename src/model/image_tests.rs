use super::*;

#[test]
fn families_tell_their_architecture() {
    for arm in [
        "a1.large",
        "m6g.large",
        "c7gn.xlarge",
        "im4gn.large",
        "is4gen.medium",
        "g5g.xlarge",
        "x2gd.large",
        "t4g.nano",
    ] {
        assert_eq!(family_architecture(arm), Some("arm64"), "{arm}");
    }
    for x86 in [
        "m6i.large",
        "g4dn.xlarge",
        "g6.xlarge",
        "p5.48xlarge",
        "p6-b200.48xlarge",
        "x2iedn.large",
        "u7in-16tb.224xlarge",
        "c5.large",
        "t3a.nano",
    ] {
        assert_eq!(family_architecture(x86), Some("x86_64"), "{x86}");
    }
    for open in ["mac2.metal", "odd", "p6e-gb200.36xlarge"] {
        assert_eq!(family_architecture(open), None, "{open}");
    }
}

fn image(id: &str, state: &str, architecture: &str, date: &str) -> Image {
    Image {
        id: id.into(),
        name: "n".into(),
        state: state.into(),
        architecture: architecture.into(),
        root_device_name: "/dev/sda1".into(),
        creation_date: date.into(),
        root_volume_size_gib: None,
    }
}

fn machine_image(name_format: &str) -> MachineImage {
    MachineImage {
        id: None,
        owner: "self".into(),
        name_format: name_format.into(),
        architecture: "x86_64".into(),
        root_device_name: "/dev/sda1".into(),
    }
}

#[test]
fn patterns_take_the_version_literally() {
    let format = machine_image("capa-?{semver}-*");
    assert_eq!(name_pattern(&format, "v1.31.4+rke2r1"), "capa-?1.31.4-*");
    assert_eq!(name_pattern(&format, "1.31.4"), "capa-?1.31.4-*");
    assert_eq!(name_pattern(&machine_image("x-{version}-*"), "1.31.4"), "x-v1.31.4-*");
    assert_eq!(name_pattern(&format, "v1.*"), "capa-?1.\\*-*");
}

#[test]
fn a_wildcard_beside_the_version_takes_in_no_other_version() {
    let cases = [
        ("capi-{semver}*", "capi-1.31.1-a", "capi-1.31.14-a"),
        ("capi-*{semver}-*", "capi-v1.31.1-a", "capi-v11.31.1-a"),
        ("capi-{version}?", "capi-v1.31.1", "capi-v1.31.10"),
        ("*{semver}*", "1.31.14-on-1.31.1", "1.31.14-on-1.31.19"),
    ];
    for (format, right, wrong) in cases {
        let request = crate::model::testing::request(|r| {
            r.machine_image = machine_image(format);
            r.kubernetes_version = Some("v1.31.1+build".into());
        });
        let named = |id: &str, name: &str, date: &str| Image {
            name: name.into(),
            ..image(id, "available", "x86_64", date)
        };
        let newer = named("ami-2", wrong, "2026-02-01T00:00:00.000Z");
        let both = vec![named("ami-1", right, "2026-01-01T00:00:00.000Z"), newer.clone()];
        assert_eq!(choose(&request, &Images::Found(both), "us-east-1").unwrap(), "ami-1", "{format}");
        let miss = choose(&request, &Images::Found(vec![newer]), "us-east-1").unwrap_err();
        assert!(miss.detail.contains(wrong), "{}", miss.detail);
    }
    // Digits of the format's own are meant.
    assert!(!is_of_another_version(&machine_image("a{semver}0-*"), "1.31.1", "a1.31.10-b"));
    assert!(!is_of_another_version(&machine_image("a{semver}*"), "1.31.1", "A-of-another-spelling"));
}

#[test]
fn a_volume_smaller_than_the_image_is_a_warning() {
    let request = crate::model::testing::request(|r| r.root_volume_size_gib = 40);
    let sized = |size| Image {
        root_volume_size_gib: Some(size),
        ..image("ami-1", "available", "x86_64", "2026-01-01T00:00:00.000Z")
    };
    assert_eq!(warnings(&request, &Images::Found(vec![sized(40)]), "ami-1"), []);
    let told = warnings(&request, &Images::Found(vec![sized(80)]), "ami-1");
    assert!(told.len() == 1 && told[0].detail.contains("root_volume_size_gib to 80"), "{told:?}");
}

#[test]
fn the_newest_available_one_wins_and_ties_are_stable() {
    let request = crate::model::testing::request(|_| {});
    let mut found = vec![
        image("ami-1", "available", "x86_64", "2026-01-01T00:00:00.000Z"),
        image("ami-3", "available", "x86_64", "2026-02-01T00:00:00.000Z"),
        image("ami-2", "available", "x86_64", "2026-02-01T00:00:00.000Z"),
        image("ami-4", "pending", "x86_64", "2026-03-01T00:00:00.000Z"),
        image("ami-5", "available", "arm64", "2026-03-01T00:00:00.000Z"),
    ];
    for _ in 0..found.len() {
        found.rotate_left(1);
        assert_eq!(choose(&request, &Images::Found(found.clone()), "us-east-1").unwrap(), "ami-3");
    }
    let miss = choose(&request, &Images::Found(Vec::new()), "us-east-1").unwrap_err();
    for word in ["capa-ami-ubuntu-24.04-?1.34.1-*", "819546954734", "x86_64", "us-east-1", "machine_image.id"]
    {
        assert!(miss.detail.contains(word), "{word}: {}", miss.detail);
    }
}

#[test]
fn a_look_up_of_an_earlier_plan_holds_and_rolls_nothing() {
    let mut request = crate::model::testing::request(|_| {});
    let key = crate::model::desired::roll_key(&request);
    request.pin_image("ami-0aaa".parse().unwrap());
    let newer = Images::Found(vec![image("ami-9", "available", "x86_64", "2026-03-01T00:00:00.000Z")]);
    assert_eq!(choose(&request, &newer, "us-east-1").unwrap(), "ami-0aaa");
    assert_eq!(query(&request), Some(ImageQuery::Id("ami-0aaa".into())));
    assert_eq!(crate::model::desired::roll_key(&request), key);
    request.machine_image.id = "ami-0bbb".parse().ok();
    assert_eq!(choose(&request, &newer, "us-east-1").unwrap(), "ami-0bbb");
}

#[test]
fn an_image_that_cannot_be_launched_is_refused_unless_it_is_launched_already() {
    let pinned = crate::model::testing::request(|r| r.machine_image.id = "ami-0123".parse().ok());
    let mut looked_up = crate::model::testing::request(|_| {});
    looked_up.pin_image("ami-0123".parse().unwrap());
    let of_state =
        |state: &str| Images::Found(vec![image("ami-0123", state, "x86_64", "2026-01-01T00:00:00.000Z")]);
    let missing =
        || Images::Missing("InvalidAMIID.NotFound: The image id '[ami-0123]' does not exist".into());
    for images in [missing(), of_state("pending"), of_state("deregistered")] {
        let refused = |request, current| check_launchable(request, &images, current, "us-east-1").err();
        let error = refused(&pinned, Some("ami-0999")).unwrap();
        assert!(error.summary.contains("ami-0123") && error.summary.contains("us-east-1"), "{error:?}");
        assert!(error.detail.contains("machine_image.id"), "{error:?}");
        assert!(refused(&looked_up, None).unwrap().detail.ends_with("Plan again."));
        assert_eq!(refused(&pinned, Some("ami-0123")), None);
        assert_eq!(refused(&crate::model::testing::request(|_| {}), None), None, "that is searched by name");
    }
    for images in [of_state("available"), Images::Undescribed("denied".into()), Images::NotAsked] {
        assert_eq!(check_launchable(&pinned, &images, None, "us-east-1"), Ok(()));
    }
    assert!(
        check_launchable(&pinned, &missing(), None, "us-east-1").unwrap_err().detail.contains("NotFound")
    );
}

#[test]
fn an_odd_pinned_image_is_a_warning() {
    let request = crate::model::testing::request(|r| r.machine_image.id = "ami-0123".parse().ok());
    let mut pinned = image("ami-0123", "available", "arm64", "2026-01-01T00:00:00.000Z");
    pinned.root_device_name = "/dev/xvda".into();
    let told = warnings(&request, &Images::Found(vec![pinned]), "ami-0123");
    assert_eq!(told.len(), 2);
    assert!(told[0].summary.contains("/dev/xvda") && told[0].summary.contains("/dev/sda1"));
    assert!(told[1].summary.contains("arm64") && told[1].summary.contains("m6i.large"));
    assert_eq!(warnings(&request, &Images::Undescribed("denied".into()), "ami-0123").len(), 1);
}
