//! Which image to launch: the pinned one, or the newest of a name.

use super::observed::{Image, Images};
use crate::contract::{
    ids::ImageId,
    problem::{Diagnostic, sentence},
    request::{MachineImage, Request},
};

/// Which images to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageQuery {
    /// One id.
    Id(String),
    /// By owner, name pattern (AWS wildcards `*` and `?`) and architecture; available ones only,
    /// deprecated ones included.
    Name {
        /// Account id, `self`, `amazon` or `aws-marketplace`.
        owner: String,
        /// Pattern.
        name: String,
        /// Architecture.
        architecture: String,
    },
}

/// The image that is known without a search: pinned by the inputs, else found by an earlier look-up.
fn fixed(request: &Request) -> Option<&ImageId> {
    request.machine_image.id.as_ref().or(request.looked_up_image.as_ref())
}

/// What to ask AWS for; `None` when neither an id nor a version is given.
pub fn query(request: &Request) -> Option<ImageQuery> {
    let image = &request.machine_image;
    if let Some(id) = fixed(request) {
        return Some(ImageQuery::Id(id.to_string()));
    }
    let version = request.kubernetes_version.as_deref()?;
    Some(ImageQuery::Name {
        owner: image.owner.clone(),
        name: name_pattern(image, version),
        architecture: image.architecture.clone(),
    })
}

/// The name pattern of a version: `{semver}` is the version without leading `v` and without any
/// `+suffix`, `{version}` is `v` and that. What the version itself holds is taken literally.
fn name_pattern(image: &MachineImage, version: &str) -> String {
    let literal: String = semver(version)
        .chars()
        .flat_map(|c| matches!(c, '*' | '?' | '\\').then_some('\\').into_iter().chain([c]))
        .collect();
    image.name_format.replace("{semver}", &literal).replace("{version}", &format!("v{literal}"))
}

/// A version without leading `v` and without any `+suffix`.
fn semver(version: &str) -> &str {
    let version = version.strip_prefix('v').unwrap_or(version);
    version.split('+').next().unwrap_or(version)
}

/// Whether a name that AWS found is of another version, whose digits a wildcard beside the placeholder took in:
/// `{semver}*` of 1.31.1 finds the images of 1.31.14 as well.
fn is_of_another_version(image: &MachineImage, version: &str, name: &str) -> bool {
    let version = semver(version);
    let format = &image.name_format;
    let is_wild = |c: Option<char>| matches!(c, Some('*' | '?'));
    let begins_wild = |(at, _): (usize, &str)| is_wild(format[..at].chars().next_back());
    let ends_wild =
        |(at, placeholder): (usize, &str)| is_wild(format[at + placeholder.len()..].chars().next());
    let placeholders = || format.match_indices("{semver}").chain(format.match_indices("{version}"));
    let (before, after) = (placeholders().any(begins_wild), placeholders().any(ends_wild));
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let takes_in = |at: usize| {
        (before && is_digit(name[..at].chars().next_back()))
            || (after && is_digit(name[at + version.len()..].chars().next()))
    };
    let mut found = name.match_indices(version).map(|(at, _)| takes_in(at)).peekable();
    found.peek().is_some() && found.all(|another| another)
}

/// The id of the image to launch.
pub fn choose(request: &Request, images: &Images, region: &str) -> Result<String, Diagnostic> {
    if let Some(id) = fixed(request) {
        return Ok(id.to_string());
    }
    let Some(ImageQuery::Name { owner, name, architecture }) = query(request) else {
        return Err(no_version());
    };
    let found = match images {
        Images::Found(found) => found.as_slice(),
        Images::Undescribed(_) | Images::Missing(_) | Images::NotAsked => &[],
    };
    let version = request.kubernetes_version.as_deref().unwrap_or_default();
    let (others, fitting): (Vec<_>, Vec<_>) = found
        .iter()
        .filter(|i| i.state == "available" && i.architecture == architecture)
        .partition(|i| is_of_another_version(&request.machine_image, version, &i.name));
    fitting
        .into_iter()
        .max_by(|a, b| (&a.creation_date, &a.id).cmp(&(&b.creation_date, &b.id)))
        .map(|i| i.id.clone())
        .ok_or_else(|| {
            Diagnostic::error(
                format!("No image found for Kubernetes {version}"),
                format!(
                    "Looked for an available {architecture} image named \"{name}\" of owner {owner} in \
                     {region}, and found none{}. Set machine_image.id to an AMI, or machine_image.owner, \
                     machine_image.name_format and machine_image.architecture so that they match one.",
                    others.first().map_or_else(String::new, |other| format!(
                        " but those of other versions, such as {}",
                        other.name
                    ))
                ),
            )
        })
}

/// The error for inputs that say nothing about an image.
pub fn no_version() -> Diagnostic {
    Diagnostic::error(
        "No image to launch",
        "Neither kubernetes_version nor machine_image.id is set, so no image can be looked up. Set the \
         version of the MachinePool (spec.template.spec.version), or pin an AMI with machine_image.id.",
    )
}

