//! Credentials in texts that are shown, whoever wrote them: taken out, and the rest left as it is.
//!
//! A value that is refused is repeated only if it looks harmless: see [`quote`](super::quote). A value that was taken,
//! and what AWS says of it, is shown to be read, and names that programs made look as random as keys do. So only what
//! can hardly be anything else is left out.

use std::{borrow::Cow, collections::BTreeMap, ops::Range};

use super::quote::{self, Class};

/// The length of an AWS secret access key, in bytes; what is random and shorter can be an id.
const SECRET_KEY: usize = 40;

/// The least length of base64 that is filled up, and of what begins as encoded data does, in bytes.
const PADDED: usize = 24;
const BEGUN: usize = 16;

/// Of so many random characters one is a small letter at least, and one is a capital.
const LETTERS: usize = 8;

/// How bootstrap data begins once it is encoded: `#cloud-config`, `#cloud-boothook`, `#include`, `## template:`,
/// `#!/bin/`, `#!/usr/`, `Content-Type`, `MIME-Version`, `apiVersion`, `{"`, `{` on a line of its own, gzip, PEM.
const BEGINNINGS: [&str; 13] = [
    "I2Nsb3VkLWNvbmZpZ",
    "I2Nsb3VkLWJvb3Rob29r",
    "I2luY2x1ZG",
    "IyMgdGVtcGxhdGU6",
    "IyEvYmluL",
    "IyEvdXNyL",
    "Q29udGVudC1UeXBl",
    "TUlNRS1WZXJzaW9u",
    "YXBpVmVyc2lvb",
    "eyJ",
    "ewogI",
    "H4sI",
    "LS0tLS1CRUdJT",
];

/// How AWS announces an answer that only `aws sts decode-authorization-message` can read: it is encrypted, and needed.
const ENCODED_ANSWER: &str = "authorization failure message:";

const PEM_BEGIN: &str = "-----BEGIN";
const PEM_END: &str = "-----END";
const PEM_STOP: &str = "-----";

/// A text with its size in the place of each credential in it.
pub(crate) fn masked(text: &str) -> Cow<'_, str> {
    let hidden = credentials(text);
    if hidden.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(without(text, hidden)) }
}

/// The same in place.
pub(crate) fn mask(text: &mut String) {
    if let Cow::Owned(shown) = masked(text) {
        *text = shown;
    }
}

/// The same line by line, with the ends of the lines: as many lines as the text has.
pub(crate) fn masked_lines(text: &str) -> Vec<String> {
    let hidden = credentials(text);
    let mut start = 0;
    let mut lines = Vec::new();
    for line in text.split_inclusive('\n') {
        let end = start + line.trim_end_matches('\n').len();
        let first = hidden.partition_point(|range| range.end <= start);
        let here = hidden[first..].iter().take_while(|range| range.start.max(start) < end);
        let here = here.map(|range| range.start.max(start) - start..range.end.min(end) - start);
        lines.push(without(line, here));
        start += line.len();
    }
    lines
}

/// A JSON document, of which each string and key is masked that is none of those to be kept. Texts that look the same
/// then, and are not, are numbered.
pub(crate) fn masked_json<'a>(document: &'a str, kept: &[&str]) -> Cow<'a, str> {
    let mut names = Names::default();
    let mut shown = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(literal) = next_literal(document, at) {
        at = literal.end;
        let Ok(text) = serde_json::from_str::<String>(&document[literal.clone()]) else { continue };
        if kept.contains(&text.as_str()) {
            continue;
        }
        let Cow::Owned(name) = masked(&text) else { continue };
        shown.push_str(&document[copied..literal.start]);
        shown.push_str(&serde_json::Value::String(names.name(text, name)).to_string());
        copied = literal.end;
    }
    if copied == 0 { Cow::Borrowed(document) } else { Cow::Owned(shown + &document[copied..]) }
}

/// What is shown in the place of which text.
#[derive(Default)]
struct Names {
    given: BTreeMap<String, String>,
    numbers: BTreeMap<String, usize>,
}

