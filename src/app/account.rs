//! Which account a command works in: AWS, or a sandbox that has what the inputs name.

use std::{collections::BTreeSet, path::Path, rc::Rc};

use sha2::{Digest, Sha256};

use super::{
    standin::sandbox::{OwnedImage, Sandbox, SandboxClock, Seed},
    ui::Ui,
};
use crate::{
    clock::Clock,
    cloud::{Cloud, ImageQuery},
    contract::request::{Request, Scope},
    error::{Failure, Kind},
    model::{image, observed::Image},
    view,
};

/// The sandbox's region where neither inputs nor environment name one.
const SANDBOX_REGION: &str = "us-east-1";

/// When an image was made that only the inputs speak of: before all others, so that it wins only alone.
const LONG_AGO: &str = "2020-01-01T00:00:00.000Z";

/// What the inputs say about the account.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// All that plan and apply need.
    Request(&'a Request),
    /// A region and a bucket, if even those.
    Scope(&'a Scope),
}

/// An account and its time.
pub(super) struct Account {
    cloud: Box<dyn Cloud>,
    clock: Rc<dyn Clock>,
}

impl Account {
    /// Opens the sandbox in `file`, else AWS. Says so on standard error if it is a sandbox.
    pub(super) async fn open(file: Option<&Path>, place: Place<'_>, ui: &Ui) -> Result<Self, Failure> {
        match file {
            Some(file) => {
                ui.say(&view::sandbox_notice(&file.display().to_string()));
                Self::sandbox(file, &place.seed())
            }
            None => Self::aws(place).await,
        }
    }

    fn sandbox(file: &Path, seed: &Seed) -> Result<Self, Failure> {
        let clock = Rc::new(SandboxClock::new());
        let sandbox = Sandbox::open(file, seed, Rc::clone(&clock)).map_err(|error| {
            Failure::new(Kind::Local, format!("Cannot use the sandbox {}", file.display()), error.to_string())
        })?;
        Ok(Self { cloud: Box::new(sandbox), clock })
    }

    #[cfg(feature = "aws")]
    async fn aws(place: Place<'_>) -> Result<Self, Failure> {
        let region = place.scope().region.as_ref().map(crate::contract::ids::Region::as_str);
        let aws = crate::cloud::aws::Aws::connect(region)
            .await
            .map_err(|error| Failure::new(Kind::Aws, "Cannot use AWS", error.to_string()))?;
        Ok(Self { cloud: Box::new(aws), clock: Rc::new(crate::clock::SystemClock) })
    }

    #[cfg(not(feature = "aws"))]
    #[expect(clippy::unused_async, reason = "its twin with AWS awaits")]
    async fn aws(_: Place<'_>) -> Result<Self, Failure> {
        Err(Failure::new(
            Kind::Usage,
            "This build knows no AWS",
            "It was built without the feature \"aws\". Build it with cargo build --release (the feature is on by \
             default), or give --sandbox FILE to work in a simulated account.",
        ))
    }

    pub(super) fn cloud(&self) -> &dyn Cloud {
        self.cloud.as_ref()
    }

    pub(super) fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }

    /// The region that calls go to.
    pub(super) fn region(&self) -> &str {
        self.cloud.region()
    }
}

impl Place<'_> {
    fn scope(&self) -> &Scope {
        match self {
            Self::Request(request) => &request.scope,
            Self::Scope(scope) => scope,
        }
    }

    /// Everything that the inputs speak of, so that a sandbox has it.
    fn seed(&self) -> Seed {
        let scope = self.scope();
        let mut seed = Seed {
            region: scope.region.as_ref().map_or_else(region_of_environment, ToString::to_string),
            buckets: scope.bucket.iter().map(ToString::to_string).collect(),
            ..Seed::default()
        };
        if let Self::Request(request) = self {
            let exports = &request.exports;
            let groups = exports.worker_security_groups.iter().chain(&request.additional_security_group_ids);
            seed.subnets =
                exports.failure_domains.iter().map(|(zone, id)| (zone.clone(), id.to_string())).collect();
            seed.security_groups = groups.map(ToString::to_string).collect();
            seed.instance_profiles = BTreeSet::from([exports.worker_instance_profile.clone()]);
            seed.key_pairs = request.ssh_key_name.iter().cloned().collect();
            seed.images = known_image(request).into_iter().collect();
        }
        seed
    }
}

