//! Parse, run, print one error, exit.

use std::process::ExitCode;

use machinepool::{
    app::{self, Taste, Ui},
    cli::{self, Parsed},
};

fn main() -> ExitCode {
    let parsed = cli::parse(std::env::args_os());
    let taste = match &parsed {
        Ok(Parsed::Run(cli)) => {
            Taste { plain: cli.global.no_color, compact_warnings: cli.compact_warnings() }
        }
        Ok(Parsed::Show(_)) | Err(_) => Taste { plain: true, compact_warnings: false },
    };
    let ui = Ui::of_process(taste);
    let outcome = parsed.and_then(|parsed| match parsed {
        Parsed::Run(cli) => app::run(&ui, &cli),
        Parsed::Show(text) => {
            ui.result(&text);
            Ok(0)
        }
    });
    match outcome.and_then(|code| ui.finish().map(|()| code)) {
        Ok(code) => code.into(),
        Err(failure) => {
            ui.tell(&failure.diagnostics);
            failure.exit_code().into()
        }
    }
}
