//! Field by field comparison of what is wanted with what is there. Structs are taken apart without
//! `..`, so that a new field does not compile until somebody decides how it is compared.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    plan::FieldChange,
    resources::{Interface, Metadata, TemplateData, Volume},
};
use crate::contract::request::Tags;

/// Collects fields that differ.
#[derive(Debug, Default)]
pub struct Fields(Vec<FieldChange>);

impl Fields {
    /// Notes a field unless both texts are equal.
    pub fn text(&mut self, field: &str, now: Option<String>, then: Option<String>) {
        if now != then {
            self.0.push(FieldChange { field: field.to_owned(), now, then });
        }
    }

    /// Notes a value that is always there.
    pub fn value(&mut self, field: &str, now: Option<impl ToString>, then: impl ToString) {
        self.text(field, now.map(|v| v.to_string()), Some(then.to_string()));
    }

    /// Notes an optional value.
    pub fn optional(&mut self, field: &str, now: Option<impl ToString>, then: Option<impl ToString>) {
        self.text(field, now.map(|v| v.to_string()), then.map(|v| v.to_string()));
    }

    /// Notes a set given in any order.
    pub fn set<'a>(
        &mut self,
        field: &str,
        now: Option<impl IntoIterator<Item = &'a String>>,
        then: impl IntoIterator<Item = &'a String>,
    ) {
        let joined = |items: BTreeSet<&'a String>| {
            items.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ")
        };
        let now: Option<BTreeSet<&String>> = now.map(|items| items.into_iter().collect());
        let then: BTreeSet<&String> = then.into_iter().collect();
        if now.as_ref() != Some(&then) {
            self.text(field, now.map(joined), Some(joined(then)));
        }
    }

    /// Notes tags that are to be set or removed; others stay and are no change.
    pub fn tags(&mut self, field: &str, now: &Tags, set: &Tags, remove: &BTreeSet<String>) {
        for (key, then) in set {
            self.text(&format!("{field}[\"{key}\"]"), now.get(key).cloned(), Some(then.clone()));
        }
        for key in remove {
            self.text(&format!("{field}[\"{key}\"]"), now.get(key).cloned(), None);
        }
    }

    /// What was noted, in order.
    pub fn into_vec(self) -> Vec<FieldChange> {
        self.0
    }
}

/// The tags of `wanted` that are missing or different in `now`.
pub fn tags_to_set(now: &Tags, wanted: &Tags) -> Tags {
    wanted
        .iter()
        .filter(|(key, value)| now.get(*key) != Some(value))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// Keys that an earlier apply set and that are no longer wanted, of those still there. What was set
/// earlier stands in the tag specifications of the live template versions; those of network interfaces
/// are used, which alone have no `Name` of their own. The latest version may be of somebody else's making,
/// and say nothing: the default one counts as well.
pub fn tags_to_remove<'a>(
    now: &Tags,
    wanted: &Tags,
    live: impl IntoIterator<Item = &'a TemplateData>,
) -> BTreeSet<String> {
    live.into_iter()
        .filter_map(|data| data.tags.get("network-interface"))
        .flat_map(Tags::keys)
        .filter(|key| !wanted.contains_key(*key) && now.contains_key(*key))
        .cloned()
        .collect()
}

/// The fields in which a template version differs from what is wanted.
pub fn template_data(now: Option<&TemplateData>, then: &TemplateData) -> Vec<FieldChange> {
    let empty = TemplateData::default();
    let now = now.unwrap_or(&empty);
    let TemplateData {
        image_id,
        instance_type,
        key_name,
        instance_profile,
        user_data,
        volumes,
        interfaces,
        metadata,
        market_type,
        tags,
        extras,
    } = then;
    let mut fields = Fields::default();
    fields.optional("image_id", now.image_id.as_ref(), image_id.as_ref());
    fields.optional("instance_type", now.instance_type.as_ref(), instance_type.as_ref());
    fields.optional("key_name", now.key_name.as_ref(), key_name.as_ref());
    fields.optional("instance_profile", now.instance_profile.as_ref(), instance_profile.as_ref());
    for (device, now, then) in both(&now.volumes, volumes) {
        volume(&mut fields, device, now, then);
    }
    for (index, now, then) in both(&now.interfaces, interfaces) {
        interface(&mut fields, *index, now, then);
    }
    options(&mut fields, now.metadata.as_ref(), metadata.as_ref());
    fields.optional("market_type", now.market_type.as_ref(), market_type.as_ref());
    for (kind, now, then) in both(&now.tags, tags) {
        for (key, now, then) in both(now.unwrap_or(&Tags::new()), then.unwrap_or(&Tags::new())) {
            fields.optional(&format!("tags.{kind}[\"{key}\"]"), now, then);
        }
    }
    for (name, now, then) in both(&now.extras, extras) {
        fields.optional(name, now, then);
    }
    fields.optional("user_data", now.user_data.as_ref(), user_data.as_ref());
    fields.into_vec()
}

