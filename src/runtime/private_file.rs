//! Files that hold secrets: written whole or not at all, and readable by their owner only.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use crate::error::naming_user;

/// Read and write for the owner, nothing for anybody else.
const MODE: u32 = 0o600;

/// Writes `bytes` to `path` with mode 0600, whatever was there before. Whoever reads it finds the old
/// content or the new one, also after the machine has crashed.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, bytes, File::sync_all).map_err(naming_user)
}

/// The same without waiting for the disk: for what nobody needs after a crash of the machine.
pub fn write_passing(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, bytes, |_| Ok(())).map_err(naming_user)
}

fn replace(path: &Path, bytes: &[u8], settle: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
    // A device or a directory is nothing that a file could take the place of.
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "there is something else than a file"));
    }
    let temporary = beside(path)?;
    // One of the same name is left from a process that was killed.
    match fs::remove_file(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let written =
        fill(&temporary, bytes).and_then(|file| settle(&file)).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The first error is the one worth telling.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn fill(path: &Path, bytes: &[u8]) -> io::Result<File> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(MODE).open(path)?;
    file.write_all(bytes)?;
    Ok(file)
}

/// A name in the same directory, so that renaming it is one step.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let name =
        path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it is no file name"))?;
    let mut temporary = OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{}.{:?}.tmp", std::process::id(), std::thread::current().id()));
    Ok(path.with_file_name(temporary))
}

/// Reads a file of at most `largest` bytes; what is larger is an error.
pub fn read(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(naming_user)?;
    file.take(largest.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > largest {
        let message = format!("it is larger than {} MiB", largest >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_the_owner_reads_it_and_nothing_else_is_left() {
        for write in [write, write_passing] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("secret");
            fs::write(&path, "old and open to all, and longer").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            write(&path, b"new").unwrap();
            assert_eq!(read(&path, 3).unwrap(), b"new");
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        }
    }

    #[test]
    fn a_failed_write_leaves_what_was_there() {
        let directory = tempfile::tempdir().unwrap();
        let taken = directory.path().join("taken");
        fs::create_dir(&taken).unwrap();
        assert!(write(&taken, b"new").is_err());
        assert!(write(Path::new("/dev/null"), b"new").is_err());
        assert!(write(&directory.path().join("missing/x"), b"new").is_err());
        assert!(write(Path::new("/"), b"new").is_err());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_too_large_is_not_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("large");
        fs::write(&path, "four").unwrap();
        assert!(read(&path, 3).is_err() && read(&path, 4).is_ok());
    }
}
