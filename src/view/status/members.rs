//! The members by zone; of many, how many there are of each kind, and the odd ones.

use std::collections::BTreeMap;

use super::{age, utc};
use crate::{
    clock::Timestamp,
    model::status::{Behind, MemberStatus, Status},
    view::{
        abridge,
        line::{GAP, Piece, columns, line, rows_in_columns},
        style::{Style, Tone},
        text,
    },
};

/// Pools with more members than this are shown in sums.
const LISTED: usize = 50;

/// The room that marks get before a column is added that one can do without.
const MARKS: usize = 24;

pub(super) fn members(status: &Status, style: Style) -> Option<String> {
    if status.members.is_empty() {
        return None;
    }
    let now = status.read_at;
    let mut lines = vec![style.paint(Tone::Strong, "Members")];
    if status.members.len() <= LISTED {
        let all: Vec<&MemberStatus> = status.members.iter().collect();
        lines.extend(by_zone(&all, now, style));
    } else {
        let all: Vec<&MemberStatus> = status.members.iter().collect();
        lines.extend(sums(&all, now, style));
        let odd: Vec<&MemberStatus> = all.into_iter().filter(|member| is_odd(member)).collect();
        if !odd.is_empty() {
            lines.extend([String::new(), style.paint(Tone::Strong, "Not ordinary")]);
            lines.extend(first(&odd, now, style));
        }
    }
    Some(lines.join("\n"))
}

/// The odd ones first, then how many others there are of each kind.
pub(super) fn brief(status: &Status, style: Style) -> Vec<String> {
    let now = status.read_at;
    let (odd, others): (Vec<&MemberStatus>, Vec<&MemberStatus>) =
        status.members.iter().partition(|member| is_odd(member));
    let mut lines = Vec::new();
    if !odd.is_empty() {
        lines.push(style.paint(Tone::Strong, "Not ordinary"));
        lines.extend(first(&odd, now, style));
    }
    if !others.is_empty() {
        lines.push(style.paint(Tone::Strong, if odd.is_empty() { "Members" } else { "Other members" }));
        lines.extend(sums(&others, now, style));
    }
    lines
}

/// What one member's row has, the marks last.
struct Row {
    cells: Vec<Piece>,
    optional: [Piece; 3],
    marks: Piece,
}

/// What a narrow place leaves out: marks tell what is odd, and come before all but the id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
enum Left {
    /// Nothing,
    Whole,
    /// ages,
    Ageless,
    /// one of the two words for the state,
    OneState,
    /// the version, too.
    Least,
}

/// From the widest to the narrowest.
const LAYOUTS: [Left; 4] = [Left::Whole, Left::Ageless, Left::OneState, Left::Least];

/// The first layout in which the rows leave their last cells the room that those need.
fn layout<T>(
    rows: impl Fn(Left) -> Vec<T>,
    cells: impl Fn(&T) -> Vec<usize>,
    indent: usize,
    style: Style,
) -> (Left, Vec<T>) {
    let is_fitting = |rows: &[T]| {
        let widths: Vec<Vec<usize>> = rows.iter().map(&cells).collect();
        let columns = widths.first().map_or(0, Vec::len);
        let widest = |column: usize| widths.iter().map(|row| row[column]).max().unwrap_or_default();
        let gaps = GAP * columns.saturating_sub(1);
        indent + (0..columns).map(widest).sum::<usize>() + gaps <= style.width
    };
    let fitting = LAYOUTS.into_iter().map(|left| (left, rows(left))).find(|(_, rows)| is_fitting(rows));
    fitting.unwrap_or_else(|| (Left::Least, rows(Left::Least)))
}

/// What stands for a blank that is no place to break a line at.
const GLUE: char = '\u{a0}';

/// How much room a last cell needs: its longest part without a place to break it.
fn longest_part(marks: &Piece) -> usize {
    marks.parts(' ').max().unwrap_or_default()
}

fn unglued(lines: Vec<String>) -> Vec<String> {
    lines.into_iter().map(|line| line.replace(GLUE, " ")).collect()
}

