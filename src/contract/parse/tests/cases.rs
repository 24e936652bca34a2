//! The cases of `testdata/inputs`: each file replaces some values of the demo input.
//!
//! Beside an invalid one stands what is expected: a line per error with its summary, in order, each
//! followed by indented texts that its detail must hold. Beside a valid one may stand its warnings.

use std::{fs, path::Path};

use super::{demo, json_files};
use crate::contract::{
    problem::Diagnostic,
    request::{Request, Scope},
};

/// What the bootstrap data of faulty cases holds, in plain and in base64.
const PLANTED: [&str; 2] = ["PLANTED", "UExB"];

fn outcome(file: &Path) -> Result<Request, Vec<Diagnostic>> {
    let mut inputs = demo();
    let name = file.file_name().unwrap().to_string_lossy();
    inputs.add_file(&name, &fs::read(file).unwrap()).map_err(|error| vec![error])?;
    let request = Request::parse(&inputs).map_err(|problems| problems.0)?;
    assert_eq!(Scope::parse(&inputs).unwrap(), request.scope, "{name}: both ways of reading agree");
    Ok(request)
}

fn summaries(diagnostics: &[Diagnostic]) -> Vec<&str> {
    diagnostics.iter().map(|d| d.summary.as_str()).collect()
}

#[test]
fn valid_inputs_are_accepted() {
    for file in json_files("testdata/inputs/valid") {
        let request = outcome(&file).unwrap_or_else(|errors| panic!("{}: {errors:#?}", file.display()));
        let expected = fs::read_to_string(file.with_extension("txt")).unwrap_or_default();
        assert_eq!(
            summaries(&request.warnings),
            expected.lines().collect::<Vec<_>>(),
            "{}: {:#?}",
            file.display(),
            request.warnings
        );
    }
}

#[test]
fn invalid_inputs_are_refused_with_every_fault() {
    for file in json_files("testdata/inputs/invalid") {
        let shown = file.display();
        let errors = outcome(&file).expect_err(&shown.to_string());
        let expected = fs::read_to_string(file.with_extension("txt")).unwrap();
        let lines = || expected.lines();
        let wanted: Vec<&str> = lines().filter(|line| !line.starts_with(' ')).collect();
        assert_eq!(summaries(&errors), wanted, "{shown}: {errors:#?}");
        let mut error = 0;
        for line in lines().skip(1) {
            match line.strip_prefix("  ") {
                Some(text) => {
                    assert!(errors[error].detail.contains(text), "{shown}: {text}: {:#?}", errors[error]);
                }
                None => error += 1,
            }
        }
        for Diagnostic { summary, detail, .. } in &errors {
            assert!(!summary.contains('\n') && !detail.contains('\n'), "{shown}: {detail}");
            assert!(detail.len() < 1000, "{shown}: {detail}");
            for secret in PLANTED {
                assert!(!summary.contains(secret) && !detail.contains(secret), "{shown}: {detail}");
            }
        }
    }
}
