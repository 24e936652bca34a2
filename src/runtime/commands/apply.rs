//! `apply`: makes the pool what the inputs or a saved plan ask for, and records what is true then.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::{
    aftermath::{after, after_changes, both, in_time, until_shown, untold},
    destroy,
    ledger::{Ledger, Purpose as Holding},
    plan,
    setting::{Given, Setting},
    steps::Steps,
    tell,
};
use crate::{
    app::{
        account::Place,
        ask::{Approval, Asking},
        load,
        session::{Run, Session},
    },
    cli::ApplyArgs,
    contract::{outputs::Outputs, request::Request},
    engine::{
        self, Applied, Planned,
        context::{Context, Interrupt},
        observe,
    },
    error::{Failure, Kind},
    model::plan::Plan,
    runtime::{
        plan_json::Shown,
        plan_origin::Origin,
        planfile::{self, Essence, SavedPlan},
        state::{Live, OutputValue},
        ui_json::Operation,
    },
    view::{Purpose, Subject},
};
use futures_util::join;

/// Makes the pool what the inputs ask for, or carries out a saved plan. An apply without changes still
/// cleans up.
pub(crate) fn apply(session: &Session<'_>, args: &ApplyArgs) -> anyhow::Result<u8> {
    let setting = Setting::here()?;
    setting.check()?;
    let (given, saved) = match &args.plan_file {
        Some(path) => {
            let saved = saved(path, args)?;
            saved.origin.is_not_in(session.sandbox.as_deref())?;
            (setting.given(session.ui, saved.inputs.clone(), &saved.sensitive, &args.inputs), Some(saved))
        }
        None => (setting.inputs(session.ui, &args.inputs)?, None),
    };
    let approval = match &saved {
        Some(_) => Approval::Given,
        None => Approval::new(Asking::Apply, args.auto_approve, &args.terraform, &args.inputs, session.ui),
    };
    if saved.as_ref().is_some_and(|saved| saved.purpose == Purpose::Destroy) {
        let how = destroy::How::new(approval, args.timeout, &args.terraform, Operation::Apply);
        return destroy::carry_out(session, &setting, &given, &how, saved.as_ref());
    }
    let mut request = given.request()?;
    if let Some(image) = saved.as_ref().and_then(|saved| saved.image.clone()) {
        request.pin_image(image);
    }
    session.listening(async |interrupt| {
        let locking = args.terraform.locking;
        let task = Task {
            args,
            setting: &setting,
            given: &given,
            request: &request,
            approval,
            saved: saved.as_ref(),
        };
        Ledger::hold(session, &setting, locking, Holding::Apply, interrupt, async |ledger| {
            task.run(session, ledger, interrupt).await
        })
        .await
    })
}

/// Reads a saved plan; beside it no inputs may be given.
fn saved(path: &Path, args: &ApplyArgs) -> anyhow::Result<SavedPlan> {
    if !args.inputs.sources.is_empty() {
        return Err(Failure::new(
            Kind::Usage,
            "Can't set variables when applying a saved plan",
            "A saved plan holds the inputs that it was made from. Leave -var and -var-file away, or plan again with \
             them.",
        )
        .into());
    }
    Ok(SavedPlan::read(path).map_err(|problem| Failure { kind: Kind::Local, diagnostics: vec![problem] })?)
}

/// Refuses a saved plan that was made for another state or another place in AWS than those that are here.
pub(super) fn belongs_here(saved: Option<&SavedPlan>, here: &Origin) -> Result<(), Failure> {
    match saved.and_then(|saved| saved.origin.is_not(here)) {
        Some(problem) => Err(Failure { kind: Kind::Refused, diagnostics: vec![problem] }),
        None => Ok(()),
    }
}

/// Refuses a saved plan that no longer is what would be done.
pub(super) fn still_holds(saved: Option<&SavedPlan>, fresh: &Plan) -> Result<(), Failure> {
    let stale = saved.and_then(|saved| planfile::stale(&saved.essence, &Essence::of(fresh)));
    match stale {
        Some(problem) => Err(Failure { kind: Kind::Refused, diagnostics: vec![problem] }),
        None => Ok(()),
    }
}

