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

use std::{fmt, path::Path, rc::Rc};

use k8s_openapi::api::{coordination::v1::Lease, core::v1::Secret as StateSecret};
use kube::{Api, Client};

pub use self::{
    error::{StoreError, StoreErrorKind},
    lease::{Attempt, Holder},
    lock::Patience,
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
}

impl Store {
    /// Prepares to talk to the API server that the settings name; nothing is sent yet. The settings are
    /// complete ([`Settings::with_environment`]), the environment is still needed for the pod around,
    /// the home directory and proxies, as are the files of the pod's service account
    /// ([`SERVICE_ACCOUNT`]). Returns what is worth a warning, too. Needs a tokio runtime.
    ///
    /// # Errors
    /// Settings that name no API server or unreadable files, and credentials that cannot be had.
    pub fn connect(
        settings: &Settings,
        names: Names,
        environment: Environment<'_>,
        service_account: &Path,
    ) -> Result<(Self, Vec<Diagnostic>), StoreError> {
        let (config, warnings) =
            connection::config(settings, environment, service_account).map_err(StoreError::settings)?;
        let address = connection::shown(&config.cluster_url.to_string());
        let client = Client::try_from(config)
            .map_err(|error| StoreError::settings(connection::client_fault(&error)))?;
        let store = Self {
            secrets: Api::namespaced(client.clone(), &names.namespace),
            leases: Api::namespaced(client, &names.namespace),
            names,
            address,
            clock: Rc::new(SystemClock),
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
