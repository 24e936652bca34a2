//! The few facts that live with a pool, in tags, so that no state file can lose them.

use std::fmt;

use sha2::{Digest, Sha256};

use super::names::{RollKey, hex};
use crate::contract::{mask::masked, request::Tags};

/// On group and templates: the zones of the pool's first apply, joined by `/`.
pub const ZONES: &str = "machinepool.captf.io/inherited-zones";
/// On the group: whose instance refreshes are whose, see [`RollMark`].
pub const ROLL: &str = "machinepool.captf.io/roll";
/// On a template: the Kubernetes version it was made for.
pub const VERSION: &str = "machinepool.captf.io/kubernetes-version";
/// On a template: the pinned image it was made for.
pub const IMAGE: &str = "machinepool.captf.io/machine-image-id";
/// On a template: the bucket in which the bootstrap object lies; several, joined by `/`, while it moves.
pub const BUCKET: &str = "machinepool.captf.io/bootstrap-bucket";

/// The longest tag value, in characters (AWS's limit).
pub const VALUE_CHARS: usize = 256;

/// How a tag value begins that holds a digest in place of a text.
const DIGEST: &str = "sha256:";

/// As much of a version stands in a sentence, in characters.
const WORDS: usize = 60;

/// Whether every character may stand in a tag value: letters, digits, spaces and `_.:/=+-@`. Stricter
/// than AWS (ASCII only), for what this program writes by itself.
pub fn fits_tag(text: &str) -> bool {
    text.chars().count() <= VALUE_CHARS
        && text.chars().all(|c| c.is_ascii_alphanumeric() || " _.:/=+-@".contains(c))
        && text.trim() == text
}

/// A roll key as the two template tags hold it. A text that tags refuse is held as `sha256:<hex>`.
pub fn key_tags(key: &RollKey) -> [(String, String); 2] {
    let held = |text: &Option<String>| {
        let text = text.as_deref().unwrap_or_default();
        if fits_tag(text) {
            text.to_owned()
        } else {
            format!("{DIGEST}{}", hex(&Sha256::digest(text.as_bytes()), 64))
        }
    };
    [(VERSION.to_owned(), held(&key.kubernetes_version)), (IMAGE.to_owned(), held(&key.machine_image_id))]
}

/// The buckets in which, as a template's tags say, an object of the pool may lie.
pub fn buckets(tags: &Tags) -> impl Iterator<Item = &str> {
    tags.get(BUCKET).into_iter().flat_map(|text| text.split('/')).filter(|bucket| !bucket.is_empty())
}

/// Several buckets as the tag holds them: the first ones that fit, which are four at least.
pub fn join_buckets<'a>(buckets: impl IntoIterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for bucket in buckets {
        if text.is_empty() {
            bucket.clone_into(&mut text);
        } else if text.len() + 1 + bucket.len() <= VALUE_CHARS {
            text.push('/');
            text.push_str(bucket);
        }
    }
    text
}

/// After the buckets of a template's tag: that the objects in all but the first were tried to be deleted.
const TRIED: char = '/';

/// What a template's tag holds once the objects in all buckets but the first were tried to be deleted; where there is
/// no room to say so, the same as before.
pub fn mark_tried(mut buckets: String) -> String {
    if buckets.len() < VALUE_CHARS {
        buckets.push(TRIED);
    }
    buckets
}

/// Whether a template's tags say so, and of this as the pool's bucket: what was tried when the pool was elsewhere is
/// over.
pub fn is_tried(tags: &Tags, bucket: &str) -> bool {
    buckets(tags).next() == Some(bucket) && tags.get(BUCKET).is_some_and(|text| text.ends_with(TRIED))
}

/// Whether a template's tags hold a roll key at all.
pub fn has_key(tags: &Tags) -> bool {
    tags.contains_key(VERSION) && tags.contains_key(IMAGE)
}

/// Whether a template's tags hold exactly this roll key.
pub fn holds_key(tags: &Tags, key: &RollKey) -> bool {
    key_tags(key).iter().all(|(name, value)| tags.get(name) == Some(value))
}

/// A roll key in words, for plans and warnings.
pub fn key_text(key: &RollKey) -> String {
    let text = |part: &Option<String>| abridged(part.as_deref().unwrap_or_default());
    in_words(text(&key.kubernetes_version), text(&key.machine_image_id))
}

/// The same of a template, as its tags hold it. Of a digest nobody can tell the version.
pub fn held_key_text(tags: &Tags) -> String {
    let text = |name: &str| match tags.get(name) {
        None => "unknown".to_owned(),
        Some(digest) if digest.starts_with(DIGEST) => "a version that its tag holds as a digest".to_owned(),
        Some(held) => abridged(held),
    };
    in_words(text(VERSION), text(IMAGE))
}

