//! Auto Scaling groups: what is shown of them, and what may be written.

use std::collections::BTreeSet;

use super::{
    echo,
    fault::Fault,
    settling::REACTION,
    tags,
    world::{StoredGroup, World},
};
use crate::{
    clock::Timestamp,
    contract::request::Tags,
    model::{
        observed::{Activity, Group, GroupMember, GroupTag, Instance, Launch, TemplateUse},
        resources::{CreateGroup, TemplateRef, UpdateGroup},
    },
};

/// Activities that one read answers.
const ACTIVITIES: usize = 20;

const HEALTH_CHECKS: [&str; 4] = ["EC2", "ELB", "EBS", "VPC_LATTICE"];

impl World {
    pub(super) fn describe_group(&mut self, name: &str) -> Option<Group> {
        let group = echo::show(&self.groups, &mut self.echoes.groups, name)?;
        let members = self.instances.iter().filter(|(_, i)| i.is_member_of(name));
        let members = members.map(|(id, instance)| GroupMember {
            id: id.clone(),
            zone: instance.zone.clone(),
            lifecycle: instance.lifecycle.clone().unwrap_or_default(),
            health: if matches!(instance.state.as_str(), "pending" | "running") {
                "Healthy"
            } else {
                "Unhealthy"
            }
            .to_owned(),
            protected: instance.protected,
            template: instance.template.clone(),
        });
        Some(Group {
            name: name.to_owned(),
            deleting: group.deleting.is_some(),
            members: members.collect(),
            arn: group.arn,
            min: group.min,
            max: group.max,
            desired: group.desired,
            launch: group.launch,
            zones: group.subnets.iter().filter_map(|subnet| self.subnets.get(subnet).cloned()).collect(),
            subnets: group.subnets.into_iter().collect(),
            health_check_type: group.health_check_type,
            capacity_rebalance: group.capacity_rebalance,
            suspended: group.suspended,
            tags: group.tags,
            warm_pool: group.warm_pool,
            deletion_protection: group.deletion_protection.clone(),
        })
    }

    pub(super) fn describe_instances(&mut self, group: &str) -> Vec<Instance> {
        let shown = echo::show_all(&self.instances, &mut self.echoes.instances);
        let tagged = shown.into_iter().filter(|(_, i)| i.group.as_deref() == Some(group));
        tagged
            .map(|(id, i)| Instance {
                id,
                state: i.state,
                zone: i.zone,
                addresses: i.addresses,
                launched: Some(i.launched),
            })
            .collect()
    }

    /// Newest first.
    pub(super) fn describe_activities(&self, group: &str) -> Vec<Activity> {
        let activities = self.groups.get(group).map(|g| g.activities.iter().rev().take(ACTIVITIES));
        let described = activities.into_iter().flatten().map(|activity| Activity {
            start: activity.start,
            status: activity.status.clone(),
            description: activity.description.clone(),
            message: activity.message.clone(),
        });
        described.collect()
    }

    /// A group that is there and not being deleted.
    pub(super) fn changeable_group(&self, name: &str) -> Result<&StoredGroup, Fault> {
        let group = self.groups.get(name).ok_or_else(|| Fault::no_such_group(name))?;
        if group.deleting.is_some() { Err(Fault::pending_delete()) } else { Ok(group) }
    }

    /// A group that is about to change; lagging reads remember how it was.
    pub(super) fn changing_group(&mut self, name: &str) -> Result<&mut StoredGroup, Fault> {
        self.changeable_group(name)?;
        self.remember_group(name);
        self.groups.get_mut(name).ok_or_else(|| Fault::no_such_group(name))
    }

