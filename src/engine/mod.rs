//! Observing, walking plans, waiting: all that happens over time. Nothing here decides what to do.

pub mod context;
