//! What of an account must be equal after two different ways to the same place.

use std::collections::BTreeMap;

use machinepool::{
    cloud::sandbox::{StoredObject, StoredTemplate, World},
    model::{
        observed::{GroupTag, Launch},
        resources::TemplateData,
    },
};
use serde_json::Value;
use similar::TextDiff;

use super::lab::GROUP;

/// The key of the pool's object.
const KEY: &str = "pool/demo-pool-0";
/// Templates under the pool's names that are not the pool's.
const STRANGERS: [&str; 3] = ["lt-other", "lt-foreign", "lt-untagged"];
/// The record that names a refresh.
const ROLL: &str = "machinepool.captf.io/roll";

/// The pool's settings, without ids, times and history.
#[derive(Debug, PartialEq)]
pub(crate) struct Settings {
    group: Option<Group>,
    templates: BTreeMap<String, Template>,
    objects: Vec<StoredObject>,
}

#[derive(Debug, PartialEq)]
struct Group {
    bounds: (u32, u32, u32),
    launch: (String, String),
    subnets: Vec<String>,
    health_check_type: String,
    capacity_rebalance: bool,
    suspended: Vec<String>,
    tags: BTreeMap<String, GroupTag>,
    policies: String,
}

#[derive(Debug, PartialEq)]
struct Template {
    latest_is_default: bool,
    latest: TemplateData,
    tags: BTreeMap<String, String>,
}

/// How many members there are, what they run, and how many were ever launched.
#[derive(Debug, PartialEq)]
pub(crate) struct Members {
    pub(crate) runs: BTreeMap<(String, u64), usize>,
    pub(crate) launches: usize,
}

/// Templates that are the pool's, by name and owner.
pub(crate) fn templates(world: &World) -> impl Iterator<Item = (&String, &StoredTemplate)> {
    world.templates.iter().filter(|(id, t)| t.name.starts_with(GROUP) && !STRANGERS.contains(&id.as_str()))
}

impl Settings {
    pub(crate) fn of(world: &World) -> Self {
        let group = world.groups.get(GROUP).map(|group| Group {
            bounds: (group.min, group.max, group.desired),
            launch: match &group.launch {
                Launch::Template(used) => (used.name.clone(), used.version.clone()),
                other => (format!("{other:?}"), String::new()),
            },
            subnets: group.subnets.clone(),
            health_check_type: group.health_check_type.clone(),
            capacity_rebalance: group.capacity_rebalance,
            suspended: group.suspended.iter().cloned().collect(),
            tags: group.tags.iter().map(|(key, tag)| (key.clone(), without_refresh(key, tag))).collect(),
            policies: format!("{:?}", group.policies),
        });
        let template = |template: &StoredTemplate| Template {
            latest_is_default: template.default_version == template.latest_version(),
            latest: template.versions[&template.latest_version()].data.clone(),
            tags: template.tags.clone(),
        };
        Self {
            group,
            templates: templates(world).map(|(_, t)| (t.name.clone(), template(t))).collect(),
            objects: world.buckets.values().filter_map(|objects| objects.get(KEY)).cloned().collect(),
        }
    }

    /// Nothing at all.
    pub(crate) fn none() -> Self {
        Self { group: None, templates: BTreeMap::new(), objects: Vec::new() }
    }

    /// The capacity is somebody else's business, and the zones are those of the first apply.
    pub(crate) fn without_history(mut self) -> Self {
        const ZONES: &str = "machinepool.captf.io/inherited-zones";
        if let Some(group) = &mut self.group {
            group.tags.remove(ZONES);
            group.subnets.clear();
        }
        for template in self.templates.values_mut() {
            template.tags.remove(ZONES);
        }
        self
    }

    /// The desired capacity where something else sets it.
    pub(crate) fn without_desired(mut self) -> Self {
        if let Some(group) = &mut self.group {
            group.bounds.2 = 0;
        }
        self
    }
}

/// The mark names the refresh that was the newest, which depends on the way.
fn without_refresh(key: &str, tag: &GroupTag) -> GroupTag {
    let mut tag = tag.clone();
    if key == ROLL {
        tag.value = tag.value.split('/').next().unwrap_or_default().to_owned();
    }
    tag
}

impl Members {
    pub(crate) fn total(&self) -> usize {
        self.runs.values().sum()
    }

    /// How many run each template, in whatever version.
    pub(crate) fn templates(&self) -> BTreeMap<&str, usize> {
        self.runs.iter().fold(BTreeMap::new(), |mut counts, ((name, _), count)| {
            *counts.entry(name.as_str()).or_default() += count;
            counts
        })
    }

    pub(crate) fn of(world: &World) -> Self {
        let mut runs = BTreeMap::new();
        for member in world.instances.values().filter(|i| i.is_member_of(GROUP)) {
            let used = member.template.clone().unwrap_or_default();
            *runs.entry((used.name, used.version.parse().unwrap_or_default())).or_default() += 1;
        }
        let launched = |text: &str| text.starts_with("Launching a new EC2 instance: ");
        let activities = world.groups.get(GROUP).into_iter().flat_map(|group| &group.activities);
        Self { runs, launches: activities.filter(|a| launched(&a.description)).count() }
    }
}

/// Everything in the account that is not the pool's, but for its history.
pub(crate) fn strangers(world: &World) -> Value {
    let mut world = world.clone();
    world.groups.remove(GROUP);
    for group in world.groups.values_mut() {
        (group.due, group.moving) = (None, 0);
    }
    let ours: Vec<String> = templates(&world).map(|(id, _)| id.clone()).collect();
    world.templates.retain(|id, _| !ours.contains(id));
    world.instances.retain(|_, i| i.group.as_deref() != Some(GROUP));
    for objects in world.buckets.values_mut() {
        objects.remove(KEY);
    }
    (world.ids, world.echoes, world.lag) =
        (0, machinepool::cloud::sandbox::Echoes::default(), machinepool::cloud::sandbox::Lag::default());
    serde_json::to_value(world).unwrap()
}

/// Panics with the lines that differ.
pub(crate) fn assert_same<T: std::fmt::Debug + PartialEq>(wanted: &T, found: &T, about: &str) {
    if wanted != found {
        let (wanted, found) = (format!("{wanted:#?}"), format!("{found:#?}"));
        let diff = TextDiff::from_lines(&wanted, &found);
        panic!("{about}: wanted (-), found (+)\n{}", diff.unified_diff());
    }
}
