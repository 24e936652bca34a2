//! Defects of this program: a panic becomes an error like any other, so that what is held is given back and the
//! reader of errors is told. A panic's message is never shown: it may hold what was given as input.

use std::{
    cell::{Cell, RefCell},
    io::{self, Write as _},
    panic::{self, AssertUnwindSafe},
};

use futures_util::FutureExt as _;

use crate::error::{Failure, Kind};

thread_local! {
    /// Where the latest panic of this thread was.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
    /// Whether somebody tells of the panics of this thread.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// From now on only the place of a panic is told, by whoever catches it or else at once. For the whole process.
pub fn hush_panics() {
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        // A thread that ends has nobody to tell.
        let _ = PLACE.try_with(|noted| noted.replace(place));
        if !IS_CAUGHT.try_with(Cell::get).unwrap_or(false) {
            let _ = writeln!(io::stderr(), "Error: {}", summary());
        }
    }));
}

/// Runs `work`; a panic in it is an error.
pub fn caught<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let before = IS_CAUGHT.replace(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(work));
    IS_CAUGHT.set(before);
    outcome.unwrap_or_else(|_| Err(defect().into()))
}

/// The same for work that waits, inside of [`caught`].
pub async fn caught_in<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| Err(defect().into()))
}

fn summary() -> String {
    let place = PLACE.try_with(RefCell::take).ok().flatten();
    let place = place.unwrap_or_else(|| "a place that was not noted".to_owned());
    format!("A defect of machinepool {} stopped it, at {place}", env!("CARGO_PKG_VERSION"))
}

fn defect() -> Failure {
    Failure::new(
        Kind::Defect,
        summary(),
        "Nothing real is lost: the next run goes on from what is in AWS. Please report this line and what was run.",
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::*;

    #[test]
    fn a_panic_is_an_error_without_its_message() {
        let secret = String::from("c2VjcmV0");
        let error = caught::<()>(|| panic!("cannot parse {secret}")).unwrap_err();
        let failure = error.downcast_ref::<Failure>().unwrap();
        assert_eq!(failure.kind, Kind::Defect);
        assert!(!format!("{failure:?} {error:#}").contains(&secret));
        assert!(failure.diagnostics[0].summary.starts_with("A defect of machinepool "));
        assert_eq!(caught(|| Ok(7)).unwrap(), 7);
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_panic_after_a_wait_is_one_too() {
        let panics = async {
            tokio::task::yield_now().await;
            let none: Option<u8> = None;
            Ok(none.unwrap())
        };
        assert!(caught_in(panics).await.is_err());
        assert_eq!(caught_in(async { Ok(7) }).await.unwrap(), 7);
    }

    /// A program that aborts gives nothing back.
    #[test]
    fn the_released_program_unwinds() {
        let manifest = include_str!("../Cargo.toml");
        let release = manifest.split("[profile.release]").nth(1).unwrap();
        assert!(!release.contains("abort"), "{release}");
    }
}
