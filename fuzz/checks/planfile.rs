//! Plan files: any bytes are read or refused; what was read comes back when it is written.

use machinepool::{
    contract::request::{Request, Scope},
    runtime::planfile::{SavedPlan, stale},
};

/// Panics where these bytes are not dealt with as they must be.
pub(crate) fn check(data: &[u8]) {
    let saved = match SavedPlan::from_bytes(data) {
        Ok(saved) => saved,
        Err(reason) => {
            assert!(!reason.is_empty() && !reason.contains(char::is_control), "{reason:?}");
            return;
        }
    };
    drop((Request::parse(&saved.inputs), Scope::parse(&saved.inputs)));
    assert!(stale(&saved.essence, &saved.essence).is_none());
    assert!(saved.origin.is_not(&saved.origin).is_none());
    let bytes = saved.to_bytes().expect("what was read can be written");
    let again = SavedPlan::from_bytes(&bytes).unwrap_or_else(|reason| panic!("{reason}"));
    assert!(again.to_bytes().is_ok_and(|again| again == bytes), "it comes back as it was");
}
