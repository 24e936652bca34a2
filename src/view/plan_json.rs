//! A plan as a program reads it.

use serde::Serialize;

use super::{plan::Subject, text, verdict::verdict};
use crate::{
    contract::problem::Diagnostic,
    model::plan::{AffectedMember, Change, Counts, Plan},
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
}

/// One JSON object, indented, with a line end: `verdict` (the sentence of the text form), `counts`
/// (`add`, `change`, `destroy`), `changes`, `replaced`, `terminated` (how many), `warnings`, `notes`. The order is the plan's.
pub fn plan_json(plan: &Plan, subject: &Subject<'_>) -> String {
    let json = PlanJson {
        verdict: verdict(plan, subject),
        counts: plan.counts(),
        changes: &plan.changes,
        replaced: &plan.replaced,
        terminated: plan.terminated,
        warnings: &plan.warnings,
        notes: &plan.notes,
    };
    let checksums = plan.changes.iter().flat_map(|change| &change.fields).filter(|field| field.is_checksum());
    let kept: Vec<&str> =
        checksums.flat_map(|field| field.now.iter().chain(&field.then)).map(String::as_str).collect();
    text::json_but(&json, &kept)
}
