//! How far a roll is, how the last one ended, and what comes next.

use serde::Serialize;

use super::{
    Behind, Current, MemberStatus, Seen, moment_if_any, next,
    pace::{Pace, Waits},
    warnings,
};
use crate::{
    clock::Timestamp,
    contract::{problem::Diagnostic, request::Scope},
    model::{
        observed::{Group, Refresh, Template},
        processes,
        roll::{self, Decision},
    },
};

/// The instance refresh, and whom it has to do with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rollout {
    /// The group; `None` if there is none.
    pub group: Option<RolledGroup>,
    /// Whether an instance refresh is under way.
    pub active: bool,
    /// That one, else the latest.
    pub refresh: Option<RefreshStatus>,
    /// How often in a row the roll has failed for the latest template version; `None` where that cannot be told.
    pub failures: Option<usize>,
    /// Why launches of the roll that is under way fail, in AWS's words; `None` if they do not, or that is not known.
    pub launch_failure: Option<String>,
    /// Replacements whose warm-up the roll that is under way waits for.
    pub warming: Vec<String>,
    /// Suspended processes without which a roll that is under way, or that an apply would start, does not go on.
    pub waits_for: Vec<&'static str>,
    /// Members on another launch template than the group's.
    pub on_other_template: usize,
    /// Members on another version of the group's template.
    pub on_older_version: usize,
    /// Members on a deleted launch template of the same name.
    pub on_deleted_template: usize,
    /// Members on no launch template: attached by hand.
    pub on_no_template: usize,
    /// What comes next, in one or two sentences.
    pub next: String,
    /// What is worth knowing about it; a status has this among its warnings.
    pub warnings: Vec<Diagnostic>,
}

/// The group whose members are rolled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RolledGroup {
    /// Name.
    pub name: String,
    /// Whether AWS is deleting it.
    pub deleting: bool,
    /// Whether its tags say that it is this pool's.
    pub owned: bool,
}

/// An instance refresh.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefreshStatus {
    /// Id.
    pub id: String,
    /// AWS's word.
    pub status: String,
    /// AWS's reason.
    pub reason: Option<String>,
    /// Start.
    #[serde(serialize_with = "moment_if_any")]
    pub started_at: Option<Timestamp>,
    /// End.
    #[serde(serialize_with = "moment_if_any")]
    pub ended_at: Option<Timestamp>,
    /// Percent complete.
    pub percentage: Option<u32>,
    /// Instances left to replace; `None` before AWS has counted them.
    pub remaining: Option<u32>,
    /// Seconds that a replacement warms up before one that it replaces goes; `None` if AWS does not tell.
    pub warmup_seconds: Option<u32>,
    /// When it ends if it goes on as so far; `None` while that cannot be told: before the first instance is replaced,
    /// while it waits for processes or its launches fail, and during the last warm-up.
    #[serde(serialize_with = "moment_if_any")]
    pub estimated_end_at: Option<Timestamp>,
    /// Whether it was started for the template that the group has now.
    pub of_current_template: bool,
}

/// What is said where nobody knows what comes next.
pub const ASK_ROLLOUT_STATUS: &str = "machinepool rollout status tells what comes next.";

impl Rollout {
    /// What comes next once the refresh of this id has ended: another one may have been started since.
    pub fn next_after(&self, ended: &str) -> String {
        match &self.refresh {
            // The reading lags.
            Some(refresh) if self.active && refresh.id == ended => ASK_ROLLOUT_STATUS.to_owned(),
            Some(other) if self.active => format!(
                "Another one, instance refresh {}, is {} now. machinepool rollout status tells how far it is.",
                other.id, other.status
            ),
            Some(other) if other.id != ended => {
                format!("The latest one, instance refresh {}, is {}. {}", other.id, other.status, self.next)
            }
            _ => self.next.clone(),
        }
    }
}

