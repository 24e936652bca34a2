//! What a sandbox needs so that the inputs find in it what they speak of. Nobody can make a subnet in a
//! sandbox by hand, so whatever the inputs name is there, whenever they begin to name it.

use sha2::{Digest, Sha256};

use super::account::Place;
use crate::{
    cloud::{
        ImageQuery,
        sandbox::{OwnedImage, Seed, World},
    },
    contract::request::Request,
    model::{image, observed::Image},
};

/// The region where neither inputs nor environment name one.
const REGION: &str = "us-east-1";

/// When an image was made that only the inputs speak of: before all others, so that it wins only alone.
const LONG_AGO: &str = "2020-01-01T00:00:00.000Z";

/// A new account; [`supply`] puts things into it.
pub(super) fn seed(place: Place<'_>) -> Seed {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let of_inputs = place.scope().region.as_ref().map(ToString::to_string);
    let region = of_inputs.or_else(|| set("AWS_REGION")).or_else(|| set("AWS_DEFAULT_REGION"));
    Seed { region: region.unwrap_or_else(|| REGION.to_owned()), ..Seed::default() }
}

/// Adds what the inputs speak of and the account has not; whether there was anything to add.
pub(super) fn supply(world: &mut World, place: Place<'_>) -> bool {
    let before = size(world);
    if let Some(bucket) = &place.scope().bucket {
        world.buckets.entry(bucket.to_string()).or_default();
    }
    if let Place::Request(request) = place {
        supply_request(world, request);
    }
    size(world) != before
}

/// Things are only ever added, so their number tells whether any was.
fn size(world: &World) -> usize {
    let World { buckets, subnets, security_groups, instance_profiles, key_pairs, images, .. } = world;
    [
        buckets.len(),
        subnets.len(),
        security_groups.len(),
        instance_profiles.len(),
        key_pairs.len(),
        images.len(),
    ]
    .iter()
    .sum()
}

fn supply_request(world: &mut World, request: &Request) {
    let exports = &request.exports;
    for (zone, subnet) in &exports.failure_domains {
        world.subnets.entry(subnet.to_string()).or_insert_with(|| zone.clone());
    }
    let groups = exports.worker_security_groups.iter().chain(&request.additional_security_group_ids);
    world.security_groups.extend(groups.map(ToString::to_string));
    world.instance_profiles.insert(exports.worker_instance_profile.clone());
    world.key_pairs.extend(request.ssh_key_name.clone());
    if let Some(owned) = named_image(request, &world.account) {
        let known = world.image(&owned.image.id).is_some()
            || world.images.iter().any(|other| other.image.id == owned.image.id);
        if !known {
            world.images.push(owned);
        }
    }
}

/// The image that the inputs pin, or one that their search finds.
fn named_image(request: &Request, account: &str) -> Option<OwnedImage> {
    let asked = &request.machine_image;
    let (id, name) = match image::query(request)? {
        ImageQuery::Id(id) => (id.clone(), id),
        ImageQuery::Name { name, .. } => {
            let name = name.replace('*', "sandbox").replace('?', "v");
            (image_id(&format!("{} {name} {}", asked.owner, asked.architecture)), name)
        }
    };
    let image = Image {
        id,
        name,
        state: "available".to_owned(),
        architecture: asked.architecture.clone(),
        root_device_name: asked.root_device_name.clone(),
        creation_date: LONG_AGO.to_owned(),
    };
    let owner = if asked.owner == "self" { account } else { &asked.owner };
    Some(OwnedImage { owner: owner.to_owned(), image })
}

/// An id made from what the image is, in the form that AWS's have.
fn image_id(text: &str) -> String {
    let hash = Sha256::digest(text);
    let number = hash.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    format!("ami-{number:017x}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::contract::{inputs::Inputs, request::Scope};

    fn inputs(vars: &[&str]) -> Inputs {
        let mut inputs = Inputs::default();
        inputs.add_file("demo", include_bytes!("../../testdata/demo.tfvars.json")).unwrap();
        for var in vars {
            inputs.add_var(var).unwrap();
        }
        inputs
    }

    fn request(vars: &[&str]) -> Request {
        Request::parse(&inputs(vars)).unwrap()
    }

    fn supplied(world: &mut World, vars: &[&str]) -> bool {
        supply(world, Place::Request(&request(vars)))
    }

    #[test]
    fn an_account_has_all_that_the_inputs_speak_of_and_gets_it_once() {
        let vars = ["additional_security_group_ids=[\"sg-0abc\"]", "ssh_key_name=ops"];
        let (request, mut world) = (request(&vars), World::default());
        assert!(supplied(&mut world, &vars));
        let exports = &request.exports;
        assert!(
            exports.failure_domains.iter().all(|(zone, id)| world.subnets.get(id.as_str()) == Some(zone))
        );
        assert!(exports.worker_security_groups.iter().all(|id| world.security_groups.contains(id.as_str())));
        assert!(world.security_groups.contains("sg-0abc") && world.key_pairs.contains("ops"));
        assert!(world.instance_profiles.contains(&exports.worker_instance_profile));
        assert!(world.buckets.contains_key(exports.bootstrap_bucket.as_str()));
        assert!(!supplied(&mut world, &vars));
    }

    #[test]
    fn what_the_inputs_begin_to_name_is_supplied_then() {
        let mut world = World::default();
        let scope = Scope::parse(&inputs(&[])).unwrap();
        assert!(supply(&mut world, Place::Scope(&scope)));
        assert!(world.subnets.is_empty() && world.images.is_empty());
        assert!(supplied(&mut world, &[]));
        assert!(supplied(&mut world, &["ssh_key_name=ops"]));
    }

    #[test]
    fn the_image_is_the_one_pinned_or_one_that_the_search_finds() {
        let image = |vars: &[&str]| named_image(&request(vars), "210987654321").unwrap();
        let pinned = image(&["machine_image={\"id\": \"ami-0123abcd\", \"architecture\": \"arm64\"}"]);
        assert_eq!((pinned.image.id.as_str(), pinned.image.architecture.as_str()), ("ami-0123abcd", "arm64"));

        let own = "machine_image={\"owner\": \"self\", \"name_format\": \"flatcar-?{semver}-*\"}";
        let found = image(&[own, "kubernetes_version=v1.31.4+rke2r1"]);
        assert_eq!(
            (found.owner.as_str(), found.image.name.as_str()),
            ("210987654321", "flatcar-v1.31.4-sandbox")
        );
        assert_eq!(found.image.id.len(), "ami-".len() + 17);
    }
}
