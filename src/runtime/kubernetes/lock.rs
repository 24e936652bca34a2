//! Taking the lock, waiting for it, giving it back.

use std::{cell::Cell, time::Duration};

use k8s_openapi::api::coordination::v1::Lease;

use super::{
    Attempt, Holder, LockInfo, Store, StoreError, StoreErrorKind,
    calls::{LEASES, PATIENT, PAUSES},
    lease::{Change, hold, holder, let_go, turn},
};
use crate::{clock::Clock, contract::quote, engine::context::Interrupt};

/// The first pause between two attempts; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(16);

/// How long giving up a lock is tried that we may hold without knowing it.
const ABANDON: Duration = Duration::from_secs(10);

/// How often the Lease may change under our hands, in labels or annotations, say.
const CONFLICTS: usize = 5;

/// How to wait for a lock that somebody else holds.
pub struct Patience<'a> {
    /// How long in all; zero means one attempt.
    pub timeout: Duration,
    /// Time.
    pub clock: &'a dyn Clock,
    /// Ends the wait.
    pub interrupt: &'a Interrupt,
    /// Told before each pause who holds the lock and how long was waited.
    pub waiting: &'a dyn Fn(&Holder, Duration),
}

impl Store {
    /// Takes the lock, after waiting for it if need be.
    ///
    /// # Errors
    /// [`StoreErrorKind::Locked`] with the holder's info when time is up, [`StoreErrorKind::Interrupted`]
    /// on a signal; whatever else fails is not waited for.
    pub async fn lock(&self, info: &LockInfo, patience: &Patience<'_>) -> Result<(), StoreError> {
        let begin = patience.clock.now();
        let mut pause = FIRST_PAUSE;
        loop {
            if patience.interrupt.is_raised() {
                return Err(interrupted());
            }
            let other = match self.take(info, patience.interrupt.raised()).await? {
                Attempt::Acquired => return Ok(()),
                Attempt::Held(other) => other,
            };
            let waited = patience.clock.now().since(begin);
            let left = patience.timeout.saturating_sub(waited);
            if left.is_zero() {
                return Err(locked(&other, waited));
            }
            (patience.waiting)(&other, waited);
            tokio::select! {
                biased;
                () = patience.interrupt.raised() => return Err(interrupted()),
                () = patience.clock.sleep(pause.min(left)) => {}
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Tries once to take the lock. A lock that we hold already is taken.
    ///
    /// # Errors
    /// Whatever keeps the Lease from being read and changed. If an attempt may have been done all the
    /// same, the lock is given back; the error names its ID if that fails, too.
    pub async fn try_lock(&self, info: &LockInfo) -> Result<Attempt, StoreError> {
        self.take(info, std::future::pending()).await
    }

    /// As [`Self::try_lock`]; given up when `stopped` returns.
    async fn take(&self, info: &LockInfo, stopped: impl Future<Output = ()>) -> Result<Attempt, StoreError> {
        let doubtful = Cell::new(false);
        let outcome = tokio::select! {
            biased;
            () = stopped => Err(interrupted()),
            outcome = self.acquire(info, &doubtful) => outcome,
        };
        match outcome {
            Err(error) if doubtful.get() => Err(self.abandon(&info.id, error).await),
            outcome => outcome,
        }
    }

    /// Looks and changes until it is known who holds the lock. `doubtful` is set while, and after, a change is
    /// under way of which it is not known what comes of it.
    async fn acquire(&self, info: &LockInfo, doubtful: &Cell<bool>) -> Result<Attempt, StoreError> {
        let (mut pauses, mut conflicts) = (PAUSES.into_iter(), CONFLICTS);
        loop {
            // After a conflict or a lost answer this tells who was quicker: perhaps an attempt of ours.
            let found = self.lease().await?;
            if let Some(attempt) = self.verdict(found.as_ref(), info) {
                return Ok(attempt);
            }
            let before = doubtful.replace(true);
            let (verb, change) = match found {
                None => ("create", self.create_lease(Some(info)).await),
                Some(mut lease) => {
                    hold(&mut lease, info);
                    ("update", self.replace_lease(&lease).await)
                }
            };
            doubtful.set(before || change.is_doubtful());
            match change {
                Change::Done(lease) => {
                    self.held.replace(Some(*lease));
                    return Ok(Attempt::Acquired);
                }
                Change::Conflict if conflicts == 0 => return Ok(Attempt::Held(Holder::default())),
                Change::Conflict => conflicts -= 1,
                Change::Refused(error) | Change::Lost(error) => return Err(error),
                Change::Unknown => {
                    let Some(pause) = pauses.next() else {
                        // It may have been done, too.
                        let found = self.lease().await?;
                        return self.verdict(found.as_ref(), info).ok_or_else(|| self.no_answer(verb));
                    };
                    tokio::time::sleep(pause).await;
                }
            }
        }
    }

    /// Whose lock it is; `None` if nobody's.
    fn verdict(&self, found: Option<&Lease>, info: &LockInfo) -> Option<Attempt> {
        let other = found.and_then(holder)?;
        if other.id != info.id {
            return Some(Attempt::Held(other));
        }
        self.held.replace(found.cloned());
        Some(Attempt::Acquired)
    }

    /// Gives up a lock that we may hold, because of `error` without knowing it, or may still come to hold.
    async fn abandon(&self, id: &str, error: StoreError) -> StoreError {
        match tokio::time::timeout(ABANDON, self.fence(id)).await {
            Ok(Ok(())) => error,
            Ok(Err(_)) | Err(_) => with_id(error, id),
        }
    }

    /// Sees to it that no attempt of ours takes the lock, neither one that was done nor one that is still on its
    /// way: whatever was sent for the Lease as it was, or to make it, is refused once it is another, or there.
    async fn fence(&self, id: &str) -> Result<(), StoreError> {
        let (mut tries, mut conflicts) = (self.tries(ABANDON), CONFLICTS);
        loop {
            let change = match self.lease_within(&mut tries).await? {
                None => self.create_lease(None).await,
                // Whoever took it has changed it.
                Some(lease) if holder(&lease).is_some_and(|other| other.id != id) => return Ok(()),
                Some(mut lease) => {
                    let_go(&mut lease);
                    turn(&mut lease);
                    self.replace_lease(&lease).await
                }
            };
            match change {
                Change::Done(_) => return Ok(()),
                Change::Conflict if conflicts == 0 => return Err(self.restless()),
                Change::Conflict => conflicts -= 1,
                Change::Refused(error) | Change::Lost(error) => return Err(error),
                Change::Unknown if tries.another().await => {}
                Change::Unknown => return Err(self.no_answer("update")),
            }
        }
    }

    /// Gives the lock back: nobody is the holder then, the Lease stays. An API that is away is waited for.
    ///
    /// # Errors
    /// [`StoreErrorKind::NotLocked`] if the lock is not ours any more; it is left as it is. Any other
    /// leaves the lock with us, perhaps, and names its ID.
    pub async fn unlock(&self, id: &str) -> Result<(), StoreError> {
        let known = self.held.take().filter(|lease| holder(lease).is_some_and(|ours| ours.id == id));
        let released = self.release(known, |current, unanswered| match current {
            Some(current) if current.id == id => Ok(true),
            // It was done, and perhaps somebody took the lock since.
            _ if unanswered => Ok(false),
            other => Err(lost(other)),
        });
        released.await.map_err(|error| match error.kind {
            StoreErrorKind::NotLocked => error,
            _ => with_id(error, id),
        })
    }

    /// Takes the lock away from its holder, if it is the one of that ID.
    ///
    /// # Errors
    /// [`StoreErrorKind::NotLocked`], containing `state is already unlocked` if nobody holds it, and
    /// `does not match existing lock` if the holder is another.
    pub async fn force_unlock(&self, id: &str) -> Result<(), StoreError> {
        self.release(None, |current, unanswered| match current {
            Some(current) if current.id == id => Ok(true),
            _ if unanswered => Ok(false),
            None => Err(not_locked("state is already unlocked", "Nobody holds the lock.")),
            Some(other) => {
                let summary =
                    format!("lock id \"{}\" does not match existing lock", quote::within_quotes(id));
                Err(not_locked(&summary, &described(&other)))
            }
        })
        .await
    }

    /// Clears the holder if `ours` says so of the present one, beginning with the Lease as it is `known`; looks
    /// again after conflicts and lost answers. `ours` is told whether an attempt may have been done.
    async fn release(
        &self,
        mut known: Option<Lease>,
        ours: impl Fn(Option<Holder>, bool) -> Result<bool, StoreError>,
    ) -> Result<(), StoreError> {
        let (mut tries, mut conflicts, mut unanswered) = (self.tries(PATIENT), CONFLICTS, false);
        loop {
            let lease = match known.take() {
                Some(lease) => Some(lease),
                None => self.lease_within(&mut tries).await?,
            };
            let current = lease.as_ref().and_then(holder);
            let (true, Some(mut lease)) = (ours(current, unanswered)?, lease) else { return Ok(()) };
            let_go(&mut lease);
            match self.replace_lease(&lease).await {
                Change::Done(_) => return Ok(()),
                Change::Conflict if conflicts == 0 => return Err(self.restless()),
                Change::Conflict => conflicts -= 1,
                Change::Refused(error) | Change::Lost(error) => return Err(error),
                Change::Unknown => {
                    unanswered = true;
                    if !tries.another().await {
                        break;
                    }
                }
            }
        }
        let current = self.lease_within(&mut tries).await?.as_ref().and_then(holder);
        if ours(current, unanswered)? { Err(self.no_answer("update")) } else { Ok(()) }
    }

    fn restless(&self) -> StoreError {
        let call = self.call("update", LEASES, Some(&self.names.lease));
        StoreError::new(
            StoreErrorKind::Conflict,
            format!("Cannot {call}: somebody else writes it again and again"),
            "",
        )
    }

    fn no_answer(&self, verb: &'static str) -> StoreError {
        let call = self.call(verb, LEASES, Some(&self.names.lease));
        StoreError::new(
            StoreErrorKind::Other,
            format!("Cannot {call}: the Kubernetes API has a fault, still after retries"),
            "",
        )
    }
}

fn locked(other: &Holder, waited: Duration) -> StoreError {
    let by = match &other.info {
        Some(LockInfo { id, operation, who, created, .. }) => {
            format!("held by {who} for {operation} since {created}, lock ID {id}")
        }
        None if other.id.is_empty() => "somebody else was quicker to take it".to_owned(),
        None => format!("held by somebody who left no info, lock ID {}", other.id),
    };
    let waited = match waited.as_secs() {
        0 => String::new(),
        seconds => format!(" Waited {seconds} s for it; -lock-timeout sets how long."),
    };
    StoreError::new(
        StoreErrorKind::Locked,
        format!("Error acquiring the state lock: {by}"),
        format!(
            "{}\n\nThe state is locked so that two runs do not change one pool at once.{waited} If the holder \
             does not run any more, force-unlock takes the lock away from it.",
            described(other)
        ),
    )
}

fn lost(other: Option<Holder>) -> StoreError {
    let now = other.map_or_else(|| "Nobody holds it now.".to_owned(), |other| described(&other));
    StoreError::new(
        StoreErrorKind::NotLocked,
        "Error releasing the state lock: it was taken away while this run held it",
        format!("{now}\n\nAnother run may have worked on the pool at the same time."),
    )
}

/// What to do about a lock that may be left.
fn with_id(mut error: StoreError, id: &str) -> StoreError {
    let gap = if error.detail.is_empty() { "" } else { "\n\n" };
    error.detail = format!("{}{gap}{}", error.detail, may_be_held(id));
    error
}

/// What to do about a lock that a run may have left behind.
pub fn may_be_held(id: &str) -> String {
    format!(
        "This run may still hold the state lock, under the ID {id}. Once the Kubernetes API answers, force-unlock \
         with this ID takes it away."
    )
}

fn not_locked(reason: &str, detail: &str) -> StoreError {
    StoreError::new(StoreErrorKind::NotLocked, format!("Failed to unlock state: {reason}"), detail)
}

fn described(other: &Holder) -> String {
    match &other.info {
        Some(info) => info.to_string(),
        None if other.id.is_empty() => String::new(),
        None => format!("The holder is {}; it left no info.", other.id),
    }
}

fn interrupted() -> StoreError {
    StoreError::new(
        StoreErrorKind::Interrupted,
        "Interrupted while waiting for the state lock",
        "Nothing was begun. Run the command again to go on.",
    )
}
