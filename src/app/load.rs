//! Inputs from files, standard input and options.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use anyhow::Context as _;

use crate::{
    cli::{InputArgs, Source},
    contract::{
        inputs::Inputs,
        problem::{Diagnostic, Problems, sentence},
        request::Scope,
    },
    error::{Failure, Kind, file_hint, file_name, naming_user},
};

/// No inputs are larger; what is (a device, a wrong file) is not read to its end. In bytes.
const LARGEST: u64 = 64 << 20;

/// The file that Terraform reads first, when none is named.
const FIRST_FILE: &str = "terraform.tfvars.json";

/// What is wrong with the inputs; and if only options were given, which files were left unread for them.
pub(crate) fn told(problems: Problems, args: &InputArgs) -> Failure {
    let mut failure = Failure::from(problems);
    let only_vars =
        !args.sources.is_empty() && args.sources.iter().all(|source| matches!(source, Source::Var(_)));
    let unread = if only_vars { names_here().unwrap_or_default() } else { Vec::new() };
    if let (Some(name), Some(last)) = (unread.first(), failure.diagnostics.last_mut()) {
        last.add(&format!(
            "{name} in the working directory was not read, because -var was given. Give -var-file={name} before \
             -var to have both."
        ));
    }
    failure
}

/// `<namespace>/<name>`.
pub(crate) fn pool(scope: &Scope) -> String {
    format!("{}/{}", scope.namespace, scope.name)
}

/// What was said. All that is wrong with the files is told together.
pub(crate) fn inputs(args: &InputArgs) -> anyhow::Result<Inputs> {
    let found;
    let sources = if args.sources.is_empty() {
        found = files_here()?;
        &found
    } else {
        &args.sources
    };
    let mut inputs = Inputs::default();
    let mut problems = Vec::new();
    for source in sources {
        let added = match source {
            Source::File(name) => read(name).and_then(|text| inputs.add_file(&shown(name), &text)),
            Source::Var(assignment) => inputs.add_var(assignment),
        };
        problems.extend(added.err());
    }
    if problems.is_empty() { Ok(inputs) } else { Err(Failure::from(Problems(problems)).into()) }
}

/// `terraform.tfvars.json`, then `*.auto.tfvars.json` by name, of the working directory.
fn names_here() -> anyhow::Result<Vec<String>> {
    let unreadable = "Cannot list the working directory";
    let mut names = Vec::new();
    for entry in Path::new(".").read_dir().context(unreadable)? {
        let name = entry.context(unreadable)?.file_name();
        names.extend(name.to_str().filter(|name| name.ends_with(".auto.tfvars.json")).map(str::to_owned));
    }
    names.sort_unstable();
    if is_there(Path::new(FIRST_FILE)).with_context(|| format!("Cannot read the inputs from {FIRST_FILE}"))? {
        names.insert(0, FIRST_FILE.to_owned());
    }
    Ok(names)
}

/// Whether there is anything by that name, a link that leads nowhere included. Only a name that is not
/// there is a no; one that cannot be looked up is an error.
pub(crate) fn is_there(path: &Path) -> io::Result<bool> {
    match path.symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The files that are read where no other source is given.
fn files_here() -> anyhow::Result<Vec<Source>> {
    let names = names_here()?;
    if names.is_empty() {
        return Err(Failure::new(
            Kind::Usage,
            "No inputs given",
            format!(
                "Give -var-file=FILE (a JSON file, - for standard input) or -var NAME=VALUE, or work in a \
                 directory with {FIRST_FILE} or *.auto.tfvars.json (-chdir=DIR)."
            ),
        )
        .into());
    }
    Ok(names.into_iter().map(Source::File).collect())
}

/// A source for messages.
fn shown(name: &str) -> String {
    if name == "-" { "standard input".to_owned() } else { file_name(name) }
}

fn read(name: &str) -> Result<Vec<u8>, Diagnostic> {
    let mut text = Vec::new();
    let result = match name {
        "-" => io::stdin().lock().take(LARGEST + 1).read_to_end(&mut text),
        path => File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut text)),
    };
    let summary = || format!("Cannot read the inputs from {}", shown(name));
    match result {
        Err(error) => {
            let mut problem = Diagnostic::error(summary(), sentence(&naming_user(error).to_string()));
            if let Some(hint) = file_hint(name, "-var-file") {
                problem.add(&hint);
            }
            Err(problem)
        }
        Ok(_) if text.len() as u64 > LARGEST => {
            Err(Diagnostic::error(summary(), format!("It is larger than {} MiB.", LARGEST >> 20)))
        }
        Ok(_) => Ok(text),
    }
}
