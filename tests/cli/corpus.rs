//! What the fuzzers begin with and what they found, played by every `cargo test`: each file of their corpora, and its
//! beginnings, as if it had been cut off.

use std::{fs, panic, path::Path};

#[path = "../../fuzz/checks/backend.rs"]
mod backend;
#[path = "../../fuzz/checks/inputs.rs"]
mod inputs;
#[path = "../../fuzz/checks/planfile.rs"]
mod planfile;
#[path = "../../fuzz/checks/root.rs"]
mod root;
#[path = "../../fuzz/checks/state.rs"]
mod state;

/// In how many pieces a file is cut.
const PIECES: usize = 12;

fn play(target: &str, check: fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut files = 0;
    for entry in fs::read_dir(&corpus).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        for piece in 0..=PIECES {
            let end = bytes.len() * piece / PIECES;
            assert!(
                panic::catch_unwind(|| check(&bytes[..end])).is_ok(),
                "{} up to byte {end} of {}",
                path.display(),
                bytes.len()
            );
        }
        files += 1;
    }
    assert!(files >= 3, "{}", corpus.display());
}

#[test]
fn backend_settings() {
    play("backend", backend::check);
}

#[test]
fn inputs_and_options() {
    play("inputs", inputs::check);
}

#[test]
fn saved_plans() {
    play("planfile", planfile::check);
}

#[test]
fn roots() {
    play("root", root::check);
}

#[test]
fn states() {
    play("state", state::check);
}
