//! Where a group's members are: who comes next, who goes next, and who is in the wrong place. Each is told from one
//! look at the account, however many come or go.

use std::collections::BTreeMap;

use super::{
    launching::Reason,
    world::{StoredGroup, StoredInstance, World},
};
use crate::{clock::Timestamp, model::observed::TemplateUse};

/// One in so many members is in two places at once while a group moves them, but one in any case. Source: "Rebalancing
/// activities" in the Auto Scaling user guide.
const MOVED_AT_ONCE: u32 = 10;

/// How many active members are in each zone and subnet.
#[derive(Debug, Default)]
pub(super) struct Spread {
    in_zone: BTreeMap<String, usize>,
    in_subnet: BTreeMap<String, usize>,
}

impl Spread {
    /// Counts one more.
    fn add(&mut self, zone: &str, subnet: &str) {
        increase(&mut self.in_zone, zone);
        increase(&mut self.in_subnet, subnet);
    }

    /// Takes the place for the next member in the emptiest of the group's zones: by zone first, then by subnet within
    /// it; equal ones in the order of their names.
    pub(super) fn take_emptiest(&mut self, world: &World, group: &str) -> Result<(String, String), Reason> {
        let subnets = world.groups.get(group).map(|g| g.subnets.as_slice()).unwrap_or_default();
        let known = subnets.iter().filter_map(|id| Some((id, world.subnets.get(id)?)));
        let count = |counts: &BTreeMap<String, usize>, key: &str| counts.get(key).copied().unwrap_or(0);
        let (subnet, zone) = known
            .min_by_key(|(id, zone)| (count(&self.in_zone, zone), count(&self.in_subnet, id), *zone, *id))
            .ok_or_else(|| format!("The subnet ID '{}' does not exist", subnets.join(",")))?;
        self.add(zone, subnet);
        Ok((subnet.clone(), zone.clone()))
    }
}

fn increase(counts: &mut BTreeMap<String, usize>, key: &str) {
    match counts.get_mut(key) {
        Some(count) => *count += 1,
        None => {
            counts.insert(key.to_owned(), 1);
        }
    }
}

/// Whom a scale-in takes first of those in one place: the one on another template, then the oldest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate<'a> {
    is_current: bool,
    launched: Timestamp,
    id: &'a String,
}

/// The candidates in one zone, either inside or outside of the group's subnets.
struct Queue<'a> {
    inside: bool,
    zone: &'a str,
    /// The first to go is the last.
    candidates: Vec<Candidate<'a>>,
}

impl World {
    pub(super) fn spread(&self, group: &str) -> Spread {
        let mut spread = Spread::default();
        for (_, instance) in self.active(group) {
            spread.add(&instance.zone, &instance.subnet);
        }
        spread
    }

    fn active<'a>(&'a self, group: &'a str) -> impl Iterator<Item = (&'a String, &'a StoredInstance)> {
        self.instances.iter().filter(move |(_, i)| i.is_member_of(group) && i.is_active())
    }

    /// Whom a scale-in by `count` takes, in order: never a protected or standby member; those in subnets that the
    /// group left go first, then out of the fullest zone the one on another template, then the oldest.
    pub(super) fn scale_in_victims(&self, name: &str, count: usize) -> Vec<String> {
        let Some(group) = self.groups.get(name) else { return Vec::new() };
        let current = self.launch_template(name).and_then(|wanted| self.resolve(wanted).ok());
        let mut queues = self.queues(name, group, current.as_ref().map(|(template, _)| template));
        let mut in_zone = self.spread(name).in_zone;
        let mut victims = Vec::new();
        while victims.len() < count {
            let next = queues.iter_mut().min_by_key(|queue| {
                let fullness = in_zone.get(queue.zone).copied().unwrap_or_default();
                let first = queue.candidates.last().copied();
                (first.is_none(), queue.inside, usize::MAX - fullness, first)
            });
            let Some((zone, victim)) = next.and_then(|queue| Some((queue.zone, queue.candidates.pop()?)))
            else {
                break;
            };
            victims.push(victim.id.clone());
            if let Some(count) = in_zone.get_mut(zone) {
                *count -= 1;
            }
        }
        victims
    }

    fn queues<'a>(
        &'a self,
        name: &'a str,
        group: &StoredGroup,
        current: Option<&TemplateUse>,
    ) -> Vec<Queue<'a>> {
        let mut places: BTreeMap<(bool, &str), Vec<Candidate<'_>>> = BTreeMap::new();
        for (id, instance) in self.active(name).filter(|(_, instance)| !instance.protected) {
            let inside = group.subnets.contains(&instance.subnet);
            let is_current = instance.template.as_ref() == current;
            let candidate = Candidate { is_current, launched: instance.launched, id };
            places.entry((inside, &instance.zone)).or_default().push(candidate);
        }
        let queue = |((inside, zone), mut candidates): ((bool, &'a str), Vec<Candidate<'a>>)| {
            candidates.sort_unstable_by(|one, other| other.cmp(one));
            Queue { inside, zone, candidates }
        };
        places.into_iter().map(queue).collect()
    }

    /// How many members the group moves to another zone next: those in subnets that it left, and what makes its zones
    /// uneven, but few at a time. None if all are where they should be.
    pub(super) fn moved_next(&self, name: &str) -> u32 {
        let Some(group) = self.groups.get(name) else { return 0 };
        let zones = group.subnets.iter().filter_map(|id| self.subnets.get(id));
        let mut counts: BTreeMap<&String, usize> = zones.map(|zone| (zone, 0)).collect();
        let mut outside = 0;
        for (_, instance) in self.active(name) {
            outside += usize::from(!group.subnets.contains(&instance.subnet) && !instance.protected);
            if let Some(count) = counts.get_mut(&instance.zone) {
                *count += 1;
            }
        }
        let misplaced = match outside {
            0 if self.is_suspended(name, "AZRebalance") => 0,
            0 => uneven(counts.values().copied()),
            outside => outside,
        };
        let at_once = (group.desired / MOVED_AT_ONCE).max(1);
        u32::try_from(misplaced).unwrap_or(u32::MAX).min(at_once)
    }
}

/// How many are too many in their zones, given how many are in each.
fn uneven(counts: impl Iterator<Item = usize> + Clone) -> usize {
    let (least, most) = (counts.clone().min().unwrap_or_default(), counts.clone().max().unwrap_or_default());
    if most - least < 2 {
        return 0;
    }
    let fair = counts.clone().sum::<usize>().div_ceil(counts.clone().count());
    counts.map(|count| count.saturating_sub(fair)).sum::<usize>().max(1)
}
