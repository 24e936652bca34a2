//! Credentials in texts that are shown, whoever wrote them: taken out, and the rest left as it is.
//!
//! A value that is refused is repeated only if it looks harmless: see [`quote`](super::quote). A value that was taken,
//! and what AWS says of it, is shown to be read. There, digests, ids, ARNs and names that a program made are usual, so
//! only what has the shape of a credential is left out: bootstrap tokens, private keys, base64, keys of AWS, JSON web
//! tokens, passwords in URLs.

use std::{borrow::Cow, ops::Range};

use super::quote::{self, Class};

/// From this length on, a mixture of letters and digits in a text is no part of a name, in bytes. `AWS` CloudFormation
/// and temporary directories have shorter ones.
const LONG_WORD: usize = 20;

/// The length of an AWS secret access key, in bytes, and the least of anything else with slashes in it that is encoded.
const SECRET_KEY: usize = 40;

/// Of so many characters one is of another kind than the one before it, at least, in what is encoded; of many in a row,
/// fewer.
const DENSITY: usize = 4;
const DENSITY_OF_LONG: usize = 6;

/// How the ids of access keys begin. Those of roles and users, which AWS names in its messages, begin otherwise.
const ACCESS_KEYS: [&str; 2] = ["AKIA", "ASIA"];

/// How AWS announces an answer that only `aws sts decode-authorization-message` can read: it is encrypted, and needed.
const ENCODED_ANSWER: &str = "authorization failure message:";

const PEM_BEGIN: &str = "-----BEGIN";
const PEM_END: &str = "-----END";

/// A text with its size in the place of each credential in it.
pub(crate) fn masked(text: &str) -> Cow<'_, str> {
    if let Some((before, key)) = text.split_once(PEM_BEGIN) {
        let (key, after) = key.split_at(pem_length(key));
        let size = PEM_BEGIN.len() + key.len();
        return Cow::Owned(format!("{}{}{}", masked(before), hidden(size), masked(after)));
    }
    let mut shown: Option<String> = None;
    let mut copied = 0;
    for (at, chunk) in chunks(text) {
        if !is_credential(chunk) || text[..at].trim_end().ends_with(ENCODED_ANSWER) {
            continue;
        }
        let shown = shown.get_or_insert_default();
        shown.push_str(&text[copied..at]);
        shown.push_str(&hidden(chunk.len()));
        copied = at + chunk.len();
    }
    match shown {
        None => Cow::Borrowed(text),
        Some(shown) => Cow::Owned(shown + &text[copied..]),
    }
}

/// The same in place.
pub(crate) fn mask(text: &mut String) {
    if let Cow::Owned(shown) = masked(text) {
        *text = shown;
    }
}

/// A JSON document, of which each string and key is masked that is none of those to be kept.
pub(crate) fn masked_json<'a>(document: &'a str, kept: &[&str]) -> Cow<'a, str> {
    let mut shown: Option<String> = None;
    let mut copied = 0;
    let mut at = 0;
    while let Some(literal) = next_literal(document, at) {
        at = literal.end;
        let Ok(text) = serde_json::from_str::<String>(&document[literal.clone()]) else { continue };
        if kept.contains(&text.as_str()) {
            continue;
        }
        let Cow::Owned(text) = masked(&text) else { continue };
        let shown = shown.get_or_insert_default();
        shown.push_str(&document[copied..literal.start]);
        shown.push_str(&serde_json::Value::String(text).to_string());
        copied = literal.end;
    }
    match shown {
        None => Cow::Borrowed(document),
        Some(shown) => Cow::Owned(shown + &document[copied..]),
    }
}

/// Where the next string of a JSON document lies, its quotes included.
fn next_literal(document: &str, from: usize) -> Option<Range<usize>> {
    let start = from + document[from..].find('"')?;
    let mut escaped = false;
    let end = document[start + 1..].bytes().position(|byte| {
        let is_end = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        is_end
    })?;
    Some(start..start + 1 + end + 1)
}

fn hidden(size: usize) -> String {
    format!("({size} bytes, not shown)")
}

/// How long a PEM block is, from behind the beginning of its first line. One without an end goes on to the last byte.
fn pem_length(key: &str) -> usize {
    let end = key.find(PEM_END).and_then(|end| {
        let behind = end + PEM_END.len();
        key[behind..].find("-----").map(|stop| behind + stop + "-----".len())
    });
    end.unwrap_or(key.len())
}

/// The parts of a text between blanks, quotes, brackets and commas, with their places. An equals sign parts a name from
/// its value, but not base64 from its padding.
fn chunks(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let parts = text.split(|c: char| c.is_whitespace() || c.is_control() || "\"'`()[]{}<>,;|\\".contains(c));
    let start = text.as_ptr() as usize;
    parts.flat_map(value_of).map(move |chunk| (chunk.as_ptr() as usize - start, chunk))
}

