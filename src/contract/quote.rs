//! What a message may repeat of a text that somebody gave.
//!
//! A value in the wrong place (bootstrap data where a file's name belongs, a token behind an option of another
//! name) must not reach a log. Nobody can tell a secret from its look for certain, so that is not asked: a text is
//! repeated only if it is short, of one line, and looks like what people write by hand.

use std::ffi::OsStr;

use super::{inputs::escaped, known::KNOWN};

/// The longest text that is repeated, in bytes. The ARN of a key has 75 or so.
const MAX_QUOTED: usize = 80;

/// The longest name of a file and of one part of it, in bytes: Linux takes no longer part.
const MAX_FILE: usize = 1024;
const MAX_FILE_PART: usize = 255;

/// How the names end of files that are given to commands here. No value ends so.
const ENDS: [&str; 8] = [".json", ".tfplan", ".plan", ".tfstate", ".tfvars", ".hcl", ".yaml", ".yml"];

/// A mixture of characters without a sign in it is no longer where it is written by hand, in bytes.
const MAX_WORD: usize = 40;

/// Identifiers in AWS have 17 hexadecimal digits, in whatever case somebody wrote them; longer ones are digests and
/// tokens.
const MAX_HEX: usize = 17;

/// From this length on, a mixture of letters and digits is not written by hand. In bytes.
const LONG_WORD: usize = 16;

/// Whether a message may repeat a text.
pub(crate) fn is_quotable(text: &str) -> bool {
    text.len() <= MAX_QUOTED && !is_document(text.trim_end()) && !looks_secret(text)
}

/// Whether a text is more than a name into which a line end got.
fn is_document(text: &str) -> bool {
    let is_in_names = |c: char| c.is_ascii_alphanumeric() || c.is_control() || "-_./{}*?".contains(c);
    text.contains(['\n', '\r']) && !text.chars().all(is_in_names)
}

/// A text in quotes, on one line; or what it is in the place of it.
pub(crate) fn quoted(text: &str) -> String {
    if is_quotable(text) {
        return format!("\"{}\"", escaped(text));
    }
    format!("a text of {} bytes that is not shown", text.len())
}

/// A text that stands in quotes already, on one line.
pub(crate) fn within_quotes(text: &str) -> String {
    if is_quotable(text) { escaped(text) } else { format!("({} bytes, not shown)", text.len()) }
}

/// The name of a file that is there: no value.
pub(crate) fn known_file(name: &(impl AsRef<OsStr> + ?Sized)) -> String {
    escaped(&name.as_ref().to_string_lossy())
}

/// The name of a file for messages, of which nobody knows whether it is there.
pub(crate) fn file(name: &(impl AsRef<OsStr> + ?Sized)) -> String {
    let name = name.as_ref().to_string_lossy();
    match name.split_once('=') {
        // An input with its value in the place of a file's name loses the value.
        Some((input, _)) if KNOWN.iter().any(|(known, _)| *known == input) => input.to_owned(),
        _ if name.is_empty() => "\"\"".to_owned(),
        _ if is_file_name(&name) => escaped(&name),
        _ => format!("(a name of {} bytes, not shown)", name.len()),
    }
}

/// What to say beside an error about a file whose name is not shown, for an option that takes one.
pub(crate) fn file_hint(name: &(impl AsRef<OsStr> + ?Sized), option: &str) -> Option<String> {
    let name = name.as_ref().to_string_lossy();
    (file(&*name) != escaped(&name) && !name.is_empty()).then(|| {
        format!(
            "What was given for {option} does not look like the name of a file. It is not shown, since it may be a \
             value. A single input is set with -var NAME=VALUE."
        )
    })
}

/// Whether a text can be the name of a file that somebody gave one.
fn is_file_name(name: &str) -> bool {
    let parts = || name.split('/');
    if name.len() > MAX_FILE || parts().any(|part| part.len() > MAX_FILE_PART) {
        return false;
    }
    if name.contains(|c: char| c.is_control() || matches!(c, '{' | '"')) || has_password(name) {
        return false;
    }
    // A digest in a name, or in that of a directory, is usual where a program made it.
    if is_program_file(name) {
        return true;
    }
    let is_path = name.starts_with(['/', '~']) || name.starts_with("./") || name.starts_with("../");
    let suspicious = if is_path || name.contains('.') { LONG_WORD } else { 0 };
    let is_suspicious = |word: &str| word.len() >= suspicious && is_opaque(word);
    !has_token(name) && !is_padded(name) && !words(name).any(is_suspicious)
}

/// Whether a text ends as the names of files do that are given to commands here.
fn is_program_file(name: &str) -> bool {
    ENDS.iter().any(|end| name.ends_with(end))
}

