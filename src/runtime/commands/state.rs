//! `state list`, `state pull`, `state push` and `force-unlock`.

use std::{
    io::{self, Read},
    path::Path,
};

use super::{keep::Keep, ledger::Purpose, setting::Setting};
use crate::{
    app::session::Session,
    cli::{ForceUnlockArgs, StateCommand, StateListArgs, StatePushArgs},
    contract::{problem::sentence, quote},
    error::{Failure, Kind},
    runtime::{
        private_file,
        root::FILE,
        state::{MAX_BYTES, State, StateError},
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
    let pushed = State::parse(&text).map_err(|error| refused(&error))?;
    if args.locking.lock {
        keep.lock(session.ui, args.locking.lock_timeout, Purpose::Push).await?;
    }
    let outcome = replace(args, keep, &text, &pushed).await;
    let released = keep.unlock().await;
    session.ui.tell(&keep.warnings());
    super::apply::both(outcome, released)?;
    Ok(0)
}

async fn replace(args: &StatePushArgs, keep: &mut Keep, text: &[u8], pushed: &State) -> Result<(), Failure> {
    let present = keep.state().await;
    if keep.raw() == Some(text) {
        return Ok(());
    }
    if !args.force {
        check_successor(present?.as_ref(), pushed)?;
    } else if keep.raw().is_none() {
        // It could not even be read: there is nothing to replace it in the place of.
        present?;
    } else if let Some(text) = keep.raw()
        && matches!(State::parse(text), Err(StateError::Encrypted))
    {
        return Err(refused(&StateError::Encrypted));
    }
    keep.write(text).await
}

/// What Terraform refuses without `-force`, too.
fn check_successor(present: Option<&State>, pushed: &State) -> Result<(), Failure> {
    let Some(present) = present else { return Ok(()) };
    let because = if !present.lineage().is_empty() && present.lineage() != pushed.lineage() {
        "it is of another lineage: the state of another pool, or of an earlier life of this one".to_owned()
    } else if pushed.serial() < present.serial() {
        format!("its serial is {}, and the present one has {}", pushed.serial(), present.serial())
    } else {
        return Ok(());
    };
    Err(Failure::new(
        Kind::Refused,
        "The state was not replaced",
        format!(
            "The state to push does not follow the present one: {because}. -force replaces it all the same."
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
            format!("Cannot read the state from {}", quote::file(path)),
            sentence(&error.to_string()),
        )
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn state(serial: u64, lineage: &str) -> State {
        let text = format!(
            r#"{{"version": 4, "terraform_version": "1.5.7", "serial": {serial}, "lineage": "{lineage}",
            "outputs": {{}}, "resources": []}}"#
        );
        State::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn only_a_successor_is_pushed_without_force() {
        let present = state(5, "a");
        for (pushed, follows) in
            [(state(6, "a"), true), (state(5, "a"), true), (state(4, "a"), false), (state(9, "b"), false)]
        {
            assert_eq!(check_successor(Some(&present), &pushed).is_ok(), follows);
            assert!(check_successor(None, &pushed).is_ok());
        }
        assert!(check_successor(Some(&state(3, "")), &state(4, "b")).is_ok());
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
