//! Crashes and faults at every single call, and throughout: the next commands end where an undisturbed
//! one would.
//!
//! [`stories`] says what a pool was and what is asked of it, [`trouble`] what goes wrong, [`runs`] what is
//! done after that, [`verdict`] what must hold in the end. Every test run plays a part of all
//! combinations ([`bounded`]); `just chaos` plays all of them and prints a table ([`whole`]).

mod bounded;
pub(crate) mod hands;
mod runs;
mod stories;
mod trouble;
mod verdict;
mod whole;

use super::lab::Lab;

/// Kills the process at the call numbered `at`, before it takes effect or after.
pub(crate) fn kill(lab: &Lab, at: usize, after: bool) {
    trouble::arm(lab, trouble::KILLS[usize::from(after)], at);
}
