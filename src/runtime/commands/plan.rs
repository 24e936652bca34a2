//! `plan`: what apply or destroy would do, shown and perhaps saved.

use super::{
    apply::group_arn,
    ledger::{Ledger, Purpose as Holding},
    setting::{Given, Setting},
    tell,
};
use crate::{
    app::{
        account::Place,
        again, load,
        session::{Run, Session},
    },
    cli::{PlanArgs, PlanFormat},
    contract::{ids::ImageId, outputs::Outputs, request::Scope},
    engine::{self, Planned, context::Interrupt},
    error::{Failure, Kind, file_name},
    model::plan::Plan,
    runtime::{
        plan_json::{self, OutputChange, Shown},
        plan_origin::Origin,
        plan_place::{self, Needed},
        planfile::{Essence, SavedPlan},
    },
    view::{self, Purpose, Style, Subject},
};

/// The exit code of `plan -detailed-exitcode` when there are changes.
pub(super) const CHANGES: u8 = 2;

/// Shows what apply would do, or destroy; saves it if told to.
pub(crate) fn plan(session: &Session<'_>, args: &PlanArgs) -> anyhow::Result<u8> {
    if let Some(path) = &args.out {
        let needed = Needed { inputs: args.inputs.files(), sandbox: session.sandbox.as_deref() };
        plan_place::check(path, &needed)
            .map_err(|problem| Failure { kind: Kind::Local, diagnostics: vec![problem] })?;
    }
    let setting = Setting::here()?;
    if !args.destroy {
        setting.check()?;
    }
    let given = setting.inputs(session.ui, &args.inputs)?;
    let locking = args.terraform.locking;
    session.listening(async |interrupt| {
        if args.destroy {
            given.scope()?;
        } else {
            given.request()?;
        }
        Ledger::hold(session, &setting, locking, Holding::Plan, interrupt, async |ledger| {
            let code = if args.destroy {
                plan_destroy(session, args, &setting, &given, ledger, interrupt).await?
            } else {
                plan_apply(session, args, &setting, &given, ledger, interrupt).await?
            };
            tell_where(session, args);
            Ok(code)
        })
        .await
    })
}

async fn plan_apply(
    session: &Session<'_>,
    args: &PlanArgs,
    setting: &Setting,
    given: &Given,
    ledger: &Ledger,
    interrupt: &Interrupt,
) -> anyhow::Result<u8> {
    let request = given.request()?;
    let run = session.open(Place::Request(&request), interrupt).await?;
    let planned = run.plan(&request, &ledger.known()).await?;
    let live = live(&run, setting, &request.scope, &planned).await?;
    let image = match &request.machine_image.id {
        Some(_) => None,
        None => planned.desired.template.data.image_id.as_deref().and_then(|id| id.parse().ok()),
    };
    let scaled = request.autoscaling.is_on();
    let arn = group_arn(&planned);
    let made = Made { plan: &planned.plan, purpose: Purpose::Apply, live, image, scaled, arn };
    finish(&run, args, setting, given, ledger, &request.scope, &made)
}

async fn plan_destroy(
    session: &Session<'_>,
    args: &PlanArgs,
    setting: &Setting,
    given: &Given,
    ledger: &Ledger,
    interrupt: &Interrupt,
) -> anyhow::Result<u8> {
    let scope = ledger.placed(given.scope()?);
    let run = session.open(Place::Scope(&scope), interrupt).await?;
    let teardown = run.reading(engine::plan_destroy(run.account.cloud(), &scope)).await?;
    let made = Made {
        plan: &teardown.plan,
        purpose: Purpose::Destroy,
        live: None,
        image: None,
        scaled: false,
        arn: teardown.group_arn(),
    };
    finish(&run, args, setting, given, ledger, &scope, &made)
}

