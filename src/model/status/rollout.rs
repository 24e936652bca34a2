//! How far a roll is, how the last one ended, and what comes next.

use serde::Serialize;

use super::{Behind, Current, MemberStatus, Seen, moment_if_any, next};
use crate::{
    clock::Timestamp,
    model::{observed::Refresh, roll},
};

/// The instance refresh, and whom it has to do with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rollout {
    /// Whether an instance refresh is under way.
    pub active: bool,
    /// That one, else the latest.
    pub refresh: Option<RefreshStatus>,
    /// Members on another launch template than the group's.
    pub on_other_template: usize,
    /// Members on another version of the group's template.
    pub on_older_version: usize,
    /// Members on no launch template: attached by hand.
    pub on_no_template: usize,
    /// What comes next, in one or two sentences.
    pub next: String,
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
    /// When it ends if it goes on as so far; `None` before the first instance is replaced.
    #[serde(serialize_with = "moment_if_any")]
    pub estimated_end_at: Option<Timestamp>,
    /// Whether it was started for the template that the group has now.
    pub of_current_template: bool,
}

pub(super) fn rollout(
    seen: &Seen,
    current: Option<&Current<'_>>,
    rows: &[MemberStatus],
    now: Timestamp,
) -> Rollout {
    let group = seen.group.as_ref();
    let mark = group.and_then(roll::mark);
    let template = current.and_then(|current| seen.templates.iter().find(|t| t.id == current.id));
    let hash = mark.as_ref().map(|mark| mark.hash.clone()).unwrap_or_default();
    let mut own = roll::belonging(mark.as_ref(), &hash, template, &seen.refreshes);
    if let (Some(group), Some(current)) = (group, current) {
        own = roll::serving(own, group, current.name, &seen.instances, &seen.refreshes);
    }
    let active = roll::active(&seen.refreshes);
    let shown = active.or(seen.refreshes.first());
    let is_own = |refresh: &Refresh| own.iter().any(|known| known.id == refresh.id);
    let next = match (group, current, active) {
        (None, ..) => "There is no group, so there is nothing to roll.".to_owned(),
        (Some(group), ..) if group.deleting => "The group is being deleted.".to_owned(),
        (Some(_), _, Some(refresh)) => while_active(refresh, is_own(refresh)).to_owned(),
        (Some(_), None, None) => {
            "The group launches from no launch template; an apply points it at the pool's own.".to_owned()
        }
        (Some(group), Some(current), None) => {
            // The first version of a template is as old as that.
            let first = template.filter(|template| template.latest_version == 1).map(|t| t.created);
            let created = template.and_then(|template| seen.version_created(template)).or(first);
            let decision = roll::decide(group, current.name, &own, created);
            next::next(&decision, group.max == 0, own.first().copied(), shown, rows)
        }
    };
    Rollout {
        active: active.is_some(),
        refresh: shown.map(|refresh| described(refresh, is_own(refresh), now)),
        on_other_template: count(rows, Behind::OtherTemplate),
        on_older_version: count(rows, Behind::OlderVersion),
        on_no_template: count(rows, Behind::NoTemplate),
        next,
    }
}

/// How many members are behind in this way.
pub(super) fn count(rows: &[MemberStatus], how: Behind) -> usize {
    rows.iter().filter(|row| !row.leaving && row.behind == how).count()
}

fn described(refresh: &Refresh, of_current_template: bool, now: Timestamp) -> RefreshStatus {
    RefreshStatus {
        id: refresh.id.clone(),
        status: refresh.status.clone(),
        reason: refresh.reason.clone(),
        started_at: refresh.start,
        ended_at: refresh.end,
        percentage: refresh.percentage,
        remaining: refresh.left(),
        estimated_end_at: estimated_end(refresh, now),
        of_current_template,
    }
}

/// The end of a refresh that goes on as fast as so far.
fn estimated_end(refresh: &Refresh, now: Timestamp) -> Option<Timestamp> {
    let (start, done) = (refresh.start?, refresh.percentage?);
    if refresh.status != "InProgress" || !(1..100).contains(&done) {
        return None;
    }
    let whole = now.since(start).checked_mul(100)? / done;
    Some(start.plus(whole))
}

fn while_active(refresh: &Refresh, is_own: bool) -> &'static str {
    match (refresh.status.as_str(), is_own) {
        ("Cancelling", _) => "It is being cancelled.",
        ("RollbackInProgress", _) => "AWS takes back what it replaced.",
        (_, true) => "It goes on by itself; rollout cancel stops it.",
        (_, false) => {
            "It was not started for the group's present template. An apply that has to roll ends it; rollout cancel \
             does so at once."
        }
    }
}
