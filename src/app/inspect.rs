//! Commands that read and change nothing: outputs.

use super::{account::Place, session::Session};
use crate::{
    cli::{OutputsArgs, OutputsFormat},
    engine,
    error::{Failure, Kind},
    runtime::commands::Setting,
    view,
};

/// The outputs, or one of them.
pub(super) fn outputs(session: &Session<'_>, args: &OutputsArgs) -> anyhow::Result<u8> {
    let unknown = |unknown| Failure { kind: Kind::Usage, diagnostics: vec![unknown] };
    args.name.as_deref().map_or(Ok(()), view::check_output_name).map_err(unknown)?;
    let scope = Setting::here()?.inputs(session.ui, &args.inputs)?.scope()?;
    session.online(Place::Scope(&scope), async |run| {
        let outputs = run.reading(engine::outputs(run.account.cloud(), &scope)).await?;
        let text = match (args.format, &args.name) {
            (OutputsFormat::Table, None) => view::outputs_table(&outputs, run.ui.result_style()),
            (_, name) => view::outputs_json(&outputs, name.as_deref()).map_err(unknown)?,
        };
        run.ui.result(&text);
        Ok(0)
    })
}
