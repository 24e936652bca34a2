"""The members of a group: launched evenly over its subnets, from a version that they remember."""

from uuid import uuid4

from moto.autoscaling.models import InstanceState
from moto.core.exceptions import ServiceException
from moto.core.utils import utcnow
from moto.ec2.models.instances import InstanceState as MachineState

GROUP_TAG = "aws:autoscaling:groupName"
LIVE = ("Pending", "InService")


class Member(InstanceState):
    """An instance in its group, with the launch template and version that it was launched from."""

    def __init__(self, instance, group, origin, **more):
        super().__init__(instance, autoscaling_group=group, **more)
        self.instance.autoscaling_group = group
        self.origin = origin
        # How many more looks at the group find it as it is now.
        self.looks = 0

    @property
    def id(self):
        return self.instance.id

    @property
    def zone(self):
        return self.instance.placement.zone

    @property
    def launch_template(self):
        if self.origin is None:
            return None
        template_id, name, number = self.origin
        return {"LaunchTemplateId": template_id, "LaunchTemplateName": name, "Version": str(number)}


class LaunchFailed(Exception):
    """AWS's words for why an instance did not start."""


CODES = {"pending": 0, "running": 16, "shutting-down": 32, "terminated": 48, "stopping": 64, "stopped": 80}


def set_machine_state(instance, name):
    """EC2's state of an instance; also a word that EC2 does not have yet."""
    instance._state = MachineState(name, CODES.get(name, 96))


def launch(group):
    """Starts one instance in the subnet that has the fewest, as AWS balances zones."""
    if group.settings["fail_launches"]:
        raise LaunchFailed(group.settings["fail_launches"])
    version = current_version(group)
    data = version.data
    ec2 = group.ec2_backend
    if data.get("ImageId") not in ec2.amis:
        raise LaunchFailed(f"The image id '[{data.get('ImageId')}]' does not exist")
    interface = (data.get("NetworkInterfaces") or [{}])[0]
    tags = {
        specification["ResourceType"]: {tag["Key"]: tag["Value"] for tag in specification.get("Tags", [])}
        for specification in data.get("TagSpecifications", [])
    }
    tags.setdefault("instance", {}).update({GROUP_TAG: group.name, **group.get_propagated_tags()})
    try:
        reservation = ec2.run_instances(
            data["ImageId"],
            1,
            data.get("UserData"),
            [],
            instance_type=data.get("InstanceType", "m1.small"),
            is_instance_type_default=False,
            tags=tags,
            subnet_id=emptiest_subnet(group),
            security_group_ids=list(interface.get("Groups") or data.get("SecurityGroupIds") or []),
            associate_public_ip=interface.get("AssociatePublicIpAddress"),
            key_name=data.get("KeyName"),
            metadata_options=data.get("MetadataOptions") or {},
            iam_instance_profile=data.get("IamInstanceProfile"),
            instance_market_options=data.get("InstanceMarketOptions"),
            launch_template={"LaunchTemplateId": version.template.id, "Version": version.number},
            block_device_mappings=data.get("BlockDeviceMappings") or [],
        )
    except ServiceException as refusal:
        raise LaunchFailed(refusal.message) from refusal
    instance = reservation.instances[0]
    member = Member(
        instance,
        group,
        (version.template.id, version.template.name, version.number),
        protected_from_scale_in=group.new_instances_protected_from_scale_in,
    )
    if group.settings["pending_looks"]:
        member.looks = group.settings["pending_looks"]
        member.lifecycle_state = "Pending"
        set_machine_state(instance, "pending")
    group.instance_states.append(member)
    group.record("Successful", f"Launching a new EC2 instance: {instance.id}")
    return member


def current_version(group):
    """The version that a new member is launched from: of a refresh's desired configuration, if it has one."""
    active = group.active_refresh()
    if active and active.desired:
        return active.target_version()
    template = group.ec2_launch_template
    if template is None:
        raise LaunchFailed("There is no launch template")
    if template.id not in group.ec2_backend.launch_templates:
        raise LaunchFailed(f"The specified launch template, with template ID {template.id}, does not exist.")
    try:
        return template.get_version(group.launch_template_version)
    except ServiceException as refusal:
        raise LaunchFailed(refusal.message) from refusal


def emptiest_subnet(group):
    subnets = group.subnet_ids()
    in_use = [member.instance.subnet_id for member in group.instance_states]
    return min(subnets, key=lambda subnet: (in_use.count(subnet), subnets.index(subnet)))


def terminate(group, member, why):
    """Takes a member out: at once, or after so many more looks at the group."""
    if group.settings["terminating_looks"] and not member.lifecycle_state.startswith("Terminating"):
        member.lifecycle_state = "Terminating"
        member.looks = group.settings["terminating_looks"]
        set_machine_state(member.instance, "shutting-down")
        group.record("InProgress", f"Terminating EC2 instance: {member.id}", cause=why)
        return
    group.instance_states.remove(member)
    group.record("Successful", f"Terminating EC2 instance: {member.id}", cause=why)
    group.ec2_backend.terminate_instances([member.id])


def victims(group, count):
    """Who goes first when the group shrinks: the fullest zone's, then those of another template, then the oldest."""
    chosen = []
    try:
        current = current_version(group)
        target = (current.template.id, current.number)
    except LaunchFailed:
        target = None
    rest = [m for m in group.instance_states if m.lifecycle_state in LIVE]
    while len(chosen) < count:
        free = [member for member in rest if not member.protected_from_scale_in]
        if not free:
            break
        zones = [member.zone for member in rest]
        free.sort(key=lambda m: (-zones.count(m.zone), is_from(m, target), group.instance_states.index(m)))
        chosen.append(free[0])
        rest.remove(free[0])
    return chosen


def is_from(member, target):
    return member.origin is not None and target == (member.origin[0], member.origin[2])


def activity(group, status, description, message=None, cause=""):
    now = utcnow()
    return {
        "ActivityId": str(uuid4()),
        "AutoScalingGroupName": group.name,
        "AutoScalingGroupARN": group.arn,
        "Description": description,
        "Cause": cause or f"At {now:%Y-%m-%dT%H:%M:%SZ} the group's capacity and its members differed.",
        "StartTime": now,
        "EndTime": now,
        "StatusCode": status,
        "StatusMessage": message,
        "Progress": 100,
        "Details": "{}",
    }
