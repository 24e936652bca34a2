//! What the template names: image, instance type, volume, instance profile, key.

use std::collections::BTreeSet;

use super::{Check, Facts, InstanceProfile, InstanceType, Look, Trouble};
use crate::{
    contract::{problem::sentence, request::Request},
    model::{
        image::{self, family_architecture},
        observed::{Image, Images},
    },
};

pub(super) fn checks(request: &Request, facts: &Facts, spanned: Option<&BTreeSet<String>>) -> Vec<Check> {
    let mut checks = vec![profile(request, &facts.instance_profile)];
    match chosen(request, &facts.pool.images) {
        Ok((check, found)) => {
            checks.push(check);
            if let Some(image) = found {
                checks.push(root_device(request, image));
                checks.push(architecture(request, image, &facts.instance_type));
                checks.extend(volume(request, image));
            }
        }
        Err(check) => checks.push(check),
    }
    checks.push(instance_type(request, &facts.instance_type));
    checks.push(offered(request, &facts.offered, spanned));
    checks.extend(request.ssh_key_name.as_ref().map(|name| key_pair(name, &facts.key_pair)));
    checks.extend(request.root_volume_kms_key_id.as_ref().map(|arn| kms(request, arn)));
    checks
}

fn profile(request: &Request, look: &Look<Option<InstanceProfile>>) -> Check {
    const ID: &str = "instance_profile";
    let name = &request.exports.worker_instance_profile;
    match look {
        Look::Seen(Some(profile)) if profile.roles.is_empty() => {
            Check::fail(ID, format!("Instance profile {name} has no role in it"))
                .because("Instances come up without credentials and cannot fetch their bootstrap data.")
                .fix("Add the workers' role to it, or apply the cluster.")
        }
        Look::Seen(Some(profile)) => {
            Check::pass(ID, format!("Instance profile {name} exists, with role {}", profile.roles.join(", ")))
        }
        Look::Seen(None) => Check::fail(ID, format!("Instance profile {name} does not exist"))
            .because("No instance would launch.")
            .fix("Check instance_profiles.worker of the cluster's exports, and that the cluster has been applied."),
        other => Check::unseen(ID, &format!("instance profile {name}"), other),
    }
}

/// The image that an apply would launch.
fn chosen<'a>(request: &Request, look: &'a Look<Vec<Image>>) -> Result<(Check, Option<&'a Image>), Check> {
    const ID: &str = "image";
    let region = request.exports.region.as_str();
    let found = match look {
        Look::Seen(found) => found,
        Look::Failed { kind: Trouble::Missing, words, .. } if request.machine_image.id.is_some() => {
            let id = request.machine_image.id.as_ref().map_or("", |id| id.as_str());
            return Err(Check::fail(ID, format!("Image {id} does not exist in {region}"))
                .because(format!("AWS says: {}", sentence(words)))
                .fix("Set machine_image.id to an AMI of this region that is shared with this account."));
        }
        other => return Err(Check::unseen(ID, "the image", other)),
    };
    let id = image::choose(request, &Images::Found(found.clone()), region)
        .map_err(|problem| Check::fail(ID, problem.summary).because(problem.detail))?;
    let image = found.iter().find(|image| image.id == id);
    let check = match image {
        Some(image) if image.state != "available" => {
            Check::fail(ID, format!("Image {id} is {}, not available", image.state))
                .because("No instance launches from it until it is.")
                .fix("Wait for it, or set machine_image to another one.")
        }
        Some(image) if !image.name.is_empty() => Check::pass(ID, format!("Image {id}, {}", image.name)),
        _ => Check::pass(ID, format!("Image {id}")),
    };
    Ok((check, image))
}

fn root_device(request: &Request, image: &Image) -> Check {
    const ID: &str = "image.root_device";
    let wanted = &request.machine_image.root_device_name;
    if image.root_device_name.is_empty() || image.root_device_name == *wanted {
        return Check::pass(ID, format!("Its root device is {wanted}"));
    }
    Check::warning(ID, format!("Its root device is {}, not {wanted}", image.root_device_name))
        .because(format!(
            "The root volume would keep the image's size and encryption, and a second volume {wanted} would be made \
             and paid for."
        ))
        .fix(format!("Set machine_image.root_device_name to {}.", image.root_device_name))
}

