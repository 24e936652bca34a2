//! What makes the program a drop-in for Terraform where the CAPTF runner calls it as `/captf/runtime`,
//! around the same engine.
//!
//! - `commands`: the commands in a working directory that has a root module.
//! - [`root`]: the generated `main.tf.json`, and what follows from it.
//! - [`argument`]: the values and variables that it passes to the role.
//! - [`module`]: whether the module that it calls describes this role.
//! - [`backend`]: where the state and its lock are, and how to get there.
//! - `kubernetes`: the state in a Secret, the lock in a Lease.
//! - [`state`]: Terraform's state, version 4, as values.
//! - [`planfile`]: a saved plan, and whether it still holds.
//! - [`plan_origin`]: where one was made, and so where it may be applied.
//! - [`plan_place`]: where one may be saved.
//! - [`plan_json`]: a plan as `show -json` prints it.
//! - [`ui_json`]: the lines of `-json`.
//! - [`secrets`]: values that must not be shown, taken out of texts and plans.
//! - [`sources`]: which inputs the fields of a plan are made from.
//! - [`address`]: the parts of a resource's address.
//! - [`private_file`]: files that only their owner reads.

pub mod address;
pub mod argument;
pub mod backend;
pub(crate) mod commands;
#[cfg(feature = "kubernetes")]
pub mod kubernetes;
pub mod module;
pub mod plan_json;
pub mod plan_origin;
pub mod plan_place;
pub mod planfile;
pub mod private_file;
pub mod root;
pub mod secrets;
pub mod sources;
pub mod state;
pub mod ui_json;

/// The version of Terraform whose command line, plans and messages the program speaks. States name another,
/// [`state::TERRAFORM_VERSION`], which OpenTofu takes for one of its own past, too.
pub const TERRAFORM_VERSION: &str = "1.11.4";
