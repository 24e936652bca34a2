//! What names, labels and tags may look like. All of it decides over whole texts: no line ending hides
//! behind a match.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::contract::quote::quoted;

/// The longest tag key, in characters.
pub(super) const MAX_TAG_KEY: usize = 128;

/// The longest tag value, in characters.
pub(super) const MAX_TAG_VALUE: usize = 256;

fn lower_or_digit(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

/// Neither empty nor longer than `max` bytes, `inner` bytes only, first and last an `outer` one.
fn bounded(text: &str, max: usize, outer: fn(u8) -> bool, inner: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    bytes.len() <= max
        && bytes.iter().all(|&b| outer(b) || inner(b))
        && bytes.first().is_some_and(|&b| outer(b))
        && bytes.last().is_some_and(|&b| outer(b))
}

/// A DNS-1123 label, as a Kubernetes namespace is one.
pub(super) fn is_dns_label(text: &str) -> bool {
    bounded(text, 63, lower_or_digit, |b| b == b'-')
}

/// A DNS-1123 subdomain, as Kubernetes names are: at most 253 characters, every part between dots like
/// a label (Kubernetes sets no limit on a part).
pub(super) fn is_dns_subdomain(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(|part| bounded(part, 253, lower_or_digit, |b| b == b'-'))
}

/// The name of a label without its prefix, or a label's value that is not empty.
fn is_label_name(text: &str) -> bool {
    bounded(text, 63, |b| b.is_ascii_alphanumeric(), |b| matches!(b, b'-' | b'_' | b'.'))
}

/// What is wrong with a Kubernetes label.
pub(super) fn label_faults(key: &str, value: &str) -> Vec<String> {
    let key_is_valid = match key.split_once('/') {
        Some((prefix, name)) => is_dns_subdomain(prefix) && is_label_name(name),
        None => is_label_name(key),
    };
    let mut faults = Vec::new();
    if !key_is_valid {
        faults.push(
            "has a key that is no Kubernetes label: wanted an optional DNS subdomain of at most 253 characters \
             and a slash, then 1 to 63 letters, digits, \"-\", \"_\" or \".\", the first and last a letter or digit"
                .to_owned(),
        );
    }
    if !value.is_empty() && !is_label_name(value) {
        faults.push(format!(
            "is {}, but must be empty or 1 to 63 letters, digits, \"-\", \"_\" or \".\", the first and last a \
             letter or digit",
            quoted(value)
        ));
    }
    faults
}

/// Whether AWS takes a character in tags everywhere: letters, digits and spaces of any script, and a
/// few signs.
fn is_tag_char(c: char) -> bool {
    matches!(c, '_' | '.' | ':' | '/' | '=' | '+' | '-' | '@')
        || matches!(
            c.general_category_group(),
            GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number | GeneralCategoryGroup::Separator
        )
}

/// Whether AWS takes a text as a tag's key.
pub(super) fn is_tag_key(text: &str) -> bool {
    (1..=MAX_TAG_KEY).contains(&text.chars().count()) && text.chars().all(is_tag_char)
}

/// Whether AWS takes a text as a tag's value.
pub(super) fn is_tag_value(text: &str) -> bool {
    text.chars().count() <= MAX_TAG_VALUE && text.chars().all(is_tag_char)
}

/// What is wrong with a tag whose key must not begin with any of `reserved`, nor with `aws:` in any case.
pub(super) fn tag_faults(key: &str, value: &str, reserved: &[&str]) -> Vec<String> {
    const ALLOWED: &str = "letters, digits, spaces and _ . : / = + - @";
    let shown = |c| if c == '\'' { "\"'\"".to_owned() } else { format!("{c:?}") };
    let mut faults = Vec::new();
    let (key_length, value_length) = (key.chars().count(), value.chars().count());
    if !(1..=MAX_TAG_KEY).contains(&key_length) {
        faults.push(format!("has a key of {key_length} characters, but AWS takes 1 to {MAX_TAG_KEY}"));
    }
    if let Some(c) = key.chars().find(|&c| !is_tag_char(c)) {
        faults.push(format!("has {} in its key, but AWS takes only {ALLOWED}", shown(c)));
    }
    if key.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("aws:")) {
        faults.push("has a key that begins with \"aws:\", which AWS keeps for itself in any case".to_owned());
    }
    if let Some(prefix) = reserved.iter().find(|prefix| key.starts_with(**prefix)) {
        faults
            .push(format!("has a key that begins with \"{prefix}\", which is kept for the pool's own tags"));
    }
    if value_length > MAX_TAG_VALUE {
        faults
            .push(format!("has a value of {value_length} characters, but AWS takes at most {MAX_TAG_VALUE}"));
    }
    if let Some(c) = value.chars().find(|&c| !is_tag_char(c)) {
        faults.push(format!("has {} in its value, but AWS takes only {ALLOWED}", shown(c)));
    }
    faults
}

