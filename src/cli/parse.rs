//! From arguments to a command, a text to print, or an error of usage.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, error::ErrorKind};

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
    match command.try_get_matches_from(args).and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => Ok(Parsed::Run(Box::new(cli))),
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            Ok(Parsed::Show(error.to_string()))
        }
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Err(Failure::new(Kind::Usage, "No command given", error.to_string().trim()))
        }
        Err(error) => Err(usage(&error.to_string())),
    }
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
