//! The whole program against AWS over the wire: the binary is run, AWS is a double on loopback
//! (moto, made stricter; see `aws_double/`), and what counts is what AWS then holds and which calls
//! were made. Needs Python 3; the double is set up on first use.

#![cfg(feature = "aws")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]
// The SDK's full type paths would hide what is read from them.
#![allow(clippy::redundant_closure_for_method_calls)]

mod budgets;
mod calls;
mod crashes;
mod destroy;
mod doctor;
mod double;
mod drift;
mod faults;
mod harness;
mod inputs;
mod lifecycle;
mod look;
mod outputs;
mod real;
mod refusals;
mod rolls;
#[cfg(feature = "kubernetes")]
mod runtime;
mod scenario;
#[cfg(feature = "kubernetes")]
mod signals;
mod sizes;
