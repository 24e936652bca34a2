//! From arguments to a command, a text to print, or an error of usage.

use std::ffi::OsString;

use clap::{
    CommandFactory, FromArgMatches,
    error::{ContextKind, ContextValue, ErrorKind},
};

use super::{Cli, spelling};
use crate::{
    error::{Failure, Kind},
    view::text,
};

/// What the arguments ask for.
#[derive(Debug)]
pub enum Parsed {
    /// A command to run.
    Run(Box<Cli>),
    /// Help or version: a text for standard output.
    Show(String),
}

/// Reads the arguments, the program's name first. Everything that clap refuses is an error of usage with
/// the same exit code as any other error.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Parsed, Failure> {
    let command = Cli::command();
    let mut args: Vec<OsString> = args.into_iter().collect();
    let rest = args.split_off(args.len().min(1));
    args.extend(spelling::normalise(&command, rest));
    match command.try_get_matches_from(&args).and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => Ok(Parsed::Run(Box::new(cli))),
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            Ok(Parsed::Show(error.to_string()))
        }
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Err(Failure::new(Kind::Usage, "No command given", error.to_string().trim()))
        }
        Err(mut error) => {
            let hint = hide_values(&mut error, &args);
            let mut failure = usage(&error.to_string());
            if let (Some(hint), Some(diagnostic)) = (hint, failure.diagnostics.last_mut()) {
                diagnostic.add(hint);
            }
            Err(failure)
        }
    }
}

/// Takes out of an error what may be the value of an input, a secret for all we know, in the wrong
/// place: what stands behind `=`, and a stray word behind `-var`, as an unquoted value with blanks or
/// line ends leaves them. What to say about it, if anything was taken out.
fn hide_values(error: &mut clap::Error, args: &[OsString]) -> Option<&'static str> {
    let is_word = error.kind() == ErrorKind::UnknownArgument;
    let kind = match error.kind() {
        // Of other kinds, the argument is the definition's own text.
        ErrorKind::UnknownArgument => ContextKind::InvalidArg,
        ErrorKind::InvalidSubcommand => ContextKind::InvalidSubcommand,
        _ => ContextKind::InvalidValue,
    };
    let Some(ContextValue::String(text)) = error.get(kind) else { return None };
    let (shown, hint) = if is_word && is_behind_var(text, args) {
        let hint = "It is not shown: it stands behind -var, and may be part of a value. Put quotes around NAME=VALUE.";
        ("...".to_owned(), hint)
    } else {
        let (name, _) = text.split_once('=')?;
        (format!("{name}=..."), "To set an input, write -var NAME=VALUE.")
    };
    error.insert(kind, ContextValue::String(shown));
    error.remove(ContextKind::Suggested);
    Some(hint)
}

