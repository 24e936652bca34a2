//! Members that go without a roll: those that are too many, and those in zones that the pool leaves.

use std::{cmp::Ordering, collections::BTreeSet};

use super::{Draft, View};
use crate::contract::problem::Diagnostic;
use crate::model::{
    members::{self, Member},
    observed::Group,
    plan::{AffectedMember, SUBNET_EXCHANGED, ZONE_REMOVED},
    processes::{self, SUSPENDED},
    roll::{self, Decision},
};

/// What the plan costs, and what others have done to the group. Comes after the roll: whom that replaces is told
/// once.
pub(super) fn plan(view: &View<'_>, draft: &mut Draft) {
    let Some(live) = view.live else { return };
    let members = members::members(Some(live), &view.observed.instances);
    let own: Vec<&Member> = members.iter().filter(|m| is_at_stake(m)).collect();
    let capacity = capacity(view, live, &own, draft);
    let moves = outside(view, live, &own, draft);
    if !view.empties() {
        exchanged(view, live, &own, draft);
    }
    overlap(&own, draft);
    draft.replaced.sort_by(|a, b| (&a.zone, &a.id).cmp(&(&b.zone, &b.id)));
    suspended(view, live, capacity, moves, draft);
}

/// Whether the group counts a member among those that it may end. One that leaves already goes anyway; a warm pool's
/// does not serve yet, and one that the group does not list is not its to end.
fn is_at_stake(member: &Member) -> bool {
    let stays = |lifecycle: &str| !roll::is_leaving(lifecycle) && !lifecycle.starts_with("Warmed");
    member.lifecycle.as_deref().is_some_and(stays)
}

/// How the number of members has to change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Capacity {
    Grows,
    Stays,
    Shrinks,
}

/// Members that leave because there are more than wanted. Protected ones stay, and so do standby ones.
fn capacity(view: &View<'_>, live: &Group, own: &[&Member], draft: &mut Draft) -> Capacity {
    let wanted = &view.desired.group;
    let next = if wanted.scaled { live.desired.clamp(wanted.min, wanted.max) } else { wanted.initial };
    let serving: Vec<&&Member> = own.iter().filter(|m| !m.is_standby()).collect();
    if next >= live.desired {
        let refreshing = roll::active(&view.observed.refreshes).is_some();
        return match serving.len().cmp(&(next as usize)) {
            Ordering::Less => Capacity::Grows,
            Ordering::Greater if !refreshing => Capacity::Shrinks,
            _ => Capacity::Stays,
        };
    }
    let mut surplus = serving.len().saturating_sub(next as usize);
    if roll::active(&view.observed.refreshes).is_some() {
        // What a refresh has launched beside the members that it replaces goes with the refresh.
        surplus = surplus.min((live.desired - next) as usize);
    }
    let kept = serving.iter().filter(|m| m.protected).count();
    let leaving = surplus.min(serving.len() - kept);
    scale_in(live, next, leaving, surplus, draft);
    if surplus > 0 { Capacity::Shrinks } else { Capacity::Stays }
}

fn scale_in(live: &Group, next: u32, leaving: usize, surplus: usize, draft: &mut Draft) {
    draft.terminated = u32::try_from(leaving).unwrap_or(u32::MAX);
    if leaving > 0 {
        let (noun, verb) = if leaving == 1 { ("member", "is") } else { ("members", "are") };
        draft.warnings.push(Diagnostic::warning(
            format!("{leaving} {noun} {verb} terminated without drain"),
            format!(
                "The desired capacity goes from {} to {next}; the group chooses which members leave.",
                live.desired
            ),
        ));
    }
    if leaving < surplus {
        draft.warnings.push(Diagnostic::warning(
            format!("{} more than wanted stay: they are protected from scale-in", surplus - leaving),
            "Clear the protection (aws autoscaling set-instance-protection) when they may go.",
        ));
    }
}

