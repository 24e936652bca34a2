//! What a check-up asks of the account: plausible answers, each of which the file can change.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{fault::Fault, world::World};
use crate::model::{
    checkup::{
        Caller, InstanceProfile, InstanceType, Limits, Question, Rehearsal, Reply, SecurityGroup, Subnet,
    },
    image::family_architecture,
};

/// The VPC of everything that is in no other.
const VPC: &str = "vpc-0a1b2c3d4e5f60718";

/// Addresses of a /20 less the five that AWS keeps.
const ADDRESSES: u32 = 4091;

/// The default quota of Auto Scaling groups in a region.
const MAX_GROUPS: u32 = 500;

/// A quota of vCPUs that a used account has.
const VCPUS: f64 = 1000.0;

/// What differs from an account in which all is well.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Surroundings {
    /// Ids and names of what is not there although inputs name it: subnets, security groups, instance
    /// profiles, key pairs, buckets, roles, instance types.
    pub missing: BTreeSet<String>,
    /// Calls that are denied, in IAM's spelling: `ec2:DescribeSubnets`.
    pub denied: BTreeSet<String>,
    /// Subnet or security group id -> VPC id, where it is not the common one.
    pub vpcs: BTreeMap<String, String>,
    /// Subnet id -> free addresses, where there are not plenty.
    pub free_addresses: BTreeMap<String, u32>,
    /// Instance type -> zones that do not have it.
    pub not_offered: BTreeMap<String, BTreeSet<String>>,
    /// Instance types by name, where the name does not tell.
    pub instance_types: BTreeMap<String, InstanceType>,
    /// Names of instance profiles without a role in them.
    pub profiles_without_role: BTreeSet<String>,
    /// Quotas of EC2 by code.
    pub quotas: BTreeMap<String, f64>,
    /// How many Auto Scaling groups there may be; null is AWS's default.
    pub max_groups: Option<u32>,
}

/// Sizes of instances in vCPUs, as most families have them.
fn vcpus(kind: &str) -> u32 {
    let size = kind.split_once('.').map_or("", |(_, size)| size);
    match size {
        "medium" => 1,
        "xlarge" => 4,
        "metal" => 96,
        _ => {
            size.strip_suffix("xlarge").and_then(|n| n.parse::<u32>().ok()).map_or(2, |n| n.saturating_mul(4))
        }
    }
}

impl World {
    pub(super) fn check_permission(&self, call: &str) -> Result<(), Fault> {
        if self.surroundings.denied.contains(call) {
            let message = format!("User: {} is not authorized to perform: {call}", self.caller().arn);
            return Err(Fault::new("AccessDenied", message));
        }
        Ok(())
    }

    fn caller(&self) -> Caller {
        let account = &self.account;
        Caller { account: account.clone(), arn: format!("arn:aws:iam::{account}:user/sandbox") }
    }

    pub(super) fn answer(&self, question: &Question) -> Result<Reply, Fault> {
        let around = &self.surroundings;
        let there = |name: &String| !around.missing.contains(name);
        Ok(match question {
            Question::Caller => Reply::Caller(self.caller()),
            Question::Subnets(ids) => {
                Reply::Subnets(ids.iter().filter(|id| there(id)).filter_map(|id| self.subnet(id)).collect())
            }
            Question::SecurityGroups(ids) => {
                let known = ids.iter().filter(|id| there(id) && self.security_groups.contains(*id));
                Reply::SecurityGroups(
                    known.map(|id| SecurityGroup { id: id.clone(), vpc: self.vpc(id) }).collect(),
                )
            }
            Question::KeyPair(name) => Reply::There(there(name) && self.key_pairs.contains(name)),
            Question::Role(name) => Reply::There(there(name)),
            Question::InstanceType(name) => {
                Reply::InstanceType(there(name).then(|| self.instance_type(name)))
            }
            Question::Offerings(name) => Reply::Zones(self.zones_with(name)),
            Question::InstanceProfile(name) => {
                let known = there(name) && self.instance_profiles.contains(name);
                Reply::InstanceProfile(known.then(|| self.instance_profile(name)))
            }
            Question::Quota(code) => Reply::Quota(Some(around.quotas.get(code).copied().unwrap_or(VCPUS))),
            Question::Limits => Reply::Limits(Limits {
                max_groups: around.max_groups.unwrap_or(MAX_GROUPS),
                groups: u32::try_from(self.groups.len()).unwrap_or(u32::MAX),
            }),
            Question::Rehearsal(rehearsal) => self.rehearse(rehearsal).map(|()| Reply::Allowed)?,
        })
    }

