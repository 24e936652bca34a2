//! The command that goes on where this one ends, as somebody can paste it into a shell.

use std::path::Path;

use super::session::Session;
use crate::contract::inputs::escaped;

/// The command line that applies the plan saved in `plan`, with all that it needs of this one's: the directory and
/// the account. `None` if a name in it cannot be shown as it is.
pub(crate) fn apply(session: &Session<'_>, plan: &Path) -> Option<String> {
    let mut words = vec!["machinepool".to_owned()];
    if let Some(directory) = session.chdir {
        words.push(format!("-chdir={}", shown(directory)?));
    }
    words.push("apply".to_owned());
    if let Some(sandbox) = &session.sandbox {
        words.push("--sandbox".to_owned());
        words.push(no_option(shown(sandbox)?));
    }
    words.push(no_option(shown(plan)?));
    shlex::try_join(words.iter().map(String::as_str)).ok()
}

/// A name that is text, of one line.
fn shown(name: &Path) -> Option<&str> {
    let is_plain = |c: char| matches!(c, '"' | '\\') || escaped(c.encode_utf8(&mut [0; 4])) == c.to_string();
    name.to_str().filter(|name| name.chars().all(is_plain))
}

/// The name of a file that could be taken for an option gets a directory before it.
fn no_option(name: &str) -> String {
    if name.starts_with('-') { format!("./{name}") } else { name.to_owned() }
}
