//! The stories that are disturbed: what a pool was, and what is asked of it then.

use std::time::Duration;

use machinepool::{
    contract::request::{Autoscaling, Request},
    error::Failure,
};
use serde_json::{Value, json};

use super::super::{
    foreign::{self, Edit, Outcome},
    lab::{Lab, both, patched},
};
use super::hands;

/// From one state of a pool to another.
pub(crate) struct Story {
    pub(crate) name: &'static str,
    given: Vec<Given>,
    pub(crate) then: Then,
    /// The inputs of [`Then::Apply`]; for a destroy, the last ones given.
    pub(crate) request: Request,
    /// The inputs before the change; `None` where leading back means nothing.
    pub(crate) before: Option<Request>,
    /// What somebody wants instead after an interruption; `None` where it would mean something else there.
    pub(crate) instead: Option<Request>,
}

/// What happened before.
enum Given {
    /// A merge patch on the shared inputs was applied, and so many minutes passed.
    Applied(Value, u64),
    /// Somebody's hand was at work.
    Hand(fn(&mut Lab)),
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    Apply,
    Destroy,
}

use Given::{Applied, Hand};

impl Story {
    fn to(name: &'static str, given: Vec<Given>, then: Value) -> Self {
        let request = patched(then);
        let instead = Some(patched(json!({
            "kubernetes_version": "v1.34.1+rke2r1", "instance_type": "c7i.xlarge", "replicas": 2,
            "additional_tags": {"later": "yes"}, "bootstrap_data": "I2Nsb3VkLWNvbmZpZyAzCg=="
        })));
        let before = last_applied(&given);
        Self { name, given, then: Then::Apply, request, before, instead }
    }

    fn end(name: &'static str, given: Vec<Given>) -> Self {
        let mut story = Self::to(name, given, json!({}));
        story.request = story.before.take().unwrap_or(story.request);
        story.instead = None;
        story.then = Then::Destroy;
        story
    }

    /// Back to inputs that have not changed, or to a pool as no pool should be.
    fn without_way_back(mut self) -> Self {
        self.before = None;
        self
    }

    /// Without a record of what a template was made for, other inputs than those at hand would be taken
    /// for it: which ones came first then makes a difference.
    fn without_alternative(mut self) -> Self {
        self.instead = None;
        self
    }

    /// The account before the change.
    pub(crate) fn begin(&self) -> Lab {
        let mut lab = Lab::new();
        for given in &self.given {
            match given {
                Applied(patch, minutes) => {
                    lab.apply(&patched(patch.clone())).unwrap();
                    lab.wait(Duration::from_mins(*minutes));
                }
                Hand(hand) => hand(&mut lab),
            }
        }
        lab
    }

    /// Whether a pool whose destroy was interrupted can be applied again with one outcome: what stood in the way
    /// of the destroy it may or may not have taken away, and how many members a scaler wants is forgotten.
    pub(crate) fn can_begin_anew(&self) -> bool {
        self.then == Then::Destroy
            && self.request.autoscaling == Autoscaling::Off
            && self.given.iter().all(|given| matches!(given, Applied(..)))
    }

    /// Does what is asked, once.
    pub(crate) fn perform(&self, lab: &Lab) -> Result<(), Failure> {
        match self.then {
            Then::Apply => lab.apply(&self.request).map(drop),
            Then::Destroy => lab.destroy(&self.request.scope).map(drop),
        }
    }
}

fn last_applied(given: &[Given]) -> Option<Request> {
    given.iter().rev().find_map(|given| match given {
        Applied(patch, _) => Some(patched(patch.clone())),
        Hand(_) => None,
    })
}

fn roll() -> Value {
    json!({"kubernetes_version": "v1.35.0"})
}

fn next_roll() -> Value {
    json!({"kubernetes_version": "v1.36.0"})
}

fn autoscaled() -> Value {
    json!({"autoscaling": {"enabled": true, "min": 2, "max": 6}})
}

fn external() -> Value {
    json!({"autoscaling": {"enabled": true, "min": 2, "max": 6}, "autoscaler": "external"})
}

fn pool() -> Vec<Given> {
    vec![Applied(json!({}), 10)]
}

fn pool_and(hands: impl IntoIterator<Item = Given>) -> Vec<Given> {
    pool().into_iter().chain(hands).collect()
}

