//! The state as it is stored: one Secret when we write, perhaps several when Terraform did.

use std::{collections::BTreeMap, fmt, time::Duration};

use k8s_openapi::{ByteString, api::core::v1::Secret, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::api::{DeleteParams, ListParams, PostParams, Preconditions, PropagationPolicy};

use super::{
    Store, StoreError, StoreErrorKind,
    calls::{PATIENT, SECRETS, Tries, reading},
    error::{is_conflict, is_not_found, is_transient},
    packing::{Unpacked, pack, unpack},
};
use crate::{contract::problem::Diagnostic, runtime::backend::TERRAFORM_LABELS};

/// The key of a Secret that holds a state or a part of one.
const KEY: &str = "tfstate";

/// The most that Kubernetes takes in one Secret, all values together, in bytes.
pub const MAX_PACKED_BYTES: usize = 1024 * 1024;

/// How often a write is repeated because others changed labels, annotations or owners meanwhile.
const GRAFTS: usize = 5;

/// A state that was read, and what is needed to replace it.
#[derive(Clone)]
pub struct Stored {
    state: Vec<u8>,
    /// Part 0, as it was read.
    secret: Secret,
    /// The parts after it, in order: they go when the state is written.
    further: Vec<Secret>,
}

impl Stored {
    /// The state, unpacked: JSON.
    pub fn state(&self) -> &[u8] {
        &self.state
    }

    /// Changes with every write to the Secret.
    pub fn resource_version(&self) -> &str {
        self.secret.metadata.resource_version.as_deref().unwrap_or_default()
    }
}

/// Shows which, not what.
impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stored")
            .field("name", &self.secret.metadata.name)
            .field("resource_version", &self.resource_version())
            .finish_non_exhaustive()
    }
}

impl Store {
    /// The state; `None` only if there is none.
    ///
    /// # Errors
    /// Whatever else keeps it from being read: [`StoreErrorKind::Damaged`] if a part is missing or there
    /// twice, or if it does not unpack.
    pub async fn read(&self) -> Result<Option<Stored>, StoreError> {
        for _ in 0..=GRAFTS {
            let found = self.list().await?;
            if !found.is_empty() {
                return self.assemble(found).map(Some);
            }
            if self.is_absent().await? {
                return Ok(None);
            }
        }
        Err(damaged(&format!("the list of its Secrets leaves out {}", self.names.secret), ""))
    }

    /// Everything that has the labels of a part of the state.
    async fn list(&self) -> Result<Vec<Secret>, StoreError> {
        let selected = ListParams::default().labels(&self.names.selector());
        let list =
            reading(self.call("list", SECRETS, None), async || self.secrets.list(&selected).await).await?;
        if list.metadata.continue_.is_some_and(|token| !token.is_empty()) {
            return Err(damaged("the list of its Secrets came incomplete", ""));
        }
        Ok(list.items)
    }

    /// Nothing had the labels. A Secret that lost them would be taken for a new state, and overwritten; one
    /// that has them was made by somebody else since, and is there to be read.
    async fn is_absent(&self) -> Result<bool, StoreError> {
        let name = self.names.secret.as_str();
        let found =
            reading(self.call("get", SECRETS, Some(name)), async || match self.secrets.get(name).await {
                Err(error) if is_not_found(&error) => Ok(None),
                outcome => outcome.map(Some),
            });
        let Some(found) = found.await? else { return Ok(true) };
        let labels = found.metadata.labels.unwrap_or_default();
        let has = |label: &&str| labels.get(*label) == self.names.labels.get(*label);
        if TERRAFORM_LABELS.iter().all(has) {
            return Ok(false);
        }
        Err(damaged(
            &format!("the Secret {name} lacks labels that a state has"),
            &format!("Label it again: {}.", self.names.selector().replace(',', ", ")),
        ))
    }

    fn assemble(&self, secrets: Vec<Secret>) -> Result<Stored, StoreError> {
        let mut parts = BTreeMap::new();
        for secret in secrets {
            let name = secret.metadata.name.clone().unwrap_or_default();
            let Some(index) = self.names.part_index(&name) else {
                return Err(damaged(
                    &format!("the Secret {name} has the labels of a part of it, but not the name"),
                    "It may be a copy: delete it, or take its tfstate... labels away.",
                ));
            };
            if parts.insert(index, secret).is_some() {
                return Err(damaged(&format!("two Secrets are part {index} of it"), ""));
            }
        }
        let mut packed = Vec::new();
        let mut ends = Vec::new();
        for (wanted, (index, secret)) in parts.iter().enumerate() {
            if wanted != *index {
                return Err(damaged(
                    &format!("the Secret {} is missing", self.names.part(wanted)),
                    &self.restore(),
                ));
            }
            let Some(ByteString(bytes)) = content(secret).filter(|bytes| !bytes.0.is_empty()) else {
                return Err(damaged(
                    &format!("the Secret {} has no data under the key {KEY}", self.names.part(wanted)),
                    &self.restore(),
                ));
            };
            packed.extend_from_slice(bytes);
            ends.push(packed.len());
        }
        let state = unpack_parts(&packed, &ends).map_err(|what| damaged(&what, &self.restore()))?;
        let mut parts = parts.into_values();
        let Some(secret) = parts.next() else {
            return Err(damaged("it has no parts", ""));
        };
        Ok(Stored { state, secret, further: parts.collect() })
    }