fn architecture(request: &Request, image: &Image, look: &Look<Option<InstanceType>>) -> Check {
    const ID: &str = "image.architecture";
    let kind = &request.instance_type;
    let possible: Vec<&str> = match look {
        Look::Seen(Some(found)) => found.architectures.iter().map(String::as_str).collect(),
        // The name tells where the type may not be looked at.
        _ => family_architecture(kind).into_iter().collect(),
    };
    if possible.is_empty() || image.architecture.is_empty() {
        return Check::unseen(ID, "whether image and instance type go together", look);
    }
    if possible.contains(&image.architecture.as_str()) {
        return Check::pass(ID, format!("Its architecture, {}, is one of {kind}", image.architecture));
    }
    Check::fail(ID, format!("It is {}, but {kind} needs {}", image.architecture, possible.join(" or ")))
        .because("No instance of this type would launch from it.")
        .fix("Set machine_image.architecture (or machine_image.id) and instance_type to one architecture.")
}

/// Whether the volume holds the snapshot that it is made from.
fn volume(request: &Request, image: &Image) -> Option<Check> {
    const ID: &str = "volume";
    let least = image.root_volume_size_gib?;
    let (size, kind) = (request.root_volume_size_gib, &request.root_volume_type);
    if size >= least {
        return Some(Check::pass(
            ID,
            format!("A root volume of {size} GiB ({kind}) holds the image's {least}"),
        ));
    }
    let check = Check::fail(ID, format!("A root volume of {size} GiB is smaller than the image's {least}"))
        .because("No instance would launch.")
        .fix(format!("Set root_volume_size_gib to {least} or more."));
    Some(check)
}

fn instance_type(request: &Request, look: &Look<Option<InstanceType>>) -> Check {
    const ID: &str = "instance_type";
    let kind = &request.instance_type;
    match look {
        Look::Seen(Some(found)) => Check::pass(
            ID,
            format!(
                "Instance type {kind}: {} vCPUs, {}",
                found.vcpus,
                found.architectures.iter().cloned().collect::<Vec<_>>().join(" and ")
            ),
        ),
        Look::Seen(None) => {
            Check::fail(ID, format!("There is no instance type {kind} in {}", request.exports.region))
                .because("No instance would launch.")
                .fix("Set instance_type to one that the region has.")
        }
        other => Check::unseen(ID, &format!("instance type {kind}"), other),
    }
}

/// Only the zones that the pool spans count: it never takes up another one by itself.
fn offered(request: &Request, look: &Look<BTreeSet<String>>, spanned: Option<&BTreeSet<String>>) -> Check {
    const ID: &str = "instance_type.zones";
    let kind = &request.instance_type;
    let subject = format!("which zones have {kind}");
    let Look::Seen(offered) = look else {
        return Check::unseen(ID, &subject, look);
    };
    let Some(spanned) = spanned else {
        return Check::unseen(ID, &subject, &super::network::NO_ZONES);
    };
    let without: Vec<&str> = spanned.difference(offered).map(String::as_str).collect();
    if without.is_empty() {
        return Check::pass(ID, format!("{kind} is offered in each of the pool's zones"));
    }
    Check::fail(ID, format!("{kind} is not offered in {}", without.join(", ")))
        .because("Launches there fail, and the pool does not spread as asked for.")
        .fix("Set instance_type to one that each zone has, or failureDomains of the MachinePool to zones that have it.")
}

fn key_pair(name: &str, look: &Look<bool>) -> Check {
    const ID: &str = "key_pair";
    match look {
        Look::Seen(true) => Check::pass(ID, format!("Key pair {name} exists")),
        Look::Seen(false) => Check::fail(ID, format!("There is no key pair {name} in the region"))
            .because("No instance would launch.")
            .fix("Set ssh_key_name to one that exists, or leave it out."),
        other => Check::unseen(ID, &format!("key pair {name}"), other),
    }
}

/// `arn:aws:kms:<region>:<account>:key/<id>`.
fn kms(request: &Request, arn: &str) -> Check {
    const ID: &str = "kms_key";
    let region = request.exports.region.as_str();
    match arn.split(':').nth(3) {
        Some(found) if found == region => Check::pass(ID, "The KMS key lies in the region")
            .because("Whether the role AWSServiceRoleForAutoScaling may use it, only its own policy says."),
        found => {
            Check::fail(ID, format!("The KMS key lies in {}, not in {region}", found.unwrap_or("no region")))
                .because("No instance would launch.")
                .fix("Set root_volume_kms_key_id to a key of the region.")
        }
    }
}
