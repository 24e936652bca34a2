//! The table, and what it was measured on.

use std::{fmt::Write as _, fs, path::Path, process::Command};

use machinepool::clock::{Clock as _, SystemClock};

const BEGIN: &str = "<!-- measured -->\n";
const END: &str = "<!-- /measured -->";

/// A line of the table.
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) budget: String,
    pub(crate) measured: String,
    /// Beside it: Terraform, or nothing.
    pub(crate) beside: String,
    /// Whether the budget is met, if there is one.
    pub(crate) met: Option<bool>,
}

impl Row {
    pub(crate) fn new(
        what: impl Into<String>,
        budget: impl Into<String>,
        measured: impl Into<String>,
    ) -> Self {
        let (what, budget, measured) = (what.into(), budget.into(), measured.into());
        Self { what, budget, measured, beside: String::new(), met: None }
    }

    pub(crate) fn beside(mut self, beside: impl Into<String>) -> Self {
        self.beside = beside.into();
        self
    }

    pub(crate) fn met(mut self, met: bool) -> Self {
        self.met = Some(met);
        self
    }
}

/// Where and when: a sentence.
pub(crate) fn place(terraform: Option<&str>, runs: usize) -> String {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let cpuinfo = read("/proc/cpuinfo");
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("unknown CPU");
    let model = model.trim_start_matches([' ', '\t', ':']);
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = read("/proc/loadavg");
    let load = load.split(' ').next().unwrap_or_default();
    let commit = Command::new("git").args(["describe", "--always", "--dirty"]).output().unwrap();
    format!(
        "Measured on {} at commit {}: {cores} cores, {model}, Linux {}, load {load} when it began; medians of {runs} \
         runs; beside {}.",
        &SystemClock.now().rfc3339()[..10],
        String::from_utf8_lossy(&commit.stdout).trim(),
        read("/proc/sys/kernel/osrelease").trim(),
        terraform.unwrap_or("nothing: there is no terraform on the PATH"),
    )
}

pub(crate) fn table(place: &str, rows: &[Row]) -> String {
    let mut text = format!("{place}\n\n| What | Budget | Measured | Terraform | Verdict |\n");
    text.push_str("| --- | --- | --- | --- | --- |\n");
    for row in rows {
        let verdict = match row.met {
            Some(true) => "met",
            Some(false) => "**missed**",
            None => "",
        };
        let Row { what, budget, measured, beside, .. } = row;
        let _ = writeln!(text, "| {what} | {budget} | {measured} | {beside} | {verdict} |");
    }
    text.replace("|  |", "| |").replace("|  |", "| |")
}

/// Puts the table between the marks of the document.
pub(crate) fn write(table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/performance.md");
    let document = fs::read_to_string(&path).unwrap();
    let (before, rest) = document.split_once(BEGIN).expect("the document has marks");
    let (_, after) = rest.split_once(END).expect("the document has marks");
    fs::write(path, format!("{before}{BEGIN}\n{table}\n{END}{after}")).unwrap();
}
