//! What is true after the work, done or failed, and how that is told.

use std::time::Duration;

use super::ending;
use crate::{
    contract::problem::{Diagnostic, sentence},
    engine::{Applied, Planned, context::Interrupt},
    error::{Failure, Kind},
    model::{
        names,
        observed::{Object, Observed, Policy, Template},
        plan::Counts,
    },
};

/// How long what was done is looked at after a failure.
const LOOK_BACK: Duration = Duration::from_secs(10);

/// How long a reading that lags is left alone.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Reads again and again until the group is shown, if it must be; `look` says whether it is.
pub(super) async fn until_shown<T>(
    must_be: bool,
    mut look: impl AsyncFnMut() -> Result<(T, bool), Failure>,
) -> Result<T, Failure> {
    loop {
        match look().await? {
            (_, false) if must_be => tokio::time::sleep(LOOK_AGAIN).await,
            (found, _) => return Ok(found),
        }
    }
}

/// A reading of what was done that is given up after [`LOOK_BACK`], and sooner if the run was interrupted.
pub(super) async fn in_time<T>(
    interrupt: &Interrupt,
    reading: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let reading = tokio::time::timeout(LOOK_BACK, reading);
    match ending::within(interrupt, ending::LOOK, reading).await {
        Some(Ok(read)) => read,
        Some(Err(_)) | None => Err(Failure::new(Kind::Aws, "AWS did not tell in time", "")),
    }
}

/// A failure to see what was done is worth a warning beside the failure itself.
pub(super) fn untold(failure: &Failure) -> Failure {
    let diagnostic = Diagnostic::warning(
        "What was done is not recorded in the state",
        format!("{} The next apply or refresh records it.", sentence(&failure.to_string())),
    );
    Failure { kind: failure.kind, diagnostics: vec![diagnostic] }
}

/// AWS as an apply leaves it, from what was read before and what was done: nothing is read again.
pub(super) fn after(planned: &Planned, applied: &Applied) -> Observed {
    let desired = &planned.desired;
    let mut observed = planned.observed.clone();
    observed.group.clone_from(&applied.group);
    observed.object = Object::Present {
        sha256: Some(desired.object.sha256.clone()),
        content_type: None,
        encryption: None,
        tags: desired.object.tags.clone(),
    };
    observed.policies.retain(|policy| policy.name != names::POLICY);
    if desired.policy.is_some() {
        observed.policies.push(Policy { name: names::POLICY.to_owned(), ..Policy::default() });
    }
    if let Some(id) = &applied.outputs.launch_template_id {
        // Its tags are the wanted ones now, whether it was there before or not.
        let known = observed.templates.iter().position(|template| template.id == *id);
        let name =
            known.map_or_else(|| desired.template.name.clone(), |at| observed.templates[at].name.clone());
        let template =
            Template { id: id.clone(), name, tags: desired.template.tags.clone(), ..Template::default() };
        match known {
            Some(at) => observed.templates[at] = template,
            None => observed.templates.push(template),
        }
    }
    observed
}

/// The outcome of the work, and of recording it: both failures are told.
pub(super) fn both<T>(outcome: Result<T, Failure>, recorded: Result<(), Failure>) -> Result<T, Failure> {
    match (outcome, recorded) {
        (outcome, Ok(())) => outcome,
        (Ok(_), Err(failure)) => Err(failure),
        (Err(mut failure), Err(unrecorded)) => {
            failure.diagnostics.extend(unrecorded.diagnostics);
            Err(failure)
        }
    }
}

/// A wait that failed says what was done before it.
pub(super) fn after_changes(mut failure: Failure, counts: Counts) -> Failure {
    let done = format!(
        "Everything else is done: {} added, {} changed, {} destroyed.",
        counts.add, counts.change, counts.destroy
    );
    if let Some(last) = failure.diagnostics.last_mut() {
        last.add(&done);
    }
    failure
}
