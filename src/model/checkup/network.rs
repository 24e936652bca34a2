//! Region, subnets, addresses, security groups.

use std::collections::BTreeSet;

use super::{Check, Facts, Look, PoolFacts, SecurityGroup, Subnet, size};
use crate::{
    contract::request::Request,
    model::{observed::Known, ownership, zones},
};

/// Where it cannot be said which zones the pool spans.
pub(super) const NO_ZONES: Look<()> = Look::Idle("It is not known which zones the pool spans.");

/// Zones are named after their region.
pub(super) fn region(request: &Request) -> Check {
    const ID: &str = "region";
    let region = request.exports.region.as_str();
    let foreign: Vec<&str> = request
        .exports
        .failure_domains
        .keys()
        .map(String::as_str)
        .filter(|zone| !zone.starts_with(region))
        .collect();
    if foreign.is_empty() {
        return Check::pass(ID, format!("Region {region}, as the cluster's exports say"));
    }
    let verb = if foreign.len() == 1 { "is" } else { "are" };
    Check::fail(ID, format!("Wrong region: {} {verb} not in {region}", foreign.join(", ")))
        .because("The cluster's exports name a region, and zones of another one.")
        .fix("Correct region or failure_domains of the exports.")
}

pub(super) fn checks(
    request: &Request,
    facts: &Facts,
    spanned: Result<&BTreeSet<String>, &Check>,
) -> Vec<Check> {
    let mut checks: Vec<Check> = spanned.err().cloned().into_iter().collect();
    match &facts.subnets {
        Look::Seen(subnets) => {
            checks.push(subnets_exist(request, subnets));
            checks.push(subnets_in_zones(request, subnets));
            checks.push(addresses(request, facts, subnets, spanned.ok()));
        }
        unseen => checks.push(Check::unseen("subnets", "the subnets", unseen)),
    }
    match &facts.security_groups {
        Look::Seen(groups) => {
            checks.push(security_groups_exist(request, groups));
            checks.push(one_vpc(&facts.subnets, groups));
        }
        unseen => checks.push(Check::unseen("security_groups", "the security groups", unseen)),
    }
    checks
}

/// The zones that an apply would span. What a stranger's group or template records is not the pool's.
pub(super) fn spanned(request: &Request, pool: &PoolFacts) -> Result<BTreeSet<String>, Check> {
    let identity = &request.scope.identity;
    let group = pool.group.seen().and_then(Option::as_ref).filter(|group| {
        let tags = group.tags.iter().map(|(key, tag)| (key.clone(), tag.value.clone())).collect();
        ownership::is_ours(identity, &tags)
    });
    let templates = pool.templates.seen().into_iter().flatten();
    let ours: Vec<_> = templates.filter(|template| ownership::is_ours(identity, &template.tags)).collect();
    let zones = zones::zones(request, group, &ours, &Known::default())
        .map_err(|problem| Check::fail("zones", problem.summary).fix(problem.detail))?;
    Ok(zones.spanned.into_iter().collect())
}

/// A subnet that the pool launches into.
pub fn launch_subnet(request: &Request, pool: &PoolFacts) -> Option<String> {
    let zones = spanned(request, pool).ok()?;
    zones.iter().find_map(|zone| request.exports.failure_domains.get(zone)).map(ToString::to_string)
}

const NO_SUBNETS: Look<()> = Look::Idle("None of the subnets exists.");

