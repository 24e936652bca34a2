//! What the README says about the program is what the program says.

use std::{fs, path::Path, sync::Mutex};

use machinepool::{
    model::permissions::{BEHIND, Document, Grant, Policy, Pools, compare},
    view,
};

use super::{Bench, testdata};

/// Several tests may bless parts of one file.
static BLESSING: Mutex<()> = Mutex::new(());

/// What stands between `<!-- name -->` and `<!-- /name -->` in `file` is `wanted`. With
/// `MACHINEPOOL_BLESS=1` the file is brought up to date instead.
#[track_caller]
fn is_up_to_date(file: &str, name: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let _alone = BLESSING.lock();
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(&begin).unwrap();
    let (found, after) = rest.split_once(&end).unwrap();
    if std::env::var_os("MACHINEPOOL_BLESS").is_some_and(|value| value == "1") {
        fs::write(&path, format!("{before}{begin}\n{}\n\n{end}{after}", wanted.trim())).unwrap();
        return;
    }
    assert_eq!(found.trim(), wanted.trim(), "run `just golden` to bring {file} up to date");
}

#[test]
fn the_table_of_variables_is_up_to_date() {
    is_up_to_date("README.md", "variables", &Bench::new().run("schema variables").ok());
}

fn policy(doctor: bool) -> Policy {
    Policy::of(&Grant {
        partition: "aws",
        region: "us-east-1".to_owned(),
        account: "*".to_owned(),
        buckets: vec!["*".to_owned()],
        worker_roles: vec!["arn:aws:iam::*:role/*".to_owned()],
        pools: Pools::All,
        doctor,
    })
}

#[test]
fn the_table_of_permissions_is_up_to_date() {
    is_up_to_date("README.md", "permissions", &view::permissions_markdown(&policy(true)));
}

#[test]
fn the_list_of_what_aws_checks_behind_calls_is_up_to_date() {
    let rows = BEHIND.map(|(call, action, why)| format!("| `{call}` | `{action}` | {why} |\n")).concat();
    let table = format!("| Call | Needs also | Because |\n| --- | --- | --- |\n{rows}");
    is_up_to_date("docs/permissions.md", "behind", &table);
}

/// What an identity made for the Terraform module lacks is what the documentation says.
#[test]
fn the_list_of_what_the_modules_identity_lacks_is_up_to_date() {
    let theirs = fs::read(testdata("policies/terraform-module.json")).unwrap();
    let findings = compare::compare(&policy(false), &Document::parse(&theirs).unwrap());
    assert!(findings.iter().all(compare::Finding::is_lacking), "{findings:?}");
    let mut lacking: Vec<String> =
        findings.iter().map(|finding| format!("- `{}`\n", finding.action)).collect();
    lacking.sort();
    for known in ["DescribeInstanceRefreshes", "CancelInstanceRefresh", "SetInstanceProtection"] {
        assert!(lacking.contains(&format!("- `autoscaling:{known}`\n")), "{lacking:?}");
    }
    is_up_to_date("docs/permissions.md", "lacking", &lacking.concat());
}

#[test]
fn the_readme_names_every_command_and_every_exit_code() {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let help = Bench::new().run("--help").ok();
    let commands = help.split("\nCommands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    for command in commands.lines().filter_map(|line| line.split_whitespace().next()) {
        let named = command == "help"
            || readme.contains(&format!("| `{command}"))
            || readme.contains(&format!("| `{command} "));
        assert!(named, "{command}");
    }
    assert!(["| 0 |", "| 1 |", "| 2 |"].iter().all(|row| readme.contains(row)));
}

/// The core decides; it reads no file, no clock, no environment, and calls nobody.
#[test]
fn the_model_is_pure() {
    const FORBIDDEN: [&str; 12] = [
        "aws_sdk",
        "aws_config",
        "aws_smithy",
        "tokio",
        "kube::",
        "std::fs",
        "std::env::",
        "std::net",
        "std::process",
        "SystemTime",
        "Instant::",
        "async fn",
    ];
    let mut directories = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src/model")];
    let mut read = 0;
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let found: Vec<&str> = FORBIDDEN.into_iter().filter(|word| text.contains(word)).collect();
                assert!(found.is_empty(), "{} is not pure: {found:?}", path.display());
                read += 1;
            }
        }
    }
    assert!(read > 15, "the model was not found");
}
