//! The sandbox's clocks: waits pass at once in tests, and in moments on the command line.

use std::{cell::Cell, time::Duration};

use async_trait::async_trait;

use crate::clock::{Clock, SystemClock, Timestamp};

/// The longest that [`SandboxClock`] really sleeps.
const NAP: Duration = Duration::from_millis(30);

/// The machine's time plus an offset that grows with every sleep. A wait of minutes takes moments,
/// yet between two commands time passes as it does outside. The offset is kept in the sandbox's
/// file, so that the next command does not fall back behind this one.
#[derive(Debug, Default)]
pub struct SandboxClock {
    offset_ms: Cell<u64>,
}

impl SandboxClock {
    /// A clock without an offset.
    pub fn new() -> Self {
        Self::default()
    }

    /// How far ahead of the machine's time this clock is, in milliseconds.
    pub fn offset_ms(&self) -> u64 {
        self.offset_ms.get()
    }

    /// Moves ahead to an offset that the file holds; never back.
    pub(super) fn catch_up(&self, offset_ms: u64) {
        self.offset_ms.set(self.offset_ms.get().max(offset_ms));
    }
}

#[async_trait(?Send)]
impl Clock for SandboxClock {
    fn now(&self) -> Timestamp {
        SystemClock.now().plus(Duration::from_millis(self.offset_ms.get()))
    }

    async fn sleep(&self, duration: Duration) {
        let nap = duration.min(NAP);
        let skipped = u64::try_from(duration.saturating_sub(nap).as_millis()).unwrap_or(u64::MAX);
        self.offset_ms.set(self.offset_ms.get().saturating_add(skipped));
        tokio::time::sleep(nap).await;
    }
}

/// A clock that stands still between sleeps; a sleep moves it on at once.
#[derive(Debug)]
pub struct ManualClock {
    now: Cell<Timestamp>,
}

impl ManualClock {
    /// A clock that stands at `start`.
    pub fn starting_at(start: Timestamp) -> Self {
        Self { now: Cell::new(start) }
    }

    /// Moves on by `duration`.
    pub fn advance(&self, duration: Duration) {
        self.now.set(self.now.get().plus(duration));
    }
}

impl Default for ManualClock {
    /// Stands at 2026-01-01T00:00:00Z.
    fn default() -> Self {
        Self::starting_at(Timestamp(1_767_225_600_000))
    }
}

#[async_trait(?Send)]
impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.now.get()
    }

    async fn sleep(&self, duration: Duration) {
        self.advance(duration);
        // Lets whatever runs beside the sleeper have its turn, as a real sleep does.
        tokio::task::yield_now().await;
    }
}