fn region_of_environment() -> String {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    set("AWS_REGION").or_else(|| set("AWS_DEFAULT_REGION")).unwrap_or_else(|| SANDBOX_REGION.to_owned())
}

/// An image that the inputs' search finds, or the one that they pin.
fn known_image(request: &Request) -> Option<OwnedImage> {
    let asked = &request.machine_image;
    let (id, name, owner) = match image::query(request)? {
        ImageQuery::Id(id) => (id.clone(), id, asked.owner.clone()),
        ImageQuery::Name { owner, name, .. } => {
            let name = name.replace('*', "sandbox").replace('?', "v");
            (image_id(&name), name, owner)
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
    Some(OwnedImage { owner, image })
}

/// An id made from the name, in the form that AWS's have.
fn image_id(name: &str) -> String {
    let hash = Sha256::digest(name);
    let number = hash.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    format!("ami-{number:017x}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::contract::inputs::Inputs;

    fn inputs(vars: &[&str]) -> Inputs {
        let mut inputs = Inputs::default();
        inputs.add_file("demo", include_bytes!("../../testdata/demo.tfvars.json")).unwrap();
        for var in vars {
            inputs.add_var(var).unwrap();
        }
        inputs
    }

    fn seed(vars: &[&str]) -> Seed {
        Place::Request(&Request::parse(&inputs(vars)).unwrap()).seed()
    }

    #[test]
    fn a_sandbox_has_all_that_the_inputs_speak_of() {
        let vars = ["additional_security_group_ids=[\"sg-0abc\"]", "ssh_key_name=ops"];
        let request = Request::parse(&inputs(&vars)).unwrap();
        let seed = seed(&vars);
        assert_eq!(seed.region, request.exports.region.as_str());
        assert_eq!(seed.subnets.len(), request.exports.failure_domains.len());
        assert!(seed.security_groups.contains("sg-0abc"));
        assert!(
            request.exports.worker_security_groups.iter().all(|g| seed.security_groups.contains(g.as_str()))
        );
        assert!(seed.instance_profiles.contains(&request.exports.worker_instance_profile));
        assert!(seed.buckets.contains(request.exports.bootstrap_bucket.as_str()));
        assert!(seed.key_pairs.contains("ops"));
    }

    #[test]
    fn the_image_is_the_one_pinned_or_one_that_the_search_finds() {
        let pinned =
            &seed(&["machine_image={\"id\": \"ami-0123abcd\", \"architecture\": \"arm64\"}"]).images[0];
        assert_eq!((pinned.image.id.as_str(), pinned.image.architecture.as_str()), ("ami-0123abcd", "arm64"));

        let own = "machine_image={\"owner\": \"self\", \"name_format\": \"flatcar-?{semver}-*\"}";
        let found = &seed(&[own, "kubernetes_version=v1.31.4+rke2r1"]).images[0];
        assert_eq!((found.owner.as_str(), found.image.name.as_str()), ("self", "flatcar-v1.31.4-sandbox"));
        assert_eq!(found.image.id.len(), "ami-".len() + 17);
    }

    #[test]
    fn a_scope_gives_a_place_only() {
        let scope = Scope::parse(&inputs(&[])).unwrap();
        let seed = Place::Scope(&scope).seed();
        assert_eq!(
            Some(seed.region.as_str()),
            scope.region.as_ref().map(crate::contract::ids::Region::as_str)
        );
        assert_eq!(seed.buckets.len(), 1);
        assert!(seed.subnets.is_empty() && seed.images.is_empty());
    }
}
