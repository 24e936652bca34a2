//! Commands by their names, in the spellings that people have for them.

use std::{ffi::OsString, os::unix::ffi::OsStrExt};

use clap::Command;

use crate::{
    error::{Failure, Kind},
    prose,
};

/// The commands that lead to the one of that name: `rollout start`, one word or two, or `rollout-start`, as its man
/// page is called.
pub fn named<'a>(program: &'a Command, words: &[String]) -> Result<Vec<&'a Command>, Failure> {
    let mut path = vec![program];
    let mut found = program;
    for word in words.iter().flat_map(|word| word.split_whitespace()) {
        let below = below(found, word).or_else(|| through_hyphen(found, word));
        let steps = below.ok_or_else(|| unknown(program, found))?;
        found = steps.last().copied().unwrap_or(found);
        path.extend(steps);
    }
    Ok(path)
}

/// The arguments, with the command that `help` is asked for spelled as clap has it.
pub(super) fn of_help(program: &Command, args: Vec<OsString>) -> Vec<OsString> {
    let Some(at) = args.iter().position(|word| !word.as_bytes().starts_with(b"-")) else { return args };
    let words: Option<Vec<String>> =
        args[at + 1..].iter().map(|word| word.to_str().map(str::to_owned)).collect();
    match words.filter(|_| args[at] == "help").map(|words| named(program, &words)) {
        Some(Ok(path)) => {
            let path = path.into_iter().skip(1).map(|command| command.get_name().into());
            args[..=at].iter().cloned().chain(path).collect()
        }
        _ => args,
    }
}

fn below<'a>(command: &'a Command, word: &str) -> Option<Vec<&'a Command>> {
    command.find_subcommand(word).map(|found| vec![found])
}

/// A command and the one below it, by the name that their man page has.
fn through_hyphen<'a>(command: &'a Command, word: &str) -> Option<Vec<&'a Command>> {
    shown(command).find_map(|first| {
        let rest = word.strip_prefix(first.get_name())?.strip_prefix('-')?;
        first.find_subcommand(rest).map(|second| vec![first, second])
    })
}

fn unknown(program: &Command, found: &Command) -> Failure {
    let known = full_names(found, if std::ptr::eq(found, program) { "" } else { found.get_name() });
    let detail = match known.as_slice() {
        [] => format!("{} has no commands of its own.", found.get_name()),
        known => format!("There are {}.", prose::list(known)),
    };
    Failure::new(Kind::Usage, "There is no such command", detail)
}

/// The names of the commands below one, each with those before it.
fn full_names(command: &Command, before: &str) -> Vec<String> {
    shown(command)
        .flat_map(|below| {
            let name = format!("{before} {}", below.get_name()).trim().to_owned();
            let more = full_names(below, &name);
            std::iter::once(name).chain(more)
        })
        .collect()
}

/// The commands below one, but for `help`, which has nothing to say of itself.
pub fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|below| below.get_name() != "help" && !below.is_hide_set())
}
