//! What is no AWS, what cannot be reached, and who is nobody to it.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    process::Output,
};

use serde_json::Value;

use super::{Bench, demo};

/// A server on loopback that gives every request this answer, as long as the test's process lives.
fn always(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut request = vec![0; 65536];
                let _ = stream.read(&mut request);
                let _ = stream.write_all(answer.as_bytes());
            });
        }
    });
    format!("http://{address}")
}

fn run(bench: &Bench, words: &[&str], variables: &[(&str, &str)]) -> Output {
    let inputs = format!("-var-file={}", demo().display());
    let mut command = bench.command(words);
    command.arg(inputs).env("AWS_EC2_METADATA_DISABLED", "true").env("AWS_MAX_ATTEMPTS", "1");
    command.envs(variables.iter().copied()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn what_answers_without_a_code_of_awss_proves_nothing() {
    let bench = Bench::new();
    for answer in [
        "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 26\r\nConnection: close\r\n\r\n<html><body></body></html>",
    ] {
        let endpoint = always(answer);
        let variables = [
            ("AWS_ENDPOINT_URL", endpoint.as_str()),
            ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
        ];
        let output = run(&bench, &["doctor", "--format", "json"], &variables);
        assert_eq!(output.status.code(), Some(1), "{answer}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let checks = report["checks"].as_array().unwrap();
        let failed: Vec<&Value> = checks.iter().filter(|check| check["status"] == "fail").collect();
        assert_eq!(failed.len(), 1, "{answer}: {report:#}");
        assert_eq!(failed[0]["title"], "The endpoint does not answer as AWS does", "{answer}: {report:#}");
        assert!(!report.to_string().contains("does not exist"), "{answer}: {report:#}");
        for words in [&["plan"][..], &["apply", "-auto-approve"], &["destroy", "-auto-approve"], &["outputs"]]
        {
            let output = run(&bench, words, &variables);
            assert_eq!(output.status.code(), Some(1), "{words:?} {answer}: {}", text(&output.stdout));
            let told = text(&output.stderr);
            assert!(!told.contains("does not exist") && !told.contains("do not allow"), "{words:?}: {told}");
        }
    }
}

#[test]
fn a_profile_that_gives_no_credentials_is_named() {
    let bench = Bench::new();
    bench.write("config", "[profile empty]\noutput = json\n[profile role]\nrole_arn = arn:aws:iam::1:role/x\nsource_profile = gone\n");
    let config = bench.path("config").display().to_string();
    let none = bench.path("none").display().to_string();
    for (profile, words) in [
        ("nosuch", "profile nosuch is not in "),
        ("empty", "profile empty has no credentials"),
        ("role", "profile role: its source_profile gone is missing"),
    ] {
        let variables =
            [("AWS_PROFILE", profile), ("AWS_CONFIG_FILE", &config), ("AWS_SHARED_CREDENTIALS_FILE", &none)];
        for command in [&["plan"][..], &["outputs"], &["status"], &["doctor"]] {
            let output = run(&bench, command, &variables);
            assert_eq!(output.status.code(), Some(1), "{command:?}");
            let told = (text(&output.stdout) + &text(&output.stderr))
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ");
            assert!(told.contains(words), "{command:?} {profile}: {told}");
            assert!(!told.contains("no answer"), "{command:?} {profile}: {told}");
            if command != ["doctor"] {
                assert!(told.contains("failed: no credentials"), "{command:?} {profile}: {told}");
            }
        }
    }
}

#[test]
fn calls_that_wait_for_one_cause_are_told_once() {
    let bench = Bench::new();
    // Nobody listens there.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let variables = [
        ("AWS_ENDPOINT_URL", &*format!("http://{free}")),
        ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_MAX_ATTEMPTS", "7"),
    ];
    let told = text(&run(&bench, &["plan"], &variables).stderr);
    let lines: Vec<&str> = told.lines().filter(|line| line.contains("still trying")).collect();
    assert_eq!(lines.len(), 1, "{told}");
    assert!(lines[0].to_lowercase().contains("connection refused"), "{told}");
}
