//! A pool's status on one screen.

use std::borrow::Cow;

use super::{
    abridge,
    duration::age,
    line::{GAP, Piece, columns, headed, line},
    style::{Style, Tone},
    text,
};
use crate::{
    clock::Timestamp,
    contract::problem::Diagnostic,
    model::status::{Counts, GroupStatus, MemberStatus, Pending, Status},
};

mod activities;
mod members;
mod rollout;
mod watched;

#[cfg(test)]
mod tests;

pub use rollout::rollout;
pub(super) use rollout::{progress_bar, told_behind};
pub use watched::{Excerpt, Freshness, Trouble, trouble_begins, trouble_ends, watched_status};

/// The whole screen, with a line end. No line is wider than `style`.
pub fn status(status: &Status, style: Style) -> String {
    let mut parts = vec![head(status, style)];
    parts.extend(status.warnings.iter().map(|one| warning(one, style)));
    parts.extend(members::members(status, style));
    parts.extend(activities::activities(status, style));
    parts.join("\n\n") + "\n"
}

/// A status as a program reads it: one indented JSON object with a line end.
pub fn status_json<T: serde::Serialize>(status: &T) -> String {
    text::json(status)
}

/// The same on one line.
pub fn status_json_line<T: serde::Serialize>(status: &T) -> String {
    serde_json::to_string(status).unwrap_or_else(|error| error.to_string()) + "\n"
}

/// The columns that stand in front of what a label is about.
const LABEL: usize = 11;

/// A label and what it says, broken at blanks.
fn labelled(label: &str, says: Piece, style: Style) -> Vec<String> {
    let label = format!("{label:width$}", width = LABEL - 2);
    columns(&[vec![Piece::toned(Tone::Faint, &label), says]], 0, style)
}

fn head(status: &Status, style: Style) -> String {
    let mut lines = vec![heading(status, style)];
    lines.extend(group(status, style));
    lines.extend(size(status, style));
    lines.extend(launched(status, style));
    lines.extend(health(status, style));
    lines.extend(apply(status, style));
    lines.extend(rollout::lines(&status.rollout, status.read_at, style));
    lines.join("\n")
}

/// Which pool, and when it was read: of that as much as there is room for.
fn heading(status: &Status, style: Style) -> String {
    let pool = format!("Pool {} in {}", status.pool, status.region);
    let (moment, time) = (utc(status.read_at), time_of_day(status.read_at));
    let fits = |when: &str| Piece::plain(&pool).width() + GAP + when.len() <= style.width;
    let when = if fits(&moment) { moment } else { time };
    let room = style.width.saturating_sub(GAP + when.len());
    line(
        &[
            Piece::toned(Tone::Strong, &text::fit(&text::line(&pool), room)),
            Piece::toned(Tone::Faint, &format!("{:GAP$}{when}", "")),
        ],
        style,
    )
}

fn group(status: &Status, style: Style) -> Vec<String> {
    let says = match &status.group {
        None => Piece::toned(Tone::Bad, "there is none"),
        Some(group) if group.deleting => Piece::toned(Tone::Bad, &format!("{}, being deleted", group.name)),
        Some(group) => Piece::plain(&group.name),
    };
    labelled("Group", says, style)
}

/// What new members come up with, and what keeps them from it.
fn launched(status: &Status, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(group) = &status.group
        && !group.suspended_processes.is_empty()
    {
        lines.extend(labelled("Suspended", Piece::plain(&group.suspended_processes.join(", ")), style));
    }
    if let Some(template) = template(status) {
        lines.extend(labelled("Template", Piece::plain(&template), style));
    }
    if status.group.is_some() {
        lines.extend(labelled("Labels", Piece::plain(&labels(status)), style));
    }
    lines
}

fn apply(status: &Status, style: Style) -> Vec<String> {
    labelled("Apply", pending(&status.apply), style)
}

