"""What Auto Scaling refuses, and in which words."""

from . import tags as tag_rules
from .errors import autoscaling, validation

PROCESSES = [
    "AZRebalance",
    "AddToLoadBalancer",
    "AlarmNotification",
    "HealthCheck",
    "InstanceRefresh",
    "Launch",
    "ReplaceUnhealthy",
    "ScheduledActions",
    "Terminate",
]


def metric(policy):
    """The predefined metric that a policy tracks, if any."""
    configuration = policy.target_tracking_configuration
    return getattr(configuration, "PredefinedMetricSpecification", {}).get("PredefinedMetricType")


def tag_target_not_found(name):
    return validation(f"AutoScalingGroup not found - AutoScaling Group {name} not found")


def policy_target_not_found(name):
    return validation(f"Group {name} not found")


def bad_template(why):
    return validation(f"You must use a valid fully-formed launch template. {why}")


def check_bounds(low, high, desired):
    if low > high:
        raise validation(f"Max bound, {high}, must be greater than or equal to min bound, {low}")
    if desired is not None and not low <= desired <= high:
        raise validation(f"Desired capacity:{desired} must be between the specified min size:{low} and max size:{high}")


def check_tags(tags):
    found = tag_rules.fault({tag["Key"]: tag.get("Value") for tag in tags})
    if found:
        raise autoscaling("LimitExceeded", found[1]) if found[0] == "limit" else validation(found[1])


def checked_subnets(backend, text):
    known = {subnet.id for subnet in backend.ec2_backend.describe_subnets()}
    for subnet in (text or "").split(","):
        if text and subnet not in known:
            raise validation(f"The subnet ID '{subnet}' does not exist")
    return text


def checked_processes(names):
    for name in names or []:
        if name not in PROCESSES:
            raise validation(f"{name} is not a valid process name")
    return names or PROCESSES