/// Whether a text, or a part of it, looks like a secret rather than like a name or a number. Control characters take
/// nothing apart.
pub(crate) fn looks_secret(text: &str) -> bool {
    if text.contains(char::is_control) {
        let parts = text.split(char::is_control).any(looks_secret);
        return parts || looks_secret(&text.replace(char::is_control, ""));
    }
    let begins = text.trim_start();
    (begins.starts_with(['{', '[']) && begins.contains(['"', '\'', ':', '=', ',', ' ']))
        || text.contains("\":")
        || text.contains("-----BEGIN")
        || has_password(text)
        || has_token(text)
        || is_padded(text)
        || words(text).any(is_opaque)
}

/// Whether there is a URL with a password in it.
fn has_password(text: &str) -> bool {
    text.split_once("://").is_some_and(|(_, rest)| rest.contains('@'))
}

/// Whether there is a bootstrap token: six characters, a dot, sixteen characters.
fn has_token(text: &str) -> bool {
    let is_end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.split(|c| !is_end(c) && c != '.').any(|word| {
        let parts: Vec<&str> = word.split('.').collect();
        parts.windows(2).any(|pair| pair[0].len() == 6 && pair[1].len() == 16)
    })
}

/// Whether a text ends as base64 does that is filled up.
fn is_padded(text: &str) -> bool {
    let text = text.trim_end();
    let bare = text.trim_end_matches('=');
    let word = bare.rsplit(|c: char| !is_base64(c)).next().unwrap_or_default();
    let padding = text.len() - bare.len();
    matches!(padding, 1 | 2) && word.len() >= 6 && (word.len() + padding).is_multiple_of(4)
}

pub(super) fn is_base64(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/')
}

/// The parts of a text between its signs. A slash is one: paths and ARNs have it.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '+')
}

/// The kinds of characters whose changes tell a random text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Lower,
    Upper,
    Digit,
    Sign,
}

impl Class {
    pub(super) fn of(byte: u8) -> Self {
        match byte {
            b if b.is_ascii_lowercase() => Self::Lower,
            b if b.is_ascii_uppercase() => Self::Upper,
            b if b.is_ascii_digit() => Self::Digit,
            _ => Self::Sign,
        }
    }
}

/// How often a word changes between kinds of characters. A capital at the beginning of a word is no change.
pub(super) fn changes(word: &str) -> usize {
    let is_change = |pair: &&[u8]| {
        let kinds = [Class::of(pair[0]), Class::of(pair[1])];
        kinds[0] != kinds[1] && kinds != [Class::Upper, Class::Lower]
    };
    word.as_bytes().windows(2).filter(is_change).count()
}

