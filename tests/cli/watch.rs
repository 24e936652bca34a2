//! A watch on a terminal: what it draws, how it ends, and how it leaves the terminal.

use std::{
    ffi::OsStr,
    fs::File,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    os::unix::{ffi::OsStrExt as _, fs::OpenOptionsExt as _},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use rustix::{
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcgetattr, tcsetwinsize},
};

use super::{
    Bench,
    status::{pool, running_pool},
};

const PATIENCE: Duration = Duration::from_mins(1);

/// Both sides of a terminal, and all that was written to it.
pub(crate) struct Terminal {
    person: File,
    program: File,
    shown: Arc<Mutex<Vec<u8>>>,
    before: String,
}

impl Terminal {
    pub(crate) fn new(columns: u16) -> Self {
        let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&person).unwrap();
        unlockpt(&person).unwrap();
        let name = ptsname(&person, Vec::new()).unwrap();
        let no_controlling_terminal = i32::try_from(OpenptFlags::NOCTTY.bits()).unwrap();
        let mut options = File::options();
        options.read(true).write(true).custom_flags(no_controlling_terminal);
        let program = options.open(OsStr::from_bytes(name.as_bytes())).unwrap();
        let (person, shown) = (File::from(person), Arc::<Mutex<Vec<u8>>>::default());
        let (mut reader, sink) = (person.try_clone().unwrap(), Arc::clone(&shown));
        // Ends when the last program side is closed.
        std::thread::spawn(move || {
            let mut some = [0; 4096];
            loop {
                match reader.read(&mut some) {
                    Ok(count) => sink.lock().unwrap().extend_from_slice(&some[..count]),
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
        });
        let before = settings(&program);
        let terminal = Self { person, program, shown, before };
        terminal.resize(columns);
        terminal
    }

    fn resize(&self, columns: u16) {
        self.resize_to(columns, 40);
    }

    fn resize_to(&self, columns: u16, rows: u16) {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.program, size).unwrap();
    }

    /// Runs a watch of the pool on it.
    fn watch(&self, bench: &Bench, more: &str) -> Child {
        self.run(bench, &format!("status --watch {more} {} -var kubernetes_version=v1.35.0", pool()))
    }

    pub(crate) fn run(&self, bench: &Bench, line: &str) -> Child {
        self.command(bench, line).spawn().unwrap()
    }

    /// The program with all of its streams on the terminal.
    pub(crate) fn command(&self, bench: &Bench, line: &str) -> Command {
        let side = || self.program.try_clone().unwrap();
        let mut command = bench.command(line.split_whitespace());
        command.env("TERM", "xterm").stdin(side()).stdout(side()).stderr(side());
        command
    }

    /// Waits until a text is there.
    #[track_caller]
    pub(crate) fn await_text(&self, part: &str) {
        let begin = Instant::now();
        while !self.text().contains(part) {
            assert!(begin.elapsed() < PATIENCE, "no {part:?}: {}", self.text());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap()).into_owned()
    }

    /// The last whole picture.
    fn picture(&self) -> String {
        let text = self.text();
        let frames: Vec<&str> = text.split("\u{1b}[H").collect();
        frames.iter().rev().find(|frame| frame.contains("\u{1b}[J")).copied().unwrap_or_default().to_owned()
    }

    #[track_caller]
    fn await_picture(&self, what: &str, is_it: impl Fn(&str) -> bool) {
        let begin = Instant::now();
        while !is_it(&self.picture()) {
            assert!(begin.elapsed() < PATIENCE, "no {what}: {}", self.text());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn press(&mut self, key: &[u8]) {
        self.person.write_all(key).unwrap();
    }

    /// The exit code of a watch that has ended, once the terminal is found as it was before.
    #[track_caller]
    fn end(&self, mut child: Child) -> i32 {
        let begin = Instant::now();
        let code = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status.code().expect("ended by a signal");
            }
            assert!(begin.elapsed() < PATIENCE, "does not end: {}", self.text());
            std::thread::sleep(Duration::from_millis(20));
        };
        std::thread::sleep(Duration::from_millis(100));
        let text = self.text();
        assert_eq!(settings(&self.program), self.before, "{text}");
        for (taken, given) in [("?1049h", "?1049l"), ("?25l", "?25h"), ("?7l", "?7h")] {
            let last = |sign: &str| text.rfind(&format!("\u{1b}[{sign}"));
            assert!(last(taken).is_some() && last(given) > last(taken), "{given}: {text}");
        }
        code
    }
}

