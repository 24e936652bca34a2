//! Completions and man pages, made from the definition of the command line.

use std::{fs, path::Path};

use anyhow::Context as _;
use clap::{Command, CommandFactory};

use super::ui::Ui;
use crate::{
    cli::{self, Cli, CompletionsArgs, ManArgs},
    error::file_name,
};

/// The program's name on the command line.
const NAME: &str = "machinepool";

/// Prints a script for a shell.
pub(super) fn completions(ui: &Ui, args: &CompletionsArgs) {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), NAME, &mut script);
    ui.result(&String::from_utf8_lossy(&script));
}

/// Prints one man page, or writes all of them.
pub(super) fn man(ui: &Ui, args: &ManArgs) -> anyhow::Result<u8> {
    let mut program = Cli::command();
    // Gives each command the name by which it is called.
    program.build();
    if let Some(directory) = &args.dir {
        write_pages(ui, &program, directory)?;
    } else {
        let path = cli::named(&program, &args.command)?;
        ui.result(&page(path.last().copied().unwrap_or(&program))?);
    }
    Ok(0)
}

fn page(command: &Command) -> anyhow::Result<String> {
    // A page of the same version is the same on every machine. An empty text would leave its place to the source.
    const NO_DATE: &str = "\"\"";
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone())
        .date(NO_DATE)
        .source(concat!("machinepool ", env!("CARGO_PKG_VERSION")))
        .manual("Machinepool Manual")
        .render(&mut page)
        .context("Cannot make the man page")?;
    Ok(tidy(&String::from_utf8_lossy(&page)))
}

/// Without what readers of the format warn of: blanks at the end of a line, a break beside an empty line.
fn tidy(page: &str) -> String {
    let lines: Vec<&str> = page.lines().map(str::trim_end).collect();
    let is_empty = |at: Option<usize>| at.and_then(|at| lines.get(at)).is_some_and(|line| line.is_empty());
    let kept = lines.iter().enumerate().filter(|(at, line)| {
        **line != ".br" || !(is_empty(at.checked_sub(1)) || is_empty(at.checked_add(1)))
    });
    kept.flat_map(|(_, line)| [line, "\n"]).collect()
}

fn write_pages(ui: &Ui, program: &Command, directory: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(directory)
        .with_context(|| format!("Cannot make the directory {}", file_name(directory)))?;
    let mut all = vec![program];
    while let Some(command) = all.pop() {
        all.extend(cli::shown(command));
        // `machinepool-rollout-start`, as building the definition has named it.
        let name = command.get_display_name().unwrap_or(command.get_name());
        let path = directory.join(format!("{name}.1"));
        fs::write(&path, page(command)?).with_context(|| format!("Cannot write {}", file_name(&path)))?;
        ui.result(&format!("{}\n", path.display()));
    }
    Ok(())
}