/// All of them; the first [`EVERYDAY`] are what happens to any pool.
pub(crate) fn stories() -> Vec<Story> {
    [everyday(), rolls(), capacity(), take_over(), ends(), mending()].into_iter().flatten().collect()
}

/// How many stories [`everyday`] has.
pub(crate) const EVERYDAY: usize = 13;

fn everyday() -> Vec<Story> {
    let zones = json!(["us-east-1a", "us-east-1b"]);
    vec![
        Story::to("create", vec![], autoscaled()),
        Story::to("rotate", pool(), json!({"bootstrap_data": "I2Nsb3VkLWNvbmZpZyAyCg=="})),
        Story::to(
            "new version",
            pool(),
            json!({"instance_type": "c7i.large", "node_labels": {"tier": "gpu"}}),
        ),
        Story::to(
            "tag removed",
            vec![Applied(json!({"additional_tags": {"team": "blue", "cost": "7"}}), 10)],
            json!({"additional_tags": {"team": "green"}}),
        ),
        Story::to("roll", pool(), roll()),
        Story::to("roll and everything else", pool(), {
            json!({
                "kubernetes_version": "v1.35.0", "instance_type": "c7i.large", "replicas": 4,
                "bootstrap_data": "I2Nsb3VkLWNvbmZpZyAyCg==", "additional_tags": {"team": "green"},
                "failure_domains": zones, "spot": true
            })
        }),
        Story::to("roll while a roll runs", pool_and([Applied(roll(), 6)]), next_roll()),
        Story::to("roll while a roll begins", pool_and([Applied(roll(), 0)]), next_roll()),
        Story::to("back while a roll runs", pool_and([Applied(roll(), 6)]), json!({})),
        Story::to("scale out", pool(), json!({"replicas": 5})),
        Story::to("scale to nothing", pool(), json!({"replicas": 0})),
        Story::to("autoscaling on", pool(), autoscaled()),
        Story::to("autoscaling off", vec![Applied(autoscaled(), 10)], json!({})),
    ]
}

fn rolls() -> Vec<Story> {
    let half = || pool_and([Applied(roll(), 3), Hand(hands::cancel_refresh)]);
    vec![
        Story::to("roll of a pool of one", vec![Applied(json!({"replicas": 1}), 10)], {
            both(roll(), &json!({"replicas": 1}))
        }),
        Story::to("roll with a protected and a standby member", pool_and([Hand(hands::put_aside)]), {
            both(roll(), &json!({"replicas": 2}))
        }),
        // The operator's word about the half-done roll goes with its mark.
        Story::to("roll after a half-done one", half(), next_roll()).without_way_back(),
        Story::to("back after a half-done roll", half(), json!({})).without_way_back(),
        Story::to("roll while a stranger's refresh runs", pool_and([Hand(hands::start_refresh)]), roll()),
        Story::to(
            "roll while a stranger's refresh with a template runs",
            pool_and([Hand(hands::start_desired_refresh)]),
            roll(),
        ),
        Story::to(
            "mending while a stranger's refresh to another template runs",
            pool_and([Hand(hands::start_other_refresh)]),
            json!({}),
        ),
        Story::to(
            "roll while a stranger's refresh to another template runs",
            pool_and([Hand(hands::start_other_refresh)]),
            roll(),
        ),
        Story::to(
            "roll whose destroy was stopped half-way",
            pool_and([Applied(roll(), 1), Hand(hands::stop_a_destroy)]),
            roll(),
        )
        .without_way_back(),
        Story::to(
            "roll while a refresh of an unknown status runs",
            pool_and([Applied(roll(), 6), Hand(hands::make_status_unknown)]),
            next_roll(),
        )
        .without_way_back(),
        Story::to(
            "roll that had failed",
            pool_and([Hand(hands::break_launches), Applied(roll(), 60), Hand(hands::mend_launches)]),
            roll(),
        ),
        Story::to(
            "other labels while a roll runs",
            pool_and([Applied(roll(), 6)]),
            both(roll(), &json!({"node_labels": {"tier": "gpu"}})),
        ),
    ]
}

