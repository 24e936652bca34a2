//! `state list`, `state pull`, `state push` and `force-unlock`.

use std::{
    io::{self, Read},
    path::Path,
};

use super::{keep::Keep, ledger::Purpose, setting::Setting};
use crate::{
    app::session::Session,
    cli::{ForceUnlockArgs, StateCommand, StateListArgs, StatePushArgs},
    contract::problem::sentence,
    error::{Failure, Kind, file_name},
    runtime::{
        private_file,
        root::FILE,
        state::{MAX_BYTES, Placed, State, StateError},
    },
};

/// The commands of `state`.
pub(crate) fn state(session: &Session<'_>, command: &StateCommand) -> anyhow::Result<u8> {
    connected(session, "state", async |keep| match command {
        StateCommand::List(args) => list(session, args, keep).await,
        StateCommand::Pull => pull(session, keep).await,
        StateCommand::Push(args) => push(session, args, keep).await,
    })
}

/// Takes the lock away from a holder that does not run any more.
pub(crate) fn force_unlock(session: &Session<'_>, args: &ForceUnlockArgs) -> anyhow::Result<u8> {
    if !args.force {
        return Err(Failure::new(
            Kind::Refused,
            "Nobody has approved that the lock is taken away",
            "Give -force if its holder does not run any more: two runs at once on one pool undo each other's work.",
        )
        .into());
    }
    connected(session, "force-unlock", async |keep| {
        keep.force_unlock(&args.id).await?;
        session.ui.result("The state is unlocked.\n");
        Ok(0)
    })
}

/// Runs `work` with the state of the working directory.
fn connected(
    session: &Session<'_>,
    command: &str,
    work: impl AsyncFnOnce(&mut Keep) -> anyhow::Result<u8>,
) -> anyhow::Result<u8> {
    let setting = Setting::with_root(command)?;
    if setting.root.backend.is_none() {
        let detail = format!("{FILE} has no backend block, so no state is kept.");
        return Err(Failure::new(Kind::Usage, "No state is kept here", detail).into());
    }
    session.listening(async |interrupt| {
        let mut keep = Keep::connect(session.ui, interrupt).await?;
        work(&mut keep).await
    })
}

async fn list(session: &Session<'_>, args: &StateListArgs, keep: &mut Keep) -> anyhow::Result<u8> {
    let Some(state) = keep.state().await? else {
        return Err(Failure::new(
            Kind::Local,
            "No state file was found!",
            "There is no state yet: the first apply makes it, and state push puts a backup in its place.",
        )
        .into());
    };
    let wanted = |address: &String| {
        args.addresses.is_empty() || args.addresses.iter().any(|wanted| is_within(address, wanted))
    };
    for address in state.addresses().iter().filter(|address| wanted(address)) {
        session.ui.result(&format!("{address}\n"));
    }
    Ok(0)
}

