"""A caller with an account of its own, and a pool's surroundings in it."""

import base64
import itertools
import json
import os
import unittest
import urllib.request

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

ENDPOINT = f"http://127.0.0.1:{os.environ['DOUBLE_PORT']}"
IMAGE, NEWER_IMAGE, NO_IMAGE = "ami-000000000000000a1", "ami-000000000000000a2", "ami-0fffffffffffffff0"
KEYS = (f"AKIADOUBLE{os.getpid() % 10**5:05d}{n:03d}TS" for n in itertools.count())


SESSION = boto3.Session("nobody", "secret", region_name="us-east-1")
CONFIG = Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"})


class DoubleTest(unittest.TestCase):
    """Each test has an account of its own. The clients are shared: making one takes longer than a test."""

    autoscaling, ec2, s3 = (
        SESSION.client(service, endpoint_url=ENDPOINT, config=CONFIG) for service in ("autoscaling", "ec2", "s3")
    )

    def setUp(self):
        self.key = next(KEYS)
        SESSION.get_credentials().access_key = self.key

    def control(self, name, **fields):
        body = json.dumps({"key": self.key, **fields}).encode()
        with urllib.request.urlopen(urllib.request.Request(f"{ENDPOINT}/_double/{name}", body)) as answer:
            return json.load(answer)

    def refused(self, code, call, *args, **fields):
        with self.assertRaises(ClientError) as caught:
            call(*args, **fields)
        self.assertEqual(caught.exception.response["Error"]["Code"], code)
        return caught.exception.response["Error"]["Message"]

    def subnets(self):
        vpc = self.ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
        return [
            self.ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{n}.0/24", AvailabilityZone=f"us-east-1{zone}")[
                "Subnet"
            ]["SubnetId"]
            for n, zone in enumerate("abc")
        ]

    def template(self, name="pool", image=IMAGE, **more):
        data = {"ImageId": image, "InstanceType": "m6i.large", **more}
        made = self.ec2.create_launch_template(LaunchTemplateName=name, LaunchTemplateData=data)
        return made["LaunchTemplate"]["LaunchTemplateId"]

    def version(self, template, image=NEWER_IMAGE, **more):
        data = {"ImageId": image, "InstanceType": "m6i.large", **more}
        made = self.ec2.create_launch_template_version(LaunchTemplateId=template, LaunchTemplateData=data)
        return made["LaunchTemplateVersion"]["VersionNumber"]

    def group(self, size=3, name="pool", **more):
        template = more.pop("template", None) or self.template(f"{name}-template")
        fields = {
            "AutoScalingGroupName": name,
            "LaunchTemplate": {"LaunchTemplateId": template, "Version": "$Latest"},
            "MinSize": size,
            "MaxSize": size,
            "DesiredCapacity": size,
            "VPCZoneIdentifier": ",".join(more.pop("subnets", None) or self.subnets()),
            **more,
        }
        self.autoscaling.create_auto_scaling_group(**fields)
        return template

    def look(self, name="pool"):
        groups = self.autoscaling.describe_auto_scaling_groups(AutoScalingGroupNames=[name])["AutoScalingGroups"]
        return groups[0] if groups else None

    def members(self, name="pool"):
        return {one["InstanceId"]: one for one in self.look(name)["Instances"]}

    def machines(self, name="pool"):
        filters = [{"Name": "tag:aws:autoscaling:groupName", "Values": [name]}]
        pages = self.ec2.get_paginator("describe_instances").paginate(Filters=filters)
        return {i["InstanceId"]: i for page in pages for r in page["Reservations"] for i in r["Instances"]}


def user_data(length):
    return base64.b64encode(b"#" * length).decode()
