//! The lock as it is: one Lease, looked at and changed once.

use k8s_openapi::{
    api::coordination::v1::{Lease, LeaseSpec},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::api::PostParams;

use super::{
    LockInfo, Store, StoreError,
    calls::{LEASES, Tries, reading},
    error::{is_conflict, is_not_found, is_transient},
};

/// Where Terraform keeps what it knows about the holder.
const LOCK_INFO: &str = "app.terraform.io/lock-info";

/// Somebody who holds the lock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    /// The ID that the lock is held under; empty if it was taken and given back while we looked.
    pub id: String,
    /// What the holder says; a lock without it is held all the same.
    pub info: Option<LockInfo>,
}

/// What became of an attempt to take the lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// It is ours.
    Acquired,
    /// Somebody else holds it, or was quicker.
    Held(Holder),
}

/// What became of a change of the Lease.
#[derive(Debug)]
pub(super) enum Change {
    /// The Lease is this now.
    Done(Box<Lease>),
    /// The Lease is not as it was when we looked.
    Conflict,
    /// The API server will not do it.
    Refused(StoreError),
    /// No answer came: it may or may not be done, now or later.
    Unknown,
    /// The same, and asking again does not help.
    Lost(StoreError),
}

impl Change {
    /// Whether it may be done, now or later, without our knowing it.
    pub(super) fn is_doubtful(&self) -> bool {
        matches!(self, Self::Unknown | Self::Lost(_))
    }
}

impl Store {
    /// Who holds the lock now.
    pub async fn holder(&self) -> Result<Option<Holder>, StoreError> {
        Ok(self.lease().await?.as_ref().and_then(holder))
    }

    pub(super) async fn lease(&self) -> Result<Option<Lease>, StoreError> {
        let call = self.call("get", LEASES, Some(&self.names.lease));
        reading(call, async || self.get_lease().await).await
    }

    /// The Lease, waited for as long as `tries` goes on.
    pub(super) async fn lease_within(&self, tries: &mut Tries<'_>) -> Result<Option<Lease>, StoreError> {
        let call = self.call("get", LEASES, Some(&self.names.lease));
        tries.reading(call, async || self.get_lease().await).await
    }

    async fn get_lease(&self) -> kube::Result<Option<Lease>> {
        match self.leases.get(&self.names.lease).await {
            Err(error) if is_not_found(&error) => Ok(None),
            outcome => outcome.map(Some),
        }
    }

    /// Makes a Lease that `info` holds, or nobody.
    pub(super) async fn create_lease(&self, info: Option<&LockInfo>) -> Change {
        let mut lease = Lease {
            metadata: ObjectMeta {
                name: Some(self.names.lease.clone()),
                namespace: Some(self.names.namespace.clone()),
                labels: Some(self.names.labels.clone()),
                ..ObjectMeta::default()
            },
            spec: None,
        };
        match info {
            Some(info) => hold(&mut lease, info),
            None => lease.spec = Some(LeaseSpec::default()),
        }
        let made = self.leases.create(&PostParams::default(), &lease).await;
        self.changed("create", made)
    }

    /// Puts a Lease that was read and changed in its place, if nobody else has changed it meanwhile.
    pub(super) async fn replace_lease(&self, lease: &Lease) -> Change {
        let put = self.leases.replace(&self.names.lease, &PostParams::default(), lease).await;
        self.changed("update", put)
    }

    fn changed(&self, verb: &'static str, outcome: kube::Result<Lease>) -> Change {
        let error = match outcome {
            Ok(lease) => return Change::Done(Box::new(lease)),
            Err(error) => error,
        };
        let failed = || self.call(verb, LEASES, Some(&self.names.lease)).failed(&error);
        match &error {
            error if is_conflict(error) => Change::Conflict,
            // Deleted since it was read.
            error if verb == "update" && is_not_found(error) => Change::Conflict,
            error if is_transient(error) => Change::Unknown,
            kube::Error::Api(_) => Change::Refused(failed()),
            _ => Change::Lost(failed()),
        }
    }
}

/// Who holds a Lease. An empty holder is none.
pub(super) fn holder(lease: &Lease) -> Option<Holder> {
    let id = lease.spec.as_ref()?.holder_identity.clone().filter(|id| !id.is_empty())?;
    let text = lease.metadata.annotations.as_ref().and_then(|annotations| annotations.get(LOCK_INFO));
    Some(Holder { id, info: text.and_then(|text| LockInfo::parse(text)) })
}

/// Makes `info` the holder of a Lease.
pub(super) fn hold(lease: &mut Lease, info: &LockInfo) {
    lease.spec.get_or_insert_default().holder_identity = Some(info.id.clone());
    // A struct of texts always has a JSON form.
    let text = serde_json::to_string(info).unwrap_or_default();
    lease.metadata.annotations.get_or_insert_default().insert(LOCK_INFO.to_owned(), text);
}

/// Makes nobody the holder of a Lease.
pub(super) fn let_go(lease: &mut Lease) {
    if let Some(spec) = &mut lease.spec {
        spec.holder_identity = None;
    }
    if let Some(annotations) = &mut lease.metadata.annotations {
        annotations.remove(LOCK_INFO);
    }
}

/// Changes a Lease in nothing that matters, so that what was sent before for the Lease as it was comes too late.
pub(super) fn turn(lease: &mut Lease) {
    let transitions = &mut lease.spec.get_or_insert_default().lease_transitions;
    *transitions = Some(transitions.unwrap_or_default().checked_add(1).unwrap_or_default());
}
