//! What goes wrong, at one call or throughout.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc, time::Duration};

use machinepool::cloud::{
    CloudError, ErrorKind,
    recorded::{Call, Moment},
    sandbox::Lag,
};

use super::super::lab::Lab;

/// What goes wrong at one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Trouble {
    /// The process is gone before the call is made.
    KilledBefore,
    /// The process is gone before the answer is read.
    KilledAfter,
    /// The process is asked to stop while the call is made: it begins nothing new, and ends.
    Interrupted,
    /// The call takes effect, and its answer is lost.
    AnswerLost,
    Throttled,
    /// Answered 500, without effect.
    Broken,
    /// Answered 500, with effect.
    BrokenAfter,
    /// Answered 503.
    Unavailable,
    Denied,
    /// The call takes three minutes to take effect and three more to be answered; the account goes on.
    Slow,
    /// Longer than a whole command may last.
    Stalled,
}

pub(crate) const KILLS: [Trouble; 2] = [Trouble::KilledBefore, Trouble::KilledAfter];

const AT_WRITES: [Trouble; 11] = [
    Trouble::KilledBefore,
    Trouble::KilledAfter,
    Trouble::Interrupted,
    Trouble::AnswerLost,
    Trouble::Throttled,
    Trouble::Broken,
    Trouble::BrokenAfter,
    Trouble::Unavailable,
    Trouble::Denied,
    Trouble::Slow,
    Trouble::Stalled,
];

/// A read has no effect: a kill there is one after the write before it.
const AT_READS: [Trouble; 7] = [
    Trouble::Interrupted,
    Trouble::Throttled,
    Trouble::Broken,
    Trouble::Unavailable,
    Trouble::Denied,
    Trouble::Slow,
    Trouble::Stalled,
];

impl Trouble {
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::KilledBefore => "killed before the call",
            Self::KilledAfter => "killed after the call",
            Self::Interrupted => "SIGTERM during the call",
            Self::AnswerLost => "answer lost",
            Self::Throttled => "throttled",
            Self::Broken => "500",
            Self::BrokenAfter => "500 after the effect",
            Self::Unavailable => "503",
            Self::Denied => "access denied",
            Self::Slow => "slow (6 min)",
            Self::Stalled => "slow (90 min)",
        }
    }

    /// Whether the account moves on by itself meanwhile.
    pub(crate) fn takes_time(self) -> bool {
        matches!(self, Self::Slow | Self::Stalled)
    }
}

/// Every call of a run with everything that can go wrong at it.
pub(crate) fn at_every_call(calls: &[&'static str]) -> Vec<(usize, Trouble)> {
    let at = |(at, call): (usize, &&'static str)| {
        let troubles = if is_read(call) { &AT_READS[..] } else { &AT_WRITES[..] };
        troubles.iter().map(move |trouble| (at, *trouble))
    };
    calls.iter().enumerate().flat_map(at).collect()
}

fn is_read(operation: &str) -> bool {
    [":Describe", ":Get", ":Head"].iter().any(|verb| operation.contains(verb))
}

fn unreachable(call: &Call<'_>) -> CloudError {
    CloudError { kind: ErrorKind::Network, ..call.error("us-east-1", "", "no answer") }
}

/// Arms the lab: `trouble` at the call numbered `at`.
pub(crate) fn arm(lab: &Lab, trouble: Trouble, at: usize) {
    let mut dead = false;
    let (clock, interrupter) = (Rc::clone(&lab.clock), Rc::clone(&lab.interrupter));
    lab.set_fault(move |moment, call| {
        let hit = call.index == at;
        let before = hit && moment == Moment::Before;
        let after = hit && moment == Moment::After;
        let answer = |code, message| Some(call.error("us-east-1", code, message));
        dead |= match trouble {
            Trouble::KilledBefore => before,
            Trouble::KilledAfter => after,
            _ => false,
        };
        match trouble {
            _ if dead => Some(unreachable(call)),
            Trouble::AnswerLost if after => Some(unreachable(call)),
            Trouble::Throttled if before => answer("Throttling", "Rate exceeded"),
            Trouble::Broken if before => answer("InternalFailure", "The request processing has failed"),
            Trouble::BrokenAfter if after => answer("InternalFailure", "The request processing has failed"),
            Trouble::Unavailable if before => answer("ServiceUnavailable", "Try again"),
            Trouble::Denied if before => answer("AccessDenied", "User is not authorized"),
            Trouble::Interrupted if before => {
                interrupter.borrow().as_ref().expect("a command runs").raise();
                None
            }
            Trouble::Slow if hit => {
                clock.advance(Duration::from_mins(3));
                None
            }
            Trouble::Stalled if hit => {
                clock.advance(Duration::from_mins(45));
                None
            }
            _ => None,
        }
    });
}

/// What goes wrong all the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spell {
    /// Each call is refused five times before it is let through, and the command repeated as often.
    Throttling,
    /// Every write reaches AWS twice, and only the second answer comes back.
    SentTwice,
    /// A second command does the same at the same time.
    Company,
    /// Reads show what was before, for a number of reads.
    Lagging(Lag),
    /// So many reads of the group show what was before, and the command is repeated at once.
    LaggingGroup(u32),
}

impl Spell {
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Throttling => "every call throttled 5 times",
            Self::SentTwice => "every write sent twice",
            Self::Company => "two commands at once",
            Self::Lagging(_) => "stale reads",
            Self::LaggingGroup(_) => "stale reads, and the command twice",
        }
    }
}

pub(crate) fn spells() -> Vec<Spell> {
    let lags = [
        Lag { groups: 1, templates: 1, instances: 1, template_use_seconds: 5, ..Lag::default() },
        Lag { groups: 3, instances: 4, template_use_seconds: 40, ..Lag::default() },
        Lag { templates: 4, ..Lag::default() },
        Lag { groups: 4, instances: 9, ..Lag::default() },
        Lag { refreshes: 2, ..Lag::default() },
        Lag { policies: 2, ..Lag::default() },
        Lag { groups: 2, refreshes: 3, policies: 1, templates: 2, instances: 2, template_use_seconds: 20 },
    ];
    [Spell::Throttling, Spell::SentTwice, Spell::Company]
        .into_iter()
        .chain(lags.map(Spell::Lagging))
        .chain((1..6).map(Spell::LaggingGroup))
        .collect()
}

/// Each call, told by what it does, is throttled as often before it is let through.
pub(crate) fn throttle_every_call(lab: &Lab, times: u32) {
    let seen: RefCell<BTreeMap<String, u32>> = RefCell::default();
    lab.set_fault(move |moment, call| {
        if moment == Moment::After {
            return None;
        }
        let mut seen = seen.borrow_mut();
        let count = seen.entry(format!("{} {:?}", call.operation, call.write)).or_default();
        *count += 1;
        (*count <= times).then(|| call.error("us-east-1", "Throttling", "Rate exceeded"))
    });
}