/// Members in zones that the pool does not span, or from now on does not. Answers whether any has to move.
fn outside(view: &View<'_>, live: &Group, own: &[&Member], draft: &mut Draft) -> bool {
    let rolled = rolled(view, live, draft);
    // Nobody moves out of a group that is emptied.
    let concerned = |m: &&Member| !view.empties() || held_by(m).is_some();
    let outside =
        own.iter().copied().filter(concerned).filter(|m| !view.desired.zones.spanned.contains(&m.zone));
    let (now, earlier): (Vec<&Member>, Vec<&Member>) = outside.partition(|m| leaves_now(view, live, &m.zone));
    // A roll replaces also those that are protected, and moves them with it.
    let (aside, going): (Vec<&Member>, Vec<&Member>) =
        now.into_iter().partition(|m| m.is_standby() || (m.protected && !rolled.contains(&m.id)));
    let earlier: Vec<&Member> = earlier.into_iter().filter(|m| !rolled.contains(&m.id)).collect();
    let moves = !going.is_empty() || earlier.iter().any(|m| held_by(m).is_none());
    if !going.is_empty() {
        add(draft, &going, ZONE_REMOVED);
        let noun = if going.len() == 1 { "member" } else { "members" };
        draft.warnings.push(Diagnostic::warning(
            format!("{} {noun} in removed zones may be replaced elsewhere, without drain", going.len()),
            list(&going),
        ));
    }
    if !aside.is_empty() {
        let (noun, verb) = if aside.len() == 1 { ("member", "stays") } else { ("members", "stay") };
        draft.warnings.push(Diagnostic::warning(
            format!("{} {noun} {verb} in removed zones", aside.len()),
            format!("{}. {}", list(&aside), free(&live.name, &aside)),
        ));
    }
    if !earlier.is_empty() {
        let warning = still_there(&live.name, &earlier);
        draft.remains.push(warning.summary.clone());
        draft.warnings.push(warning);
    }
    moves
}

/// Tells those apart that are listed as replaced and go with the scale-in. Which they are, Auto Scaling decides; how
/// many at least follows from how many there are.
fn overlap(own: &[&Member], draft: &mut Draft) {
    let serving: Vec<&&Member> = own.iter().filter(|m| !m.is_standby()).collect();
    let listed = serving.iter().filter(|m| draft.replaced.iter().any(|known| known.id == m.id)).count();
    let others = u32::try_from(serving.len() - listed).unwrap_or(u32::MAX);
    draft.overlap = draft.terminated.saturating_sub(others);
    draft.terminated -= draft.overlap;
}

/// Adds members that are told of for no other reason.
fn add(draft: &mut Draft, members: &[&Member], why: &str) {
    for member in members {
        if !draft.replaced.iter().any(|known| known.id == member.id) {
            draft.replaced.push(AffectedMember {
                id: member.id.clone(),
                zone: member.zone.clone(),
                why: why.to_owned(),
            });
        }
    }
}

/// Members in a zone that stays and gets another subnet. That the group spanned the zone before is known from its
/// members there.
fn exchanged(view: &View<'_>, live: &Group, own: &[&Member], draft: &mut Draft) {
    let zones = &view.desired.zones;
    let named = |subnet: &String| zones.subnets.values().any(|known| known == subnet);
    let left: Vec<&str> = live.subnets.iter().filter(|subnet| !named(subnet)).map(String::as_str).collect();
    if left.is_empty() {
        return;
    }
    let old = if left.len() == 1 { left[0].to_owned() } else { format!("one of {}", left.join(", ")) };
    for zone in &zones.spanned {
        let Some(subnet) = zones.subnets.get(zone).filter(|subnet| !live.subnets.contains(*subnet)) else {
            continue;
        };
        let there: Vec<&Member> = own.iter().copied().filter(|m| m.zone == *zone).collect();
        if there.is_empty() {
            continue;
        }
        let movable: Vec<&Member> = there.iter().copied().filter(|m| held_by(m).is_none()).collect();
        add(draft, &movable, SUBNET_EXCHANGED);
        let members =
            if there.len() == 1 { "1 member".to_owned() } else { format!("{} members", there.len()) };
        draft.warnings.push(Diagnostic::warning(
            format!("Another subnet in {zone}, where the pool has {members}"),
            format!(
                "The group goes from {old} to {subnet} there. Auto Scaling may replace them without drain: {}.",
                list(&there)
            ),
        ));
    }
}

/// Whom a roll replaces: one that this plan starts, or one that is under way.
fn rolled(view: &View<'_>, live: &Group, draft: &Draft) -> BTreeSet<String> {
    let mut ids: BTreeSet<String> = draft.replaced.iter().map(|member| member.id.clone()).collect();
    if matches!(view.roll, Decision::Running(_)) {
        let outdated = roll::outdated(live, &view.target.name);
        ids.extend(outdated.filter(|m| !members::is_standby(&m.lifecycle)).map(|m| m.id.clone()));
    }
    ids
}