/// How a terminal treats lines and keys.
fn settings(terminal: &File) -> String {
    format!("{:?}", tcgetattr(terminal).unwrap())
}

/// Whether what this process starts ignores a signal that the program leaves ignored, as behind `nohup`.
fn is_ignored(name: &str) -> bool {
    let number = match name {
        "HUP" => 1,
        "QUIT" => 3,
        _ => return false,
    };
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    (u64::from_str_radix(mask, 16).unwrap() >> (number - 1)) & 1 == 1
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([format!("-{name}"), child.id().to_string()]).status();
    assert!(status.unwrap().success());
}

fn is_ready(picture: &str) -> bool {
    picture.contains("q quits") && picture.contains("All 3 members running")
}

#[test]
fn every_end_leaves_the_terminal_as_it_was() {
    let bench = running_pool();
    for (key, code) in [(&b"q"[..], 0), (b"xQ", 0), (b"\x03", 0)] {
        let mut terminal = Terminal::new(80);
        let child = terminal.watch(&bench, "--interval 1s");
        terminal.await_picture("picture", is_ready);
        assert_ne!(settings(&terminal.program), terminal.before, "keys are read one by one");
        terminal.press(key);
        assert_eq!(terminal.end(child), code, "{key:?}");
        let text = terminal.text();
        let after = text.rsplit("\u{1b}[?1049l").next().unwrap();
        assert!(after.contains("Pool team-a/demo-pool-0") && !after.contains("q quits"), "{after}");
    }
    for name in ["TERM", "INT", "HUP", "QUIT"] {
        if is_ignored(name) {
            eprintln!("SKIPPED: SIG{name} is ignored where the tests run, and so by what they start");
            continue;
        }
        let terminal = Terminal::new(80);
        let child = terminal.watch(&bench, "--interval 1s");
        terminal.await_picture("picture", is_ready);
        signal(&child, name);
        assert_eq!(terminal.end(child), 1, "{name}");
        assert!(terminal.text().contains("Interrupted"), "{name}: {}", terminal.text());
    }
}

/// Inputs from standard input leave no keyboard to quit with.
#[test]
fn without_a_keyboard_only_a_signal_ends_it() {
    let bench = running_pool();
    let terminal = Terminal::new(80);
    let side = || terminal.program.try_clone().unwrap();
    let line = "status --watch --interval 1s --sandbox account.json -var-file=-";
    let mut command = bench.command(line.split_whitespace());
    let inputs = File::open(super::demo()).unwrap();
    let child = command.env("TERM", "xterm").stdin(inputs).stdout(side()).stderr(side()).spawn().unwrap();
    terminal.await_picture("picture", |picture| picture.contains("Ctrl-C quits"));
    assert!(!terminal.text().contains("q quits"), "{}", terminal.text());
    signal(&child, "INT");
    assert_eq!(terminal.end(child), 1);
}

