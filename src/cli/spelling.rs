//! Terraform's spelling of options made ours before clap sees it: `-var-file` is `--var-file`, and a
//! switch may say what it is (`-auto-approve=true`), the last word on it being the one that counts.

use std::{collections::BTreeMap, ffi::OsString, os::unix::ffi::OsStrExt};

use clap::{ArgAction, Command};

use super::values;

/// Whether each long option is a switch, by name.
type Known = BTreeMap<String, bool>;

/// The arguments of `command` in clap's spelling. Only words that begin with one hyphen and two letters
/// change: `-`, `-1` and `-h` stay, as does everything behind `--`.
pub(super) fn normalise(command: &Command, args: Vec<OsString>) -> Vec<OsString> {
    let known = known(command);
    let mut args = args.into_iter();
    let mut normal: Vec<OsString> = Vec::new();
    for arg in args.by_ref() {
        if arg == "--" {
            normal.push(arg);
            break;
        }
        match arg.to_str().map(|text| option(&known, text)) {
            Some(Word::Is(text)) => normal.push(text.into()),
            // No option takes a word with two hyphens for its value, so this is the switch itself.
            Some(Word::Off(switch)) => normal.retain(|word| *word != switch),
            None => normal.push(with_two_hyphens(arg)),
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

/// What becomes of one word.
enum Word {
    /// This one.
    Is(String),
    /// A switch is off, whatever was said of it before.
    Off(OsString),
}

fn option(known: &Known, word: &str) -> Word {
    let Some(bare) = long_name(word) else { return Word::Is(word.to_owned()) };
    let (name, value) = bare.split_once('=').map_or((bare, None), |(name, value)| (name, Some(value)));
    let is_switch = known.get(name).copied().unwrap_or(false);
    match value.map(values::truth) {
        Some(Ok(true)) if is_switch => Word::Is(format!("--{name}")),
        Some(Ok(false)) if is_switch => Word::Off(format!("--{name}").into()),
        _ => Word::Is(format!("--{bare}")),
    }
}

/// An option whose value is no text, such as the odd name of a file.
fn with_two_hyphens(word: OsString) -> OsString {
    let name = word.as_bytes().split(|byte| *byte == b'=').next().and_then(|name| str::from_utf8(name).ok());
    match name.and_then(long_name) {
        Some(name) if !word.as_bytes().starts_with(b"--") && name.len() < word.len() => {
            let mut spelled = OsString::from("-");
            spelled.push(word);
            spelled
        }
        _ => word,
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
    #![allow(clippy::panic)]

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
    fn the_last_word_on_a_switch_counts() {
        for (words, wanted) in [
            (&["apply", "-auto-approve", "-auto-approve=false"][..], &["apply"][..]),
            (&["apply", "--auto-approve=true", "-json", "-auto-approve=0", "x"], &["apply", "--json", "x"]),
            (&["apply", "-auto-approve=false", "-auto-approve"], &["apply", "--auto-approve"]),
            (&["-no-color", "apply", "-no-color=false"], &["apply"]),
            (&["plan", "-json=f", "-json=t", "-json=f"], &["plan"]),
            // What is behind the two hyphens is no option.
            (&["apply", "-json", "--", "-json=false"], &["apply", "--json", "--", "-json=false"]),
        ] {
            assert_eq!(normal(words), wanted, "{words:?}");
        }
    }

    #[test]
    fn every_switch_of_every_command_can_be_taken_back() {
        let mut seen = 0;
        let mut commands = vec![Cli::command()];
        while let Some(command) = commands.pop() {
            commands.extend(command.get_subcommands().cloned());
            for arg in command.get_arguments().filter(|arg| matches!(arg.get_action(), ArgAction::SetTrue)) {
                let name = arg.get_long().unwrap_or_else(|| panic!("{arg} has no long name"));
                let said = [format!("-{name}"), format!("-{name}=true"), format!("-{name}=false")];
                let words: Vec<&str> = said.iter().map(String::as_str).collect();
                assert_eq!(normal(&words), <[String; 0]>::default());
                seen += 1;
            }
        }
        assert!(seen > 30, "{seen}");
    }

    #[test]
    fn unknown_options_are_spelled_so_that_clap_can_suggest() {
        assert_eq!(normal(&["plan", "-varfile=x"]), ["plan", "--varfile=x"]);
    }

    #[cfg(unix)]
    #[test]
    fn arguments_that_are_no_text_stay() {
        use std::os::unix::ffi::OsStringExt;
        for odd in [&b"-\xff\xfe"[..], b"--out=\xff", b"-o\xff", b"\xff"] {
            let odd = OsString::from_vec(odd.to_vec());
            assert_eq!(normalise(&Cli::command(), vec![odd.clone()]), [odd]);
        }
        let (one, two) = (b"-out=a\xff=b".to_vec(), OsString::from_vec(b"--out=a\xff=b".to_vec()));
        assert_eq!(normalise(&Cli::command(), vec![OsString::from_vec(one)]), [two]);
    }
}
