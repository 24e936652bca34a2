"""Instance refreshes, which moto does not have. Minimum and maximum healthy percentages decide the pace."""

from uuid import uuid4

from moto.core.utils import utcnow

from . import members
from .errors import autoscaling, validation
from .members import LIVE

ACTIVE = ("Pending", "InProgress", "Cancelling", "RollbackInProgress")
DEFAULTS = {
    "MinHealthyPercentage": 90,
    "MaxHealthyPercentage": 100,
    "SkipMatching": False,
    "ScaleInProtectedInstances": "Wait",
    "StandbyInstances": "Wait",
}
CHOICES = {
    "ScaleInProtectedInstances": ("Refresh", "Ignore", "Wait"),
    "StandbyInstances": ("Terminate", "Ignore", "Wait"),
}


class Refresh:
    """One instance refresh of one group, moved on by looks at it or by the control endpoint."""

    def __init__(self, group, preferences, desired):
        self.group = group
        self.id = str(uuid4())
        self.preferences = preferences
        self.desired = desired
        self.status = "Pending"
        self.reason = None
        self.start_time, self.end_time = utcnow(), None
        # Members beyond the desired capacity: replacements whose predecessors still run.
        self.surplus = 0
        self.leaving = []
        self.originals = None
        self.total = 0

    def is_active(self):
        return self.status in ACTIVE

    def end(self, status, reason=None):
        if self.is_active():
            self.status, self.reason, self.end_time = status, reason, utcnow()
            self.surplus, self.leaving = 0, []

    def step(self):
        """One step on: begin, bring in replacements, let the old ones go, ..., end."""
        if self.status == "Cancelling":
            self.end("Cancelled", self.reason)
        elif self.status == "RollbackInProgress":
            self.end("RollbackSuccessful", self.reason)
        elif self.status == "Pending":
            self.status = "InProgress"
            self.originals = self._to_replace()
            self.total = len(self.originals)
        elif self.status == "InProgress" and not self._is_stopped():
            self._replace_some()

    def _is_stopped(self):
        return any(self.group.is_suspended(process) for process in ("InstanceRefresh", "Launch", "Terminate"))

    def _replace_some(self):
        group = self.group
        if self.leaving:
            if any(member.lifecycle_state == "Pending" for member in group.instance_states):
                return
            for member in [m for m in self.leaving if m in group.instance_states]:
                members.terminate(group, member, "an instance refresh replaced it")
            self.leaving, self.surplus = [], 0
            return
        left = [member for member in self.originals if member in group.instance_states]
        ready = [member for member in left if not self._must_wait(member)]
        if not left:
            self._succeed()
        elif not ready:
            self.reason = "Waiting for instances that are protected from scale-in or in standby."
        else:
            self._begin(ready)

    def _begin(self, ready):
        group = self.group
        high, low = self.preferences["MaxHealthyPercentage"], self.preferences["MinHealthyPercentage"]
        if high > 100:
            batch = ready[: max(1, group.desired_capacity * (high - 100) // 100)]
            # Members in standby do not count towards the capacity: nobody has to come for them to go.
            self.surplus = len([member for member in batch if member.lifecycle_state in LIVE])
            before = len(group.active_instances())
            group.reconcile()
            if len(group.active_instances()) < before + self.surplus:
                self.reason = "The replacements could not be launched."
                return
            self.reason, self.leaving = None, batch
        else:
            for member in ready[: max(1, group.desired_capacity * (100 - low) // 100)]:
                members.terminate(group, member, "an instance refresh replaces it")
            group.reconcile()

    def _succeed(self):
        self.end("Successful")
        if self.desired:
            self.group._set_launch_configuration(None, self.desired["LaunchTemplate"], None)

    def target_version(self):
        """The launch template version that members ought to run from."""
        if not self.desired:
            return members.current_version(self.group)
        wanted = self.desired["LaunchTemplate"]
        backend = self.group.ec2_backend
        if wanted.get("LaunchTemplateId"):
            template = backend.get_launch_template(wanted["LaunchTemplateId"])
        else:
            template = backend.get_launch_template_by_name(wanted["LaunchTemplateName"])
        return template.get_version(wanted.get("Version") or "$Default")

    def target(self):
        """Id and version number of that."""
        version = self.target_version()
        return version.template.id, version.number

    def _to_replace(self):
        target = self.target()
        chosen = []
        for member in self.group.instance_states:
            if self.preferences["SkipMatching"] and members.is_from(member, target):
                continue
            if member.lifecycle_state == "Standby" and self.preferences["StandbyInstances"] == "Ignore":
                continue
            if member.protected_from_scale_in and self.preferences["ScaleInProtectedInstances"] == "Ignore":
                continue
            if member.lifecycle_state in (*LIVE, "Standby"):
                chosen.append(member)
        return chosen

    def _must_wait(self, member):
        if member.lifecycle_state == "Standby":
            return self.preferences["StandbyInstances"] == "Wait"
        return member.protected_from_scale_in and self.preferences["ScaleInProtectedInstances"] == "Wait"

    def describe(self):
        left = len([m for m in self.originals or [] if m in self.group.instance_states])
        done = self.total - left
        percent = 100 if self.status == "Successful" else (100 * done // self.total if self.total else 0)
        shown = {
            "InstanceRefreshId": self.id,
            "AutoScalingGroupName": self.group.name,
            "Status": self.status,
            "StatusReason": self.reason,
            "StartTime": self.start_time,
            "EndTime": self.end_time,
            "Preferences": self.preferences,
            "DesiredConfiguration": self.desired or None,
            "Strategy": "Rolling",
        }
        if self.status != "Pending":
            shown.update({"PercentageComplete": percent, "InstancesToUpdate": left})
        return {name: value for name, value in shown.items() if value is not None}


def start(group, preferences, desired):
    if group.active_refresh():
        raise autoscaling(
            "InstanceRefreshInProgress",
            "An Instance Refresh is already in progress and blocks the execution of this Instance Refresh.",
        )
    preferences = {**DEFAULTS, **{name: value for name, value in (preferences or {}).items() if value is not None}}
    check(preferences)
    if preferences.get("AutoRollback") and not desired:
        raise validation(
            "The request isn't valid. The AutoRollback parameter cannot be set to true when the "
            "DesiredConfiguration parameter is empty."
        )
    one = Refresh(group, preferences, desired)
    try:
        one.target()
    except members.LaunchFailed as failure:
        raise validation(str(failure)) from failure
    group.refreshes.insert(0, one)
    return one


def check(preferences):
    low, high = int(preferences["MinHealthyPercentage"]), int(preferences["MaxHealthyPercentage"])
    if not 0 <= low <= 100 or not 100 <= high <= 200 or high - low > 100:
        raise validation(
            f"The request isn't valid. MinHealthyPercentage {low} and MaxHealthyPercentage {high} must lie in 0-100 "
            "and 100-200 and differ by at most 100."
        )
    for name, choices in CHOICES.items():
        if preferences[name] not in choices:
            raise validation(f"Value '{preferences[name]}' at 'preferences.{name}' must be one of {list(choices)}")
    preferences["MinHealthyPercentage"], preferences["MaxHealthyPercentage"] = low, high


def cancel(group):
    active = group.active_refresh()
    if active is None or active.status == "Cancelling":
        raise not_active(group)
    active.status, active.reason = "Cancelling", "Cancelled due to user request."
    return active


def rollback(group):
    active = group.active_refresh()
    if active is None:
        raise not_active(group)
    if not active.desired:
        raise autoscaling("IrreversibleInstanceRefresh", "The refresh has no desired configuration to roll back from.")
    active.status = "RollbackInProgress"
    return active


def not_active(group):
    return autoscaling(
        "ActiveInstanceRefreshNotFound",
        f"No in progress or pending Instance Refresh found for Auto Scaling group {group.name}",
    )
