//! Defects of this program: a panic ends it with an error like any other. A panic's message is never shown, since
//! it may hold what was given as input.
//!
//! The released program aborts at a panic and does not unwind, which keeps a tenth of its size away; so nothing that
//! is held is given back. It is as after a kill: AWS says what was done, and a lock waits for `force-unlock`.

use std::{
    io::{self, Write as _},
    panic::{self, Location},
    process,
};

/// The exit code of a command that failed.
const FAILED: i32 = 1;

/// From now on a panic, of any thread, tells its place and ends the process. For the whole process.
pub fn end_at_panics() {
    panic::set_hook(Box::new(|panic| {
        // Nobody may be left to read it.
        let _ = io::stderr().write_all(told(panic.location()).as_bytes());
        process::exit(FAILED);
    }));
}

fn told(place: Option<&Location<'_>>) -> String {
    let place = place.map_or_else(|| "a place that is not known".to_owned(), ToString::to_string);
    format!(
        "Error: A defect of machinepool {} stopped it, at {place}\n\nNothing real is lost: the next run goes on from \
         what is in AWS. A lock of the state that this run held stays until force-unlock takes it away. Please report \
         these lines and what was run.\n",
        env!("CARGO_PKG_VERSION")
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::*;

    /// What the next test looks at, from outside; by itself it would end all tests.
    #[test]
    #[ignore = "ends the process"]
    fn panics_for_another_test() {
        end_at_panics();
        let secret = std::env::var("MACHINEPOOL_TEST_SECRET").unwrap();
        panic!("cannot parse {secret}");
    }

    #[test]
    fn a_panic_is_an_error_without_its_message() {
        let output = process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "defect::tests::panics_for_another_test", "--ignored", "--nocapture"])
            .env("MACHINEPOOL_TEST_SECRET", "c2VjcmV0")
            .output()
            .unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(FAILED), "{told}");
        assert!(told.lines().any(|line| line.starts_with("Error: A defect of machinepool ")), "{told}");
        assert!(told.contains("src/defect.rs:") && told.contains("force-unlock"), "{told}");
        assert!(!told.contains("c2VjcmV0") && !told.contains("cannot parse"), "{told}");
    }
}