/// Refuses an image that is known by its id and cannot be launched, so that nothing is written for it. The one that the
/// pool launches already (`current`) is excused: a deregistered image holds up neither scaling nor a rotation.
pub fn check_launchable(
    request: &Request,
    images: &Images,
    current: Option<&str>,
    region: &str,
) -> Result<(), Diagnostic> {
    let Some(id) = fixed(request).map(ToString::to_string).filter(|id| Some(id.as_str()) != current) else {
        return Ok(());
    };
    let (summary, reason) = match images {
        Images::Missing(reason) => {
            (format!("There is no image {id} in {region}"), format!("AWS says: {reason}. "))
        }
        Images::Found(found) => match found.iter().find(|image| image.id == id) {
            Some(image) if image.state != "available" => {
                (format!("Image {id} in {region} is {}, not available", image.state), String::new())
            }
            _ => return Ok(()),
        },
        Images::Undescribed(_) | Images::NotAsked => return Ok(()),
    };
    let advice = if request.machine_image.id.is_some() {
        "Set machine_image.id to an available AMI of that region that the account may launch, or leave it out to have \
         one looked up for kubernetes_version."
    } else {
        "It was there when the plan was saved. Plan again."
    };
    Err(Diagnostic::error(
        summary,
        format!("{reason}No instance would launch from it, so nothing was changed. {advice}"),
    ))
}

/// What is odd about the image that is going to be launched.
pub fn warnings(request: &Request, images: &Images, chosen: &str) -> Vec<Diagnostic> {
    let image = match images {
        Images::Undescribed(reason) | Images::Missing(reason) => {
            return vec![Diagnostic::warning(
                format!("Image {chosen} could not be described"),
                format!(
                    "AWS says: {} Its root device and architecture are not checked, and if it \
                         does not exist, no instance will launch.",
                    sentence(reason)
                ),
            )];
        }
        Images::Found(found) => found.iter().find(|i| i.id == chosen),
        Images::NotAsked => None,
    };
    let Some(image) = image else { return Vec::new() };
    [root_device(request, image), volume(request, image), architecture(request, image), state(image)]
        .into_iter()
        .flatten()
        .collect()
}

fn root_device(request: &Request, image: &Image) -> Option<Diagnostic> {
    let wanted = &request.machine_image.root_device_name;
    (!image.root_device_name.is_empty() && image.root_device_name != *wanted).then(|| {
        Diagnostic::warning(
            format!("Root device of {} is {}, not {wanted}", image.id, image.root_device_name),
            format!(
                "The root volume would keep the image's size and encryption, and a second volume {wanted} \
                 would be made and paid for. Set machine_image.root_device_name to {}.",
                image.root_device_name
            ),
        )
    })
}

/// A volume cannot be smaller than the snapshot that it is made from.
fn volume(request: &Request, image: &Image) -> Option<Diagnostic> {
    let size = request.root_volume_size_gib;
    let least = image.root_volume_size_gib.filter(|least| size < *least)?;
    Some(Diagnostic::warning(
        format!("A root volume of {size} GiB is smaller than the {least} GiB of image {}", image.id),
        format!("No instance will launch. Set root_volume_size_gib to {least} or more."),
    ))
}

fn architecture(request: &Request, image: &Image) -> Option<Diagnostic> {
    let needed = family_architecture(&request.instance_type)?;
    (!image.architecture.is_empty() && image.architecture != needed).then(|| {
        Diagnostic::warning(
            format!(
                "Image {} is {}, but {} needs {needed}",
                image.id, image.architecture, request.instance_type
            ),
            "Instances of this type will not launch from this image. Choose an image or an instance type of \
             the other architecture.",
        )
    })
}

fn state(image: &Image) -> Option<Diagnostic> {
    (image.state != "available").then(|| {
        Diagnostic::warning(
            format!("Image {} is {}, not available", image.id, image.state),
            "No instance will launch from it until it is.",
        )
    })
}

/// The architecture that an instance type's family plainly has; `None` where the name does not tell.
/// Source: the instance type naming conventions of Amazon EC2: a `g` right after the generation means
/// Graviton, and `a1` is the first Graviton family.
pub fn family_architecture(instance_type: &str) -> Option<&'static str> {
    let family = instance_type.split('.').next()?;
    // Macs have either; a Grace processor beside its graphics processors (`p6e-gb200`) is an Arm one.
    if family.starts_with("mac") || family.contains("-gb") {
        return None;
    }
    let after_series = family.trim_start_matches(|c: char| c.is_ascii_lowercase());
    let options = after_series.trim_start_matches(|c: char| c.is_ascii_digit());
    if after_series.is_empty() || after_series == options {
        return None;
    }
    Some(if family == "a1" || options.starts_with('g') { "arm64" } else { "x86_64" })
}

#[cfg(test)]
mod tests {
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
        for word in
            ["capa-ami-ubuntu-24.04-?1.34.1-*", "819546954734", "x86_64", "us-east-1", "machine_image.id"]
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
            assert_eq!(
                refused(&crate::model::testing::request(|_| {}), None),
                None,
                "that is searched by name"
            );
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
}
