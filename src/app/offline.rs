//! Commands that need neither AWS nor a runtime.

use super::{load, ui::Ui};
use crate::{
    cli::{SchemaArgs, SchemaFormat, SchemaOf, ValidateArgs},
    contract::schema,
    error::{Failure, Kind},
    model::desired,
    view::Validation,
};

/// Checks the inputs. Exit code 1 without an error is an invalid verdict told as JSON.
pub(super) fn validate(ui: &Ui, args: &ValidateArgs) -> Result<u8, Failure> {
    let verdict = load::request(&args.inputs).and_then(|request| {
        desired::check(&request)?;
        Ok(request.warnings)
    });
    if args.json {
        let invalid = verdict.is_err();
        let found = verdict.unwrap_or_else(|failure| failure.diagnostics);
        ui.result(&Validation::new(&found).to_json());
        return Ok(u8::from(invalid));
    }
    ui.tell(&verdict?);
    ui.result("Success! The inputs are valid.\n");
    Ok(0)
}

/// Prints a schema.
pub(super) fn schema(ui: &Ui, args: &SchemaArgs) -> Result<u8, Failure> {
    match (args.of, args.format) {
        (SchemaOf::Variables, None | Some(SchemaFormat::Markdown)) => {
            ui.result(&schema::variables_markdown());
        }
        (_, Some(SchemaFormat::Markdown)) => {
            return Err(Failure::new(
                Kind::Usage,
                "Only the variables come as a Markdown table",
                "Say schema variables --format markdown, or leave --format away.",
            ));
        }
        (SchemaOf::Inputs, _) => ui.result(schema::inputs()),
        (SchemaOf::Outputs, _) => ui.result(schema::outputs()),
        (SchemaOf::Variables, Some(SchemaFormat::Json)) => ui.result(schema::variables()),
    }
    Ok(0)
}

/// Prints name and version.
pub(super) fn version(ui: &Ui) {
    ui.result(concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"), "\n"));
}
