//! What a command costs. It is started by a small process, which is this program again: a process is charged with
//! the memory of the one that forked it, and this one holds large answers.

use std::{
    collections::BTreeMap,
    env, fs, io,
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use wait4::Wait4 as _;

/// The argument that makes this program the small process.
pub(crate) const ARGUMENT: &str = "--meter";

/// A command, and the exit code that is right.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Job {
    program: PathBuf,
    args: Vec<String>,
    variables: BTreeMap<String, String>,
    directory: PathBuf,
    code: i32,
}

/// User and system time of the whole process, wall time, the largest resident set.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Cost {
    pub(crate) cpu: Duration,
    pub(crate) wall: Duration,
    pub(crate) bytes: u64,
}

impl Cost {
    /// One after the other.
    pub(crate) fn then(self, other: Self) -> Self {
        Self { cpu: self.cpu + other.cpu, wall: self.wall + other.wall, bytes: self.bytes.max(other.bytes) }
    }
}

impl Job {
    /// What a command would do; another program may take the place of its own.
    pub(crate) fn new(command: &Command, program: Option<&PathBuf>) -> Self {
        let text = |text: &std::ffi::OsStr| text.to_str().unwrap().to_owned();
        let variables = command.get_envs().filter_map(|(name, value)| Some((text(name), text(value?))));
        Self {
            program: program.cloned().unwrap_or_else(|| command.get_program().into()),
            args: command.get_args().map(text).collect(),
            variables: variables.collect(),
            directory: command.get_current_dir().unwrap().to_owned(),
            code: 0,
        }
    }

    /// The same, started by another program, with arguments before its own.
    pub(crate) fn under(&self, program: &str, args: &[&str]) -> Self {
        let mut job = self.clone();
        job.args = args.iter().map(ToString::to_string).collect();
        job.args.push(self.program.to_str().unwrap().to_owned());
        job.args.extend(self.args.clone());
        job.program = program.into();
        job.variables.insert("PATH".to_owned(), env::var("PATH").unwrap());
        job
    }

    /// Runs it in a small process.
    pub(crate) fn cost(&self) -> Cost {
        let job = serde_json::to_string(self).unwrap();
        let me = env::current_exe().unwrap();
        let output = Command::new(me).arg(ARGUMENT).arg(job).stderr(Stdio::inherit()).output().unwrap();
        assert!(output.status.success(), "{self:?} failed");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Runs it; what it said on standard error.
    pub(crate) fn errors(&self) -> String {
        let output = self.command().output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(self.code), "{self:?}: {said}");
        said
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).env_clear().envs(&self.variables).current_dir(&self.directory);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }
}

/// The small process.
pub(crate) fn measure(job: &str) -> io::Result<()> {
    let job: Job = serde_json::from_str(job)?;
    let said = env::temp_dir().join(format!("machinepool-bench-{}", std::process::id()));
    let mut command = job.command();
    command.stderr(fs::File::create(&said)?);
    let started = Instant::now();
    let used = command.spawn()?.wait4()?;
    let wall = started.elapsed();
    let errors = fs::read_to_string(&said)?;
    fs::remove_file(&said)?;
    if used.status.code() != Some(job.code) {
        return Err(io::Error::other(format!("{}: {errors}", used.status)));
    }
    let cost = Cost { cpu: used.rusage.utime + used.rusage.stime, wall, bytes: used.rusage.maxrss };
    serde_json::to_writer(io::stdout(), &cost)?;
    Ok(())
}
