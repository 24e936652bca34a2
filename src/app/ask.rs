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
    /// It cannot: there is nobody, or asking is forbidden. Only what changes nothing goes on.
    Nobody(&'static str),
}

impl Approval {
    /// What the command line and the terminal allow.
    pub(crate) fn new(auto_approve: bool, terraform: &TerraformArgs, ui: &Ui) -> Self {
        if auto_approve {
            Self::Given
        } else if !terraform.input {
            Self::Nobody("-input=false forbids to ask")
        } else if ui.asks() {
            Self::Asked
        } else {
            Self::Nobody("there is no terminal to ask on")
        }
    }

    /// Asks if need be. Anything but `yes` is a no, and so is nobody to say it.
    pub(crate) async fn obtain(
        self,
        ui: &Ui,
        interrupt: &Interrupt,
        purpose: Purpose,
    ) -> Result<(), Failure> {
        match self {
            Self::Given => return Ok(()),
            Self::Nobody(why) => return Err(unapproved(why)),
            Self::Asked => {}
        }
        ui.ask(view::confirmation(purpose));
        let answer = tokio::select! {
            biased;
            () = interrupt.raised() => {
                return Err(Failure::new(Kind::Interrupted, "Interrupted", "Nothing was changed."));
            }
            answer = line_from_terminal() => answer,
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

fn unapproved(why: &str) -> Failure {
    Failure::new(
        Kind::Refused,
        format!("Nobody can approve the changes: {why}"),
        "Nothing was changed. Give -auto-approve to make the changes shown above without a question.",
    )
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::app::ui::tests::on_paper;

    #[test]
    fn an_interrupt_at_the_question_is_no_answer() {
        let (interrupter, interrupt) = Interrupt::new();
        interrupter.raise();
        let (ui, _) = on_paper(true);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let asked = Approval::Asked.obtain(&ui, &interrupt, Purpose::Destroy);
        let failure = runtime.block_on(asked).unwrap_err();
        assert_eq!(
            (failure.kind, failure.diagnostics[0].summary.as_str()),
            (Kind::Interrupted, "Interrupted")
        );
    }

    #[test]
    fn nobody_says_no_and_says_why() {
        let (_, interrupt) = Interrupt::new();
        let (ui, err) = on_paper(false);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let refused = Approval::Nobody("why").obtain(&ui, &interrupt, Purpose::Apply);
        let failure = runtime.block_on(refused).unwrap_err();
        assert_eq!(failure.diagnostics[0].summary, "Nobody can approve the changes: why");
        assert_eq!(err.text(), "", "no question is asked");
    }
}
