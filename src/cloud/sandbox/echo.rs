//! Reads that lag: for a number of reads, a thing looks as it did before the last write.

use std::collections::BTreeMap;

use super::world::{Echo, World};

/// Notes how a thing was. Of several writes in a row, a lagging read shows the state before the first.
fn remember<T: Clone>(
    things: &BTreeMap<String, T>,
    echoes: &mut BTreeMap<String, Echo<T>>,
    key: &str,
    reads: u32,
) {
    if reads == 0 {
        return;
    }
    let was = || Echo { was: things.get(key).cloned(), reads };
    echoes.entry(key.to_owned()).or_insert_with(was).reads = reads;
}

/// One thing as a read shows it; uses up one read of its echo.
pub(super) fn show<T: Clone>(
    things: &BTreeMap<String, T>,
    echoes: &mut BTreeMap<String, Echo<T>>,
    key: &str,
) -> Option<T> {
    let Some(echo) = echoes.get_mut(key) else { return things.get(key).cloned() };
    let was = echo.was.clone();
    echo.reads = echo.reads.saturating_sub(1);
    if echo.reads == 0 {
        echoes.remove(key);
    }
    was
}

/// All things as a read shows them; uses up one read of every echo.
pub(super) fn show_all<T: Clone>(
    things: &BTreeMap<String, T>,
    echoes: &mut BTreeMap<String, Echo<T>>,
) -> BTreeMap<String, T> {
    let mut shown = things.clone();
    let keys: Vec<String> = echoes.keys().cloned().collect();
    for key in keys {
        match show(things, echoes, &key) {
            Some(was) => shown.insert(key, was),
            None => shown.remove(&key),
        };
    }
    shown
}

impl World {
    pub(super) fn remember_group(&mut self, name: &str) {
        remember(&self.groups, &mut self.echoes.groups, name, self.lag.groups);
        remember(&self.groups, &mut self.echoes.refreshes, name, self.lag.refreshes);
        remember(&self.groups, &mut self.echoes.policies, name, self.lag.policies);
    }

    pub(super) fn remember_template(&mut self, id: &str) {
        remember(&self.templates, &mut self.echoes.templates, id, self.lag.templates);
        remember(&self.templates, &mut self.echoes.versions, id, self.lag.templates);
    }

    pub(super) fn remember_instance(&mut self, id: &str) {
        remember(&self.instances, &mut self.echoes.instances, id, self.lag.instances);
    }
}
