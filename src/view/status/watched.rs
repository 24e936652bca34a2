//! A status that is watched: what failed meanwhile, as much as fits, and how to see the rest.

use std::time::Duration;

use super::{
    activities, apply, group, heading, health, launched, members, rollout, size, status, time_of_day, warning,
};
use crate::{
    clock::Timestamp,
    contract::problem::Diagnostic,
    model::status::Status,
    view::{
        duration::age,
        line::{Piece, columns, headed, line},
        style::{Style, Tone},
        text,
    },
};

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

/// A part of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Its lines.
    pub text: String,
    /// The number of its first line, from 0; not more than there is.
    pub from: usize,
    /// How many lines fit beside the last one, which always shows.
    pub page: usize,
}

/// The screen of a watch, `height` lines at most: what failed first, the status, and on the last line how to quit. Where
/// the whole does not fit, it is told in brief; where that does not fit either, from the line `from` on.
pub fn watched_status(
    shown: &Status,
    fresh: &Freshness<'_>,
    height: usize,
    from: usize,
    style: Style,
) -> Excerpt {
    let page = height.max(LEAST_HEIGHT) - 1;
    let trouble = trouble(fresh, style);
    let whole = [trouble.clone(), vec![status(shown, style).trim_end().to_owned()]].concat().join("\n\n");
    let mut lines: Vec<String> = whole.lines().chain([""]).map(str::to_owned).collect();
    if lines.len() > page {
        let brief = [trouble, brief(shown, style)].concat().join("\n");
        lines = brief.lines().map(str::to_owned).collect();
    }
    let all = lines.len();
    let from = from.min(all.saturating_sub(page));
    let mut excerpt: Vec<String> = lines.into_iter().skip(from).take(page).collect();
    let hidden = (all > page).then(|| (from + 1, from + excerpt.len(), all));
    excerpt.push(foot(fresh, hidden, style));
    Excerpt { text: excerpt.join("\n") + "\n", from, page }
}

/// A screen of fewer lines is taken for one of so many.
const LEAST_HEIGHT: usize = 3;

/// What failed, if anything did.
fn trouble(fresh: &Freshness<'_>, style: Style) -> Vec<String> {
    let Some(trouble) = fresh.trouble else { return Vec::new() };
    let Some(problem) = trouble.problems.first() else { return Vec::new() };
    let old = age(fresh.age);
    let summary = format!("{} ({}; what follows is {old} old)", problem.summary, trouble.extent());
    let mut lines = headed(Tone::Bad, "Error:", &summary, style);
    let detail = folded(&problem.detail);
    lines.extend(columns(&[vec![Piece::plain(&text::fit(&detail, DETAIL * (style.width - 4)))]], 2, style));
    vec![lines.join("\n")]
}

/// The status in the order in which it needs a person, without blank lines.
fn brief(shown: &Status, style: Style) -> Vec<String> {
    let mut lines = vec![heading(shown, style)];
    lines.extend(health(shown, style));
    lines.extend(activities::failing(shown, style));
    lines.extend(rollout::lines(&shown.rollout, shown.read_at, style));
    lines.extend(size(shown, style));
    lines.extend(shown.warnings.iter().map(|one| warning(one, style)));
    lines.extend(members::brief(shown, style));
    lines.extend(apply(shown, style));
    lines.extend(group(shown, style));
    lines.extend(launched(shown, style));
    lines.extend(activities::activities(shown, style));
    lines
}

/// How fresh it is and which keys there are; first of all, where some lines are `hidden`, which of how many show.
fn foot(fresh: &Freshness<'_>, hidden: Option<(usize, usize, usize)>, style: Style) -> String {
    let (old, every) = (age(fresh.age), age(fresh.every));
    let quits = if fresh.keyboard { "q quits" } else { "Ctrl-C quits" };
    let mut foot = match hidden {
        None => format!("Read {old} ago, every {every}. {quits}."),
        Some((first, last, all)) if fresh.keyboard => {
            format!("Lines {first}-{last} of {all}: arrows, j k, PgUp PgDn, space. {quits}. Read {old} ago.")
        }
        Some((_, last, all)) => {
            format!(
                "{} more: enlarge the terminal. {quits}. Read {old} ago.",
                text::count(all - last, "line")
            )
        }
    };
    if let Some(said) = fresh.said {
        foot = format!("{foot}  {said}");
    }
    line(&[Piece::toned(Tone::Faint, &foot)], style)
}