impl Names {
    fn name(&mut self, text: String, name: String) -> String {
        let number = &mut self.numbers;
        let new = || {
            let number = number.entry(name.clone()).or_default();
            *number += 1;
            if *number == 1 { name } else { format!("{name} ({number})") }
        };
        self.given.entry(text).or_insert_with(new).clone()
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

/// A text with sizes in the place of parts of it, which are in order.
fn without(text: &str, hidden: impl IntoIterator<Item = Range<usize>>) -> String {
    let mut shown = String::new();
    let mut copied = 0;
    for range in hidden {
        shown.push_str(&text[copied..range.start]);
        shown.push_str(&size(range.len()));
        copied = range.end;
    }
    shown + &text[copied..]
}

fn size(bytes: usize) -> String {
    format!("({bytes} bytes, not shown)")
}

/// Where credentials lie in a text, in order; none touches another's bytes. Nothing is looked at more than a few times,
/// however long the text is.
fn credentials(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(begin) = text[at..].find(PEM_BEGIN).map(|begin| at + begin) {
        beside_blocks(text, at..begin, &mut found);
        at = begin + pem_length(&text[begin..]);
        found.push(begin..at);
    }
    beside_blocks(text, at..text.len(), &mut found);
    found.sort_by_key(|range| range.start);
    found.dedup_by(|next, last| {
        let overlaps = next.start < last.end;
        if overlaps {
            last.end = last.end.max(next.end);
        }
        overlaps
    });
    found
}

/// How long the PEM block is that a text begins with. One without an end goes on to the last byte.
fn pem_length(text: &str) -> usize {
    let end = text.find(PEM_END).and_then(|end| {
        let behind = end + PEM_END.len();
        text[behind..].find(PEM_STOP).map(|stop| behind + stop + PEM_STOP.len())
    });
    end.unwrap_or(text.len())
}

/// Whether nothing that is looked for goes on across a character. An equals sign parts a name from its value.
fn is_seam(c: char) -> bool {
    c.is_whitespace() || c.is_control() || "\"'`()[]{}<>,;|\\=".contains(c)
}

/// The credentials in a part of a text in which no PEM block is.
fn beside_blocks(text: &str, part: Range<usize>, found: &mut Vec<Range<usize>>) {
    for (at, word) in pieces(&text[part.clone()], is_seam) {
        let start = part.start + at;
        if word.starts_with("arn:") || text[..start].trim_end().ends_with(ENCODED_ANSWER) {
            continue;
        }
        let mut in_word: Vec<Range<usize>> = bootstrap_tokens(word).chain(cluster_token(word)).collect();
        // The way to an object has names in it that others gave.
        if !word.starts_with("s3://") {
            in_word.extend(web_tokens(word));
            in_word.extend(pieces(word, |c| !quote::is_base64(c)).filter_map(|(at, run)| {
                encoded_length(run, &text[..start + at], &text[start + at + run.len()..])
                    .map(|length| at..at + length)
            }));
        }
        found.extend(in_word.into_iter().map(|range| start + range.start..start + range.end));
    }
    let passwords = passwords(&text[part.clone()]);
    found.extend(passwords.map(|range| part.start + range.start..part.start + range.end));
}

/// The parts of a text between seams, with their places.
fn pieces(text: &str, is_seam: impl Fn(char) -> bool) -> impl Iterator<Item = (usize, &str)> {
    let start = text.as_ptr() as usize;
    text.split(is_seam)
        .filter(|piece| !piece.is_empty())
        .map(move |piece| (piece.as_ptr() as usize - start, piece))
}

/// Bootstrap tokens: six characters, a dot, sixteen characters. In a longer word, or a name of more parts, there is none.
fn bootstrap_tokens(word: &str) -> impl Iterator<Item = Range<usize>> {
    let is_plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    word.match_indices('.').filter_map(move |(dot, _)| {
        let place = dot.checked_sub(6)?..dot + 17;
        let bytes = word.as_bytes();
        let (id, secret) = (&bytes[place.start..dot], bytes.get(dot + 1..place.end)?);
        let is_whole = !goes_on(bytes[..place.start].iter().rev()) && !goes_on(bytes[place.end..].iter());
        (is_whole && id.iter().chain(secret).all(is_plain)).then_some(place)
    })
}

/// Whether a name goes on there: with a letter or a digit, or with one behind a dot.
fn goes_on<'a>(mut bytes: impl Iterator<Item = &'a u8>) -> bool {
    let next = bytes.next().filter(|byte| **byte != b'.').or_else(|| bytes.next());
    next.is_some_and(u8::is_ascii_alphanumeric)
}

/// The token with which servers join a cluster of RKE2: it goes on to the end of the word.
fn cluster_token(word: &str) -> Option<Range<usize>> {
    const BEGIN: &str = "K10";
    let is_token = |rest: &str| {
        let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).take(65).count();
        digits == 64 && rest[digits..].starts_with("::")
    };
    let (at, _) = word.match_indices(BEGIN).find(|(at, _)| is_token(&word[at + BEGIN.len()..]))?;
    Some(at..word.len())
}