    pub(super) fn create_group(&mut self, create: &CreateGroup, now: Timestamp) -> Result<(), Fault> {
        let name = &create.name;
        if name.is_empty() || name.chars().count() > 255 || name.contains(':') {
            return Err(Fault::validation(
                "The Auto Scaling group name must be 1 to 255 characters, no colon",
            ));
        }
        if let Some(group) = self.groups.get(name) {
            let state = if group.deleting.is_some() {
                " and is pending delete.  Please wait until Autoscaling completes the deletion process \
                 before creating another group with the same name."
            } else {
                ""
            };
            return Err(Fault::new(
                "AlreadyExists",
                format!(
                    "AutoScalingGroup by this name already exists - A group with the name {name} already \
                     exists{state}"
                ),
            ));
        }
        check_capacity(create.min, create.max, create.desired)?;
        self.check_subnets(&create.subnets)?;
        tags::check_group(&create.tags, create.tags.len())?;
        let template = self.usable_template(&create.template, now)?;
        self.remember_group(name);
        let mut group = StoredGroup {
            arn: self.group_arn(name),
            min: create.min,
            max: create.max,
            desired: create.desired,
            launch: Launch::Template(template),
            subnets: create.subnets.clone(),
            health_check_type: "EC2".to_owned(),
            capacity_rebalance: create.capacity_rebalance,
            tags: group_tags(&create.tags).collect(),
            ..StoredGroup::default()
        };
        group.wake(now.plus(REACTION));
        self.groups.insert(name.clone(), group);
        Ok(())
    }

    fn group_arn(&mut self, name: &str) -> String {
        let partition = match self.region.as_str() {
            region if region.starts_with("cn-") => "aws-cn",
            region if region.starts_with("us-gov-") => "aws-us-gov",
            _ => "aws",
        };
        let uuid = self.next_uuid();
        let (region, account) = (&self.region, &self.account);
        format!(
            "arn:{partition}:autoscaling:{region}:{account}:autoScalingGroup:{uuid}:autoScalingGroupName/{name}"
        )
    }

    fn check_subnets(&self, subnets: &[String]) -> Result<(), Fault> {
        if subnets.is_empty() {
            let message = "At least one Availability Zone or VPC Subnet is required.";
            return Err(Fault::validation(message));
        }
        match subnets.iter().find(|id| !self.subnets.contains_key(*id)) {
            Some(id) => Err(Fault::validation(format!("The subnet ID '{id}' does not exist"))),
            None => Ok(()),
        }
    }

    /// The template of a request, checked as AWS checks it then: by trying what a launch would do.
    fn usable_template(&self, wanted: &TemplateRef, now: Timestamp) -> Result<TemplateUse, Fault> {
        let missing = |what: &str, which: &str| {
            Fault::template(format!(
                "The specified launch template, with template {what} {which}, does not exist."
            ))
        };
        let (id, stored) = match wanted {
            TemplateRef::Id(id) => self.templates.get_key_value(id).ok_or_else(|| missing("ID", id))?,
            TemplateRef::Named(name) => self.template_named(name).ok_or_else(|| missing("name", name))?,
        };
        let newest = stored.versions.values().map(|version| version.created).max().unwrap_or_default();
        if now.since(newest).as_secs() < self.lag.template_use_seconds {
            return Err(missing("ID", id));
        }
        let template =
            TemplateUse { id: id.clone(), name: stored.name.clone(), version: "$Latest".to_owned() };
        let (_, data) = self.resolve(&template).map_err(Fault::template)?;
        self.check_launchable(data).map_err(Fault::template)?;
        Ok(template)
    }

