//! What comes next where no instance refresh is under way: what an apply would make of the members, in words.

use super::{Behind, MemberStatus, rollout::count};
use crate::model::{
    observed::{Group, Refresh},
    processes,
    roll::{self, Decision},
};

/// How many ids are listed.
const LISTED: usize = 5;

/// What is told of refreshes.
#[derive(Clone, Copy)]
pub(super) struct Told<'a> {
    /// Those of the group's template, newest first.
    pub(super) own: &'a [&'a Refresh],
    /// The one that is shown.
    pub(super) shown: Option<&'a Refresh>,
    /// How many have failed in a row for the template version, if that can be told.
    pub(super) failures: Option<usize>,
}

/// What comes next. In an empty group nobody is rolled.
pub(super) fn next(decision: &Decision, group: &Group, known: Told<'_>, rows: &[MemberStatus]) -> String {
    let (own, empty) = (known.own.first(), group.max == 0);
    let aside: Vec<&str> = rows
        .iter()
        .filter(|row| row.standby && !row.leaving && is_behind(row))
        .map(|row| row.instance_id.as_str())
        .collect();
    let rolled = rows.iter().any(|row| !row.standby && !row.leaving && row.behind == Behind::OtherTemplate);
    let it = match (own, known.shown) {
        (Some(own), Some(shown)) if own.id != shown.id => "The last one for the present template",
        _ => "It",
    };
    let mut told = match decision {
        Decision::NotDue | Decision::Running(_) => stay(rows, &aside),
        Decision::Start if empty => {
            "An apply that gives the group members again replaces those on another template.".to_owned()
        }
        Decision::Start if own.is_none() => "An apply replaces the members on another template.".to_owned(),
        Decision::Start => again(known.failures),
        Decision::GivenUp(_) => format!(
            "The roll failed {} times in a row, and an apply does not start it again. Mend the cause; a new template \
             version, or machinepool rollout start, begins anew.",
            roll::FAILURES_MAX
        ),
        Decision::Stopped(_) => {
            format!("{it} was stopped, and an apply leaves it so. machinepool rollout start goes on.")
        }
        Decision::Leftover if rolled => {
            format!("{it} left members on another template behind. machinepool rollout start replaces them.")
        }
        Decision::Leftover => format!("{it} left members on another template behind."),
    };
    let missing = processes::missing(group, processes::OF_ROLLS);
    if *decision == Decision::Start && !empty && !missing.is_empty() {
        told = format!("{told} It then waits {}.", processes::until(&missing));
    }
    if !aside.is_empty() {
        let more = aside.len().saturating_sub(LISTED);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        let ids = aside[..aside.len().min(LISTED)].join(", ");
        told = format!("{told} A roll passes members in standby by: {ids}{rest}. {}", roll::BRING_BACK);
    }
    told
}

/// What becomes of a roll that may be started again.
fn again(failures: Option<usize>) -> String {
    let so_far = match failures {
        None => " for one template version",
        Some(0) => " in all; for this template version it has not failed yet",
        Some(1) => " in all; for this template version it failed once",
        Some(_) => " in all; for this template version it failed twice",
    };
    format!(
        "The next apply starts it again, up to three times{so_far}. machinepool rollout start begins anew."
    )
}

fn is_behind(row: &MemberStatus) -> bool {
    !matches!(row.behind, Behind::No | Behind::Unknown)
}

/// Who stays as it is whatever is applied.
fn stay(rows: &[MemberStatus], aside: &[&str]) -> String {
    let members =
        |many: usize| if many == 1 { "1 member runs".to_owned() } else { format!("{many} members run") };
    let others = [
        (count(rows, Behind::OlderVersion), "another version of the template"),
        (count(rows, Behind::DeletedTemplate), "a deleted template of the same name"),
        (count(rows, Behind::NoTemplate), "no launch template"),
    ];
    let all: usize = others.iter().map(|(many, _)| many).sum();
    if all == 0 {
        let told = if rows.iter().all(|row| row.leaving) {
            "There are no members to roll."
        } else {
            "All members run what the group launches."
        };
        return told.to_owned();
    }
    let who = others.iter().filter(|(many, _)| *many > 0);
    let who: Vec<String> = who.map(|(many, what)| format!("{} {what}", members(*many))).collect();
    let who = who.join(", ");
    let (stay, them) = if all == 1 { ("stays", "it") } else { ("stay", "them") };
    match all - aside.len().min(all) {
        0 => format!("{who} and {stay}."),
        _ if aside.is_empty() => format!("{who} and {stay}; machinepool rollout start replaces {them}."),
        _ => format!("{who} and {stay}; machinepool rollout start replaces those not in standby."),
    }
}
