//! The sandbox's file: one JSON document, always whole, owned by one call at a time.

use std::{
    ffi::OsString,
    fs::{self, File, FileType, Metadata, OpenOptions, TryLockError},
    io::{self, Read as _, Write as _},
    os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use super::world::World;
use crate::error::{file_name, naming_user};

/// The format that this program writes and reads.
const FORMAT: u32 = 1;

/// No account is larger; what is (a wrong file) is not read to its end. In bytes.
const LARGEST: u64 = 256 << 20;

/// How long the call of another run is waited for. One call takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// Between two looks whether the file is free.
const PAUSE: Duration = Duration::from_millis(20);

/// What to do about a file that holds no account.
const REMEDY: &str = "Use another file, or delete it to begin anew.";

/// A sandbox file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the sandbox file {path} {reason}", path = file_name(.path))]
pub struct SandboxError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it, as the rest of a sentence that begins with the file.
    pub reason: String,
}

/// What the file holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Content {
    format: u32,
    /// How far the sandbox's clock is ahead of the machine's.
    pub(super) clock_offset_ms: u64,
    /// The account.
    pub(super) world: World,
}

impl Content {
    pub(super) fn new(world: World) -> Self {
        Self { format: FORMAT, clock_offset_ms: 0, world }
    }
}

/// Only the format, so that a newer file is told from a broken one.
#[derive(Deserialize)]
struct Header {
    format: u32,
}

/// Where the file is.
#[derive(Debug)]
pub(super) struct Store {
    path: PathBuf,
}

/// The file while nobody else can change it.
#[derive(Debug)]
pub(super) struct Locked {
    _file: File,
    /// Its text.
    pub(super) text: String,
}