/// Refuses a saved plan that only changes outputs, once none of them is left to change.
pub(super) fn outputs_left(saved: &SavedPlan, left: &BTreeSet<String>) -> Result<(), Failure> {
    match planfile::stale_outputs(&saved.outputs, left) {
        Some(problem) => Err(Failure { kind: Kind::Refused, diagnostics: vec![problem] }),
        None => Ok(()),
    }
}

/// The ARN of the group that is there.
pub(super) fn group_arn(planned: &Planned) -> Option<&str> {
    planned.observed.group.as_ref().map(|group| group.arn.as_str())
}

struct Task<'a> {
    args: &'a ApplyArgs,
    setting: &'a Setting,
    given: &'a Given,
    request: &'a Request,
    approval: Approval,
    saved: Option<&'a SavedPlan>,
}

impl Task<'_> {
    async fn run(
        &self,
        session: &Session<'_>,
        ledger: &mut Ledger,
        interrupt: &Interrupt,
    ) -> anyhow::Result<u8> {
        let request = self.request;
        let run = session.open(Place::Request(request), interrupt).await?;
        let here = ledger.origin(self.setting, &run.account);
        belongs_here(self.saved, &here)?;
        let mut planned = run.plan(request, &ledger.known()).await?;
        belongs_here(self.saved, &here.with_group(group_arn(&planned)))?;
        still_holds(self.saved, &planned.plan)?;
        self.outputs_are_left(&run, &planned, ledger).await?;
        self.approve(&run, &planned, ledger).await?;
        if self.approval == Approval::Asked && !planned.plan.is_empty() {
            planned = self.as_approved(&run, &planned.plan, ledger).await?;
        }
        if planned.observed.group.is_some() && !planned.desired.zones.recorded {
            // The pool was just taken over: what only its state knows must not be lost.
            ledger.rehearse().await?;
        }
        tell::begin(run.ui, &planned.plan);
        let context = run.context(self.args.timeout);
        let steps = Steps::of(&planned.plan, context.progress);
        let context = Context { progress: &steps, ..context };
        let outcome = self.walk(&run, &context, &planned).await.map_err(|failure| steps.tell(failure));
        let recorded = match &outcome {
            Ok(applied) => {
                let after = after(&planned, applied);
                ledger
                    .record_apply(
                        self.setting,
                        &planned.desired,
                        &after,
                        &applied.outputs,
                        run.account.region(),
                    )
                    .await
            }
            Err(_) => self.look_back(&run, &planned, steps.made_group(), ledger).await,
        };
        let applied = both(outcome, recorded)?;
        tell::applied(run.ui, applied.counts, &applied.outputs, self.setting);
        Ok(0)
    }

    /// Refuses a saved plan that only records outputs anew, once they are recorded.
    async fn outputs_are_left(
        &self,
        run: &Run<'_>,
        planned: &Planned,
        ledger: &Ledger,
    ) -> anyhow::Result<()> {
        let Some(saved) = self.saved.filter(|saved| !saved.outputs.is_empty()) else { return Ok(()) };
        let live = plan::live(run, self.setting, &self.request.scope, planned).await?;
        let recorded = ledger.outputs();
        let changes = plan::changed_outputs(self.setting, &self.shown(planned, &recorded, live.as_ref()));
        let left = changes.into_iter().map(|change| change.name).collect();
        Ok(outputs_left(saved, &left)?)
    }

    fn shown<'a>(
        &'a self,
        planned: &'a Planned,
        recorded: &'a BTreeMap<String, OutputValue>,
        live: Option<&'a Outputs>,
    ) -> Shown<'a> {
        Shown {
            plan: &planned.plan,
            purpose: Purpose::Apply,
            root: &self.setting.root,
            inputs: &self.given.inputs,
            secrets: &self.given.secrets,
            recorded,
            live,
            passing: &[],
            sized: !self.request.autoscaling.is_on(),
            empties: false,
        }
    }

    /// Shows the plan, and asks if there is something to approve.
    async fn approve(&self, run: &Run<'_>, planned: &Planned, ledger: &Ledger) -> anyhow::Result<()> {
        let pool = load::pool(&self.request.scope);
        let subject = Subject { pool: &pool, region: run.account.region(), purpose: Purpose::Apply };
        let recorded = ledger.outputs();
        // A text tells of outputs only where nothing else changes.
        let are_told = run.ui.lines().is_some() || planned.plan.is_empty();
        let outputs = if are_told {
            let live = plan::live(run, self.setting, &self.request.scope, planned).await?;
            plan::changed_outputs(self.setting, &self.shown(planned, &recorded, live.as_ref()))
        } else {
            Vec::new()
        };
        let record = tell::Record { outputs: &outputs, emptied: false };
        tell::proposal(run.ui, &self.given.secrets.conceal(&planned.plan), &subject, record);
        if !planned.plan.is_empty() {
            self.approval.obtain(run.ui, &run.interrupt, Purpose::Apply).await?;
        }
        Ok(())
    }

    /// The plan anew: a question can stand for hours, and only what was shown may be done.
    async fn as_approved(&self, run: &Run<'_>, approved: &Plan, ledger: &Ledger) -> Result<Planned, Failure> {
        let fresh = run.plan(self.request, &ledger.known()).await?;
        if planfile::stale(&Essence::of(approved), &Essence::of(&fresh.plan)).is_none() {
            return Ok(fresh);
        }
        Err(Failure::new(
            Kind::Refused,
            "The pool has changed since the plan was shown",
            "What was approved is no longer what apply would do. Nothing was changed. Run the command again to see \
             what it would do now.",
        ))
    }

    async fn walk(
        &self,
        run: &Run<'_>,
        context: &Context<'_>,
        planned: &Planned,
    ) -> Result<Applied, Failure> {
        let mut applied = engine::apply(context, self.request, planned).await?;
        if self.args.wait {
            engine::await_roll(context, &self.request.scope, applied.refresh.as_deref())
                .await
                .map_err(|failure| after_changes(failure, applied.counts))?;
            applied.outputs = run.reading(engine::outputs(run.account.cloud(), &self.request.scope)).await?;
        }
        Ok(applied)
    }

    /// What is true after a failure, as far as AWS tells in time: all of it, else the outputs at least. A reading
    /// without the group that this very run made lags: to record it would be to call the pool terminated.
    async fn look_back(
        &self,
        run: &Run<'_>,
        planned: &Planned,
        made_group: bool,
        ledger: &mut Ledger,
    ) -> Result<(), Failure> {
        if !ledger.keeps() {
            return Ok(());
        }
        let (cloud, scope) = (run.account.cloud(), &self.request.scope);
        let whole = until_shown(made_group, async || {
            let observed = observe::for_plan(cloud, self.request).await?;
            let outputs = engine::outputs_of(cloud, scope, &observed).await?;
            let shows = observed.group.is_some();
            Ok(((observed, outputs), shows))
        });
        let outputs = until_shown(made_group, async || {
            let outputs = engine::outputs(cloud, scope).await?;
            let shows = outputs.provider_id.is_some();
            Ok((outputs, shows))
        });
        let interrupt = &run.interrupt;
        let (whole, outputs) = join!(in_time(interrupt, whole), in_time(interrupt, outputs));
        let region = run.account.region();
        match (whole, outputs) {
            // Of a pool that is being taken over, only the state knows what it was made with.
            (Ok((observed, outputs)), _) if !Live::is_recorded(&planned.desired, &observed) => {
                ledger.record_outputs(self.setting, &outputs, region).await
            }
            (Ok((observed, outputs)), _) => {
                ledger.record_apply(self.setting, &planned.desired, &observed, &outputs, region).await
            }
            (Err(_), Ok(outputs)) => ledger.record_outputs(self.setting, &outputs, region).await,
            (Err(failure), Err(_)) => Err(untold(&failure)),
        }
    }
}
