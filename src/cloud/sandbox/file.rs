//! The sandbox's file: one JSON document, always whole, owned by one call at a time.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::world::World;

/// The format that this program writes and reads.
const FORMAT: u32 = 1;

/// A sandbox file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the sandbox file {path} {reason}", path = .path.display())]
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
    /// Opens the file, after making it from `content` if it is not there.
    pub(super) fn open(path: &Path, content: &Content) -> Result<Self, SandboxError> {
        let store = Self { path: path.to_owned() };
        let text = store.render(content)?;
        if !path.exists() {
            store.create(&text).map_err(|error| store.error("could not be created", &error))?;
        }
        // Written by replacing, so a symbolic link must be followed first.
        let path = fs::canonicalize(path).map_err(|error| store.error("could not be opened", &error))?;
        Ok(Self { path })
    }

    /// Waits until no other process is in the middle of a call, and reads.
    pub(super) fn lock(&self) -> Result<Locked, SandboxError> {
        self.try_lock().map_err(|error| self.error("could not be read", &error))
    }

    fn try_lock(&self) -> io::Result<Locked> {
        loop {
            let mut file = File::open(&self.path)?;
            file.lock()?;
            // The lock is on what was opened; somebody may have put another file in its place since.
            let (opened, present) = (file.metadata()?, fs::metadata(&self.path)?);
            if (opened.dev(), opened.ino()) == (present.dev(), present.ino()) {
                let mut text = String::new();
                file.read_to_string(&mut text)?;
                return Ok(Locked { _file: file, text });
            }
        }
    }

    pub(super) fn parse(&self, text: &str) -> Result<Content, SandboxError> {
        let broken = |error: serde_json::Error| self.error("is not a sandbox file", &error);
        let header: Header = serde_json::from_str(text).map_err(broken)?;
        if header.format != FORMAT {
            let reason = format!(
                "has format {}, this program knows format {FORMAT}; use another file, or the program that \
                 wrote it",
                header.format
            );
            return Err(SandboxError { path: self.path.clone(), reason });
        }
        serde_json::from_str(text).map_err(broken)
    }

    pub(super) fn render(&self, content: &Content) -> Result<String, SandboxError> {
        let text = serde_json::to_string_pretty(content);
        text.map(|text| text + "\n").map_err(|error| self.error("could not be written", &error))
    }

    /// Puts the text in the file's place. The lock shows that nobody else is about to.
    pub(super) fn replace(&self, _lock: &Locked, text: &str) -> Result<(), SandboxError> {
        self.write_beside(text)
            .and_then(|temporary| fs::rename(&temporary, &self.path).inspect_err(|_| discard(&temporary)))
            .map_err(|error| self.error("could not be written", &error))
    }

    /// Makes the file; one that somebody else made meanwhile stays.
    fn create(&self, text: &str) -> io::Result<()> {
        let temporary = self.write_beside(text)?;
        let linked = fs::hard_link(&temporary, &self.path);
        discard(&temporary);
        match linked {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        }
    }

    /// A name in the same directory that nobody else uses at the same time.
    pub(super) fn temporary(&self) -> PathBuf {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let (process, thread) = (std::process::id(), std::thread::current().id());
        self.path.with_file_name(format!(".{name}.{process}.{thread:?}.tmp"))
    }

    fn write_beside(&self, text: &str) -> io::Result<PathBuf> {
        let temporary = self.temporary();
        let written = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&temporary)
            .and_then(|mut file| file.write_all(text.as_bytes()));
        written.inspect_err(|_| discard(&temporary)).map(|()| temporary)
    }

    fn error(&self, what: &str, error: &dyn std::error::Error) -> SandboxError {
        SandboxError { path: self.path.clone(), reason: format!("{what}: {error}") }
    }
}

/// A temporary file that cannot be removed is not worth a second error.
fn discard(temporary: &Path) {
    let _ = fs::remove_file(temporary);
}
