//! What this program itself reads from a state: the records of a pool that Terraform made, and where it
//! lies.

use super::{State, document};
use crate::{
    contract::{
        ids::{BucketName, Region},
        json::Json,
    },
    model::{names::RollKey, plan::Address},
};

/// The module that the generated root calls; all resources of a pool are in it.
pub(super) const MODULE: &str = "module.role";

/// What a state says about a pool. All of it may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The zones recorded at the pool's first apply, in the order of the record; never empty.
    pub zones: Option<Vec<String>>,
    /// What the pool's current launch template was made for.
    pub key: Option<RollKey>,
    /// The region of its resources.
    pub region: Option<Region>,
    /// Where the bootstrap object lies.
    pub bucket: Option<BucketName>,
}

/// Reads what there is; what is absent or has another form than Terraform gives it is left out.
pub fn facts(state: &State) -> Facts {
    Facts { zones: zones(state), key: key(state), region: region(state), bucket: bucket(state) }
}

/// The entry of one of the pool's resources.
pub(super) fn resource(state: &State, address: Address) -> Option<&Json> {
    state.resources.iter().find(|entry| is_of(entry, address))
}

/// Which of the pool's resources an entry is of, if any.
pub(super) fn address(entry: &Json) -> Option<Address> {
    Address::ALL.into_iter().find(|address| is_of(entry, *address))
}

fn is_of(entry: &Json, address: Address) -> bool {
    let (kind, name, _) = parts(address);
    [("module", MODULE), ("mode", "managed"), ("type", kind), ("name", name)]
        .iter()
        .all(|(member, wanted)| document::text_of(entry, member) == Some(wanted))
}

/// The attributes of the one live object of a resource; deposed ones wait for their deletion only.
pub(super) fn attributes(state: &State, address: Address) -> Option<&Json> {
    document::items(resource(state, address)?.get("instances"))
        .iter()
        .find(|instance| instance.get("deposed").is_none())?
        .get("attributes")
}

/// Type, name, and whether the resource is counted.
pub(super) fn parts(address: Address) -> (&'static str, &'static str, bool) {
    let whole = address.as_str();
    let (config, counted) = whole.strip_suffix("[0]").map_or((whole, false), |config| (config, true));
    let local = config.strip_prefix(MODULE).and_then(|rest| rest.strip_prefix('.')).unwrap_or(config);
    let (kind, name) = local.split_once('.').unwrap_or((local, ""));
    (kind, name, counted)
}

fn zones(state: &State) -> Option<Vec<String>> {
    let record = attributes(state, Address::InheritedZones)?;
    let listed = |member: &str| -> Option<Vec<String>> {
        let zones = document::items(record.get(member)?.get("value"));
        let zones: Option<Vec<String>> = zones.iter().map(|z| document::text(z).map(str::to_owned)).collect();
        zones.filter(|zones| !zones.is_empty() && zones.iter().all(|zone| !zone.is_empty()))
    };
    listed("input").or_else(|| listed("output"))
}

fn key(state: &State) -> Option<RollKey> {
    let record = attributes(state, Address::VersionRoll)?.get("triggers_replace")?.get("value")?;
    let part = |name: &str| match record.get(name)? {
        Json::Null => Some(None),
        Json::String(text) => Some(Some(text.clone()).filter(|text| !text.is_empty())),
        _ => None,
    };
    Some(RollKey {
        kubernetes_version: part("kubernetes_version")?,
        machine_image_id: part("machine_image_id")?,
    })
}

/// The provider has written `region` since its release 6; ARNs (`arn:aws:autoscaling:REGION:...`) have
/// always named it.
fn region(state: &State) -> Option<Region> {
    const REGIONAL: [Address; 4] = [Address::Group, Address::Template, Address::Object, Address::Policy];
    let found = |read: &dyn Fn(&Json) -> Option<Region>| {
        REGIONAL.iter().find_map(|address| attributes(state, *address).and_then(read))
    };
    found(&|attributes| document::text_of(attributes, "region")?.parse().ok()).or_else(|| {
        found(&|attributes| document::text_of(attributes, "arn")?.split(':').nth(3)?.parse().ok())
    })
}

fn bucket(state: &State) -> Option<BucketName> {
    document::text_of(attributes(state, Address::Object)?, "bucket")?.parse().ok()
}
