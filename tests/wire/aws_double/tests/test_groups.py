"""Groups: names, bounds, zones, processes, tags, policies, deletion."""

from collections import Counter

from .support import NO_IMAGE, DoubleTest


class Creation(DoubleTest):
    def test_a_name_is_taken_once(self):
        template = self.group()
        before = self.members()
        self.refused("AlreadyExists", self.group, template=template)
        self.assertEqual(self.members(), before)

    def test_members_spread_over_the_subnets(self):
        self.group(7)
        zones = Counter(one["AvailabilityZone"] for one in self.members().values())
        self.assertEqual(sorted(zones.values()), [2, 2, 3])
        self.assertEqual(Counter(m["Placement"]["AvailabilityZone"] for m in self.machines().values()), zones)

    def test_members_keep_the_version_they_were_launched_from(self):
        template = self.group(1)
        self.version(template)
        old = set(self.members())
        self.ec2.modify_launch_template(LaunchTemplateId=template, DefaultVersion="2")
        self.autoscaling.update_auto_scaling_group(AutoScalingGroupName="pool", MaxSize=2, DesiredCapacity=2)
        versions = {
            i: (m["LaunchTemplate"]["LaunchTemplateName"], m["LaunchTemplate"]["Version"])
            for i, m in self.members().items()
        }
        for member, (name, version) in versions.items():
            self.assertEqual((name, version), ("pool-template", "1" if member in old else "2"))
            tags = {tag["Key"]: tag["Value"] for tag in self.machines()[member]["Tags"]}
            self.assertEqual(tags["aws:ec2launchtemplate:version"], version)
            self.assertEqual(tags["aws:ec2launchtemplate:id"], template)

    def test_members_have_what_their_template_says(self):
        sg = self.ec2.create_security_group(
            GroupName="worker", Description="x", VpcId=self.ec2.describe_vpcs()["Vpcs"][0]["VpcId"]
        )
        template = self.template(
            "full",
            UserData="aGVsbG8=",
            NetworkInterfaces=[{"DeviceIndex": 0, "Groups": [sg["GroupId"]], "AssociatePublicIpAddress": False}],
            MetadataOptions={"HttpTokens": "required", "HttpPutResponseHopLimit": 2},
            TagSpecifications=[{"ResourceType": "instance", "Tags": [{"Key": "Name", "Value": "n"}]}],
            BlockDeviceMappings=[
                {"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": 40, "VolumeType": "gp3", "Encrypted": True}}
            ],
        )
        self.group(1, template=template)
        (machine,) = self.machines().values()
        self.assertEqual([group["GroupId"] for group in machine["SecurityGroups"]], [sg["GroupId"]])
        self.assertEqual(machine["MetadataOptions"]["HttpTokens"], "required")
        self.assertIn({"Key": "Name", "Value": "n"}, machine["Tags"])
        self.assertEqual([one["DeviceName"] for one in machine["BlockDeviceMappings"]], ["/dev/sda1"])

    def test_new_members_can_be_pending_for_a_while(self):
        self.control("settings", group="pool", pending_looks=1)
        self.group(1)
        for lifecycle, state in [("Pending", "pending"), ("InService", "running")]:
            (member,) = self.members().values()
            self.assertEqual(member["LifecycleState"], lifecycle)
            (machine,) = self.machines().values()
            self.assertEqual(machine["State"]["Name"], state)

    def test_unknown_parts_are_refused(self):
        message = self.refused("ValidationError", self.group, template="lt-0fffffffffffffff0")
        self.assertIn("valid fully-formed launch template", message)
        message = self.refused("ValidationError", self.group, template=self.template("bad", image=NO_IMAGE))
        self.assertIn("image id", message)
        message = self.refused("ValidationError", self.group, subnets=["subnet-0fffffffffffffff0"])
        self.assertIn("does not exist", message)
        self.assertIsNone(self.look())


