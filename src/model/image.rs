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
/// pool launches already and goes on with (`current`) is excused: a deregistered image holds up neither scaling nor a
/// rotation. It does hold up a roll, whose replacements could not be launched.
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
#[path = "image_tests.rs"]
mod tests;