/// The name and the value of `name=value`, or the whole.
fn value_of(part: &str) -> impl Iterator<Item = &str> {
    let bare = part.trim_end_matches('=');
    let at = bare.rfind('=').map_or(0, |at| at + 1);
    let (names, value) = part.split_at(at);
    names.split('=').chain([value]).filter(|chunk| !chunk.is_empty())
}

/// Whether a part of a text is a credential, or holds one.
fn is_credential(chunk: &str) -> bool {
    if quote::is_program_file(chunk) {
        return false;
    }
    quote::has_password(chunk)
        || quote::has_token(chunk)
        || is_filled_up(chunk)
        || (chunk.starts_with("eyJ") && chunk.len() >= LONG_WORD)
        || quote::words(chunk).any(is_encoded)
        || chunk.split(|c| !quote::is_base64(c)).any(has_secret_key)
}

/// Whether a part ends as base64 does, and is a mixture as base64 is.
fn is_filled_up(chunk: &str) -> bool {
    let has = |class| chunk.bytes().any(|byte| Class::of(byte) == class);
    quote::is_padded(chunk)
        && chunk.len() >= 12
        && has(Class::Upper)
        && (has(Class::Digit) || has(Class::Lower))
}

/// Whether a word without a sign in it is encoded, or random. Digests are not meant.
fn is_encoded(word: &str) -> bool {
    let length = word.len();
    if word.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return false;
    }
    if ACCESS_KEYS.iter().any(|begin| word.starts_with(begin)) && length >= 16 {
        return !word.bytes().any(|byte| byte.is_ascii_lowercase());
    }
    let has = |class| word.bytes().any(|byte| Class::of(byte) == class);
    let density = if length > SECRET_KEY { DENSITY_OF_LONG } else { DENSITY };
    length >= LONG_WORD
        && (has(Class::Upper) || has(Class::Digit))
        && quote::changes(word) * density >= length
}

/// Whether a run of base64's characters holds one that is random, between slashes or ends of it. Slashes alone change
/// nothing, as paths have them.
fn has_secret_key(run: &str) -> bool {
    let seams = || run.match_indices('/').map(|(at, _)| at);
    std::iter::once(0).chain(seams().map(|at| at + 1)).any(|start| {
        let end = seams().chain([run.len()]).find(|end| *end >= start + SECRET_KEY);
        end.is_some_and(|end| is_secret_key(&run[start..end]))
    })
}