/// Whether an address is the wanted one or below it: a resource in a module, an instance of a resource.
fn is_within(address: &str, wanted: &str) -> bool {
    address.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Prints the state as it is stored, but for the bootstrap data that Terraform left in it; nothing if there is none.
async fn pull(session: &Session<'_>, keep: &mut Keep) -> anyhow::Result<u8> {
    let state = keep.state().await?;
    if let (Some(mut state), Some(text)) = (state, keep.raw()) {
        let text = if state.scrub(&|_| true) { state.render() } else { text.to_vec() };
        session.ui.result(&format!("{}\n", String::from_utf8_lossy(&text).trim_end()));
    }
    Ok(0)
}

/// Puts a state in the place of the one there is, under the lock.
async fn push(session: &Session<'_>, args: &StatePushArgs, keep: &mut Keep) -> anyhow::Result<u8> {
    let text = read(&args.file)?;
    if text.trim_ascii().is_empty() {
        let detail = "Nothing was written. A state is what state pull prints, or what is in errored.tfstate.";
        return Err(Failure::new(Kind::Refused, "The state to push is empty", detail).into());
    }
    let pushed = State::parse(&text).map_err(|error| refused(&error))?;
    if args.locking.lock {
        keep.lock(session.ui, args.locking.lock_timeout, Purpose::Push).await?;
    }
    let outcome = replace(args, keep, &text, &pushed).await;
    let released = keep.unlock().await;
    session.ui.tell(&keep.warnings());
    super::aftermath::both(outcome, released)?;
    Ok(0)
}

async fn replace(args: &StatePushArgs, keep: &mut Keep, text: &[u8], pushed: &State) -> Result<(), Failure> {
    let found = keep.state().await;
    if keep.raw() == Some(text) {
        return Ok(());
    }
    let present = match (found, keep.raw()) {
        (Ok(present), _) => present,
        // What is no state is replaced with -force only; not at all if it is encrypted, or could not even be read.
        (Err(_), Some(raw)) if args.force && !matches!(State::parse(raw), Err(StateError::Encrypted)) => None,
        (Err(failure), _) => return Err(failure),
    };
    let Some(present) = present else { return keep.write(text).await };
    if !args.force {
        check_successor(&present, pushed)?;
    }
    match pushed.in_place_of(&present) {
        Placed::Already => Ok(()),
        Placed::AsIs => keep.write(text).await,
        Placed::Renumbered(state) => keep.write(&state.render()).await,
    }
}

/// What Terraform refuses without `-force`, too.
fn check_successor(present: &State, pushed: &State) -> Result<(), Failure> {
    // As a destroy leaves it: there is nothing to lose.
    if present.is_empty() {
        return Ok(());
    }
    let (theirs, ours) = (present.serial(), pushed.serial());
    let because = if !present.lineage().is_empty() && present.lineage() != pushed.lineage() {
        "it is of another lineage: the state of another pool, or of an earlier life of this one".to_owned()
    } else if ours < theirs {
        format!("its serial is {ours}, and the present one has {theirs}")
    } else if ours == theirs && !pushed.says_the_same(present) {
        format!("its serial is {ours}, as that of the present one, which says something else")
    } else {
        return Ok(());
    };
    Err(Failure::new(
        Kind::Refused,
        "The state was not replaced",
        format!(
            "The state to push does not follow the present one: {because}. state pull prints the present one. \
             -force replaces it all the same."
        ),
    ))
}

fn refused(error: &StateError) -> Failure {
    Failure { kind: Kind::Refused, diagnostics: vec![error.diagnostic()] }
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let limit = MAX_BYTES as u64;
    let text = if path == Path::new("-") {
        let mut text = Vec::new();
        io::stdin().lock().take(limit + 1).read_to_end(&mut text).map(|_| text)
    } else {
        private_file::read(path, limit)
    };
    text.map_err(|error| {
        Failure::new(
            Kind::Local,
            format!("Cannot read the state from {}", file_name(path)),
            sentence(&error.to_string()),
        )
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn state(serial: u64, lineage: &str, replicas: Option<u32>) -> State {
        let outputs =
            replicas.map(|replicas| format!(r#""replicas": {{"value": {replicas}, "type": "number"}}"#));
        let text = format!(
            r#"{{"version": 4, "terraform_version": "1.5.7", "serial": {serial}, "lineage": "{lineage}",
            "outputs": {{{}}}, "resources": []}}"#,
            outputs.unwrap_or_default()
        );
        State::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn only_a_successor_is_pushed_without_force() {
        let follows = |present: &State, pushed: &State| check_successor(present, pushed).is_ok();
        let present = state(5, "a", Some(3));
        for (serial, lineage, replicas, accepted) in [
            (6, "a", 3, true),
            (6, "a", 2, true),
            (5, "a", 3, true),
            // Another content under the same number is somebody else's.
            (5, "a", 2, false),
            (4, "a", 3, false),
            (9, "b", 3, false),
        ] {
            let pushed = state(serial, lineage, Some(replicas));
            assert_eq!(follows(&present, &pushed), accepted, "{serial} {lineage} {replicas}");
        }
        assert!(follows(&state(3, "", Some(3)), &state(4, "b", Some(3))));
        assert!(!follows(&present, &state(5, "a", None)));
        // What a destroy left holds nothing to lose.
        let destroyed = state(5, "a", None);
        for (serial, lineage) in [(5, "a"), (4, "a"), (1, "b")] {
            assert!(follows(&destroyed, &state(serial, lineage, Some(3))), "{serial} {lineage}");
        }
    }

    #[test]
    fn addresses_select_whole_parts() {
        let address = "module.role.aws_s3_object.bootstrap_object[0]";
        for wanted in ["module.role", "module.role.aws_s3_object.bootstrap_object", address] {
            assert!(is_within(address, wanted), "{wanted}");
        }
        for other in ["module.ro", "module.role.aws_s3_object.boot", "x"] {
            assert!(!is_within(address, other), "{other}");
        }
    }
}
