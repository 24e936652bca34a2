//! Options said more than once: wrappers put arguments of their own before those of their callers.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::{ffi::OsString, path::Path, time::Duration};

use super::*;

fn parsed(words: &[&str]) -> Result<Cli, Failure> {
    let args = std::iter::once("machinepool").chain(words.iter().copied()).map(OsString::from);
    match parse(args, || 100)? {
        Parsed::Run(cli) => Ok(*cli),
        Parsed::Show(text) => panic!("{text}"),
    }
}

/// What the controller's runner says, and more that others say.
const VECTORS: [&[&str]; 14] = [
    &["version", "-json"],
    &["init", "-input=false", "-no-color", "-lock-timeout=300s", "-upgrade", "-reconfigure", "-lockfile=x"],
    &["force-unlock", "-force", "6c5a"],
    &["validate", "-json", "-no-color"],
    &["apply", "-input=false", "-no-color", "-lock-timeout=300s", "-auto-approve", "-json"],
    &[
        "plan",
        "-input=false",
        "-no-color",
        "-lock-timeout=300s",
        "-detailed-exitcode",
        "-refresh=false",
        "-out=x",
    ],
    &["show", "-json", "-no-color", "x.tfplan"],
    &["apply", "-input=false", "-no-color", "-lock-timeout=300s", "x.tfplan"],
    &["apply", "-input=false", "-no-color", "-lock-timeout=300s", "-refresh-only", "-auto-approve"],
    &["destroy", "-input=false", "-no-color", "-lock-timeout=300s", "-auto-approve", "-parallelism=4"],
    &["state", "push", "-force", "-lock-timeout=300s", "-lock=false", "x.tfstate"],
    &["plan", "-destroy", "--format=json", "-chdir=x", "--sandbox=x", "--log=info", "-compact-warnings"],
    &["status", "--watch", "--interval=2s", "--format=json"],
    &["rollout", "start", "-auto-approve", "--wait", "--timeout=1h"],
];

#[test]
fn options_may_be_said_twice() {
    for words in VECTORS {
        let doubled: Vec<&str> = words
            .iter()
            .flat_map(|word| std::iter::repeat_n(*word, if word.starts_with('-') { 2 } else { 1 }))
            .collect();
        let (once, twice) = (parsed(words).unwrap(), parsed(&doubled).unwrap());
        assert_eq!(format!("{twice:?}"), format!("{once:?}"), "{doubled:?}");
    }
}

#[test]
fn the_last_word_on_an_option_counts() {
    let words = [
        "-chdir=a",
        "apply",
        "-input=true",
        "-lock-timeout",
        "1s",
        "-lock=false",
        "--timeout=1m",
        "-input=false",
        "-lock-timeout=300s",
        "-chdir",
        "b",
        "-lock",
        "-auto-approve=false",
        "--timeout=2m",
        "-auto-approve",
    ];
    let cli = parsed(&words).unwrap();
    assert_eq!(cli.global.chdir.as_deref(), Some(Path::new("b")));
    let Command::Apply(apply) = cli.command else { panic!() };
    assert!(apply.auto_approve && !apply.terraform.input && apply.terraform.locking.lock);
    assert_eq!(apply.terraform.locking.lock_timeout, Duration::from_mins(5));
    assert_eq!(apply.timeout, Duration::from_mins(2));
    let words = ["plan", "-out=a", "--format=json", "-destroy", "-out=b", "--format=text", "-destroy=false"];
    let Command::Plan(plan) = parsed(&words).unwrap().command else { panic!() };
    assert_eq!((plan.out.as_deref(), plan.format), (Some(Path::new("b")), PlanFormat::Text));
    assert!(!plan.destroy);
}

#[test]
fn what_is_a_list_grows() {
    let words = ["plan", "-var", "a=1", "-var-file=x", "-var=a=2", "-var-file=y", "-var-file=x"];
    let Command::Plan(plan) = parsed(&words).unwrap().command else { panic!() };
    assert_eq!(plan.inputs.sources.len(), 5, "{:?}", plan.inputs);
    assert_eq!(plan.inputs.sources.last(), Some(&Source::File("x".into())));
    let words = ["init", "-backend-config=a=1", "-backend-config", "b=2", "-backend-config=a=3"];
    let Command::Init(init) = parsed(&words).unwrap().command else { panic!() };
    assert_eq!(init.backend_config, ["a=1", "b=2", "a=3"]);
}

#[test]
fn a_second_file_is_no_override() {
    for words in [&["apply", "a", "b"][..], &["show", "a", "b"], &["state", "push", "a", "b"]] {
        assert_eq!(parsed(words).unwrap_err().diagnostics[0].summary, "Unexpected argument 'b' found");
    }
}

#[test]
fn standard_input_is_given_once() {
    for words in [
        &["plan", "-var-file=-", "-var-file=-"][..],
        &["validate", "-var-file", "-", "-var=a=1", "--var-file=-"],
        &["rollout", "cancel", "-var-file=-", "-var-file=-"],
        &["status", "-var-file=-", "-var-file=-"],
        &["iam-policy", "--compare", "-", "--compare=-"],
        &["iam-policy", "--compare", "-", "-var-file=-"],
    ] {
        let failure = parsed(words).unwrap_err();
        assert_eq!(failure.diagnostics[0].summary, "Standard input can be given only once", "{words:?}");
    }
    parsed(&["iam-policy", "--compare", "-", "--compare", "./-", "-var-file=./-"]).unwrap();
    parsed(&["plan", "-var-file=-", "-var-file=x", "-var=a=-"]).unwrap();
}

#[test]
fn a_refresh_that_does_not_refresh_is_refused() {
    for command in ["plan", "apply"] {
        for words in [[command, "-refresh-only", "-refresh=false"], [command, "-refresh=0", "-refresh-only"]]
        {
            let failure = parsed(&words).unwrap_err();
            assert_eq!(failure.diagnostics[0].summary, "Incompatible refresh options", "{words:?}");
        }
        parsed(&[command, "-refresh-only", "-refresh=false", "-refresh=true"]).unwrap();
        parsed(&[command, "-refresh=false"]).unwrap();
    }
}

#[test]
fn what_terraform_takes_and_means_nothing_here_is_taken() {
    let words = ["init", "-var", "a=b", "-var-file=not-there", "-var-file", "x"];
    assert!(matches!(parsed(&words).unwrap().command, Command::Init(_)));
    parsed(&["state", "push", "-ignore-remote-version", "-force", "x"]).unwrap();
    for command in ["plan", "apply", "destroy"] {
        parsed(&[command, "-parallelism=0"]).unwrap();
        assert!(parsed(&[command, "-parallelism=-1"]).is_err());
    }
}
