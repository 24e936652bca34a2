//! The controller's runner and what it finds: the program as `/captf/runtime`, with a Kubernetes API on
//! loopback and the sandbox in the place of AWS.

#![cfg(feature = "kubernetes")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

mod company;
#[path = "../kubernetes/double.rs"]
mod double;
mod failures;
mod hands;
mod leaks;
mod matrix;
mod operations;
mod runner;
mod takeover;
mod terraform;
