//! The role's description in Terraform's words says what the schemas, and with them the program, say.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use machinepool::contract::{
    known::{KNOWN, Kind},
    schema,
};
use serde_json::{Value, json};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("contract/module")
}

fn read(name: &str) -> String {
    fs::read_to_string(directory().join(name)).unwrap()
}

fn properties(schema: &str) -> serde_json::Map<String, Value> {
    let schema: Value = serde_json::from_str(schema).unwrap();
    schema["properties"].as_object().unwrap().clone()
}

/// A string of HCL's, in which `${` and `%{` would begin a template.
fn quoted(text: &str) -> String {
    Value::from(text).to_string().replace("${", "$${").replace("%{", "%%{")
}

/// One variable, formatted as `terraform fmt` does it.
///
/// Terraform replaces null by the default where a variable is not nullable, which is what the program does.
fn variable(name: &str, kind: Kind, schema: &Value) -> String {
    let text = |key: &str| schema[key].as_str().unwrap_or_else(|| panic!("{name} has no {key}"));
    let default = match kind {
        Kind::Required | Kind::Nullable => None,
        Kind::Optional | Kind::Variable => Some(&schema["default"]),
    };
    let mut arguments =
        vec![("description", quoted(text("description"))), ("type", text("x-captf-type").to_owned())];
    arguments.extend(default.map(|value| ("default", value.to_string())));
    if kind == Kind::Required || default.is_some_and(|value| !value.is_null()) {
        arguments.push(("nullable", "false".to_owned()));
    }
    if schema["x-captf-sensitive"] == true {
        arguments.push(("sensitive", "true".to_owned()));
    }
    let lines: Vec<String> =
        arguments.iter().map(|(argument, value)| format!("  {argument:<11} = {value}")).collect();
    format!("variable \"{name}\" {{\n{}\n}}\n", lines.join("\n"))
}

/// With `MACHINEPOOL_BLESS=1` the file is brought up to date instead.
#[test]
fn the_variables_are_those_of_the_schemas() {
    let (inputs, variables) = (properties(schema::inputs()), properties(schema::variables()));
    let wanted = KNOWN
        .map(|(name, kind)| variable(name, kind, inputs.get(name).or(variables.get(name)).expect(name)))
        .join("\n");
    if std::env::var_os("MACHINEPOOL_BLESS").is_some_and(|value| value == "1") {
        fs::write(directory().join("variables.tf"), wanted).unwrap();
        return;
    }
    assert_eq!(read("variables.tf"), wanted, "run `just golden` to bring contract/module up to date");
    let secret = "variable \"bootstrap_data\" {";
    let block = wanted.split(secret).nth(1).unwrap().split('}').next().unwrap();
    assert!(block.contains("sensitive   = true") && wanted.matches("sensitive ").count() == 1, "{block}");
}

