//! The `machinepool` role for AWS: one Auto Scaling group of Kubernetes worker nodes per MachinePool.
//!
//! Arrows between the modules point one way: `cli` and `app` know everything, `engine` walks plans
//! against a [`cloud::Cloud`], `view` turns values into text, `model` is pure (inputs + observation ->
//! desired -> plan), and `contract` turns JSON into checked values. `runtime` is a second `app`: what
//! the program does in a CAPTF image.

pub mod app;
pub mod cli;
pub mod clock;
pub mod cloud;
pub mod contract;
pub mod defect;
pub mod engine;
pub mod error;
pub mod model;
pub mod prose;
pub mod runtime;
pub mod view;