/// A version as Cluster API takes them: three numbers behind an optional `v`, and perhaps something behind them.
pub(super) fn is_kubernetes_version(text: &str) -> bool {
    let numbers = text.strip_prefix('v').unwrap_or(text);
    let mut parts = numbers.splitn(3, '.');
    let is_number =
        |part: &str| part.bytes().all(|b| b.is_ascii_digit()) && (part == "0" || !part.starts_with('0'));
    let (Some(major), Some(minor), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (patch, behind) = rest.split_at(end);
    [major, minor, patch].into_iter().all(|part| !part.is_empty() && is_number(part))
        && behind.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.+".contains(&b))
}

/// What stands for a version in the pattern of an image's name, and a character in its place that no pattern has.
const PLACEHOLDERS: [(&str, &str); 2] = [("{semver}", "\u{1}"), ("{version}", "\u{2}")];

/// Why no image can have a name that matches a pattern; `None` if one can. AWS takes letters, digits and a few signs in
/// the names of images; in a filter `*`, `?` and `\` are its own.
pub(super) fn name_format_fault(format: &str) -> Option<String> {
    let rest = PLACEHOLDERS.iter().fold(format.to_owned(), |rest, (name, sign)| rest.replace(name, sign));
    if let Some(begin) = rest.find(['{', '}']) {
        let unknown = &rest[begin..];
        let unknown = &unknown[..unknown.find('}').map_or(unknown.len(), |end| end + 1)];
        let unknown =
            PLACEHOLDERS.iter().fold(unknown.to_owned(), |text, (name, sign)| text.replace(sign, name));
        return Some(format!(
            "has {} in it, which is no placeholder: known are {}, and no AMI has a brace in its name",
            quoted(&unknown),
            PLACEHOLDERS.map(|(name, _)| name).join(" and ")
        ));
    }
    let can_match = |c: char| c.is_ascii_alphanumeric() || "()[] ./-'@_*?\\\u{1}\u{2}".contains(c);
    rest.chars().find(|&c| !can_match(c)).map(|odd| {
        format!(
            "has {odd:?} in it, but AMIs have only ASCII letters, digits, spaces and ( ) [ ] . / - ' @ _ in their names: \
             no image would be found"
        )
    })
}

/// Between `min` and `max` characters, none of them a control character.
pub(super) fn is_plain(text: &str, min: usize, max: usize) -> bool {
    (min..=max).contains(&text.chars().count()) && !text.contains(char::is_control)
}

/// The name of an availability zone, local zone or Wavelength zone.
pub(super) fn is_zone(text: &str) -> bool {
    bounded(text, 256, lower_or_digit, |b| b == b'-')
}

/// An EC2 instance type: `m6i.large`, `u-6tb1.112xlarge`, `m7i.metal-24xl`. No family begins with a digit, but numbers
/// do that lost their quotes.
pub(super) fn is_instance_type(text: &str) -> bool {
    let part = |part: &str| bounded(part, 32, lower_or_digit, |b| b == b'-');
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.split_once('.').is_some_and(|(family, size)| part(family) && part(size))
}

/// The owner of images: an account, or one of the words EC2 has for owners.
pub(super) fn is_image_owner(text: &str) -> bool {
    matches!(text, "self" | "amazon" | "aws-marketplace") || is_account(text)
}

fn is_account(text: &str) -> bool {
    text.len() == 12 && text.bytes().all(|b| b.is_ascii_digit())
}

/// A block device: `/dev/sda1`, `/dev/xvda`.
pub(super) fn is_device(text: &str) -> bool {
    text.strip_prefix("/dev/").is_some_and(|name| bounded(name, 64, lower_or_digit, |_| false))
}

/// The name of an IAM instance profile.
pub(super) fn is_instance_profile(text: &str) -> bool {
    (1..=128).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_+=,.@-".contains(&b))
}

/// The region in the ARN of a KMS key, in any partition; `None` for any other text.
pub(super) fn kms_key_region(text: &str) -> Option<&str> {
    let mut parts = text.split(':');
    let mut next = || parts.next();
    let (arn, partition, service, region, account, resource) =
        (next()?, next()?, next()?, next()?, next()?, next()?);
    let key = resource.strip_prefix("key/")?;
    let is_arn = arn == "arn"
        && (partition == "aws" || partition.starts_with("aws-"))
        && bounded(partition, 32, lower_or_digit, |b| b == b'-')
        && service == "kms"
        && region.parse::<crate::contract::ids::Region>().is_ok()
        && is_account(account)
        && bounded(key, 128, |b| b.is_ascii_alphanumeric(), |b| b == b'-');
    (is_arn && parts.next().is_none()).then_some(region)
}
