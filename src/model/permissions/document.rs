//! A policy document that somebody else wrote, in any form that AWS hands it out in.

use serde_json::Value;

use super::conditions::Test;

/// Why a text is no policy document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(String);

/// The statements of one or more documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    pub(super) statements: Vec<Foreign>,
}

/// A statement of somebody else's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Foreign {
    pub(super) sid: Option<String>,
    pub(super) denies: bool,
    /// Patterns of actions in lower case, for IAM does not heed case there; and whether they are those
    /// that the statement is not about.
    pub(super) actions: Patterns,
    pub(super) resources: Patterns,
    /// All of them must hold; empty without any.
    pub(super) conditions: Vec<Test>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Patterns {
    pub(super) texts: Vec<String>,
    /// Whether it is `NotAction` or `NotResource`.
    pub(super) negated: bool,
}

impl Document {
    /// Reads a document: bare, or in the answer of `aws iam get-policy-version`, `get-role-policy`,
    /// `get-user-policy`, `get-group-policy`, or a list out of that of `get-account-authorization-details`; also as
    /// a text in JSON, or percent-encoded.
    ///
    /// # Errors
    /// If the text is no JSON, or nothing in it is a policy document.
    pub fn parse(text: &[u8]) -> Result<Self, Unreadable> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let text = text.trim_ascii();
        let decoded = if text.starts_with(b"%") { percent_decoded(text) } else { text.to_vec() };
        let value: Value = serde_json::from_slice(&decoded)
            .map_err(|error| Unreadable(format!("it is not JSON: {error}")))?;
        let mut statements = Vec::new();
        collect(&value, &mut statements)?;
        Ok(Self { statements })
    }

    /// Adds another policy of the same identity.
    pub fn add(&mut self, other: Self) {
        self.statements.extend(other.statements);
    }
}

fn collect(value: &Value, statements: &mut Vec<Foreign>) -> Result<(), Unreadable> {
    let inner = ["PolicyVersion", "Document", "PolicyDocument"].iter().find_map(|key| value.get(*key));
    match (value, inner) {
        (_, Some(inner)) => collect(inner, statements),
        (Value::String(text), None) => {
            // AWS's API hands documents out percent-encoded; its command line decodes most of them.
            let text = text.trim().as_bytes();
            let decoded = if text.starts_with(b"%") { percent_decoded(text) } else { text.to_vec() };
            let inner = serde_json::from_slice(&decoded)
                .map_err(|error| Unreadable(format!("the document in it is not JSON: {error}")))?;
            collect(&inner, statements)
        }
        (Value::Array(documents), None) => {
            // Of several versions only one is in force.
            let in_force = documents.iter().filter(|one| one["IsDefaultVersion"] != false);
            in_force.into_iter().try_for_each(|one| collect(one, statements))
        }
        (Value::Object(document), None) => {
            let Some(found) = document.get("Statement") else {
                return Err(Unreadable("it has no \"Statement\", so it is no policy document".to_owned()));
            };
            for (index, one) in list(found).into_iter().enumerate() {
                statements.push(statement(one).ok_or_else(|| {
                    Unreadable(format!(
                        "statement {} lacks an Effect, an Action or a Resource, or one of them or a Condition is not of \
                         the form that IAM takes",
                        index + 1
                    ))
                })?);
            }
            Ok(())
        }
        _ => Err(Unreadable("it is no JSON object, so it is no policy document".to_owned())),
    }
}

/// IAM takes one thing for a list of one.
fn list(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(many) => many.iter().collect(),
        one => vec![one],
    }
}

fn statement(value: &Value) -> Option<Foreign> {
    let denies = match value["Effect"].as_str()? {
        "Allow" => false,
        "Deny" => true,
        _ => return None,
    };
    let mut actions = patterns(value, "Action", "NotAction")?;
    actions.texts.iter_mut().for_each(|text| text.make_ascii_lowercase());
    let conditions = match value.get("Condition") {
        None | Some(Value::Null) => Vec::new(),
        Some(conditions) => tests(conditions)?,
    };
    Some(Foreign {
        sid: value["Sid"].as_str().map(str::to_owned),
        denies,
        actions,
        resources: patterns(value, "Resource", "NotResource")?,
        conditions,
    })
}

fn tests(conditions: &Value) -> Option<Vec<Test>> {
    let mut tests = Vec::new();
    for (operator, keys) in conditions.as_object()? {
        for (key, values) in keys.as_object()? {
            let values = list(values).into_iter().map(|value| match value {
                Value::String(text) => Some(text.clone()),
                Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
                _ => None,
            });
            tests.push(Test {
                operator: operator.clone(),
                key: key.clone(),
                values: values.collect::<Option<_>>()?,
            });
        }
    }
    Some(tests)
}

fn patterns(statement: &Value, name: &str, negation: &str) -> Option<Patterns> {
    let (found, negated) = match (statement.get(name), statement.get(negation)) {
        (Some(found), None) => (found, false),
        (None, Some(found)) => (found, true),
        _ => return None,
    };
    let texts = list(found).into_iter().map(|text| text.as_str().map(str::to_owned));
    Some(Patterns { texts: texts.collect::<Option<_>>()?, negated })
}

fn percent_decoded(bytes: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%')
            .then(|| bytes.get(at + 1..at + 3))
            .flatten()
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        decoded.push(escaped.unwrap_or(bytes[at]));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    decoded
}