fn by_zone(members: &[&MemberStatus], now: Timestamp, style: Style) -> Vec<String> {
    let rows = |left| members.iter().map(|member| row(member, left, now)).collect();
    let widths = |row: &Row| {
        let marks = longest_part(&row.marks);
        row.cells.iter().map(Piece::width).chain([marks]).collect()
    };
    let (left, rows) = layout(rows, widths, 4, style);
    let extra = if left == Left::Whole { how_many_fit(&rows, style) } else { 0 };
    let cells: Vec<Vec<Piece>> = rows
        .into_iter()
        .map(|row| {
            let mut cells = row.cells;
            cells.extend(row.optional.into_iter().take(extra));
            cells.push(row.marks);
            cells
        })
        .collect();
    let mut lines = Vec::new();
    let mut from = 0;
    let laid_out: Vec<Vec<String>> = rows_in_columns(&cells, 4, style).into_iter().map(unglued).collect();
    while from < members.len() {
        let zone = &members[from].zone;
        let count = members[from..].iter().take_while(|member| member.zone == *zone).count();
        let shown = if zone.is_empty() { "zone unknown" } else { zone };
        lines.push(line(
            &[
                Piece::plain(&format!("  {shown}")),
                Piece::toned(Tone::Faint, &format!("  {}", text::count(count, "member"))),
            ],
            style,
        ));
        lines.extend(laid_out[from..from + count].iter().flatten().cloned());
        from += count;
    }
    lines
}

/// How many of the columns that one can do without find room.
fn how_many_fit(rows: &[Row], style: Style) -> usize {
    let widest = |cell: &dyn Fn(&Row) -> usize| rows.iter().map(cell).max().unwrap_or_default();
    let count = rows.first().map_or(0, |row| row.cells.len());
    let must: usize = (0..count).map(|column| widest(&|row| row.cells[column].width()) + 2).sum();
    let marks = widest(&|row| row.marks.width()).min(MARKS);
    let mut used = 4 + must + marks;
    let mut fit = 0;
    for column in 0..3 {
        used += widest(&|row| row.optional[column].width()) + 2;
        if used > style.width {
            break;
        }
        fit = column + 1;
    }
    fit
}

/// EC2's word and the group's; of both the one that says more, where there is room for one.
fn states(state: &str, lifecycle: Option<&str>, left: Left) -> Vec<Piece> {
    let ec2 = match state {
        "running" => Piece::plain("running"),
        "pending" => Piece::toned(Tone::Caution, "pending"),
        other => Piece::toned(Tone::Bad, other),
    };
    let group = match lifecycle {
        Some("InService") => Piece::plain("InService"),
        Some(other) => Piece::toned(Tone::Caution, other),
        None => Piece::toned(Tone::Faint, "-"),
    };
    match lifecycle {
        _ if left < Left::OneState => vec![ec2, group],
        Some(lifecycle) if lifecycle != "InService" && matches!(state, "running" | "pending") => vec![group],
        _ => vec![ec2],
    }
}

fn row(member: &MemberStatus, left: Left, now: Timestamp) -> Row {
    let version = match (&member.version, member.behind) {
        (Some(version), Behind::No | Behind::Unknown) => Piece::plain(&format!("v{version}")),
        (Some(version), _) => Piece::toned(Tone::Caution, &format!("v{version}")),
        (None, _) => Piece::toned(Tone::Faint, "-"),
    };
    let launched = member.launched_at;
    let health = match (&member.health, member.is_unhealthy()) {
        (Some(health), true) => Piece::toned(Tone::Bad, health),
        (Some(health), false) => Piece::plain(health),
        (None, _) => Piece::toned(Tone::Faint, "-"),
    };
    let mut cells = vec![Piece::plain(&member.instance_id)];
    cells.extend(states(&member.state, member.lifecycle.as_deref(), left));
    if left < Left::Least {
        cells.push(version);
    }
    if left < Left::Ageless {
        cells.push(Piece::plain(&launched.map_or_else(|| "-".to_owned(), |at| age(now.since(at)))));
    }
    Row {
        cells,
        optional: [
            health,
            Piece::plain(member.addresses.first().map_or("-", String::as_str)),
            Piece::toned(Tone::Faint, &launched.map_or_else(|| "-".to_owned(), utc)),
        ],
        marks: marks(member),
    }
}

