//! A throw-away machine: a root directory, a shell with its tools, a fake AWS CLI and a fake `sleep`.

use std::{
    collections::BTreeMap,
    env, fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use machinepool::model::userdata;
use tempfile::TempDir;

/// In every payload; must show in no output.
pub(crate) const SECRET: &str = "s3cr3t-join-token";
/// What the pool's object is called.
pub(crate) const OBJECT: &str = "s3://demo-bucket/pool/demo-pool-0";
/// Where the bootstrap data ends up.
pub(crate) const INSTALLED: &str = "etc/cloud/cloud.cfg.d/99-captf-bootstrap.cfg";

/// All that the script may call; the fakes come on top.
const TOOLS: [&str; 16] = [
    "awk", "cat", "chmod", "cp", "grep", "gzip", "head", "mkdir", "mv", "od", "readlink", "rm", "sed",
    "sync", "tail", "tr",
];

/// The first program of this name on the PATH.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|dir| dir.join(program)).find(|candidate| candidate.is_file())
}

/// As [`find`]; a program that is missing is a failure with `CI` set, and else named loudly.
pub(crate) fn required(program: &str) -> Option<PathBuf> {
    let found = find(program);
    if found.is_none() {
        assert!(env::var_os("CI").is_none(), "{program} is not installed");
        eprintln!("SKIPPED: {program} is not installed");
    }
    found
}

/// A shell, and where its tools come from.
#[derive(Clone)]
pub(crate) struct Shell {
    name: &'static str,
    command: Vec<PathBuf>,
    /// One program that is all the tools, or `None` for those on the PATH.
    tools: Option<PathBuf>,
}

/// Every shell there is: dash and bash with the system's tools, busybox with its own.
pub(crate) fn shells() -> Vec<Shell> {
    let plain = |name| required(name).map(|path| Shell { name, command: vec![path], tools: None });
    let busybox = required("busybox").map(|path| Shell {
        name: "busybox",
        command: vec![path.clone(), "sh".into()],
        tools: Some(path),
    });
    [plain("dash"), plain("bash"), busybox].into_iter().flatten().collect()
}

/// The script of the demo pool with these labels, as cloud-init runs it: without the first line.
pub(crate) fn script(labels: &[(&str, &str)]) -> String {
    let labels: BTreeMap<String, String> =
        labels.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let text = userdata::cloud_config(
        &"eu-west-1".parse().unwrap(),
        &"demo-bucket".parse().unwrap(),
        "pool/demo-pool-0",
        &labels,
    );
    text.strip_prefix("#cloud-boothook").unwrap().trim_start().to_owned()
}

/// One machine.
pub(crate) struct Host {
    shell: Shell,
    dir: TempDir,
}

impl Host {
    /// A machine with cloud-init, a Debian-like `/etc/default`, and an object in S3.
    pub(crate) fn new(shell: &Shell) -> Self {
        eprintln!("with {}", shell.name);
        let host = Self { shell: shell.clone(), dir: TempDir::new().unwrap() };
        for dir in ["root/etc/cloud/cloud.cfg.d", "root/etc/default", "tools", "fakes"] {
            fs::create_dir_all(host.dir.path().join(dir)).unwrap();
        }
        for tool in TOOLS {
            let target = shell.tools.clone().or_else(|| find(tool)).expect(tool);
            symlink(target, host.dir.path().join("tools").join(tool)).unwrap();
        }
        host.fake("sleep", "echo \"$1\" >>@/sleeps");
        host.serve(format!("#cloud-config\ntoken: {SECRET}\n").as_bytes());
        host
    }

    /// From now on the AWS CLI copies these bytes.
    pub(crate) fn serve(&self, payload: &[u8]) {
        fs::write(self.dir.path().join("payload"), payload).unwrap();
        self.cli("echo Completed 1 file; cat @/payload >\"$destination\"");
    }

    /// From now on the AWS CLI fails this often, each time leaving half a file (of a name of its own), before it works.
    pub(crate) fn fail(&self, times: usize) {
        self.cli(&format!(
            "[ $(wc -l <@/calls) -gt {times} ] || {{ echo half >\"$destination.$$\"; echo denied >&2; exit 1; }}\n\
             cat @/payload >\"$destination\""
        ));
    }

    /// From now on the AWS CLI does this; `$destination` is the file to copy to.
    pub(crate) fn cli(&self, body: &str) {
        self.fake("aws", &format!("echo \"$*\" >>@/calls\nfor destination; do :; done\n{body}"));
    }