fn size(status: &Status, style: Style) -> Vec<String> {
    labelled("Size", Piece::plain(&sizes(status)), style)
}

fn sizes(status: &Status) -> String {
    let counts = &status.counts;
    let by_state: Vec<String> = [
        (counts.running, "running"),
        (counts.pending, "pending"),
        (counts.stopped, "stopped"),
        (counts.unknown, "in an unknown state"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, word)| format!("{count} {word}"))
    .collect();
    let mut size = text::count(counts.members, "member");
    if !by_state.is_empty() {
        size = format!("{size}: {}", by_state.join(", "));
    }
    if counts.leaving > 0 {
        size = format!("{size}; {} leaving", counts.leaving);
    }
    let kept = kept(status);
    if kept > 0 {
        let verb = if kept == 1 { "stays" } else { "stay" };
        size = format!("{size}; {kept} more than wanted {verb}: protected from scale-in");
    }
    match &status.group {
        Some(group) => format!("{} wanted, {}; {size}", group.desired, bounds(group)),
        None => size,
    }
}

/// The members that the group counts towards its size.
fn counted(status: &Status) -> impl Iterator<Item = &MemberStatus> {
    status.members.iter().filter(|member| {
        !member.leaving && member.lifecycle.as_deref().is_some_and(crate::model::members::is_counted)
    })
}

/// How many of them there are beyond the size that is wanted.
fn beyond(status: &Status) -> usize {
    let wanted = status.group.as_ref().map_or(usize::MAX, |group| group.desired as usize);
    counted(status).count().saturating_sub(wanted)
}

/// How many of these no scale-in ends.
fn kept(status: &Status) -> usize {
    let wanted = status.group.as_ref().map_or(usize::MAX, |group| group.desired as usize);
    let is_live = status.group.as_ref().is_some_and(|group| !group.deleting);
    let kept = counted(status).filter(|member| member.protected).count().saturating_sub(wanted);
    if status.rollout.active || !is_live { 0 } else { kept }
}

fn bounds(group: &GroupStatus) -> String {
    if group.min == group.max {
        format!("fixed at {}", group.min)
    } else {
        format!("{} to {} allowed", group.min, group.max)
    }
}

fn template(status: &Status) -> Option<String> {
    let template = status.template.as_ref()?;
    let version = template.version.map_or_else(|| "version unknown".to_owned(), |v| format!("version {v}"));
    let key: Vec<&str> = [&template.kubernetes_version, &template.machine_image_id]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    let made_for = if key.is_empty() { String::new() } else { format!(", for {}", key.join(" on ")) };
    // Its name begins with the group's, and is long: the id is as good.
    Some(format!("{version} of {}{made_for}", template.id))
}

/// How many labels are shown.
const LABELS: usize = 4;

/// What the launch template in use registers; nothing where nothing is launched.
fn labels(status: &Status) -> String {
    let labels = &status.node_labels;
    let (Some(registered), Some(digest)) = (&labels.registered, &labels.digest) else {
        return "not known".to_owned();
    };
    let pairs: Vec<String> = registered.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let told = match pairs.len() {
        0 => "none".to_owned(),
        count => format!("{count} (digest {digest}): {}", text::list_some(&pairs, LABELS)),
    };
    if labels.as_asked == Some(false) { format!("{told}; the inputs ask for others") } else { told }
}

fn health(status: &Status, style: Style) -> Vec<String> {
    let health = &status.health;
    let (tone, word) = match (health.healthy, health.state.as_str()) {
        (true, _) => (Tone::Good, "healthy"),
        (false, "running" | "pending") => (Tone::Caution, "not healthy"),
        (false, _) => (Tone::Bad, "not healthy"),
    };
    let says = Piece::toned(tone, &format!("{}, {word}: {}", health.state, message(status)));
    let mut lines = labelled("Health", says, style);
    if !health.reasons.is_empty() {
        lines.extend(labelled("", Piece::toned(Tone::Faint, &reasons(&health.reasons)), style));
    }
    lines
}