fn marks(member: &MemberStatus) -> Piece {
    let behind = match member.behind {
        Behind::Unknown if member.lifecycle.is_none() && !member.leaving => "not in the group",
        behind => mark(behind),
    };
    let marks = [
        (!behind.is_empty(), behind),
        (member.is_unhealthy(), "unhealthy"),
        (member.standby, "standby"),
        (member.protected, "protected"),
    ];
    let told: Vec<&str> = marks.into_iter().filter(|(holds, _)| *holds).map(|(_, mark)| mark).collect();
    let told: Vec<String> = told.into_iter().map(|mark| mark.replace(' ', &GLUE.to_string())).collect();
    Piece::toned(if member.is_unhealthy() { Tone::Bad } else { Tone::Caution }, &told.join(", "))
}

/// In how far a member does not run what the group launches.
fn mark(behind: Behind) -> &'static str {
    match behind {
        Behind::OlderVersion => "older version",
        Behind::DeletedTemplate => "deleted template",
        Behind::OtherTemplate => "other template",
        Behind::NoTemplate => "no template",
        Behind::No | Behind::Unknown => "",
    }
}

/// What members are alike in.
type Kind<'a> = (&'a str, &'a str, &'a str, &'a str, Behind);

fn sums(members: &[&MemberStatus], now: Timestamp, style: Style) -> Vec<String> {
    let mut kinds: BTreeMap<Kind<'_>, Vec<&MemberStatus>> = BTreeMap::new();
    for &member in members {
        let lifecycle = member.lifecycle.as_deref().unwrap_or("-");
        let version = member.version.as_deref().unwrap_or("-");
        kinds
            .entry((&member.zone, &member.state, lifecycle, version, member.behind))
            .or_default()
            .push(member);
    }
    let rows = |left| kinds.iter().map(|(kind, alike)| sum(*kind, alike, left, now)).collect();
    let (_, rows) = layout(rows, |row: &Vec<Piece>| row.iter().map(Piece::width).collect(), 2, style);
    unglued(columns(&rows, 2, style))
}

fn sum(kind: Kind<'_>, alike: &[&MemberStatus], left: Left, now: Timestamp) -> Vec<Piece> {
    let (zone, state, lifecycle, version, behind) = kind;
    let mut cells = vec![Piece::plain(zone), Piece::plain(&format!("{:>5}", alike.len()))];
    cells.extend(states(state, Some(lifecycle).filter(|lifecycle| *lifecycle != "-"), left));
    if left < Left::Least {
        cells.push(Piece::plain(&if version == "-" { "-".to_owned() } else { format!("v{version}") }));
    }
    if left < Left::Ageless {
        cells.push(Piece::toned(Tone::Faint, &ages(alike, now)));
    }
    cells.push(Piece::toned(Tone::Caution, &mark(behind).replace(' ', &GLUE.to_string())));
    cells
}

fn ages(members: &[&MemberStatus], now: Timestamp) -> String {
    let launched = || members.iter().filter_map(|member| member.launched_at);
    match (launched().max(), launched().min()) {
        (Some(youngest), Some(oldest)) if youngest != oldest => {
            format!("{} to {}", age(now.since(youngest)), age(now.since(oldest)))
        }
        (Some(at), _) => age(now.since(at)),
        (None, _) => "-".to_owned(),
    }
}

/// Whether there is more to say of a member than its kind; that it only waits for a roll is no news.
fn is_odd(member: &MemberStatus) -> bool {
    let only_behind = MemberStatus { behind: Behind::No, ..member.clone() }.is_ordinary();
    !member.is_ordinary() && (!only_behind || member.behind == Behind::NoTemplate)
}

/// The first few of the odd ones.
fn first(odd: &[&MemberStatus], now: Timestamp, style: Style) -> Vec<String> {
    let shown = &odd[..odd.len().min(abridge::SHOWN)];
    let mut lines = by_zone(shown, now, style);
    if odd.len() > shown.len() {
        let rest = abridge::rest(odd.len() - shown.len());
        lines.extend(columns(&[vec![Piece::plain(&rest)]], 2, style));
    }
    lines
}
