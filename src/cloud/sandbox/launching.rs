//! Launching and terminating instances for a group.

use std::time::Duration;

use super::world::{StoredActivity, StoredInstance, World};
use crate::{
    clock::Timestamp,
    model::{
        observed::{Launch, TemplateUse},
        resources::TemplateData,
    },
};

/// From launch to `running`.
const BOOT: Duration = Duration::from_secs(20);
/// From `shutting-down` to `terminated`.
const SHUTDOWN: Duration = Duration::from_secs(15);
/// Scaling activities kept of each group.
const ACTIVITIES: usize = 100;

/// Instances that an account holds, with those that are terminated and still seen: its file stays below the size that
/// is read.
const INSTANCES: usize = 200_000;

/// What the group API or EC2 has against a template, in their words.
pub(super) type Reason = String;

impl World {
    /// Looks up the template and version that a group would launch from now; the version as a number.
    pub(super) fn resolve(&self, wanted: &TemplateUse) -> Result<(TemplateUse, &TemplateData), Reason> {
        let missing = |what: String| format!("The specified launch template, with {what}, does not exist.");
        let template =
            self.templates.get(&wanted.id).ok_or_else(|| missing(format!("template ID {}", wanted.id)))?;
        let number = match wanted.version.as_str() {
            "$Latest" => template.latest_version(),
            "$Default" | "" => template.default_version,
            number => number.parse().unwrap_or_default(),
        };
        let version = template.versions.get(&number).ok_or_else(|| {
            format!("The launch template version {} of {} does not exist.", wanted.version, wanted.id)
        })?;
        let used =
            TemplateUse { id: wanted.id.clone(), name: template.name.clone(), version: number.to_string() };
        Ok((used, &version.data))
    }

    /// What EC2 would have against running an instance from this data.
    pub(super) fn check_launchable(&self, data: &TemplateData) -> Result<(), Reason> {
        let Some(image_id) = &data.image_id else {
            return Err("The request must contain the parameter ImageId".to_owned());
        };
        let image =
            self.image(image_id).ok_or_else(|| format!("The image id '[{image_id}]' does not exist"))?;
        if image.state != "available" {
            return Err(format!("The image id '[{image_id}]' is not available: {}", image.state));
        }
        if data.instance_type.as_ref().is_none_or(String::is_empty) {
            return Err("The request must contain the parameter InstanceType".to_owned());
        }
        if let Some(key) = data.key_name.as_ref().filter(|key| !self.key_pairs.contains(*key)) {
            return Err(format!("The key pair '{key}' does not exist"));
        }
        if let Some(profile) = data.instance_profile.as_ref().filter(|name| !self.has_profile(name)) {
            return Err(format!(
                "Value ({profile}) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance \
                 Profile name"
            ));
        }
        let mut groups = data.interfaces.values().flat_map(|interface| &interface.security_groups);
        match groups.find(|group| !self.security_groups.contains(*group)) {
            Some(group) => Err(format!("The security group '{group}' does not exist")),
            None => Ok(()),
        }
    }

    fn has_profile(&self, name: &str) -> bool {
        let name = name.rsplit_once(":instance-profile/").map_or(name, |(_, name)| name);
        self.instance_profiles.contains(name)
    }

    /// The template of a group's next launch: the desired configuration of an active refresh goes
    /// before the group's own.
    pub(super) fn launch_template(&self, group: &str) -> Option<&TemplateUse> {
        let group = self.groups.get(group)?;
        let desired = group.active_refresh().and_then(|refresh| refresh.options.desired.as_ref());
        desired.or(match &group.launch {
            Launch::Template(template) | Launch::Mixed(template) => Some(template),
            Launch::Other => None,
        })
    }

