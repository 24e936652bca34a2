//! The pure core: inputs + observation -> desired -> plan. No I/O, no clock, no randomness.

pub mod labels;
pub mod names;
pub mod observed;
pub mod plan;
pub mod resources;
pub mod userdata;
