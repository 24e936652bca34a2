//! Things that can be disturbed: each begins somewhere, changes something, and has one right end.

use std::collections::BTreeMap;

use serde_json::json;

use crate::{
    harness::{Outcome, Pool},
    inputs,
};

/// One command in one situation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scenario {
    /// Whether the pool exists before.
    applied: bool,
    /// Inputs from the start.
    begin: fn(&mut Pool),
    /// What changes then.
    change: fn(&mut Pool),
    /// The command.
    args: &'static [&'static str],
}

const APPLY: &[&str] = &["apply", "-auto-approve"];
const DESTROY: &[&str] = &["destroy", "-auto-approve"];

fn autoscaled(pool: &mut Pool) {
    pool.set("autoscaling", json!({"enabled": true, "min": 1, "max": 5}));
}

pub(crate) const CREATION: Scenario =
    Scenario { applied: false, begin: autoscaled, change: |_| {}, args: APPLY };
pub(crate) const ROTATION: Scenario = Scenario {
    applied: true,
    begin: autoscaled,
    change: |pool| pool.set("bootstrap_data", inputs::bootstrap(2).into()),
    args: APPLY,
};
pub(crate) const NEW_VERSION: Scenario = Scenario {
    applied: true,
    begin: |pool| pool.set("additional_tags", json!({"old": "1"})),
    change: |pool| pool.set("additional_tags", json!({"new": "1"})),
    args: APPLY,
};
pub(crate) const ROLL: Scenario = Scenario {
    applied: true,
    begin: |_| {},
    change: |pool| pool.set("kubernetes_version", "v1.34.2".into()),
    args: APPLY,
};
pub(crate) const AUTOSCALING_ON: Scenario =
    Scenario { applied: true, begin: |_| {}, change: autoscaled, args: APPLY };
pub(crate) const AUTOSCALING_OFF: Scenario = Scenario {
    applied: true,
    begin: autoscaled,
    change: |pool| pool.set("autoscaling", json!({"enabled": false, "min": 0, "max": 0})),
    args: APPLY,
};
pub(crate) const END: Scenario = Scenario { applied: true, begin: autoscaled, change: |_| {}, args: DESTROY };

/// What counts of the end.
#[derive(Debug, PartialEq)]
pub(crate) struct End {
    group: Option<(Vec<i32>, usize, BTreeMap<String, String>)>,
    templates: Vec<(Option<i64>, Option<i64>, usize)>,
    policies: usize,
    refreshes: usize,
    object: Option<String>,
}

impl Scenario {
    /// A pool where the command is about to run; `None` where the double cannot.
    pub(crate) async fn pool(&self) -> Option<Pool> {
        let pool = self.unmade().await?;
        if self.applied {
            pool.apply();
        }
        let pool = self.changed(pool);
        pool.forget_calls();
        Some(pool)
    }

    /// A pool with the inputs that the scenario begins with.
    pub(crate) async fn unmade(&self) -> Option<Pool> {
        let mut pool = Pool::new().await?;
        pool.behaviour(json!({"refresh_by_looks": false, "deleting_looks": 0}));
        (self.begin)(&mut pool);
        Some(pool)
    }

    /// Whether the pool exists before.
    pub(crate) fn begins_applied(&self) -> bool {
        self.applied
    }

    /// The pool with the inputs that the command runs with.
    pub(crate) fn changed(&self, mut pool: Pool) -> Pool {
        (self.change)(&mut pool);
        pool
    }

    /// The command.
    pub(crate) fn arguments(&self) -> &'static [&'static str] {
        self.args
    }

    pub(crate) fn run(&self, pool: &Pool) -> Outcome {
        pool.run(self.args)
    }

    pub(crate) fn command(&self, pool: &Pool) -> std::process::Command {
        pool.command(self.args)
    }

    /// Nothing is left to do.
    #[track_caller]
    pub(crate) fn is_done(&self, pool: &Pool) {
        if self.args == DESTROY {
            pool.destroy().says("Resources: 0 destroyed.");
        } else {
            pool.run(&["plan", "-detailed-exitcode"]).ok();
        }
    }

    /// How an undisturbed run ends, and each of its calls: operation, and which one of that operation.
    pub(crate) async fn undisturbed(&self) -> Option<(End, Vec<(String, usize)>)> {
        let pool = self.pool().await?;
        self.run(&pool).ok();
        let mut calls: Vec<(String, usize)> = Vec::new();
        for call in pool.calls() {
            let before = calls.iter().filter(|(operation, _)| *operation == call.operation).count();
            calls.push((call.operation, before));
        }
        Some((pool.end().await, calls))
    }
}

impl Pool {
    pub(crate) async fn end(&self) -> End {
        let group = match self.find_group().await {
            Some(group) => {
                Some((self.capacity().await.to_vec(), group.instances().len(), self.own_tags().await))
            }
            None => None,
        };
        let templates = self.templates().await;
        let there = group.is_some();
        End {
            group,
            templates: templates
                .iter()
                .map(|t| (t.latest_version_number(), t.default_version_number(), t.tags().len()))
                .collect(),
            policies: if there { self.policies().await.len() } else { 0 },
            refreshes: if there { self.refreshes().await.len() } else { 0 },
            object: self.find_object().await.and_then(|head| head.checksum_sha256),
        }
    }

    /// The group's tags, less what differs from pool to pool.
    async fn own_tags(&self) -> BTreeMap<String, String> {
        let mut tags = self.group_tags().await;
        tags.remove("captf.io/namespace");
        tags
    }
}
