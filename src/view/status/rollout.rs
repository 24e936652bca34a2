//! The instance refresh, with its progress as a bar.

use super::{LABEL, ago, labelled, time_of_day, warning};
use crate::{
    clock::Timestamp,
    model::status::{RefreshStatus, Rollout, Status},
    view::{
        duration::age,
        line::{Piece, blanks, line},
        style::{Style, Tone},
        text,
    },
};

/// The most columns of a bar.
const BAR: usize = 50;

/// The roll of a pool, by itself, with a line end.
pub fn rollout(status: &Status, style: Style) -> String {
    let mut shown = vec![super::heading(status, style)];
    shown.extend(lines(&status.rollout, status.read_at, style));
    if let Some(refresh) = &status.rollout.refresh {
        shown.extend(labelled("Id", Piece::plain(&refresh.id), style));
    }
    shown.extend(behind(status, style));
    shown.extend(beyond(status, style));
    let mut parts = vec![shown.join("\n")];
    parts.extend(status.rollout.warnings.iter().map(|one| warning(one, style)));
    parts.join("\n\n") + "\n"
}

/// Who does not run what the group launches.
fn behind(status: &Status, style: Style) -> Vec<String> {
    if status.group.is_none() {
        return Vec::new();
    }
    let behind = told_behind(&status.rollout).unwrap_or_else(|| "nobody".to_owned());
    labelled("Behind", Piece::plain(&behind), style)
}

/// How many members are behind in which way: `1 member on another launch template than the group's, 2 on another
/// version of it`; `None` if nobody is.
pub(in crate::view) fn told_behind(rollout: &Rollout) -> Option<String> {
    let told: Vec<String> = kinds(rollout)
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .enumerate()
        .map(|(at, (count, on))| match at {
            0 => format!("{} {on}", text::count(count, "member")),
            _ => format!("{count} {on}"),
        })
        .collect();
    (!told.is_empty()).then(|| told.join(", "))
}

/// The ways of being behind.
fn kinds(rollout: &Rollout) -> [(usize, &'static str); 4] {
    let Rollout {
        on_other_template,
        on_older_version,
        on_deleted_template,
        on_no_template,
        group: _,
        active: _,
        refresh: _,
        failures: _,
        waits_for: _,
        next: _,
        warnings: _,
        launch_failure: _,
        warming: _,
    } = rollout;
    [
        (*on_other_template, "on another launch template than the group's"),
        (*on_older_version, "on another version of the group's"),
        (*on_deleted_template, "on a deleted template of the same name"),
        (*on_no_template, "on no launch template"),
    ]
}

/// Members that the roll has launched beside those that it replaces, and what becomes of them.
fn beyond(status: &Status, style: Style) -> Vec<String> {
    let (Some(group), more) = (&status.group, super::beyond(status)) else { return Vec::new() };
    if more == 0 || !status.rollout.active {
        return Vec::new();
    }
    let noun = if more == 1 { "1 member".to_owned() } else { format!("{more} members") };
    let told = format!(
        "{noun} more than the {} wanted. After a rollout cancel Auto Scaling may terminate as many, old ones first and \
         without drain; not those that are protected from scale-in.",
        group.desired
    );
    labelled("Beyond", Piece::toned(Tone::Caution, &told), style)
}

/// The lines of a status about the roll.
pub(super) fn lines(rollout: &Rollout, now: Timestamp, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    match &rollout.refresh {
        None => lines.extend(labelled("Rollout", Piece::plain("none so far"), style)),
        Some(refresh) if rollout.active => {
            lines.extend(labelled(
                "Rollout",
                Piece::toned(Tone::Caution, &under_way(rollout, refresh, now)),
                style,
            ));
            lines.push(bar(refresh.percentage.unwrap_or(0), style));
        }
        Some(refresh) => lines.extend(labelled("Rollout", ended(refresh, now), style)),
    }
    let reason = rollout.refresh.as_ref().and_then(|refresh| refresh.reason.as_deref());
    if let Some(reason) = reason {
        let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
        lines.extend(labelled("", Piece::plain(&format!("AWS says: {reason}")), style));
    }
    lines.extend(labelled("", Piece::plain(&rollout.next), style));
    lines
}

fn under_way(rollout: &Rollout, refresh: &RefreshStatus, now: Timestamp) -> String {
    let mut text = refresh.status.clone();
    if let Some(start) = refresh.started_at {
        text = format!("{text} for {} (since {})", age(now.since(start)), time_of_day(start));
    }
    text = match refresh.remaining {
        Some(left) => format!("{text}, {left} left to replace"),
        None => format!("{text}, {}", uncounted(rollout)),
    };
    match refresh.estimated_end_at {
        Some(end) if end > now => {
            format!("{text}, about {} more (until {})", age(end.since(now)), time_of_day(end))
        }
        _ => text,
    }
}

/// What is known of a roll before AWS has counted whom it replaces: who does not run what the group launches.
fn uncounted(rollout: &Rollout) -> String {
    match kinds(rollout).into_iter().map(|(count, _)| count).sum() {
        0 => "AWS has not counted yet what is left".to_owned(),
        behind => format!("{} behind, not counted by AWS yet", text::count(behind, "member")),
    }
}

fn ended(refresh: &RefreshStatus, now: Timestamp) -> Piece {
    let tone = if refresh.status == "Successful" { Tone::Good } else { Tone::Bad };
    let took = match (refresh.started_at, refresh.ended_at) {
        (Some(start), Some(end)) => format!(" after {}", age(end.since(start))),
        _ => String::new(),
    };
    let when = refresh.ended_at.map_or(String::new(), |end| format!(", {}", ago(now, end)));
    let done = match refresh.percentage {
        Some(done) if done < 100 => format!(", {done} % done"),
        _ => String::new(),
    };
    Piece::toned(tone, &format!("the last one: {}{took}{when}{done}", refresh.status))
}

/// `████████░░░░  66 %` below a label.
fn bar(percentage: u32, style: Style) -> String {
    let room = style.width.saturating_sub(LABEL + 7).clamp(10, BAR);
    let [full, empty] = progress_bar(percentage, room);
    line(
        &[
            blanks(LABEL),
            Piece::toned(Tone::Good, &full),
            Piece::toned(Tone::Faint, &empty),
            Piece::plain(&format!("  {percentage} %")),
        ],
        style,
    )
}

/// The done and the open part of a bar `width` columns wide. It is full only when all is done.
pub(in crate::view) fn progress_bar(percentage: u32, width: usize) -> [String; 2] {
    let done = width * percentage.min(100) as usize / 100;
    ["█".repeat(done), "░".repeat(width - done)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_full_at_the_end_only() {
        let widths = |percentage| progress_bar(percentage, 20).map(|part| part.chars().count());
        assert_eq!(widths(0), [0, 20]);
        assert_eq!(widths(4), [0, 20]);
        assert_eq!(widths(99), [19, 1]);
        assert_eq!(widths(100), [20, 0]);
        assert_eq!(widths(250), [20, 0]);
    }
}