fn capacity() -> Vec<Story> {
    let zones = || json!({"failure_domains": ["us-east-1a", "us-east-1b"]});
    vec![
        Story::to("scale from nothing", vec![Applied(json!({"replicas": 0}), 10)], json!({})),
        Story::to(
            "scale to nothing while a roll runs",
            pool_and([Applied(roll(), 6)]),
            both(roll(), &json!({"replicas": 0})),
        ),
        Story::to("autoscaling from native to external", vec![Applied(autoscaled(), 10)], external()),
        Story::to("autoscaling from external to native", vec![Applied(external(), 10)], autoscaled()),
        Story::to("zones added", vec![Applied(zones(), 10)], {
            json!({"failure_domains": ["us-east-1a", "us-east-1b", "us-east-1c"]})
        }),
        Story::to("zones removed", pool(), zones()),
        Story::to("spot", pool(), json!({"spot": true})),
        // Of an age at which no member may fetch any more.
        Story::to("another bucket", vec![Applied(json!({}), 20), Hand(hands::make_bucket)], {
            json!({"captf_cluster_outputs": {"bootstrap_bucket": "other-bootstrap"}})
        }),
        Story::to(
            "create while the group is being deleted",
            pool_and([Hand(hands::delete_group)]),
            json!({}),
        ),
        Story::to("create over what is left", pool_and([Hand(hands::delete_group_and_wait)]), json!({})),
    ]
}

fn take_over() -> Vec<Story> {
    let two_zones = || Applied(json!({"failure_domains": ["us-east-1a", "us-east-1b"]}), 10);
    let unknown = || vec![two_zones(), Hand(hands::as_terraform_makes_it)];
    let known = || unknown().into_iter().chain([Hand(hands::keep_state)]).collect::<Vec<_>>();
    vec![
        Story::to("take-over", unknown(), json!({})).without_alternative().without_way_back(),
        Story::to("take-over with a state", known(), json!({})),
        Story::to(
            "take-over while a stranger's refresh runs",
            known().into_iter().chain([Hand(hands::start_refresh)]).collect(),
            json!({}),
        ),
        Story::to(
            "take-over at a new version while a stranger's refresh runs",
            known().into_iter().chain([Hand(hands::start_refresh)]).collect(),
            roll(),
        ),
        Story::to("take-over with a state at a new version", known(), roll()),
        Story::to(
            "roll after a take-over",
            unknown().into_iter().chain([Applied(json!({}), 10)]).collect(),
            roll(),
        ),
        Story::to(
            "back to the module's template",
            known().into_iter().chain([Applied(json!({}), 10), Applied(roll(), 6)]).collect(),
            json!({}),
        ),
        Story::to(
            "back to the module's template at once",
            known().into_iter().chain([Applied(roll(), 0)]).collect(),
            json!({}),
        ),
    ]
}

fn ends() -> Vec<Story> {
    vec![
        Story::end("destroy of an autoscaled pool", vec![Applied(autoscaled(), 10)]),
        Story::end("destroy of a pool just made", vec![Applied(json!({}), 0)]),
        Story::end("destroy while a roll runs", pool_and([Applied(roll(), 6)])),
        Story::end("destroy while a roll begins", pool_and([Applied(roll(), 0)])),
        Story::end("destroy with protected members", pool_and([Hand(hands::protect)])),
        Story::end("destroy with Terminate suspended", pool_and([Hand(hands::suspend_terminate)])),
        Story::end("destroy of everything awkward", {
            vec![Applied(autoscaled(), 10), Applied(both(roll(), &autoscaled()), 6), Hand(hands::awkward)]
        }),
        Story::end("destroy of a group being deleted", pool_and([Hand(hands::delete_group)])),
        Story::end("destroy of what Terraform made", pool_and([Hand(hands::as_terraform_makes_it)])),
    ]
}

/// An apply that mends what somebody else's hand has done.
/// Edits that take away what tells which tags were set: a run that was killed may have made it again.
const FORGETS_TAGS: [&str; 2] = ["template deleted", "no launch template"];

fn mending() -> Vec<Story> {
    let mended = foreign::edits().into_iter().filter(|edit| matches!(edit.outcome, Outcome::Mended(_)));
    let story = |edit: Edit| {
        let patch = (edit.pool)();
        let given = vec![Applied(patch.clone(), 10), Hand(edit.hand)];
        let story = Story::to(edit.name, given, patch).without_way_back();
        if FORGETS_TAGS.contains(&edit.name) { story.without_alternative() } else { story }
    };
    mended.map(story).collect()
}
