//! The question before anything is written.

use std::io::{self, BufRead};

use tokio::sync::oneshot;

use super::ui::Ui;
use crate::{
    cli::{InputArgs, TerraformArgs},
    engine::context::Interrupt,
    error::{Failure, Kind},
    view::{self, Purpose},
};

/// What somebody is asked to approve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asking {
    /// What apply does.
    Apply,
    /// What destroy does.
    Destroy,
    /// A roll that somebody starts by hand; it cannot be saved as a plan.
    Rollout,
}

/// How an approval comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Approval {
    /// It was given on the command line.
    Given,
    /// Somebody is there to be asked.
    Asked,
    /// It cannot, for this reason: there is nobody, or asking is forbidden. Only what changes nothing goes on.
    Nobody(Asking, &'static str),
}

impl Approval {
    /// What the command line and the terminal allow.
    pub(crate) fn new(
        asking: Asking,
        auto_approve: bool,
        terraform: &TerraformArgs,
        inputs: &InputArgs,
        ui: &Ui,
    ) -> Self {
        if auto_approve {
            Self::Given
        } else if !terraform.input {
            Self::Nobody(asking, "-input=false forbids to ask")
        } else if ui.lines().is_some() {
            Self::Nobody(asking, "with -json nothing is asked")
        } else if ui.asks() {
            Self::Asked
        } else if inputs.reads_standard_input() {
            // The terminal itself is not opened in its place: a script that has one must not come to wait for it.
            Self::Nobody(asking, "the inputs came from standard input, and so would the answer")
        } else {
            Self::Nobody(asking, "there is no terminal to ask on")
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
            Self::Nobody(asking, why) => return Err(unapproved(asking, why)),
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

/// The ways that work without a question.
fn unapproved(asking: Asking, why: &str) -> Failure {
    let plan = match asking {
        Asking::Apply => "plan -out=FILE",
        Asking::Destroy => "plan -destroy -out=FILE",
        Asking::Rollout => {
            return nobody(
                why,
                "give -auto-approve to replace the instances shown above without a question, or give the inputs as \
                 -var-file=FILE on a terminal, and answer there.",
            );
        }
    };
    let instead = format!(
        "give -auto-approve to make the changes shown above without a question, or save them with {plan}, look at \
         them, and carry them out with apply FILE, which asks nothing."
    );
    nobody(why, &instead)
}

fn nobody(why: &str, instead: &str) -> Failure {
    Failure::new(
        Kind::Refused,
        format!("Nobody can approve the changes: {why}"),
        format!("Nothing was changed. To go on, {instead}"),
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
        let refused = Approval::Nobody(Asking::Apply, "why").obtain(&ui, &interrupt, Purpose::Apply);
        let failure = runtime.block_on(refused).unwrap_err();
        assert_eq!(failure.diagnostics[0].summary, "Nobody can approve the changes: why");
        assert_eq!(err.text(), "", "no question is asked");
    }
}
