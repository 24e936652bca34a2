//! The commands that plan, apply and destroy, and those around a state.
//!
//! In a directory with a root module (`main.tf.json`) they take their inputs as it wires them, hold the
//! lock of its state, and record there what is true afterwards. Without one nothing is locked or recorded.
//!
//! - `setting`: the directory: the root module if there is one, inputs, secrets, outputs.
//! - `ledger`: the state and its lock, for the time of one command.
//! - `aftermath`: what is true after the work, done or failed.
//! - `ending`: how long the rest may take after an interrupt.
//! - `tell`: what is told of plans and ends, to people and to programs.
//! - `plan`, `apply`, `destroy`, `refresh`, `rollout`, `init`, `validate`, `show`, `state`: the stories.

mod aftermath;
mod apply;
mod destroy;
mod ending;
mod init;
#[cfg(feature = "kubernetes")]
mod keep;
#[cfg(not(feature = "kubernetes"))]
#[path = "keep_nothing.rs"]
mod keep;
mod ledger;
mod plan;
mod refresh;
mod rollout;
mod setting;
mod show;
mod state;
mod steps;
mod tell;
mod validate;

pub(crate) use apply::apply;
pub(crate) use destroy::{apply_destroy, destroy};
pub(crate) use init::init;
pub(crate) use plan::plan;
pub(crate) use refresh::{plan_refresh, refresh};
pub(crate) use rollout::{cancel_rollout, start_rollout};
pub(crate) use setting::Setting;
pub(crate) use show::{show, version};
pub(crate) use state::{force_unlock, state};
pub(crate) use validate::validate;
