//! The program as the runtime of a CAPTF image.

pub mod backend;
#[cfg(feature = "kubernetes")]
pub mod kubernetes;
