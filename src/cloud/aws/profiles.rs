//! Why a profile gives no credentials. The SDK goes on to the instance metadata service then, and tells what came of
//! that: neither the name that was mistyped nor the file that it is not in.

use std::collections::BTreeSet;

use aws_config::profile::{self, Profile, ProfileSet};
use aws_runtime::env_config::file::EnvConfigFiles;
use aws_types::os_shim_internal::{Env, Fs};

use super::{connect::variable, errors::Failure};
use crate::cloud::ErrorKind;

/// Properties that say where credentials come from, without another profile.
const SOURCES: [&str; 8] = [
    "aws_access_key_id",
    "aws_secret_access_key",
    "credential_process",
    "credential_source",
    "web_identity_token_file",
    "sso_session",
    "sso_start_url",
    "login_session",
];

/// Variables of the places that the SDK looks at after profiles and before the metadata service.
const OTHERS: [&str; 3] = [
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
];

/// The failure, with what is wrong with the profile if it is for want of credentials.
pub(super) async fn explained(mut failure: Failure) -> Failure {
    let is_for_want = failure.error.kind == ErrorKind::Credentials && failure.error.code.is_empty();
    if is_for_want && OTHERS.iter().all(|name| variable(name).is_none()) {
        let read = profile::load(&Fs::real(), &Env::real(), &EnvConfigFiles::default(), None).await;
        let is_named = variable("AWS_PROFILE").is_some();
        let trouble = read.ok().and_then(|profiles| trouble(&profiles, is_named));
        if let Some(trouble) = trouble {
            failure.error.message = format!("no AWS credentials: {trouble}");
        }
    }
    failure
}

/// What is wrong with the profile in use, by names only. Without its name in the environment there need be none.
fn trouble(profiles: &ProfileSet, is_named: bool) -> Option<String> {
    let mut seen = BTreeSet::new();
    let mut name = profiles.selected_profile();
    let mut origin: Option<&str> = None;
    while seen.insert(name) {
        let Some(found) = profiles.get_profile(name) else {
            return match origin {
                Some(origin) => {
                    Some(format!("profile {origin}: its source_profile {name} is missing in {}", files()))
                }
                None if is_named => Some(format!("profile {name} is not in {}", files())),
                None => None,
            };
        };
        if has_source(found) {
            return None;
        }
        let Some(source) = found.get("source_profile") else {
            let matters = is_named || origin.is_some();
            return matters.then(|| match origin {
                Some(origin) => format!("profile {origin}: its source_profile {name} has no credentials"),
                None => format!("profile {name} has no credentials"),
            });
        };
        origin = Some(name);
        name = source;
    }
    None
}

fn has_source(profile: &Profile) -> bool {
    SOURCES.iter().any(|name| profile.get(name).is_some())
}

fn files() -> String {
    let file = |name: &str, default: &str| variable(name).unwrap_or_else(|| default.to_owned());
    let config = file("AWS_CONFIG_FILE", "~/.aws/config");
    format!("{config} or {}", file("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials"))
}
