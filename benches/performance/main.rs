//! What the program costs: `just bench`. It runs the release binary side by side with Terraform, against an AWS
//! and a Kubernetes API on loopback, and prints the table of docs/performance.md.
//!
//! `--binary FILE` is the program to measure, `--runs N` the number of runs, `--only PART` leaves out the other
//! parts, `--write` puts the table into the document.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

mod account;
mod answers;
mod aws;
#[allow(dead_code)]
#[path = "../../tests/wire/calls.rs"]
mod calls;
mod commands;
#[path = "../../tests/kubernetes/double.rs"]
mod double;
mod instances;
#[allow(dead_code, unused_imports)]
#[path = "../../tests/sandbox/lab.rs"]
mod lab;
mod measures;
mod meter;
mod report;
#[allow(dead_code)]
#[path = "../../tests/runtime/runner.rs"]
mod runner;
mod xml;

use std::path::PathBuf;

use commands::{Ours, Terraform};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [first, job, ..] = args.as_slice()
        && first == meter::ARGUMENT
    {
        meter::measure(job).unwrap();
        return;
    }
    let value = |name| args.iter().skip_while(move |arg| *arg != name).nth(1);
    let Some(binary) = value("--binary").map(|path| std::fs::canonicalize(path).unwrap()) else {
        eprintln!("Error: --binary FILE is missing: the program to measure, built as `just bench` does");
        std::process::exit(1);
    };
    let runs = value("--runs").map_or(15, |runs| runs.parse().unwrap());
    let table = measure(binary, runs, value("--only").map(String::as_str));
    println!("{table}");
    if args.iter().any(|arg| arg == "--write") {
        report::write(&table);
    }
}

/// A part of the table.
type Part = fn(&measures::Bench) -> Vec<report::Row>;

fn measure(binary: PathBuf, runs: usize, only: Option<&str>) -> String {
    let ours = Ours::new(binary.clone());
    let terraform = Terraform::beside(&ours);
    let place = report::place(terraform.as_ref().map(Terraform::told_version).as_deref(), runs);
    let bench = measures::Bench { ours, terraform, binary, runs };
    let parts: [(&str, Part); 8] = [
        ("refresh", measures::Bench::refresh),
        ("start-up", measures::Bench::start_up),
        ("applies", measures::Bench::applies),
        ("calls", measures::Bench::calls),
        ("distance", measures::Bench::distance),
        ("crowds", measures::Bench::crowds),
        ("sizes", measures::Bench::sizes),
        ("instructions", measures::Bench::instructions),
    ];
    let mut rows = Vec::new();
    for (name, part) in parts {
        if only.is_none_or(|only| only == name) {
            eprintln!("measuring: {name}");
            rows.extend(part(&bench));
        }
    }
    report::table(&place, &rows)
}
