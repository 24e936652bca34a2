//! JSON as it was written: numbers keep their text, duplicate keys are refused, and no error quotes a value.
//!
//! `serde_json` checks the syntax of the whole text without recursion. The tree is then built from
//! text that is known to be well-formed, because `serde_json`'s own values would round numbers and
//! keep the last of two equal keys without a word.

use std::{collections::HashSet, fmt};

use serde_json::{error::Category, value::RawValue};

/// The largest text that is read, in bytes. Readers need not load more than one byte beyond it.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The deepest nesting that is read. No input of the contract has more than five levels.
pub const MAX_DEPTH: usize = 64;

/// The most values that are read from one text: small ones take many times their length in memory. Ten thousand
/// members, listed with all that is known of each, are a tenth of it.
pub const MAX_VALUES: usize = 1_000_000;

/// A JSON value. Its `Debug` shows the shape only, as any string may be a secret.
#[derive(Clone, PartialEq, Eq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, exactly as written.
    Number(String),
    /// A string, unescaped.
    String(String),
    /// A list.
    Array(Vec<Json>),
    /// An object, in the order written; no key occurs twice.
    Object(Vec<(String, Json)>),
}

/// One step into a JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// An object's key.
    Key(String),
    /// A list's index.
    Index(usize),
}

/// Why a text was refused. Holds keys and positions, never a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// What is wrong, as the end of a sentence that begins with the text's name.
    pub reason: String,
    /// Line and column, both from 1, where they are known.
    pub position: Option<(usize, usize)>,
    /// The key that occurs twice, with the way to it; empty for every other fault.
    pub path: Vec<Step>,
}

impl Json {
    /// Reads one JSON text of at most [`MAX_BYTES`]; the rest as [`Json::parse_within`].
    pub fn parse(bytes: &[u8]) -> Result<Self, JsonError> {
        Self::parse_within(bytes, MAX_BYTES)
    }

    /// Reads one JSON text.
    ///
    /// Refused are texts over `max_bytes`, with a byte order mark, not in UTF-8, empty, truncated,
    /// malformed, followed by anything but white space, nested deeper than [`MAX_DEPTH`], with more than
    /// [`MAX_VALUES`] values, or with a key twice in one object. Takes time linear in the length.
    pub fn parse_within(bytes: &[u8], max_bytes: usize) -> Result<Self, JsonError> {
        if bytes.len() > max_bytes {
            return Err(JsonError::whole(format!("is larger than {} MiB", max_bytes / 1024 / 1024)));
        }
        if bytes.starts_with(&[0xef, 0xbb, 0xbf]) {
            return Err(JsonError::whole("begins with a byte order mark; save it as UTF-8 without one"));
        }
        let text = match str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
                return Err(JsonError::at("is not UTF-8", &String::from_utf8_lossy(valid)));
            }
        };
        if text.trim_ascii().is_empty() {
            return Err(JsonError::whole("is empty; an empty object is written {}"));
        }
        serde_json::from_str::<&RawValue>(text).map_err(|error| JsonError::syntax(&error))?;
        Builder { text, at: 0, room: MAX_VALUES }.value(1)
    }

    /// The value under a key of an object; `None` for every other kind of value.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(fields) => fields.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The kind of value, in words: `a string`, `null`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a bool",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Array(items) => write!(f, "a list of {}", items.len()),
            Self::Object(fields) => write!(f, "an object of {}", fields.len()),
            _ => f.write_str(self.kind()),
        }
    }
}

impl JsonError {
    /// A fault of the text as a whole.
    fn whole(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), position: None, path: Vec::new() }
    }

    /// A fault right behind `before`.
    fn at(reason: &str, before: &str) -> Self {
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self { reason: reason.to_owned(), position: Some((line, column)), path: Vec::new() }
    }

    /// What `serde_json` says about syntax: fixed phrases, none of which quotes the text.
    fn syntax(error: &serde_json::Error) -> Self {
        let full = error.to_string();
        let phrase = full.split(" at line ").next().unwrap_or_default();
        let reason = match error.classify() {
            Category::Eof => "ends too early: it was cut off, or a bracket or quote is not closed".into(),
            _ => format!("is not valid JSON: {phrase}"),
        };
        Self { reason, position: Some((error.line(), error.column())), path: Vec::new() }
    }

    fn within(mut self, step: impl FnOnce() -> Step) -> Self {
        if !self.path.is_empty() {
            self.path.insert(0, step());
        }
        self
    }
}

