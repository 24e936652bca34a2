//! The keys of a screen: to end it, and to see what does not fit.

use std::io;

use rustix::termios;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// Ctrl-C, read as a key.
const CTRL_C: u8 = 3;

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// To end.
    Quit,
    /// A line further up.
    Up,
    /// A line further down.
    Down,
    /// A page further up.
    PageUp,
    /// A page further down.
    PageDown,
}

/// The keys and what terminals send for them, in both of the modes that they have for arrows.
const KEYS: [(&[u8], Key); 15] = [
    (b"q", Key::Quit),
    (b"Q", Key::Quit),
    (&[CTRL_C], Key::Quit),
    (b"k", Key::Up),
    (b"\x1b[A", Key::Up),
    (b"\x1bOA", Key::Up),
    (b"j", Key::Down),
    (b"\x1b[B", Key::Down),
    (b"\x1bOB", Key::Down),
    (b"\r", Key::Down),
    (b"\n", Key::Down),
    (b"\x1b[5~", Key::PageUp),
    (b"b", Key::PageUp),
    (b"\x1b[6~", Key::PageDown),
    (b" ", Key::PageDown),
];

/// The keys in what was read at once; others mean nothing.
fn keys(mut read: &[u8]) -> Vec<Key> {
    let mut found = Vec::new();
    while !read.is_empty() {
        let known = KEYS.iter().find(|(sent, _)| read.starts_with(sent));
        found.extend(known.map(|(_, key)| *key));
        read = &read[known.map_or(1, |(sent, _)| sent.len())..];
    }
    found
}

/// The keyboard, if there is one.
pub(super) struct Keyboard(Option<UnboundedReceiver<Key>>);

impl Keyboard {
    /// Reads keys from now on. The thread that does cannot be stopped, so it is left to the end of the process.
    pub(super) fn listen() -> Self {
        if !termios::isatty(io::stdin()) {
            return Self(None);
        }
        let (sender, receiver) = unbounded_channel();
        std::thread::spawn(move || {
            while let Some(read) = read() {
                // Nobody listens any more once the screen has ended.
                if keys(&read).into_iter().any(|key| sender.send(key).is_err()) {
                    return;
                }
            }
        });
        Self(Some(receiver))
    }

    /// The next key. Never, if there is no keyboard, or if it has gone away.
    pub(super) async fn next(&mut self) -> Key {
        if let Some(receiver) = &mut self.0
            && let Some(key) = receiver.recv().await
        {
            return key;
        }
        std::future::pending().await
    }
}

/// What was typed; `None` once the keyboard has gone away.
fn read() -> Option<Vec<u8>> {
    let mut typed = [0; 64];
    loop {
        match rustix::io::read(io::stdin(), &mut typed) {
            Ok(0) => return None,
            Ok(count) => return Some(typed[..count].to_vec()),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_apart_however_many_come_at_once() {
        assert_eq!(keys(b"j\x1b[Ak\x1bOB"), [Key::Down, Key::Up, Key::Up, Key::Down]);
        assert_eq!(keys(b"\x1b[5~\x1b[6~ b"), [Key::PageUp, Key::PageDown, Key::PageDown, Key::PageUp]);
        assert_eq!(keys(b"xQ"), [Key::Quit]);
        assert_eq!(keys(b"\x03"), [Key::Quit]);
        assert_eq!(keys("\u{1b}[Dxé\u{1b}".as_bytes()), []);
    }
}
