//! From arguments to a command, a text to print, or an error of usage.

use std::ffi::OsString;

use clap::{
    ArgMatches, CommandFactory, FromArgMatches,
    error::{ContextKind, ContextValue, ErrorKind},
    parser::ValueSource,
};

use super::{Cli, epilog, names, spelling, terraform, values};
use crate::{
    contract::quote,
    error::{Failure, Kind},
    prose,
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
/// the same exit code as any other error. `width` is asked how many columns there are where help is shown.
pub fn parse(args: impl IntoIterator<Item = OsString>, width: impl Fn() -> usize) -> Result<Parsed, Failure> {
    let mut command = Cli::command();
    let mut args: Vec<OsString> = args.into_iter().collect();
    let rest = args.split_off(args.len().min(1));
    args.extend(names::of_help(&command, spelling::normalise(&command, rest)));
    if args.iter().any(|arg| ["help", "--help", "-h"].iter().any(|help| arg == help)) {
        command = epilog::fitted_to(command, width());
    }
    let mut sandbox_without_name = false;
    let cli = command.try_get_matches_from(&args).and_then(|matches| {
        sandbox_without_name = names_no_sandbox(&matches);
        Cli::from_arg_matches(&matches)
    });
    match cli {
        Ok(_) if sandbox_without_name => Err(Failure::new(
            Kind::Usage,
            "--sandbox names no file",
            "Its value is empty, as that of a shell's variable which is not set. Name the sandbox's file; without the \
             option the command works in AWS.",
        )),
        Ok(cli) => cli.check().map(|()| Parsed::Run(Box::new(cli))),
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            Ok(Parsed::Show(error.to_string()))
        }
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Err(Failure::new(Kind::Usage, "No command given", help(&args, width()).trim()))
        }
        Err(mut error) => {
            without_refused(&mut error);
            let hint = hide_values(&mut error, &args);
            let mut failure = usage(&error.to_string());
            if let (Some(hint), Some(diagnostic)) = (hint, failure.diagnostics.last_mut()) {
                diagnostic.add(hint);
            }
            Err(failure)
        }
    }
}

/// What clap shows for the arguments, made for so many columns.
fn help(args: &[OsString], width: usize) -> String {
    let shown = epilog::fitted_to(Cli::command(), width).try_get_matches_from(args);
    shown.err().map(|shown| shown.to_string()).unwrap_or_default()
}

/// Whether the option was given with nothing: taken for none, it would lead a script into the real account. An empty
/// variable of the environment is none.
fn names_no_sandbox(matches: &ArgMatches) -> bool {
    matches.value_source("sandbox") == Some(ValueSource::CommandLine)
        && matches.get_one::<OsString>("sandbox").is_some_and(|name| name.is_empty())
}

/// In which form a program that calls this one wants to be told of results and errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Text for people.
    #[default]
    Text,
    /// One JSON object per line.
    Lines,
    /// One JSON object: the verdict of `validate`.
    Verdict,
}

/// The form that the arguments ask for, also those that [`parse`] refuses: even then a program must be
/// able to read the answer.
pub fn form(args: impl IntoIterator<Item = OsString>) -> Form {
    let words: Vec<String> = args
        .into_iter()
        .skip(1)
        .take_while(|arg| arg != "--")
        .filter_map(|arg| arg.into_string().ok())
        .collect();
    let json = words.iter().rev().find_map(|word| match word.trim_start_matches('-').split_once('=') {
        _ if !word.starts_with('-') => None,
        None if word.trim_start_matches('-') == "json" => Some(true),
        Some(("json", value)) => Some(values::truth(value).unwrap_or(true)),
        _ => None,
    });
    let command = words.iter().map(String::as_str).find(|word| {
        matches!(*word, "plan" | "apply" | "destroy" | "init" | "validate" | "show" | "state" | "version")
    });
    match command {
        Some("plan" | "apply" | "destroy" | "init") if json == Some(true) => Form::Lines,
        Some("validate") if json == Some(true) => Form::Verdict,
        _ => Form::Text,
    }
}

