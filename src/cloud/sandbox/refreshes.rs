//! Instance refreshes: Rolling, at least 100 % healthy, at most 200 %: new instances first.

use std::{collections::BTreeSet, time::Duration};

use super::{
    fault::Fault,
    settling::REACTION,
    world::{RefreshOptions, StoredGroup, StoredInstance, StoredRefresh, World},
};
use crate::{
    clock::Timestamp,
    model::observed::{Launch, Refresh, TemplateUse},
};

/// From `Pending` to `InProgress`.
const START: Duration = Duration::from_secs(5);
/// From `Cancelling` to `Cancelled`.
const CANCEL: Duration = Duration::from_secs(8);
/// Launches that fail before the refresh does.
const FAILURES: u32 = 3;

impl StoredRefresh {
    /// Whether its status is not final.
    pub fn is_active(&self) -> bool {
        !matches!(
            self.status.as_str(),
            "Successful" | "Failed" | "Cancelled" | "RollbackFailed" | "RollbackSuccessful"
        )
    }

    fn end(&mut self, status: &str, reason: Option<String>, at: Timestamp) {
        status.clone_into(&mut self.status);
        self.reason = reason;
        self.end = Some(at);
        self.next = None;
        self.batch.clear();
    }

    pub(super) fn described(&self) -> Refresh {
        let left = u32::try_from(self.left.len()).unwrap_or(u32::MAX);
        let done = self.total.saturating_sub(left);
        let percentage = match self.total {
            _ if self.status == "Pending" => 0,
            0 => 100,
            total => done * 100 / total,
        };
        Refresh {
            id: self.id.clone(),
            status: self.status.clone(),
            reason: self.reason.clone(),
            start: Some(self.start),
            end: self.end,
            percentage: Some(percentage),
            remaining: Some(left),
            warmup_seconds: Some(self.options.warmup_seconds),
            desired_template: self.options.desired.clone(),
        }
    }
}

impl StoredGroup {
    /// The refresh whose status is not final, if there is one.
    pub fn active_refresh(&self) -> Option<&StoredRefresh> {
        self.refreshes.iter().rev().find(|refresh| refresh.is_active())
    }

    fn active_refresh_mut(&mut self) -> Option<&mut StoredRefresh> {
        self.refreshes.iter_mut().rev().find(|refresh| refresh.is_active())
    }

    /// Members wanted now: the desired capacity and what a refresh or a move launches beside it.
    pub(super) fn wanted(&self) -> usize {
        let batch = self.active_refresh().map_or(0, |refresh| refresh.batch.len());
        self.desired as usize + batch + self.moving as usize
    }

    /// Makes Auto Scaling look at the group at `at`, or earlier if that was planned.
    pub(super) fn wake(&mut self, at: Timestamp) {
        self.due = Some(self.due.map_or(at, |due| due.min(at)));
    }
}

/// Members of which a refresh would replace none that already runs `target`.
fn is_replaced(instance: &StoredInstance, options: &RefreshOptions, target: Option<&TemplateUse>) -> bool {
    let same = |a: &TemplateUse, b: &TemplateUse| a.id == b.id && a.version == b.version;
    let matching = instance.template.as_ref().zip(target).is_some_and(|(a, b)| same(a, b));
    instance.is_active()
        && !(options.skip_matching && matching)
        && (options.replace_protected || !instance.protected)
}

impl World {
    /// Starts an instance refresh as `StartInstanceRefresh` does, with options that this program
    /// itself never uses: for tests and for somebody else's hands. Answers its id.
    pub fn start_refresh_by_hand(
        &mut self,
        group: &str,
        options: RefreshOptions,
        now: Timestamp,
    ) -> Option<String> {
        self.start_refresh(group, options, now).ok()
    }

    pub(super) fn start_refresh(
        &mut self,
        name: &str,
        options: RefreshOptions,
        now: Timestamp,
    ) -> Result<String, Fault> {
        let group = self.changeable_group(name)?;
        if group.active_refresh().is_some() {
            return Err(Fault::new(
                "InstanceRefreshInProgress",
                "An Instance Refresh is already in progress and blocks the execution of this Instance Refresh.",
            ));
        }
        let launch = match (&options.desired, &group.launch) {
            (Some(desired), _) | (None, Launch::Template(desired) | Launch::Mixed(desired)) => {
                desired.clone()
            }
            (None, Launch::Other) => {
                return Err(Fault::validation("The Auto Scaling group has no launch template."));
            }
        };
        self.resolve(&launch).map_err(Fault::template)?;
        let id = self.next_uuid();
        let refresh = StoredRefresh {
            id: id.clone(),
            status: "Pending".to_owned(),
            start: now,
            options,
            next: Some(now.plus(START)),
            ..StoredRefresh::default()
        };
        let group = self.changing_group(name)?;
        group.refreshes.push(refresh);
        group.wake(now.plus(START));
        Ok(id)
    }

    pub(super) fn cancel_refresh(&mut self, name: &str, now: Timestamp) -> Result<(), Fault> {
        let group = self.changing_group(name)?;
        let refresh = group.active_refresh_mut().filter(|refresh| refresh.status != "Cancelling");
        let Some(refresh) = refresh else {
            return Err(Fault::new(
                "ActiveInstanceRefreshNotFound",
                format!("No in progress or pending Instance Refresh found for Auto Scaling group {name}"),
            ));
        };
        "Cancelling".clone_into(&mut refresh.status);
        refresh.batch.clear();
        refresh.next = Some(now.plus(CANCEL));
        group.wake(now.plus(REACTION));
        Ok(())
    }

