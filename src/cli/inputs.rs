//! `-var-file` and `-var`, in the order in which they were said.

use std::path::Path;

use clap::{ArgMatches, Args, Command, FromArgMatches};

/// What stands for standard input where a file is named.
pub(super) const STANDARD_INPUT: &str = "-";

/// One place that inputs come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A JSON file; `-` is standard input.
    File(String),
    /// `NAME=VALUE`.
    Var(String),
}

/// The sources of the inputs in the order of the command line: a later one wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputArgs {
    /// The sources; none means the files of the working directory.
    pub sources: Vec<Source>,
}

impl InputArgs {
    /// The files that are named.
    pub fn files(&self) -> Vec<&Path> {
        let named = self.sources.iter().filter_map(|source| match source {
            Source::File(name) if name != STANDARD_INPUT => Some(Path::new(name)),
            Source::File(_) | Source::Var(_) => None,
        });
        named.collect()
    }

    /// Whether a source is standard input, of which nothing is left then.
    pub fn reads_standard_input(&self) -> bool {
        self.readings_of_standard_input() > 0
    }

    /// How many sources are standard input.
    pub(super) fn readings_of_standard_input(&self) -> usize {
        let is_standard_input =
            |source: &&Source| matches!(source, Source::File(name) if name == STANDARD_INPUT);
        self.sources.iter().filter(is_standard_input).count()
    }
}

/// The same options as clap sees them: two lists, whose common order only their indices tell.
#[derive(Debug, Args)]
#[command(next_help_heading = "Inputs")]
struct Spoken {
    /// Read inputs from this JSON file, - is standard input. May be repeated; a later source wins, name by
    /// name. Without -var-file and -var: terraform.tfvars.json, then *.auto.tfvars.json, of the working
    /// directory.
    #[arg(long, value_name = "FILE")]
    var_file: Vec<String>,
    /// Set one input. VALUE is JSON if it reads as JSON, else it is a string. May be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    var: Vec<String>,
}

impl Args for InputArgs {
    fn augment_args(command: Command) -> Command {
        Spoken::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Spoken::augment_args_for_update(command)
    }
}

impl FromArgMatches for InputArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let spoken = Spoken::from_arg_matches(matches)?;
        let files = spoken.var_file.into_iter().map(Source::File);
        let vars = spoken.var.into_iter().map(Source::Var);
        let mut placed: Vec<(usize, Source)> = indices(matches, "var_file").zip(files).collect();
        placed.extend(indices(matches, "var").zip(vars));
        placed.sort_by_key(|(index, _)| *index);
        Ok(Self { sources: placed.into_iter().map(|(_, source)| source).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn indices<'a>(matches: &'a ArgMatches, id: &str) -> impl Iterator<Item = usize> + 'a {
    matches.indices_of(id).into_iter().flatten()
}