/// Whether the group still spans a zone that the pool no longer does. Where the cluster does not say what subnet the
/// zone has, any subnet that goes and that it does not name may have been that one.
fn leaves_now(view: &View<'_>, live: &Group, zone: &str) -> bool {
    let subnets = &view.desired.zones.subnets;
    match subnets.get(zone) {
        Some(subnet) => live.subnets.contains(subnet),
        None => live.subnets.iter().any(|subnet| !subnets.values().any(|known| known == subnet)),
    }
}

/// Why Auto Scaling does not move a member by itself.
fn held_by(member: &Member) -> Option<&'static str> {
    if member.is_standby() {
        Some("in standby")
    } else if member.protected {
        Some("protected from scale-in")
    } else {
        None
    }
}

/// `i-1 (us-east-1b), i-2 (us-east-1c, in standby)`.
fn list(members: &[&Member]) -> String {
    let each = members.iter().map(|member| match held_by(member) {
        Some(held) => format!("{} ({}, {held})", member.id, member.zone),
        None => format!("{} ({})", member.id, member.zone),
    });
    each.collect::<Vec<_>>().join(", ")
}

/// What frees members that Auto Scaling leaves where they are.
fn free(group: &str, aside: &[&Member]) -> String {
    let mut told = vec!["Auto Scaling moves nobody who is in standby or protected from scale-in.".to_owned()];
    if aside.iter().any(|m| m.is_standby()) {
        told.push(format!(
            "Bring those in standby back: `aws autoscaling exit-standby --auto-scaling-group-name {group} \
             --instance-ids ID`."
        ));
    }
    if aside.iter().any(|m| m.protected && !m.is_standby()) {
        told.push(format!(
            "Take away the protection: `aws autoscaling set-instance-protection --no-protected-from-scale-in \
             --auto-scaling-group-name {group} --instance-ids ID`."
        ));
    }
    told.push(format!("Or terminate them one by one: {TERMINATE}"));
    told.join(" ")
}

const TERMINATE: &str = "`aws autoscaling terminate-instance-in-auto-scaling-group \
                         --no-should-decrement-desired-capacity --instance-id ID`; nothing drains their nodes.";

/// Members in zones that the pool left at an earlier apply.
fn still_there(group: &str, members: &[&Member]) -> Diagnostic {
    let (noun, verb) = if members.len() == 1 { ("member", "is") } else { ("members", "are") };
    let mut told = vec![format!("{}.", list(members))];
    let (aside, left): (Vec<&Member>, Vec<&Member>) = members.iter().partition(|m| held_by(m).is_some());
    if !left.is_empty() {
        told.push(format!(
            "Auto Scaling moves members one after the other, or leaves them as long as {SUSPENDED} is suspended, \
             which it always is for a pool. If any stays, let it go on with `aws autoscaling resume-processes \
             --auto-scaling-group-name {group} --scaling-processes {SUSPENDED}` (the next apply suspends it again), \
             or terminate them one by one: {TERMINATE}"
        ));
    }
    if !aside.is_empty() {
        told.push(free(group, &aside));
    }
    Diagnostic::warning(
        format!("{} {noun} {verb} still in zones that the pool has left", members.len()),
        told.join(" "),
    )
}

/// Processes that others have suspended, and what has to wait for them.
fn suspended(view: &View<'_>, live: &Group, capacity: Capacity, moves: bool, draft: &mut Draft) {
    draft.warnings.extend(processes::warning(live));
    let rolls = match &view.roll {
        Decision::Start => true,
        Decision::Running(refresh) => roll::replaces(refresh),
        _ => false,
    };
    let waiting: [(&str, bool, &[&str]); 4] = [
        ("roll", rolls, processes::OF_ROLLS),
        ("scale-in", capacity == Capacity::Shrinks, &["Terminate"]),
        ("scale-out", capacity == Capacity::Grows, &["Launch"]),
        ("move out of removed zones", moves, &["Launch", "Terminate"]),
    ];
    let due = waiting.iter().filter(|(_, due, _)| *due);
    draft.warnings.extend(due.filter_map(|(what, _, needs)| processes::waits(what, live, needs)));
}
