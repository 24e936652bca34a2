//! The program as a person or a script meets it: every test runs the binary in an empty environment.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

#[path = "cli/approval.rs"]
mod approval;
#[path = "cli/corpus.rs"]
mod corpus;
#[path = "cli/docs.rs"]
mod docs;
#[path = "cli/doctor.rs"]
mod doctor;
#[cfg(feature = "aws")]
#[path = "cli/elsewhere.rs"]
mod elsewhere;
#[path = "cli/fleet.rs"]
mod fleet;
#[path = "cli/help.rs"]
mod help;
#[path = "cli/hostile.rs"]
mod hostile;
#[path = "cli/inputs.rs"]
mod inputs;
#[path = "cli/misplaced.rs"]
mod misplaced;
#[path = "cli/module.rs"]
mod module;
#[path = "cli/pages.rs"]
mod pages;
#[path = "cli/plan_out.rs"]
mod plan_out;
#[path = "cli/policy.rs"]
mod policy;
#[path = "cli/runtime.rs"]
mod runtime;
#[path = "cli/sandbox.rs"]
mod sandbox;
#[path = "cli/status.rs"]
mod status;
#[path = "cli/surface.rs"]
mod surface;
#[path = "cli/unheeded.rs"]
mod unheeded;
#[path = "cli/watch.rs"]
mod watch;

use std::{
    ffi::OsStr,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// A directory of its own and the program in it.
struct Bench {
    directory: tempfile::TempDir,
}

/// What a run left behind.
struct Outcome {
    code: i32,
    out: String,
    err: String,
}

impl Bench {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// The program, cut off from AWS: no credentials, no metadata service, no configuration.
    fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_machinepool"));
        command
            .env_clear()
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .env("AWS_CONFIG_FILE", self.path("no-config"))
            .env("AWS_SHARED_CREDENTIALS_FILE", self.path("no-credentials"))
            .env("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
            .current_dir(self.directory.path())
            .stdin(Stdio::null())
            .args(args);
        command
    }

    fn run(&self, line: &str) -> Outcome {
        Outcome::of(&self.command(line.split_whitespace()).output().unwrap())
    }

    fn run_with_input(&self, line: &str, input: &[u8]) -> Outcome {
        let mut child = self
            .command(line.split_whitespace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The program may refuse before it has read everything.
        let _ = child.stdin.take().unwrap().write_all(input);
        Outcome::of(&child.wait_with_output().unwrap())
    }
}

impl Outcome {
    fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().expect("ended by a signal"),
            out: String::from_utf8(output.stdout.clone()).unwrap(),
            err: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }

    /// Exit code 0; the results.
    #[track_caller]
    fn ok(self) -> String {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        self.out
    }

    /// Exit code 1, no results, an error that begins at column 0 and names `part`.
    #[track_caller]
    fn fails(self, part: &str) -> Self {
        assert_eq!(self.code, 1, "{}{}", self.out, self.err);
        assert_eq!(self.out, "");
        assert!(self.err.lines().any(|line| line.starts_with("Error: ")), "{}", self.err);
        assert!(self.err.contains(part), "{part:?} is not in {}", self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        assert!(ends_its_sentences(&self.err), "{}", self.err);
        self
    }
}

/// Whether no sentence has two full stops, and nothing is missing behind a colon: the marks of somebody else's words
/// put into a sentence as they were.
fn ends_its_sentences(text: &str) -> bool {
    let text = text.replace("...", "").replace("../", "").replace("/..", "");
    !text.contains("..") && [":.", ": .", ": (request", ": \n"].iter().all(|sign| !text.contains(sign))
}

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

/// The inputs of the pool that the documentation shows.
fn demo() -> PathBuf {
    testdata("demo.tfvars.json")
}