fn subnets_exist(request: &Request, subnets: &[Subnet]) -> Check {
    const ID: &str = "subnets";
    let domains = &request.exports.failure_domains;
    let is_there = |id: &str| subnets.iter().any(|subnet| subnet.id == id);
    let missing: Vec<String> = domains
        .iter()
        .filter(|(_, id)| !is_there(id.as_str()))
        .map(|(zone, id)| format!("{id} of {zone}"))
        .collect();
    let region = &request.exports.region;
    if missing.is_empty() {
        return Check::pass(ID, format!("The cluster's {}", exist(domains.len(), "subnet")));
    }
    let wrong_place = if missing.len() == domains.len() {
        " None of the cluster's subnets is there: wrong region or wrong account?"
    } else {
        ""
    };
    Check::fail(ID, format!("No such subnet: {}", missing.join(", ")))
        .because(format!("There is none by that id in {region} of this account.{wrong_place}"))
        .fix("Apply the cluster, so that its exports are up to date; check region and credentials.")
}

fn subnets_in_zones(request: &Request, subnets: &[Subnet]) -> Check {
    const ID: &str = "subnets.zones";
    let elsewhere: Vec<String> = request
        .exports
        .failure_domains
        .iter()
        .filter_map(|(zone, id)| Some((zone, subnets.iter().find(|subnet| subnet.id == id.as_str())?)))
        .filter(|(zone, subnet)| subnet.zone != **zone)
        .map(|(zone, subnet)| format!("{} is in {}, not in {zone}", subnet.id, subnet.zone))
        .collect();
    let seen = |id: &str| subnets.iter().any(|subnet| subnet.id == id);
    let there = request.exports.failure_domains.values().filter(|id| seen(id.as_str())).count();
    if there == 0 {
        return Check::unseen(ID, "the zones of the subnets", &NO_SUBNETS);
    }
    if elsewhere.is_empty() {
        let which = if there < request.exports.failure_domains.len() { " that exists" } else { "" };
        return Check::pass(ID, format!("Each subnet{which} lies in the zone that the exports say"));
    }
    Check::fail(ID, format!("Subnet {}", elsewhere.join("; subnet ")))
        .because("Instances would come up in another zone than asked for, and be reported there.")
        .fix("Correct failure_domains of the cluster's exports.")
}

/// Free addresses, also while a roll has two instances for one. What a member uses counts for its own zone only.
fn addresses(
    request: &Request,
    facts: &Facts,
    subnets: &[Subnet],
    spanned: Option<&BTreeSet<String>>,
) -> Check {
    const ID: &str = "subnets.addresses";
    const SUBJECT: &str = "the free addresses";
    let Some(spanned) = spanned else { return Check::unseen(ID, SUBJECT, &NO_ZONES) };
    let size = u64::from(size(request));
    let used = used(request, facts, subnets, spanned);
    if used.is_empty() {
        return Check::unseen(ID, SUBJECT, &NO_SUBNETS);
    }
    let free: u64 = used.iter().map(|(subnet, _)| u64::from(subnet.free_addresses)).sum();
    let members: u64 = used.iter().map(|(_, members)| members).sum();
    let found = if members == 0 { free.to_string() } else { format!("{free}, and {members} of the pool's,") };
    let list: Vec<String> = used
        .iter()
        .map(|(subnet, members)| {
            format!("{} in {} (the pool has {members})", subnet.free_addresses, subnet.id)
        })
        .collect();
    let list = format!("Free: {}.", list.join(", "));
    let fix = "Free addresses in these subnets, or give the cluster larger ones or more zones.";
    if free + members < size {
        return Check::fail(ID, format!("Too few free addresses: {found} for a pool of {size}"))
            .because(list)
            .fix(fix);
    }
    if free + members < 2 * size {
        return Check::warning(ID, format!("Few free addresses: {found} for twice the size of {size}"))
            .because(format!("A roll launches each replacement before an old instance goes. {list}"))
            .fix(fix);
    }
    let share = (2 * size).div_ceil(used.len() as u64);
    let tight: Vec<&str> = used
        .iter()
        .filter(|(subnet, members)| u64::from(subnet.free_addresses) + members < share)
        .map(|(subnet, _)| subnet.id.as_str())
        .collect();
    if tight.is_empty() {
        return Check::pass(ID, format!("{free} free addresses, enough for twice the size of {size}"));
    }
    Check::warning(ID, format!("Few free addresses in {}", tight.join(", ")))
        .because(format!("There are enough in all, but not for an even share in each zone. {list}"))
        .fix(fix)
}