/// Builds values from a text that `serde_json` has found well-formed.
struct Builder<'a> {
    text: &'a str,
    at: usize,
    /// How many more values may come.
    room: usize,
}

impl<'a> Builder<'a> {
    /// The next byte that is no white space; 0 at the end.
    fn peek(&mut self) -> u8 {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        self.at += rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
        self.text.as_bytes().get(self.at).copied().unwrap_or_default()
    }

    fn value(&mut self, depth: usize) -> Result<Json, JsonError> {
        let first = self.peek();
        self.room = self
            .room
            .checked_sub(1)
            .ok_or_else(|| self.fault(&format!("holds more than {MAX_VALUES} values"), self.at))?;
        if depth > MAX_DEPTH && matches!(first, b'[' | b'{') {
            return Err(self.fault(&format!("is nested deeper than {MAX_DEPTH} levels"), self.at));
        }
        Ok(match first {
            b'{' => Json::Object(self.object(depth)?),
            b'[' => Json::Array(self.array(depth)?),
            b'"' => Json::String(self.string()?),
            _ => match self.token() {
                "null" => Json::Null,
                "true" => Json::Bool(true),
                "false" => Json::Bool(false),
                number => Json::Number(number.to_owned()),
            },
        })
    }

    fn object(&mut self, depth: usize) -> Result<Vec<(String, Json)>, JsonError> {
        let mut fields = Vec::new();
        let mut seen = HashSet::new();
        self.at += 1;
        while self.peek() == b'"' {
            let start = self.at;
            let key = self.string()?;
            if !seen.insert(key.clone()) {
                let fault = self.fault("has a key twice in one object", start);
                return Err(JsonError { path: vec![Step::Key(key)], ..fault });
            }
            self.skip(b':');
            let value = self.value(depth + 1).map_err(|e| e.within(|| Step::Key(key.clone())))?;
            fields.push((key, value));
            self.skip(b',');
        }
        self.skip(b'}');
        Ok(fields)
    }

    fn array(&mut self, depth: usize) -> Result<Vec<Json>, JsonError> {
        let mut items = Vec::new();
        self.at += 1;
        while !matches!(self.peek(), b']' | 0) {
            let index = items.len();
            items.push(self.value(depth + 1).map_err(|e| e.within(|| Step::Index(index)))?);
            self.skip(b',');
        }
        self.skip(b']');
        Ok(items)
    }

    fn skip(&mut self, byte: u8) {
        if self.peek() == byte {
            self.at += 1;
        }
    }

    /// The string that begins here. Only unescaping can still fail: half a surrogate pair is no text.
    fn string(&mut self) -> Result<String, JsonError> {
        let start = self.at;
        let mut escaped = false;
        let inner = self.text.as_bytes().get(start + 1..).unwrap_or_default();
        let length = inner.iter().take_while(|&&b| {
            let ends = b == b'"' && !escaped;
            escaped = b == b'\\' && !escaped;
            !ends
        });
        self.at = start + length.count() + 2;
        serde_json::from_str(self.text.get(start..self.at).unwrap_or_default())
            .map_err(|_| self.fault("has an escape in a string that stands for no character", start))
    }

    /// The number or word that begins here.
    fn token(&mut self) -> &'a str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let ends = |c: char| c.is_ascii_whitespace() || matches!(c, ',' | ']' | '}');
        let token = rest.split(ends).next().unwrap_or_default();
        self.at += token.len().max(1);
        token
    }

    fn fault(&self, reason: &str, at: usize) -> JsonError {
        JsonError::at(reason, self.text.get(..at).unwrap_or_default())
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
pub(crate) mod tests;
