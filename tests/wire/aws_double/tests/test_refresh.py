"""Instance refreshes."""

from .support import DoubleTest

ROLL = {"MinHealthyPercentage": 100, "MaxHealthyPercentage": 200, "SkipMatching": True}


class Refresh(DoubleTest):
    def start(self, **preferences):
        preferences = {**ROLL, "ScaleInProtectedInstances": "Refresh", "StandbyInstances": "Ignore", **preferences}
        return self.autoscaling.start_instance_refresh(AutoScalingGroupName="pool", Preferences=preferences)[
            "InstanceRefreshId"
        ]

    def shown(self):
        return self.autoscaling.describe_instance_refreshes(AutoScalingGroupName="pool")["InstanceRefreshes"]

    def finish(self):
        self.control("refresh", group="pool", steps=10)
        return self.shown()[0]["Status"]

    def old_pool(self, size=3, **more):
        """A pool whose members run from version 1 of a template that has two."""
        template = self.group(size, **more)
        self.version(template)
        return set(self.members())

    def test_everybody_who_does_not_match_is_replaced_launching_first(self):
        old = self.old_pool()
        self.control("settings", group="pool", refresh_by_looks=False)
        self.start()
        self.control("refresh", group="pool", steps=2)
        self.assertEqual(len(self.members()), 6)
        self.assertEqual(self.finish(), "Successful")
        self.assertEqual(len(self.members()), 3)
        self.assertFalse(old & set(self.members()))
        self.assertEqual(self.shown()[0]["PercentageComplete"], 100)

    def test_those_who_match_stay_only_with_skip_matching(self):
        self.group(2)
        before = set(self.members())
        self.start()
        self.assertEqual(self.finish(), "Successful")
        self.assertEqual(set(self.members()), before)
        self.start(SkipMatching=False)
        self.assertEqual(self.finish(), "Successful")
        self.assertFalse(set(self.members()) & before)

    def test_one_at_a_time(self):
        self.old_pool(1)
        self.start()
        self.refused("InstanceRefreshInProgress", self.start)

    def test_newest_first_and_moved_by_looks(self):
        self.old_pool(1)
        first = self.start()
        self.assertEqual(self.finish(), "Successful")
        second = self.start()
        self.assertEqual([one["InstanceRefreshId"] for one in self.shown()], [second, first])
        statuses = [self.shown()[0]["Status"] for _ in range(4)]
        self.assertEqual(statuses[-1], "Successful")

    def test_protected_members(self):
        for choice, status, kept in [
            ("Ignore", "Successful", 1),
            ("Wait", "InProgress", 1),
            ("Refresh", "Successful", 0),
        ]:
            with self.subTest(choice):
                self.setUp()
                old = self.old_pool(2)
                protected = min(old)
                self.autoscaling.set_instance_protection(
                    AutoScalingGroupName="pool", InstanceIds=[protected], ProtectedFromScaleIn=True
                )
                self.start(ScaleInProtectedInstances=choice)
                self.assertEqual(self.finish(), status)
                self.assertEqual(len({protected} & set(self.members())), kept)
                self.assertEqual(len(old & set(self.members())), kept)

    def test_members_in_standby(self):
        for choice, status, kept in [
            ("Ignore", "Successful", 1),
            ("Wait", "InProgress", 1),
            ("Terminate", "Successful", 0),
        ]:
            with self.subTest(choice):
                self.setUp()
                old = self.old_pool(2, MinSize=0)
                aside = min(old)
                self.autoscaling.enter_standby(
                    AutoScalingGroupName="pool", InstanceIds=[aside], ShouldDecrementDesiredCapacity=True
                )
                self.start(StandbyInstances=choice)
                self.assertEqual(self.finish(), status)
                self.assertEqual(len({aside} & set(self.members())), kept)

    def test_cancelling_comes_to_an_end(self):
        old = self.old_pool()
        started = self.start()
        cancelled = self.autoscaling.cancel_instance_refresh(AutoScalingGroupName="pool")
        self.assertEqual(cancelled["InstanceRefreshId"], started)
        self.assertEqual([self.shown()[0]["Status"] for _ in range(2)], ["Cancelling", "Cancelled"])
        self.assertEqual(set(self.members()), old)
        self.refused(
            "ActiveInstanceRefreshNotFound", self.autoscaling.cancel_instance_refresh, AutoScalingGroupName="pool"
        )
        self.start()

    def test_a_desired_configuration_holds_the_template_and_is_taken_over(self):
        self.old_pool()
        other = self.template("other")
        self.autoscaling.start_instance_refresh(
            AutoScalingGroupName="pool",
            Preferences=ROLL,
            DesiredConfiguration={"LaunchTemplate": {"LaunchTemplateId": other, "Version": "1"}},
        )
        update = self.autoscaling.update_auto_scaling_group
        template = {"LaunchTemplateId": other, "Version": "$Latest"}
        self.refused("ValidationError", update, AutoScalingGroupName="pool", LaunchTemplate=template)
        update(AutoScalingGroupName="pool", MaxSize=4)
        self.assertEqual(self.finish(), "Successful")
        self.assertEqual({one["LaunchTemplate"]["LaunchTemplateId"] for one in self.members().values()}, {other})
        self.assertEqual(self.look()["LaunchTemplate"]["LaunchTemplateId"], other)
        update(AutoScalingGroupName="pool", LaunchTemplate=template)

    def test_without_one_the_template_may_change_and_nothing_rolls_back(self):
        self.old_pool()
        self.start()
        other = self.template("other")
        self.autoscaling.update_auto_scaling_group(
            AutoScalingGroupName="pool", LaunchTemplate={"LaunchTemplateId": other, "Version": "$Latest"}
        )
        rollback = self.autoscaling.rollback_instance_refresh
        self.refused("IrreversibleInstanceRefresh", rollback, AutoScalingGroupName="pool")

    def test_a_suspended_process_stops_it(self):
        old = self.old_pool()
        self.autoscaling.suspend_processes(AutoScalingGroupName="pool", ScalingProcesses=["InstanceRefresh"])
        self.start()
        self.assertEqual(self.finish(), "InProgress")
        self.assertEqual(set(self.members()), old)

    def test_it_can_be_made_to_fail(self):
        self.old_pool()
        self.start()
        self.control("refresh", group="pool", status="Failed", reason="the instances did not become healthy")
        self.assertEqual(self.shown()[0]["Status"], "Failed")
        self.assertEqual(self.shown()[0]["StatusReason"], "the instances did not become healthy")

    def test_percentages_are_checked(self):
        self.old_pool(1)
        for wrong in ({"MinHealthyPercentage": 50}, {"MaxHealthyPercentage": 201}, {"MinHealthyPercentage": 101}):
            self.refused("ValidationError", self.start, **wrong)

    def test_a_group_must_be_there(self):
        self.assertIn("not found", self.refused("ValidationError", self.start))
        self.assertIn("not found", self.refused("ValidationError", self.shown))
