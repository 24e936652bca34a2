//! The entries of a pool's resources, as Terraform and its AWS provider 6.67 would have them.
//!
//! They hold what identifies a resource and what would force a new one, and nothing else: the provider
//! reads the rest from AWS before it plans. What forces a new resource (from the provider's schemas):
//!
//! | resource | attributes | schema version |
//! | --- | --- | --- |
//! | `aws_s3_object` | `bucket`, `key`, `region` | 0 |
//! | `aws_launch_template` | `name`, `name_prefix`, `region` | 1 |
//! | `aws_autoscaling_group` | `name`, `name_prefix`, `initial_lifecycle_hook`, `region` | 1 |
//! | `aws_autoscaling_policy` | `name`, `autoscaling_group_name`, `region` | 0 |
//! | `terraform_data` | `triggers_replace`, with its type | 0 |
//!
//! A state whose entry has a lower schema version than the table was written by an earlier provider,
//! which would refuse a higher one: it stays. The bootstrap object's content is never recorded.

use super::{
    State, document,
    facts::{self, MODULE},
    live::Live,
    types,
};
use crate::{
    contract::json::Json,
    model::{names::RollKey, plan::Address},
};

/// The provider of `terraform_data`.
const BUILTIN: &str = "provider[\"terraform.io/builtin/terraform\"]";
/// The AWS provider under the names of the two registries.
const AWS: [&str; 2] = [
    "provider[\"registry.terraform.io/hashicorp/aws\"]",
    "provider[\"registry.opentofu.org/hashicorp/aws\"]",
];
/// Hex digits at the end of a name that the provider takes for generated (`id.UniqueIDSuffixLength`).
const GENERATED_DIGITS: usize = 26;

/// One entry of the state's `resources`.
#[derive(Clone, Debug)]
pub struct ResourceNow {
    address: Address,
    entry: Json,
}

impl ResourceNow {
    /// Which resource it is.
    pub fn address(&self) -> Address {
        self.address
    }

    pub(super) fn entry(&self) -> &Json {
        &self.entry
    }
}

/// The entries of what is there, in Terraform's order. `previous` is the state found: names of
/// providers, schema versions and ids of records come from it. `new_id` makes the UUID of a record that
/// is new, or replaced by a roll.
pub fn resources(
    live: &Live,
    previous: Option<&State>,
    mut new_id: impl FnMut() -> String,
) -> Vec<ResourceNow> {
    let region = || document::string(&live.region);
    let mut all = Vec::new();
    if let Some((name, arn)) = &live.group {
        all.push((Address::Group, group(name, arn, region())));
        if let Some(policy) = &live.policy {
            all.push((Address::Policy, policy_of(policy, name, region())));
        }
    }
    if let Some((id, name)) = &live.template {
        all.push((Address::Template, template(id, name, region())));
    }
    if let Some((bucket, key)) = &live.object {
        all.push((Address::Object, object(bucket, key, region())));
    }
    if let Some(zones) = &live.zones {
        all.push((Address::InheritedZones, zone_record(zones, previous, &mut new_id)));
    }
    if let Some(key) = &live.key {
        all.push((Address::VersionRoll, version_record(key, previous, &mut new_id)));
    }
    all.into_iter()
        .map(|(address, attributes)| ResourceNow { address, entry: entry(address, attributes, previous) })
        .collect()
}

fn entry(address: Address, attributes: Json, previous: Option<&State>) -> Json {
    let (kind, name, counted) = facts::parts(address);
    let mut instance = Vec::new();
    if counted {
        instance.push(("index_key".to_owned(), Json::Number("0".to_owned())));
    }
    instance.extend([
        ("schema_version".to_owned(), Json::Number(schema_version(address, previous).to_string())),
        ("attributes".to_owned(), attributes),
        ("sensitive_attributes".to_owned(), Json::Array(Vec::new())),
    ]);
    let mut needed: Vec<String> = dependencies(address).iter().map(|a| config_address(*a)).collect();
    needed.sort_unstable();
    if !needed.is_empty() {
        let needed = needed.into_iter().map(Json::String).collect();
        instance.push(("dependencies".to_owned(), Json::Array(needed)));
    }
    // The template replaces before it destroys, and so must what triggers its replacement.
    if matches!(address, Address::Template | Address::VersionRoll) {
        instance.push(("create_before_destroy".to_owned(), Json::Bool(true)));
    }
    document::object([
        ("module", document::string(MODULE)),
        ("mode", document::string("managed")),
        ("type", document::string(kind)),
        ("name", document::string(name)),
        ("provider", document::string(provider(address, previous))),
        ("instances", Json::Array(vec![Json::Object(instance)])),
    ])
}

/// What must outlive a resource, through all steps, as Terraform writes it.
fn dependencies(address: Address) -> &'static [Address] {
    use Address::{Group, InheritedZones, Object, Policy, Template, VersionRoll};
    match address {
        Object | VersionRoll | InheritedZones => &[],
        Template => &[VersionRoll],
        Group => &[InheritedZones, Object, Template, VersionRoll],
        Policy => &[Group, InheritedZones, Object, Template, VersionRoll],
    }
}

