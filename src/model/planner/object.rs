//! The bootstrap object.

use super::{Draft, Phase, View};
use crate::model::{
    diff::Fields,
    observed::Object,
    plan::{Action, Address},
    resources::Write,
};

/// What `PutObject` sends beside the body.
const CONTENT_TYPE: &str = "application/octet-stream";
const ENCRYPTION: &str = "AES256";

/// Puts the object where it is missing or differs; one write renews all of it.
pub(super) fn plan(view: &View<'_>, draft: &mut Draft) {
    let wanted = &view.desired.object;
    let (now, action) = match &view.observed.object {
        Object::Missing => (None, Action::Create),
        Object::Present { sha256, content_type, encryption, tags } => {
            (Some((sha256.as_ref(), content_type.as_ref(), encryption.as_ref(), tags)), Action::Update)
        }
    };
    let mut fields = Fields::default();
    fields.value("sha256", now.and_then(|n| n.0), &wanted.sha256);
    fields.value("content_type", now.and_then(|n| n.1), CONTENT_TYPE);
    fields.value("server_side_encryption", now.and_then(|n| n.2), ENCRYPTION);
    let none = std::collections::BTreeMap::new();
    let tags = now.map_or(&none, |n| n.3);
    let foreign = tags.keys().filter(|key| !wanted.tags.contains_key(*key)).cloned().collect();
    fields.tags("tags", tags, &wanted.tags, &foreign);
    let fields = fields.into_vec();
    if fields.is_empty() {
        return;
    }
    draft.change(Address::Object, &format!("s3://{}/{}", wanted.bucket, wanted.key), action, fields);
    draft.write(
        Phase::Prepare,
        Address::Object,
        Write::PutObject {
            bucket: wanted.bucket.clone(),
            key: wanted.key.clone(),
            body: wanted.body.clone(),
            tags: wanted.tags.clone(),
        },
    );
}
