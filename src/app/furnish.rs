//! What a sandbox needs so that the inputs find in it what they speak of. Nobody can make a subnet in a
//! sandbox by hand, so whatever the inputs name is there, whenever they begin to name it.

use sha2::{Digest, Sha256};

use super::account::Place;
use crate::{
    cloud::{
        ImageQuery,
        sandbox::{OwnedImage, Seed, World},
    },
    contract::{
        ids::{Malformed, Region},
        request::Request,
    },
    error::{Failure, Kind},
    model::{image, observed::Image},
    view::text,
};

/// The variables that name a region where the inputs do not, as the AWS SDK looks at them.
const REGION_VARIABLES: [&str; 2] = ["AWS_REGION", "AWS_DEFAULT_REGION"];

/// When an image was made that only the inputs speak of: before all others, so that it wins only alone.
const LONG_AGO: &str = "2020-01-01T00:00:00.000Z";

/// A new account in `region`; [`supply`] puts things into it.
pub(super) fn seed(region: &Region) -> Seed {
    Seed { region: region.to_string(), ..Seed::default() }
}

/// The region of the inputs, else of the environment, as `variable` answers for it. Without one, or
/// with one that is none, there is no sandbox where there would be no AWS.
pub(super) fn region(place: Place<'_>, variable: impl Fn(&str) -> Option<String>) -> Result<Region, Failure> {
    if let Some(region) = &place.scope().region {
        return Ok(region.clone());
    }
    let set = |name| variable(name).filter(|value| !value.is_empty()).map(|value| (name, value));
    let Some((name, value)) = REGION_VARIABLES.into_iter().find_map(set) else {
        return Err(Failure::new(
            Kind::Usage,
            "No region is known",
            "The cluster's exports give none, and AWS_REGION is not set. Set AWS_REGION; a sandbox has a region, \
             too.",
        ));
    };
    value.parse().map_err(|Malformed(wanted)| {
        let detail = format!("{name} is \"{}\", but must be {wanted}.", text::line(&value));
        Failure::new(Kind::Usage, format!("{name} names no region"), detail)
    })
}

/// Adds what the inputs speak of and the account has not; whether there was anything to add. What the
/// account's file says to be missing stays so.
pub(super) fn supply(world: &mut World, place: Place<'_>) -> bool {
    let before = size(world);
    if let Some(bucket) = place.scope().bucket.as_ref().filter(|name| is_wanted(world, name.as_str())) {
        world.buckets.entry(bucket.to_string()).or_default();
    }
    if let Place::Request(request) | Place::Checkup(request) = place {
        supply_request(world, request);
    }
    size(world) != before
}

fn is_wanted(world: &World, name: &str) -> bool {
    !world.surroundings.missing.contains(name)
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
    let missing = world.surroundings.missing.clone();
    let wanted = |name: &String| !missing.contains(name);
    for (zone, subnet) in
        exports.failure_domains.iter().filter(|(_, subnet)| !missing.contains(subnet.as_str()))
    {
        world.subnets.entry(subnet.to_string()).or_insert_with(|| zone.clone());
    }
    let groups = exports.worker_security_groups.iter().chain(&request.additional_security_group_ids);
    world.security_groups.extend(groups.map(ToString::to_string).filter(wanted));
    world.instance_profiles.extend(Some(exports.worker_instance_profile.clone()).filter(wanted));
    world.key_pairs.extend(request.ssh_key_name.clone().filter(wanted));
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
        root_volume_size_gib: None,
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
    fn a_region_comes_from_the_inputs_else_from_the_environment_and_is_one() {
        let found = |place, first: &str, second: &str| {
            let variable = |name: &str| Some(if name == "AWS_REGION" { first } else { second }.to_owned());
            region(place, variable).map(|region| region.to_string())
        };
        let told = Scope::parse(&inputs(&[])).unwrap();
        assert_eq!(found(Place::Scope(&told), "nonsense", "nonsense").unwrap(), "us-east-1");
        let untold = Scope { region: None, ..told.clone() };
        let place = Place::Scope(&untold);
        assert_eq!(found(place, "eu-west-1", "us-west-2").unwrap(), "eu-west-1");
        assert_eq!(found(place, "", "us-west-2").unwrap(), "us-west-2");
        for wrong in ["nonsense", "us-east-1a", "US-EAST-1", "us-east-1\n"] {
            let failure = found(place, wrong, "us-west-2").unwrap_err();
            assert!(failure.diagnostics[0].detail.starts_with("AWS_REGION is \""), "{failure:?}");
            assert!(!failure.diagnostics[0].detail.contains('\n'), "{failure:?}");
        }
        assert_eq!(found(place, "", "").unwrap_err().diagnostics[0].summary, "No region is known");
        assert!(region(place, |_| None).is_err());
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
