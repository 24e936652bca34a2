//! The fleet on paper of docs/performance.md: what many pools ask of AWS and of Kubernetes, calculated.

use std::{fmt::Write as _, fs, path::Path};

const BEGIN: &str = "<!-- fleet -->\n";
const END: &str = "<!-- /fleet -->";

/// Seconds between two refreshes of a pool, when it has converged and until it has, and between two applies.
const REFRESH: f64 = 60.0;
const EAGER_REFRESH: f64 = 30.0;
const APPLY: f64 = 450.0;

/// What EC2 gives back to the bucket of one operation in a second, for each account and region.
const READS_REFILL: f64 = 20.0;

/// How much of a bucket a fleet should use: others live in the account, too.
const SHARE: f64 = 0.5;

/// Calls of one operation in a refresh and in an apply.
struct Calls {
    operation: &'static str,
    refresh: f64,
    apply: f64,
}

const fn calls(operation: &'static str, refresh: f64, apply: f64) -> Calls {
    Calls { operation, refresh, apply }
}

/// This program, for pools of up to 1000 members; `tests/wire/budgets.rs` counts them.
const OURS: [Calls; 6] = [
    calls("EC2 `DescribeInstances`", 1.0, 1.0),
    calls(
        "EC2, each of `DescribeLaunchTemplates`, `DescribeLaunchTemplateVersions`, `DescribeImages`",
        0.0,
        1.0,
    ),
    calls("Auto Scaling, all operations together", 1.0, 3.0),
    calls("S3 `HeadObject` and `GetObjectTagging` together", 0.0, 2.0),
    calls("S3 `PutObject`", 0.0, 1.0),
    calls("Kubernetes writes (the lock, taken and given back)", 2.0, 2.0),
];

/// A Terraform module with the AWS provider that lists the members of each of three zones, and twice more for
/// the whole group. Terraform reads every resource and every data source in a refresh as in an apply.
const THEIRS: [Calls; 7] = [
    calls("EC2 `DescribeInstances`", 5.0, 5.0),
    calls(
        "EC2, each of `DescribeLaunchTemplates`, `DescribeLaunchTemplateVersions`, `DescribeImages`",
        1.0,
        1.0,
    ),
    calls("Auto Scaling, all operations together", 2.0, 2.0),
    calls("S3 `HeadObject` and `GetObjectTagging` together", 2.0, 2.0),
    calls("S3 `PutObject`", 0.0, 1.0),
    calls("STS `GetCallerIdentity`", 1.0, 1.0),
    calls("Kubernetes writes (the lock, taken and given back)", 2.0, 2.0),
];

/// How long the processes of an operation run, in seconds, and what one of them needs at most, in MiB: as measured with
/// a small pool and an AWS that answers in 100 ms.
struct Process {
    refresh: f64,
    apply: f64,
    mebibytes: f64,
}

const OUR_PROCESS: Process = Process { refresh: 0.14, apply: 0.24, mebibytes: 13.0 };

/// Terraform as measured on a module without a provider and without any call: less than any real module needs.
const THEIR_PROCESS: Process = Process { refresh: 0.28, apply: 0.28, mebibytes: 72.0 };

const FLEETS: [f64; 3] = [100.0, 1_000.0, 10_000.0];

/// Calls a second of a fleet that refreshes every `refresh` seconds.
fn rate(calls: &Calls, pools: f64, refresh: f64) -> f64 {
    pools * (calls.refresh / refresh + calls.apply / APPLY)
}

/// The most pools whose `DescribeInstances` stay within the share of the bucket.
fn most(calls: &Calls, refresh: f64) -> f64 {
    (READS_REFILL * SHARE / rate(calls, 1.0, refresh)).floor()
}

/// The shortest interval of refreshes at which a fleet stays within the share; `None` if its applies alone do not.
fn interval(calls: &Calls, pools: f64) -> Option<f64> {
    let left = READS_REFILL * SHARE - pools * calls.apply / APPLY;
    (left > 0.0).then(|| (pools * calls.refresh / left).ceil())
}

/// The processes that run at once, on average.
fn running(process: &Process, pools: f64) -> f64 {
    pools * (process.refresh / REFRESH + process.apply / APPLY)
}

fn processes(out: &mut String, title: &str, process: &Process) {
    let [a, b, c] = FLEETS.map(|pools| running(process, pools));
    let _ = writeln!(out, "| {title}, processes at once | {a:.1} | {b:.1} | {c:.0} |");
    let [a, b, c] = FLEETS.map(|pools| running(process, pools) * process.mebibytes);
    let _ = writeln!(out, "| {title}, their memory in MiB | {a:.0} | {b:.0} | {c:.0} |");
}

fn rows(out: &mut String, title: &str, all: &[Calls]) {
    let _ = writeln!(out, "| **{title}** | | | |");
    for calls in all {
        let [a, b, c] = FLEETS.map(|pools| rate(calls, pools, REFRESH));
        let _ = writeln!(out, "| {} | {a:.1} | {b:.1} | {c:.0} |", calls.operation);
    }
}

fn table() -> String {
    let mut out = String::from(
        "| Calls a second | 100 pools | 1,000 pools | 10,000 pools |\n| --- | --- | --- | --- |\n",
    );
    rows(&mut out, "`machinepool`", &OURS);
    rows(&mut out, "A Terraform module that lists per zone", &THEIRS);
    out.push_str("\n| On average | 100 pools | 1,000 pools | 10,000 pools |\n| --- | --- | --- | --- |\n");
    processes(&mut out, "`machinepool`", &OUR_PROCESS);
    processes(&mut out, "Terraform without any provider", &THEIR_PROCESS);
    let _ =
        writeln!(out, "\n| `DescribeInstances` at half of its bucket's refill | `machinepool` | Per zone |");
    out.push_str("| --- | --- | --- |\n");
    for (when, refresh) in [("every 60 s", REFRESH), ("every 30 s", EAGER_REFRESH)] {
        let (ours, theirs) = (most(&OURS[0], refresh), most(&THEIRS[0], refresh));
        let _ =
            writeln!(out, "| Pools in one account and region, refreshed {when} | {ours:.0} | {theirs:.0} |");
    }
    for pools in [500.0, 1_000.0, 2_000.0, 10_000.0] {
        let shown = |calls| match interval(calls, pools) {
            Some(seconds) if seconds <= REFRESH => "the default".to_owned(),
            Some(seconds) => format!("{seconds:.0} s"),
            None => "none: more accounts or regions, or a larger bucket".to_owned(),
        };
        let _ = writeln!(
            out,
            "| Shortest interval for {pools:.0} pools | {} | {} |",
            shown(&OURS[0]),
            shown(&THEIRS[0])
        );
    }
    out
}

/// With `MACHINEPOOL_BLESS=1` the document is brought up to date instead.
#[test]
fn the_fleet_on_paper_is_what_is_calculated() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/performance.md");
    let document = fs::read_to_string(&path).unwrap();
    let (before, rest) = document.split_once(BEGIN).unwrap();
    let (shown, after) = rest.split_once(END).unwrap();
    let wanted = table();
    if std::env::var_os("MACHINEPOOL_BLESS").is_some_and(|value| value == "1") {
        fs::write(&path, format!("{before}{BEGIN}\n{wanted}\n{END}{after}")).unwrap();
        return;
    }
    assert_eq!(shown.trim(), wanted.trim(), "run `just golden` to bring docs/performance.md up to date");
}
