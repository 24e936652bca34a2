//! Every word of `--help`, completions and man pages.

use super::{Bench, Outcome};

/// All commands, with those below them.
const PAGES: [&str; 24] = [
    "",
    "validate",
    "plan",
    "apply",
    "destroy",
    "outputs",
    "status",
    "rollout",
    "rollout status",
    "rollout start",
    "rollout cancel",
    "schema",
    "init",
    "doctor",
    "iam-policy",
    "show",
    "state",
    "state list",
    "state pull",
    "state push",
    "force-unlock",
    "version",
    "completions",
    "man",
];

/// `cargo insta accept`, or `just golden`, takes over what it says now.
#[test]
fn help_is_what_it_was() {
    let bench = Bench::new();
    for page in PAGES {
        let help = bench.run(&format!("{page} --help")).ok();
        assert!(help.lines().all(|line| line.chars().count() <= 110), "{page}");
        let name = if page.is_empty() { "machinepool".to_owned() } else { page.replace(' ', "-") };
        insta::assert_snapshot!(format!("help_{name}"), help);
    }
    assert_eq!(bench.run("help rollout start").ok(), bench.run("rollout start --help").ok());
    assert_eq!(bench.run("help").ok(), bench.run("--help").ok());
}

/// A command without a page here would have its help unread.
#[test]
fn every_command_has_its_help_looked_at() {
    let bench = Bench::new();
    let below = |command: &str| -> Vec<String> {
        let help = bench.run(&format!("{command} --help")).ok();
        let Some(commands) = help.split("\nCommands:\n").nth(1) else { return Vec::new() };
        let names = commands.split("\n\n").next().unwrap().lines().filter(|line| line.starts_with("  "));
        names
            .filter(|line| !line.starts_with("   "))
            .filter_map(|line| line.split_whitespace().next())
            .filter(|name| *name != "help")
            .map(|name| format!("{command} {name}").trim().to_owned())
            .collect()
    };
    let mut commands = below("");
    assert!(commands.len() > 10, "{commands:?}");
    let nested: Vec<String> = commands.iter().flat_map(|command| below(command)).collect();
    commands.extend(nested);
    for command in commands {
        assert!(PAGES.contains(&command.as_str()), "{command}");
    }
}

#[test]
fn completions_know_commands_and_options() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = bench.run(&format!("completions {shell}")).ok();
        for word in ["rollout", "detailed-exitcode", "force-unlock", "var-file"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    bench.run("completions tcsh").fails("tcsh");
    bench.run("completions").fails("SHELL");
}

#[test]
fn man_pages_are_there_for_every_command() {
    let bench = Bench::new();
    let page = bench.run("man").ok();
    assert!(page.contains(".TH machinepool 1") && page.contains("rollout"), "{page}");
    let page = bench.run("man rollout start").ok();
    assert!(page.contains("machinepool\\-rollout\\-start") && page.contains("\\-\\-wait"), "{page}");
    let stop = bench.run("man rollout stop");
    stop.fails("There are rollout status, rollout start and rollout cancel.");
    let all = bench.run("man nothing").fails("There are validate, plan, ");
    assert!(all.err.contains("rollout, rollout status, rollout start, ") && all.err.contains("state push"));
    for (command, spellings) in [
        ("rollout start", ["rollout-start", "rollout  start"]),
        ("state list", ["state-list", " state list"]),
        ("force-unlock", ["force-unlock ", "force-unlock"]),
    ] {
        for said in spellings {
            for asked in ["man", "help"] {
                let wanted = bench.run(&format!("{asked} {command}")).ok();
                assert_eq!(
                    Outcome::of(&bench.command([asked, said]).output().unwrap()).ok(),
                    wanted,
                    "{said}"
                );
            }
        }
    }
    bench.run("man plan now").fails("plan has no commands of its own.");
    let names = bench.run("man --dir pages").ok();
    assert!(names.contains("pages/machinepool-state-push.1\n"), "{names}");
    for name in names.lines() {
        let page = std::fs::read_to_string(bench.path(name)).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{name}");
        let title = name.rsplit('/').next().unwrap().trim_end_matches(".1");
        let version = env!("CARGO_PKG_VERSION");
        let heading = format!(".TH {title} 1 \"\" \"machinepool {version}\" \"Machinepool Manual\"");
        assert!(page.lines().any(|line| line == heading), "{heading}: {page}");
        assert!(page.lines().all(|line| line.trim_end() == line), "{page}");
        assert!(!page.contains(".br\n\n") && !page.contains("\n\n.br"), "{page}");
    }
    assert!(!names.contains("help"), "{names}");
}