class Bounds(DoubleTest):
    def test_desired_outside_the_bounds_is_refused(self):
        self.refused("ValidationError", self.group, 1, DesiredCapacity=2)
        self.refused("ValidationError", self.group, 1, DesiredCapacity=0, name="other")
        self.group(2, name="third")
        update = self.autoscaling.update_auto_scaling_group
        self.refused("ValidationError", update, AutoScalingGroupName="third", DesiredCapacity=3)
        self.refused("ValidationError", update, AutoScalingGroupName="third", MaxSize=4, DesiredCapacity=5)
        for wrong in (1, 3):
            self.refused(
                "ValidationError",
                self.autoscaling.set_desired_capacity,
                AutoScalingGroupName="third",
                DesiredCapacity=wrong,
            )
        self.assertEqual(len(self.members("third")), 2)

    def test_a_lower_bound_above_the_upper_one_is_refused(self):
        self.refused("ValidationError", self.group, 3, MinSize=4, MaxSize=3)
        self.group(2, name="other")
        self.refused(
            "ValidationError", self.autoscaling.update_auto_scaling_group, AutoScalingGroupName="other", MinSize=3
        )

    def test_bounds_move_the_desired_capacity(self):
        self.group(3)
        self.autoscaling.update_auto_scaling_group(AutoScalingGroupName="pool", MinSize=0, MaxSize=1)
        self.assertEqual((self.look()["DesiredCapacity"], len(self.members())), (1, 1))
        self.autoscaling.update_auto_scaling_group(AutoScalingGroupName="pool", MinSize=2, MaxSize=5)
        self.assertEqual((self.look()["DesiredCapacity"], len(self.members())), (2, 2))

    def test_an_update_of_other_things_leaves_the_size(self):
        self.group(2, MinSize=1, MaxSize=4)
        self.autoscaling.update_auto_scaling_group(AutoScalingGroupName="pool", CapacityRebalance=True)
        self.assertEqual((self.look()["DesiredCapacity"], self.look()["CapacityRebalance"]), (2, True))


class Members(DoubleTest):
    def test_a_suspended_launch_launches_nothing(self):
        self.group(1, MaxSize=3)
        self.autoscaling.suspend_processes(AutoScalingGroupName="pool", ScalingProcesses=["Launch"])
        self.autoscaling.set_desired_capacity(AutoScalingGroupName="pool", DesiredCapacity=3)
        self.assertEqual(len(self.members()), 1)
        self.autoscaling.resume_processes(AutoScalingGroupName="pool", ScalingProcesses=["Launch"])
        self.assertEqual(len(self.members()), 3)

    def test_a_suspended_terminate_terminates_nothing(self):
        self.group(3, MinSize=0)
        self.autoscaling.suspend_processes(AutoScalingGroupName="pool", ScalingProcesses=["Terminate"])
        self.autoscaling.set_desired_capacity(AutoScalingGroupName="pool", DesiredCapacity=0)
        self.assertEqual(len(self.members()), 3)

    def test_protected_members_stay_when_the_group_shrinks(self):
        self.group(3, MinSize=0)
        kept = min(self.members())
        self.autoscaling.set_instance_protection(
            AutoScalingGroupName="pool", InstanceIds=[kept], ProtectedFromScaleIn=True
        )
        self.autoscaling.set_desired_capacity(AutoScalingGroupName="pool", DesiredCapacity=0)
        self.assertEqual(list(self.members()), [kept])

    def test_a_member_terminated_by_hand_is_replaced(self):
        self.group(2)
        gone = min(self.members())
        self.ec2.terminate_instances(InstanceIds=[gone])
        self.assertEqual(len(self.members()), 2)
        self.assertNotIn(gone, self.members())
        self.assertEqual(self.machines()[gone]["State"]["Name"], "terminated")

    def test_members_leave_a_zone_that_the_group_leaves(self):
        subnets = self.subnets()
        self.group(3, subnets=subnets)
        self.autoscaling.update_auto_scaling_group(AutoScalingGroupName="pool", VPCZoneIdentifier=",".join(subnets[:2]))
        zones = Counter(one["AvailabilityZone"] for one in self.members().values())
        self.assertEqual(sorted(zones), ["us-east-1a", "us-east-1b"])
        self.assertEqual(sum(zones.values()), 3)

    def test_leaving_can_take_a_while(self):
        self.control("settings", group="pool", terminating_looks=1)
        self.group(1, MinSize=0)
        self.autoscaling.set_desired_capacity(AutoScalingGroupName="pool", DesiredCapacity=0)
        (member,) = self.members().values()
        self.assertEqual(member["LifecycleState"], "Terminating")
        self.refused(
            "ScalingActivityInProgress", self.autoscaling.delete_auto_scaling_group, AutoScalingGroupName="pool"
        )
        self.assertEqual(self.members(), {})

    def test_the_state_of_a_machine_can_be_set(self):
        self.group(1)
        (member,) = self.members()
        self.control("state", instance=member, state="stopping")
        self.assertEqual(self.machines()[member]["State"]["Name"], "stopping")


