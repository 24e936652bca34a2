//! Asking again when that may help.

use std::time::Duration;

use super::{
    Store, StoreError,
    error::{Call, is_transient},
};

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
            Err(error) if is_transient(&error) => tokio::time::sleep(pause).await,
            outcome => return outcome.map_err(|error| call.failed(&error)),
        }
    }
    attempt().await.map_err(|error| call.failed(&error))
}