/// All keys of two maps, with the value of each.
fn both<'a, K: Ord, V>(
    now: &'a BTreeMap<K, V>,
    then: &'a BTreeMap<K, V>,
) -> Vec<(&'a K, Option<&'a V>, Option<&'a V>)> {
    let keys: BTreeSet<&K> = now.keys().chain(then.keys()).collect();
    keys.into_iter().map(|key| (key, now.get(key), then.get(key))).collect()
}

fn volume(fields: &mut Fields, device: &str, now: Option<&Volume>, then: Option<&Volume>) {
    let field = |name: &str| format!("volumes[\"{device}\"].{name}");
    let Some(Volume { encrypted, kms_key_id, size_gib, kind, delete_on_termination }) = then else {
        fields.text(&field("present"), Some("true".to_owned()), None);
        return;
    };
    let absent = Volume::default();
    let now = now.unwrap_or(&absent);
    fields.optional(&field("encrypted"), now.encrypted, *encrypted);
    fields.optional(&field("kms_key_id"), now.kms_key_id.as_ref(), kms_key_id.as_ref());
    fields.optional(&field("size_gib"), now.size_gib, *size_gib);
    fields.optional(&field("type"), now.kind.as_ref(), kind.as_ref());
    fields.optional(&field("delete_on_termination"), now.delete_on_termination, *delete_on_termination);
}

fn interface(fields: &mut Fields, index: u32, now: Option<&Interface>, then: Option<&Interface>) {
    let field = |name: &str| format!("interfaces[{index}].{name}");
    let Some(Interface { public_ip, delete_on_termination, security_groups }) = then else {
        fields.text(&field("present"), Some("true".to_owned()), None);
        return;
    };
    let known = now.is_some();
    let absent = Interface::default();
    let now = now.unwrap_or(&absent);
    fields.optional(&field("public_ip"), now.public_ip, *public_ip);
    fields.optional(&field("delete_on_termination"), now.delete_on_termination, *delete_on_termination);
    fields.set(&field("security_groups"), known.then_some(&now.security_groups), security_groups);
}

