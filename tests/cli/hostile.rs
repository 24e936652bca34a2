//! Files that nobody writes by mistake, before every reader of files: a clear error, soon, in little memory.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::Value;

use super::{Bench, Outcome, demo};

/// What one command may take of addresses, in KiB: far less than what a careless reader of 50 MB takes.
const MEMORY: u32 = 700_000;

/// Quick is a second; the debug build is not, but what it takes of a processor does not grow with what else the
/// machine does.
const SECONDS: u32 = 20;

const LARGE: usize = 50_000_000;

/// An object, with one more member at its beginning.
fn with(whole: &str, member: &str) -> Vec<u8> {
    let rest = whole.trim_start().strip_prefix('{').unwrap();
    format!("{{{member},{rest}").into_bytes()
}

/// What a JSON object can have become that no reader takes.
fn damaged(whole: &str) -> Vec<(&'static str, Vec<u8>)> {
    let nested = |depth: usize| format!("\"zz\":{}{}", "[".repeat(depth), "]".repeat(depth));
    let (text, first) = (whole.trim_end(), whole.find('"').unwrap() + 1);
    let at_first = |bytes: &[u8]| [&whole.as_bytes()[..first], bytes, &whole.as_bytes()[first..]].concat();
    vec![
        ("nothing", Vec::new()),
        ("blanks", b" \n\t ".to_vec()),
        ("cut in the middle", text.as_bytes()[..text.len() / 2].to_vec()),
        ("cut at the end", text.as_bytes()[..text.len() - 1].to_vec()),
        ("a byte order mark", [b"\xef\xbb\xbf", whole.as_bytes()].concat()),
        ("UTF-16", whole.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        ("not UTF-8", at_first(b"\xff")),
        ("half of a character", at_first(b"\xe2\x82")),
        ("NUL in a string", at_first(b"\0")),
        ("NUL behind the end", [text.as_bytes(), b"\0"].concat()),
        ("half a surrogate pair", with(whole, r#""zz":"\ud800""#)),
        ("a surrogate pair the wrong way round", with(whole, r#""zz":"\udc00\ud800""#)),
        ("a key twice", with(whole, r#""zz":1,"zz":1"#)),
        ("a key twice, spelt in two ways", with(whole, r#""zz":[{"k":1,"\u006b":1}]"#)),
        ("nested 1000 deep", with(whole, &nested(1000))),
        ("nested a million deep", with(whole, &nested(1_000_000))),
        ("a million objects deep, and cut off", "{\"zz\":".repeat(1_000_000).into_bytes()),
        ("two documents", whole.repeat(2).into_bytes()),
        ("another language", b"replicas = 3\n".to_vec()),
        ("a number that is none", with(whole, "\"zz\":1e")),
    ]
}

/// Texts of 50 MB, and of as many small values as a text of 10 MB has; one at a time.
fn large(whole: &str, mut test: impl FnMut(&str, &[u8])) {
    let list = |bytes: usize| with(whole, &format!("\"zz\":[{}1]", "1,".repeat(bytes / 2)));
    test("10 MB of numbers", &list(LARGE / 5));
    test("50 MB of numbers", &list(LARGE));
    test("50 MB of brackets", &b"[".repeat(LARGE));
    test("50 MB in one string", &with(whole, &format!("\"zz\":\"{}\"", "\\u0041".repeat(LARGE / 6))));
}

/// The program with its memory and time bounded. One that takes more is ended by a signal.
fn bounded(bench: &Bench, line: &str) -> Command {
    let program = bench.command([""; 0]);
    let mut command = Command::new("sh");
    command
        .args([
            "-c",
            &format!("ulimit -v {MEMORY} && ulimit -t {SECONDS} && exec \"$0\" \"$@\""),
            env!("CARGO_BIN_EXE_machinepool"),
        ])
        .args(line.split_whitespace())
        .env_clear()
        .envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .current_dir(bench.directory.path())
        .stdin(Stdio::null());
    command
}

/// Refused, and how: nothing but an error that names `part`.
#[track_caller]
fn refuses(bench: &Bench, line: &str, case: &str, part: &str) {
    let outcome = Outcome::of(&bounded(bench, line).output().unwrap());
    let told = format!("{line}, {case}: {}{}", outcome.out, outcome.err);
    assert_eq!(outcome.code, 1, "{told}");
    assert!(
        outcome.err.lines().any(|line| line.starts_with("Error: ")) && outcome.err.contains(part),
        "{told}"
    );
    assert!(outcome.err.len() < 2000 && !outcome.err.contains("panicked"), "{told}");
    assert!(!bench.path("account.json").exists(), "{line}, {case}: AWS was asked");
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn inputs() {
    let bench = Bench::new();
    let demo = text(&demo());
    let refused = |case: &str, bytes: &[u8]| {
        fs::write(bench.path("t.json"), bytes).unwrap();
        refuses(&bench, "validate -var-file=t.json", case, "t.json");
    };
    for (case, bytes) in &damaged(&demo) {
        refused(case, bytes);
    }
    large(&demo, refused);
    for (case, bytes) in damaged(&demo).into_iter().step_by(4) {
        fs::write(bench.path("t.json"), bytes).unwrap();
        for command in [
            "plan",
            "apply -auto-approve",
            "apply -auto-approve -refresh-only",
            "destroy -auto-approve",
            "outputs",
        ] {
            refuses(&bench, &format!("{command} --sandbox account.json -var-file=t.json"), case, "t.json");
        }
    }
}

#[test]
fn values_of_inputs() {
    let bench = Bench::new();
    let digits = "7".repeat(1_000_000);
    let numbers = [
        "1e400",
        "1e1000000",
        "-1e1000000",
        "1e-1000000",
        "1e99999999999999999999",
        "0.1e400",
        "1e+400",
        &digits,
        &format!("1{}", "0".repeat(1_000_000)),
        &format!("0.{digits}"),
        &format!("1.{digits}e-{digits}"),
    ];
    let inputs = [
        "replicas",
        "root_volume_size_gib",
        "autoscaling_target_cpu_percent",
        "instance_metadata_hop_limit",
        "rollout_instance_warmup_seconds",
        "machinepool_name",
        "instance_type",
        "kubernetes_version",
        "spot",
    ];
    let demo = format!("-var-file={}", demo().display());
    for number in numbers {
        for input in inputs {
            let is_text = matches!(input, "machinepool_name" | "instance_type" | "kubernetes_version");
            let quoted = (!is_text).then(|| format!("\"{number}\""));
            for value in [number.to_owned()].into_iter().chain(quoted) {
                bench.write("t.json", &format!("{{\"{input}\": {value}}}"));
                refuses(
                    &bench,
                    &format!("validate {demo} -var-file=t.json"),
                    &value[..value.len().min(12)],
                    input,
                );
            }
        }
    }
    for (case, value) in
        [("NUL", r#""a\u0000b""#), ("a line feed", r#""a\nb""#), ("an escape", r#""\u001b[2J""#)]
    {
        for input in
            ["machinepool_name", "instance_type", "kubernetes_version", "ssh_key_name", "bootstrap_data"]
        {
            bench.write("t.json", &format!("{{\"{input}\": {value}}}"));
            let line = format!("validate {demo} -var-file=t.json");
            // AWS takes any character in a key pair's name but the null character.
            if matches!(input, "ssh_key_name" | "kubernetes_version") && case != "NUL" {
                continue;
            }
            refuses(&bench, &line, case, input);
        }
    }
}

#[test]
fn root_modules() {
    let bench = Bench::new();
    let root = r#"{"module": {"role": {"source": "./module"}}, "output": {}}"#;
    bench.write("terraform.tfvars.json", &text(&demo()));
    let refused = |case: &str, bytes: &[u8]| {
        fs::write(bench.path("main.tf.json"), bytes).unwrap();
        refuses(&bench, "plan --sandbox account.json", case, "main.tf.json");
    };
    for (case, bytes) in &damaged(root) {
        refused(case, bytes);
    }
    large(root, refused);
    for (case, bytes) in damaged(root).into_iter().step_by(4) {
        fs::write(bench.path("main.tf.json"), bytes).unwrap();
        for command in
            ["init", "validate", "destroy -auto-approve", "apply -auto-approve -refresh-only", "state list"]
        {
            refuses(&bench, &format!("{command} --sandbox account.json"), case, "main.tf.json");
        }
    }
}

#[test]
fn plan_files() {
    let bench = Bench::new();
    let line = format!("plan --sandbox account.json -out=p.tfplan -var-file={}", demo().display());
    bench.run(&line).ok();
    fs::remove_file(bench.path("account.json")).unwrap();
    let whole = text(&bench.path("p.tfplan"));
    let inputs = whole.find("\"inputs\":{").unwrap() + "\"inputs\":".len();
    // Damage at the top, and among the inputs that it holds.
    let within = |bytes: Vec<u8>| [&whole.as_bytes()[..inputs], &bytes].concat();
    let inner = damaged(&whole[inputs..]).into_iter().map(|(case, bytes)| (case, within(bytes)));
    for (case, bytes) in damaged(&whole).into_iter().chain(inner) {
        fs::write(bench.path("p.tfplan"), bytes).unwrap();
        for command in ["show -json", "apply"] {
            refuses(&bench, &format!("{command} --sandbox account.json p.tfplan"), case, "p.tfplan");
        }
    }
    large(&whole, |case, bytes| {
        fs::write(bench.path("p.tfplan"), bytes).unwrap();
        refuses(&bench, "show p.tfplan", case, "p.tfplan");
    });
}

#[test]
fn sandboxes() {
    let bench = Bench::new();
    let line = format!("apply -auto-approve --sandbox s.json -var-file={}", demo().display());
    bench.run(&line).ok();
    let whole = text(&bench.path("s.json"));
    for (case, bytes) in damaged(&whole) {
        // An empty file is a new account.
        if case == "nothing" {
            continue;
        }
        fs::write(bench.path("s.json"), &bytes).unwrap();
        refuses(&bench, &line, case, "s.json");
        assert!(fs::read(bench.path("s.json")).unwrap() == bytes, "{case}: it was written over");
    }
}

/// Every text that is refused keeps what it holds to itself.
#[test]
fn nothing_of_a_damaged_file_is_repeated() {
    let bench = Bench::new();
    let planted = "cGxhbnRlZC1qb2luLXRva2Vu";
    let mut inputs: Value = serde_json::from_str(&text(&demo())).unwrap();
    inputs["bootstrap_data"] = planted.into();
    let whole = inputs.to_string();
    for (case, bytes) in damaged(&whole) {
        fs::write(bench.path("t.json"), &bytes).unwrap();
        fs::write(bench.path("p.tfplan"), &bytes).unwrap();
        for line in [
            "validate -var-file=t.json",
            "validate -json -var-file=t.json",
            "show p.tfplan",
            "apply -json p.tfplan",
        ] {
            let outcome = bench.run(line);
            assert_eq!(outcome.code, 1, "{line}, {case}");
            assert!(!(outcome.out + &outcome.err).contains(&planted[..8]), "{line}, {case}");
        }
    }
}
