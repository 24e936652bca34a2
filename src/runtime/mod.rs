//! What makes the program a drop-in for Terraform where the CAPTF runner calls it.
//!
//! - [`state`]: Terraform's state, version 4, as values.

pub mod state;