/// The outputs as they are, where somebody compares them with those recorded.
pub(super) async fn live(
    run: &Run<'_>,
    setting: &Setting,
    scope: &Scope,
    planned: &Planned,
) -> anyhow::Result<Option<Outputs>> {
    if !setting.has_root || setting.root.outputs.is_empty() {
        return Ok(None);
    }
    Ok(Some(run.reading(engine::outputs_of(run.account.cloud(), scope, &planned.observed)).await?))
}

/// A plan that was made.
struct Made<'a> {
    plan: &'a Plan,
    purpose: Purpose,
    live: Option<Outputs>,
    /// What a look-up found.
    image: Option<ImageId>,
    /// Whether something sets the size of the pool.
    scaled: bool,
    /// The ARN of the group that is there.
    arn: Option<&'a str>,
}

/// Saves and shows; the exit code.
fn finish(
    run: &Run<'_>,
    args: &PlanArgs,
    setting: &Setting,
    given: &Given,
    ledger: &Ledger,
    scope: &Scope,
    made: &Made<'_>,
) -> anyhow::Result<u8> {
    let pool = load::pool(scope);
    let subject = Subject { pool: &pool, region: run.account.region(), purpose: made.purpose };
    let recorded = ledger.outputs();
    let shown = Shown {
        plan: made.plan,
        purpose: made.purpose,
        root: &setting.root,
        inputs: &given.inputs,
        secrets: &given.secrets,
        recorded: &recorded,
        live: made.live.as_ref(),
        // Without a refresh somebody asks for what drifted, and that is not what comes and goes.
        passing: if args.terraform.refresh { &[] } else { plan_json::moving(made.scaled) },
        sized: made.purpose == Purpose::Apply && !made.scaled,
        empties: made.purpose == Purpose::Destroy && ledger.says_anything(),
    };
    let concealed = given.secrets.conceal(made.plan);
    let outputs = changed_outputs(setting, &shown);
    let record = tell::Record { outputs: &outputs, emptied: shown.empties };
    if let Some(path) = &args.out {
        let text = tell::text(&concealed, &subject, record, Style::new(None, false));
        let origin = ledger.origin(setting, &run.account).with_group(made.arn);
        save(path, &shown, &outputs, made, origin, &text)?;
    }
    match args.format {
        PlanFormat::Json => run.ui.result(&view::plan_json(&concealed, &subject, &tell::listed(&outputs))),
        PlanFormat::Text => tell::plan(run.ui, &concealed, &subject, record),
    }
    let changes = !made.plan.is_empty() || !record.is_kept();
    Ok(if args.detailed_exitcode && changes { CHANGES } else { 0 })
}

/// Says where the plan was saved, and how to go on from there.
fn tell_where(session: &Session<'_>, args: &PlanArgs) {
    if let (Some(path), None) = (&args.out, session.ui.lines()) {
        let command = again::apply(session, path).unwrap_or_else(|| {
            "machinepool apply, with the options of this command and that file".to_owned()
        });
        session.ui.say(&format!("Saved in {}. To carry it out: {command}\n", file_name(path)));
    }
}

/// Without a root nothing is recorded, and so no output changes.
pub(super) fn changed_outputs(setting: &Setting, shown: &Shown<'_>) -> Vec<OutputChange> {
    if setting.has_root { plan_json::output_changes(shown) } else { Vec::new() }
}

fn save(
    path: &std::path::Path,
    shown: &Shown<'_>,
    outputs: &[OutputChange],
    made: &Made<'_>,
    origin: Origin,
    text: &str,
) -> anyhow::Result<()> {
    let only_outputs = made.plan.is_empty();
    let saved = SavedPlan {
        purpose: made.purpose,
        origin,
        inputs: shown.inputs.clone(),
        sensitive: shown.root.sensitive(),
        image: made.image.clone(),
        essence: Essence::of(made.plan),
        outputs: outputs.iter().filter(|_| only_outputs).map(|change| change.name.clone()).collect(),
        json: plan_json::plan_json(shown),
        text: shown.secrets.mask(text),
    };
    Ok(saved.write(path).map_err(|problem| Failure { kind: Kind::Local, diagnostics: vec![problem] })?)
}