/// The message of health; `5 of 3 members running` is put into words that tell which is which.
fn message(status: &Status) -> Cow<'_, str> {
    let Counts { members, running, pending, .. } = status.counts;
    let message = &status.health.message;
    let Some(group) = status.group.as_ref().filter(|group| members > group.desired as usize) else {
        return Cow::Borrowed(message);
    };
    let counts = format!("{running} of {} members running, {pending} pending", group.desired);
    let Some(rest) = message.strip_prefix(&counts) else { return Cow::Borrowed(message) };
    let pending = if pending > 0 { format!(", {pending} pending") } else { String::new() };
    Cow::Owned(format!("{} running{pending}, {} wanted{rest}", text::count(running, "member"), group.desired))
}

/// How many reasons are shown.
const REASONS: usize = 4;

fn reasons(reasons: &[String]) -> String {
    text::list_some(reasons, REASONS)
}

fn pending(apply: &Pending) -> Piece {
    if let Some(reason) = &apply.reason {
        return Piece::toned(Tone::Faint, &format!("not compared with the inputs: {reason}"));
    }
    if apply.changes.is_empty() {
        return Piece::plain("would change nothing");
    }
    let changes: Vec<String> = apply.changes.iter().map(change).collect();
    let mut sentence = format!("would change: {}", changes.join("; "));
    if apply.replaced > 0 {
        sentence = format!("{sentence}. {} would be replaced", text::count(apply.replaced, "member"));
    }
    if apply.terminated > 0 {
        sentence =
            format!("{sentence}. {} would be terminated", text::count(apply.terminated as usize, "member"));
    }
    Piece::toned(Tone::Caution, &sentence)
}

fn change(change: &crate::model::status::PendingChange) -> String {
    use crate::model::plan::Action;
    let noun = change.address.noun();
    match change.action {
        Action::Create => format!("{noun} added"),
        Action::Replace => format!("{noun} replaced"),
        Action::Delete => format!("{noun} deleted"),
        Action::Update => format!("{noun} ({})", text::list_some(&change.fields, REASONS)),
    }
}

/// A warning, its detail below it.
fn warning(warning: &Diagnostic, style: Style) -> String {
    let detail = abridge::paragraphs(&text::block(&warning.detail), style.width.saturating_sub(2));
    let mut lines = headed(Tone::Caution, "Warning:", &warning.summary, style);
    lines.extend(text::indent(detail.trim(), 2).lines().map(|detail| within(detail, style.width)));
    lines.join("\n")
}

/// How many columns the rest of a broken command stands further in, and as many take blank and sign at a break.
const CONTINUED: usize = 2;

/// A line that fits. A command, which stands further in, is broken as a shell takes it, so that it can be copied.
fn within(line: &str, width: usize) -> String {
    let words = line.trim_start();
    let indent = line.len() - words.len();
    if indent <= CONTINUED || text::fit(line, width) == line {
        return text::fit(line, width);
    }
    let wrapped = text::wrap(words, width.saturating_sub(indent + 2 * CONTINUED));
    let further = format!(" \\\n{}", " ".repeat(indent + CONTINUED));
    let whole = format!("{}{}", " ".repeat(indent), wrapped.lines().collect::<Vec<_>>().join(&further));
    whole.lines().map(|line| text::fit(line, width)).collect::<Vec<_>>().join("\n")
}

/// A moment: `2026-01-31 12:00:00 UTC`.
fn utc(moment: Timestamp) -> String {
    format!("{} UTC", moment.rfc3339()[..19].replace('T', " "))
}

/// The time of day of a moment: `12:00:00 UTC`.
fn time_of_day(moment: Timestamp) -> String {
    format!("{} UTC", &moment.rfc3339()[11..19])
}

/// How long ago `earlier` was.
fn ago(now: Timestamp, earlier: Timestamp) -> String {
    format!("{} ago", age(now.since(earlier)))
}
