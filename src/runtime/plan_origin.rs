//! Where a saved plan was made, and so where alone it may be applied.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::plan_place;
use crate::{
    contract::problem::Diagnostic,
    error::{Failure, Kind},
    view::text::line,
};

/// Where a plan is made: it holds for the state that it was compared with, and for one place in AWS.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Whether the working directory has a root module.
    pub has_root: bool,
    /// `<namespace>/<name>` of the Secret that keeps the state; `None` if none is kept.
    pub secret: Option<String>,
    /// The lineage of that state; `None` if there is no state yet.
    pub lineage: Option<String>,
    /// The whole name of the file that keeps the simulated account; `None` in AWS.
    pub sandbox: Option<String>,
    /// The region of all of the pool.
    pub region: String,
    /// The AWS account, as far as it is known without asking for it: from the group that is there.
    pub account: Option<String>,
}

impl Origin {
    /// Whether a plan made here may not be applied at `there`, as the error to tell. A state that was begun
    /// since, and an account that only one of both knows, are no difference. The sandbox is
    /// [compared before](Self::is_not_in).
    pub fn is_not(&self, there: &Self) -> Option<Diagnostic> {
        let differs = |known: &Option<String>, now: &Option<String>| known.is_some() && known != now;
        let mut summary = STALE;
        let describe: &dyn Fn(&Self) -> String = if self.has_root != there.has_root {
            &|origin| format!("{} a root module", if origin.has_root { "with" } else { "without" })
        } else if self.secret != there.secret {
            &|origin| match &origin.secret {
                Some(secret) => format!("with its state in the Secret {secret}"),
                None => "without a state".to_owned(),
            }
        } else if differs(&self.lineage, &there.lineage) {
            &|origin| match &origin.lineage {
                Some(lineage) => format!("with a state of the lineage {lineage}"),
                None => "without a state".to_owned(),
            }
        } else if self.region != there.region {
            summary = "Saved plan was made for another region";
            &|origin| format!("in the region {}", origin.region)
        } else if there.account.is_some() && differs(&self.account, &there.account) {
            summary = "Saved plan was made for another account";
            &|origin| format!("in the account {}", origin.account.as_deref().unwrap_or_default())
        } else {
            return None;
        };
        Some(Diagnostic::error(
            summary,
            format!(
                "It was made {}, and this is {}. Nothing was done. Apply it where it was made, or plan again here.",
                line(&describe(self)),
                line(&describe(there))
            ),
        ))
    }

    /// Refuses a plan made here in another account than the command works in: AWS, or the sandbox in this file.
    /// Known before any account is opened, which may be the wrong one.
    pub fn is_not_in(&self, sandbox: Option<&Path>) -> Result<(), Failure> {
        let there = sandbox.map(sandbox_name);
        let (summary, detail) = match (&self.sandbox, &there) {
            (here, there) if here == there => return Ok(()),
            (Some(here), None) => (
                "Saved plan was made for a sandbox",
                format!(
                    "It was made in the sandbox {}, and without --sandbox this command works in AWS. Nothing was done. \
                     Give --sandbox with that file to apply it there, or plan again for AWS.",
                    line(here)
                ),
            ),
            (None, _) => (
                "Saved plan was made for AWS, not for a sandbox",
                "It was made without --sandbox, and this command works in a sandbox (--sandbox, or \
                 MACHINEPOOL_SANDBOX in the environment). Nothing was done. Leave the sandbox away to apply it in AWS, \
                 or plan again in the sandbox."
                    .to_owned(),
            ),
            (Some(here), Some(there)) => (
                "Saved plan was made for another sandbox",
                format!(
                    "It was made in the sandbox {}, and this is the sandbox {}. Nothing was done. Give --sandbox with \
                     that file to apply it there, or plan again here.",
                    line(here),
                    line(there)
                ),
            ),
        };
        Err(Failure::new(Kind::Refused, summary, detail))
    }

    /// The same, where a group of this ARN is (`arn:aws:autoscaling:REGION:ACCOUNT:...`).
    #[must_use]
    pub fn with_group(self, arn: Option<&str>) -> Self {
        let account = arn.and_then(|arn| arn.split(':').nth(4)).filter(|account| !account.is_empty());
        Self { account: account.map(str::to_owned), ..self }
    }
}

/// The one name of a sandbox's file, whichever directory it is named from and whichever link leads there. A file
/// that is not there yet has one, too.
pub fn sandbox_name(file: &Path) -> String {
    let whole = file
        .canonicalize()
        .ok()
        .or_else(|| plan_place::located(file).map(|(directory, name)| directory.join(name)));
    whole.as_deref().unwrap_or(file).to_string_lossy().into_owned()
}

/// What is said of a plan that may no longer be applied, in Terraform's words.
pub(super) const STALE: &str = "Saved plan is stale";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::runtime::planfile::tests::origin;

    #[test]
    fn a_plan_holds_only_where_it_was_made() {
        let made = origin();
        assert_eq!(made.is_not(&origin()), None);
        let (region, account) =
            ("Saved plan was made for another region", "Saved plan was made for another account");
        for (other, summary, named) in [
            (Origin { has_root: false, secret: None, ..origin() }, STALE, "without a root module"),
            (Origin { secret: None, ..origin() }, STALE, "without a state"),
            (Origin { secret: Some("a/tfstate-default-c".into()), ..origin() }, STALE, "a/tfstate-default-c"),
            (Origin { lineage: Some("7f".into()), ..origin() }, STALE, "lineage 7f"),
            (Origin { region: "eu-west-1".into(), ..origin() }, region, "eu-west-1"),
            (
                Origin { account: Some("222222222222".into()), ..origin() },
                account,
                "in the account 222222222222",
            ),
        ] {
            for (from, to) in [(&made, &other), (&other, &made)] {
                let error = from.is_not(to).unwrap();
                assert_eq!(error.summary, summary);
                assert!(error.detail.contains(named), "{error}");
            }
        }
        // A refresh may begin the state meanwhile; one that is gone is another one.
        let begun = Origin { lineage: None, ..origin() };
        assert_eq!(begun.is_not(&made), None);
        assert!(made.is_not(&begun).unwrap().detail.contains("without a state"));
        let unknown = Origin { account: None, ..origin() };
        assert_eq!((unknown.is_not(&made), made.is_not(&unknown)), (None, None));
        let arn = "arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:x:autoScalingGroupName/y";
        assert_eq!(origin().with_group(Some(arn)).account.as_deref(), Some("123456789012"));
        assert_eq!(origin().with_group(Some("arn")).account, None);
        assert_eq!(origin().with_group(None).account, None);
    }

    #[test]
    fn a_sandbox_is_one_whatever_it_is_called() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("a.json"), directory.path().join("link.json"));
        let detour = directory.path().join(".").join("a.json");
        assert_eq!(sandbox_name(&file), sandbox_name(&detour), "before it is there");
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(sandbox_name(&file), sandbox_name(&link));
        let made = Origin { sandbox: Some(sandbox_name(&file)), ..origin() };
        assert!(made.is_not_in(Some(&link)).is_ok());
        assert!(origin().is_not_in(None).is_ok());
    }
}
