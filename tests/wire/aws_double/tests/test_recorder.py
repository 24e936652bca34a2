"""The log, latency and faults."""

import threading
import time
from urllib.error import HTTPError

from botocore.exceptions import EndpointConnectionError, HTTPClientError

from .support import DoubleTest

CUT = (HTTPClientError, EndpointConnectionError)


class Log(DoubleTest):
    def test_calls_are_written_down_per_caller_without_bodies(self):
        self.template("pool", UserData="c2VjcmV0")
        self.s3.create_bucket(Bucket=f"b-{self.key.lower()}")
        self.s3.put_object(Bucket=f"b-{self.key.lower()}", Key="pool/x", Body=b"c2VjcmV0")
        shown = self.control("calls")
        self.assertEqual([one["operation"] for one in shown], ["CreateLaunchTemplate", "CreateBucket", "PutObject"])
        self.assertEqual(shown[0]["service"], "ec2")
        self.assertEqual(shown[0]["parameters"]["LaunchTemplateName"], "pool")
        self.assertEqual(shown[2]["parameters"]["Key"], "pool/x")
        self.assertEqual({one["status"] for one in shown}, {200})
        self.assertNotIn("c2VjcmV0", str(shown))
        self.control("clear")
        self.assertEqual(self.control("calls"), [])

    def test_latency_is_per_caller_and_calls_overlap(self):
        self.control("latency", millis=300)
        threads = [threading.Thread(target=self.ec2.describe_vpcs) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        shown = self.control("calls")
        self.assertTrue(all(one["finished"] - one["started"] >= 300 for one in shown))
        self.assertLess(max(one["started"] for one in shown), min(one["finished"] for one in shown))


class Faults(DoubleTest):
    def rules(self, *rules):
        self.control("faults", rules=list(rules))

    def test_each_service_has_its_own_words(self):
        groups = self.autoscaling.describe_auto_scaling_groups
        expected = {
            "denied": ("AccessDenied", "UnauthorizedOperation", "AccessDenied"),
            "throttle": ("Throttling", "RequestLimitExceeded", "SlowDown"),
            "server": ("InternalFailure", "InternalError", "InternalError"),
            "unavailable": ("ServiceUnavailable", "Unavailable", "ServiceUnavailable"),
        }
        for kind, codes in expected.items():
            self.rules({"operation": "*", "kind": kind})
            for code, call in zip(codes, (groups, self.ec2.describe_vpcs, self.s3.list_buckets)):
                self.refused(code, call)
        self.rules({"operation": "DescribeVpcs", "kind": "error", "code": "Odd", "message": "so it is", "status": 418})
        self.assertEqual(self.refused("Odd", self.ec2.describe_vpcs), "so it is")

    def test_count_skip_and_pattern(self):
        self.rules({"operation": "Describe*", "kind": "throttle", "count": 2, "skip": 1})
        self.ec2.describe_vpcs()
        self.refused("RequestLimitExceeded", self.ec2.describe_vpcs)
        self.ec2.create_vpc(CidrBlock="10.0.0.0/16")
        self.refused("RequestLimitExceeded", self.ec2.describe_subnets)
        self.ec2.describe_vpcs()
        (rule,) = self.control("faults")
        self.assertEqual(rule["hits"], 2)

    def test_a_refused_call_has_no_effect(self):
        self.rules({"operation": "CreateLaunchTemplate", "kind": "server", "count": 1})
        self.refused("InternalError", self.template)
        self.template()

    def test_cut_before_and_after(self):
        for kind, made in [("cut-before", 0), ("cut-after", 1)]:
            self.rules({"operation": "CreateLaunchTemplate", "kind": kind, "count": 1})
            with self.assertRaises(CUT):
                self.template(kind)
            filters = [{"Name": "launch-template-name", "Values": [kind]}]
            self.assertEqual(len(self.ec2.describe_launch_templates(Filters=filters)["LaunchTemplates"]), made)

    def test_slow(self):
        self.rules({"operation": "DescribeVpcs", "kind": "slow", "millis": 200, "count": 1})
        begin = time.monotonic()
        self.ec2.describe_vpcs()
        self.assertGreaterEqual(time.monotonic() - begin, 0.2)

    def test_a_read_can_lag(self):
        self.assertIsNone(self.look())
        self.group(1)
        self.rules({"operation": "DescribeAutoScalingGroups", "kind": "stale", "count": 2})
        self.assertEqual([self.look(), self.look()], [None, None])
        self.assertIsNotNone(self.look())
        self.autoscaling.delete_auto_scaling_group(AutoScalingGroupName="pool", ForceDelete=True)
        self.rules({"operation": "DescribeAutoScalingGroups", "kind": "stale", "count": 1})
        self.assertNotIn("Status", self.look())
        self.assertEqual(self.look()["Status"], "Delete in progress")

    def test_lists_can_come_back_to_front(self):
        self.group(3)
        order = list(self.members())
        self.control("reverse", on=True)
        self.assertEqual(list(self.members()), order[::-1])

    def test_an_unknown_fault_is_refused(self):
        with self.assertRaises(HTTPError):
            self.rules({"operation": "*", "kind": "explode"})
