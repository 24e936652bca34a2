//! `doctor`: what will go wrong before it does.

use std::time::Duration;

use super::{account::Place, load, session::Session};
use crate::{
    cli::{DoctorArgs, DoctorFormat},
    engine,
    model::checkup::Status,
    runtime::commands::Setting,
    view,
};

/// How long one check may wait for AWS, with all retries. They wait side by side.
const LIMIT: Duration = Duration::from_secs(15);

/// Checks, prints, and fails if a check does.
pub(super) fn doctor(session: &Session<'_>, args: &DoctorArgs) -> anyhow::Result<u8> {
    let request = Setting::here()?.inputs(session.ui, &args.inputs)?.request()?;
    session.online(Place::Checkup(&request), async |run| {
        let found =
            run.reading(async { Ok(engine::checkup(run.account.cloud(), &request, LIMIT).await) }).await?;
        let (pool, region) = (load::pool(&request.scope), run.account.region());
        let text = match args.format {
            DoctorFormat::Json => view::checkup_json(&found, &pool, region),
            DoctorFormat::Text => view::checkup(&found, &pool, region, args.quiet, run.ui.result_style()),
        };
        run.ui.result(&text);
        Ok(u8::from(found.count(Status::Fail) > 0))
    })
}
