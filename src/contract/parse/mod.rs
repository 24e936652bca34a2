//! From what was said to what it means: every rule of the contract, all faults reported together.
//!
//! - `fault`: a refused value, and the list of them.
//! - `convert`: JSON to texts, numbers, bools, lists and maps, as Terraform converts.
//! - `syntax`: what names, labels and tags may look like. Pure functions of text.
//! - `controller`, `variables`, `cluster`: the inputs by where they come from.
//! - `identity`: the tags that say whose a resource is.
//! - `request`, `scope`: the two results.
//! - `stand_ins`: values in the place of refused ones, to judge the rest.

mod cluster;
mod controller;
mod convert;
mod fault;
mod identity;
mod request;
mod scope;
mod stand_ins;
mod syntax;
mod variables;

pub use request::{Refused, Rest};

#[cfg(test)]
mod tests;