class Activities(DoubleTest):
    def newest(self):
        return self.autoscaling.describe_scaling_activities(AutoScalingGroupName="pool")["Activities"][0]

    def test_launches_and_departures_are_written_down(self):
        self.group(1, MinSize=0)
        self.assertEqual(self.newest()["StatusCode"], "Successful")
        self.assertIn("Launching a new EC2 instance", self.newest()["Description"])
        self.autoscaling.set_desired_capacity(AutoScalingGroupName="pool", DesiredCapacity=0)
        self.assertIn("Terminating EC2 instance", self.newest()["Description"])

    def test_an_unknown_image_fails_the_launch(self):
        template = self.group(0, MaxSize=1)
        self.version(template, image=NO_IMAGE)
        self.autoscaling.set_desired_capacity(AutoScalingGroupName="pool", DesiredCapacity=1)
        self.assertEqual(self.members(), {})
        self.assertEqual(self.newest()["StatusCode"], "Failed")
        self.assertIn(NO_IMAGE, self.newest()["StatusMessage"])

    def test_launches_can_be_made_to_fail(self):
        self.control("settings", group="pool", fail_launches="We currently do not have sufficient m6i.large capacity")
        self.group(2)
        self.assertEqual(self.members(), {})
        self.assertIn("sufficient m6i.large capacity", self.newest()["StatusMessage"])
        self.control("settings", group="pool", fail_launches="")
        self.assertEqual(len(self.members()), 2)


class Deletion(DoubleTest):
    def test_a_group_with_members_is_in_use(self):
        self.group(1)
        self.refused("ResourceInUse", self.autoscaling.delete_auto_scaling_group, AutoScalingGroupName="pool")
        self.assertEqual(len(self.members()), 1)

    def test_force_takes_protected_members_too(self):
        self.group(2, NewInstancesProtectedFromScaleIn=True)
        self.autoscaling.delete_auto_scaling_group(AutoScalingGroupName="pool", ForceDelete=True)
        self.assertEqual({m["State"]["Name"] for m in self.machines().values()}, {"terminated"})

    def test_a_deleting_group_stays_visible_for_a_while_and_refuses_changes(self):
        self.group(0)
        self.autoscaling.delete_auto_scaling_group(AutoScalingGroupName="pool")
        message = self.refused(
            "ValidationError", self.autoscaling.update_auto_scaling_group, AutoScalingGroupName="pool", MaxSize=1
        )
        self.assertIn("pending delete", message)
        self.refused("AlreadyExists", self.group, template=self.template("again"))
        self.assertEqual([self.look()["Status"] for _ in range(2)], ["Delete in progress"] * 2)
        self.assertIsNone(self.look())
        self.refused("ValidationError", self.autoscaling.delete_auto_scaling_group, AutoScalingGroupName="pool")

    def test_how_long_is_a_setting(self):
        self.control("settings", group="pool", deleting_looks=0)
        self.group(0)
        self.autoscaling.delete_auto_scaling_group(AutoScalingGroupName="pool")
        self.assertIsNone(self.look())


