//! The rows of the table, one function for each kind.

use std::{path::PathBuf, time::Duration};

use serde_json::json;

use super::{
    account::Start,
    calls::{depth, is_write},
    commands::{Ours, Terraform},
    meter::{Cost, Job},
    report::Row,
};

/// What is added to every call of AWS.
const FAR: Duration = Duration::from_millis(100);
const KIB: f64 = 1024.0;

pub(crate) struct Bench {
    pub(crate) ours: Ours,
    pub(crate) terraform: Option<Terraform>,
    pub(crate) binary: PathBuf,
    pub(crate) runs: usize,
}

/// Costs of the same thing, run by run.
#[derive(Default)]
struct Series(Vec<Cost>);

impl Series {
    fn millis(&self, of: impl Fn(&Cost) -> Duration) -> f64 {
        median(self.0.iter().map(|cost| of(cost).as_secs_f64() * 1000.0))
    }

    fn cpu(&self) -> f64 {
        self.millis(|cost| cost.cpu)
    }

    fn wall(&self) -> f64 {
        self.millis(|cost| cost.wall)
    }

    /// The largest.
    fn mebibytes(&self) -> f64 {
        self.0.iter().map(|cost| count(cost.bytes) / KIB / KIB).fold(0.0, f64::max)
    }

    /// The median of the ratios of each pair.
    fn ratio(&self, other: &Self, of: impl Fn(&Cost) -> Duration) -> f64 {
        median(self.0.iter().zip(&other.0).map(|(a, b)| of(a).as_secs_f64() / of(b).as_secs_f64()))
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Exact up to 2^53.
#[allow(clippy::cast_precision_loss)]
fn count(number: u64) -> f64 {
    number as f64
}

fn together(jobs: &[Job]) -> Cost {
    jobs.iter().map(Job::cost).reduce(Cost::then).unwrap()
}

impl Bench {
    /// Ours and Terraform's in turn.
    fn pairs(&self, ours: &[Job], theirs: Option<&[Job]>, before: impl Fn()) -> (Series, Series) {
        let (mut a, mut b) = (Series::default(), Series::default());
        for _ in 0..self.runs {
            before();
            a.0.push(together(ours));
            b.0.extend(theirs.map(together));
        }
        (a, b)
    }

    pub(crate) fn refresh(&self) -> Vec<Row> {
        self.ours.begin(Start::Settled, &json!({}));
        let theirs = self.terraform.as_ref().map(Terraform::refresh);
        let (ours, theirs) = self.pairs(&self.ours.refresh(), theirs.as_deref(), || ());
        let what = "A refresh operation (`version`, `init`, `apply -refresh-only`)";
        let cpu = Row::new(format!("{what}: CPU"), "at most 1/10 of Terraform's", millis(ours.cpu()));
        let wall = Row::new(format!("{what}: wall time"), "at most 1/4 of Terraform's", millis(ours.wall()));
        let memory = mebibytes(ours.mebibytes());
        let memory = Row::new(format!("{what}: peak memory"), "16 MiB", memory).met(ours.mebibytes() <= 16.0);
        if theirs.0.is_empty() {
            return vec![cpu, wall, memory];
        }
        let (cpu_ratio, wall_ratio) = (ours.ratio(&theirs, |c| c.cpu), ours.ratio(&theirs, |c| c.wall));
        vec![
            cpu.beside(beside(theirs.cpu(), cpu_ratio)).met(cpu_ratio <= 0.1),
            wall.beside(beside(theirs.wall(), wall_ratio)).met(wall_ratio <= 0.25),
            memory.beside(mebibytes(theirs.mebibytes())),
        ]
    }

    pub(crate) fn start_up(&self) -> Vec<Row> {
        let (ours, theirs) = (&self.ours, self.terraform.as_ref());
        let jobs = [
            ("`--help`", ours.help(), theirs.map(Terraform::help)),
            ("`version`", ours.version(), theirs.map(Terraform::version)),
            ("`validate`", ours.validate(), theirs.map(Terraform::validate)),
        ];
        jobs.into_iter()
            .map(|(name, ours, theirs)| {
                let theirs = theirs.map(|job| vec![job]);
                let (a, b) = self.pairs(&[ours], theirs.as_deref(), || ());
                let measured = format!("{}, {}", millis(a.cpu()), mebibytes(a.mebibytes()));
                let row = Row::new(format!("{name}: CPU"), "3 ms", measured).met(a.cpu() <= 3.0);
                if b.0.is_empty() { row } else { row.beside(beside(b.cpu(), a.ratio(&b, |c| c.cpu))) }
            })
            .collect()
    }

    /// What has no budget of its own, beside Terraform.
    pub(crate) fn applies(&self) -> Vec<Row> {
        let rotated = json!({"bootstrap_data": "I2Nsb3VkLWNvbmZpZyAyCg=="});
        let theirs = self.terraform.as_ref();
        let cases = [
            ("An apply without changes", json!({}), theirs.map(Terraform::apply)),
            ("A rotation", rotated, theirs.map(Terraform::rotation)),
        ];
        cases
            .into_iter()
            .map(|(what, patch, theirs)| {
                self.ours.begin(Start::Settled, &patch);
                let theirs = theirs.map(|job| vec![job]);
                let (a, b) = self.pairs(&[self.ours.apply()], theirs.as_deref(), || {
                    self.ours.begin(Start::Settled, &patch);
                });
                let measured = format!(
                    "{} CPU, {} wall, {}",
                    millis(a.cpu()),
                    millis(a.wall()),
                    mebibytes(a.mebibytes())
                );
                let row = Row::new(format!("{what} (`apply`)"), "", measured);
                if b.0.is_empty() { row } else { row.beside(beside(b.cpu(), a.ratio(&b, |c| c.cpu))) }
            })
            .collect()
    }

    /// Calls, counted by the other side.
    pub(crate) fn calls(&self) -> Vec<Row> {
        let rotated = json!({"bootstrap_data": "I2Nsb3VkLWNvbmZpZyAyCg=="});
        let native = json!({"autoscaling": {"enabled": true, "min": 1, "max": 5}});
        let cases = [
            ("AWS calls of a refresh", "2", 2, Start::Settled, json!({}), self.ours.refresh_only()),
            ("AWS calls of `outputs`", "2", 2, Start::Settled, json!({}), self.ours.outputs()),
            (
                "AWS calls of a plan of an unchanged pool",
                "10",
                10,
                Start::Settled,
                json!({}),
                self.ours.plan(),
            ),
            ("AWS calls of a rotation", "a plan's and 1", 11, Start::Settled, rotated, self.ours.apply()),
            (
                "AWS calls of a creation",
                "a plan's, 5 writes, 2 reads",
                17,
                Start::Nothing,
                native,
                self.ours.apply(),
            ),
        ];
        let mut rows = Vec::new();
        for (what, budget, most, start, patch, job) in cases {
            self.ours.begin(start, &patch);
            job.errors();
            let calls = self.ours.aws.calls();
            let writes = calls.iter().filter(|call| is_write(&call.operation)).count();
            let measured = format!("{}, {writes} of them writes", calls.len());
            rows.push(Row::new(what, budget, measured).met(calls.len() <= most));
        }
        self.ours.begin(Start::Settled, &json!({}));
        self.ours.refresh_only().errors();
        let mut written = self.ours.runner.kubernetes.calls();
        written.retain(|call| !call.starts_with("get ") && !call.starts_with("list "));
        let only = written.iter().all(|call| call.ends_with(" leases"));
        let what = "Kubernetes writes of a refresh that found nothing new";
        rows.push(Row::new(what, "only the lock", written.join(", ")).met(only));
        rows
    }

    /// Wall time with AWS far away.
    pub(crate) fn distance(&self) -> Vec<Row> {
        let rotated = json!({"bootstrap_data": "I2Nsb3VkLWNvbmZpZyAyCg=="});
        let native = json!({"autoscaling": {"enabled": true, "min": 1, "max": 5}});
        let rolled = json!({"kubernetes_version": "v1.35.0"});
        let (ours, settled) = (&self.ours, Start::Settled);
        let cases = [
            ("a refresh operation", 1, 40, settled, json!({}), ours.refresh()),
            ("a plan", 1, 60, settled, json!({}), vec![ours.plan()]),
            ("a rotation", 2, 60, settled, rotated, vec![ours.apply()]),
            ("a creation", 5, 80, Start::Nothing, native, vec![ours.apply()]),
            ("a roll", 6, 80, settled, rolled, vec![ours.apply()]),
        ];
        ours.aws.delay(FAR);
        let mut rows = Vec::new();
        for (what, trips, more, start, patch, jobs) in cases {
            let (series, _) = self.pairs(&jobs, None, || ours.begin(start, &patch));
            let most = f64::from(trips) * 100.0 + f64::from(more);
            let plural = if trips == 1 { "round trip" } else { "round trips" };
            let measured = format!("{}, {} round trips", millis(series.wall()), depth(&ours.aws.calls()));
            rows.push(
                Row::new(
                    format!("100 ms more for every AWS call, {what}: wall time"),
                    format!("{trips} {plural} and {more} ms"),
                    measured,
                )
                .met(series.wall() <= most),
            );
        }
        ours.aws.delay(Duration::ZERO);
        rows
    }

    /// Large pools.
    pub(crate) fn crowds(&self) -> Vec<Row> {
        self.ours.begin(Start::Settled, &json!({}));
        let mut rows = Vec::new();
        let mut per_member = Vec::new();
        for size in [10, 100, 1_000, 2_000, 10_000] {
            self.ours.aws.office.crowd(Some(size));
            for job in [self.ours.outputs(), self.ours.refresh_only()] {
                job.errors();
            }
            let (outputs, _) = self.pairs(&[self.ours.outputs()], None, || ());
            let (refresh, _) = self.pairs(&[self.ours.refresh_only()], None, || ());
            per_member.push((size, outputs.cpu()));
            let shown =
                |series: &Series| format!("{} CPU, {}", millis(series.cpu()), mebibytes(series.mebibytes()));
            let budget = if size == 2_000 { "80 ms, 40 MiB" } else { "" };
            let mut row = Row::new(format!("{size} members, `outputs`"), budget, shown(&outputs));
            if size == 2_000 {
                row = row.met(outputs.cpu() <= 80.0 && outputs.mebibytes() <= 40.0);
            }
            rows.push(row);
            rows.push(Row::new(format!("{size} members, `apply -refresh-only`"), "", shown(&refresh)));
        }
        self.ours.aws.office.crowd(None);
        let slope = |from: usize, to: usize| {
            let ((few, a), (many, b)) = (per_member[from], per_member[to]);
            (b - a) * 1000.0 / f64::from(many - few)
        };
        let (near, far) = (slope(1, 3), slope(3, 4));
        let measured = format!("{near:.0} µs a member from 100 to 2000, {far:.0} µs from 2000 to 10000");
        rows.push(Row::new("CPU of `outputs` by members", "linear", measured).met(far <= 1.25 * near));
        rows
    }

    /// Bytes on disk.
    pub(crate) fn sizes(&self) -> Vec<Row> {
        let length = |path: &std::path::Path| std::fs::metadata(path).map_or(0, |file| file.len());
        let binary = count(length(&self.binary)) / KIB / KIB;
        let mut rows = vec![
            Row::new("The program, static and stripped", "12 MiB", mebibytes(binary)).met(binary <= 12.0),
        ];
        let context = self.binary.parent().unwrap().join("../image/release/context");
        let files =
            ["runtime", "ca-certificates.crt", "module/main.tf", "module/outputs.tf", "module/variables.tf"];
        let image: u64 = files.iter().map(|file| length(&context.join(file))).sum();
        if length(&context.join("runtime")) == length(&self.binary) {
            let image = count(image) / KIB / KIB;
            rows.push(Row::new("The image's files", "13 MiB", mebibytes(image)).met(image <= 13.0));
        }
        rows
    }

    /// Instructions, which no neighbour on the machine changes.
    pub(crate) fn instructions(&self) -> Vec<Row> {
        let valgrind = std::env::var_os("PATH")
            .is_some_and(|path| std::env::split_paths(&path).any(|d| d.join("valgrind").is_file()));
        if !valgrind {
            return Vec::new();
        }
        self.ours.begin(Start::Settled, &json!({}));
        let jobs = [
            ("`--help`", self.ours.help()),
            ("`version -json`", self.ours.version()),
            ("`validate`", self.ours.validate()),
            ("`init`", self.ours.init()),
            ("`apply -refresh-only`", self.ours.refresh_only()),
            ("`plan`", self.ours.plan()),
        ];
        let row = |(name, job): (&str, Job)| {
            let counted = median((0..3).map(|_| instructions(&job)));
            Row::new(format!("Instructions of {name}"), "", format!("{:.1} million", counted / 1e6))
        };
        jobs.into_iter().map(row).collect()
    }
}

fn instructions(job: &Job) -> f64 {
    let said = job.under("valgrind", &["--tool=callgrind", "--callgrind-out-file=/dev/null"]).errors();
    let collected = said.lines().find_map(|line| line.split_once("Collected : "));
    collected.expect("valgrind tells how many").1.trim().parse().unwrap()
}

fn millis(value: f64) -> String {
    format!("{value:.1} ms")
}

fn mebibytes(value: f64) -> String {
    format!("{value:.1} MiB")
}

fn beside(theirs: f64, ratio: f64) -> String {
    format!("{}; ours is 1/{:.0} of it", millis(theirs), 1.0 / ratio)
}
