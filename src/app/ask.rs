//! The question before anything is written.

use std::io::{self, BufRead};

use tokio::sync::oneshot;

use super::ui::Ui;
use crate::{
    cli::TerraformArgs,
    engine::context::Interrupt,
    error::{Failure, Kind},
    view::{self, Purpose},
};

/// How an approval comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Approval {
    /// It was given on the command line.
    Given,
    /// Somebody is there to be asked.
    Asked,
}

impl Approval {
    /// Refuses where neither is the case, before anything is read.
    pub(crate) fn new(auto_approve: bool, terraform: &TerraformArgs, ui: &Ui) -> Result<Self, Failure> {
        if auto_approve {
            return Ok(Self::Given);
        }
        if ui.asks() && terraform.input {
            return Ok(Self::Asked);
        }
        let why =
            if terraform.input { "There is no terminal to ask on" } else { "-input=false forbids to ask" };
        Err(Failure::new(
            Kind::Refused,
            format!("Nobody can approve the changes: {}{}", why[..1].to_lowercase(), &why[1..]),
            "Give -auto-approve to go on without a question; plan shows the changes. Nothing was changed.",
        ))
    }

    /// Asks if need be. Anything but `yes` is a no.
    pub(crate) async fn obtain(
        self,
        ui: &Ui,
        interrupt: &Interrupt,
        purpose: Purpose,
    ) -> Result<(), Failure> {
        if self == Self::Given {
            return Ok(());
        }
        ui.ask(view::confirmation(purpose));
        let answer = tokio::select! {
            answer = line_from_terminal() => answer,
            () = interrupt.raised() => None,
        };
        if answer.is_some() {
            ui.answered();
        }
        match answer.as_deref().map(str::trim) {
            Some("yes") => Ok(()),
            _ => Err(Failure::new(Kind::Refused, "Not approved", "Nothing was changed.")),
        }
    }
}

/// One line of standard input, read beside everything else; `None` at its end. The thread that reads
/// cannot be stopped, so it is left to the end of the process.
async fn line_from_terminal() -> Option<String> {
    let (sender, receiver) = oneshot::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line);
        // Nobody listens any more after an interrupt.
        let _ = sender.send(read.ok().filter(|length| *length > 0).map(|_| line));
    });
    receiver.await.ok().flatten()
}
