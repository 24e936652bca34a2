//! Where a plan may be saved: in a new file, or over an earlier plan. Never over a file that somebody needs.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    ops::Range,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use super::root;
use crate::{
    contract::problem::{Diagnostic, sentence},
    error::{file_name, naming_user},
};

/// How a plan begins that this program saved, in every version of the format.
pub(super) const OURS: &[u8] = b"{\"machinepool_plan\":";

/// How a file of an archive begins, with the version that is needed to read it and so on behind it.
const ARCHIVED: &[u8] = b"PK\x03\x04";

/// Where the length of that file's name stands, in two bytes, and where the name does.
const NAME_LENGTH: Range<usize> = 26..28;
const NAME: usize = 30;

/// The first file in the archive that a plan of Terraform's is.
const TERRAFORMS_FIRST: &[u8] = b"tfplan";

/// As much of a file as tells whether it is a plan.
const BEGINNING: usize = NAME + TERRAFORMS_FIRST.len();

/// What inputs are read from where no other source is named, by the end of the name.
const READ_UNNAMED: [&str; 2] = ["terraform.tfvars.json", ".auto.tfvars.json"];

/// What stands for a stream where a file is named.
const STREAM: &str = "-";

/// A plan holds what only one person may read, and is whole or not there: no stream is like that.
const NO_STREAM: &str = "A plan holds bootstrap data, and is saved in a file that only its owner can read.";

/// What the command needs beside the plan.
#[derive(Debug, Default)]
pub struct Needed<'a> {
    /// The files that inputs are read from.
    pub inputs: Vec<&'a Path>,
    /// The file of the sandbox.
    pub sandbox: Option<&'a Path>,
}

/// Refuses a place for a plan at which something would be lost, or at which none can be saved; asked before
/// anything else is.
pub fn check(path: &Path, needed: &Needed<'_>) -> Result<(), Diagnostic> {
    if path.as_os_str() == STREAM || is_among_devices(path) {
        return Err(refused(path, NO_STREAM, "Give -out the name of a file."));
    }
    if needed.inputs.iter().any(|input| is_same(path, input)) {
        return Err(lost(path, "It is a file of inputs (-var-file): the inputs are read from it."));
    }
    if needed.sandbox.is_some_and(|sandbox| is_same(path, sandbox)) {
        return Err(lost(path, "It is the file of the sandbox."));
    }
    if is_read_unnamed(path) {
        return Err(lost(
            path,
            "Every command in this directory reads a file of that name, and for something else.",
        ));
    }
    if let Some(directory) = path.parent().filter(|parent| !parent.as_os_str().is_empty())
        && !directory.is_dir()
    {
        let reason = format!("There is no directory {}.", file_name(directory));
        return Err(refused(path, &reason, "Make it, or give -out another name."));
    }
    check_content(path)
}

/// Refuses a place at which there is anything but a plan or an empty file.
pub(super) fn check_content(path: &Path) -> Result<(), Diagnostic> {
    let there = match fs::metadata(path) {
        Ok(there) => there,
        // A link that leads nowhere is replaced.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(unreadable(path, error)),
    };
    if there.is_dir() {
        return Err(refused(path, "It is a directory.", "Give -out the name of a file."));
    }
    if !there.is_file() {
        return Err(refused(
            path,
            &format!("It is no regular file. {NO_STREAM}"),
            "Give -out the name of one.",
        ));
    }
    let beginning = beginning(path).map_err(|error| unreadable(path, error))?;
    if beginning.is_empty() || beginning.starts_with(OURS) || is_terraforms(&beginning) {
        return Ok(());
    }
    Err(refused(
        path,
        "The file that is there is no saved plan.",
        "A plan would take its place. Give -out another name, or remove the file first.",
    ))
}

/// Whether a file begins as a plan does that Terraform or OpenTofu saved. Other archives are somebody's.
pub(super) fn is_terraforms(bytes: &[u8]) -> bool {
    let length = bytes.get(NAME_LENGTH).and_then(|length| length.try_into().ok()).map(u16::from_le_bytes);
    bytes.starts_with(ARCHIVED)
        && length.map(usize::from) == Some(TERRAFORMS_FIRST.len())
        && bytes.get(NAME..BEGINNING) == Some(TERRAFORMS_FIRST)
}

fn beginning(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(BEGINNING as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether two names are those of one file, also of one that is not there yet.
fn is_same(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => located(one).is_some_and(|place| located(other) == Some(place)),
    }
}

/// A file's directory without links and detours, and its name in there.
pub(super) fn located(path: &Path) -> Option<(PathBuf, &std::ffi::OsStr)> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some((fs::canonicalize(parent).ok()?, path.file_name()?))
}

/// Whether a name stands among devices and open files: `/dev/stdout` is one of a regular file, too, once that is
/// redirected, and must not be replaced.
fn is_among_devices(path: &Path) -> bool {
    located(path)
        .is_some_and(|(directory, _)| directory == Path::new("/dev") || directory.starts_with("/proc"))
}

/// Whether commands read a file of that name in the working directory without being told to.
fn is_read_unnamed(path: &Path) -> bool {
    let here = fs::canonicalize(".").ok();
    let Some((directory, name)) = located(path) else { return false };
    let name = name.to_string_lossy();
    here == Some(directory)
        && (name == root::FILE || name == READ_UNNAMED[0] || name.ends_with(READ_UNNAMED[1]))
}

fn lost(path: &Path, what: &str) -> Diagnostic {
    refused(path, what, "A plan there would take its place. Give -out another name.")
}

fn unreadable(path: &Path, error: io::Error) -> Diagnostic {
    let reason = format!(
        "Whether a saved plan is there cannot be seen: {}",
        sentence(&naming_user(error).to_string())
    );
    refused(path, &reason, "Give -out another name.")
}

fn refused(path: &Path, reason: &str, instead: &str) -> Diagnostic {
    Diagnostic::error(format!("Cannot save the plan in {}", file_name(path)), format!("{reason} {instead}"))
}
