//! What the controller and the user say: raw JSON in, checked values out.
//!
//! Two stages. [`inputs::Inputs`] is what was said: names and JSON values, from files and options.
//! [`request::Request`] (everything, for plan and apply) and [`request::Scope`] (names and a region,
//! for outputs and destroy) are what it means, with every default filled in.

pub mod exports;
pub mod ids;
pub mod inputs;
pub mod json;
pub mod known;
pub(crate) mod mask;
pub mod number;
pub mod outputs;
mod parse;
pub mod payload;
pub mod problem;
pub(crate) mod quote;
pub mod request;
pub mod schema;

pub use parse::{Refused, Rest};
