//! The terminal as a screen that is drawn anew again and again, and left as it was found.

use std::{
    fmt::Write as _,
    io::{self, Write},
    panic,
};

use rustix::termios::{self, InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios};

/// The alternate screen, without a cursor and without lines that wrap by themselves.
const ENTER: &str = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l\u{1b}[2J";

/// Back to the screen as it was.
const LEAVE: &str = "\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l";

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

/// What paints `text` over what is there, in one piece: from the top, each line cleared to its end, then the
/// rest of the screen. A terminal that knows how to shows nothing of it before all is there.
pub(super) fn frame(text: &str) -> String {
    let mut frame = String::from("\u{1b}[?2026h\u{1b}[H");
    for (number, line) in text.trim_end().lines().enumerate() {
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
        let shown = frame("one\ntwo\n");
        assert_eq!(
            shown,
            "\u{1b}[?2026h\u{1b}[Hone\u{1b}[0m\u{1b}[K\r\ntwo\u{1b}[0m\u{1b}[K\u{1b}[J\u{1b}[?2026l"
        );
        assert!(!shown.contains("\u{1b}[2J"), "clearing everything first would flicker");
        assert_eq!(frame(""), "\u{1b}[?2026h\u{1b}[H\u{1b}[J\u{1b}[?2026l");
    }
}
