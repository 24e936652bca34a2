//! What will go wrong before it does: from what AWS shows of a pool's surroundings to findings.

use serde::Serialize;

use crate::contract::{
    problem::sentence,
    request::{Autoscaling, Request},
};

mod account;
mod facts;
mod launch;
mod network;
mod permissions;
mod quota;
mod running;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use facts::{
    Caller, Facts, InstanceProfile, InstanceType, Limits, Look, PoolFacts, Question, Rehearsal, Reply,
    SecurityGroup, Subnet, Trouble,
};
pub use network::launch_subnet;
pub use quota::code as quota_code;

/// AWS's own role for Auto Scaling.
pub const AUTOSCALING_ROLE: &str = "AWSServiceRoleForAutoScaling";
/// AWS's own role for Spot Instances.
pub const SPOT_ROLE: &str = "AWSServiceRoleForEC2Spot";

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// All is well.
    Pass,
    /// Worth a look; an apply works.
    Warning,
    /// An apply, or what it launches, would fail.
    Fail,
    /// It could not be looked at.
    Skipped,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Stable name.
    pub id: &'static str,
    /// How it ended.
    pub status: Status,
    /// What was found, in one line.
    pub title: String,
    /// Why it is so, or why it matters; may be empty.
    pub detail: String,
    /// What to do; null where nothing is to be done.
    pub fix: Option<String>,
}

impl Check {
    fn new(id: &'static str, status: Status, title: impl Into<String>) -> Self {
        Self { id, status, title: title.into(), detail: String::new(), fix: None }
    }

    fn pass(id: &'static str, title: impl Into<String>) -> Self {
        Self::new(id, Status::Pass, title)
    }

    fn warning(id: &'static str, title: impl Into<String>) -> Self {
        Self::new(id, Status::Warning, title)
    }

    fn fail(id: &'static str, title: impl Into<String>) -> Self {
        Self::new(id, Status::Fail, title)
    }

    fn because(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }

    fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    /// What could not be looked at: `subject` as in "the subnets".
    fn unseen<T>(id: &'static str, subject: &str, look: &Look<T>) -> Self {
        let skipped = Self::new(id, Status::Skipped, format!("Not looked at: {subject}"));
        match look {
            Look::Seen(_) => skipped,
            Look::Denied { call } => skipped
                .because("The credentials are not permitted to look.")
                .fix(format!("To have this checked, allow {}.", actions_of(call))),
            Look::Failed { call, kind: Trouble::Network, words } => {
                skipped.because(format!("It could not be checked: {words} ({call})."))
            }
            Look::Failed { call, kind: Trouble::NotAws, words } => {
                skipped.because(format!("What answered {call} is not AWS: {}", sentence(words)))
            }
            Look::Failed { call, words, .. } => {
                skipped.because(format!("{call} failed: {}", sentence(words)))
            }
            Look::Idle(reason) => skipped.because(*reason),
        }
    }
}

/// The actions that a call needs, as a list in words.
fn actions_of(call: &'static str) -> String {
    crate::model::permissions::needed_for(call).join(", ")
}

/// All checks, in a fixed order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkup {
    /// Who asked; `None` if nobody knows.
    pub caller: Option<Caller>,
    /// The checks.
    pub checks: Vec<Check>,
}

impl Checkup {
    /// How many checks ended so.
    pub fn count(&self, status: Status) -> usize {
        self.checks.iter().filter(|check| check.status == status).count()
    }
}

/// Looks at the facts.
pub fn checkup(request: &Request, facts: &Facts) -> Checkup {
    let caller = facts.caller.seen().cloned();
    let mut checks = vec![account::credentials(&facts.caller, Some(&facts.pool))];
    if checks[0].status == Status::Fail {
        return Checkup { caller, checks };
    }
    checks.push(account::inputs(request));
    checks.push(network::region(request));
    checks.push(permissions::reads(request, &facts.pool));
    checks.extend(permissions::rehearsals(&facts.rehearsals));
    checks.push(account::ownership(request, &facts.pool));
    checks.extend(running::checks(request, facts));
    let spanned = network::spanned(request, &facts.pool);
    checks.extend(network::checks(request, facts, spanned.as_ref()));
    checks.extend(launch::checks(request, facts, spanned.as_ref().ok()));
    checks.push(account::bucket(request, &facts.pool.object));
    checks.push(account::groups(&facts.limits, &facts.pool.group));
    checks.push(quota::check(request, facts));
    checks.extend(account::roles(request, facts));
    Checkup { caller, checks }
}

/// All there is to say where `caller` failed for want of credentials.
pub fn without_credentials(caller: &Look<Caller>) -> Checkup {
    Checkup { caller: None, checks: vec![account::credentials(caller, None)] }
}

/// The largest size that the pool can have, as far as the inputs say.
fn size(request: &Request) -> u32 {
    match request.autoscaling {
        Autoscaling::Off => request.replicas,
        Autoscaling::On { max, .. } => max,
    }
}