    pub(super) fn update_group(&mut self, update: &UpdateGroup, now: Timestamp) -> Result<(), Fault> {
        let stored = self
            .groups
            .get(&update.name)
            .ok_or_else(|| Fault::validation("AutoScalingGroup name not found - null"))?;
        if stored.deleting.is_some() {
            return Err(Fault::pending_delete());
        }
        let (min, max) = (update.min.unwrap_or(stored.min), update.max.unwrap_or(stored.max));
        check_capacity(min, max, update.desired.unwrap_or(min))?;
        let desired = update.desired.unwrap_or(stored.desired.clamp(min, max));
        let locked = stored.active_refresh().is_some_and(|refresh| refresh.options.desired.is_some());
        if locked && update.template.is_some() {
            return Err(Fault::validation(
                "An active instance refresh with a desired configuration exists. All configuration options \
                 derived from the desired configuration are not available for update while the instance \
                 refresh is active.",
            ));
        }
        update.subnets.as_ref().map_or(Ok(()), |subnets| self.check_subnets(subnets))?;
        if let Some(kind) = &update.health_check_type
            && !HEALTH_CHECKS.contains(&kind.as_str())
        {
            return Err(Fault::validation(format!("Invalid Health Check Type: {kind}")));
        }
        let template =
            update.template.as_ref().map(|wanted| self.usable_template(wanted, now)).transpose()?;

        let group = self.changing_group(&update.name)?;
        (group.min, group.max, group.desired) = (min, max, desired);
        if let Some(template) = template {
            group.launch = Launch::Template(template);
        }
        if let Some(subnets) = &update.subnets {
            group.subnets.clone_from(subnets);
        }
        if let Some(kind) = &update.health_check_type {
            group.health_check_type.clone_from(kind);
        }
        group.capacity_rebalance = update.capacity_rebalance.unwrap_or(group.capacity_rebalance);
        group.failures = 0;
        group.wake(now.plus(REACTION));
        Ok(())
    }

    pub(super) fn tag_group(&mut self, name: &str, new: &Tags) -> Result<(), Fault> {
        let stored = self.changeable_group(name)?;
        let added = new.keys().filter(|key| !stored.tags.contains_key(*key)).count();
        tags::check_group(new, stored.tags.len() + added)?;
        self.changing_group(name)?.tags.extend(group_tags(new));
        Ok(())
    }

    pub(super) fn untag_group(&mut self, name: &str, keys: &BTreeSet<String>) -> Result<(), Fault> {
        self.changing_group(name)?.tags.retain(|key, _| !keys.contains(key));
        Ok(())
    }

    pub(super) fn delete_group(&mut self, name: &str, force: bool, now: Timestamp) -> Result<(), Fault> {
        let busy = |what: &str| {
            Fault::new(
                "ScalingActivityInProgress",
                format!("You cannot delete an AutoScalingGroup while {what} for that group."),
            )
        };
        let group = self.groups.get(name).ok_or_else(|| Fault::no_such_group(name))?;
        if group.deleting.is_some() {
            return Err(busy("its deletion is in progress"));
        }
        let forbids = group.deletion_protection.as_deref();
        if forbids == Some("prevent-all-deletion") || (force && forbids == Some("prevent-force-deletion")) {
            return Err(Fault::new(
                "ResourceInUse",
                "You cannot delete an AutoScalingGroup while its deletion protection forbids it.",
            ));
        }
        let members = self.members(name);
        if !force && (!members.is_empty() || group.warm_pool) {
            return Err(Fault::new(
                "ResourceInUse",
                "You cannot delete an AutoScalingGroup while there are instances or pending Spot instance \
                 request(s) still in the group.",
            ));
        }
        if !force && group.wanted() > 0 && !group.suspended.contains("Launch") {
            return Err(busy("there are scaling activities in progress"));
        }
        for id in &members {
            self.retire(name, id, now, true);
        }
        let group = self.changing_group(name)?;
        group.deleting = Some(now);
        (group.min, group.max, group.desired) = (0, 0, 0);
        group.wake(now);
        Ok(())
    }
}

fn check_capacity(min: u32, max: u32, desired: u32) -> Result<(), Fault> {
    if min > max {
        return Err(Fault::validation(format!(
            "Max bound, {max}, must be greater than or equal to min bound, {min}"
        )));
    }
    if !(min..=max).contains(&desired) {
        return Err(Fault::validation(format!(
            "Desired capacity:{desired} must be between the specified min size:{min} and max size:{max}"
        )));
    }
    Ok(())
}

/// Tags of a group that its instances do not get.
fn group_tags(tags: &Tags) -> impl Iterator<Item = (String, GroupTag)> {
    tags.iter().map(|(key, value)| (key.clone(), GroupTag { value: value.clone(), propagate: false }))
}
