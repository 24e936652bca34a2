//! Settings that this program never makes, collected as text so that foreign ones show.

use std::{collections::BTreeMap, fmt::Display};

/// A collection of settings by name.
#[derive(Debug, Default)]
pub(super) struct Extras(BTreeMap<String, String>);

impl Extras {
    /// Notes a setting, unless it is absent or empty.
    pub(super) fn set(&mut self, name: impl Into<String>, value: Option<impl Display>) {
        if let Some(text) = super::filled(value) {
            self.0.insert(name.into(), text);
        }
    }

    /// Notes a setting, unless it is absent, empty, or what AWS fills in by itself.
    pub(super) fn unless(&mut self, name: impl Into<String>, value: Option<impl Display>, default: &str) {
        self.set(name, super::filled(value).filter(|text| text != default));
    }

    /// Notes a list, in the order of its text, unless it is empty.
    pub(super) fn list(&mut self, name: impl Into<String>, values: impl IntoIterator<Item = impl Display>) {
        let mut texts: Vec<String> = values.into_iter().map(|value| value.to_string()).collect();
        texts.sort();
        self.set(name, Some(texts.join(", ")));
    }

    pub(super) fn into_map(self) -> BTreeMap<String, String> {
        self.0
    }
}