fn in_words(version: String, image: String) -> String {
    match (version.is_empty(), image.is_empty()) {
        (true, true) => "no version".to_owned(),
        (false, true) => version,
        (true, false) => image,
        (false, false) => format!("{version} on {image}"),
    }
}

/// A text for a sentence: what is long is cut, with a sign, after what looks like a credential is taken out.
fn abridged(text: &str) -> String {
    let text = &*masked(text);
    if text.chars().count() <= WORDS {
        return text.to_owned();
    }
    text.chars().take(WORDS).chain("...".chars()).collect()
}

/// Says which instance refreshes belong to the group's current template: those newer than the one
/// that was the newest when the group was pointed at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RollMark {
    /// [`RollKey::hash`] of the template's key.
    pub hash: String,
    /// The newest refresh at that moment.
    pub newest: Option<String>,
}

impl RollMark {
    /// Reads a tag value; `None` if it is no mark.
    pub fn parse(text: &str) -> Option<Self> {
        let (hash, newest) = text.split_once('/')?;
        let newest = (newest != "none").then(|| newest.to_owned());
        (!hash.is_empty()).then(|| Self { hash: hash.to_owned(), newest })
    }
}

impl fmt::Display for RollMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.hash, self.newest.as_deref().unwrap_or("none"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_survive_their_tag_as_far_as_they_fit() {
        let tags = |text: String| Tags::from([(BUCKET.to_owned(), text)]);
        let of = |text: String| buckets(&tags(text)).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(of(join_buckets(["new", "old"])), ["new", "old"]);
        assert_eq!(of(join_buckets([])), Vec::<String>::new());
        let long: Vec<String> = ('a'..='f').map(|c| c.to_string().repeat(63)).collect();
        let text = join_buckets(long.iter().map(String::as_str));
        assert!(fits_tag(&text), "{text}");
        assert_eq!(of(text), long[..4]);
        assert_eq!(buckets(&Tags::new()).count(), 0);
    }

    #[test]
    fn a_mark_survives_its_tag() {
        for newest in [None, Some("08b91cf7-8fa6-48af-b6a6-d227f40f1b9b".to_owned())] {
            let mark = RollMark { hash: "ab12".into(), newest };
            assert_eq!(RollMark::parse(&mark.to_string()), Some(mark));
        }
        assert_eq!(RollMark::parse("nonsense"), None);
        assert_eq!(RollMark::parse("/none"), None);
    }

    #[test]
    fn a_version_that_tags_refuse_is_held_as_a_digest() {
        let key =
            |version: &str| RollKey { kubernetes_version: Some(version.into()), machine_image_id: None };
        let value = |version: &str| key_tags(&key(version))[0].1.clone();
        assert_eq!(value("v1.31.4+rke2r1"), "v1.31.4+rke2r1");
        for odd in ["v1.31.4~rc1", "v1.31.4 ", "vérsion", &"v".repeat(257)] {
            assert!(value(odd).starts_with("sha256:"), "{odd}");
            assert_eq!(value(odd).len(), 7 + 64);
            let tags: Tags = key_tags(&key(odd)).into_iter().collect();
            assert!(holds_key(&tags, &key(odd)));
            assert!(!holds_key(&tags, &key("v1.31.4")));
        }
    }

    #[test]
    fn a_version_is_shown_as_it_is_and_never_at_length() {
        let key = |version: &str, image: Option<&str>| RollKey {
            kubernetes_version: Some(version.into()),
            machine_image_id: image.map(Into::into),
        };
        assert_eq!(key_text(&key("v1.31.4~rc 1!", Some("ami-1"))), "v1.31.4~rc 1! on ami-1");
        assert_eq!(key_text(&key(&"ü".repeat(256), None)), format!("{}...", "ü".repeat(60)));
        assert_eq!(key_text(&RollKey::default()), "no version");
        let held = |key: &RollKey| held_key_text(&key_tags(key).into_iter().collect());
        assert_eq!(held(&key("v1.31.4", None)), "v1.31.4");
        assert_eq!(
            held(&key("v1.31.4~rc1", Some("ami-1"))),
            "a version that its tag holds as a digest on ami-1"
        );
        assert_eq!(held_key_text(&Tags::new()), "unknown on unknown");
    }

    #[test]
    fn an_absent_part_is_held_as_an_empty_text() {
        let tags: Tags = key_tags(&RollKey::default()).into_iter().collect();
        assert_eq!(tags[VERSION], "");
        assert!(has_key(&tags) && holds_key(&tags, &RollKey::default()));
        assert!(!has_key(&Tags::new()));
    }
}