/// JSON web tokens.
fn web_tokens(word: &str) -> impl Iterator<Item = Range<usize>> {
    pieces(word, |c| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '.'))
        .filter(|(_, piece)| piece.starts_with("eyJ") && piece.contains('.') && piece.len() >= BEGUN)
        .map(|(at, piece)| at..at + piece.len())
}

/// Passwords in URLs. One with a slash in it is not found: the URL would be another one.
fn passwords(text: &str) -> impl Iterator<Item = Range<usize>> {
    const BEGIN: &str = "://";
    let is_end = |c: char| c.is_whitespace() || c.is_control() || "/?#\"<>`\\".contains(c);
    text.match_indices(BEGIN).filter_map(move |(at, _)| {
        let begin = at + BEGIN.len();
        let length = text[begin..].find(is_end).unwrap_or(text.len() - begin);
        let user = &text[begin..begin + text[begin..begin + length].rfind('@')?];
        let password = begin + user.find(':')? + 1..begin + user.len();
        (!password.is_empty()).then_some(password)
    })
}

/// How long a run of base64's characters is with what fills it up, if it is encoded data or a key.
fn encoded_length(run: &str, before: &str, after: &str) -> Option<usize> {
    let filling = filling(run, before, after);
    let length = run.len() + filling;
    let is_begun = || length >= BEGUN && BEGINNINGS.iter().any(|begin| run.starts_with(begin));
    let is_encoded = || match (filling, run.len()) {
        (0, SECRET_KEY) => is_random(run, 5),
        (0, _) => length > SECRET_KEY && is_random(run, 4),
        _ => length >= PADDED && is_random(run, 5),
    };
    (is_begun() || is_encoded()).then_some(length)
}

/// How many equals signs fill a run up. One with something behind it does not: it parts a name from its value.
fn filling(run: &str, before: &str, after: &str) -> usize {
    let bare = after.trim_start_matches('=');
    let signs = after.len() - bare.len();
    let is_end = |c: char| c.is_whitespace() || ")]}\\".contains(c);
    let ends = match bare.chars().next() {
        Some(quote @ ('"' | '\'' | '`')) => before.ends_with(quote),
        next => next.is_none_or(is_end),
    };
    if ends && signs <= 2 && (run.len() + signs).is_multiple_of(4) { signs } else { 0 }
}

/// Whether a run has the mixture of random bytes: characters of all kinds, of which one in `density` at least is of
/// another kind than the one before it. Slashes change nothing, as paths have them, and neither do digests.
fn is_random(run: &str, density: usize) -> bool {
    let count = |class| run.bytes().filter(|byte| Class::of(*byte) == class).count();
    let is_digest = |word: &&str| word.trim_start_matches('g').bytes().all(|byte| byte.is_ascii_hexdigit());
    let words = run.split(['/', '+']).filter(|word| !is_digest(word));
    count(Class::Digit) > 0
        && count(Class::Lower).min(count(Class::Upper)) * LETTERS >= run.len()
        && words.map(quote::changes).sum::<usize>() * density >= run.len()
}

#[cfg(test)]
#[path = "mask_tests.rs"]
mod tests;
