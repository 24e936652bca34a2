//! From the backend block and `-backend-config` to settings.

use std::{io, path::Path};

use hcl::{Expression, Structure, Template, expr::ObjectKey, template::Element};

use super::{
    Settings,
    values::{self, Shape},
};
use crate::{
    contract::{
        json::Json,
        problem::{Diagnostic, Problems, sentence},
    },
    error::file_name,
};

/// Reads a file that `-backend-config` names.
pub type OpenFile<'a> = &'a dyn Fn(&Path) -> io::Result<Vec<u8>>;

/// Why HCL is refused that computes something.
const LITERALS_ONLY: &str = "holds an expression; only literal values are read here";

impl Settings {
    /// The settings of the root's backend block, overridden by `-backend-config` in the order given:
    /// `NAME=VALUE` pairs and names of files in HCL or, if they end in `.json`, in JSON. A single empty
    /// `-backend-config` means none.
    ///
    /// Reports everything that is wrong at once, and never a value.
    pub fn given(block: &[(String, Json)], flags: &[String], open: OpenFile<'_>) -> Result<Self, Problems> {
        let mut reading = Reading::default();
        reading.fields("The backend block", block);
        for flag in flags.iter().filter(|flag| !flag.is_empty()) {
            match flag.split_once('=') {
                Some((name, value)) => reading.pair(name, value),
                None => reading.file(flag, open),
            }
        }
        reading.finish()
    }
}

#[derive(Default)]
struct Reading {
    settings: Settings,
    problems: Vec<Diagnostic>,
}

impl Reading {
    fn fields(&mut self, place: &str, fields: &[(String, Json)]) {
        for (name, value) in fields {
            if values::shape(name).is_none() {
                self.refuse(format!("{place}: unknown backend setting"), values::unknown(name));
            } else if let Err(fault) = self.settings.set(name, value) {
                self.refuse(format!("{place}: {name} {fault}"), "");
            }
        }
    }

    fn pair(&mut self, name: &str, value: &str) {
        let name = name.trim();
        let value = match values::shape(name) {
            None => return self.refuse("Invalid backend configuration argument", values::unknown(name)),
            Some(Shape::Plain) => Ok(Json::String(value.to_owned())),
            Some(Shape::Compound) => compound(value),
        };
        if let Err(fault) = value.and_then(|value| self.settings.set(name, &value)) {
            self.refuse(format!("-backend-config={name}=... {fault}"), "");
        }
    }

    fn file(&mut self, path: &str, open: OpenFile<'_>) {
        let place = format!("-backend-config={}", file_name(path));
        match open(Path::new(path)) {
            Err(error) => self.refuse(
                format!("{place}: the file cannot be read"),
                format!(
                    "{} What is meant for a setting and not for a file is written NAME=VALUE.",
                    sentence(&error.to_string())
                ),
            ),
            Ok(bytes) => match content(path, &bytes) {
                Ok(fields) => self.fields(&place, &fields),
                Err(fault) => self.refuse(format!("{place}: the file {fault}"), ""),
            },
        }
    }

    fn refuse(&mut self, summary: impl Into<String>, detail: impl Into<String>) {
        self.problems.push(Diagnostic::error(summary, detail));
    }

    fn finish(self) -> Result<Settings, Problems> {
        if self.problems.is_empty() { Ok(self.settings) } else { Err(Problems(self.problems)) }
    }
}

/// The value of a list or map on the command line; nothing stands for null.
fn compound(value: &str) -> Result<Json, String> {
    if value.trim().is_empty() {
        return Ok(Json::Null);
    }
    let expression: Expression = value.trim().parse().map_err(|error| syntax(&error))?;
    literal(&expression)
}

fn content(path: &str, bytes: &[u8]) -> Result<Vec<(String, Json)>, String> {
    if Path::new(path).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
        return match Json::parse(bytes) {
            Ok(Json::Object(fields)) => Ok(fields),
            Ok(other) => Err(format!("holds {}, wanted an object", other.kind())),
            Err(error) => Err(error.reason),
        };
    }
    let text = str::from_utf8(bytes).map_err(|_| "is not UTF-8")?;
    let body = hcl::parse(text).map_err(|error| syntax(&error))?;
    fields(&body)
}

fn fields(body: &hcl::Body) -> Result<Vec<(String, Json)>, String> {
    body.iter()
        .map(|structure| match structure {
            Structure::Attribute(attribute) => {
                let key = attribute.key().to_owned();
                literal(attribute.expr()).map(|value| (key, value))
            }
            Structure::Block(block) => {
                fields(block.body()).map(|inner| (block.identifier().to_owned(), Json::Object(inner)))
            }
        })
        .collect()
}

/// Only the place: what the parser itself says quotes the text.
fn syntax(error: &hcl::Error) -> String {
    match error {
        hcl::Error::Parse(error) => {
            let at = error.location();
            format!("is not valid HCL: line {}, column {}", at.line(), at.column())
        }
        _ => "is not valid HCL".to_owned(),
    }
}

fn literal(expression: &Expression) -> Result<Json, String> {
    Ok(match expression {
        Expression::Null => Json::Null,
        Expression::Bool(flag) => Json::Bool(*flag),
        Expression::Number(number) => Json::Number(number.to_string()),
        Expression::String(text) => Json::String(text.clone()),
        Expression::Array(items) => Json::Array(items.iter().map(literal).collect::<Result<_, _>>()?),
        Expression::Object(fields) => {
            let field = |(key, value): (&ObjectKey, &Expression)| Ok((object_key(key)?, literal(value)?));
            Json::Object(fields.iter().map(field).collect::<Result<_, String>>()?)
        }
        Expression::TemplateExpr(template) => {
            let template = Template::from_expr(template).map_err(|_| LITERALS_ONLY)?;
            let mut text = String::new();
            for element in template.elements() {
                match element {
                    Element::Literal(literal) => text.push_str(literal),
                    _ => return Err(LITERALS_ONLY.to_owned()),
                }
            }
            Json::String(text)
        }
        Expression::Parenthesis(inner) => literal(inner)?,
        _ => return Err(LITERALS_ONLY.to_owned()),
    })
}

fn object_key(key: &ObjectKey) -> Result<String, String> {
    match key {
        ObjectKey::Identifier(name) => Ok(name.as_str().to_owned()),
        ObjectKey::Expression(expression) => match literal(expression)? {
            Json::String(text) | Json::Number(text) => Ok(text),
            Json::Bool(flag) => Ok(flag.to_string()),
            _ => Err("has a key that is no text".to_owned()),
        },
        _ => Err(LITERALS_ONLY.to_owned()),
    }
}
