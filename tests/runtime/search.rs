//! Looks for secrets: as they are, in hexadecimal digits, in base64 wherever it begins, packed, or any of them in
//! another.

use std::{
    collections::BTreeSet,
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// What a secret is called, and a part of it that shows nowhere else. One may have several parts.
pub(crate) type Secret<'a> = (&'static str, &'a str);

/// How many encodings are looked through.
const DEPTH: u32 = 4;

/// Base64 shorter than this holds no secret.
const SHORTEST: usize = 16;

/// Which secrets some bytes hold.
pub(crate) fn found(bytes: &[u8], secrets: &[Secret<'_>]) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    let needles: Vec<_> = secrets.iter().map(|(name, part)| (*name, forms(part))).collect();
    search(bytes, &needles, DEPTH, &mut found);
    found
}

/// What a part may look like, also where the text around it is cut off so that nothing can be decoded.
fn forms(part: &str) -> Vec<String> {
    let shifted = |by: usize| {
        let whole = STANDARD.encode(format!("{}{part}", "x".repeat(by)));
        // Neither end depends on the part alone.
        whole[4..whole.len() - 4].to_owned()
    };
    let hex = part.bytes().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    vec![part.to_owned(), shifted(0), shifted(1), shifted(2), hex]
}

fn search(
    bytes: &[u8],
    needles: &[(&'static str, Vec<String>)],
    depth: u32,
    found: &mut BTreeSet<&'static str>,
) {
    let text = String::from_utf8_lossy(bytes);
    let holds = |forms: &[String]| forms.iter().any(|form| text.contains(form.as_str()));
    found.extend(needles.iter().filter(|(_, forms)| holds(forms)).map(|(name, _)| name));
    if depth == 0 {
        return;
    }
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut unpacked = Vec::new();
        // Half a secret would be found as well.
        let _ = flate2::read::GzDecoder::new(bytes).read_to_end(&mut unpacked);
        search(&unpacked, needles, depth - 1, found);
    }
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    for run in bytes.split(|byte| !is_base64(byte)).filter(|run| run.len() >= SHORTEST) {
        // It may begin at any of four places of a group, as where something was cut.
        for rest in (0..4).map(|start| &run[start..]) {
            if let Ok(decoded) = STANDARD.decode(&rest[..rest.len() / 4 * 4]) {
                search(&decoded, needles, depth - 1, found);
            }
        }
    }
}

/// Every file below a directory.
pub(crate) fn files(directory: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { all.extend(files(&path)) } else { all.push(path) }
    }
    all
}

#[test]
fn the_search_finds_what_it_must() {
    const SECRETS: [Secret<'static>; 2] = [("token", "pl4nted.j0in-t0ken"), ("key", "pl4ntedkey-01")];
    let text = "#cloud-config\n# 1\nwrite_files:\n- content: |\n    token: pl4nted.j0in-t0ken-of-a-n0de\n";
    let packed = |bytes: &[u8]| {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut packer, bytes).unwrap();
        STANDARD.encode(packer.finish().unwrap())
    };
    let plain = STANDARD.encode(text);
    let state = packed(format!("{{\"a\": \"{plain}\"}}").as_bytes());
    let hex = text.bytes().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    for held in [
        text,
        &plain,
        &packed(text.as_bytes()),
        &format!("x{plain}"),
        &plain[30..],
        &format!("data: {state}"),
        &STANDARD.encode(&plain),
        &hex,
        &STANDARD.encode(format!("ab{text}")),
    ] {
        assert_eq!(found(held.as_bytes(), &SECRETS), ["token"].into(), "{held}");
    }
    assert_eq!(found(b"\"pl4ntedkey-0123\"", &SECRETS), ["key"].into());
    for other in [&plain[..30], &STANDARD.encode("other"), ""] {
        assert!(found(other.as_bytes(), &SECRETS).is_empty(), "{other}");
    }
}
