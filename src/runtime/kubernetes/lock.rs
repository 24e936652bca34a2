//! Taking the lock, waiting for it, giving it back.

use std::time::Duration;

use super::{
    Attempt, Holder, LockInfo, Store, StoreError, StoreErrorKind,
    calls::{LEASES, PATIENT, PAUSES},
    lease::{Change, hold, holder, let_go},
};
use crate::{clock::Clock, engine::context::Interrupt};

/// The first pause between two attempts; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(16);

/// How long giving back a lock is tried that we may hold without knowing it.
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
            let other = match self.try_lock(info).await? {
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
        let mut unanswered = false;
        match self.acquire(info, &mut unanswered).await {
            Err(error) if unanswered => Err(self.abandon(&info.id, error).await),
            outcome => outcome,
        }
    }

    /// Looks and changes until it is known who holds the lock; `unanswered` if a change may have been done.
    async fn acquire(&self, info: &LockInfo, unanswered: &mut bool) -> Result<Attempt, StoreError> {
        let (mut pauses, mut conflicts) = (PAUSES.into_iter(), CONFLICTS);
        loop {
            // After a conflict or a lost answer this tells who was quicker: perhaps an attempt of ours.
            let found = self.lease().await?;
            match found.as_ref().and_then(holder) {
                Some(other) if other.id == info.id => return Ok(Attempt::Acquired),
                Some(other) => return Ok(Attempt::Held(other)),
                None => {}
            }
            let (verb, change) = match found {
                None => ("create", self.create_lease(info).await?),
                Some(mut lease) => {
                    hold(&mut lease, info);
                    ("update", self.replace_lease(&lease).await?)
                }
            };
            match change {
                Change::Done => return Ok(Attempt::Acquired),
                Change::Conflict if conflicts == 0 => return Ok(Attempt::Held(Holder::default())),
                Change::Conflict => conflicts -= 1,
                Change::Unknown => {
                    *unanswered = true;
                    let Some(pause) = pauses.next() else {
                        // It may have been done, too.
                        return match self.holder().await? {
                            Some(other) if other.id == info.id => Ok(Attempt::Acquired),
                            Some(other) => Ok(Attempt::Held(other)),
                            None => Err(self.no_answer(verb)),
                        };
                    };
                    tokio::time::sleep(pause).await;
                }
            }
        }
    }

    /// Gives back a lock that we may hold, because of `error` without knowing it.
    async fn abandon(&self, id: &str, error: StoreError) -> StoreError {
        let ours = |current: Option<Holder>, _| Ok(current.is_some_and(|current| current.id == id));
        match self.release(ABANDON, ours).await {
            Ok(()) => error,
            Err(_) => with_id(error, id),
        }
    }

    /// Gives the lock back: nobody is the holder then, the Lease stays. An API that is away is waited for.
    ///
    /// # Errors
    /// [`StoreErrorKind::NotLocked`] if the lock is not ours any more; it is left as it is. Any other
    /// leaves the lock with us, perhaps, and names its ID.
    pub async fn unlock(&self, id: &str) -> Result<(), StoreError> {
        let released = self.release(PATIENT, |current, unanswered| match current {
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
        self.release(PATIENT, |current, unanswered| match current {
            Some(current) if current.id == id => Ok(true),
            _ if unanswered => Ok(false),
            None => Err(not_locked("state is already unlocked", "Nobody holds the lock.")),
            Some(other) => {
                let summary = format!("lock id {id:?} does not match existing lock");
                Err(not_locked(&summary, &described(&other)))
            }
        })
        .await
    }

    /// Clears the holder if `ours` says so of the present one; looks again after conflicts and lost answers.
    /// `ours` is told whether an attempt may have been done.
    async fn release(
        &self,
        limit: Duration,
        ours: impl Fn(Option<Holder>, bool) -> Result<bool, StoreError>,
    ) -> Result<(), StoreError> {
        let (mut tries, mut conflicts, mut unanswered) = (self.tries(limit), CONFLICTS, false);
        loop {
            let lease = self.lease_within(&mut tries).await?;
            let current = lease.as_ref().and_then(holder);
            let (true, Some(mut lease)) = (ours(current, unanswered)?, lease) else { return Ok(()) };
            let_go(&mut lease);
            match self.replace_lease(&lease).await? {
                Change::Done => return Ok(()),
                Change::Conflict if conflicts == 0 => return Err(self.restless()),
                Change::Conflict => conflicts -= 1,
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
    error.detail = format!(
        "{}{gap}This run may still hold the state lock, under the ID {id}. Once the Kubernetes API answers, \
         force-unlock with this ID takes it away.",
        error.detail
    );
    error
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
