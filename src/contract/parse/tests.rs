#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cases;
mod hostile;
mod meaning;
mod schemas;

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::contract::{inputs::Inputs, problem::Problems, request::Request};

/// The complete demo input, which the cases change.
fn demo() -> Inputs {
    let mut inputs = Inputs::default();
    inputs.add_file("demo.tfvars.json", include_bytes!("../../../testdata/demo.tfvars.json")).unwrap();
    inputs
}

/// The demo input with some values replaced, written as JSON.
fn demo_with(json: &str) -> Inputs {
    let mut inputs = demo();
    inputs.add_file("case.json", json.as_bytes()).unwrap();
    inputs
}

fn request(json: &str) -> Request {
    Request::parse(&demo_with(json)).unwrap_or_else(|problems| panic!("{json}: {:#?}", problems.0))
}

fn refused(json: &str) -> Problems {
    Request::parse(&demo_with(json)).expect_err(json)
}

/// The files of a directory of the repository that end in `.json`, sorted; never none.
fn json_files(directory: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    let mut files: Vec<PathBuf> = fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{} has no cases", directory.display());
    files
}
