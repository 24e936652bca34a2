//! The latest scaling activities; what failed, in AWS's words, with what to do about it.

use serde::Serialize;

use super::moment;
use crate::{
    clock::Timestamp,
    model::{
        advice::{self, Cause},
        observed::Activity,
    },
};

/// One scaling activity, or several that failed alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ActivityStatus {
    /// Start of the latest.
    #[serde(serialize_with = "moment")]
    pub started_at: Timestamp,
    /// Start of the first.
    #[serde(serialize_with = "moment")]
    pub first_started_at: Timestamp,
    /// How many of the latest activities it stands for.
    pub times: u32,
    /// AWS's word: `Successful`, `Failed`, `InProgress`, ...
    pub status: String,
    /// What it did.
    pub description: String,
    /// AWS's reason, if it failed.
    pub message: Option<String>,
    /// What that reason means, if it is known.
    pub cause: Option<Cause>,
    /// What to do about it, if that is known.
    pub advice: Option<&'static str>,
}

/// Failures in the same words stand where the latest of them does.
pub(super) fn activities(seen: &[Activity]) -> Vec<ActivityStatus> {
    let mut told: Vec<ActivityStatus> = Vec::with_capacity(seen.len());
    for activity in seen {
        let next = one(activity);
        let alike = |known: &&mut ActivityStatus| {
            next.message.is_some()
                && (&known.status, &known.description, &known.message)
                    == (&next.status, &next.description, &next.message)
        };
        match told.iter_mut().find(alike) {
            Some(known) => {
                known.times += 1;
                known.first_started_at = known.first_started_at.min(next.started_at);
            }
            None => told.push(next),
        }
    }
    told
}

fn one(activity: &Activity) -> ActivityStatus {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (description, reason) = match activity.description.split_once("Status Reason:") {
        Some((description, reason)) => (words(description), Some(words(reason))),
        None => (words(&activity.description), None),
    };
    let failed = matches!(activity.status.as_str(), "Failed" | "Cancelled");
    // Only of what failed: the message of one that goes on may name what it waits for.
    let message = activity.message.as_deref().map(words).or(reason).filter(|text| failed && !text.is_empty());
    let known = message.as_deref().and_then(advice::advice);
    ActivityStatus {
        started_at: activity.start,
        first_started_at: activity.start,
        times: 1,
        status: activity.status.clone(),
        description,
        message,
        cause: known.map(|(cause, _)| cause),
        advice: known.map(|(_, advice)| advice),
    }
}