/// Takes out of an error what may be the value of an input, a secret for all we know, in the wrong
/// place: what stands behind `=`, a stray word behind `-var`, as an unquoted value with blanks or
/// line ends leaves them, and what does not look like a word. What to say about it, if anything was taken out.
fn hide_values(error: &mut clap::Error, args: &[OsString]) -> Option<&'static str> {
    let is_word = error.kind() == ErrorKind::UnknownArgument;
    let kind = match error.kind() {
        // Of other kinds, the argument is the definition's own text.
        ErrorKind::UnknownArgument => ContextKind::InvalidArg,
        ErrorKind::InvalidSubcommand => ContextKind::InvalidSubcommand,
        _ => ContextKind::InvalidValue,
    };
    let Some(ContextValue::String(text)) = error.get(kind) else { return None };
    if text == "=" && is_word {
        return Some("An input is one word, without blanks around the sign: -var NAME=VALUE.");
    }
    let bare = text.trim_start_matches('-');
    let (shown, hint) = if is_word && is_behind_var(text, args) {
        let hint = "It is not shown: it stands behind -var, and may be part of a value. Put quotes around NAME=VALUE.";
        ("...".to_owned(), hint)
    } else if let Some((name, _)) = text.split_once('=').filter(|_| !bare.ends_with('=')) {
        let name = if quote::is_quotable(name.trim_start_matches('-')) { name } else { "..." };
        (format!("{name}=..."), "To set an input, write -var NAME=VALUE.")
    } else if quote::is_quotable(bare) {
        return None;
    } else {
        let hint =
            "What was given is not shown: it does not look like what belongs there, and may be a secret.";
        (quote::within_quotes(bare), hint)
    };
    error.insert(kind, ContextValue::String(shown));
    error.remove(ContextKind::Suggested);
    Some(hint)
}