impl Store {
    /// Opens the file, after making it from `content` if it is not there or empty. Answers its text as well.
    pub(super) fn open(path: &Path, content: &Content) -> Result<(Self, String), SandboxError> {
        let mut store = Self { path: path.to_owned() };
        match fs::metadata(path) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound && path.is_symlink() => {
                return Err(store.dangling());
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                store.create().map_err(|error| store.not_created(error))?;
            }
            Err(error) => return Err(store.error("could not be opened", error)),
        }
        // Written by replacing, so a symbolic link must be followed first.
        store.path = fs::canonicalize(path).map_err(|error| store.error("could not be opened", error))?;
        let locked = store.lock()?;
        if locked.text.is_empty() {
            let text = store.render(content)?;
            store.replace(&locked, &text)?;
            return Ok((store, text));
        }
        Ok((store, locked.text))
    }

    /// Waits until no other process is in the middle of a call, and reads.
    pub(super) fn lock(&self) -> Result<Locked, SandboxError> {
        self.lock_within(PATIENCE)
    }

    /// As [`Self::lock`], but waits only so long. The process cannot do anything else meanwhile.
    pub(super) fn lock_within(&self, patience: Duration) -> Result<Locked, SandboxError> {
        let unread = |error: io::Error| self.error("could not be read", error);
        let begin = Instant::now();
        loop {
            self.refuse_unless_plain(&fs::metadata(&self.path).map_err(unread)?)?;
            let file = File::open(&self.path).map_err(unread)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) if begin.elapsed() < patience => {
                    thread::sleep(PAUSE);
                    continue;
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(self.refusal("is in use by another run; try again when that one has ended"));
                }
                Err(TryLockError::Error(error)) => return Err(unread(error)),
            }
            // The lock is on what was opened; somebody may have put another file in its place since.
            let (opened, present) =
                (file.metadata().map_err(unread)?, fs::metadata(&self.path).map_err(unread)?);
            if (opened.dev(), opened.ino()) == (present.dev(), present.ino()) {
                let text = self.read(&file)?;
                return Ok(Locked { _file: file, text });
            }
        }
    }

    /// Pipes and devices have no content to come back to, and some of them no end.
    fn refuse_unless_plain(&self, metadata: &Metadata) -> Result<(), SandboxError> {
        if !metadata.is_file() {
            let what = kind(metadata.file_type());
            return Err(self.refusal(format!("is {what}; a sandbox is kept in a regular file")));
        }
        if metadata.len() > LARGEST {
            return Err(self.too_large());
        }
        Ok(())
    }

    fn read(&self, file: &File) -> Result<String, SandboxError> {
        let mut bytes = Vec::new();
        file.take(LARGEST + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| self.error("could not be read", error))?;
        if bytes.len() as u64 > LARGEST {
            return Err(self.too_large());
        }
        String::from_utf8(bytes).map_err(|_| self.refusal(format!("is not a sandbox file. {REMEDY}")))
    }

    pub(super) fn parse(&self, text: &str) -> Result<Content, SandboxError> {
        match serde_json::from_str::<Content>(text) {
            Ok(content) if content.format == FORMAT => Ok(content),
            outcome => Err(self.unknown(text, outcome.err())),
        }
    }

    /// Why a text that is no account of this program's format is none: another format, or not even that.
    fn unknown(&self, text: &str, error: Option<serde_json::Error>) -> SandboxError {
        let header: Header = match serde_json::from_str(text) {
            Ok(header) => header,
            Err(error) => return self.refusal(format!("is not a sandbox file{}. {REMEDY}", place(&error))),
        };
        if header.format != FORMAT {
            return self.refusal(format!(
                "has format {}, this program knows format {FORMAT}; use another file, or the program that \
                 wrote it",
                header.format
            ));
        }
        let place = error.as_ref().map(place).unwrap_or_default();
        self.refusal(format!("is damaged, or another version wrote it{place}. {REMEDY}"))
    }

    pub(super) fn render(&self, content: &Content) -> Result<String, SandboxError> {
        let text = serde_json::to_string_pretty(content);
        text.map(|text| text + "\n")
            .map_err(|error| self.error("could not be written", io::Error::other(error)))
    }

    /// Puts the text in the file's place. The lock shows that nobody else is about to.
    pub(super) fn replace(&self, _lock: &Locked, text: &str) -> Result<(), SandboxError> {
        if text.len() as u64 > LARGEST {
            return Err(self.refusal(format!("would be larger than {} MiB", LARGEST >> 20)));
        }
        let new = self.new_text();
        write_new(&new, text)
            .and_then(|()| fs::rename(&new, &self.path).inspect_err(|_| discard(&new)))
            .map_err(|error| {
                self.error("could not be written (it is replaced by a new file beside it)", error)
            })
    }

    /// Makes the file, empty as yet; one that somebody else made meanwhile stays.
    fn create(&self) -> io::Result<()> {
        match private().open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made.map(drop),
        }
    }

    /// Where the next text is written before it takes the file's place. Only who holds the lock does, so that what a
    /// run left there that was killed is nobody's.
    pub(super) fn new_text(&self) -> PathBuf {
        let mut name = OsString::from(".");
        name.push(self.path.file_name().unwrap_or_default());
        name.push(".new");
        self.path.with_file_name(name)
    }

    fn dangling(&self) -> SandboxError {
        let target = fs::read_link(&self.path).unwrap_or_default();
        self.refusal(format!("is a symbolic link to {}, which does not exist", file_name(&target)))
    }

    fn too_large(&self) -> SandboxError {
        self.refusal(format!("is larger than {} MiB, so it is not a sandbox file. {REMEDY}", LARGEST >> 20))
    }

    fn not_created(&self, error: io::Error) -> SandboxError {
        let directory = self.path.parent().filter(|directory| !directory.exists());
        match directory.filter(|_| error.kind() == io::ErrorKind::NotFound) {
            Some(directory) => {
                self.refusal(format!("could not be created: there is no directory {}", file_name(directory)))
            }
            None => self.error("could not be created", error),
        }
    }

    fn error(&self, what: &str, error: io::Error) -> SandboxError {
        self.refusal(format!("{what}: {}", naming_user(error)))
    }

    fn refusal(&self, reason: impl Into<String>) -> SandboxError {
        SandboxError { path: self.path.clone(), reason: reason.into() }
    }
}

/// What something is that is no regular file.
fn kind(file_type: FileType) -> &'static str {
    if file_type.is_dir() {
        "a directory"
    } else if file_type.is_fifo() {
        "a pipe"
    } else if file_type.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

/// Where a text stops being what it should, behind a blank.
fn place(error: &serde_json::Error) -> String {
    match error.line() {
        0 => String::new(),
        line => format!(" (line {line}, column {})", error.column()),
    }
}

/// How a file is made that was not there: for nobody else to read. A symbolic link is not followed.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    options
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let written = private().open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.inspect_err(|_| discard(path))
}

/// A temporary file that cannot be removed is not worth a second error.
fn discard(temporary: &Path) {
    let _ = fs::remove_file(temporary);
}
