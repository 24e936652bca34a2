//! Asking again when that may help.

use std::time::Duration;

use super::{
    Store, StoreError,
    error::{Call, is_transient},
};
use crate::clock::{Clock, Timestamp};

/// The pauses before a call is made again; there are as many further tries as pauses.
pub(super) const PAUSES: [Duration; 3] =
    [Duration::from_millis(100), Duration::from_millis(300), Duration::from_millis(900)];

pub(super) const SECRETS: &str = "secrets";
pub(super) const LEASES: &str = "leases";

impl Store {
    pub(super) fn call<'a>(
        &'a self,
        verb: &'static str,
        resource: &'static str,
        name: Option<&'a str>,
    ) -> Call<'a> {
        Call { verb, resource, name, namespace: &self.names.namespace, address: &self.address }
    }
}

/// A call that changes nothing. Server faults and lost connections are tried again.
pub(super) async fn reading<T>(
    call: Call<'_>,
    attempt: impl AsyncFn() -> kube::Result<T>,
) -> Result<T, StoreError> {
    for pause in PAUSES {
        match attempt().await {
            Err(error) if is_transient(&error) => tokio::time::sleep(pause.max(asked_pause(&error))).await,
            outcome => return outcome.map_err(|error| call.failed(&error)),
        }
    }
    attempt().await.map_err(|error| call.failed(&error))
}

/// How long an API that has too much to do asks to be left alone, as far as anybody can wait for it.
fn asked_pause(error: &kube::Error) -> Duration {
    let details = match error {
        kube::Error::Api(status) => status.details.as_ref(),
        _ => None,
    };
    Duration::from_secs(details.map_or(0, |details| details.retry_after_seconds.into())).min(LONGEST_PAUSE)
}

/// How long the API may be away while a state is put or a lock is given back: both are lost otherwise.
pub(super) const PATIENT: Duration = Duration::from_mins(1);

/// The longest pause between two such tries.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Tries with growing pauses, until time is up.
pub(super) struct Tries<'a> {
    clock: &'a dyn Clock,
    begin: Timestamp,
    limit: Duration,
    next: Duration,
}

impl Store {
    /// Tries that go on for `limit`, counted from now.
    pub(super) fn tries(&self, limit: Duration) -> Tries<'_> {
        let clock = &*self.clock;
        Tries { clock, begin: clock.now(), limit, next: PAUSES[0] }
    }
}

impl Tries<'_> {
    /// Waits before another try; false, at once, if time is up.
    pub(super) async fn another(&mut self) -> bool {
        let left = self.limit.saturating_sub(self.clock.now().since(self.begin));
        if left.is_zero() {
            return false;
        }
        self.clock.sleep(self.next.min(left)).await;
        self.next = (self.next * 3).min(LONGEST_PAUSE);
        true
    }

    /// As [`reading`], with these tries.
    pub(super) async fn reading<T>(
        &mut self,
        call: Call<'_>,
        attempt: impl AsyncFn() -> kube::Result<T>,
    ) -> Result<T, StoreError> {
        loop {
            match attempt().await {
                Err(error) if is_transient(&error) && self.another().await => {}
                outcome => return outcome.map_err(|error| call.failed(&error)),
            }
        }
    }
}
