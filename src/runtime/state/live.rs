//! What exists of a pool, as far as a state records it.

use super::facts::Facts;
use crate::{
    contract::request::Tags,
    model::{
        desired::Desired,
        names::{POLICY, RollKey},
        observed::{Group, Object, Observed, Template},
        ownership, records,
        target::{self, pool_templates},
    },
};

/// What exists of a pool: one entry in the state per `Some`. The bootstrap data is no part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// The region of all of it.
    pub region: String,
    /// Bucket and key of the bootstrap object.
    pub object: Option<(String, String)>,
    /// Id and name of the current launch template.
    pub template: Option<(String, String)>,
    /// Name and ARN of the Auto Scaling group.
    pub group: Option<(String, String)>,
    /// Name of the scaling policy; it never exists without the group.
    pub policy: Option<String>,
    /// What the current launch template was made for.
    pub key: Option<RollKey>,
    /// The zones recorded at the first apply.
    pub zones: Option<Vec<String>>,
}

impl Live {
    /// What is there after an apply, complete or not. `known` is what the state before it said: the
    /// records of a pool whose tags do not hold them yet.
    pub fn of(desired: &Desired, observed: &Observed, region: &str, known: &Facts) -> Self {
        let group = observed.group.as_ref().filter(|g| !g.deleting && is_ours(desired, g));
        let template = current_template(desired, observed, group);
        let tags = |id: &str| observed.templates.iter().find(|t| t.id == id).map(|t| &t.tags);
        let is_there = |object: &Object| match object {
            Object::Present { tags, .. } => ownership::is_ours(&desired.identity, tags),
            Object::Missing => false,
        };
        Self {
            region: region.to_owned(),
            object: is_there(&observed.object)
                .then(|| (desired.object.bucket.clone(), desired.object.key.clone())),
            group: group.map(|g| (g.name.clone(), g.arn.clone())),
            policy: group
                .and_then(|_| observed.policies.iter().find(|p| p.name == POLICY))
                .map(|p| p.name.clone()),
            key: template.as_ref().map(|(id, name)| key(desired, name, tags(id), known)),
            zones: zones(group, template.as_ref().and_then(|(id, _)| tags(id)), known),
            template,
        }
    }

    /// Whether AWS itself holds any record of the pool, its zones or what its template was made for. Until it
    /// does, a group that Terraform made is described by the state alone.
    pub fn is_recorded(desired: &Desired, observed: &Observed) -> bool {
        let Some(group) = &observed.group else { return true };
        let template = current_template(desired, observed, Some(group));
        let tags =
            template.and_then(|(id, _)| observed.templates.iter().find(|t| t.id == id)).map(|t| &t.tags);
        group.tags.contains_key(records::ZONES)
            || tags.is_some_and(|tags| tags.contains_key(records::ZONES) || records::has_key(tags))
    }
}

fn is_ours(desired: &Desired, group: &Group) -> bool {
    ownership::is_ours(&desired.identity, &group.tags())
}

/// Id and name of the template that the group launches from, else of the one that it would.
fn current_template(
    desired: &Desired,
    observed: &Observed,
    group: Option<&Group>,
) -> Option<(String, String)> {
    if let Some(used) = group.and_then(target::current_use) {
        return Some((used.id.clone(), used.name.clone()));
    }
    let pool = pool_templates(desired, observed);
    let wanted = pool.iter().find(|t| t.name == desired.template.name).or_else(|| pool.first());
    wanted.map(|t: &&Template| (t.id.clone(), t.name.clone()))
}

/// The name decides where it is one of ours, then the record in the tags. A version that the tags hold
/// as a digest only is found among those known.
fn key(desired: &Desired, name: &str, tags: Option<&Tags>, known: &Facts) -> RollKey {
    let candidates = || [Some(&desired.key), known.key.as_ref()].into_iter().flatten();
    if let Some(named) = candidates().find(|key| desired.names.template(key) == name) {
        return named.clone();
    }
    let Some(tags) = tags.filter(|tags| records::has_key(tags)) else {
        return known.key.clone().unwrap_or_else(|| desired.key.clone());
    };
    if let Some(recorded) = candidates().find(|key| records::holds_key(tags, key)) {
        return recorded.clone();
    }
    let held = |tag: &str| tags.get(tag).filter(|text| !text.is_empty()).cloned();
    RollKey { kubernetes_version: held(records::VERSION), machine_image_id: held(records::IMAGE) }
}

fn zones(group: Option<&Group>, template: Option<&Tags>, known: &Facts) -> Option<Vec<String>> {
    let tag = group
        .and_then(|g| g.tags.get(records::ZONES))
        .map(|tag| tag.value.as_str())
        .or_else(|| template.and_then(|tags| tags.get(records::ZONES)).map(String::as_str))
        .filter(|record| !record.is_empty());
    match tag {
        Some(record) => Some(record.split('/').map(str::to_owned).collect()),
        None if group.is_some() || template.is_some() => known.zones.clone(),
        None => None,
    }
}
