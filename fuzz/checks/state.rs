//! States: any text is read or refused; what was read comes back when it is written, and has a successor.

use machinepool::runtime::state::{Recorded, ResourcesChange, State, facts, next};

/// Panics where these bytes are not dealt with as they must be.
pub(crate) fn check(data: &[u8]) {
    let state = match State::parse(data) {
        Ok(state) => state,
        Err(error) => return drop(error.diagnostic()),
    };
    let again = State::parse(&state.render()).expect("what was read can be read again");
    assert!(again == state, "it comes back as it was");
    drop((facts(&state), state.addresses()));

    let nothing_new = Recorded { outputs: state.outputs(), resources: ResourcesChange::Keep };
    let lineage = || "6f9619ff-8b86-d011-b42d-00c04fc964ff".to_owned();
    if let Some(after) = next(Some(&state), &nothing_new, lineage) {
        assert!(after.serial() > state.serial());
        assert!(state.lineage().is_empty() || after.lineage() == state.lineage());
        let again = State::parse(&after.render()).expect("what is written can be read");
        assert!(next(Some(&again), &nothing_new, lineage).is_none(), "what is recorded is not news");
    }
}
