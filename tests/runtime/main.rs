//! The controller's runner and what it finds: the program as `/captf/runtime`, with a Kubernetes API on
//! loopback and the sandbox in the place of AWS.

#![cfg(feature = "kubernetes")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod company;
#[path = "../kubernetes/double.rs"]
mod double;
mod failures;
mod hands;
mod image;
mod leaks;
mod matrix;
mod module_made;
mod mounts;
mod operations;
mod pushes;
mod runner;
mod search;
mod secrecy;
mod signals;
mod takeover;
mod terraform;
#[path = "../kubernetes/terraform_found.rs"]
mod terraform_found;
