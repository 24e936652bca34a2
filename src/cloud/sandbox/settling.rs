//! How the account moves on by itself. Nothing runs in the background: every call first lets happen,
//! one moment after the other, what was due since the call before.

use std::time::Duration;

use super::world::World;
use crate::clock::Timestamp;

/// How long Auto Scaling takes to notice a change.
pub(super) const REACTION: Duration = Duration::from_secs(3);
/// How long a deleted group is seen at least.
const DELETION: Duration = Duration::from_secs(10);
/// How long a terminated instance is seen (EC2 user guide: usually less than an hour).
const REMEMBERED: Duration = Duration::from_mins(50);
/// The first wait after a failed launch; it doubles, five times at most.
const RETRY: Duration = Duration::from_secs(15);
/// Launches in one step, so that none takes long however many are wanted.
const LAUNCHES: usize = 2_000;

impl World {
    /// Lets everything happen that is due at `now`.
    pub fn settle(&mut self, now: Timestamp) {
        while self.settle_step(now) {}
    }

    /// Lets happen what is due first, if anything is due at `now`; whether it was. It takes a time that grows with the
    /// account, but not with what there is to do.
    pub(super) fn settle_step(&mut self, now: Timestamp) -> bool {
        let next = self.next_event().filter(|at| *at <= now);
        next.map(|at| self.step(at)).is_some()
    }

    /// Makes Auto Scaling look at every group soon: after a change by somebody else's hands.
    pub fn wake_all(&mut self, now: Timestamp) {
        for group in self.groups.values_mut() {
            group.wake(now.plus(REACTION));
        }
    }

    fn next_event(&self) -> Option<Timestamp> {
        let instances = self.instances.values().filter_map(|instance| instance.until);
        let groups = self.groups.values().filter_map(|group| group.due);
        instances.chain(groups).min()
    }

    fn step(&mut self, at: Timestamp) {
        let is_due = |until: Option<Timestamp>| until.is_some_and(|until| until <= at);
        let instances: Vec<String> =
            self.instances.iter().filter(|(_, i)| is_due(i.until)).map(|(id, _)| id.clone()).collect();
        for id in instances {
            self.step_instance(&id, at);
        }
        let groups: Vec<String> =
            self.groups.iter().filter(|(_, g)| is_due(g.due)).map(|(name, _)| name.clone()).collect();
        for name in groups {
            if let Some(group) = self.groups.get_mut(&name) {
                group.due = None;
            }
            self.step_group(&name, at);
        }
    }

    fn step_instance(&mut self, id: &str, at: Timestamp) {
        let Some(instance) = self.instances.get_mut(id) else { return };
        instance.until = None;
        let group = instance.group.clone().unwrap_or_default();
        match (instance.state.as_str(), instance.lifecycle.as_deref()) {
            ("running" | "stopped", Some("Terminating:Wait")) => self.shut_down(id, at),
            ("pending", lifecycle) => {
                if lifecycle == Some("Pending") {
                    instance.lifecycle = Some("InService".to_owned());
                    instance.in_service = Some(at);
                }
                "running".clone_into(&mut instance.state);
                self.finish_activities(&group, id);
            }
            ("stopping", _) => "stopped".clone_into(&mut instance.state),
            ("shutting-down", _) => {
                "terminated".clone_into(&mut instance.state);
                instance.lifecycle = None;
                instance.addresses.clear();
                instance.until = Some(at.plus(REMEMBERED));
                self.finish_activities(&group, id);
            }
            ("terminated", _) => {
                self.instances.remove(id);
            }
            _ => {}
        }
        if let Some(group) = self.groups.get_mut(&group) {
            group.wake(at);
        }
    }

    fn step_group(&mut self, name: &str, at: Timestamp) {
        self.replace_unhealthy(name, at);
        let Some(group) = self.groups.get_mut(name) else { return };
        if let Some(since) = group.deleting {
            let gone_at = since.plus(DELETION);
            if at < gone_at {
                group.wake(gone_at);
            } else if self.members(name).is_empty() {
                self.remember_group(name);
                self.groups.remove(name);
            }
            return;
        }
        self.step_refresh(name, at);
        self.fit_capacity(name, at);
        self.rebalance(name, at);
    }

