//! What hangs on a group: processes, policies, protection, scheduled actions, the warm pool.

use super::{fault::Fault, settling::REACTION, world::World};
use crate::{clock::Timestamp, model::observed::Policy};

/// Instances that one call may unprotect.
const PROTECTION_LIMIT: usize = 50;

const PROCESSES: [&str; 9] = [
    "AZRebalance",
    "AddToLoadBalancer",
    "AlarmNotification",
    "HealthCheck",
    "InstanceRefresh",
    "Launch",
    "ReplaceUnhealthy",
    "ScheduledActions",
    "Terminate",
];

impl World {
    pub(super) fn set_suspended(
        &mut self,
        name: &str,
        process: &str,
        suspended: bool,
        now: Timestamp,
    ) -> Result<(), Fault> {
        let group = self.changing_group(name)?;
        if !PROCESSES.contains(&process) {
            return Err(Fault::validation(format!("Invalid scaling process type: {process}")));
        }
        if suspended {
            group.suspended.insert(process.to_owned());
        } else {
            group.suspended.remove(process);
            group.wake(now.plus(REACTION));
        }
        Ok(())
    }

    /// Target tracking on average CPU; a policy of that name is replaced as a whole.
    pub(super) fn put_policy(&mut self, name: &str, policy: &str, target: f64) -> Result<(), Fault> {
        let group = self.changing_group(name)?;
        if policy.is_empty() || policy.chars().count() > 255 {
            return Err(Fault::validation("The policy name must be 1 to 255 characters"));
        }
        if !target.is_finite() || target <= 0.0 {
            return Err(Fault::validation(format!("Invalid target value: {target}")));
        }
        let stored = Policy {
            name: policy.to_owned(),
            target_tracking: Some(("ASGAverageCPUUtilization".to_owned(), target)),
            ..Policy::default()
        };
        group.policies.insert(policy.to_owned(), stored);
        Ok(())
    }

    pub(super) fn delete_policy(&mut self, name: &str, policy: &str) -> Result<(), Fault> {
        let removed = self.changing_group(name)?.policies.remove(policy);
        removed.map(drop).ok_or_else(|| Fault::validation(format!("Policy {policy} not found")))
    }

    pub(super) fn unprotect(
        &mut self,
        name: &str,
        instances: &[String],
        now: Timestamp,
    ) -> Result<(), Fault> {
        self.changeable_group(name)?;
        if instances.is_empty() || instances.len() > PROTECTION_LIMIT {
            return Err(Fault::validation(format!(
                "The number of instance IDs must be between 1 and {PROTECTION_LIMIT}"
            )));
        }
        for id in instances {
            let member = self.instances.get(id).filter(|instance| instance.is_member_of(name));
            let Some(member) = member else {
                return Err(Fault::validation(format!(
                    "The instance {id} is not part of Auto Scaling group {name}."
                )));
            };
            if !matches!(member.lifecycle.as_deref(), Some("InService" | "EnteringStandby" | "Standby")) {
                return Err(Fault::validation(format!(
                    "The instance {id} is not in InService or EnteringStandby or Standby."
                )));
            }
        }
        for id in instances {
            if let Some(instance) = self.instances.get_mut(id) {
                instance.protected = false;
            }
        }
        self.changing_group(name)?.wake(now.plus(REACTION));
        Ok(())
    }

    pub(super) fn delete_scheduled_action(&mut self, name: &str, action: &str) -> Result<(), Fault> {
        if self.changing_group(name)?.scheduled_actions.remove(action) {
            return Ok(());
        }
        Err(Fault::validation(format!("Scheduled action name not found - {action}")))
    }

    pub(super) fn delete_warm_pool(&mut self, name: &str) -> Result<(), Fault> {
        let group = self.changing_group(name)?;
        if !group.warm_pool {
            return Err(Fault::validation(format!("No warm pool found for Auto Scaling group {name}")));
        }
        group.warm_pool = false;
        Ok(())
    }
}
