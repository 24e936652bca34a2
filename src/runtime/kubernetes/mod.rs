//! The state Secret and the lock Lease, over the Kubernetes API.
//!
//! The layout is that of Terraform's `kubernetes` backend, so that both can read what the other wrote
//! and respect each other's lock.

mod calls;
mod connection;
mod error;
mod lease;
mod lock;
mod lock_info;
mod packing;
mod secret;
#[cfg(test)]
mod tests;

use std::{cell::RefCell, fmt, path::Path, rc::Rc};

use k8s_openapi::api::{coordination::v1::Lease, core::v1::Secret as StateSecret};
use kube::Api;

pub use self::{
    error::{StoreError, StoreErrorKind},
    lease::{Attempt, Holder},
    lock::{Patience, may_be_held},
    lock_info::{LockInfo, who},
    secret::{MAX_PACKED_BYTES, Stored},
};
use super::backend::{Environment, Names, Settings};
use crate::{
    clock::{Clock, SystemClock},
    contract::problem::Diagnostic,
};

/// Where Kubernetes puts a pod's service account.
pub const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// One state and its lock.
#[derive(Clone)]
pub struct Store {
    secrets: Api<StateSecret>,
    leases: Api<Lease>,
    names: Names,
    address: String,
    /// Paces the tries to put the state and to give back the lock.
    clock: Rc<dyn Clock>,
    /// The Lease as it was when we took the lock: unless somebody else writes it, it is given back without a look.
    held: Rc<RefCell<Option<Lease>>>,
}

impl Store {
    /// Prepares to talk to the API server that the settings name; nothing is sent yet. The settings are
    /// complete ([`Settings::with_environment`]), the environment is still needed for the pod around,
    /// the home directory and proxies, as are the files of the pod's service account
    /// ([`SERVICE_ACCOUNT`]). Returns what is worth a warning, too.
    ///
    /// # Errors
    /// Settings that name no API server or unreadable files, and credentials that cannot be had.
    pub async fn connect(
        settings: &Settings,
        names: Names,
        environment: Environment<'_>,
        service_account: &Path,
    ) -> Result<(Self, Vec<Diagnostic>), StoreError> {
        let (config, warnings) =
            connection::config(settings, environment, service_account).map_err(StoreError::settings)?;
        let address = connection::shown(&config.cluster_url.to_string());
        let client = connection::client(config).await.map_err(StoreError::settings)?;
        let store = Self {
            secrets: Api::namespaced(client.clone(), &names.namespace),
            leases: Api::namespaced(client, &names.namespace),
            names,
            address,
            clock: Rc::new(SystemClock),
            held: Rc::default(),
        };
        Ok((store, warnings))
    }

    /// The same with another clock.
    #[must_use]
    pub fn with_clock(self, clock: Rc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("names", &self.names)
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
