//! Runs the user data script for real: under each shell and its tools, in a throw-away root, with a
//! fake AWS CLI. A shell that is not installed is skipped loudly; with `CI` set it is a failure.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

mod fetch;
mod host;
mod injection;
mod labels;
mod properties;

use std::{io::Write as _, process::Stdio};

use host::{find, required, script};

#[test]
fn shellcheck_finds_nothing() {
    let Some(shellcheck) = required("shellcheck") else { return };
    for labels in [&[][..], &[("a", "1"), ("example.com/b", "")]] {
        let mut child = std::process::Command::new(&shellcheck)
            .args(["--norc", "--shell=sh", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(script(labels).as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn is_the_same_every_time() {
    let labels = [("b", "2"), ("a", "1")];
    assert_eq!(script(&labels), script(&[labels[1], labels[0]]));
}

#[test]
fn runs_under_dash_bash_and_busybox() {
    for shell in ["dash", "bash", "busybox"] {
        required(shell);
    }
    assert!(find("dash").is_some() || find("bash").is_some() || find("busybox").is_some());
}
