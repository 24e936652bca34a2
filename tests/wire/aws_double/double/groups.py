"""Auto Scaling groups as strict as AWS: what is refused, how members come and go, how a group ends."""

from moto.autoscaling import models
from moto.core.exceptions import ServiceException
from moto.core.utils import utcnow

from . import members, refresh
from .errors import autoscaling, group_not_found, validation
from .members import LIVE, LaunchFailed
from .rules import (
    bad_template,
    check_bounds,
    check_tags,
    checked_processes,
    checked_subnets,
    metric,
    policy_target_not_found,
    tag_target_not_found,
)

# What the tests may set per group name, also before the group exists.
DEFAULTS = {
    # Looks (DescribeAutoScalingGroups) that still find a deleted group.
    "deleting_looks": 2,
    # Looks that find a new member pending, and one that leaves still there.
    "pending_looks": 0,
    "terminating_looks": 0,
    # AWS's words for why no instance starts; empty: they do.
    "fail_launches": "",
    # Whether looks at a refresh (DescribeInstanceRefreshes) move it on, or only the control endpoint.
    "refresh_by_looks": True,
}

PENDING_DELETE = "The AutoScaling group may not be modified while it is pending delete"


class StrictGroup(models.FakeAutoScalingGroup):
    """A group that launches and terminates by itself, one look at a time."""

    def __init__(self, **fields):
        backend = fields["autoscaling_backend"]
        self.settings = backend.settings_of(fields["name"])
        self.refreshes = []
        self.activities = []
        self.deleting = None
        self._suspended = {}
        template = fields["launch_template"]
        fields["vpc_zone_identifier"] = checked_subnets(backend, fields["vpc_zone_identifier"])
        self.created = False
        super().__init__(**fields)
        self.created = True
        if template:
            self.check_template()
        self.reconcile()

    @property
    def status(self):
        return "Delete in progress" if self.deleting is not None else None

    @property
    def suspended_processes(self):
        return [{"ProcessName": name, "SuspensionReason": why} for name, why in sorted(self._suspended.items())]

    @suspended_processes.setter
    def suspended_processes(self, names):
        why = f"User suspended at {utcnow():%Y-%m-%dT%H:%M:%SZ}"
        self._suspended = {name: self._suspended.get(name, why) for name in names}

    def active_instances(self):
        return [member for member in self.instance_states if member.lifecycle_state in LIVE]

    def subnet_ids(self):
        return (self.vpc_zone_identifier or "").split(",")

    def is_suspended(self, process):
        return process in self._suspended

    def record(self, status, description, message=None, cause=""):
        self.activities.insert(0, members.activity(self, status, description, message, cause))
        del self.activities[100:]

    def active_refresh(self):
        return next((one for one in self.refreshes if one.is_active()), None)

    def _set_launch_configuration(self, launch_config_name, launch_template, mixed_instances_policy):
        try:
            super()._set_launch_configuration(launch_config_name, launch_template, mixed_instances_policy)
        except ServiceException as refusal:
            raise bad_template(refusal.message) from refusal

    def check_template(self):
        """AWS tries the template out when a group is given one."""
        try:
            data = members.current_version(self).data
        except LaunchFailed as failure:
            raise bad_template(str(failure)) from failure
        image = data.get("ImageId")
        if image not in self.ec2_backend.amis:
            raise bad_template(f"The image id '[{image}]' does not exist")

    def set_desired_capacity(self, new_capacity):
        self.desired_capacity = self.min_size if new_capacity is None else new_capacity
        # Moto calls this from its constructor, before the group is whole.
        if self.created:
            self.reconcile()

    def reconcile(self):
        """Brings the members to the desired count (and what a refresh has on top), as far as processes allow."""
        active = self.active_refresh()
        wanted = self.desired_capacity + (active.surplus if active else 0)
        count = len(self.active_instances())
        if count < wanted and not self.is_suspended("Launch") and self.deleting is None:
            self._launch(wanted - count)
        elif count > wanted and not self.is_suspended("Terminate"):
            for member in members.victims(self, count - wanted):
                members.terminate(self, member, "the group shrank")

    def _launch(self, count):
        try:
            for _ in range(count):
                members.launch(self)
        except LaunchFailed as failure:
            why = f"{failure}. Launching EC2 instance failed."
            self.record("Failed", f"Launching a new EC2 instance.  Status Reason: {why}", why)

    def look(self):
        """What happens to the group between one DescribeAutoScalingGroups and the next; whether it is still there."""
        for member in list(self.instance_states):
            if member.looks > 0:
                member.looks -= 1
            elif member.lifecycle_state == "Pending":
                member.lifecycle_state = "InService"
                members.set_machine_state(member.instance, "running")
            elif member.lifecycle_state == "Terminating":
                members.terminate(self, member, "it was on its way out")
        if self.deleting is None:
            self.reconcile()
            return True
        self.deleting -= 1
        return self.deleting >= 0 or bool(self.instance_states)

    def replace_autoscaling_group_instances(self, count_needed, propagated_tags):
        """Moto's way to make up for members that somebody terminated."""
        self.reconcile()

    def leave_subnets(self):
        """Members in subnets that the group no longer has are replaced elsewhere."""
        for member in [m for m in self.active_instances() if m.instance.subnet_id not in self.subnet_ids()]:
            members.terminate(self, member, "its zone was removed")
        self.reconcile()


