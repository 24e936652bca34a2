"""The operations by name: what moto's dispatcher finds, handed on to the strict models."""

from moto.autoscaling import models, urls
from moto.autoscaling.responses import AutoScalingResponse
from moto.core.responses import ActionResult, EmptyResult
from moto.ec2 import urls as ec2_urls
from moto.ec2.models import launch_templates
from moto.ec2.responses import EC2Response
from moto.servicequotas import models as quota_models

from . import refresh
from .groups import StrictBackend, StrictGroup
from .rules import policy_target_not_found
from .templates import StrictTemplate, TemplateOperations

PAGE = 50
# AWS's default quotas of a region.
MAX_GROUPS, MAX_LAUNCH_CONFIGURATIONS = 500, 200
# Quotas of vCPUs: Standard families, On-Demand and Spot.
EC2_QUOTAS = {"L-1216C47A": 10000.0, "L-34B43A08": 10000.0}


class EC2Quotas(quota_models.ServiceQuotasBackend):
    """Moto knows the quotas of VPC only."""

    # Moto looks for a service's URLs beside its backend.
    __module__ = quota_models.__name__

    def get_service_quota(self, service_code, quota_code):
        if service_code == "ec2" and quota_code in EC2_QUOTAS:
            return {"ServiceCode": "ec2", "QuotaCode": quota_code, "Value": EC2_QUOTAS[quota_code]}
        return super().get_service_quota(service_code, quota_code)


class StrictEC2(TemplateOperations, EC2Response):
    """EC2 with strict launch templates."""


class StrictAutoScaling(AutoScalingResponse):
    """Auto Scaling with what moto lacks or takes too lightly."""

    def _group(self):
        return self.autoscaling_backend.group(self._get_param("AutoScalingGroupName"))

    def update_auto_scaling_group(self):
        self.autoscaling_backend.update_auto_scaling_group(
            name=self._get_param("AutoScalingGroupName"),
            availability_zones=self._get_param("AvailabilityZones", []),
            desired_capacity=self._get_int_param("DesiredCapacity"),
            max_size=self._get_int_param("MaxSize"),
            min_size=self._get_int_param("MinSize"),
            launch_config_name=self._get_param("LaunchConfigurationName"),
            launch_template=self._get_param("LaunchTemplate", {}),
            vpc_zone_identifier=self._get_param("VPCZoneIdentifier"),
            health_check_period=self._get_int_param("HealthCheckGracePeriod"),
            health_check_type=self._get_param("HealthCheckType"),
            new_instances_protected_from_scale_in=self._get_bool_param("NewInstancesProtectedFromScaleIn"),
            capacity_rebalance=self._get_bool_param("CapacityRebalance"),
            mixed_instances_policy=self._get_param("MixedInstancesPolicy"),
        )
        return EmptyResult()

    def delete_auto_scaling_group(self):
        force = self._get_bool_param("ForceDelete", False)
        self.autoscaling_backend.delete_auto_scaling_group(self._get_param("AutoScalingGroupName"), force)
        return EmptyResult()

    def describe_account_limits(self):
        return ActionResult(
            {
                "MaxNumberOfAutoScalingGroups": MAX_GROUPS,
                "MaxNumberOfLaunchConfigurations": MAX_LAUNCH_CONFIGURATIONS,
                "NumberOfAutoScalingGroups": len(self.autoscaling_backend.autoscaling_groups),
                "NumberOfLaunchConfigurations": 0,
            }
        )

    def describe_scaling_activities(self):
        name = self._get_param("AutoScalingGroupName")
        groups = self.autoscaling_backend.autoscaling_groups
        found = [one for group in groups.values() if not name or group.name == name for one in group.activities]
        start = int(self._get_param("NextToken") or 0)
        end = start + self._get_int_param("MaxRecords", 100)
        token = str(end) if end < len(found) else None
        return ActionResult({"Activities": found[start:end], "NextToken": token})

    def put_scaling_policy(self):
        params = self._get_params()
        policy = self.autoscaling_backend.put_scaling_policy(
            name=params.get("PolicyName"),
            policy_type=params.get("PolicyType", "SimpleScaling"),
            metric_aggregation_type=params.get("MetricAggregationType"),
            adjustment_type=params.get("AdjustmentType"),
            as_name=params.get("AutoScalingGroupName"),
            min_adjustment_magnitude=params.get("MinAdjustmentMagnitude"),
            scaling_adjustment=self._get_int_param("ScalingAdjustment"),
            cooldown=self._get_int_param("Cooldown"),
            target_tracking_config=params.get("TargetTrackingConfiguration", {}),
            step_adjustments=params.get("StepAdjustments", []),
            estimated_instance_warmup=params.get("EstimatedInstanceWarmup"),
            predictive_scaling_configuration=params.get("PredictiveScalingConfiguration", {}),
        )
        return ActionResult({"PolicyARN": policy.arn, "Alarms": policy.alarms})

    def delete_policy(self):
        self.autoscaling_backend.remove_policy(self._get_param("AutoScalingGroupName"), self._get_param("PolicyName"))
        return EmptyResult()

    def describe_scheduled_actions(self):
        name = self._get_param("AutoScalingGroupName")
        if name:
            self.autoscaling_backend.group(name, policy_target_not_found)
        return super().describe_scheduled_actions()

    def start_instance_refresh(self):
        params = self._get_params()
        started = self.autoscaling_backend.start_instance_refresh(
            params["AutoScalingGroupName"], params.get("Preferences"), params.get("DesiredConfiguration")
        )
        return ActionResult({"InstanceRefreshId": started.id})

    def describe_instance_refreshes(self):
        group = self._group()
        wanted = self._get_param("InstanceRefreshIds", [])
        active = group.active_refresh()
        # A cancellation comes to its end by itself even where the control endpoint sets the pace.
        if active and (group.settings["refresh_by_looks"] or active.status == "Cancelling"):
            shown = [one.describe() for one in group.refreshes]
            active.step()
        else:
            shown = [one.describe() for one in group.refreshes]
        shown = [one for one in shown if not wanted or one["InstanceRefreshId"] in wanted]
        start = int(self._get_param("NextToken") or 0)
        end = start + self._get_int_param("MaxRecords", PAGE)
        token = str(end) if end < len(shown) else None
        return ActionResult({"InstanceRefreshes": shown[start:end], "NextToken": token})

    def cancel_instance_refresh(self):
        return ActionResult({"InstanceRefreshId": refresh.cancel(self._group()).id})

    def rollback_instance_refresh(self):
        return ActionResult({"InstanceRefreshId": refresh.rollback(self._group()).id})


def install():
    """Puts the strict models in moto's place; before its first call."""
    models.FakeAutoScalingGroup = StrictGroup
    models.autoscaling_backends.backend = StrictBackend
    urls.url_paths = {"{0}/$": StrictAutoScaling.dispatch}
    launch_templates.LaunchTemplate = StrictTemplate
    ec2_urls.url_paths = {"{0}/": StrictEC2.dispatch}
    quota_models.servicequotas_backends.backend = EC2Quotas