    pub(super) fn step_refresh(&mut self, name: &str, at: Timestamp) {
        let Some(refresh) = self.groups.get(name).and_then(StoredGroup::active_refresh) else { return };
        let ripe = refresh.next.is_none_or(|next| next <= at);
        match refresh.status.as_str() {
            "Pending" if ripe => self.begin_refresh(name, at),
            "InProgress" => self.roll_on(name, at),
            "Cancelling" if ripe => {
                self.with_refresh(name, |refresh| {
                    let reason = "Cancelled due to user request.".to_owned();
                    refresh.end("Cancelled", Some(reason), at);
                });
            }
            _ => self.wake_for_refresh(name, at),
        }
    }

    fn begin_refresh(&mut self, name: &str, at: Timestamp) {
        let Some(refresh) = self.groups.get(name).and_then(StoredGroup::active_refresh) else { return };
        let target = self.launch_template(name).and_then(|wanted| self.resolve(wanted).ok());
        let target = target.map(|(template, _)| template);
        let left: BTreeSet<String> = self
            .instances
            .iter()
            .filter(|(_, i)| i.is_member_of(name) && is_replaced(i, &refresh.options, target.as_ref()))
            .map(|(id, _)| id.clone())
            .collect();
        self.with_refresh(name, |refresh| {
            "InProgress".clone_into(&mut refresh.status);
            refresh.next = None;
            refresh.total = u32::try_from(left.len()).unwrap_or(u32::MAX);
            refresh.left = left;
        });
        self.roll_on(name, at);
    }

    /// One look at a refresh in progress: ends a batch that is warm, begins the next one, or is done.
    fn roll_on(&mut self, name: &str, at: Timestamp) {
        if ["Launch", "Terminate", "InstanceRefresh"].iter().any(|p| self.is_suspended(name, p)) {
            return;
        }
        let active: BTreeSet<String> = self.active_members(name).into_iter().collect();
        self.with_refresh(name, |refresh| {
            refresh.left.retain(|id| active.contains(id));
            refresh.batch.retain(|id| active.contains(id));
        });
        let Some(group) = self.groups.get(name) else { return };
        let Some(refresh) = group.active_refresh() else { return };
        if !refresh.batch.is_empty() {
            let Some(warm_at) = self.warm_at(name, group, refresh) else { return };
            if warm_at > at {
                self.with_refresh(name, |refresh| refresh.next = Some(warm_at));
                self.wake_for_refresh(name, at);
                return;
            }
            self.finish_batch(name, at);
        }
        self.begin_batch(name, at);
    }

    /// When the last replacement of the running batch is warm; `None` while one is not in service.
    fn warm_at(&self, name: &str, group: &StoredGroup, refresh: &StoredRefresh) -> Option<Timestamp> {
        let members: Vec<&StoredInstance> =
            self.instances.values().filter(|i| i.is_member_of(name) && i.is_active()).collect();
        if members.len() < group.wanted() || members.iter().any(|i| i.in_service.is_none()) {
            return None;
        }
        let warmup = Duration::from_secs(refresh.options.warmup_seconds.into());
        let fresh = members.iter().filter(|i| i.launched >= refresh.batch_began);
        Some(fresh.filter_map(|i| i.in_service).map(|since| since.plus(warmup)).max().unwrap_or_default())
    }

    fn finish_batch(&mut self, name: &str, at: Timestamp) {
        let mut batch = BTreeSet::new();
        self.with_refresh(name, |refresh| {
            batch = std::mem::take(&mut refresh.batch);
            refresh.left.retain(|id| !batch.contains(id));
            refresh.next = None;
        });
        for id in batch {
            self.retire(name, &id, at, false);
        }
    }

    /// Half of the group at a time: within the 200 %, and its progress can be watched.
    fn begin_batch(&mut self, name: &str, at: Timestamp) {
        let Some(group) = self.groups.get_mut(name) else { return };
        let size = (group.desired as usize).div_ceil(2).max(1);
        let Some(refresh) = group.active_refresh_mut() else { return };
        if !refresh.left.is_empty() {
            refresh.batch = refresh.left.iter().take(size).cloned().collect();
            refresh.batch_began = at;
            // With the desired capacity lowered meanwhile, no launch follows that would wake the group.
            group.wake(at.plus(REACTION));
            return;
        }
        refresh.end("Successful", None, at);
        if let Some(desired) = refresh.options.desired.clone() {
            group.launch = Launch::Template(desired);
        }
    }

    /// Counts a failed launch against the active refresh; after some, the refresh fails.
    pub(super) fn fail_refresh_launch(&mut self, name: &str, at: Timestamp, reason: &str) {
        self.with_refresh(name, |refresh| {
            if refresh.status != "InProgress" {
                return;
            }
            refresh.failed_launches += 1;
            if refresh.failed_launches >= FAILURES {
                let reason = format!("Instances failed to launch: {reason}");
                refresh.end("Failed", Some(reason), at);
            }
        });
    }

    fn wake_for_refresh(&mut self, name: &str, at: Timestamp) {
        let Some(group) = self.groups.get_mut(name) else { return };
        let next = group.active_refresh().and_then(|refresh| refresh.next);
        if let Some(next) = next.filter(|next| *next > at) {
            group.wake(next);
        }
    }

    fn with_refresh(&mut self, name: &str, change: impl FnOnce(&mut StoredRefresh)) {
        if let Some(refresh) = self.groups.get_mut(name).and_then(StoredGroup::active_refresh_mut) {
            change(refresh);
        }
    }
}
