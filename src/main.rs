//! Parse, run, print one error, exit.

use std::process::ExitCode;

use machinepool::{
    app::{self, Taste, Ui},
    cli::{self, Form, Parsed},
    defect, error,
    view::Validation,
};

fn main() -> ExitCode {
    defect::end_at_panics();
    let form = cli::form(std::env::args_os());
    let parsed = cli::parse(std::env::args_os(), app::help_width);
    let lines = form == Form::Lines && !matches!(parsed, Ok(Parsed::Show(_)));
    let taste = match &parsed {
        Ok(Parsed::Run(cli)) => {
            Taste { plain: cli.global.no_color, compact_warnings: cli.compact_warnings(), lines }
        }
        Ok(Parsed::Show(_)) | Err(_) => Taste { plain: true, compact_warnings: false, lines },
    };
    let ui = Ui::of_process(taste);
    let outcome = parsed.map_err(anyhow::Error::from).and_then(|parsed| match parsed {
        Parsed::Run(cli) => app::run(&ui, &cli),
        Parsed::Show(text) => {
            ui.result(&text);
            Ok(0)
        }
    });
    match outcome.and_then(|code| Ok(ui.finish().map(|()| code)?)) {
        Ok(code) => code.into(),
        Err(error) => {
            let diagnostics = error::diagnostics(&error);
            match form {
                Form::Verdict => ui.result(&Validation::new(&diagnostics).to_json()),
                Form::Text | Form::Lines => ui.tell(&diagnostics),
            }
            ExitCode::FAILURE
        }
    }
}