class StrictBackend(models.AutoScalingBackend):
    """The operations on groups."""

    # Moto finds a service's URLs by its backend's module.
    __module__ = models.AutoScalingBackend.__module__

    def __init__(self, region_name, account_id):
        super().__init__(region_name, account_id)
        self.settings = {}

    def settings_of(self, name):
        return self.settings.setdefault(name, dict(DEFAULTS))

    def group(self, name, words=group_not_found):
        if name not in self.autoscaling_groups:
            raise words(name)
        return self.autoscaling_groups[name]

    def group_to_change(self, name, words=group_not_found):
        group = self.group(name, words)
        if group.deleting is not None:
            raise validation(PENDING_DELETE)
        return group

    def create_auto_scaling_group(self, name, **fields):
        if name in self.autoscaling_groups:
            raise autoscaling(
                "AlreadyExists",
                f"AutoScalingGroup by this name already exists - A group with the name {name} already exists",
            )
        fields["tags"] = fields.get("tags") or []
        check_tags(fields["tags"])
        check_bounds(fields["min_size"], fields["max_size"], fields["desired_capacity"])
        return super().create_auto_scaling_group(name=name, **fields)

    def update_auto_scaling_group(self, name, **fields):
        group = self.group_to_change(name, lambda _: validation("AutoScalingGroup name not found - null"))
        template, policy = fields["launch_template"], fields["mixed_instances_policy"]
        active = group.active_refresh()
        if (template or policy or fields["launch_config_name"]) and active and active.desired:
            raise validation(
                "An active instance refresh with a desired configuration exists. All configuration options derived "
                "from the desired configuration are not available for update while the instance refresh is active."
            )
        low = group.min_size if fields["min_size"] is None else fields["min_size"]
        high = group.max_size if fields["max_size"] is None else fields["max_size"]
        check_bounds(low, high, fields["desired_capacity"])
        if fields["vpc_zone_identifier"]:
            subnets = checked_subnets(self, fields["vpc_zone_identifier"])
            group._set_azs_and_vpcs(fields["availability_zones"], subnets, update=True)
        if template or policy or fields["launch_config_name"]:
            group.mixed_instances_policy = policy
            group._set_launch_configuration(fields["launch_config_name"], template, policy)
            if template:
                group.check_template()
        for field, value in [
            ("health_check_grace_period", fields["health_check_period"]),
            ("health_check_type", fields["health_check_type"]),
            ("new_instances_protected_from_scale_in", fields["new_instances_protected_from_scale_in"]),
            ("capacity_rebalance", fields["capacity_rebalance"]),
        ]:
            if value is not None:
                setattr(group, field, value)
        group.min_size, group.max_size = low, high
        wanted = group.desired_capacity if fields["desired_capacity"] is None else fields["desired_capacity"]
        # Bounds that leave the desired capacity outside move it.
        group.set_desired_capacity(min(max(wanted, low), high))
        group.leave_subnets()
        return group

    def set_desired_capacity(self, group_name, desired_capacity):
        group = self.group_to_change(group_name)
        for word, bound, wrong in [
            ("above max", group.max_size, desired_capacity > group.max_size),
            ("below min", group.min_size, desired_capacity < group.min_size),
        ]:
            if wrong:
                raise validation(
                    f"New SetDesiredCapacity value {desired_capacity} is {word} value {bound} for the AutoScalingGroup."
                )
        group.set_desired_capacity(desired_capacity)

    def describe_auto_scaling_groups(self, names, filters=None):
        for name in names or []:
            group = self.autoscaling_groups.get(name)
            if group is not None and not group.look():
                self._forget(name)
        return super().describe_auto_scaling_groups(names, filters)

    def delete_auto_scaling_group(self, group_name, force=False):
        group = self.group(group_name)
        if group.deleting is not None:
            raise autoscaling(
                "ScalingActivityInProgress",
                "You cannot delete an AutoScalingGroup while there are scaling activities in progress for that group.",
            )
        if not force:
            self._check_empty(group)
        for one in group.refreshes:
            one.end("Cancelled", "The group is being deleted")
        group.min_size = group.max_size = group.desired_capacity = 0
        group.deleting = group.settings["deleting_looks"]
        for member in list(group.instance_states):
            members.terminate(group, member, "the group was deleted")
        self.policies = {key: one for key, one in self.policies.items() if key[0] != group_name}
        self.scheduled_actions = {
            key: one for key, one in self.scheduled_actions.items() if one.auto_scaling_group_name != group_name
        }
        if group.deleting == 0 and not group.instance_states:
            self._forget(group_name)

    def _check_empty(self, group):
        if any(not member.lifecycle_state.startswith("Terminating") for member in group.instance_states):
            raise autoscaling(
                "ResourceInUse",
                "You cannot delete an AutoScalingGroup while there are instances or pending Spot instance request(s) "
                "still in the group.",
            )
        if group.instance_states:
            raise autoscaling(
                "ScalingActivityInProgress",
                "You cannot delete an AutoScalingGroup while there are scaling activities in progress for that group.",
            )
        if group.warm_pool is not None:
            raise autoscaling("ResourceInUse", "You cannot delete an AutoScalingGroup that has a warm pool.")

    def _forget(self, name):
        self.autoscaling_groups.pop(name, None)

    def attach_instances(self, group_name, instance_ids):
        group = self.group_to_change(group_name)
        if len(group.active_instances()) + len(instance_ids) > group.max_size:
            raise validation("The attached instances would exceed the group's maximum size.")
        for instance_id in instance_ids:
            instance = self.ec2_backend.get_instance(instance_id)
            tags = {tag["key"]: tag["value"] for tag in instance.get_tags()}
            origin = None
            template = self.ec2_backend.launch_templates.get(tags.get("aws:ec2launchtemplate:id"))
            if template is not None:
                origin = (template.id, template.name, tags["aws:ec2launchtemplate:version"])
            self.ec2_backend.create_tags([instance_id], {members.GROUP_TAG: group.name})
            group.instance_states.append(members.Member(instance, group, origin))
        group.desired_capacity += len(instance_ids)

    def suspend_processes(self, group_name, scaling_processes):
        group = self.group(group_name)
        if group.deleting is not None:
            raise validation("Processes may not be suspended while the AutoScaling group is pending delete")
        names = {one["ProcessName"] for one in group.suspended_processes}
        group.suspended_processes = sorted(names | set(checked_processes(scaling_processes)))

    def resume_processes(self, group_name, scaling_processes):
        group = self.group_to_change(group_name)
        names = {one["ProcessName"] for one in group.suspended_processes}
        group.suspended_processes = sorted(names - set(checked_processes(scaling_processes)))
        group.reconcile()

    def set_instance_protection(self, group_name, instance_ids, protected_from_scale_in):
        group = self.group_to_change(group_name)
        known = {member.id for member in group.instance_states}
        if len(instance_ids) > 50 or not set(instance_ids) <= known:
            raise validation(f"The instances {sorted(set(instance_ids) - known)} are not part of Auto Scaling group.")
        super().set_instance_protection(group_name, instance_ids, protected_from_scale_in)

    def create_or_update_tags(self, tags):
        check_tags(tags)
        for tag in tags:
            group = self.group_to_change(tag["ResourceId"], tag_target_not_found)
            kept = [old for old in group.tags if old["Key"] != tag["Key"]]
            check_tags(kept + [tag])
        super().create_or_update_tags(tags)

    def delete_tags(self, tags):
        for tag in tags:
            self.group_to_change(tag["ResourceId"], tag_target_not_found)
        super().delete_tags(tags)

    def start_instance_refresh(self, name, preferences, desired):
        return refresh.start(self.group_to_change(name), preferences, desired)

    # Moto keeps policies by name alone, as if no two groups could have one of the same name.

    def put_scaling_policy(self, **fields):
        self.group_to_change(fields["as_name"], policy_target_not_found)
        policy = models.FakeScalingPolicy(**fields, autoscaling_backend=self)
        self._check_metric(policy)
        policy.enabled = True
        alarms = ["AlarmHigh", "AlarmLow"] if policy.policy_type == "TargetTrackingScaling" else []
        stem = f"TargetTracking-{policy.auto_scaling_group_name}"
        policy.alarms = [{"AlarmName": f"{stem}-{one}", "AlarmARN": f"arn:aws:cloudwatch:{one}"} for one in alarms]
        if policy.target_tracking_configuration is not None:
            # AWS fills this in.
            policy.target_tracking_configuration.__dict__.setdefault("DisableScaleIn", False)
        self.policies[fields["as_name"], fields["name"]] = policy
        return policy

    def _check_metric(self, policy):
        others = [
            other
            for (group, name), other in self.policies.items()
            if group == policy.auto_scaling_group_name and name != policy.name
        ]
        for other in others:
            if metric(policy) and metric(policy) == metric(other):
                raise validation("Only one TargetTrackingScaling policy for a given metric specification is allowed.")

    def describe_policies(self, autoscaling_group_name=None, policy_names=None, policy_types=None):
        if autoscaling_group_name:
            self.group(autoscaling_group_name, policy_target_not_found)
        return super().describe_policies(autoscaling_group_name, policy_names, policy_types)

    def remove_policy(self, group_name, name):
        self.group(group_name, policy_target_not_found)
        if self.policies.pop((group_name, name), None) is None:
            raise validation("Scaling policy name not found")
