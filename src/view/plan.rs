//! A plan as a person reads it: verdict, a table per resource, instances, warnings, notes, counts.

use super::{
    diagnostics::diagnostic,
    diff,
    style::{Style, Tone},
    table::table,
    text,
    verdict::verdict,
};
use crate::model::plan::{Action, Change, FieldChange, Plan};

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
    if !plan.replaced.is_empty() {
        parts.push(replaced(plan, style));
    }
    parts.extend(plan.warnings.iter().map(|warning| diagnostic(warning, style).trim_end().to_owned()));
    if !plan.notes.is_empty() {
        parts.push(notes(&plan.notes, style));
    }
    if !plan.is_empty() {
        parts.push(style.paint(Tone::Strong, &counts(plan)));
    }
    parts.join("\n\n") + "\n"
}

fn counts(plan: &Plan) -> String {
    let counts = plan.counts();
    format!("Plan: {} to add, {} to change, {} to destroy.", counts.add, counts.change, counts.destroy)
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
            let mut row = vec![text::line(&field.field)];
            row.extend(shown.iter().map(|side| {
                cell(field, if *side == "now" { field.now.as_deref() } else { field.then.as_deref() })
            }));
            row
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
            let size = format!("{}, {} bytes", text::count(value.lines().count(), "line"), value.len());
            let place =
                if is_diffed(field) { "see the difference below" } else { "whole with --format json" };
            format!("({size}; {place})")
        }
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

fn replaced(plan: &Plan, style: Style) -> String {
    let heading = format!(
        "{} to replace, a replacement launched before each one goes; nodes are not drained:",
        text::count(plan.replaced.len(), "running instance")
    );
    let rows: Vec<Vec<String>> = plan
        .replaced
        .iter()
        .map(|member| [&member.id, &member.zone, &member.why].map(|cell| text::line(cell)).to_vec())
        .collect();
    let heading = style.paint(Tone::Bad, &text::wrap(&heading, style.width));
    format!("{heading}\n{}", table(&["instance", "zone", "why"], &rows, style))
}

fn notes(notes: &[String], style: Style) -> String {
    let lines: Vec<String> = notes
        .iter()
        .map(|note| {
            let wrapped = text::indent(&text::wrap(&text::line(note), style.width - 2), 2);
            format!("-{}", &wrapped[1..])
        })
        .collect();
    format!("{}\n{}", style.paint(Tone::Strong, "Notes:"), lines.join("\n"))
}

#[cfg(test)]
mod tests;
