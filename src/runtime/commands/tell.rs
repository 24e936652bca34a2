//! What is told of a plan and of an end: text for people, lines of JSON for programs.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    app::Ui,
    cli::PlanFormat,
    contract::{
        outputs::Outputs,
        problem::{Diagnostic, Severity},
    },
    model::plan::{Action, Counts, Plan},
    runtime::{plan_json::OutputChange, secrets::MASK, state::OutputValue, ui_json::Operation},
    view::{self, PlannedOutput, Purpose, Style, Subject},
};

use super::setting::{self, Setting};

/// What changes in the state, whatever a plan changes in AWS.
#[derive(Clone, Copy, Default)]
pub(super) struct Record<'a> {
    /// The outputs.
    pub(super) outputs: &'a [OutputChange],
    /// Whether a destroy empties it.
    pub(super) emptied: bool,
}

impl Record<'_> {
    /// Whether nothing does.
    pub(super) fn is_kept(self) -> bool {
        self.outputs.is_empty() && !self.emptied
    }
}

/// A plan as the result of `plan`.
pub(super) fn plan(ui: &Ui, plan: &Plan, subject: &Subject<'_>, record: Record<'_>) {
    match ui.lines() {
        Some(_) => lines(ui, plan, record.outputs),
        None => ui.result(&text(plan, subject, record, ui.result_style())),
    }
}

/// A plan before it is applied: for people no result, but what they approve.
pub(super) fn proposal(ui: &Ui, plan: &Plan, subject: &Subject<'_>, record: Record<'_>) {
    match ui.lines() {
        Some(_) => lines(ui, plan, record.outputs),
        None => ui.say(&text(plan, subject, record, ui.talk_style())),
    }
}

/// A plan as a text.
pub(super) fn text(plan: &Plan, subject: &Subject<'_>, record: Record<'_>, style: Style) -> String {
    let text = view::plan(plan, subject, style);
    if !plan.is_empty() || record.is_kept() {
        return text;
    }
    match subject.purpose {
        Purpose::Destroy if record.outputs.is_empty() => {
            format!("{text}\nResources to remove from the state.\n")
        }
        Purpose::Apply | Purpose::Destroy => format!("{text}\n{}", outputs_text(record.outputs)),
    }
}

/// The outputs that change, by what becomes of them in the state: a line each.
fn outputs_text(outputs: &[OutputChange]) -> String {
    let (gone, anew): (Vec<_>, Vec<_>) = outputs.iter().partition(|change| change.action == Action::Delete);
    let line = |heading: &str, changes: Vec<&OutputChange>| {
        let names: Vec<String> = changes.iter().map(|change| view::text::line(&change.name)).collect();
        if names.is_empty() { String::new() } else { format!("{heading}: {}.\n", view::text::list(&names)) }
    };
    line("Outputs to record anew", anew) + &line("Outputs to remove", gone)
}

/// The outputs that change, for programs that read a plan as one object.
pub(super) fn listed(outputs: &[OutputChange]) -> Vec<PlannedOutput<'_>> {
    outputs.iter().map(|change| PlannedOutput { name: &change.name, action: change.action }).collect()
}

/// What a refresh would record anew, as the result of `plan -refresh-only`.
pub(super) fn refresh(ui: &Ui, pool: &str, region: &str, outputs: &[OutputChange], format: PlanFormat) {
    if ui.lines().is_some() {
        return lines(ui, &Plan::default(), outputs);
    }
    let text = if outputs.is_empty() {
        let pool = view::text::line(&format!("the pool {pool} in {region}"));
        format!("No changes. A refresh would record nothing anew of {pool}.\n")
    } else {
        outputs_text(outputs)
    };
    match format {
        PlanFormat::Text => ui.result(&text),
        PlanFormat::Json => ui.result(&view::refresh_json(&text, &listed(outputs))),
    }
}

fn lines(ui: &Ui, plan: &Plan, outputs: &[OutputChange]) {
    let Some(lines) = ui.lines() else { return };
    ui.tell(&plan.warnings);
    plan.notes.iter().for_each(|note| lines.log(note));
    lines.plan(plan);
    lines.planned_outputs(outputs);
}

/// An error that another one goes before.
pub(super) fn as_warning(diagnostic: Diagnostic) -> Diagnostic {
    Diagnostic { severity: Severity::Warning, ..diagnostic }
}

/// The steps of a plan are about to be carried out.
pub(super) fn begin(ui: &Ui, plan: &Plan) {
    if let Some(lines) = ui.lines() {
        lines.begin(plan);
    }
}

/// How an apply ends.
pub(super) fn applied(ui: &Ui, counts: Counts, outputs: &Outputs, setting: &Setting) {
    let named = setting.outputs(outputs);
    let Some(lines) = ui.lines() else {
        ui.result(&view::apply_complete(counts));
        if !setting.has_root {
            ui.result(&format!("\n{}", view::outputs_table(outputs, ui.result_style())));
        } else if !named.is_empty() {
            ui.result(&format!("\n{}", table(&named)));
        }
        return;
    };
    lines.finish();
    lines.summary(counts, Operation::Apply);
    lines.outputs(&setting::listed(&named));
}

/// The outputs that a root exports, by its names for them; lists by their length.
fn table(named: &BTreeMap<String, OutputValue>) -> String {
    let width = named.keys().map(String::len).max().unwrap_or_default();
    let row = |(name, output): (&String, &OutputValue)| {
        let value = match &output.value {
            _ if output.sensitive => MASK.to_owned(),
            Value::Null => "(none)".to_owned(),
            Value::String(text) => text.clone(),
            Value::Array(items) => view::text::count(items.len(), "item"),
            other => other.to_string(),
        };
        format!("{name:width$}  {}\n", view::text::line(&value))
    };
    format!("Outputs:\n{}", named.iter().map(row).collect::<String>())
}

/// How a destroy ends; one that was planned as such and saved ends as the apply of that plan.
pub(super) fn destroyed(ui: &Ui, counts: Counts, operation: Operation) {
    let Some(lines) = ui.lines() else {
        let sentence = match operation {
            Operation::Destroy => view::destroy_complete(counts),
            Operation::Apply | Operation::Plan => view::apply_complete(counts),
        };
        ui.result(&sentence);
        return;
    };
    lines.finish();
    lines.summary(counts, operation);
}
