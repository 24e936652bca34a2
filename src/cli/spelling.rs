//! Terraform's spelling of options made ours before clap sees it: `-var-file` is `--var-file`, and a
//! switch may say what it is (`-auto-approve=true`), the last word on it being the one that counts.

use std::{ffi::OsString, os::unix::ffi::OsStrExt};

use clap::{Arg, ArgAction, Command};

use super::values;

/// The arguments of `command` in clap's spelling. Only words that begin with one hyphen and two letters
/// change: `-`, `-1` and `-h` stay, as does everything behind `--`.
pub(super) fn normalise(command: &Command, args: Vec<OsString>) -> Vec<OsString> {
    let mut place = Place(vec![command]);
    let mut args = args.into_iter();
    let mut normal: Vec<OsString> = Vec::new();
    while let Some(arg) = args.next() {
        if arg == "--" {
            normal.push(arg);
            break;
        }
        match arg.to_str().map(|text| place.option(text)) {
            Some(Word::Is(text)) => normal.push(text.into()),
            Some(Word::Named(text)) => {
                normal.push(text.into());
                normal.extend(args.next());
            }
            // No option takes a word with two hyphens for its value, so this is the switch itself.
            Some(Word::Off(switch)) => normal.retain(|word| *word != switch),
            None => normal.push(with_two_hyphens(arg)),
        }
    }
    normal.extend(args);
    normal
}

/// What becomes of one word.
enum Word {
    /// This one.
    Is(String),
    /// This one, and the next is its value.
    Named(String),
    /// A switch is off, whatever was said of it before.
    Off(OsString),
}

/// Where in a command line a word stands: the commands before it, the outermost first.
struct Place<'a>(Vec<&'a Command>);

impl Place<'_> {
    fn option(&mut self, word: &str) -> Word {
        let Some(bare) = long_name(word) else {
            let inner = self.0.last().and_then(|command| command.find_subcommand(word));
            self.0.extend(inner);
            return Word::Is(word.to_owned());
        };
        let (name, value) = bare.split_once('=').map_or((bare, None), |(name, value)| (name, Some(value)));
        let known = self.known(name);
        // Of a switch that is none here clap must hear, whatever it is said to be.
        let is_switch = known.map_or_else(|| is_everywhere(name), is_switch);
        match value.map(values::truth) {
            Some(Ok(true)) if is_switch => Word::Is(format!("--{name}")),
            Some(Ok(false)) if is_switch => Word::Off(format!("--{name}").into()),
            None if known.is_some_and(takes_next) => Word::Named(format!("--{bare}")),
            _ => Word::Is(format!("--{bare}")),
        }
    }

    /// The option of a name, if it can stand here.
    fn known(&self, name: &str) -> Option<&Arg> {
        let (innermost, outer) = self.0.split_last()?;
        let outer =
            outer.iter().flat_map(|command| command.get_arguments()).filter(|arg| arg.is_global_set());
        innermost.get_arguments().chain(outer).find(|arg| arg.get_long() == Some(name))
    }
}

/// Whether an option that clap adds by itself is called so.
fn is_everywhere(name: &str) -> bool {
    matches!(name, "help" | "version")
}

fn is_switch(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue)
}

/// Whether the word behind an option is its value.
fn takes_next(arg: &Arg) -> bool {
    arg.get_action().takes_values() && !arg.is_require_equals_set()
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
    fn a_switch_of_another_command_is_none_here() {
        for words in [
            ["validate", "--auto-approve=false"],
            ["validate", "--auto-approve=true"],
            ["--auto-approve=false", "apply"],
            ["version", "--detailed-exitcode=0"],
            ["plan", "--unknown=false"],
            ["--unknown=false", "plan"],
        ] {
            assert_eq!(normal(&words), words);
        }
        // What looks like a command may be the value of an option, and what is behind it the command's.
        assert_eq!(normal(&["-chdir", "plan", "apply", "-auto-approve=false"]), ["--chdir", "plan", "apply"]);
        assert_eq!(normal(&["state", "list", "-no-color=false"]), ["state", "list"]);
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
        let root = Cli::command();
        let mut commands = vec![(Vec::new(), &root)];
        while let Some((path, command)) = commands.pop() {
            let inner = command.get_subcommands();
            commands.extend(inner.map(|inner| ([path.as_slice(), &[inner.get_name()]].concat(), inner)));
            for arg in command.get_arguments().filter(|arg| matches!(arg.get_action(), ArgAction::SetTrue)) {
                let name = arg.get_long().unwrap_or_else(|| panic!("{arg} has no long name"));
                let said = [format!("-{name}"), format!("-{name}=true"), format!("-{name}=false")];
                let words: Vec<&str> = path.iter().copied().chain(said.iter().map(String::as_str)).collect();
                assert_eq!(normal(&words), path);
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
