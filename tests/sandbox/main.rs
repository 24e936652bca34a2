//! The whole engine against the sandbox: scenarios as data, budgets of calls, faults at every call, and
//! properties of any two sets of inputs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod awkward;
mod budgets;
mod chaos;
mod company;
mod foreign;
mod interrupted;
mod lab;
mod limits;
mod properties;
mod refreshes;
mod round_trips;
mod scenario;
mod shape;
mod silence;
mod status;
mod text;
