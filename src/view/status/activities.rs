//! The last scaling activities, with AWS's words and what to do where one failed.

use super::{age, ago, labelled};
use crate::{
    clock::Timestamp,
    model::status::{ActivityStatus, Status},
    view::{
        line::{Piece, blanks, columns},
        style::{Style, Tone},
    },
};

/// How many are shown.
const SHOWN: usize = 5;

pub(super) fn activities(status: &Status, style: Style) -> Option<String> {
    let all = status.activities.as_ref().filter(|all| !all.is_empty())?;
    let now = status.read_at;
    let shown = &all[..all.len().min(SHOWN)];
    let widest = shown.iter().map(|one| when(one, now).chars().count()).max().unwrap_or_default();
    let mut lines = vec![style.paint(Tone::Strong, "Scaling activities")];
    for activity in shown {
        lines.extend(one(activity, now, widest, style));
    }
    if all.len() > shown.len() {
        let rest = format!("... and {} more (with --format json)", all.len() - shown.len());
        lines.extend(columns(&[vec![Piece::plain(&rest)]], 2, style));
    }
    Some(lines.join("\n"))
}

/// The last failure, with what to do, unless something has succeeded since.
pub(super) fn failing(status: &Status, style: Style) -> Vec<String> {
    let mut since = status.activities.iter().flatten().take_while(|one| one.status != "Successful");
    let Some(failed) = since.find(|one| one.status == "Failed") else { return Vec::new() };
    let what = failed.description.trim_end_matches('.');
    let told = format!("{what}, {}{}", when(failed, status.read_at), times(failed));
    let mut lines = labelled("Failed", Piece::toned(Tone::Bad, &told), style);
    if let Some(advice) = failed.advice {
        lines.extend(labelled("", Piece::toned(Tone::Caution, &format!("What to do: {advice}")), style));
    }
    // Where members are missing for it, health has told it already.
    let is_told = |message: &&String| status.health.message.contains(message.trim_end_matches('.'));
    if let Some(message) = failed.message.as_ref().filter(|message| !is_told(message)) {
        lines.extend(labelled("", Piece::plain(&format!("AWS says: {message}")), style));
    }
    lines
}

/// How often it came in a row, if not once.
fn times(activity: &ActivityStatus) -> String {
    match activity.times {
        0 | 1 => String::new(),
        times => format!(" ({times} times in {})", age(activity.started_at.since(activity.first_started_at))),
    }
}

fn when(activity: &ActivityStatus, now: Timestamp) -> String {
    ago(now, activity.started_at)
}

fn one(activity: &ActivityStatus, now: Timestamp, widest: usize, style: Style) -> Vec<String> {
    let tone = match activity.status.as_str() {
        "Successful" => Tone::Good,
        "Failed" | "Cancelled" => Tone::Bad,
        _ => Tone::Caution,
    };
    let time = Piece::toned(Tone::Faint, &format!("{:>widest$}", when(activity, now)));
    let status = Piece::toned(tone, &format!("{:10}", activity.status));
    let what = Piece::plain(&format!("{}{}", activity.description, times(activity)));
    let mut lines = columns(&[vec![time, status, what]], 2, style);
    let below = |text: &str| columns(&[vec![blanks(widest), Piece::plain(text)]], 2, style);
    if let Some(message) = &activity.message {
        lines.extend(below(&format!("AWS says: {message}")));
    }
    if let Some(advice) = activity.advice {
        lines.extend(below(&format!("What to do: {advice}")));
    }
    lines
}
