//! Credentials, inputs, whose things are, the bucket, limits, AWS's own roles.

use super::{AUTOSCALING_ROLE, Caller, Check, Facts, Limits, Look, PoolFacts, SPOT_ROLE, Trouble};
use crate::{
    contract::{problem::sentence, request::Request},
    model::{
        names::Names,
        observed::{Group, Object},
        planner,
    },
};

/// What to do where AWS cannot be reached.
pub(super) const REACH: &str =
    "Check the network, the proxy settings (HTTPS_PROXY, NO_PROXY) and the region.";

/// What to do where something else answers.
pub(super) const ENDPOINT: &str = "Check AWS_ENDPOINT_URL and the like in the environment, endpoint_url in the profile, \
                                   and the proxy settings (HTTPS_PROXY, NO_PROXY).";

/// Whose the credentials are. Where only STS cannot be reached, as in a VPC without an endpoint for it, all
/// else can be looked at: nothing but a check-up calls it.
pub(super) fn credentials(caller: &Look<Caller>, pool: Option<&PoolFacts>) -> Check {
    const ID: &str = "credentials";
    match caller {
        Look::Seen(caller) => {
            Check::pass(ID, format!("Credentials of {} in account {}", caller.arn, caller.account))
        }
        Look::Failed { kind: Trouble::Credentials, words, .. } => {
            Check::fail(ID, "No usable AWS credentials").because(words.clone()).fix(
                "Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or log in anew (aws sso login); \
                 in a pod, give it an IAM role. Nothing else was checked.",
            )
        }
        Look::Failed { kind: Trouble::Network, words, .. } if pool.is_some_and(PoolFacts::is_out_of_reach) => {
            Check::fail(ID, "AWS cannot be reached")
                .because(words.clone())
                .fix(format!("{REACH} Nothing else was checked."))
        }
        Look::Failed { kind: Trouble::NotAws | Trouble::Network, .. }
            if pool.is_some_and(PoolFacts::is_not_aws) =>
        {
            not_aws(ID).fix(format!("{ENDPOINT} Nothing else was checked."))
        }
        other => Check::unseen(ID, "whose the credentials are", other),
    }
}

/// Nothing is known of AWS, because something else answers in its place.
pub(super) fn not_aws(id: &'static str) -> Check {
    Check::fail(id, "The endpoint does not answer as AWS does")
        .because("What answered is not AWS: its answers have no error codes of AWS's.")
}

/// What is odd about the inputs.
pub(super) fn inputs(request: &Request) -> Check {
    const ID: &str = "inputs";
    if request.warnings.is_empty() {
        return Check::pass(ID, "The inputs are valid");
    }
    let told: Vec<String> =
        request.warnings.iter().map(|warning| format!("{}. {}", warning.summary, warning.detail)).collect();
    Check::warning(ID, "The inputs are valid, and odd").because(told.join("\n"))
}

/// Whether what lies under the pool's names is the pool's, as far as a plan asks for it.
pub(super) fn ownership(request: &Request, pool: &PoolFacts) -> Check {
    const ID: &str = "ownership";
    let names = Names::of(&request.scope);
    let problems = planner::foreign(
        request,
        pool.group.seen().and_then(Option::as_ref),
        pool.templates.seen().map_or(&[], Vec::as_slice),
        pool.object.seen(),
    );
    let Some(first) = problems.first() else {
        return match &pool.group {
            Look::Seen(None) => Check::pass(ID, format!("The name {} is free", names.group)),
            Look::Seen(Some(_)) => Check::pass(ID, format!("{} is this pool's", names.group)),
            other => Check::unseen(ID, "whose the Auto Scaling group is", other),
        };
    };
    let details: Vec<&str> = problems.iter().map(|problem| problem.detail.as_str()).collect();
    Check::fail(ID, first.summary.clone()).because(details.join("\n"))
}

pub(super) fn bucket(request: &Request, object: &Look<Object>) -> Check {
    const ID: &str = "bucket";
    let bucket = &request.exports.bootstrap_bucket;
    match object {
        Look::Seen(Object::Missing) => {
            Check::pass(ID, format!("Bucket {bucket} is there; no bootstrap data in it yet"))
        }
        Look::Seen(Object::Present { sha256, .. }) => {
            let same = sha256.as_ref() == Some(&request.bootstrap_data.sha256());
            let state = if same { "the pool's bootstrap data is in it" } else { "it holds older bootstrap data" };
            Check::pass(ID, format!("Bucket {bucket} is there; {state}"))
        }
        Look::Failed { kind: Trouble::Missing, .. } => Check::fail(ID, format!("Bucket {bucket} does not exist"))
            .because("Bootstrap data could not be stored, and no instance could fetch it.")
            .fix("Check bootstrap_bucket of the cluster's exports, and that the cluster has been applied."),
        Look::Failed { kind: Trouble::Elsewhere, words, .. } => {
            Check::fail(ID, format!("Bucket {bucket} is not in {}", request.exports.region))
                .because(format!("S3 says: {}", sentence(words)))
                .fix("Check region and bootstrap_bucket of the cluster's exports.")
        }
        Look::Denied { call } => Check::fail(ID, format!("Bucket {bucket} cannot be looked into"))
            .because("S3 denies it: the credentials, or the bucket's own policy; or the bucket is another account's.")
            .fix(format!("Allow {} on it.", super::actions_of(call))),
        other => Check::unseen(ID, "the bootstrap bucket", other),
    }
}

/// Whether there is room for a group more.
pub(super) fn groups(limits: &Look<Limits>, group: &Look<Option<Group>>) -> Check {
    const ID: &str = "limits.groups";
    let Look::Seen(Limits { max_groups, groups }) = limits else {
        return Check::unseen(ID, "the limit on Auto Scaling groups", limits);
    };
    let title = format!("{groups} of {max_groups} Auto Scaling groups are in use");
    if groups < max_groups || matches!(group, Look::Seen(Some(_))) {
        return Check::pass(ID, title);
    }
    Check::fail(ID, title)
        .because("The pool's group could not be created.")
        .fix("Ask for a higher quota of Auto Scaling groups in the region, or delete some.")
}

pub(super) fn roles(request: &Request, facts: &Facts) -> Vec<Check> {
    let wanted = [(AUTOSCALING_ROLE, "roles.autoscaling", true), (SPOT_ROLE, "roles.spot", request.spot)];
    let wanted = wanted.into_iter().filter(|(_, _, needed)| *needed);
    wanted.map(|(name, id, _)| role(id, name, facts.roles.get(name))).collect()
}

fn role(id: &'static str, name: &str, look: Option<&Look<bool>>) -> Check {
    match look {
        Some(Look::Seen(true)) => Check::pass(id, format!("The role {name} exists")),
        Some(Look::Seen(false)) => Check::warning(id, format!("The role {name} does not exist yet"))
            .because("AWS makes it at the first use, if the credentials allow iam:CreateServiceLinkedRole.")
            .fix(format!(
                "Allow that, or have somebody run:\n\n  aws iam create-service-linked-role --aws-service-name {}",
                if name == SPOT_ROLE { "spot.amazonaws.com" } else { "autoscaling.amazonaws.com" }
            )),
        Some(other) => Check::unseen(id, &format!("the role {name}"), other),
        None => Check::unseen::<bool>(id, &format!("the role {name}"), &Look::Idle("It was not asked for.")),
    }
}
