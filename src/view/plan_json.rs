//! A plan as a program reads it.

use serde::Serialize;

use super::{plan::Subject, text, verdict::verdict};
use crate::{
    contract::problem::Diagnostic,
    model::plan::{Action, AffectedMember, Change, Counts, Plan},
};

#[derive(Serialize)]
struct PlanJson<'a> {
    verdict: String,
    counts: Counts,
    changes: &'a [Change],
    replaced: &'a [AffectedMember],
    terminated: u32,
    warnings: &'a [Diagnostic],
    notes: &'a [String],
    outputs: &'a [PlannedOutput<'a>],
}

/// A recorded output that changes in the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedOutput<'a> {
    /// Its name in the root module.
    pub name: &'a str,
    /// How.
    pub action: Action,
}

/// One JSON object, indented, with a line end: `verdict` (the sentence of the text form), `counts`
/// (`add`, `change`, `destroy`), `changes`, `replaced`, `terminated` (how many), `warnings`, `notes`,
/// `outputs` (those recorded that change). The order is the plan's.
pub fn plan_json(plan: &Plan, subject: &Subject<'_>, outputs: &[PlannedOutput<'_>]) -> String {
    json(verdict(plan, subject), plan, outputs)
}

/// The same of a plan that only records outputs anew: a text says so.
pub fn refresh_json(text: &str, outputs: &[PlannedOutput<'_>]) -> String {
    let verdict = text.lines().collect::<Vec<_>>().join(" ");
    json(verdict, &Plan::default(), outputs)
}

fn json(verdict: String, plan: &Plan, outputs: &[PlannedOutput<'_>]) -> String {
    let json = PlanJson {
        verdict,
        counts: plan.counts(),
        changes: &plan.changes,
        replaced: &plan.replaced,
        terminated: plan.terminated,
        warnings: &plan.warnings,
        notes: &plan.notes,
        outputs,
    };
    let checksums = plan.changes.iter().flat_map(|change| &change.fields).filter(|field| field.is_checksum());
    let kept: Vec<&str> =
        checksums.flat_map(|field| field.now.iter().chain(&field.then)).map(String::as_str).collect();
    text::json_but(&json, &kept)
}
