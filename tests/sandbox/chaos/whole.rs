//! All runs, side by side, and their table.

use std::{
    any::Any,
    collections::BTreeMap,
    fmt::Write as _,
    num::NonZeroUsize,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Instant,
};

use super::{
    runs::{Run, Stage},
    stories::stories,
};

/// What came of runs.
#[derive(Default)]
pub(crate) struct Tally {
    /// Story's number and fault's kind -> runs, and how many of them converged.
    rows: BTreeMap<(usize, String), (usize, usize)>,
    /// What did not converge, and how.
    failures: Vec<String>,
}

/// Which runs of all there are.
fn list(twice: bool) -> Vec<Run> {
    let stages = stories().into_iter().map(Stage::new).enumerate();
    stages.flat_map(|(index, stage)| stage.runs(index, twice)).collect()
}

/// Plays runs on all cores; a run that panics has not converged.
pub(crate) fn play_all(runs: &[Run]) -> Tally {
    let tally = Mutex::new(Tally::default());
    let next = AtomicUsize::new(0);
    let work = || {
        // Nothing of a lab can be sent to another thread.
        let stages: Vec<Stage> = stories().into_iter().map(Stage::new).collect();
        while let Some(run) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let outcome = catch_unwind(AssertUnwindSafe(|| stages[run.story].play(run)));
            let mut tally = tally.lock().unwrap();
            let row = tally.rows.entry((run.story, run.kind())).or_default();
            row.0 += 1;
            row.1 += usize::from(outcome.is_ok());
            tally.failures.extend(outcome.err().map(told));
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZeroUsize::get) {
            scope.spawn(work);
        }
    });
    tally.into_inner().unwrap()
}

fn told(panic: Box<dyn Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(other) => other.downcast::<&str>().map_or_else(|_| "a panic".to_owned(), |text| text.to_string()),
    }
}

impl Tally {
    /// A line for each story and kind of fault, and the sums of each kind.
    fn table(&self) -> String {
        let names: Vec<&str> = stories().iter().map(|story| story.name).collect();
        let mut text = line("scenario", "fault", "runs", "converged");
        text.push_str(&line("---", "---", "---", "---"));
        let mut sums: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for ((story, kind), (runs, converged)) in &self.rows {
            text.push_str(&line(names[*story], kind, &runs.to_string(), &converged.to_string()));
            let sum = sums.entry(kind).or_default();
            *sum = (sum.0 + runs, sum.1 + converged);
        }
        for (kind, (runs, converged)) in sums {
            text.push_str(&line("**all**", kind, &runs.to_string(), &converged.to_string()));
        }
        text
    }

    /// Panics if anything did not converge.
    pub(crate) fn assert_converged(&self) {
        assert!(self.failures.is_empty(), "{} runs:\n{}", self.failures.len(), self.failures.join("\n\n"));
    }
}

fn line(scenario: &str, fault: &str, runs: &str, converged: &str) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "| {scenario:<54} | {fault:<48} | {runs:>5} | {converged:>9} |");
    text
}

/// Played by `just chaos`: too long for every test run.
#[test]
#[ignore = "minutes of work: just chaos"]
#[expect(clippy::print_stdout, reason = "a table for whoever runs it")]
fn everything_converges() {
    let begin = Instant::now();
    let runs = list(true);
    std::panic::set_hook(Box::new(|_| ()));
    let tally = play_all(&runs);
    drop(std::panic::take_hook());
    println!("{}", tally.table());
    println!("{} runs in {} s", runs.len(), begin.elapsed().as_secs());
    tally.assert_converged();
}

#[test]
fn a_sample_of_everything_converges() {
    let runs: Vec<Run> = list(false).into_iter().step_by(7).collect();
    play_all(&runs).assert_converged();
}