#[test]
fn types_of_objects_have_the_attributes_of_the_schemas() {
    let (inputs, variables) = (properties(schema::inputs()), properties(schema::variables()));
    for (name, schema) in inputs.iter().chain(&variables) {
        let Some(attributes) = schema["x-captf-type"]
            .as_str()
            .and_then(|text| text.strip_prefix("object({ ")?.strip_suffix(" })"))
        else {
            continue;
        };
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut known = schema["properties"].as_object().unwrap().clone();
        if let Some(more) = schema["then"]["properties"].as_object() {
            known.extend(more.clone());
        }
        let mut named = Vec::new();
        for attribute in attributes.split(", ").filter(|part| part.contains(" = ")) {
            let (attribute, kind) = attribute.split_once(" = ").unwrap();
            assert_eq!(kind.starts_with("optional("), !required.contains(&attribute), "{name}.{attribute}");
            named.push(attribute);
            let default = known.get(attribute).map_or(&Value::Null, |schema| &schema["default"]);
            if !default.is_null() {
                assert!(attributes.contains(&format!("{attribute} = optional(string, {default})")), "{name}");
            }
        }
        named.sort_unstable();
        assert_eq!(named, known.keys().collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn the_outputs_are_those_of_the_schema() {
    let text = read("outputs.tf");
    let blocks: Vec<(&str, &str)> = text
        .split("\n}\n")
        .filter_map(|block| block.trim_start().strip_prefix("output \"")?.split_once("\" {\n"))
        .collect();
    let outputs = properties(schema::outputs());
    let mut names: Vec<&str> = blocks.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    assert_eq!(names, outputs.keys().collect::<Vec<_>>());
    assert_eq!(text.matches("output \"").count(), outputs.len());
    for (name, block) in blocks {
        let schema = &outputs[name];
        let description = schema["description"].as_str().unwrap_or_else(|| panic!("{name} has none"));
        assert_eq!(block.lines().next().unwrap(), format!("  description = {}", quoted(description)));
        let shape = if schema["type"] == "array" { &schema["items"] } else { schema };
        for attribute in shape["properties"].as_object().into_iter().flat_map(serde_json::Map::keys) {
            let given = |line: &str| line.split_once('=').is_some_and(|(left, _)| left.trim() == attribute);
            assert!(block.lines().any(given), "{name} has no {attribute}");
        }
    }
}

#[test]
fn the_module_is_a_module_and_no_more() {
    let mut files: Vec<_> =
        fs::read_dir(directory()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["main.tf", "outputs.tf", "variables.tf"]);
    let text: String = ["main.tf", "outputs.tf", "variables.tf"].map(read).concat();
    for block in ["terraform {", "provider ", "resource ", "data ", "module ", "backend"] {
        assert!(!text.lines().any(|line| line.trim_start().starts_with(block)), "{block}");
    }
    assert!(read("main.tf").contains("var.captf_tags"), "a linter warns of tags that are not used");
}

/// What Terraform itself makes of it, where it is installed. No provider is needed, so nothing is fetched.
#[test]
fn terraform_takes_the_module_and_the_examples_but_plans_nothing() {
    if Command::new("terraform").arg("version").output().is_err() {
        eprintln!("skipped: no terraform on the PATH");
        return;
    }
    let work = tempfile::tempdir().unwrap();
    let terraform = |line: &str| -> Output {
        Command::new("terraform")
            .args(line.split_whitespace())
            .env("CHECKPOINT_DISABLE", "1")
            .env("TF_DATA_DIR", work.path().join("data"))
            .env_remove("TF_CLI_CONFIG_FILE")
            .current_dir(work.path())
            .output()
            .unwrap()
    };
    let told = |output: &Output| {
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
    };
    let formatted = terraform(&format!("fmt -check -diff {}", directory().display()));
    assert!(formatted.status.success(), "{}", told(&formatted));

    // The root is that of the controller: untyped variables handed on by name.
    let arguments = |names: &[&str], value: &dyn Fn(&str) -> Value| -> Value {
        names.iter().map(|name| ((*name).to_owned(), value(name))).collect::<serde_json::Map<_, _>>().into()
    };
    std::os::unix::fs::symlink(directory(), work.path().join("module")).unwrap();
    for file in ["testdata/demo.tfvars.json", "with-variables", "null-variables", "from-config-map"] {
        let file = match file.strip_suffix(".json") {
            Some(_) => PathBuf::from(file),
            None => PathBuf::from(format!("contract/examples/pass/{file}.json")),
        };
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&file);
        let inputs: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let names: Vec<&str> = inputs.as_object().unwrap().keys().map(String::as_str).collect();
        let mut role = arguments(&names, &|name| format!("${{var.{name}}}").into());
        role["source"] = "./module".into();
        let root = json!({
            "variable": arguments(&names, &|name| json!({"sensitive": name == "bootstrap_data"})),
            "module": {"role": role},
        });
        fs::write(work.path().join("main.tf.json"), root.to_string()).unwrap();
        for line in ["init -backend=false -input=false -no-color", "validate -no-color"] {
            let output = terraform(line);
            assert!(output.status.success(), "{}: {}", file.display(), told(&output));
        }
        let plan = terraform(&format!("plan -input=false -no-color -var-file={}", path.display()));
        let text = told(&plan);
        assert_eq!(plan.status.code(), Some(1), "{}: {text}", file.display());
        assert_eq!(text.matches("Error: ").count(), 1, "{}: {text}", file.display());
        assert!(text.contains("Module output value precondition failed"), "{}: {text}", file.display());
    }
}
