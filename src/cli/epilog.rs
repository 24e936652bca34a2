//! The examples behind the options in a help: commands that can be pasted, whatever the width of the terminal.

use clap::Command;

/// How each line of an example begins, and how those do that go on with one.
const INDENT: &str = "  ";
const CONTINUED: &str = "      ";

/// What tells a shell that a command goes on in the next line.
const GOES_ON: &str = " \\";

/// An argument of this length stands in a line of its own if need be. In bytes.
const LONG: usize = 30;

/// The definition with its help made for so many columns. clap would break a long example wherever it ends a line.
pub(super) fn fitted_to(command: Command, width: usize) -> Command {
    let epilog = command.get_after_help().map(|text| whole(&text.to_string(), width));
    let command = command.term_width(width).mut_subcommands(|below| fitted_to(below, width));
    match epilog {
        Some(epilog) => command.after_help(epilog),
        None => command,
    }
}

/// A text whose examples (the lines that are indented) end where a shell sees that they go on.
fn whole(text: &str, width: usize) -> String {
    let lines: Vec<String> = text
        .lines()
        .map(|line| if line.starts_with(INDENT) { broken(line, width) } else { line.to_owned() })
        .collect();
    lines.join("\n")
}

/// An example in as few lines as it takes, broken before options and what a shell does with the output.
fn broken(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return line.to_owned();
    }
    let command = line.trim_start();
    let mut lines = vec![line[..line.len() - command.len()].to_owned()];
    for part in parts(command) {
        let last = lines.last().map_or(0, |last| last.chars().count());
        let is_first = lines.last().is_some_and(|last| last.trim().is_empty());
        if !is_first && last + 1 + part.chars().count() + GOES_ON.len() > width {
            lines.push(format!("{CONTINUED}{part}"));
        } else if let Some(last) = lines.last_mut() {
            let gap = if is_first { "" } else { " " };
            last.push_str(gap);
            last.push_str(part);
        }
    }
    lines.join(&format!("{GOES_ON}\n"))
}

/// A command cut before each word that begins an option, an argument behind one that has its value, or a redirection.
fn parts(command: &str) -> Vec<&str> {
    let begins = |word: &str| word.starts_with(['-', '|', '>']) && word != "-" || word.len() >= LONG;
    let mut cuts = vec![0];
    let mut at = 0;
    for word in command.split(' ') {
        if at > 0 && begins(word) {
            cuts.push(at);
        }
        at += word.len() + 1;
    }
    cuts.push(command.len() + 1);
    cuts.windows(2).map(|pair| &command[pair[0]..pair[1] - 1]).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    /// All commands with the texts behind their options.
    fn epilogs(command: &Command) -> Vec<(String, String)> {
        let own = command.get_after_help().map(|text| (command.get_name().to_owned(), text.to_string()));
        own.into_iter().chain(command.get_subcommands().flat_map(epilogs)).collect()
    }

    #[test]
    fn examples_stay_the_commands_that_they_are() {
        let original = epilogs(&Cli::command());
        assert!(original.len() > 20);
        for width in [50, 60, 72, 80, 100] {
            let fitted = epilogs(&fitted_to(Cli::command(), width));
            for ((name, before), (_, after)) in original.iter().zip(&fitted) {
                let words = |text: &str| -> Vec<String> {
                    let joined = text.replace(" \\\n", " ");
                    joined.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
                };
                assert_eq!(words(after), words(before), "{name} at {width}");
                let examples = after.lines().filter(|line| line.starts_with(INDENT));
                for line in examples {
                    let single = line.trim().trim_end_matches(GOES_ON).split(' ').count() == 1;
                    assert!(line.chars().count() <= width || single, "{name} at {width}: {line}");
                }
            }
        }
    }

    /// What is broken in the source is broken a second time where the terminal is narrower than the source.
    #[test]
    fn a_paragraph_is_one_line_before_it_is_wrapped() {
        for (name, text) in epilogs(&Cli::command()) {
            let lines: Vec<&str> = text.lines().collect();
            for pair in lines.windows(2).filter(|pair| !pair[0].is_empty() && !pair[0].starts_with(INDENT)) {
                let heads_examples = pair[0].ends_with(':') && pair[1].starts_with(INDENT);
                assert!(pair[1].is_empty() || heads_examples, "{name}: {}", pair[0]);
            }
        }
    }

    #[test]
    fn options_keep_their_values() {
        let line = "  machinepool apply -auto-approve --timeout 1h -var-file=pool.json | jq .x";
        assert_eq!(
            broken(line, 40),
            "  machinepool apply -auto-approve \\\n      --timeout 1h -var-file=pool.json \\\n      | jq .x"
        );
        assert_eq!(broken(line, 80), line);
    }
}
