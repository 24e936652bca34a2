//! How far an apply came, for what is told and recorded when it fails.

use std::cell::Cell;

use crate::{
    engine::context::{Event, Progress},
    error::{Failure, Kind},
    model::{
        plan::{Address, Plan, Step, Task},
        resources::Write,
    },
    view::text::count,
};

/// Counts the steps of a plan that are done, and passes on what it is told.
pub(super) struct Steps<'a> {
    progress: &'a dyn Progress,
    /// The command that goes on from here.
    command: &'static str,
    /// How many there are, if that is known.
    total: Option<usize>,
    done: Cell<usize>,
    /// How many steps at the group come before the one that makes it; `None` if none does.
    before_group: Option<usize>,
    done_at_group: Cell<usize>,
}

impl<'a> Steps<'a> {
    /// None of a plan's steps is done yet.
    pub(super) fn of(plan: &Plan, progress: &'a dyn Progress) -> Self {
        let steps = || plan.stages.iter().flatten().flatten();
        let makes = |step: &&Step| matches!(step.task, Task::Write(Write::CreateGroup(_)));
        Self {
            progress,
            command: "apply",
            total: Some(steps().count()),
            done: Cell::new(0),
            before_group: steps().filter(|step| step.address == Address::Group).position(|step| makes(&step)),
            done_at_group: Cell::new(0),
        }
    }

    /// None of a roll's steps is done yet.
    pub(super) fn of_roll(plan: &Plan, progress: &'a dyn Progress) -> Self {
        Self { command: "rollout start", ..Self::of(plan, progress) }
    }

    /// No step of a destroy is done yet; what comes up on the way decides how many there are.
    pub(super) fn of_destroy(progress: &'a dyn Progress) -> Self {
        Self {
            progress,
            command: "destroy",
            total: None,
            done: Cell::new(0),
            before_group: None,
            done_at_group: Cell::new(0),
        }
    }

    /// Whether the group was made in this run.
    pub(super) fn made_group(&self) -> bool {
        self.before_group.is_some_and(|before| self.done_at_group.get() > before)
    }

    /// A failure whose first line says how far the command came and what goes on from there, if it was interrupted.
    pub(super) fn tell(&self, mut failure: Failure) -> Failure {
        if failure.kind == Kind::Interrupted {
            let summary = format!("Interrupted{}: a further {} goes on", self.how_far(), self.command);
            for diagnostic in failure.diagnostics.iter_mut().filter(|d| d.summary == "Interrupted") {
                diagnostic.summary.clone_from(&summary);
            }
        }
        failure
    }

    fn how_far(&self) -> String {
        let done = self.done.get();
        match self.total {
            Some(0) => String::new(),
            Some(total) if done == total => format!(" after all {total} steps"),
            Some(total) => format!(" after {done} of {total} steps"),
            None => format!(" after {}", count(done, "step")),
        }
    }
}

impl Progress for Steps<'_> {
    fn tell(&self, event: Event) {
        if let Event::Done { address, .. } = &event {
            self.done.set(self.done.get() + 1);
            if *address == Address::Group {
                self.done_at_group.set(self.done_at_group.get() + 1);
            }
        }
        self.progress.tell(event);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::time::Duration;

    use super::*;
    use crate::{
        engine::context::Silent,
        model::{planner, testing},
    };

    fn done(address: Address) -> Event {
        Event::Done { address, what: String::new(), took: Duration::ZERO }
    }

    fn interrupted(steps: &Steps<'_>) -> String {
        steps.tell(Failure::new(Kind::Interrupted, "Interrupted", "")).diagnostics[0].summary.clone()
    }

    #[test]
    fn an_interrupted_apply_says_how_far_it_came() {
        let (_, plan) = planner::plan(&testing::request(|_| {}), &testing::nothing()).unwrap();
        let steps = Steps::of(&plan, &Silent);
        let total = steps.total.unwrap();
        let goes_on = "a further apply goes on";
        assert_eq!(interrupted(&steps), format!("Interrupted after 0 of {total} steps: {goes_on}"));
        Progress::tell(&steps, done(Address::Object));
        assert_eq!(interrupted(&steps), format!("Interrupted after 1 of {total} steps: {goes_on}"));
        assert!(!steps.made_group(), "only the object is there");
        for _ in 1..total {
            Progress::tell(&steps, done(Address::Group));
        }
        assert!(steps.made_group());
        assert_eq!(interrupted(&steps), format!("Interrupted after all {total} steps: {goes_on}"));
        let other = steps.tell(Failure::new(Kind::Aws, "Interrupted", ""));
        assert_eq!(other.diagnostics[0].summary, "Interrupted");
    }

    #[test]
    fn a_roll_that_was_not_started_is_started_by_another_start() {
        let (_, plan) = planner::plan(&testing::request(|_| {}), &testing::nothing()).unwrap();
        let steps = Steps::of_roll(&plan, &Silent);
        assert!(interrupted(&steps).ends_with(" steps: a further rollout start goes on"));
    }

    #[test]
    fn a_plan_that_makes_no_group_has_made_none() {
        let steps = Steps::of(&Plan::default(), &Silent);
        Progress::tell(&steps, done(Address::Group));
        assert!(!steps.made_group());
        assert_eq!(interrupted(&steps), "Interrupted: a further apply goes on");
        let steps = Steps::of_destroy(&Silent);
        Progress::tell(&steps, done(Address::Group));
        assert_eq!(interrupted(&steps), "Interrupted after 1 step: a further destroy goes on");
    }
}