/// Takes out the suggestion of an option that is known only to be refused.
fn without_refused(error: &mut clap::Error) {
    let is_refused = |option: &String| terraform::REFUSED.contains(&option.trim_start_matches('-'));
    if matches!(error.get(ContextKind::SuggestedArg), Some(ContextValue::String(option)) if is_refused(option))
    {
        error.remove(ContextKind::SuggestedArg);
    }
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
        let summary = format!("{} {}", prose::capitalised(summary), first.trim());
        return Failure::new(Kind::Usage, summary, rest.trim_matches('\n'));
    }
    Failure::new(Kind::Usage, prose::capitalised(summary), detail.trim_matches('\n'))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use std::{path::Path, time::Duration};

    use super::*;
    use crate::cli::{Command, PlanFormat, Source, StateCommand};

    fn run(words: &[&str]) -> Box<Cli> {
        let args = std::iter::once("machinepool").chain(words.iter().copied()).map(OsString::from);
        match parse(args, || 100).unwrap() {
            Parsed::Run(cli) => cli,
            Parsed::Show(text) => panic!("{text}"),
        }
    }

    fn fails(words: &[&str]) -> Failure {
        let args = std::iter::once("machinepool").chain(words.iter().copied()).map(OsString::from);
        parse(args, || 100).unwrap_err()
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
        assert_eq!(apply.terraform.locking.lock_timeout, Duration::from_mins(5));
        assert!(!apply.terraform.locking.lock);
    }

    /// The argument vectors of the controller's runner, word by word.
    #[test]
    fn what_the_runner_says_is_understood() {
        let labels = r#"-backend-config=labels={"a.io/k"="v","b"="w"}"#;
        let Command::Init(init) = run(&[
            "init",
            "-input=false",
            "-no-color",
            "-lock-timeout=300s",
            "-backend-config=secret_suffix=demo",
            "-backend-config=in_cluster_config=true",
            labels,
        ])
        .command
        else {
            panic!()
        };
        assert_eq!(init.backend_config[0], "secret_suffix=demo");
        assert_eq!(init.backend_config[2], r#"labels={"a.io/k"="v","b"="w"}"#);
        assert!(init.backend);
        let Command::ForceUnlock(unlock) = run(&["force-unlock", "-force", "6c5a"]).command else { panic!() };
        assert!(unlock.force && unlock.id == "6c5a");
        let Command::Plan(plan) = run(&[
            "plan",
            "-input=false",
            "-no-color",
            "-lock-timeout=300s",
            "-detailed-exitcode",
            "-refresh=false",
            "-var-file=terraform.tfvars.json",
            "-out=/captf/work/apply.tfplan",
        ])
        .command
        else {
            panic!()
        };
        assert_eq!(plan.out.as_deref(), Some(Path::new("/captf/work/apply.tfplan")));
        let Command::Show(show) = run(&["show", "-json", "-no-color", "/captf/work/apply.tfplan"]).command
        else {
            panic!()
        };
        assert!(show.json);
        let words = ["apply", "-input=false", "-no-color", "-lock-timeout=300s", "/captf/work/apply.tfplan"];
        let Command::Apply(apply) = run(&words).command else { panic!() };
        assert!(apply.plan_file.is_some() && apply.inputs.sources.is_empty());
        let words = ["state", "push", "-force", "-lock-timeout=300s", "backup.tfstate"];
        let Command::State(StateCommand::Push(push)) = run(&words).command else { panic!() };
        assert!(push.force && push.locking.lock && push.locking.lock_timeout == Duration::from_mins(5));
        assert!(matches!(run(&["state", "list"]).command, Command::State(StateCommand::List(_))));
        let Command::Version(version) = run(&["version", "-json"]).command else { panic!() };
        assert!(version.json);
    }

    #[test]
    fn what_terraform_accepts_beside_is_accepted() {
        run(&[
            "init",
            "-upgrade",
            "-reconfigure",
            "-migrate-state",
            "-lockfile=readonly",
            "-backend=false",
            "-get=true",
        ]);
        run(&["init", "-force-copy", "-lock=false", "-plugin-dir=x", "-compact-warnings", "-json"]);
        run(&["plan", "-parallelism=4", "-compact-warnings", "-lock=false", "-json"]);
    }

    #[test]
    fn what_would_mean_something_else_is_refused_by_name() {
        for command in ["plan", "apply", "destroy"] {
            for option in ["-target=module.role", "-replace=x"] {
                let failure = fails(&[command, option]);
                let name = option.split('=').next().unwrap();
                assert_eq!(failure.diagnostics[0].summary, format!("{name} is not supported"), "{command}");
            }
        }
        assert_eq!(fails(&["plan", "-json", "--format", "json"]).kind, Kind::Usage);
        assert_eq!(fails(&["apply", "-refresh-only", "x.tfplan"]).kind, Kind::Usage);
        assert_eq!(fails(&["show"]).kind, Kind::Usage);
        assert_eq!(fails(&["force-unlock", "-force"]).kind, Kind::Usage);
    }

    #[test]
    fn the_form_of_the_answer_is_known_before_anything_else() {
        let form = |words: &[&str]| {
            form(std::iter::once("machinepool").chain(words.iter().copied()).map(OsString::from))
        };
        assert_eq!(form(&["-chdir=x", "apply", "-nonsense", "-json"]), Form::Lines);
        assert_eq!(form(&["plan", "--json=true"]), Form::Lines);
        assert_eq!(form(&["plan", "-json", "-json=false"]), Form::Text);
        assert_eq!(form(&["validate", "-json"]), Form::Verdict);
        for words in [
            &["show", "-json", "plan"][..],
            &["version", "-json"],
            &["plan"],
            &["apply", "--", "-json"],
            &["-json"],
            &[],
        ] {
            assert_eq!(form(words), Form::Text, "{words:?}");
        }
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
        let failure = fails(&["plan", "-var", "replicas", "=", "4"]);
        assert_eq!(failure.diagnostics[0].summary, "Unexpected argument '=' found");
        assert!(failure.diagnostics[0].detail.contains("without blanks"), "{failure:?}");
        for option in ["-state", "-state=x", "-targets=x", "-replaced"] {
            let told = fails(&["apply", option]).diagnostics[0].to_string();
            assert!(!told.contains("--target'") && !told.contains("--replace'"), "{option}: {told}");
        }
        let failure = fails(&["plan", "-var", "a=b", "-fromat=json"]);
        assert_eq!(failure.diagnostics[0].summary, "Unexpected argument '--fromat' found");
        assert!(fails(&["plan", "-var"]).diagnostics[0].summary.contains("--var <NAME=VALUE>"));
    }

    #[test]
    fn what_excludes_each_other_is_refused() {
        assert_eq!(fails(&["apply", "-refresh-only", "-wait"]).kind, Kind::Usage);
    }

    #[test]
    fn an_empty_sandbox_name_is_no_way_into_the_account() {
        for args in [&["apply", "-sandbox="][..], &["--sandbox", "", "apply"], &["apply", "--sandbox", ""]] {
            let failure = fails(args);
            assert_eq!(failure.kind, Kind::Usage);
            assert!(failure.diagnostics[0].summary.contains("names no file"), "{args:?}: {failure:?}");
        }
        assert_eq!(
            run(&["-sandbox", "x.json", "version"]).global.sandbox().as_deref(),
            Some(Path::new("x.json"))
        );
    }
}
