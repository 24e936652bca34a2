//! Starts the AWS double once per test binary and talks to its control endpoints.

use std::{
    env, fs,
    io::{BufRead, BufReader, Read, Write, stderr},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::OnceLock,
};

use serde_json::Value;
use sha2::{Digest, Sha256};

/// The running server. It ends when its standard input does, so with this process at the latest.
pub(crate) struct Double {
    _server: Child,
    python: PathBuf,
    port: u64,
}

static DOUBLE: OnceLock<Result<Double, String>> = OnceLock::new();

impl Double {
    /// The double, started by whoever asks first; `None`, said loudly, if this machine cannot run
    /// it. In CI that is a failure.
    pub(crate) fn get() -> Option<&'static Self> {
        let started = DOUBLE.get_or_init(|| {
            let started = Self::start();
            if let Err(why) = &started {
                // Not `eprintln!`: the test harness would keep that to itself.
                let _ =
                    writeln!(stderr(), "\nSKIPPED: the tests against AWS over the wire did not run: {why}\n");
            }
            started
        });
        match started {
            Ok(double) => Some(double),
            Err(why) if env::var_os("CI").is_some() => panic!("CI must run the tests over the wire: {why}"),
            Err(_) => None,
        }
    }

    fn start() -> Result<Self, String> {
        let python = environment()?;
        let mut server = Command::new(&python)
            .arg(directory().join("server.py"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{} does not start: {error}", python.display()))?;
        let mut line = String::new();
        let out = server.stdout.take().expect("standard output is a pipe");
        BufReader::new(out).read_line(&mut line).map_err(|error| error.to_string())?;
        let ready: Value = serde_json::from_str(&line).map_err(|_| format!("the double said {line:?}"))?;
        let port = ready["port"].as_u64().ok_or("the double gave no port")?;
        Ok(Self { _server: server, python, port })
    }

    /// Where AWS is.
    pub(crate) fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Asks a control endpoint. They are described in `aws_double/double/control.py`.
    pub(crate) fn control(&self, name: &str, asked: &Value) -> Value {
        let body = asked.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", u16::try_from(self.port).unwrap())).unwrap();
        let length = body.len();
        write!(stream, "POST /_double/{name} HTTP/1.0\r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").expect("an HTTP answer");
        assert_eq!(head.split(' ').nth(1), Some("200"), "{name} {asked}: {body}");
        serde_json::from_str(body).unwrap()
    }

    /// Runs the double's own tests against it.
    fn own_tests(&self) -> Output {
        Command::new(&self.python)
            .args(["-m", "unittest", "discover", "-s", ".", "-t", "."])
            .current_dir(directory())
            .env("DOUBLE_PORT", self.port.to_string())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .output()
            .unwrap()
    }
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wire/aws_double")
}

/// The Python of a virtual environment that holds exactly the pinned packages. Made once per set of
/// pins, aside and then renamed, so that nobody ever sees half of one.
fn environment() -> Result<PathBuf, String> {
    let pins = directory().join("requirements.txt");
    let digest = Sha256::digest(fs::read(&pins).map_err(|error| error.to_string())?);
    let [a, b, c, d, ..] = <[u8; 32]>::from(digest);
    let name = format!("aws-double-{:08x}", u32::from_be_bytes([a, b, c, d]));
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if !home.exists() {
        let aside = home.with_extension(std::process::id().to_string());
        let venv = ["-m", "venv", "--clear"].map(Into::into);
        done(Command::new("python3").args(venv as [PathBuf; 3]).arg(&aside))?;
        let pip = ["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", "-r"];
        done(Command::new(aside.join("bin/python")).args(pip).arg(&pins))?;
        if fs::rename(&aside, &home).is_err() {
            // Somebody else was faster.
            let _ = fs::remove_dir_all(&aside);
        }
    }
    Ok(home.join("bin/python"))
}

fn done(command: &mut Command) -> Result<(), String> {
    let told = format!("{command:?}");
    let output = command.output().map_err(|error| format!("{told}: {error}"))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(format!("{told}: {}", String::from_utf8_lossy(&output.stderr)))
    }
}

#[test]
fn the_double_keeps_the_rules_of_aws() {
    let Some(double) = Double::get() else { return };
    let output = double.own_tests();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
