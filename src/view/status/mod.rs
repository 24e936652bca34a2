//! A pool's status on one screen.

use std::time::Duration;

use super::{
    abridge,
    duration::age,
    line::{Piece, columns, headed, line},
    style::{Style, Tone},
    text,
};
use crate::{
    clock::Timestamp,
    contract::problem::Diagnostic,
    model::status::{GroupStatus, Pending, Status},
};

mod activities;
mod members;
mod rollout;

#[cfg(test)]
mod tests;

pub(super) use rollout::progress_bar;
pub use rollout::rollout;

/// The whole screen, with a line end. No line is wider than `style`.
pub fn status(status: &Status, style: Style) -> String {
    let mut parts = vec![head(status, style)];
    parts.extend(status.warnings.iter().map(|one| warning(one, style)));
    parts.extend(members::members(status, style));
    parts.extend(activities::activities(status, style));
    parts.join("\n\n") + "\n"
}

/// How fresh what is shown is.
#[derive(Clone, Copy, Debug)]
pub struct Freshness<'a> {
    /// How long ago AWS was asked.
    pub age: Duration,
    /// How often it is asked.
    pub every: Duration,
    /// What is in the way since the last answer, if anything is.
    pub trouble: Option<&'a Trouble>,
    /// What was said beside it.
    pub said: Option<&'a str>,
    /// Whether there are keys to press; without, only a signal ends it.
    pub keyboard: bool,
}

/// Questions that have no answer for one and the same reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Trouble {
    /// The reason, as it was told last; not empty.
    pub problems: Vec<Diagnostic>,
    /// When the first of them had none.
    pub since: Timestamp,
    /// How many had none.
    pub tries: u32,
}

impl Trouble {
    /// `since 12:00:00 UTC, 5 tries`
    fn extent(&self) -> String {
        format!("since {}, {}", time_of_day(self.since), self.tries())
    }

    fn tries(&self) -> String {
        if self.tries == 1 { "1 try".to_owned() } else { format!("{} tries", self.tries) }
    }
}

/// The line that says that a watch has no answer any more.
pub fn trouble_begins(trouble: &Trouble, every: Duration) -> String {
    let Some(problem) = trouble.problems.first() else { return String::new() };
    let detail = folded(&problem.detail);
    let (since, every) = (time_of_day(trouble.since), age(every));
    format!(
        "Error: {} (since {since}; asked again every {every}): {}\n",
        text::line(&problem.summary),
        text::line(&detail)
    )
}

/// The line that says that a watch has answers again.
pub fn trouble_ends(trouble: &Trouble, now: Timestamp) -> String {
    let (at, lasted) = (time_of_day(now), age(now.since(trouble.since)));
    format!("Read again at {at}, after {lasted} and {} in vain.\n", trouble.tries())
}

/// Paragraphs on one line, each of which ends with a stop where its line end is gone.
fn folded(paragraphs: &str) -> String {
    let fold = |paragraph: &str| {
        let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        let stop = if line.is_empty() || line.ends_with(['.', '!', '?', ':', '}']) { "" } else { "." };
        format!("{line}{stop}")
    };
    paragraphs.split("\n\n").map(fold).collect::<Vec<_>>().join(" ")
}

/// How many lines the detail of a failure may fill.
const DETAIL: usize = 4;

/// The screen of a watch: what failed first, the status, and on the last line how to quit.
pub fn watched_status(shown: &Status, fresh: &Freshness<'_>, style: Style) -> String {
    let old = age(fresh.age);
    let mut parts = Vec::new();
    if let Some(trouble) = fresh.trouble
        && let Some(problem) = trouble.problems.first()
    {
        let summary = format!("{} ({}; what follows is {old} old)", problem.summary, trouble.extent());
        let mut lines = headed(Tone::Bad, "Error:", &summary, style);
        let detail = folded(&problem.detail);
        lines.extend(columns(
            &[vec![Piece::plain(&text::fit(&detail, DETAIL * (style.width - 4)))]],
            2,
            style,
        ));
        parts.push(lines.join("\n"));
    }
    parts.push(status(shown, style).trim_end().to_owned());
    let quits = if fresh.keyboard { "q quits" } else { "Ctrl-C quits" };
    let mut foot = format!("Read {old} ago, every {}. {quits}.", age(fresh.every));
    if let Some(said) = fresh.said {
        foot = format!("{foot}  {said}");
    }
    parts.push(line(&[Piece::toned(Tone::Faint, &foot)], style));
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
    let mut lines = vec![line(
        &[
            Piece::toned(Tone::Strong, &format!("Pool {} in {}", status.pool, status.region)),
            Piece::toned(Tone::Faint, &format!("  {}", utc(status.read_at))),
        ],
        style,
    )];
    lines.extend(match &status.group {
        None => labelled("Group", Piece::toned(Tone::Bad, "there is none"), style),
        Some(group) if group.deleting => {
            labelled("Group", Piece::toned(Tone::Bad, &format!("{}, being deleted", group.name)), style)
        }
        Some(group) => labelled("Group", Piece::plain(&group.name), style),
    });
    lines.extend(labelled("Size", Piece::plain(&size(status)), style));
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
    lines.extend(labelled("Health", health(status), style));
    if !status.health.reasons.is_empty() {
        lines.extend(labelled("", Piece::toned(Tone::Faint, &reasons(&status.health.reasons)), style));
    }
    lines.extend(labelled("Apply", pending(&status.apply), style));
    lines.extend(rollout::lines(&status.rollout, status.read_at, style));
    lines.join("\n")
}

fn size(status: &Status) -> String {
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
    match &status.group {
        Some(group) => format!("{} wanted, {}; {size}", group.desired, bounds(group)),
        None => size,
    }
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

fn health(status: &Status) -> Piece {
    let health = &status.health;
    let (tone, word) = match (health.healthy, health.state.as_str()) {
        (true, _) => (Tone::Good, "healthy"),
        (false, "running" | "pending") => (Tone::Caution, "not healthy"),
        (false, _) => (Tone::Bad, "not healthy"),
    };
    Piece::toned(tone, &format!("{}, {word}: {}", health.state, health.message))
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