fn is_secret_key(run: &str) -> bool {
    let has = |class| run.bytes().any(|byte| Class::of(byte) == class);
    let changes: usize = quote::words(run).map(quote::changes).sum();
    has(Class::Lower) && has(Class::Upper) && has(Class::Digit) && changes * DENSITY_OF_LONG >= run.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A credential of each kind, and more of those of which the look differs.
    const CREDENTIALS: [&str; 14] = [
        "abcdef.0123456789abcdef",
        "k3y9dx.0q1w2e3r4t5y6u7i",
        "I2Nsb3VkLWNvbmZpZwpydW5jbWQ6CiAgLSBrdWJlYWRtIGpvaW4gLS10b2tlbiBhYmNkZWYuMDEyMzQ1Njc4OWFiY2RlZgo=",
        "I2Nsb3VkLWNvbmZpZwpydW5jbWQ6Cg==",
        "H4sIAAAAAAAAA0vOyS9N0U3Oz0vLTOcCAHDHkUUNAAAA",
        "c2VjcmV0LWpvaW4=",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "AKIAIOSFODNN7EXAMPLE",
        "ASIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJl",
        "https://user:password@example.com",
        "K10d8c0f2f7a3a1b9c5e6f7a8b9c0d1e2f3a4b5c6d7e8f90a1b2c3d4e5f6a7b8c9::server:0123",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAx7Zk3QvF9sWq\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN CERTIFICATE----- MIIEowIBAAKCAQEAx7Zk3QvF9sWq",
    ];

    /// What is shown as it is: AWS's words, and names that programs made.
    const PLAIN: [&str; 31] = [
        "",
        "captf-team-a-demo-pool-0-43c6d828-0123456789abcdef0123456789",
        "sha256:2fd4e1c67a2d28fced849ee1bb76e7391b93eb122fd4e1c67a2d28fced849ee1",
        "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
        "arn:aws:kms:us-east-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab",
        "arn:aws:kms:us-east-1:111122223333:key/mrk-1234abcd12ab34cd56ef1234567890ab",
        "arn:aws:iam::111122223333:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling",
        "arn:aws:sts::111122223333:assumed-role/eksctl-a-nodegroup-NodeInstanceRole-1XTPQ8ZKJ3V2M/i-0123456789abcdef0",
        "arn:aws:sts::111122223333:assumed-role/Workers-aB3dEfG7hIjK/botocore-session-1700000000",
        "arn:aws:sts::111122223333:assumed-role/AWSReservedSSO_AdministratorAccess_0123456789abcdef/x@example.com",
        "arn:aws:autoscaling:us-east-1:1:autoScalingGroup:08b91cf7-8fa6-48af-b6a6-d227f40f1b9b:autoScalingGroupName/a",
        "AmazonEC2ReadOnlyAccess and AmazonEC2ContainerRegistryReadOnly",
        "AuthFailure.ServiceLinkedRoleCreationNotPermitted: not now",
        "InvalidLaunchTemplateName.AlreadyExistsException (request 79104EXAMPLEB723)",
        "Access denied for AROAIOSFODNN7EXAMPLE0:session",
        "You have requested more vCPU capacity than your current vCPU limit of 32 allows",
        "Client.InternalError: Client error on launch",
        "We currently do not have sufficient m6i.large capacity in the Availability Zone you requested (us-east-1a).",
        "Invalid id: \"ami-0ABCDEF1234567890\" (expecting \"ami-...\")",
        "ubuntu/images/hvm-ssd/ubuntu-jammy-22.04-amd64-server-20230516",
        "/tmp/.tmpX8sK2jQ9aB/plan.deploy.0123456789abcdef.tfplan",
        "/home/ops/Deployments/Production2/EuWest1/Clusters/Pool4/inputs",
        "--tags Key=captf.io/cluster,Value=demo",
        "tags.instance[\"kubernetes.io/cluster/demo\"]",
        "https://s3.us-east-1.amazonaws.com/a-bucket/pool/demo-pool-0?x-id=PutObject",
        "export KUBELET_EXTRA_ARGS=\"${KUBELET_EXTRA_ARGS:-} --node-labels=$labels\"",
        "module.role.aws_autoscaling_group.pool_autoscaling_group[0]",
        "DescribeLaunchTemplateVersionsPaginatorConfiguration",
        "==== = a= =b",
        "größe 名前 🦀",
        "You are not authorized. Encoded authorization failure message: \
         wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY0wJalrXUtnFEMIK7MDENG-wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY0 (x)",
    ];

    #[test]
    fn credentials_are_hidden_wherever_they_stand() {
        for credential in CREDENTIALS {
            let hidden = format!("({} bytes, not shown)", credential.len());
            assert_eq!(masked(credential), hidden, "{credential}");
            if credential.ends_with("9sWq") {
                continue;
            }
            for (before, after) in [
                ("The key pair '", "' does not exist"),
                ("InvalidKeyPair.NotFound: ", ""),
                ("", " is not valid"),
                ("größe \"", "\", ami-0abcdef1234567890"),
                ("Value=", " Key=a"),
                ("A=1 B=", ""),
                ("tags[\"", "\"]"),
                ("one\n", "\ntwo"),
            ] {
                let text = format!("{before}{credential}{after} {before}{credential}{after}");
                let wanted = format!("{before}{hidden}{after} {before}{hidden}{after}");
                assert_eq!(masked(&text), wanted, "{text}");
            }
        }
    }

    #[test]
    fn strings_and_keys_of_a_document_are_masked_one_by_one() {
        for credential in CREDENTIALS {
            // The credential is the key as well.
            let document = |text: &str| {
                let key = serde_json::json!({text: format!("x {text}")});
                serde_json::json!(["a\"\\", 1.5, text, ["x\n\\"], key, "größe"]).to_string()
            };
            let hidden = format!("({} bytes, not shown)", credential.len());
            assert_eq!(masked_json(&document(credential), &[]), document(&hidden));
            assert_eq!(
                masked_json(&document(credential), &[credential, &format!("x {credential}")]),
                document(credential)
            );
        }
        for document in ["", "[]", "\"", "\"open\\", "{\"a\":\"b\"}", "[1,null]"] {
            assert_eq!(masked_json(document, &[]), document);
        }
    }

    #[test]
    fn what_is_part_of_a_name_goes_with_it() {
        let token = "abcdef.0123456789abcdef";
        for text in
            [format!("s3://{token}/pool/a"), format!("kubernetes.io/cluster/{token}"), format!("a/{token}")]
        {
            assert_eq!(masked(&text), format!("({} bytes, not shown)", text.len()));
        }
    }

    #[test]
    fn what_is_no_credential_stays() {
        for text in PLAIN {
            assert_eq!(masked(text), text);
        }
    }

    #[test]
    fn random_bytes_in_base64_are_a_credential() {
        use base64::{Engine as _, engine::general_purpose::STANDARD};
        use sha2::{Digest as _, Sha256};
        let digests = || (0_u32..2000).map(|number| Sha256::digest(number.to_be_bytes()));
        let shown =
            digests().map(|digest| STANDARD.encode(&digest[..30])).filter(|text| masked(text) == *text);
        assert!(shown.count() <= 10);
        let padded = digests().map(|digest| STANDARD.encode(digest)).filter(|text| masked(text) == *text);
        assert_eq!(padded.count(), 0);
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics_and_nothing_else_is_lost(text in "[ a-zA-Z0-9=/+.'\u{e9}-]{0,80}") {
            let shown = masked(&text);
            proptest::prop_assert_eq!(masked(&shown).into_owned(), shown.clone().into_owned());
            if !shown.contains("not shown") {
                proptest::prop_assert_eq!(&*shown, text.as_str());
            }
        }
    }
}
