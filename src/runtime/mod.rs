//! The binary as `/captf/runtime`: what is Terraform's or CAPTF's, around the same engine.
//!
//! - `root`: the generated `main.tf.json`, and what follows from it.
//! - `secrets`: values that must not be shown, taken out of texts.
//! - `planfile`: a saved plan, and whether it still holds.
//! - `plan_json`: a plan as `show -json` prints it.
//! - `ui_json`: the lines of `-json`.
//! - `address`: the parts of a resource's address.
//! - `private_file`: files that only their owner reads.

pub mod address;
pub mod plan_json;
pub mod planfile;
pub mod private_file;
pub mod root;
pub mod secrets;
pub mod ui_json;

/// The version of Terraform whose formats the program speaks, where a version has to be named.
pub const TERRAFORM_VERSION: &str = "1.11.4";
