//! Whether a roll that is under way gets on: what it waits for, and when it ends if it goes on as so far.

use std::time::Duration;

use super::{MemberStatus, Seen};
use crate::{
    clock::Timestamp,
    contract::problem::sentence,
    model::{
        launching, members,
        observed::{Group, Refresh},
        processes, roll,
    },
};

/// How a roll that is under way gets on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pace {
    /// Why its launches fail; a sentence.
    pub(super) failing: Option<String>,
    /// The replacements whose warm-up it waits for.
    pub(super) warming: Vec<String>,
    /// When it ends if it goes on as so far.
    pub(super) end: Option<Timestamp>,
}

/// What a roll waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// Launches that succeed; what is said of those that do not, in a sentence.
    Fails(String),
    /// Behind `It waits`.
    Until(String),
}

impl Pace {
    pub(super) fn of(
        seen: &Seen,
        group: &Group,
        refresh: &Refresh,
        rows: &[MemberStatus],
        now: Timestamp,
    ) -> Self {
        if group.deleting || !roll::replaces(refresh) {
            return Self::default();
        }
        let replacements: Vec<Replacement<'_>> = refresh.start.map_or_else(Vec::new, |start| {
            rows.iter().filter_map(|row| Replacement::of(row, start)).collect()
        });
        Self {
            failing: failing(seen, group, refresh),
            warming: warming(group, refresh, &replacements, now),
            end: end(refresh, &replacements, now),
        }
    }

    /// What the roll waits for, if there is anything to say of it.
    pub(super) fn waits(&self, refresh: &Refresh, suspended: &[&str]) -> Option<Waits> {
        if !suspended.is_empty() {
            return Some(Waits::Until(processes::until(suspended)));
        }
        if let Some(failing) = &self.failing {
            return Some(Waits::Fails(failing.clone()));
        }
        let seconds = refresh.warmup_seconds.filter(|_| !self.warming.is_empty())?;
        let more = self.warming.len().saturating_sub(LISTED);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        let ids = self.warming[..self.warming.len().min(LISTED)].join(", ");
        let when = if self.warming.len() == 1 { "it is" } else { "each is" };
        Some(Waits::Until(format!(
            "for the {seconds} s of warm-up of {ids}{rest}, from when {when} in service"
        )))
    }
}

/// How many ids are listed.
const LISTED: usize = 3;

/// A member that was launched since the roll began.
#[derive(Clone, Copy)]
struct Replacement<'a> {
    id: &'a str,
    launched: Timestamp,
    /// Not in service yet.
    pending: bool,
}

impl<'a> Replacement<'a> {
    fn of(row: &'a MemberStatus, start: Timestamp) -> Option<Self> {
        let launched = row.launched_at.filter(|launched| *launched >= start && !row.leaving)?;
        let lifecycle = row.lifecycle.as_deref()?;
        let pending = lifecycle.starts_with("Pending");
        (pending || lifecycle == "InService").then_some(Self { id: &row.instance_id, launched, pending })
    }
}

fn failing(seen: &Seen, group: &Group, refresh: &Refresh) -> Option<String> {
    let activities = seen.activities.as_deref()?;
    let told = launching::failing_roll(refresh, activities)
        .or_else(|| launching::failing(group, &members::members(Some(group), &seen.instances), activities))?;
    Some(sentence(&told))
}

/// A warm-up begins when a replacement is in service, which AWS does not tell the time of: it is on for at least that
/// long after the launch, and as long as there are more in service than wanted.
fn warming(group: &Group, refresh: &Refresh, all: &[Replacement<'_>], now: Timestamp) -> Vec<String> {
    let Some(seconds) = refresh.warmup_seconds.filter(|seconds| *seconds > 0) else { return Vec::new() };
    if refresh.status != "InProgress" {
        return Vec::new();
    }
    let in_service: Vec<&Replacement<'_>> = all.iter().filter(|one| !one.pending).collect();
    let warm_up = Duration::from_secs(seconds.into());
    let cold: Vec<String> = in_service
        .iter()
        .filter(|one| one.launched.plus(warm_up) > now)
        .map(|one| one.id.to_owned())
        .collect();
    if !cold.is_empty() || roll::warm_up(group, refresh).is_none() {
        return cold;
    }
    in_service.iter().max_by_key(|one| one.launched).map(|one| one.id.to_owned()).into_iter().collect()
}

/// The end of a refresh that goes on as fast as it was when it launched its newest replacement: what is done was done by
/// then, so that the estimate stays where it is until the next step. There is none between steps, nor once the warm-up
/// of the newest replacement may last longer: when that is over nobody can tell to the second.
fn end(refresh: &Refresh, all: &[Replacement<'_>], now: Timestamp) -> Option<Timestamp> {
    let (start, done, seconds) = (refresh.start?, refresh.percentage?, refresh.warmup_seconds?);
    if refresh.status != "InProgress" || !(1..100).contains(&done) {
        return None;
    }
    let warm_up = Duration::from_secs(seconds.into());
    let newest = all.iter().max_by_key(|one| one.launched)?;
    let is_under_way = newest.launched.plus(warm_up) > now || all.iter().any(|one| one.pending);
    let end = start.plus(newest.launched.since(start).checked_mul(100)? / done);
    (is_under_way && end >= now.plus(warm_up)).then_some(end)
}
