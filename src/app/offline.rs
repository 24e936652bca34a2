//! Commands that need neither AWS nor a runtime.

use super::ui::Ui;
use crate::{
    cli::{SchemaArgs, SchemaFormat, SchemaOf},
    contract::schema,
    error::{Failure, Kind},
};

/// Prints a schema.
pub(super) fn schema(ui: &Ui, args: &SchemaArgs) -> anyhow::Result<u8> {
    match (args.of, args.format) {
        (SchemaOf::Variables, None | Some(SchemaFormat::Markdown)) => {
            ui.result(&schema::variables_markdown());
        }
        (_, Some(SchemaFormat::Markdown)) => {
            return Err(Failure::new(
                Kind::Usage,
                "Only the variables come as a Markdown table",
                "Say schema variables --format markdown, or leave --format away.",
            )
            .into());
        }
        (SchemaOf::Inputs, _) => ui.result(schema::inputs()),
        (SchemaOf::Outputs, _) => ui.result(schema::outputs()),
        (SchemaOf::Plan, _) => ui.result(schema::plan()),
        (SchemaOf::Status, _) => ui.result(schema::status()),
        (SchemaOf::Doctor, _) => ui.result(schema::doctor()),
        (SchemaOf::Variables, Some(SchemaFormat::Json)) => ui.result(schema::variables()),
    }
    Ok(0)
}
