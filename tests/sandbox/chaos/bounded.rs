//! The part that every test run plays.

use super::{
    runs::{Disturbance, Run, Sequel, Stage},
    stories::{EVERYDAY, stories},
};

/// Plays those runs of the stories that a test chooses.
fn play(from: usize, to: usize, chosen: impl Fn(&Run) -> bool) {
    let stages: Vec<Stage> = stories().drain(from..to).map(Stage::new).collect();
    let mut played = 0;
    for (index, stage) in stages.iter().enumerate() {
        for run in stage.runs(index, false).iter().filter(|run| chosen(run)) {
            stage.play(run);
            played += 1;
        }
    }
    assert!(played > 0);
}

fn all_in_the_end() -> usize {
    stories().len()
}

#[test]
fn a_fault_at_any_call_is_healed_by_the_next_apply() {
    play(0, EVERYDAY, |run| matches!(run.disturbance, Disturbance::At(..)) && run.sequel == Sequel::Again);
}

#[test]
fn the_next_apply_may_come_late() {
    play(0, EVERYDAY, |run| run.sequel == Sequel::Later);
}

#[test]
fn inputs_reverted_or_changed_after_a_crash_lead_where_they_say() {
    play(0, EVERYDAY, |run| matches!(run.sequel, Sequel::Reverted | Sequel::Changed));
}

#[test]
fn a_pool_is_destroyed_after_a_crash_at_any_call() {
    play(0, EVERYDAY, |run| run.sequel == Sequel::Opposite);
}

#[test]
fn what_goes_wrong_all_the_time_is_endured() {
    play(0, all_in_the_end(), |run| matches!(run.disturbance, Disturbance::Throughout(_)));
}
