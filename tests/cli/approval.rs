//! Who approves changes: a person on a terminal, an option, or nobody; and what is said then.

use std::{
    io::Write as _,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use super::{Bench, Outcome, demo, status::running_pool, watch::Terminal};

/// The pool's inputs on a pipe, everything else on a terminal: `cat pool.json | machinepool ...`.
fn piped(bench: &Bench, terminal: &Terminal, line: &str) -> i32 {
    let mut child = terminal.command(bench, line).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&std::fs::read(demo()).unwrap()).unwrap();
    ended(child)
}

fn ended(mut child: Child) -> i32 {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code().unwrap();
        }
        assert!(begin.elapsed() < Duration::from_mins(1), "does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What a terminal shows of an error, its lines broken as they are in a file.
fn told(terminal: &Terminal) -> String {
    std::thread::sleep(Duration::from_millis(100));
    terminal.text().replace("\r\n", "\n")
}

#[test]
fn inputs_on_standard_input_leave_no_answer_and_the_error_says_what_works() {
    let bench = Bench::new();
    let from_stdin = "--sandbox account.json -no-color -var-file=-";
    let refused = |line: &str, ways: &[&str]| {
        let terminal = Terminal::new(120);
        assert_eq!(piped(&bench, &terminal, &format!("{line} {from_stdin}")), 1, "{line}");
        let told = told(&terminal);
        assert!(
            told.contains("Nobody can approve the changes: the inputs came from standard input"),
            "{told}"
        );
        assert!(ways.iter().all(|way| told.contains(way)), "{line}: {told}");
    };
    refused("apply", &["-auto-approve", "plan -out=FILE", "apply FILE"]);
    bench.run(&format!("apply -auto-approve --sandbox account.json -var-file={}", demo().display())).ok();
    refused("destroy", &["-auto-approve", "plan -destroy -out=FILE", "apply FILE"]);

    // What the error says does work.
    let demo = std::fs::read(demo()).unwrap();
    bench.run_with_input(&format!("plan -destroy -out=p.tfplan {from_stdin}"), &demo).ok();
    assert!(bench.run("apply --sandbox account.json p.tfplan").ok().contains("Apply complete!"));
    bench.run_with_input(&format!("plan -out=p.tfplan {from_stdin}"), &demo).ok();
    bench.run("apply --sandbox account.json p.tfplan").ok();
}

#[test]
fn a_roll_by_hand_is_approved_likewise() {
    let bench = running_pool();
    let labelled = "-var kubernetes_version=v1.35.0 -var node_labels={\"example.com/team\":\"b\"}";
    let from_stdin = format!("--sandbox account.json -no-color -var-file=- {labelled}");
    let demo = std::fs::read(demo()).unwrap();
    bench.run_with_input(&format!("apply -auto-approve {from_stdin}"), &demo).ok();
    let terminal = Terminal::new(120);
    assert_eq!(piped(&bench, &terminal, &format!("rollout start {from_stdin}")), 1);
    let told = told(&terminal);
    assert!(told.contains("the inputs came from standard input"), "{told}");
    assert!(told.contains("-auto-approve") && told.contains("-var-file=FILE"), "{told}");
    assert!(!told.contains("plan -out"), "a roll cannot be saved: {told}");
}

#[test]
fn inputs_typed_on_the_terminal_leave_room_for_the_answer() {
    let bench = Bench::new();
    let mut terminal = Terminal::new(120);
    let child = terminal.run(&bench, "apply --sandbox account.json -var-file=-");
    let inputs: serde_json::Value = serde_json::from_slice(&std::fs::read(demo()).unwrap()).unwrap();
    // A terminal takes lines of some 4,000 characters at most.
    terminal.press(serde_json::to_string_pretty(&inputs).unwrap().as_bytes());
    terminal.press(b"\n\x04");
    terminal.await_text("Only \"yes\" is accepted");
    terminal.press(b"yes\n");
    assert_eq!(ended(child), 0, "{}", told(&terminal));
    assert!(told(&terminal).contains("Apply complete!"));
}

#[test]
fn without_anybody_to_ask_the_error_says_why_and_what_works() {
    let bench = Bench::new();
    let pool = format!("--sandbox account.json -var-file={}", demo().display());
    for (line, why) in
        [("apply", "there is no terminal to ask on"), ("apply -input=false", "-input=false forbids to ask")]
    {
        let outcome = bench.run(&format!("{line} {pool}")).fails(why);
        for way in ["-auto-approve", "plan -out=FILE", "apply FILE"] {
            assert!(outcome.err.contains(way), "{line}: {}", outcome.err);
        }
    }
    // A program that reads lines cannot be asked, on a terminal or not.
    let terminal = Terminal::new(120);
    let child = terminal.run(&bench, &format!("apply -json {pool}"));
    assert_eq!(ended(child), 1);
    assert!(told(&terminal).contains("with -json nothing is asked"), "{}", told(&terminal));
    let json = Outcome::of(&bench.command(format!("destroy -json {pool}").split(' ')).output().unwrap());
    assert_eq!(json.code, 0, "nothing to destroy needs no yes: {}{}", json.out, json.err);
}