/// The subnets of these zones that exist, each with the number of members in its zone.
fn used<'a>(
    request: &Request,
    facts: &Facts,
    subnets: &'a [Subnet],
    zones: &BTreeSet<String>,
) -> Vec<(&'a Subnet, u64)> {
    let running: Vec<&str> = facts
        .pool
        .instances
        .seen()
        .into_iter()
        .flatten()
        .filter(|member| ["pending", "running"].contains(&member.state.as_str()))
        .map(|member| member.zone.as_str())
        .collect();
    let members_in = |zone: &str| running.iter().filter(|at| **at == zone).count() as u64;
    zones
        .iter()
        .filter_map(|zone| {
            let id = request.exports.failure_domains.get(zone)?;
            let subnet = subnets.iter().find(|subnet| subnet.id == id.as_str())?;
            Some((subnet, members_in(zone)))
        })
        .collect()
}

fn security_groups_exist(request: &Request, groups: &[SecurityGroup]) -> Check {
    const ID: &str = "security_groups";
    let wanted = request.exports.worker_security_groups.iter().chain(&request.additional_security_group_ids);
    let wanted: BTreeSet<&str> = wanted.map(crate::contract::ids::SecurityGroupId::as_str).collect();
    let missing: Vec<&str> =
        wanted.iter().copied().filter(|id| !groups.iter().any(|group| group.id == *id)).collect();
    if missing.is_empty() {
        return Check::pass(ID, format!("The pool's {}", exist(wanted.len(), "security group")));
    }
    Check::fail(ID, format!("No such security group: {}", missing.join(", ")))
        .because(format!("There is none by that id in {} of this account.", request.exports.region))
        .fix("Apply the cluster, so that its exports are up to date, or correct additional_security_group_ids.")
}

/// Subnets and security groups of one launch must share a VPC.
fn one_vpc(look: &Look<Vec<Subnet>>, groups: &[SecurityGroup]) -> Check {
    const ID: &str = "vpc";
    const SUBJECT: &str = "whether subnets and security groups lie in one VPC";
    let Look::Seen(subnets) = look else { return Check::unseen(ID, SUBJECT, look) };
    if subnets.is_empty() || groups.is_empty() {
        let idle = Look::<()>::Idle("None of the subnets, or none of the security groups, exists.");
        return Check::unseen(ID, SUBJECT, &idle);
    }
    let subnets = subnets.iter().map(|subnet| (subnet.vpc.as_str(), subnet.id.as_str()));
    let placed: BTreeSet<(&str, &str)> =
        subnets.chain(groups.iter().map(|group| (group.vpc.as_str(), group.id.as_str()))).collect();
    let vpcs: BTreeSet<&str> = placed.iter().map(|(vpc, _)| *vpc).collect();
    if vpcs.len() <= 1 {
        let vpc = vpcs.first().copied().unwrap_or("one VPC");
        return Check::pass(ID, format!("All subnets and security groups that exist lie in {vpc}"));
    }
    let list: Vec<String> = vpcs
        .iter()
        .map(|vpc| {
            let ids: Vec<&str> = placed.iter().filter(|(at, _)| at == vpc).map(|(_, id)| *id).collect();
            format!("{vpc} has {}", ids.join(", "))
        })
        .collect();
    Check::fail(ID, "Subnets and security groups lie in several VPCs")
        .because(format!("{}. No instance can be launched across VPCs.", list.join("; ")))
        .fix("Take the ids of one VPC: check the cluster's exports and additional_security_group_ids.")
}

/// `subnet exists`, `3 subnets exist`.
fn exist(number: usize, noun: &str) -> String {
    if number == 1 { format!("{noun} exists") } else { format!("{number} {noun}s exist") }
}