    fn subnet(&self, id: &str) -> Option<Subnet> {
        let zone = self.subnets.get(id)?.clone();
        let used =
            self.instances.values().filter(|one| one.subnet == id && one.state != "terminated").count();
        let plenty = ADDRESSES.saturating_sub(u32::try_from(used).unwrap_or(u32::MAX));
        let free_addresses = self.surroundings.free_addresses.get(id).copied().unwrap_or(plenty);
        Some(Subnet { id: id.to_owned(), zone, vpc: self.vpc(id), free_addresses })
    }

    fn vpc(&self, id: &str) -> String {
        self.surroundings.vpcs.get(id).cloned().unwrap_or_else(|| VPC.to_owned())
    }

    fn instance_type(&self, name: &str) -> InstanceType {
        self.surroundings.instance_types.get(name).cloned().unwrap_or_else(|| InstanceType {
            architectures: family_architecture(name).into_iter().map(str::to_owned).collect(),
            vcpus: vcpus(name),
        })
    }

    fn zones_with(&self, kind: &str) -> BTreeSet<String> {
        let around = &self.surroundings;
        if around.missing.contains(kind) {
            return BTreeSet::new();
        }
        let without = around.not_offered.get(kind);
        let has = |zone: &String| without.is_none_or(|zones| !zones.contains(zone));
        let common = ["a", "b", "c", "d", "e", "f"].map(|letter| format!("{}{letter}", self.region));
        common.into_iter().chain(self.subnets.values().cloned()).filter(has).collect()
    }

    fn instance_profile(&self, name: &str) -> InstanceProfile {
        let empty = self.surroundings.profiles_without_role.contains(name);
        InstanceProfile { roles: if empty { Vec::new() } else { vec![name.to_owned()] } }
    }

    fn rehearse(&self, rehearsal: &Rehearsal) -> Result<(), Fault> {
        match rehearsal {
            Rehearsal::NewTemplate { name, .. } => match self.template_named(name) {
                Some(_) => Err(Fault::new(
                    "InvalidLaunchTemplateName.AlreadyExistsException",
                    "Launch template name already in use.",
                )),
                None => Ok(()),
            },
            Rehearsal::NewVersion { template_id } | Rehearsal::DeleteTemplate { template_id } => self
                .templates
                .get(template_id)
                .map(|_| ())
                .ok_or_else(|| Fault::no_such_template_id(template_id)),
            Rehearsal::Launch { template_id, subnet, interface } => {
                let template =
                    self.templates.get(template_id).ok_or_else(|| Fault::no_such_template_id(template_id))?;
                let Some(version) = template.versions.get(&template.latest_version()) else { return Ok(()) };
                // In one request, EC2 takes neither a subnet of the launch beside an interface of the template nor
                // an interface beside what the template says outside of one.
                if version.data.interfaces.is_empty() != interface.is_none() {
                    return Err(Fault::new(
                        "InvalidParameterCombination",
                        "Network interfaces and an instance-level subnet ID may not be specified on the same request",
                    ));
                }
                if !self.subnets.contains_key(subnet) {
                    let message = format!("The subnet ID '{subnet}' does not exist");
                    return Err(Fault::new("InvalidSubnetID.NotFound", message));
                }
                self.check_launchable(&version.data)
                    .map_err(|reason| Fault::new("InvalidParameterValue", reason))
            }
        }
    }
}