    /// Members that EC2 no longer runs leave; the group launches others in their place.
    fn replace_unhealthy(&mut self, name: &str, at: Timestamp) {
        let suspended = ["HealthCheck", "ReplaceUnhealthy", "Terminate"]
            .iter()
            .any(|process| self.is_suspended(name, process));
        for id in self.members(name) {
            let Some(instance) = self.instances.get_mut(&id) else { continue };
            match (instance.state.as_str(), instance.lifecycle.as_deref()) {
                ("terminated", _) => {
                    instance.lifecycle = None;
                    let gone_at = at.plus(REMEMBERED);
                    instance.until.get_or_insert(gone_at);
                }
                ("shutting-down", _) => self.shut_down_listed(&id, at),
                ("stopping" | "stopped", Some("InService" | "Pending")) if !suspended => {
                    self.retire(name, &id, at, false);
                }
                _ => {}
            }
        }
    }

    /// A member that somebody terminated in EC2 is listed as terminating.
    fn shut_down_listed(&mut self, id: &str, at: Timestamp) {
        let timed = self.instances.get(id).is_some_and(|instance| instance.until.is_some());
        if !timed {
            self.shut_down(id, at);
        } else if let Some(instance) = self.instances.get_mut(id) {
            instance.lifecycle = Some("Terminating".to_owned());
        }
    }

    /// Launches what is missing, terminates what is too much.
    fn fit_capacity(&mut self, name: &str, at: Timestamp) {
        let active = self.active_members(name).len();
        let Some(group) = self.groups.get(name) else { return };
        let wanted = group.wanted();
        if active < wanted && !self.is_suspended(name, "Launch") {
            let count = (wanted - active).min(LAUNCHES);
            if let Err(reason) = self.launch(name, count, at) {
                self.note_failed_launch(name, at, &reason);
                self.count_failure(name, at, &reason);
                return;
            }
            let Some(group) = self.groups.get_mut(name) else { return };
            group.failures = 0;
            if active + count < wanted {
                group.wake(at);
            }
        } else if active > wanted && !self.is_suspended(name, "Terminate") {
            for id in self.scale_in_victims(name, active - wanted) {
                self.retire(name, &id, at, false);
            }
        }
    }

    fn count_failure(&mut self, name: &str, at: Timestamp, reason: &str) {
        self.fail_refresh_launch(name, at, reason);
        if let Some(group) = self.groups.get_mut(name) {
            let wait = RETRY * 2u32.pow(group.failures.min(5));
            group.failures = group.failures.saturating_add(1);
            group.wake(at.plus(wait));
        }
    }

    /// Moves members out of subnets that the group left, and evens out the zones (`AZRebalance`),
    /// a few at a time: the new instances first, then the old ones.
    fn rebalance(&mut self, name: &str, at: Timestamp) {
        let suspended = self.is_suspended(name, "Launch") || self.is_suspended(name, "Terminate");
        let active = self.active_members(name);
        let Some(group) = self.groups.get(name) else { return };
        let all_in_service = active
            .iter()
            .filter_map(|id| self.instances.get(id))
            .all(|instance| instance.lifecycle.as_deref() == Some("InService"));
        if suspended || group.active_refresh().is_some() || active.len() != group.wanted() || !all_in_service
        {
            return;
        }
        let begins = group.moving == 0;
        let moving = if begins { self.moved_next(name) } else { 0 };
        if begins && moving == 0 {
            return;
        }
        if let Some(group) = self.groups.get_mut(name) {
            group.moving = moving;
            group.wake(at.plus(REACTION));
        }
    }

    pub(super) fn is_suspended(&self, name: &str, process: &str) -> bool {
        self.groups.get(name).is_some_and(|group| group.suspended.contains(process))
    }
}