class Processes(DoubleTest):
    def test_only_known_processes_can_be_suspended(self):
        self.group(0)
        suspend = self.autoscaling.suspend_processes
        self.refused("ValidationError", suspend, AutoScalingGroupName="pool", ScalingProcesses=["Rebalance"])
        suspend(AutoScalingGroupName="pool", ScalingProcesses=["AZRebalance"])
        (shown,) = self.look()["SuspendedProcesses"]
        self.assertEqual(shown["ProcessName"], "AZRebalance")
        self.assertTrue(shown["SuspensionReason"].startswith("User suspended at"))


class Tags(DoubleTest):
    def tags(self, count, key="k"):
        fields = {"ResourceId": "pool", "ResourceType": "auto-scaling-group", "PropagateAtLaunch": False, "Value": "v"}
        return [{"Key": f"{key}{n}", **fields} for n in range(count)]

    def test_fifty_and_no_more(self):
        self.refused("LimitExceeded", self.group, 0, Tags=self.tags(51))
        self.group(0, name="pool", template=self.template("full"), Tags=self.tags(50))
        self.refused("LimitExceeded", self.autoscaling.create_or_update_tags, Tags=self.tags(1, "more"))
        self.autoscaling.create_or_update_tags(Tags=self.tags(1))

    def test_keys_and_values_are_checked(self):
        for key, value in [("a" * 129, ""), ("k", "v" * 257), ("AWS:x", ""), ("a,b", ""), ("k", "a\tb")]:
            tag = {**self.tags(1)[0], "Key": key, "Value": value}
            self.refused(
                "ValidationError", self.group, 0, template=self.template(f"t{abs(hash(key + value))}"), Tags=[tag]
            )

    def test_a_group_must_be_there(self):
        self.assertIn(
            "not found", self.refused("ValidationError", self.autoscaling.create_or_update_tags, Tags=self.tags(1))
        )


class Policies(DoubleTest):
    def put(self, group, name="cpu"):
        target = {
            "PredefinedMetricSpecification": {"PredefinedMetricType": "ASGAverageCPUUtilization"},
            "TargetValue": 60.0,
        }
        return self.autoscaling.put_scaling_policy(
            AutoScalingGroupName=group,
            PolicyName=name,
            PolicyType="TargetTrackingScaling",
            TargetTrackingConfiguration=target,
        )

    def test_two_groups_can_have_policies_of_one_name(self):
        for group in ("one", "two"):
            self.group(0, name=group)
            self.assertIn(group, self.put(group)["PolicyARN"])
        self.autoscaling.delete_policy(AutoScalingGroupName="one", PolicyName="cpu")
        shown = self.autoscaling.describe_policies(AutoScalingGroupName="two")["ScalingPolicies"]
        self.assertEqual(len(shown), 1)
        self.assertTrue(shown[0]["Enabled"])
        self.assertEqual(self.autoscaling.describe_policies(AutoScalingGroupName="one")["ScalingPolicies"], [])

    def test_one_metric_is_tracked_once(self):
        self.group(0)
        self.put("pool")
        self.put("pool")
        self.refused("ValidationError", self.put, "pool", "other")

    def test_a_missing_policy_is_not_found(self):
        self.group(0)
        delete = self.autoscaling.delete_policy
        self.assertIn(
            "not found", self.refused("ValidationError", delete, AutoScalingGroupName="pool", PolicyName="cpu")
        )

    def test_a_missing_group_has_words_of_its_own(self):
        for call in (self.autoscaling.describe_policies, self.autoscaling.describe_scheduled_actions):
            self.assertEqual(self.refused("ValidationError", call, AutoScalingGroupName="none"), "Group none not found")
        self.refused("ValidationError", self.put, "none")