/// Whoever starts it so that it outlives the terminal has it so.
#[test]
fn an_ignored_hangup_stays_ignored() {
    let bench = running_pool();
    let mut command = Command::new("sh");
    let line =
        format!("status --watch --interval 1s --format json {} -var kubernetes_version=v1.35.0", pool());
    let program = env!("CARGO_BIN_EXE_machinepool");
    command.arg("-c").arg(format!("trap '' HUP; exec {program} {line}")).env_clear();
    let mut child = command.current_dir(bench.path("")).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    signal(&child, "HUP");
    for _ in 0..2 {
        lines.next().unwrap().unwrap();
    }
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn a_failure_is_shown_and_the_watch_goes_on() {
    let bench = running_pool();
    let mut terminal = Terminal::new(80);
    let child = terminal.watch(&bench, "--interval 1s");
    terminal.await_picture("picture", is_ready);
    let kept = std::fs::read(bench.path("account.json")).unwrap();
    bench.write("account.json", "nonsense");
    terminal.await_picture("failure", |picture| {
        picture.contains("3 tries") && picture.contains("what follows is") && is_ready(picture)
    });
    let picture = terminal.picture();
    assert_eq!(picture.matches("Use another file").count(), 1, "{picture}");
    std::fs::write(bench.path("account.json"), kept).unwrap();
    terminal.await_picture("recovery", |picture| !picture.contains("what follows is") && is_ready(picture));
    terminal.press(b"q");
    assert_eq!(terminal.end(child), 0);
}

#[test]
fn a_terminal_that_grows_is_filled() {
    let bench = running_pool();
    let mut terminal = Terminal::new(80);
    let child = terminal.watch(&bench, "--interval 60s");
    terminal.await_picture("picture", is_ready);
    let moments = |picture: &str| picture.matches(" UTC").count();
    let narrow = moments(&terminal.picture());
    terminal.resize(140);
    signal(&child, "WINCH");
    terminal.await_picture("wide picture", |picture| moments(picture) >= narrow + 3);
    terminal.press(b"q");
    assert_eq!(terminal.end(child), 0);
}

/// The usual sizes of small terminals: what matters stands first, and keys bring the rest.
#[test]
fn a_small_terminal_shows_what_matters_and_scrolls() {
    let bench = running_pool();
    for (columns, rows) in [(80, 24), (60, 24), (60, 12)] {
        let mut terminal = Terminal::new(80);
        terminal.resize_to(columns, rows);
        let child = terminal.watch(&bench, "--interval 60s");
        terminal.await_picture("picture", is_ready);
        let lines = |picture: &str| picture.matches("\r\n").count() + 1;
        assert!(lines(&terminal.picture()) <= usize::from(rows), "{}", terminal.picture());
        if rows < 24 {
            let first = |picture: &str| picture.contains("Pool team-a/demo-pool-0");
            assert!(first(&terminal.picture()) && terminal.picture().contains("Lines 1-11 of "));
            terminal.press(b"j\x1b[B");
            terminal.await_picture("third line", |picture| picture.contains("Lines 3-") && !first(picture));
            terminal.press(b"  \x1b[6~\x1b[6~");
            terminal.await_picture("activities", |picture| picture.contains("Launching"));
            terminal.press(b"\x1b[5~\x1b[5~\x1b[5~\x1b[5~");
            terminal
                .await_picture("first line", |picture| first(picture) && picture.contains("Lines 1-11 of "));
        } else {
            terminal.await_picture("all", |picture| {
                ["Scaling activities", "us-east-1c"].iter().all(|part| picture.contains(part))
            });
        }
        terminal.press(b"q");
        assert_eq!(terminal.end(child), 0);
    }
}

/// A picture is drawn over the one before: nothing is cleared but what is not drawn over.
#[test]
fn nothing_flickers() {
    let bench = running_pool();
    let mut terminal = Terminal::new(80);
    let child = terminal.watch(&bench, "--interval 1s --log debug");
    terminal.await_picture("second picture", |picture| picture.contains("call: ") && is_ready(picture));
    terminal.press(b"q");
    assert_eq!(terminal.end(child), 0);
    let text = terminal.text();
    let drawn = text.split("\u{1b}[?1049l").next().unwrap();
    assert_eq!(drawn.matches("\u{1b}[2J").count(), 1, "cleared once, at the beginning");
    assert!(
        text.split("\u{1b}[?1049l").nth(1).unwrap().contains("call: "),
        "what was said is said afterwards"
    );
}