    /// Writes the state in the place of the one that was read, or as the first. One Secret holds it then;
    /// parts left over are removed. Returns what is stored now, and a warning if a part could not be removed.
    ///
    /// # Errors
    /// [`StoreErrorKind::Conflict`] if somebody else wrote since, [`StoreErrorKind::TooLarge`] if it does
    /// not fit: nothing is written then. Any other failure may have happened after the write was done.
    pub async fn write(
        &self,
        state: &[u8],
        expected: Option<&Stored>,
    ) -> Result<(Stored, Option<Diagnostic>), StoreError> {
        let mut stored = self.put(state, expected).await?;
        let mut warning = None;
        // From the last to the first, so that what is left is never a state with a gap.
        while let Some(part) = stored.further.last() {
            if let Err(error) = self.remove(&part.metadata).await {
                warning = Some(Diagnostic::warning(
                    "A part of an earlier, larger state could not be removed",
                    format!("{}. It does no harm and is tried again with the next write.", error.summary),
                ));
                break;
            }
            stored.further.pop();
        }
        Ok((stored, warning))
    }

    /// Has the API server check the same write, and do nothing.
    ///
    /// An admission webhook with side effects refuses dry runs, whatever is written. Then the Secret is
    /// replaced by itself, which the webhook can judge and which changes nothing; a Secret that is not
    /// there yet holds nothing that could be lost, and is not rehearsed.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub async fn rehearse(&self, state: &[u8], expected: Option<&Stored>) -> Result<(), StoreError> {
        let verb = if expected.is_some() { "update" } else { "create" };
        let call = self.call(verb, SECRETS, Some(&self.names.secret));
        let mut base = expected.cloned();
        let mut dry_run = true;
        for _ in 0..=GRAFTS {
            let secret = match &base {
                Some(stored) if !dry_run => stored.secret.clone(),
                _ => self.prepared(state, base.as_ref())?,
            };
            let attempt = async || match self.attempt(&secret, expected.is_some(), dry_run).await {
                Err(error) if dry_run && refuses_dry_runs(&error) => Ok(false),
                outcome => outcome.map(|_| true),
            };
            match reading(call, attempt).await {
                Ok(false) if expected.is_some() => {
                    dry_run = false;
                    continue;
                }
                Err(error) if error.kind == StoreErrorKind::Conflict => {}
                outcome => return outcome.map(drop),
            }
            base = self.unchanged(base, &mut self.tries(Duration::ZERO)).await?;
            if base.is_none() {
                break;
            }
        }
        Err(self.overtaken())
    }

    /// The Secret that is to be written: what others put into it is kept.
    fn prepared(&self, state: &[u8], expected: Option<&Stored>) -> Result<Secret, StoreError> {
        let packed = pack(state).map_err(|error| damaged(&format!("it does not pack: {error}"), ""))?;
        let mut secret = expected.map(|stored| stored.secret.clone()).unwrap_or_default();
        secret.metadata.name = Some(self.names.secret.clone());
        secret.metadata.namespace = Some(self.names.namespace.clone());
        secret.metadata.labels.get_or_insert_default().extend(self.names.labels.clone());
        secret.metadata.annotations.get_or_insert_default().insert("encoding".to_owned(), "gzip".to_owned());
        let data = secret.data.get_or_insert_default();
        data.insert(KEY.to_owned(), ByteString(packed));
        let size: usize = data.values().map(|value| value.0.len()).sum();
        if size > MAX_PACKED_BYTES {
            return Err(StoreError::new(
                StoreErrorKind::TooLarge,
                format!(
                    "The state does not fit into the Secret {}: it would hold {size} bytes, a Secret holds \
                     {MAX_PACKED_BYTES}",
                    self.names.secret
                ),
                "",
            ));
        }
        Ok(secret)
    }

    async fn attempt(&self, secret: &Secret, replace: bool, dry_run: bool) -> kube::Result<Secret> {
        let how = PostParams { dry_run, ..PostParams::default() };
        if replace {
            self.secrets.replace(&self.names.secret, &how, secret).await
        } else {
            self.secrets.create(&how, secret).await
        }
    }

    /// Creates or replaces. Either can be repeated safely: a second creation and a second replacement of
    /// the same version conflict, and what is there then tells whether the first was ours. What others
    /// changed around an unchanged state is taken over.
    async fn put(&self, state: &[u8], expected: Option<&Stored>) -> Result<Stored, StoreError> {
        let replace = expected.is_some();
        let call = self.call(if replace { "update" } else { "create" }, SECRETS, Some(&self.names.secret));
        let mut base = expected.cloned();
        let mut secret = self.prepared(state, base.as_ref())?;
        let (mut unanswered, mut grafts) = (false, GRAFTS);
        let mut tries = self.tries(PATIENT);
        loop {
            let error = match self.attempt(&secret, replace, false).await {
                Ok(written) => return Ok(replaced(state, written, base)),
                Err(error) => error,
            };
            if is_conflict(&error) {
                if unanswered
                    && let Some(now) = self.present(&secret, &mut tries).await?
                    && content(&now) == content(&secret)
                {
                    return Ok(replaced(state, now, base));
                }
                base = self.unchanged(base, &mut tries).await?;
                if base.is_none() || grafts == 0 {
                    return Err(self.overtaken());
                }
                grafts -= 1;
                secret = self.prepared(state, base.as_ref())?;
                continue;
            }
            if replace && is_not_found(&error) {
                return Err(self.overtaken());
            }
            if !is_transient(&error) || !tries.another().await {
                return Err(call.failed(&error));
            }
            unanswered = true;
        }
    }

    /// What was read as it is now, if it holds the same state still; others may have changed the rest.
    async fn unchanged(
        &self,
        read: Option<Stored>,
        tries: &mut Tries<'_>,
    ) -> Result<Option<Stored>, StoreError> {
        let Some(mut stored) = read else { return Ok(None) };
        for part in std::iter::once(&mut stored.secret).chain(&mut stored.further) {
            match self.present(part, tries).await? {
                Some(now) if now.metadata.uid == part.metadata.uid && content(&now) == content(part) => {
                    *part = now;
                }
                _ => return Ok(None),
            }
        }
        Ok(Some(stored))
    }

    /// A Secret as it is now.
    async fn present(&self, secret: &Secret, tries: &mut Tries<'_>) -> Result<Option<Secret>, StoreError> {
        let name = secret.metadata.name.as_deref().unwrap_or_default();
        let call = self.call("get", SECRETS, Some(name));
        let get = async || match self.secrets.get(name).await {
            Err(error) if is_not_found(&error) => Ok(None),
            outcome => outcome.map(Some),
        };
        tries.reading(call, get).await
    }

    /// What to do about a state that is damaged.
    fn restore(&self) -> String {
        let name = &self.names.secret;
        format!(
            "Nothing was written. To restore it, delete the Secret {name} (and its parts {name}-part-1 and so \
             on, if there are any), then push the backup with state push. Only if nothing was ever applied is \
             deleting enough."
        )
    }

    fn overtaken(&self) -> StoreError {
        StoreError::new(
            StoreErrorKind::Conflict,
            format!(
                "The state was not written: somebody else wrote the Secret {} meanwhile",
                self.names.secret
            ),
            "Two runs at once, or a change by hand. Run the command again: it starts from what is there now.",
        )
    }

    async fn remove(&self, part: &ObjectMeta) -> Result<(), StoreError> {
        let name = part.name.as_deref().unwrap_or_default();
        let how = DeleteParams {
            propagation_policy: Some(PropagationPolicy::Background),
            preconditions: Some(Preconditions {
                uid: part.uid.clone(),
                resource_version: part.resource_version.clone(),
            }),
            ..DeleteParams::default()
        };
        reading(self.call("delete", SECRETS, Some(name)), async || {
            match self.secrets.delete(name, &how).await {
                Err(error) if is_not_found(&error) => Ok(()),
                outcome => outcome.map(drop),
            }
        })
        .await
    }
}

/// What the API server answers to a dry run for a webhook that may have side effects:
/// `admission webhook "..." does not support dry run`.
fn refuses_dry_runs(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 400 && status.message.contains("support dry run"))
}

/// What a Secret holds of a state.
fn content(secret: &Secret) -> Option<&ByteString> {
    secret.data.as_ref()?.get(KEY)
}

/// What is stored after a write in the place of what was read.
fn replaced(state: &[u8], secret: Secret, read: Option<Stored>) -> Stored {
    Stored { state: state.to_vec(), secret, further: read.map(|read| read.further).unwrap_or_default() }
}

/// Parts behind the end of the state are what a run left that was killed before it removed them.
fn unpack_parts(packed: &[u8], ends: &[usize]) -> Result<Vec<u8>, String> {
    let Unpacked { state, taken } = unpack(packed).map_err(|error| format!("it does not unpack: {error}"))?;
    if ends.contains(&taken) { Ok(state) } else { Err("something follows its end".to_owned()) }
}

fn damaged(what: &str, detail: &str) -> StoreError {
    StoreError::new(StoreErrorKind::Damaged, format!("The stored state cannot be used: {what}"), detail)
}
