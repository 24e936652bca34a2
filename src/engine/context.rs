//! What every run of the engine is given: AWS, time, somebody to tell, and a way to be stopped.

use std::time::Duration;

use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use crate::{
    clock::{Clock, Timestamp},
    cloud::Cloud,
    contract::problem::Diagnostic,
    model::plan::Address,
};

/// What a run is given.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// AWS or the sandbox.
    pub cloud: &'a dyn Cloud,
    /// Time.
    pub clock: &'a dyn Clock,
    /// Who is told what happens.
    pub progress: &'a dyn Progress,
    /// Raised by the first signal.
    pub interrupt: &'a Interrupt,
    /// When the whole command must be over.
    pub deadline: Timestamp,
}

/// Something worth telling while a command runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A step begins.
    Started {
        /// Of which resource.
        address: Address,
        /// Present participle and object: `creating launch template captf-...`.
        what: String,
    },
    /// A step is done.
    Done {
        /// Of which resource.
        address: Address,
        /// As in `Started`.
        what: String,
        /// How long it took.
        took: Duration,
    },
    /// A step has failed; why is told at the end.
    Failed {
        /// Of which resource.
        address: Address,
        /// As in `Started`.
        what: String,
        /// How long it took.
        took: Duration,
    },
    /// A wait goes on.
    Waiting {
        /// For what: `3 of 5 members are left`.
        what: String,
        /// For how long already.
        waited: Duration,
    },
    /// How much of what is waited for is done; told before the wait itself.
    Share {
        /// So many,
        done: u32,
        /// of so many.
        of: u32,
        /// What is waited for, for a place without room for the share in words: what matters most comes first.
        brief: String,
    },
    /// Something odd that stops nothing.
    Warning(Diagnostic),
}

/// Somebody who is told.
pub trait Progress {
    /// Takes note of an event; must not block.
    fn tell(&self, event: Event);
}

/// Tells nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn tell(&self, _event: Event) {}
}

/// A flag that is raised once, and that waits end on. It knows since when it is up.
#[derive(Clone, Debug)]
pub struct Interrupt(watch::Receiver<Option<Instant>>);

/// The other end of an [`Interrupt`].
#[derive(Debug)]
pub struct Interrupter(watch::Sender<Option<Instant>>);

impl Interrupt {
    /// A flag that is down, and the handle that raises it.
    pub fn new() -> (Interrupter, Self) {
        let (sender, receiver) = watch::channel(None);
        (Interrupter(sender), Self(receiver))
    }

    /// Whether it has been raised.
    pub fn is_raised(&self) -> bool {
        self.0.borrow().is_some()
    }

    /// Returns when it is raised; never, if its handle is dropped first.
    pub async fn raised(&self) {
        self.since().await;
    }

    /// Returns when it has been up for that long: at once, if it was raised long ago.
    pub async fn raised_for(&self, time: Duration) {
        sleep_until(self.since().await + time).await;
    }

    async fn since(&self) -> Instant {
        let mut receiver = self.0.clone();
        let since = receiver.wait_for(Option::is_some).await.ok().and_then(|since| *since);
        match since {
            Some(since) => since,
            None => std::future::pending().await,
        }
    }
}

impl Interrupter {
    /// Raises the flag, if it is not up yet.
    pub fn raise(&self) {
        self.0.send_if_modified(|since| {
            let first = since.is_none();
            since.get_or_insert_with(Instant::now);
            first
        });
    }
}
