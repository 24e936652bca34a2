//! Region, subnets, addresses, security groups.

use std::collections::BTreeSet;

use super::{Check, Facts, Look, SecurityGroup, Subnet, size};
use crate::{
    contract::request::Request,
    model::{observed::Known, zones},
};

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

pub(super) fn checks(request: &Request, facts: &Facts) -> Vec<Check> {
    let mut checks = Vec::new();
    let spanned = match spanned(request, facts) {
        Ok(zones) => zones,
        Err(check) => {
            checks.push(check);
            request.exports.failure_domains.keys().cloned().collect()
        }
    };
    match &facts.subnets {
        Look::Seen(subnets) => {
            checks.push(subnets_exist(request, subnets));
            checks.push(subnets_in_zones(request, subnets));
            checks.push(addresses(request, facts, subnets, &spanned));
        }
        unseen => checks.push(Check::unseen("subnets", "the subnets", unseen)),
    }
    match &facts.security_groups {
        Look::Seen(groups) => {
            checks.push(security_groups_exist(request, groups));
            checks.push(one_vpc(facts.subnets.seen(), groups));
        }
        unseen => checks.push(Check::unseen("security_groups", "the security groups", unseen)),
    }
    checks
}

/// The zones that an apply would span.
fn spanned(request: &Request, facts: &Facts) -> Result<BTreeSet<String>, Check> {
    let group = facts.pool.group.seen().and_then(Option::as_ref);
    let templates: Vec<_> = facts.pool.templates.seen().into_iter().flatten().collect();
    let zones = zones::zones(request, group, &templates, &Known::default())
        .map_err(|problem| Check::fail("zones", problem.summary).fix(problem.detail))?;
    Ok(zones.spanned.into_iter().collect())
}

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
    if elsewhere.is_empty() {
        return Check::pass(ID, "Each subnet lies in the zone that the exports say");
    }
    Check::fail(ID, format!("Subnet {}", elsewhere.join("; subnet ")))
        .because("Instances would come up in another zone than asked for, and be reported there.")
        .fix("Correct failure_domains of the cluster's exports.")
}

/// Free addresses, also while a roll has two instances for one.
fn addresses(request: &Request, facts: &Facts, subnets: &[Subnet], spanned: &BTreeSet<String>) -> Check {
    const ID: &str = "subnets.addresses";
    let size = u64::from(size(request));
    let ids: BTreeSet<&str> = request
        .exports
        .failure_domains
        .iter()
        .filter(|(zone, _)| spanned.contains(*zone))
        .map(|(_, id)| id.as_str())
        .collect();
    let used: Vec<&Subnet> = subnets.iter().filter(|subnet| ids.contains(subnet.id.as_str())).collect();
    let members = facts.pool.instances.seen().into_iter().flatten();
    let members =
        members.filter(|member| ["pending", "running"].contains(&member.state.as_str())).count() as u64;
    let free: u64 = used.iter().map(|subnet| u64::from(subnet.free_addresses)).sum();
    let list: Vec<String> =
        used.iter().map(|subnet| format!("{} in {}", subnet.free_addresses, subnet.id)).collect();
    let list = format!("Free: {}; {} in use by the pool.", list.join(", "), members);
    let fix = "Free addresses in these subnets, or give the cluster larger ones or more zones.";
    if free + members < size {
        return Check::fail(ID, format!("Too few free addresses: {free} for a pool of {size}"))
            .because(list)
            .fix(fix);
    }
    if free + members < 2 * size {
        return Check::warning(ID, format!("Few free addresses: {free} for twice the size of {size}"))
            .because(format!("A roll launches each replacement before an old instance goes. {list}"))
            .fix(fix);
    }
    let share = (2 * size).div_ceil(used.len().max(1) as u64);
    let tight: Vec<&str> = used
        .iter()
        .filter(|subnet| u64::from(subnet.free_addresses) + members < share)
        .map(|subnet| subnet.id.as_str())
        .collect();
    if tight.is_empty() {
        return Check::pass(ID, format!("{free} free addresses, enough for twice the size of {size}"));
    }
    Check::warning(ID, format!("Few free addresses in {}", tight.join(", ")))
        .because(format!("There are enough in all, but not for an even share in each zone. {list}"))
        .fix(fix)
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
fn one_vpc(subnets: Option<&Vec<Subnet>>, groups: &[SecurityGroup]) -> Check {
    const ID: &str = "vpc";
    let subnets = subnets.into_iter().flatten().map(|subnet| (subnet.vpc.as_str(), subnet.id.as_str()));
    let placed: BTreeSet<(&str, &str)> =
        subnets.chain(groups.iter().map(|group| (group.vpc.as_str(), group.id.as_str()))).collect();
    let vpcs: BTreeSet<&str> = placed.iter().map(|(vpc, _)| *vpc).collect();
    if vpcs.len() <= 1 {
        let vpc = vpcs.first().copied().unwrap_or("one VPC");
        return Check::pass(ID, format!("Subnets and security groups lie in {vpc}"));
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