/// Whether a word that is no option stands somewhere behind a `-var`.
fn is_behind_var(word: &str, args: &[OsString]) -> bool {
    let is_option =
        word.strip_prefix("--").is_some_and(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'));
    let mut rest = args.iter().map(|arg| arg.to_string_lossy());
    !is_option && rest.any(|arg| arg == "--var" || arg.starts_with("--var=")) && rest.any(|arg| arg == word)
}

/// clap's text, `error: <summary>` and more, as a failure.
fn usage(text: &str) -> Failure {
    let text = text.trim().trim_start_matches("error: ");
    let (summary, detail) = text.split_once('\n').unwrap_or((text, ""));
    // A heading that names its list in the lines below needs the first of them to tell the story.
    if let Some((first, rest)) =
        summary.ends_with(':').then(|| detail.trim_start().split_once('\n')).flatten()
    {
        let summary = format!("{} {}", text::capitalised(summary), first.trim());
        return Failure::new(Kind::Usage, summary, rest.trim_matches('\n'));
    }
    Failure::new(Kind::Usage, text::capitalised(summary), detail.trim_matches('\n'))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use std::{path::Path, time::Duration};

    use super::*;
    use crate::cli::{Command, PlanFormat, Source};

    fn run(words: &[&str]) -> Box<Cli> {
        let args = std::iter::once("machinepool").chain(words.iter().copied()).map(OsString::from);
        match parse(args).unwrap() {
            Parsed::Run(cli) => cli,
            Parsed::Show(text) => panic!("{text}"),
        }
    }

    fn fails(words: &[&str]) -> Failure {
        let args = std::iter::once("machinepool").chain(words.iter().copied()).map(OsString::from);
        parse(args).unwrap_err()
    }

    #[test]
    fn clap_finds_nothing_wrong_with_the_definition() {
        Cli::command().debug_assert();
    }

    #[test]
    fn sources_keep_their_order() {
        let words = ["plan", "-var", "a=1", "-var-file=x.json", "--var=b=2", "--var-file", "-"];
        let Command::Plan(plan) = run(&words).command else { panic!() };
        assert_eq!(
            plan.inputs.sources,
            [
                Source::Var("a=1".into()),
                Source::File("x.json".into()),
                Source::Var("b=2".into()),
                Source::File("-".into()),
            ]
        );
    }

    #[test]
    fn every_spelling_says_the_same() {
        for words in [
            ["-chdir=/tmp", "plan", "-detailed-exitcode", "--format=json", "-no-color"],
            ["plan", "--chdir=/tmp", "--detailed-exitcode", "-format=json", "--no-color"],
            ["plan", "-detailed-exitcode=true", "-no-color=1", "-chdir=/tmp", "-format=json"],
        ] {
            let cli = run(&words);
            assert_eq!(cli.global.chdir.as_deref(), Some(Path::new("/tmp")));
            assert!(cli.global.no_color);
            let Command::Plan(plan) = cli.command else { panic!() };
            assert!(plan.detailed_exitcode && !plan.destroy);
            assert_eq!(plan.format, PlanFormat::Json);
        }
    }

    #[test]
    fn what_scripts_for_terraform_say_is_understood() {
        let words = [
            "apply",
            "-input=false",
            "-no-color",
            "-lock=false",
            "-lock-timeout=300s",
            "-parallelism=4",
            "-refresh=false",
            "-compact-warnings",
            "-auto-approve",
            "-var-file=terraform.tfvars.json",
        ];
        let Command::Apply(apply) = run(&words).command else { panic!() };
        assert!(apply.auto_approve && !apply.terraform.input && apply.terraform.compact_warnings);
        assert_eq!(apply.timeout, Duration::from_mins(45));
        assert_eq!(apply.terraform.lock_timeout, Duration::from_mins(5));
    }

    #[test]
    fn the_summary_tells_the_story() {
        assert_eq!(
            fails(&["plan", "-fromat=json"]).diagnostics[0].summary,
            "Unexpected argument '--fromat' found"
        );
        assert!(fails(&["plan", "-fromat=json"]).diagnostics[0].detail.contains("--format"));
        assert_eq!(fails(&["aply"]).diagnostics[0].summary, "Unrecognized subcommand 'aply'");
        assert_eq!(fails(&[]).diagnostics[0].summary, "No command given");
        assert!(fails(&["apply", "--timeout", "5"]).diagnostics[0].summary.contains("--timeout"));
        assert!(fails(&["plan", "-var-file"]).diagnostics[0].summary.contains("--var-file"));
    }

    #[test]
    fn what_may_be_a_value_of_an_input_is_not_repeated() {
        for words in [
            &["plan", "bootstrap_data=SECRET"][..],
            &["plan", "--", "bootstrap_data=SECRET"],
            &["bootstrap_data=SECRET"],
            &["-bootstrap_data=SECRET", "plan"],
            &["plan", "-bootstrap_data=SECRET"],
            &["plan", "--format", "bootstrap_data=SECRET"],
            &["apply", "-input=bootstrap_data=SECRET"],
            &["apply", "--timeout=bootstrap_data=SECRET"],
            &["schema", "bootstrap_data=SECRET"],
            &["plan", "-var", "bootstrap_data", "SECRET"],
            &["plan", "-var=bootstrap_data=a", "SECRET", "SECRET"],
            &["plan", "-var", "bootstrap_data=a", "-var-file=x", "SECRET"],
            &["plan", "-var", "bootstrap_data=a", "-----SECRET"],
            &["plan", "-var", "bootstrap_data=a", "--SECRET"],
            &["outputs", "-var", "bootstrap_data=a", "b", "SECRET"],
        ] {
            let failure = fails(words);
            let diagnostic = &failure.diagnostics[0];
            assert!(!diagnostic.to_string().contains("SECRET"), "{words:?}: {diagnostic}");
        }
        let failure = fails(&["plan", "bootstrap_data=SECRET"]);
        assert_eq!(failure.diagnostics[0].summary, "Unexpected argument 'bootstrap_data=...' found");
        assert!(failure.diagnostics[0].detail.contains("write -var NAME=VALUE"), "{failure:?}");
        let failure = fails(&["plan", "-var", "a=b", "-fromat=json"]);
        assert_eq!(failure.diagnostics[0].summary, "Unexpected argument '--fromat' found");
        assert!(fails(&["plan", "-var"]).diagnostics[0].summary.contains("--var <NAME=VALUE>"));
    }

    #[test]
    fn what_excludes_each_other_is_refused() {
        assert_eq!(fails(&["apply", "-refresh-only", "-wait"]).kind, Kind::Usage);
    }

    #[test]
    fn an_empty_sandbox_name_is_none() {
        assert_eq!(run(&["version", "-sandbox="]).global.sandbox(), None);
        assert_eq!(
            run(&["-sandbox", "x.json", "version"]).global.sandbox().as_deref(),
            Some(Path::new("x.json"))
        );
    }
}