fn options(fields: &mut Fields, now: Option<&Metadata>, then: Option<&Metadata>) {
    let absent = Metadata::default();
    let Metadata { endpoint, tokens, hop_limit, instance_tags } = then.unwrap_or(&absent);
    let now = now.unwrap_or(&absent);
    fields.optional("metadata.endpoint", now.endpoint.as_ref(), endpoint.as_ref());
    fields.optional("metadata.tokens", now.tokens.as_ref(), tokens.as_ref());
    fields.optional("metadata.hop_limit", now.hop_limit, *hop_limit);
    fields.optional("metadata.instance_tags", now.instance_tags.as_ref(), instance_tags.as_ref());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::testing;

    fn data() -> TemplateData {
        testing::desired(|r| {
            r.ssh_key_name = Some("key".into());
            r.root_volume_kms_key_id = Some("arn:aws:kms:us-east-1:1:key/k".into());
            r.spot = true;
        })
        .template
        .data
    }

    type Edit = fn(&mut TemplateData);

    /// One edit per field of the template, as a hand in AWS could make it.
    fn edits() -> Vec<(&'static str, Edit)> {
        vec![
            ("image_id", |d| d.image_id = Some("ami-99".into())),
            ("instance_type", |d| d.instance_type = None),
            ("key_name", |d| d.key_name = None),
            ("instance_profile", |d| d.instance_profile = Some("other".into())),
            ("user_data", |d| d.user_data = Some("#cloud-config".into())),
            ("volumes[\"/dev/sda1\"].encrypted", |d| volume_of(d).encrypted = Some(false)),
            ("volumes[\"/dev/sda1\"].kms_key_id", |d| volume_of(d).kms_key_id = None),
            ("volumes[\"/dev/sda1\"].size_gib", |d| volume_of(d).size_gib = Some(8)),
            ("volumes[\"/dev/sda1\"].type", |d| volume_of(d).kind = Some("io2".into())),
            ("volumes[\"/dev/sda1\"].delete_on_termination", |d| volume_of(d).delete_on_termination = None),
            ("volumes[\"/dev/sdb\"].present", |d| {
                d.volumes.insert("/dev/sdb".into(), Volume::default());
            }),
            ("interfaces[0].public_ip", |d| interface_of(d).public_ip = None),
            ("interfaces[0].delete_on_termination", |d| interface_of(d).delete_on_termination = Some(false)),
            ("interfaces[0].security_groups", |d| interface_of(d).security_groups.push("sg-99".into())),
            ("interfaces[1].present", |d| {
                d.interfaces.insert(1, Interface::default());
            }),
            ("metadata.endpoint", |d| metadata_of(d).endpoint = Some("disabled".into())),
            ("metadata.tokens", |d| metadata_of(d).tokens = Some("optional".into())),
            ("metadata.hop_limit", |d| metadata_of(d).hop_limit = Some(2)),
            ("metadata.instance_tags", |d| metadata_of(d).instance_tags = None),
            ("market_type", |d| d.market_type = None),
            ("tags.instance[\"Name\"]", |d| {
                d.tags.get_mut("instance").unwrap().remove("Name");
            }),
            ("tags.spot-instances-request[\"a\"]", |d| {
                d.tags.insert("spot-instances-request".into(), testing::tags(&[("a", "b")]));
            }),
            ("monitoring", |d| {
                d.extras.insert("monitoring".into(), "true".into());
            }),
        ]
    }

    fn volume_of(data: &mut TemplateData) -> &mut Volume {
        data.volumes.get_mut("/dev/sda1").unwrap()
    }

    fn interface_of(data: &mut TemplateData) -> &mut Interface {
        data.interfaces.get_mut(&0).unwrap()
    }

    fn metadata_of(data: &mut TemplateData) -> &mut Metadata {
        data.metadata.as_mut().unwrap()
    }

    #[test]
    fn each_field_changed_alone_is_seen_alone() {
        assert!(template_data(Some(&data()), &data()).is_empty());
        for (field, edit) in edits() {
            let mut live = data();
            edit(&mut live);
            let found = template_data(Some(&live), &data());
            let names: Vec<&str> = found.iter().map(|f| f.field.as_str()).collect();
            assert_eq!(names, [field]);
            assert_ne!(found[0].now, found[0].then, "{field}");
        }
    }

    #[test]
    fn the_order_of_security_groups_is_no_difference() {
        let mut live = data();
        interface_of(&mut live).security_groups = vec!["sg-0b".into(), "sg-0a".into()];
        let mut wanted = data();
        interface_of(&mut wanted).security_groups = vec!["sg-0a".into(), "sg-0b".into()];
        assert!(template_data(Some(&live), &wanted).is_empty());
    }

    #[test]
    fn only_keys_that_an_earlier_apply_set_are_removed() {
        let mut live = data();
        live.tags.get_mut("network-interface").unwrap().insert("team".into(), "x".into());
        let wanted = testing::desired(|_| {}).group.tags;
        let mut now = wanted.clone();
        now.extend(testing::tags(&[("team", "x"), ("cost-centre", "7"), ("Name", "by hand")]));
        let by_hand = TemplateData::default();
        assert_eq!(tags_to_remove(&now, &wanted, [&live]), ["team".to_owned()].into());
        assert_eq!(tags_to_remove(&now, &wanted, [&live, &by_hand]), ["team".to_owned()].into());
        assert!(tags_to_remove(&wanted, &wanted, [&live]).is_empty(), "it is gone already");
        assert!(tags_to_remove(&now, &wanted, None).is_empty());
        now.remove("captf.io/name");
        now.insert("captf.io/kind".into(), "Other".into());
        assert_eq!(
            tags_to_set(&now, &wanted).into_keys().collect::<Vec<_>>(),
            ["captf.io/kind", "captf.io/name"]
        );
    }
}
