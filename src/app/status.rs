//! `status` and `rollout status`: a look at the pool, once or again and again.

use super::{
    account::Place,
    session::{Run, Session},
    watch,
};
use crate::{
    cli::{RolloutStatusArgs, StatusArgs, StatusFormat},
    contract::{
        problem::Problems,
        request::{Request, Scope},
    },
    engine,
    error::Failure,
    model::{
        observed::TemplateVersion,
        plan::Plan,
        status::{self, Compared, Status},
    },
    runtime::commands::Setting,
    view,
};

/// The status of the pool.
pub(super) fn status(session: &Session<'_>, args: &StatusArgs) -> anyhow::Result<u8> {
    let given = Setting::here()?.inputs(session.ui, &args.inputs)?;
    let scope = given.scope()?;
    let request = Request::parse(&given.inputs);
    let place = request.as_ref().map_or(Place::Scope(&scope), Place::Request);
    session.online(place, async |run| {
        let mut look = Look::new(run, &scope, request.as_ref());
        if args.watch {
            return watch::watch(run, &mut look, args.interval, args.format).await;
        }
        let status = run.reading(look.status()).await?;
        run.ui.result(&match args.format {
            StatusFormat::Text => view::status(&status, run.ui.result_style()),
            StatusFormat::Json => view::status_json(&status),
        });
        Ok(0)
    })
}

/// The roll of the pool.
pub(super) fn rollout(session: &Session<'_>, args: &RolloutStatusArgs) -> anyhow::Result<u8> {
    let scope = Setting::here()?.inputs(session.ui, &args.inputs)?.scope()?;
    session.online(Place::Scope(&scope), async |run| {
        let status = run.reading(Look::of_pool(run, &scope).status()).await?;
        run.ui.result(&match args.format {
            StatusFormat::Text => view::rollout(&status, run.ui.result_style()),
            StatusFormat::Json => view::status_json(&status.rollout),
        });
        Ok(0)
    })
}

/// A pool that is looked at, with or without its inputs.
pub(super) struct Look<'a> {
    run: &'a Run<'a>,
    scope: &'a Scope,
    request: Option<&'a Request>,
    /// Whether the next look compares.
    pub(super) compares: bool,
    /// What the last comparison said: the plan, or why there is none.
    compared: Result<Plan, String>,
    /// What the last look read of launch templates.
    versions: Vec<TemplateVersion>,
}

impl<'a> Look<'a> {
    fn new(run: &'a Run<'a>, scope: &'a Scope, request: Result<&'a Request, &Problems>) -> Self {
        Self {
            run,
            scope,
            request: request.ok(),
            compares: true,
            compared: Err(request.err().map(incomplete).unwrap_or_default()),
            versions: Vec::new(),
        }
    }

    fn of_pool(run: &'a Run<'a>, scope: &'a Scope) -> Self {
        Self {
            run,
            scope,
            request: None,
            compares: false,
            compared: Err("only the roll was asked for".to_owned()),
            versions: Vec::new(),
        }
    }

    /// The status now. Where it is not compared, what the last comparison said counts.
    pub(super) async fn status(&mut self) -> Result<Status, Failure> {
        let account = &self.run.account;
        let request = self.request.filter(|_| self.compares);
        let looked = engine::status::look_again(account.cloud(), self.scope, request, &self.versions).await?;
        match looked.planned {
            Some(Ok(planned)) => self.compared = Ok(planned.plan),
            Some(Err(failure)) => self.compared = Err(failure.to_string()),
            None => {}
        }
        let compared = match &self.compared {
            Ok(plan) => Compared::With(plan),
            Err(why) => Compared::Not(why),
        };
        let now = account.clock().now();
        let status = status::status(self.scope, account.region(), &looked.seen, compared, now);
        self.versions = looked.seen.versions;
        Ok(status)
    }
}

/// Why inputs that name the pool are not enough for a plan.
fn incomplete(problems: &Problems) -> String {
    let first = problems.0.first().map(|problem| problem.summary.clone()).unwrap_or_default();
    match problems.0.len() {
        0 | 1 => first,
        more => format!("{first}, and {} more", more - 1),
    }
}