fn config_address(address: Address) -> String {
    let (kind, name, _) = facts::parts(address);
    format!("{MODULE}.{kind}.{name}")
}

fn schema_version(address: Address, previous: Option<&State>) -> u64 {
    let ours = match address {
        Address::Group | Address::Template => 1,
        Address::Object | Address::Policy | Address::VersionRoll | Address::InheritedZones => 0,
    };
    let found = previous
        .and_then(|state| facts::resource(state, address))
        .and_then(|resource| document::items(resource.get("instances")).first())
        .and_then(|instance| instance.get("schema_version"))
        .and_then(super::whole);
    found.map_or(ours, |found| found.min(ours))
}

/// The provider that the state found names for this resource, else for another of the same kind.
fn provider(address: Address, previous: Option<&State>) -> &str {
    let (kind, ..) = facts::parts(address);
    let of = |resource| document::text_of(resource, "provider");
    let found = previous.and_then(|state| facts::resource(state, address)).and_then(of);
    if kind == "terraform_data" {
        return found.unwrap_or(BUILTIN);
    }
    let others = || previous.iter().flat_map(|state| &state.resources).filter_map(of);
    let is_aws = |name: &&str| AWS.iter().any(|aws| name.ends_with(aws));
    found.filter(is_aws).or_else(|| others().find(is_aws)).unwrap_or(AWS[0])
}

fn object(bucket: &str, key: &str, region: Json) -> Json {
    document::object([
        ("bucket", document::string(bucket)),
        ("id", document::string(format!("{bucket}/{key}"))),
        ("key", document::string(key)),
        ("region", region),
    ])
}

fn template(id: &str, name: &str, region: Json) -> Json {
    document::object([
        ("id", document::string(id)),
        ("name", document::string(name)),
        ("name_prefix", document::string(name_prefix(name))),
        ("region", region),
    ])
}

fn group(name: &str, arn: &str, region: Json) -> Json {
    document::object([
        ("arn", document::string(arn)),
        ("id", document::string(name)),
        ("initial_lifecycle_hook", Json::Array(Vec::new())),
        ("name", document::string(name)),
        ("name_prefix", document::string(name_prefix(name))),
        ("region", region),
    ])
}

fn policy_of(name: &str, group: &str, region: Json) -> Json {
    document::object([
        ("autoscaling_group_name", document::string(group)),
        ("id", document::string(name)),
        ("name", document::string(name)),
        ("region", region),
    ])
}

/// What the provider reads back as `name_prefix`: all before 26 hex digits at the end of a name.
fn name_prefix(name: &str) -> &str {
    let generated = name.len().checked_sub(GENERATED_DIGITS).and_then(|at| name.split_at_checked(at));
    match generated {
        Some((prefix, digits)) if digits.bytes().all(|b| b.is_ascii_hexdigit()) => prefix,
        _ => "",
    }
}

fn zone_record(zones: &[String], previous: Option<&State>, new_id: &mut impl FnMut() -> String) -> Json {
    let found = previous.and_then(|state| facts::attributes(state, Address::InheritedZones));
    if previous.is_some_and(|state| facts::facts(state).zones.as_deref() == Some(zones))
        && let Some(kept) = found.filter(|record| is_complete(record))
    {
        return kept.clone();
    }
    let zones = Json::Array(zones.iter().map(document::string).collect());
    let typed = document::object([("value", zones), ("type", types::list_of_strings())]);
    record(found.and_then(id_of).unwrap_or_else(new_id), &typed, &Json::Null)
}

/// A record with another key is another one: Terraform gives it a new id when it replaces it.
fn version_record(key: &RollKey, previous: Option<&State>, new_id: &mut impl FnMut() -> String) -> Json {
    let found = previous
        .filter(|state| facts::facts(state).key.as_ref() == Some(key))
        .and_then(|state| facts::attributes(state, Address::VersionRoll));
    if let Some(kept) = found.filter(|record| is_complete(record)) {
        return kept.clone();
    }
    let kind = || document::string("string");
    let typed = document::object([
        (
            "value",
            document::object([
                ("kubernetes_version", document::optional(key.kubernetes_version.as_deref())),
                ("machine_image_id", document::optional(key.machine_image_id.as_deref())),
            ]),
        ),
        ("type", types::object([("kubernetes_version", kind()), ("machine_image_id", kind())])),
    ]);
    record(found.and_then(id_of).unwrap_or_else(new_id), &Json::Null, &typed)
}

/// Whether a record found can stay as it is, with the types that its module gave it.
fn is_complete(record: &Json) -> bool {
    id_of(record).is_some()
        && ["input", "output", "triggers_replace"].iter().all(|member| record.get(member).is_some())
}

fn id_of(attributes: &Json) -> Option<String> {
    document::text_of(attributes, "id").filter(|id| !id.is_empty()).map(str::to_owned)
}

fn record(id: String, input: &Json, triggers: &Json) -> Json {
    document::object([
        ("id", Json::String(id)),
        ("input", input.clone()),
        ("output", input.clone()),
        ("triggers_replace", triggers.clone()),
    ])
}
