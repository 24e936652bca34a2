//! A plan as a person reads it: verdict, a table per resource, instances, warnings, notes, counts.

use super::{
    abridge,
    affected::Affected,
    diagnostics::diagnostic,
    diff,
    outcome::plan_summary,
    style::{Style, Tone},
    table::table,
    text,
    verdict::verdict,
};
use crate::{
    contract::problem::Diagnostic,
    model::plan::{Action, Change, FieldChange, Plan},
};

/// What a plan is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To make the pool what the inputs say.
    Apply,
    /// To delete it.
    Destroy,
}

/// What a plan is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject<'a> {
    /// `<namespace>/<name>`.
    pub pool: &'a str,
    /// Where it lives.
    pub region: &'a str,
    /// What is to be done with it.
    pub purpose: Purpose,
}

/// The whole text, with a line end. The last line counts: `Plan: 2 to add, 1 to change, 0 to destroy.`;
/// a plan without changes has no such line and begins `No changes.`
pub fn plan(plan: &Plan, subject: &Subject<'_>, style: Style) -> String {
    let mut parts = vec![style.paint(Tone::Strong, &text::wrap(&verdict(plan, subject), style.width))];
    parts.extend(plan.changes.iter().map(|change| resource(change, style)));
    parts.extend(Affected::of(plan).tables(style));
    parts.extend(plan.warnings.iter().map(|one| warning(one, style)));
    if !plan.notes.is_empty() {
        parts.push(notes(&plan.notes, style));
    }
    if !plan.is_empty() {
        parts.push(style.paint(Tone::Strong, &plan_summary(plan.counts())));
    }
    parts.join("\n\n") + "\n"
}

fn resource(change: &Change, style: Style) -> String {
    let (sign, tone, verb) = match change.action {
        Action::Create => ("+", Tone::Good, "is added"),
        Action::Update => ("~", Tone::Caution, "is updated"),
        Action::Replace => ("+/-", Tone::Bad, "is replaced (the new one first)"),
        Action::Delete => ("-", Tone::Bad, "is deleted"),
    };
    let heading = format!("{sign} {} {} {verb}", change.address.noun(), text::line(&change.name));
    let mut lines = vec![
        style.paint(tone, &text::wrap(&heading, style.width)),
        style.paint(Tone::Faint, change.address.as_str()),
    ];
    if let Some(reason) = &change.reason {
        lines.push(text::wrap(&format!("Reason: {}", text::line(reason)), style.width));
    }
    if !change.fields.is_empty() {
        lines.push(fields(change, style));
    }
    lines.extend(change.fields.iter().filter_map(|field| long_text(field, style)));
    lines.join("\n")
}

/// The fields, without the column that a creation or a deletion leaves empty.
fn fields(change: &Change, style: Style) -> String {
    let all = [("now", change.action != Action::Create), ("then", change.action != Action::Delete)];
    let shown: Vec<&str> = all.into_iter().filter(|(_, shown)| *shown).map(|(name, _)| name).collect();
    let rows: Vec<Vec<String>> = change
        .fields
        .iter()
        .map(|field| {
            let now = cell(field, field.now.as_deref());
            let mut then = cell(field, field.then.as_deref());
            if field.now != field.then && then == now && !is_diffed(field) {
                then = format!("{then} {}", diff::CHANGED);
            }
            let sides = [now, then].into_iter().zip(all).filter(|(_, (_, shown))| *shown);
            [text::line(&field.field)].into_iter().chain(sides.map(|(side, _)| side)).collect()
        })
        .collect();
    let mut heading = vec!["field"];
    heading.extend(shown);
    table(&heading, &rows, style)
}

/// One value: as it is, or its size where [`long_text`] or `--format json` has the text.
fn cell(field: &FieldChange, value: Option<&str>) -> String {
    match value {
        None => "(none)".to_owned(),
        Some("") => "\"\"".to_owned(),
        Some(value) if is_long(value) => {
            let size = format!(
                "{}, {}",
                text::count(value.lines().count(), "line"),
                text::count(value.len(), "byte")
            );
            let place =
                if is_diffed(field) { "see the difference below" } else { "whole with --format json" };
            format!("({size}; {place})")
        }
        Some(value) if field.is_checksum() => text::checksum(value),
        Some(value) => text::line(value),
    }
}

/// The unified difference of a text with several lines that changes into another text.
fn long_text(field: &FieldChange, style: Style) -> Option<String> {
    let (now, then) = (field.now.as_deref()?, field.then.as_deref()?);
    is_diffed(field).then(|| diff::unified(&text::line(&field.field), now, then, style))
}

fn is_long(value: &str) -> bool {
    value.trim_end_matches('\n').contains('\n')
}

fn is_diffed(field: &FieldChange) -> bool {
    match (&field.now, &field.then) {
        (Some(now), Some(then)) => is_long(now) || is_long(then),
        _ => false,
    }
}

/// A warning as wide as the plan; its lists are shortened.
fn warning(warning: &Diagnostic, style: Style) -> String {
    let detail = abridge::paragraphs(&text::block(&warning.detail), style.width);
    let warning = Diagnostic { detail, summary: text::line(&warning.summary), severity: warning.severity };
    let plain = diagnostic(&warning, Style { colour: false, ..style });
    let (summary, detail) = plain.trim_end().split_once('\n').unwrap_or((plain.trim_end(), ""));
    let summary = text::wrap(summary, style.width);
    let (heading, rest) = summary.split_once(' ').unwrap_or((&summary, ""));
    format!("{} {rest}\n{detail}", style.paint(Tone::Caution, heading)).trim_end().to_owned()
}

fn notes(notes: &[String], style: Style) -> String {
    let lines: Vec<String> = notes
        .iter()
        .map(|note| {
            let wrapped = text::indent(&abridge::paragraphs(&text::line(note), style.width - 2), 2);
            format!("-{}", &wrapped[1..])
        })
        .collect();
    format!("{}\n{}", style.paint(Tone::Strong, "Notes:"), lines.join("\n"))
}

#[cfg(test)]
mod tests;
