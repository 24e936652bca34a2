//! Images.

use super::*;

fn named(lab: &Lab, owner: &str, name: &str, architecture: &str) -> Vec<Image> {
    let query = ImageQuery::Name {
        owner: owner.to_owned(),
        name: name.to_owned(),
        architecture: architecture.to_owned(),
    };
    run(lab.sandbox.images(&query)).unwrap()
}

fn by_id(lab: &Lab, id: &str) -> Result<Vec<Image>, CloudError> {
    run(lab.sandbox.images(&ImageQuery::Id(id.to_owned())))
}

#[test]
fn the_catalogue_has_one_image_for_each_version_and_architecture() {
    let lab = Lab::new();
    for architecture in ["x86_64", "arm64"] {
        for version in ["1.28.0", "1.31.4", "1.34.1", "1.40.9"] {
            let pattern = format!("capa-ami-ubuntu-24.04-?{version}-*");
            let found = named(&lab, CATALOGUE_OWNER, &pattern, architecture);
            assert_eq!(found.len(), 1, "{version}: {found:?}");
            assert!(found[0].name.starts_with(&format!("capa-ami-ubuntu-24.04-v{version}-1")), "{found:?}");
            assert_eq!(found[0].architecture, architecture);
            assert_eq!(
                (found[0].state.as_str(), found[0].root_device_name.as_str()),
                ("available", "/dev/sda1")
            );
            assert_eq!(by_id(&lab, &found[0].id).unwrap(), found);
        }
    }
}

#[test]
fn a_version_does_not_match_a_longer_one() {
    let lab = Lab::new();
    let short = named(&lab, CATALOGUE_OWNER, "capa-ami-ubuntu-24.04-?1.31.4-*", "x86_64");
    let long = named(&lab, CATALOGUE_OWNER, "capa-ami-ubuntu-24.04-?1.31.40-*", "x86_64");
    assert_eq!((short.len(), long.len()), (1, 1));
    assert_ne!(short, long);
    assert_eq!(named(&lab, CATALOGUE_OWNER, "capa-ami-ubuntu-24.04-?1.31.4*", "x86_64").len(), 7);
}

#[test]
fn creation_dates_are_those_of_the_names() {
    let lab = Lab::new();
    let first = named(&lab, CATALOGUE_OWNER, "capa-ami-ubuntu-24.04-v1.28.0-1700000000", "x86_64");
    assert_eq!(first[0].creation_date, "2023-11-14T22:13:20.000Z");
    let later = named(&lab, CATALOGUE_OWNER, "capa-ami-ubuntu-24.04-v1.29.5-*", "x86_64");
    // A leap day: 1_700_000_000 + 5_000_000 + 500_000 seconds.
    assert_eq!(later[0].creation_date, "2024-01-17T14:00:00.000Z");
    assert_eq!(super::super::images::utc(1_709_210_096), "2024-02-29T12:34:56.000Z");
    assert_eq!(super::super::images::utc(0), "1970-01-01T00:00:00.000Z");
    assert_eq!(super::super::images::utc(4_107_542_399), "2100-02-28T23:59:59.000Z");
    assert_eq!(super::super::images::utc(4_107_542_400), "2100-03-01T00:00:00.000Z");
}

#[test]
fn only_the_owner_has_them_and_only_in_that_architecture() {
    let lab = Lab::new();
    for owner in ["self", "amazon", "210987654321"] {
        assert_eq!(named(&lab, owner, "*", "x86_64"), []);
    }
    assert_eq!(named(&lab, CATALOGUE_OWNER, "*", "riscv64"), []);
    assert_eq!(named(&lab, CATALOGUE_OWNER, "capa-ami-ubuntu-24.04-?1.27.0-*", "x86_64"), []);
}

#[test]
fn images_of_the_account_are_found_if_available() {
    let lab = Lab::new();
    lab.sandbox.edit(|world| {
        let own = |id: &str, owner: &str, state: &str| OwnedImage {
            owner: owner.to_owned(),
            image: Image {
                id: id.to_owned(),
                name: "mine-1.31.4".to_owned(),
                state: state.to_owned(),
                architecture: "x86_64".to_owned(),
                ..Image::default()
            },
        };
        world.images = vec![
            own("ami-01", "210987654321", "available"),
            own("ami-02", "210987654321", "pending"),
            own("ami-03", "111111111111", "available"),
        ];
    });
    for owner in ["self", "210987654321"] {
        let found = named(&lab, owner, "mine-*", "x86_64");
        assert_eq!(found.iter().map(|i| i.id.as_str()).collect::<Vec<_>>(), ["ami-01"]);
    }
    assert_eq!(by_id(&lab, "ami-02").unwrap()[0].state, "pending");
}

#[test]
fn an_unknown_or_deregistered_id_is_not_found() {
    let lab = Lab::new();
    let image = named(&lab, CATALOGUE_OWNER, "*-v1.31.4-*", "x86_64").remove(0);
    lab.sandbox.edit(|world| world.deregistered.insert(image.id.clone()));
    for id in [image.id.as_str(), "ami-0dead", "ami-0123456789abcdef0"] {
        let error = by_id(&lab, id).unwrap_err();
        assert_eq!((error.kind, error.code.as_str()), (ErrorKind::NotFound, "InvalidAMIID.NotFound"));
    }
    assert_eq!(named(&lab, CATALOGUE_OWNER, "*-v1.31.4-*", "x86_64"), []);
    for id in ["ami-", "ami-xyz", "image"] {
        assert_eq!(by_id(&lab, id).unwrap_err().code, "InvalidAMIID.Malformed");
    }
}

#[test]
fn wildcards_are_those_of_ec2() {
    use super::super::images::matches;
    for (pattern, text, expected) in [
        ("prod", "prod", true),
        ("prod", "prods", false),
        ("prod?", "prod", true),
        ("prod?", "prods", true),
        ("prod?", "prodss", false),
        ("prod*", "production", true),
        ("*", "", true),
        ("*od*c*", "production", true),
        ("a.c", "abc", false),
        (r"\*a\?", "*a?", true),
        (r"\*a\?", "xay", false),
        ("Prod", "prod", false),
    ] {
        assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
    }
}
