//! How long what is left to do may take once a command is interrupted: whoever sent the signal kills after a
//! while. Every limit counts from the interrupt, and each leaves something to the next.

use std::time::Duration;

use crate::engine::context::Interrupt;

/// Until then AWS may tell what was done; calls in flight were given up before.
pub(super) const LOOK: Duration = Duration::from_secs(10);

/// Until then the state may be written; after that it is left in a file.
#[cfg(feature = "kubernetes")]
pub(super) const RECORD: Duration = Duration::from_secs(12);

/// Until then the lock may be given back.
#[cfg(feature = "kubernetes")]
pub(super) const RELEASE: Duration = Duration::from_secs(14);

/// What each of them gets in any case, however late it begins.
const LEAST: Duration = Duration::from_secs(2);

/// The outcome of `work`; `None` if an interrupt is `limit` old before there is one.
pub(super) async fn within<T>(
    interrupt: &Interrupt,
    limit: Duration,
    work: impl Future<Output = T>,
) -> Option<T> {
    let end = async { tokio::join!(interrupt.raised_for(limit), tokio::time::sleep(LEAST)) };
    tokio::select! {
        biased;
        outcome = work => Some(outcome),
        _ = end => None,
    }
}
