//! The pure core: inputs + observation -> desired -> plan. No I/O, no clock, no randomness.

pub mod advice;
pub mod checkup;
pub mod desired;
pub mod diff;
pub mod fetching;
pub mod image;
pub mod labels;
pub mod launching;
pub mod members;
pub mod names;
pub mod observed;
pub mod outputs;
pub mod ownership;
pub mod permissions;
pub mod plan;
pub mod planner;
pub mod processes;
pub mod records;
pub mod resources;
pub mod roll;
pub mod rollout;
pub mod status;
pub mod surplus;
pub mod target;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(crate) mod testing;
pub mod userdata;
pub mod zones;
