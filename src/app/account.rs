//! Which account a command works in: AWS, or a sandbox that has what the inputs name.

use std::{path::Path, rc::Rc};

use super::{calls, furnish, ui::Ui};
#[cfg(feature = "aws")]
use crate::cloud::aws::Patience;
use crate::{
    cli::LogLevel,
    clock::Clock,
    cloud::{
        Cloud,
        sandbox::{Sandbox, SandboxError},
        watched::{News, Watched},
    },
    contract::{
        problem::sentence,
        request::{Request, Scope},
    },
    error::{Failure, Kind, file_name},
    runtime::plan_origin::sandbox_name,
    view,
};

/// What the inputs say about the account.
#[derive(Clone, Copy)]
pub(crate) enum Place<'a> {
    /// All that plan and apply need.
    Request(&'a Request),
    /// The same for a check-up, which would rather know why there is no answer than wait for one.
    Checkup(&'a Request),
    /// A region and a bucket, if even those.
    Scope(&'a Scope),
}

/// An account and its time.
pub(crate) struct Account<'a> {
    cloud: Watched<'a>,
    clock: Rc<dyn Clock>,
    sandbox: Option<String>,
}

impl<'a> Account<'a> {
    /// Opens the sandbox in `file`, else AWS. Says so on standard error if it is a sandbox.
    /// Calls that take long are told, and all of them at the level asked for.
    pub(crate) async fn open(
        file: Option<&Path>,
        place: Place<'_>,
        ui: &'a Ui,
        log: Option<LogLevel>,
    ) -> Result<Self, Failure> {
        let (cloud, clock) = match file {
            Some(file) => {
                ui.say(&view::sandbox_notice(&file_name(file)));
                sandbox(file, place)?
            }
            // The SDK's futures are large, and would be part of every caller's.
            None => Box::pin(aws(place)).await?,
        };
        let tell = move |news: News<'_>| {
            if let Some(line) = calls::line(&news, log) {
                ui.say(&line);
            }
        };
        Ok(Self { cloud: Watched::new(cloud, tell), clock, sandbox: file.map(sandbox_name) })
    }

    pub(crate) fn cloud(&self) -> &dyn Cloud {
        &self.cloud
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }

    /// The whole name of the file that keeps it, if it is a simulated one.
    pub(crate) fn sandbox(&self) -> Option<&str> {
        self.sandbox.as_deref()
    }

    /// The region that calls go to.
    pub(crate) fn region(&self) -> &str {
        self.cloud.region()
    }
}

/// A back end and the clock that belongs to it.
type BackEnd = (Box<dyn Cloud>, Rc<dyn Clock>);

fn sandbox(file: &Path, place: Place<'_>) -> Result<BackEnd, Failure> {
    let summary = || format!("Cannot use the sandbox {}", file_name(file));
    let region = furnish::region(place, |name| std::env::var(name).ok())?;
    let unusable = |error: SandboxError| {
        Failure::new(Kind::Local, summary(), sentence(&view::text::capitalised(&error.to_string())))
    };
    let (sandbox, clock) = Sandbox::open_with_own_clock(file, &furnish::seed(&region)).map_err(unusable)?;
    if region.as_str() != sandbox.region() {
        let told = if place.scope().region.is_some() { "the inputs speak" } else { "the environment speaks" };
        let detail =
            format!("It is an account in {}, and {told} of {region}. Use another file.", sandbox.region());
        return Err(Failure::new(Kind::Local, summary(), detail));
    }
    sandbox.supply(|world| furnish::supply(world, place)).map_err(unusable)?;
    Ok((Box::new(sandbox), clock))
}

#[cfg(feature = "aws")]
async fn aws(place: Place<'_>) -> Result<BackEnd, Failure> {
    let region = place.scope().region.as_ref().map(crate::contract::ids::Region::as_str);
    let patience = if matches!(place, Place::Checkup(_)) { Patience::Short } else { Patience::Long };
    let aws = crate::cloud::aws::Aws::connect(region, patience).await?;
    Ok((Box::new(aws), Rc::new(crate::clock::SystemClock)))
}

#[cfg(not(feature = "aws"))]
#[expect(clippy::unused_async, reason = "its twin with AWS awaits")]
async fn aws(_: Place<'_>) -> Result<BackEnd, Failure> {
    Err(Failure::new(
        Kind::Usage,
        "This build knows no AWS",
        "It was built without the feature \"aws\". Build it with cargo build --release (the feature is on by \
             default), or give --sandbox FILE to work in a simulated account.",
    ))
}

impl Place<'_> {
    pub(crate) fn scope(&self) -> &Scope {
        match self {
            Self::Request(request) | Self::Checkup(request) => &request.scope,
            Self::Scope(scope) => scope,
        }
    }
}
