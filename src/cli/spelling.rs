//! Terraform's spelling of options made ours before clap sees it: `-var-file` is `--var-file`, and a
//! switch may say what it is (`-auto-approve=true`).

use std::{collections::BTreeMap, ffi::OsString};

use clap::{ArgAction, Command};

use super::values;

/// Whether each long option is a switch, by name.
type Known = BTreeMap<String, bool>;

/// The arguments of `command` in clap's spelling. Only words that begin with one hyphen and two letters
/// change: `-`, `-1` and `-h` stay, as does everything behind `--`.
pub(super) fn normalise(command: &Command, args: Vec<OsString>) -> Vec<OsString> {
    let known = known(command);
    let mut args = args.into_iter();
    let mut normal = Vec::new();
    for arg in args.by_ref() {
        if arg == "--" {
            normal.push(arg);
            break;
        }
        match arg.to_str() {
            Some(text) => normal.extend(option(&known, text).map(OsString::from)),
            None => normal.push(arg),
        }
    }
    normal.extend(args);
    normal
}

fn known(command: &Command) -> Known {
    let mut known: Known = ["help", "version"].map(|name| (name.to_owned(), true)).into();
    learn(command, &mut known);
    known
}

fn learn(command: &Command, known: &mut Known) {
    for arg in command.get_arguments() {
        if let Some(long) = arg.get_long() {
            known.insert(long.to_owned(), matches!(arg.get_action(), ArgAction::SetTrue));
        }
    }
    command.get_subcommands().for_each(|command| learn(command, known));
}

/// One word: `None` for a switch that is switched off.
fn option(known: &Known, word: &str) -> Option<String> {
    let Some(bare) = long_name(word) else { return Some(word.to_owned()) };
    let (name, value) = bare.split_once('=').map_or((bare, None), |(name, value)| (name, Some(value)));
    let is_switch = known.get(name).copied().unwrap_or(false);
    match value.map(values::truth) {
        Some(Ok(on)) if is_switch => on.then(|| format!("--{name}")),
        _ => Some(format!("--{bare}")),
    }
}

/// The word without its hyphens, if it is an option with a long name.
fn long_name(word: &str) -> Option<&str> {
    let bare = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
    let mut first = bare.bytes();
    let two_letters = first.by_ref().take(2).filter(u8::is_ascii_lowercase).count() == 2;
    two_letters.then_some(bare)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    fn normal(words: &[&str]) -> Vec<String> {
        let args = words.iter().map(OsString::from).collect();
        normalise(&Cli::command(), args).into_iter().map(|arg| arg.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn one_hyphen_becomes_two() {
        assert_eq!(
            normal(&["plan", "-var-file=a.json", "-var", "x=-1", "--no-color", "-chdir=/tmp", "-help"]),
            ["plan", "--var-file=a.json", "--var", "x=-1", "--no-color", "--chdir=/tmp", "--help"]
        );
    }

    #[test]
    fn what_is_no_long_option_stays() {
        let words = ["outputs", "-", "-1", "-h", "-V", "--", "-var-file", "-x"];
        assert_eq!(normal(&words), words);
    }

    #[test]
    fn switches_may_say_what_they_are() {
        assert_eq!(normal(&["apply", "-auto-approve=true", "-no-color=false"]), ["apply", "--auto-approve"]);
        assert_eq!(normal(&["apply", "-auto-approve=maybe"]), ["apply", "--auto-approve=maybe"]);
        // Not a switch: the value is the option's own.
        assert_eq!(normal(&["apply", "-input=false", "-var=true"]), ["apply", "--input=false", "--var=true"]);
    }

    #[test]
    fn unknown_options_are_spelled_so_that_clap_can_suggest() {
        assert_eq!(normal(&["plan", "-varfile=x"]), ["plan", "--varfile=x"]);
    }

    #[cfg(unix)]
    #[test]
    fn arguments_that_are_no_text_stay() {
        use std::os::unix::ffi::OsStringExt;
        let odd = OsString::from_vec(vec![b'-', 0xff, 0xfe]);
        assert_eq!(normalise(&Cli::command(), vec![odd.clone()]), [odd]);
    }
}
