//! Help, spellings, exit codes, streams.

use std::{io::Read, process::Stdio};

use super::{Bench, Outcome, demo};

const COMMANDS: [&str; 18] = [
    "init",
    "validate",
    "plan",
    "apply",
    "destroy",
    "outputs",
    "status",
    "rollout status",
    "rollout start",
    "rollout cancel",
    "doctor",
    "iam-policy",
    "show",
    "force-unlock",
    "schema",
    "version",
    "completions",
    "man",
];

#[test]
fn every_command_has_help_with_examples() {
    let bench = Bench::new();
    for command in COMMANDS {
        for line in [format!("{command} --help"), format!("help {command}"), format!("{command} -help")] {
            let help = bench.run(&line).ok();
            assert!(help.contains("Usage: machinepool"), "{line}: {help}");
            assert!(
                command == "version" || help.contains(&format!("Examples:\n  machinepool {command} ")),
                "{line}"
            );
        }
    }
    let help = bench.run("--help").ok();
    let first = |command: &str| command.split(' ').next().unwrap().to_owned();
    assert!(COMMANDS.iter().all(|command| help.contains(&format!("\n  {} ", first(command)))), "{help}");
}

#[test]
fn version_names_the_program() {
    let bench = Bench::new();
    let expected = concat!("machinepool ", env!("CARGO_PKG_VERSION"), "\n");
    for line in ["version", "--version", "-version", "-V", "-no-color version", "version -chdir=."] {
        assert_eq!(bench.run(line).ok(), expected, "{line}");
    }
}

#[test]
fn errors_of_usage_exit_with_1_and_tell_the_story_first() {
    let bench = Bench::new();
    for (line, part) in [
        ("", "Error: No command given\n\n"),
        ("aply", "Error: Unrecognized subcommand 'aply'\n\n"),
        ("plan -fromat=json", "Error: Unexpected argument '--fromat' found\n\n"),
        ("plan x.tfplan", "Error: Unexpected argument 'x.tfplan' found\n\n"),
        ("plan -var-file", "--var-file"),
        ("plan --format yaml", "Error: Invalid value 'yaml' for '--format"),
        ("apply --timeout 5", "--timeout"),
        ("apply --timeout 0s -auto-approve", "--timeout"),
        ("apply -lock-timeout=soon", "--lock-timeout"),
        ("apply -input=maybe", "--input"),
        ("apply -refresh-only --wait", "--wait"),
        ("schema tables", "tables"),
        ("schema inputs --format markdown", "Error: Only the variables"),
        ("-chdir=no-such-directory version", "Error: Cannot work in the directory no-such-directory\n\n"),
    ] {
        let outcome = bench.run(line).fails(part);
        assert!(outcome.err.starts_with("Error: "), "{line}: {}", outcome.err);
    }
}

#[test]
fn a_suggestion_for_a_misspelt_option() {
    let outcome = Bench::new().run("plan -detailed-exitcod").fails("--detailed-exitcode");
    assert!(outcome.err.contains("a similar argument exists"), "{}", outcome.err);
}

#[test]
fn schemas_are_json_and_variables_a_table() {
    let bench = Bench::new();
    for line in [
        "schema",
        "schema inputs",
        "schema outputs",
        "schema doctor",
        "schema status",
        "schema variables --format json",
    ] {
        let schema: serde_json::Value = serde_json::from_str(&bench.run(line).ok()).unwrap();
        assert!(schema.is_object(), "{line}");
    }
    assert_eq!(bench.run("schema").ok(), bench.run("schema inputs -format=json").ok());
    let table = bench.run("schema variables").ok();
    assert!(table.starts_with('|') && table.ends_with("|\n"), "{table}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let bench = Bench::new();
    for line in ["--help", "schema inputs", "version"] {
        let mut child = bench
            .command(line.split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""), "{line}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_the_command_is_done_all_the_same() {
    let bench = Bench::new();
    let run = |line: &str| {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        Outcome::of(&bench.command(line.split_whitespace()).stdout(full).output().unwrap())
    };
    run("version").fails("Error: Cannot write to standard output\n\n");
    let pool = format!("--sandbox account.json -var-file={}", demo().display());
    run(&format!("apply -auto-approve {pool}")).fails("The command itself is done;");
    assert!(bench.run(&format!("plan {pool}")).ok().starts_with("No changes. "));
}

#[test]
fn no_colour_where_there_is_no_terminal() {
    let bench = Bench::new();
    for line in ["plan", "plan -no-color", "--help"] {
        let outcome = bench.run(line);
        assert!(!outcome.out.contains('\u{1b}') && !outcome.err.contains('\u{1b}'), "{line}");
    }
}

#[test]
fn nothing_is_written_without_a_yes_and_nothing_to_do_needs_none() {
    let bench = Bench::new();
    let pool = format!("--sandbox account.json -var-file={}", demo().display());
    let account = || std::fs::read_to_string(bench.path("account.json")).unwrap();
    let none = "Destroy complete! Resources: 0 destroyed.\n";
    assert_eq!(bench.run(&format!("destroy {pool}")).ok(), none);

    let refused = |commands: &[(&str, &str)]| {
        let before = account();
        for (command, why) in commands {
            let outcome = bench.run(&format!("{command} {pool}")).fails(why);
            assert!(outcome.err.contains("-auto-approve"), "{command}: {}", outcome.err);
            assert!(outcome.err.contains("\nPlan: "), "{command}: {}", outcome.err);
            assert_eq!(account(), before, "{command}");
        }
    };
    bench.run(&format!("plan {pool}")).ok();
    refused(&[
        ("apply", "there is no terminal to ask on"),
        ("apply -auto-approve=false", "there is no terminal to ask on"),
        ("apply -input=false", "-input=false forbids to ask"),
    ]);

    bench.run(&format!("apply -auto-approve {pool}")).ok();
    for command in ["apply", "apply -input=false"] {
        let done = bench.run(&format!("{command} {pool}")).ok();
        assert!(done.starts_with("Apply complete! Resources: 0 added, 0 changed, 0 destroyed."), "{done}");
    }
    assert_eq!(bench.run(&format!("destroy {pool}")).code, 1);
    assert_ne!(bench.run(&format!("outputs provider_id {pool}")).ok(), "null\n");
    bench.run(&format!("destroy -auto-approve {pool}")).ok();
    assert_eq!(bench.run(&format!("destroy -input=false {pool}")).ok(), none);
}

#[test]
fn an_unknown_output_is_refused_before_anything_is_read() {
    let bench = Bench::new();
    bench.run("outputs nope --sandbox s.json -var-file=none.json").fails("There is no output called nope");
    assert!(!bench.path("s.json").exists());
}

#[test]
fn an_error_of_usage_repeats_no_value() {
    let bench = Bench::new();
    for line in [
        "plan bootstrap_data=PLANTED",
        "plan -var bootstrap_data PLANTED",
        "plan -var bootstrap_data=x PLANTED",
        "outputs bootstrap_data=PLANTED",
        "bootstrap_data=PLANTED",
        "plan -var-file=bootstrap_data=PLANTED",
        "plan -var =PLANTED",
        "plan -var PLANTED",
        "plan --format=PLANTED=PLANTED",
    ] {
        let outcome = bench.run(line);
        assert_eq!(outcome.code, 1, "{line}");
        let err = outcome.err.replace("--format=PLANTED", "").replace("'PLANTED=...'", "");
        assert!(!err.contains("PLANTED"), "{line}: {}", outcome.err);
    }
}
