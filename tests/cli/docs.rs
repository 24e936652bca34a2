//! What the README says about the program is what the program says.

use std::{fs, path::Path};

use super::Bench;

const BEGIN: &str = "<!-- variables -->\n";
const END: &str = "<!-- /variables -->";

/// With `MACHINEPOOL_BLESS=1` the README is brought up to date instead.
#[test]
fn the_table_of_variables_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let (before, rest) = readme.split_once(BEGIN).unwrap();
    let (table, after) = rest.split_once(END).unwrap();
    let wanted = Bench::new().run("schema variables").ok();
    if std::env::var_os("MACHINEPOOL_BLESS").is_some_and(|value| value == "1") {
        fs::write(&path, format!("{before}{BEGIN}\n{}\n\n{END}{after}", wanted.trim())).unwrap();
        return;
    }
    assert_eq!(table.trim(), wanted.trim(), "run `just golden` to bring README.md up to date");
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