    /// Starts `count` instances, each in the emptiest of the group's zones, up to one that fails.
    pub(super) fn launch(&mut self, group: &str, count: usize, at: Timestamp) -> Result<(), Reason> {
        let wanted = self.launch_template(group).ok_or("The group has no launch template.")?;
        let (template, data) = self.resolve(wanted)?;
        self.check_launchable(data)?;
        if let Some(error) = &self.launch_error {
            return Err(error.clone());
        }
        let image_id = data.image_id.clone().unwrap_or_default();
        let mut spread = self.spread(group);
        for _ in 0..count {
            if self.instances.len() >= INSTANCES {
                return Err(format!("The sandbox holds no more than {INSTANCES} instances."));
            }
            let (subnet, zone) = spread.take_emptiest(self, group)?;
            let id = self.next_id("i-");
            self.remember_instance(&id);
            let instance = StoredInstance {
                group: Some(group.to_owned()),
                lifecycle: Some("Pending".to_owned()),
                state: "pending".to_owned(),
                addresses: vec![self.next_address(&subnet)],
                zone,
                subnet,
                template: Some(template.clone()),
                image_id: image_id.clone(),
                launched: at,
                until: Some(at.plus(BOOT)),
                ..StoredInstance::default()
            };
            self.instances.insert(id.clone(), instance);
            self.note(group, at, "InProgress", format!("Launching a new EC2 instance: {id}"), Some(id));
        }
        Ok(())
    }

    /// `10.<subnet>.<high>.<low>`: one /16 a subnet, addresses in the order of launch.
    fn next_address(&self, subnet: &str) -> String {
        let network = self.subnets.keys().position(|id| id == subnet).unwrap_or_default() % 256;
        let host = self.ids % 65_000 + 4;
        format!("10.{network}.{}.{}", host / 256, host % 256)
    }

    /// Lets a member go: through the group's termination hook unless `forced`, else at once.
    pub(super) fn retire(&mut self, group: &str, id: &str, at: Timestamp, forced: bool) {
        let hook = self.groups.get(group).map_or(0, |g| g.termination_hook_seconds);
        let Some(instance) = self.instances.get_mut(id) else { return };
        let waiting = instance.lifecycle.as_deref() == Some("Terminating:Wait");
        if instance.lifecycle.as_deref() == Some("Terminating") || (waiting && !forced) {
            return;
        }
        if !waiting {
            let description = format!("Terminating EC2 instance: {id}");
            self.note(group, at, "InProgress", description, Some(id.to_owned()));
        }
        if hook > 0 && !forced {
            if let Some(instance) = self.instances.get_mut(id) {
                instance.lifecycle = Some("Terminating:Wait".to_owned());
                instance.until = Some(at.plus(Duration::from_secs(hook)));
            }
        } else {
            self.shut_down(id, at);
        }
    }

    /// Terminates an instance in EC2. A member is listed as terminating from then on.
    pub(super) fn shut_down(&mut self, id: &str, at: Timestamp) {
        self.remember_instance(id);
        let Some(instance) = self.instances.get_mut(id) else { return };
        if instance.lifecycle.is_some() {
            instance.lifecycle = Some("Terminating".to_owned());
        }
        if instance.state != "terminated" {
            "shutting-down".clone_into(&mut instance.state);
            instance.until = Some(at.plus(SHUTDOWN));
        }
    }

    /// Adds a scaling activity; the oldest fall away.
    pub(super) fn note(
        &mut self,
        group: &str,
        at: Timestamp,
        status: &str,
        description: String,
        instance: Option<String>,
    ) {
        let Some(group) = self.groups.get_mut(group) else { return };
        let activity =
            StoredActivity { start: at, status: status.to_owned(), description, message: None, instance };
        group.activities.push(activity);
        let surplus = group.activities.len().saturating_sub(ACTIVITIES);
        group.activities.drain(..surplus);
    }

    /// Adds the scaling activity of a launch that failed.
    pub(super) fn note_failed_launch(&mut self, group: &str, at: Timestamp, reason: &str) {
        let reason = format!("{}. Launching EC2 instance failed.", reason.trim_end_matches('.'));
        let description = format!("Launching a new EC2 instance.  Status Reason: {reason}");
        self.note(group, at, "Failed", description, None);
        if let Some(activity) = self.groups.get_mut(group).and_then(|g| g.activities.last_mut()) {
            activity.message = Some(reason);
        }
    }

    /// Marks what was going on about an instance as done.
    pub(super) fn finish_activities(&mut self, group: &str, id: &str) {
        let activities = self.groups.get_mut(group).map(|g| g.activities.iter_mut());
        for activity in activities.into_iter().flatten() {
            if activity.status == "InProgress" && activity.instance.as_deref() == Some(id) {
                "Successful".clone_into(&mut activity.status);
            }
        }
    }
}
