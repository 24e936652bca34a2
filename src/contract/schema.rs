//! The contract's JSON Schemas, as the program prints them.

use serde_json::Value;

/// The schema of the controller's inputs.
pub fn inputs() -> &'static str {
    include_str!("../../contract/inputs.schema.json")
}

/// The schema of the user's variables.
pub fn variables() -> &'static str {
    include_str!("../../contract/variables.schema.json")
}

/// The schema of the outputs.
pub fn outputs() -> &'static str {
    include_str!("../../contract/outputs.schema.json")
}

/// The schema of `plan --format json`.
pub fn plan() -> &'static str {
    include_str!("../../contract/plan.schema.json")
}

/// The schema of a status.
pub fn status() -> &'static str {
    include_str!("../../contract/status.schema.json")
}

/// The schema of what `doctor --format json` prints.
pub fn doctor() -> &'static str {
    include_str!("../../contract/doctor.schema.json")
}

/// The variables as a Markdown table, sorted by name, each line ended.
///
/// Taken from the schema: type (`x-captf-type`, in Terraform's words), `default` and `description`.
pub fn variables_markdown() -> String {
    let schema: Value = serde_json::from_str(variables()).unwrap_or_default();
    let mut lines =
        vec!["| Name | Type | Default | Description |".to_owned(), "| --- | --- | --- | --- |".to_owned()];
    for (name, variable) in schema["properties"].as_object().into_iter().flatten() {
        let text = |key: &str| variable[key].as_str().unwrap_or_default().replace('|', "\\|");
        lines.push(format!(
            "| `{name}` | `{}` | `{}` | {} |",
            text("x-captf-type"),
            variable["default"],
            text("description")
        ));
    }
    lines.join("\n") + "\n"
}