    /// From now on there is no AWS CLI.
    pub(crate) fn without_cli(&self) {
        fs::remove_file(self.dir.path().join("fakes/aws")).unwrap();
    }

    /// Puts a program of one's own in front of the tools; `@` is the directory to keep notes in.
    pub(crate) fn fake(&self, name: &str, body: &str) {
        let notes = self.dir.path().to_str().unwrap();
        let text = format!("#!/bin/sh\nPATH=/usr/bin:/bin\n{}\n", body.replace('@', notes));
        let path = self.dir.path().join("fakes").join(name);
        // Under a name of its own first: a program being written cannot be run by another test's fork.
        let _ = fs::remove_file(&path);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Where a fake notes something down under this name.
    pub(crate) fn note(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Lines that the fake of this name noted down (`calls`, `sleeps`).
    pub(crate) fn notes(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.dir.path().join(name)).unwrap_or_default();
        text.lines().map(Into::into).collect()
    }

    /// A path on this machine.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join("root").join(path)
    }

    /// Writes a file, with its directories.
    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// What a file holds, `None` if there is none.
    pub(crate) fn read(&self, path: &str) -> Option<Vec<u8>> {
        fs::read(self.path(path)).ok()
    }

    /// What a text file holds; it has to be there.
    pub(crate) fn text(&self, path: &str) -> String {
        String::from_utf8(self.read(path).unwrap_or_else(|| panic!("no {path}"))).unwrap()
    }

    /// A file's permission bits.
    pub(crate) fn mode(&self, path: &str) -> u32 {
        fs::metadata(self.path(path)).unwrap().permissions().mode() & 0o7777
    }

    /// Names in a directory, sorted; empty if there is none.
    pub(crate) fn names(&self, dir: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path(dir)) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The command that boots this machine with a script, as instance `instance` if cloud-init says so.
    pub(crate) fn command(&self, script: &str, instance: Option<&str>) -> Command {
        let root = self.dir.path().join("root");
        let file = self.dir.path().join("script");
        fs::write(&file, relocated(script, &root)).unwrap();
        let (program, arguments) = self.shell.command.split_first().unwrap();
        let mut command = Command::new(program);
        let dir = self.dir.path().display();
        command
            .args(arguments)
            .arg(file)
            .env_clear()
            .env("PATH", format!("{dir}/fakes:{dir}/tools"))
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(instance) = instance {
            command.env("INSTANCE_ID", instance);
        }
        command
    }

    /// Boots with these labels as this instance.
    pub(crate) fn boot(&self, labels: &[(&str, &str)], instance: &str) -> Boot {
        Boot::of(&self.command(&script(labels), Some(instance)).output().unwrap())
    }

    /// Boots with these labels where cloud-init sets no `INSTANCE_ID`.
    pub(crate) fn boot_unnamed(&self, labels: &[(&str, &str)]) -> Boot {
        Boot::of(&self.command(&script(labels), None).output().unwrap())
    }
}

/// The script with every path below the throw-away root.
fn relocated(script: &str, root: &Path) -> String {
    let root = root.to_str().unwrap();
    let mut text = script.to_owned();
    for place in ["/etc/", "/var/", "/run/", "/usr/local/bin", "/snap/bin"] {
        text = text.replace(place, &format!("{root}{place}"));
    }
    text
}

/// How a boot went.
pub(crate) struct Boot {
    /// Exit status; `None` after a signal.
    pub(crate) code: Option<i32>,
    /// What it said.
    pub(crate) said: String,
}

impl Boot {
    /// Judges nothing but that no secret was said.
    pub(crate) fn of(output: &Output) -> Self {
        let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
        said.push_str(&String::from_utf8_lossy(&output.stderr));
        eprintln!("{said}");
        assert!(!said.contains(SECRET), "a secret shows");
        assert!(output.stdout.is_empty(), "messages belong on standard error");
        Self { code: output.status.code(), said }
    }

    /// It went well.
    #[track_caller]
    pub(crate) fn ok(&self) {
        assert_eq!(self.code, Some(0), "{}", self.said);
    }

    /// It failed, and said so and why.
    #[track_caller]
    pub(crate) fn failed(&self, why: &str) {
        assert_eq!(self.code, Some(1), "{}", self.said);
        let told =
            self.said.lines().any(|line| line.starts_with("captf-bootstrap: error: ") && line.contains(why));
        assert!(told, "no word of `{why}` in: {}", self.said);
    }
}
