//! The terminal as a screen that is drawn anew again and again, and left as it was found.

use std::{
    fmt::Write as _,
    io::{self, Write},
    panic,
};

use rustix::termios::{self, InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios};
use tokio::sync::oneshot;

/// The alternate screen, without a cursor and without lines that wrap by themselves.
const ENTER: &str = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l\u{1b}[2J";

/// Back to the screen as it was.
const LEAVE: &str = "\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l";

/// Ctrl-C, read as a key.
const CTRL_C: u8 = 3;

/// A terminal that is a screen for as long as this lives. It is given back by [`Screen::drop`], to which the signals
/// that are listened to lead as well, and by the hook of panics. Nothing gives it back at any other signal, such as
/// `SIGKILL`, nor at a second one that comes before the first was looked at.
pub(super) struct Screen {
    keyboard: Option<Termios>,
}

impl Screen {
    /// Takes the screen, and the keyboard if standard input is one.
    pub(super) fn enter(out: &mut dyn Write) -> Self {
        let keyboard = take_keyboard();
        // What cannot be written is found out by the first picture.
        let _ = out.write_all(ENTER.as_bytes()).and_then(|()| out.flush());
        let before = keyboard.clone();
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |what| {
            leave(before.as_ref());
            previous(what);
        }));
        Self { keyboard }
    }

    /// Whether there are keys to press.
    pub(super) fn has_keyboard(&self) -> bool {
        self.keyboard.is_some()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave(self.keyboard.as_ref());
    }
}

fn leave(keyboard: Option<&Termios>) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(LEAVE.as_bytes()).and_then(|()| out.flush());
    if let Some(before) = keyboard {
        // What was typed for the screen is not for the shell behind it.
        let _ = termios::tcsetattr(io::stdin(), OptionalActions::Flush, before);
    }
}

/// Key by key, without an echo; how it was before. Ctrl-C is a key here: whoever looks at a screen ends it, and
/// interrupts nothing.
fn take_keyboard() -> Option<Termios> {
    let stdin = io::stdin();
    let before = termios::tcgetattr(&stdin).ok()?;
    let mut raw = before.clone();
    raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN);
    raw.input_modes.remove(InputModes::ICRNL);
    raw.special_codes[SpecialCodeIndex::VMIN] = 1;
    raw.special_codes[SpecialCodeIndex::VTIME] = 0;
    termios::tcsetattr(&stdin, OptionalActions::Now, &raw).ok()?;
    Some(before)
}

/// Returns once somebody wants to end: `q`, `Q` or Ctrl-C. Never, if there is no keyboard. The thread that reads
/// cannot be stopped, so it is left to the end of the process.
pub(super) async fn quit() {
    let (sender, receiver) = oneshot::channel();
    if termios::isatty(io::stdin()) {
        std::thread::spawn(move || {
            if wants_to_quit() {
                // Nobody listens any more once it has ended otherwise.
                let _ = sender.send(());
            }
        });
    } else {
        drop(sender);
    }
    if receiver.await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Reads keys until one says to quit; a keyboard that has gone away never does.
fn wants_to_quit() -> bool {
    let mut keys = [0; 64];
    loop {
        match rustix::io::read(io::stdin(), &mut keys) {
            Ok(0) => return false,
            Ok(count) if keys[..count].iter().any(|key| matches!(*key, b'q' | b'Q' | CTRL_C)) => return true,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// What paints `text` over what is there, in one piece: from the top, each line cleared to its end, then the
/// rest of the screen. A text of more than `height` lines is cut, with a sign; its last line always shows. A
/// terminal that knows how to shows nothing of it before all is there.
pub(super) fn frame(text: &str, height: usize) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let height = height.max(3);
    let mut shown: Vec<&str> = lines.clone();
    let sign;
    if lines.len() > height {
        sign = format!("... {} more lines: enlarge the terminal", lines.len() - height + 1);
        shown.truncate(height - 2);
        shown.push(&sign);
        shown.extend(lines.last());
    }
    let mut frame = String::from("\u{1b}[?2026h\u{1b}[H");
    for (number, line) in shown.iter().enumerate() {
        let end = if number == 0 { "" } else { "\r\n" };
        // Writing to a String cannot fail.
        let _ = write!(frame, "{end}{line}\u{1b}[0m\u{1b}[K");
    }
    frame.push_str("\u{1b}[J\u{1b}[?2026l");
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_one_write_that_clears_what_it_does_not_cover() {
        let shown = frame("one\ntwo\n", 10);
        assert_eq!(
            shown,
            "\u{1b}[?2026h\u{1b}[Hone\u{1b}[0m\u{1b}[K\r\ntwo\u{1b}[0m\u{1b}[K\u{1b}[J\u{1b}[?2026l"
        );
        assert!(!shown.contains("\u{1b}[2J"), "clearing everything first would flicker");
    }

    #[test]
    fn a_frame_that_is_too_tall_says_so() {
        let tall = (1..=30).fold(String::new(), |text, n| format!("{text}line {n}\n"));
        let shown = frame(&tall, 10);
        assert_eq!(shown.matches("\r\n").count(), 9);
        assert!(shown.contains("line 8\u{1b}") && !shown.contains("line 9\u{1b}"), "{shown}");
        assert!(shown.contains("... 21 more lines: enlarge the terminal"), "{shown}");
        assert!(shown.contains("line 30\u{1b}"), "the last line says how to quit: {shown}");
        assert_eq!(frame(&tall, 30).matches("\r\n").count(), 29);
        assert!(frame("", 0).starts_with("\u{1b}[?2026h\u{1b}[H\u{1b}[J"));
    }
}