pub(super) fn rollout(
    scope: &Scope,
    seen: &Seen,
    current: Option<&Current<'_>>,
    rows: &[MemberStatus],
    now: Timestamp,
) -> Rollout {
    let group = seen.group.as_ref();
    let template = current.and_then(|current| seen.templates.iter().find(|t| t.id == current.id));
    let own = own_refreshes(seen, current, template);
    // The first version of a template is as old as that.
    let first = template.filter(|template| template.latest_version == 1).map(|t| t.created);
    let created = template.and_then(|template| seen.version_created(template)).or(first);
    let active = roll::active(&seen.refreshes);
    let shown = active.or(seen.refreshes.first());
    let is_own = |refresh: &Refresh| own.iter().any(|known| known.id == refresh.id);
    let decision = match (group, current) {
        (Some(group), Some(current)) if template.is_some() => {
            roll::decide(group, current.name, &own, created)
        }
        _ => Decision::NotDue,
    };
    let is_due = |group: &&Group| decision == Decision::Start && group.max > 0;
    let held = group.filter(|group| active.is_some() || is_due(group));
    let waits_for = held.map_or_else(Vec::new, |group| roll::waits_for(&scope.identity, group, active));
    let pace = group.zip(active).map(|(group, refresh)| Pace::of(seen, group, refresh, rows, now));
    let pace = pace.unwrap_or_default();
    let end = pace.end.filter(|_| waits_for.is_empty() && pace.failing.is_none());
    let foreign = group.and_then(|group| warnings::owner(scope, group));
    let told = next::Told { own: &own, shown, failures: created.map(|at| roll::failures(&own, at)) };
    let next = unrolled(group, foreign.is_some())
        .or_else(|| Some(while_active(active?, is_own(active?), &waits_for, &pace)))
        .or_else(|| without_template(current, template))
        .or_else(|| Some(next::next(&decision, group?, told, rows)))
        .unwrap_or_default();
    Rollout {
        group: group.map(|group| RolledGroup {
            name: group.name.clone(),
            deleting: group.deleting,
            owned: foreign.is_none(),
        }),
        active: active.is_some(),
        refresh: shown.map(|refresh| described(refresh, is_own(refresh), end)),
        failures: told.failures,
        launch_failure: pace.failing,
        warming: pace.warming,
        on_other_template: count(rows, Behind::OtherTemplate),
        on_older_version: count(rows, Behind::OlderVersion),
        on_deleted_template: count(rows, Behind::DeletedTemplate),
        on_no_template: count(rows, Behind::NoTemplate),
        next,
        warnings: foreign
            .into_iter()
            .chain(group.and_then(processes::warning))
            .chain(group.and_then(|group| processes::waits("roll", group, &waits_for)))
            .chain(warnings::versions(seen))
            .chain(active.and_then(|_| warnings::activities(seen)))
            .collect(),
        waits_for,
    }
}

/// The refreshes that belong to the group's template, newest first.
fn own_refreshes<'s>(
    seen: &'s Seen,
    current: Option<&Current<'_>>,
    template: Option<&Template>,
) -> Vec<&'s Refresh> {
    let mark = seen.group.as_ref().and_then(roll::mark);
    let hash = mark.as_ref().map(|mark| mark.hash.clone()).unwrap_or_default();
    let own = roll::belonging(mark.as_ref(), &hash, template, &seen.refreshes);
    match (&seen.group, current) {
        (Some(group), Some(current)) => {
            roll::serving(own, group, current.name, &seen.instances, &seen.refreshes)
        }
        _ => own,
    }
}

/// Why nothing comes next for a group.
fn unrolled(group: Option<&Group>, is_foreign: bool) -> Option<String> {
    let told = match group {
        None => "There is no group, so there is nothing to roll.",
        Some(group) if group.deleting => "The group is being deleted.",
        Some(_) if is_foreign => {
            "The group is not known to be this pool's, and no apply or rollout command touches it."
        }
        Some(_) => return None,
    };
    Some(told.to_owned())
}

/// What comes before any roll of a group without a launch template.
fn without_template(current: Option<&Current<'_>>, template: Option<&Template>) -> Option<String> {
    let told = match (current, template) {
        (None, _) => "The group launches from no launch template; an apply points it at the pool's own.",
        (Some(_), None) => "The group's launch template is deleted; an apply makes it anew.",
        (Some(_), Some(_)) => return None,
    };
    Some(told.to_owned())
}

/// How many members are behind in this way.
pub(super) fn count(rows: &[MemberStatus], how: Behind) -> usize {
    rows.iter().filter(|row| !row.leaving && row.behind == how).count()
}

fn described(
    refresh: &Refresh,
    of_current_template: bool,
    estimated_end_at: Option<Timestamp>,
) -> RefreshStatus {
    RefreshStatus {
        id: refresh.id.clone(),
        status: refresh.status.clone(),
        reason: refresh.reason.clone(),
        started_at: refresh.start,
        ended_at: refresh.end,
        percentage: refresh.percentage,
        remaining: refresh.left(),
        warmup_seconds: refresh.warmup_seconds,
        estimated_end_at,
        of_current_template,
    }
}

fn while_active(refresh: &Refresh, is_own: bool, waits_for: &[&str], pace: &Pace) -> String {
    const STOP: &str = "machinepool rollout cancel stops it.";
    match refresh.status.as_str() {
        "Cancelling" => return "It is being cancelled.".to_owned(),
        "RollbackInProgress" => return "AWS takes back what it replaced.".to_owned(),
        _ => {}
    }
    let waits = pace.waits(refresh, waits_for);
    match (is_own, waits) {
        (true, None) => format!("It goes on by itself; {STOP}"),
        (true, Some(Waits::Fails(failure))) => {
            format!("{failure} It goes on once launches succeed; {STOP}")
        }
        (true, Some(Waits::Until(what))) => format!("It waits {what}; then it goes on by itself. {STOP}"),
        (false, waits) => {
            let waits = match waits {
                None => String::new(),
                Some(Waits::Fails(failure)) => format!(" {failure}"),
                Some(Waits::Until(what)) => format!(" It waits {what}."),
            };
            format!(
                "It was not started for the group's present template.{waits} An apply that has to roll ends it; \
                 machinepool rollout cancel does so at once."
            )
        }
    }
}
