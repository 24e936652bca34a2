//! What `init` leaves for the commands that follow: one file in the data directory.

use std::{fs, io, path::Path};

use serde::{Deserialize, Serialize};

use super::Settings;
use crate::{
    contract::problem::sentence,
    error::{Failure, Kind, naming_user},
    runtime::private_file,
};

/// Under `TF_DATA_DIR`.
const FILE: &str = "machinepool-backend.json";

/// The format that this program writes and reads.
const FORMAT: u32 = 1;

/// No settings are larger: what makes them up is not, either. In bytes.
const LARGEST: u64 = 16 << 20;

#[derive(Serialize)]
struct Written<'a> {
    format: u32,
    settings: &'a Settings,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    format: u32,
    settings: Settings,
}

impl Settings {
    /// Writes the settings under `directory`, which is made if it is not there. The file belongs to its
    /// owner alone, as it may hold a token, and is always whole.
    pub fn record(&self, directory: &Path) -> Result<(), Failure> {
        let path = directory.join(FILE);
        let content = serde_json::to_vec(&Written { format: FORMAT, settings: self });
        content.map_err(io::Error::other).and_then(|bytes| replace(&path, &bytes)).map_err(|error| {
            Failure::new(
                Kind::Local,
                format!("The backend settings cannot be recorded in {}: {error}", path.display()),
                "TF_DATA_DIR names the directory; it must be writable.",
            )
        })
    }

    /// The settings that `init` recorded under `directory`.
    pub fn recorded(directory: &Path) -> Result<Self, Failure> {
        let path = directory.join(FILE);
        let bytes = match private_file::read(&path, LARGEST) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(run_init(
                    "Backend initialization required: run init first",
                    &path,
                    "is not there",
                ));
            }
            Err(error) => return Err(unusable(&path, &format!("cannot be read: {error}"))),
        };
        // What the parser says is left out: it may quote a token.
        match serde_json::from_slice::<Read>(&bytes) {
            Ok(Read { format: FORMAT, settings }) => Ok(settings),
            Ok(_) => Err(unusable(&path, "is of another version of this program")),
            Err(_) => Err(unusable(&path, "is damaged or of another version of this program")),
        }
    }
}

fn unusable(path: &Path, fault: &str) -> Failure {
    run_init("The recorded backend settings cannot be used: run init again", path, fault)
}

fn run_init(summary: &str, path: &Path, fault: &str) -> Failure {
    Failure::new(Kind::Local, summary, format!("{} {}", path.display(), sentence(fault)))
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).map_err(naming_user)?;
    // `init` comes before every operation, so also after a crash.
    private_file::write_passing(path, bytes)
}