/// Whether a word without a sign in it is none that people write: one that is long, or that changes between kinds
/// of characters all the time.
fn is_opaque(word: &str) -> bool {
    let length = word.len();
    if word.bytes().all(|b| b.is_ascii_hexdigit()) && word.bytes().any(|b| b.is_ascii_digit()) {
        // A number with an exponent has one letter.
        return length > MAX_HEX && word.bytes().filter(u8::is_ascii_alphabetic).count() > 1;
    }
    let has = |class| word.bytes().any(|byte| Class::of(byte) == class);
    let changes = changes(word);
    let mixed = has(Class::Lower) && has(Class::Upper);
    match length {
        0..8 => false,
        _ if length > MAX_WORD => mixed || changes > 0,
        _ if mixed => changes >= 3 && changes * 5 >= length,
        _ if has(Class::Upper) => length >= LONG_WORD && has(Class::Digit),
        _ => length >= LONG_WORD && changes >= 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What people give by mistake, and must see again.
    const PLAIN: [&str; 44] = [
        "AMI-0ABCDEF1234567890",
        "ami-0ABCDEF1234567890",
        "ami-0AbCdEf1234567890",
        "SUBNET-0A1B2C3D4E5F67890",
        "{semver}",
        "{semver",
        "capa-ami-\u{7}ubuntu-{version}-*",
        "capa-ami\n-ubuntu-24.04-?{semver}-*\n",
        "m6i.\rlarge",
        "yaml",
        "vlue",
        "CloudConfig",
        "cloud_config",
        "m6i.large",
        "c7gn16xlarge",
        "u-6tb1.112xlarge",
        "us-east-1",
        "us-gov-west-1a",
        "v1.31.4+rke2r1",
        "v1.34.1\n",
        "i-0123456789abcdef0",
        "ami-0abcdef1234567890",
        "sg-0a1b2c3d4e5f67890",
        "819546954734",
        "arn:aws:kms:us-east-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab",
        "6c5a7e0e-4f0e-4a8e-9b06-0d6a3b1f7a52",
        "capa-ami-ubuntu-24.04-?{semver}-*",
        "/dev/sda1",
        "45 m",
        "1h30",
        "-1",
        "",
        "größe",
        "TerraformMachinePool",
        "AWSServiceRoleForAutoScaling",
        "team-a/demo-pool-0",
        "captf-team-a-demo-pool-0-43c6d828",
        "cluster.x-k8s.io/cluster-name",
        "https://s3.us-east-1.amazonaws.com",
        "terraform.tfvars.json",
        "NodeInstanceProfile2024",
        "1e99999999999999999999",
        "MyCluster01Workers",
        "a=b",
    ];

    /// What must not be repeated: base64 of various things, tokens, keys, documents.
    const SECRET: [&str; 28] = [
        "abcdef\n.0123456789abcdef",
        "abcdef.01234567\u{0}89abcdef",
        "c2Vjcm\nV0LWpv\naW4=",
        "wJalrXUtnF\nEMIK7MDENGbPx",
        "users\n- name: ops",
        "{bootstrap_data: x}",
        "{'x'}",
        "0123456789ABCDEF01",
        "c2VjcmV0",
        "aGVsbG8gd29ybGQ=",
        "YWFhYQ==",
        "I2Nsb3VkLWNvbmZpZwpydW5jbWQ6Cg==",
        "H4sIAAAAAAAAA0vOyS9N0U3Oz0vLTOcCAHDHkUUNAAAA",
        "abcdef.0123456789abcdef",
        "kubeadm join --token=abcdef.0123456789abcdef 10.0.0.1:6443",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.eyJpc3MiOiJrIn0.c2ln",
        "{\"bootstrap_data\":\"x\"}",
        "[\"x\"]",
        "#cloud-config\nusers: []",
        "https://user:password@example.com",
        "K10d8c0f2f7a3a1b9c5e6f7a8b9c0d1e2f3a4b5c6d7e8f90a1b2c3d4e5f6a7b8c9::server:0123",
        "-----BEGIN RSA PRIVATE KEY-----",
        "0123456789abcdef0123456789abcdef",
        "0123456789abcdef01",
        "hunter2Hunter2hunter2",
        "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnop",
    ];

    #[test]
    fn what_people_write_is_repeated() {
        for text in PLAIN {
            assert!(is_quotable(text), "{text}");
        }
        assert_eq!(quoted("v1.34.1\n"), "\"v1.34.1\\n\"");
    }

    #[test]
    fn what_may_be_a_secret_is_not() {
        let long = "word ".repeat(20);
        for text in SECRET.into_iter().chain([long.as_str()]) {
            assert!(!is_quotable(text), "{text}");
            assert_eq!(quoted(text), format!("a text of {} bytes that is not shown", text.len()));
        }
    }

    #[test]
    fn random_bytes_in_base64_are_no_word() {
        use base64::{Engine as _, engine::general_purpose::STANDARD};
        use sha2::{Digest as _, Sha256};
        let mut shown = 0;
        for number in 0_u32..2000 {
            let digest = Sha256::digest(number.to_be_bytes());
            shown += usize::from(is_quotable(&STANDARD.encode(&digest[..30])));
            shown += usize::from(is_file_name(&STANDARD.encode(&digest[..30])));
        }
        assert!(shown <= 20, "{shown} of 4000 would be repeated");
    }

    #[test]
    fn names_of_files_are_shown_unless_they_are_none() {
        for name in [
            "pool.tfvars.json",
            "missing",
            "directory",
            "/tmp/.tmpX8sK2jQ9aB/pool.json",
            "/captf/work/apply.tfplan",
            "../Xy7aB9kQpL3mN8sT/p.tfplan",
            "clusters/eu-west-1/team_a/pool-0.json",
            "~/pools/a",
            "dt=2026/x.json",
            "größe 1.json",
            "pol-2fd4e1c67a2d28fced849ee1bb76e7391b93eb12.json",
            "plan-2fd4e1c67a2d28fced849ee1bb76e7391b93eb12.tfplan",
            "./2fd4e1c67a2d28fced849ee1bb76e7391b93eb12.tfvars.json",
            "plan.deploy.0123456789abcdef.tfplan",
            "/tmp/tmp.X8sK2jQ9aB/missing",
        ] {
            assert_eq!(file(name), name);
            assert_eq!(file_hint(name, "-var-file"), None, "{name}");
        }
        let long = "x".repeat(256);
        for name in SECRET.into_iter().chain([
            long.as_str(),
            "a\nb",
            "{}",
            "./{\"a\":1}",
            "./abcdef.0123456789abcdef",
            "./eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.eyJpc3MiOiJrIn0.c2ln",
            "/eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.eyJpc3MiOiJrIn0.c2ln",
            "../2fd4e1c67a2d28fced849ee1bb76e7391b93eb12.x",
            "https://user:password@example.com/x.json",
        ]) {
            if name.starts_with("-----") {
                continue;
            }
            assert_eq!(file(name), format!("(a name of {} bytes, not shown)", name.len()), "{name}");
            assert!(file_hint(name, "-var-file").is_some(), "{name}");
        }
        assert_eq!(file("bootstrap_data=x"), "bootstrap_data");
        assert_eq!((file("").as_str(), file_hint("", "-var-file")), ("\"\"", None));
    }
}
