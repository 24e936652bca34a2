//! Asks AWS all that a check-up looks at: everything in one round trip, then what is only tried.

use std::collections::BTreeMap;

use futures_util::{future::join_all, join};

use crate::{
    cloud::{Cloud, CloudError, ErrorKind, TemplateQuery, VersionQuery, operations},
    contract::{problem::words, request::Request},
    model::{
        checkup::{
            self, AUTOSCALING_ROLE, Caller, Checkup, Facts, Limits, Look, PoolFacts, Question, Rehearsal,
            Reply, SPOT_ROLE, Trouble,
        },
        desired::roll_key,
        image,
        names::Names,
        observed::{Image, Template, TemplateVersion},
        ownership, target,
    },
};

/// Looks at everything and says what was found. No failed call is an error: it is part of what is found.
pub async fn checkup(cloud: &dyn Cloud, request: &Request) -> Checkup {
    checkup::checkup(request, &look(cloud, request).await)
}

async fn look(cloud: &dyn Cloud, request: &Request) -> Facts {
    // Without credentials every other call would wait for the same failure. Without an answer of STS they need not
    // fail: a private network often has no way to it.
    let caller: Look<Caller> = ask(cloud, Question::Caller).await;
    if matches!(caller, Look::Failed { kind: Trouble::Credentials, .. }) {
        return nothing(caller);
    }
    let subnets = request.exports.failure_domains.values().map(ToString::to_string).collect();
    let kind = || request.instance_type.clone();
    let profile = request.exports.worker_instance_profile.clone();
    let (
        pool,
        subnets,
        security_groups,
        key_pair,
        instance_type,
        offered,
        instance_profile,
        roles,
        quota,
        limits,
    ) = join!(
        pool(cloud, request),
        ask(cloud, Question::Subnets(subnets)),
        ask(cloud, Question::SecurityGroups(security_groups(request))),
        maybe(cloud, request.ssh_key_name.clone().map(Question::KeyPair), "No key pair is asked for."),
        ask(cloud, Question::InstanceType(kind())),
        ask(cloud, Question::Offerings(kind())),
        ask(cloud, Question::InstanceProfile(profile)),
        roles(cloud, request),
        maybe(
            cloud,
            checkup::quota_code(request).map(|code| Question::Quota(code.to_owned())),
            "The quota of this family is not known to this program."
        ),
        ask::<Limits>(cloud, Question::Limits),
    );
    let rehearsals = rehearse(cloud, request, &pool).await;
    Facts {
        caller,
        pool,
        subnets,
        security_groups,
        key_pair,
        instance_type,
        offered,
        instance_profile,
        roles,
        quota,
        limits,
        rehearsals,
    }
}

/// The facts when there is nobody to ask.
fn nothing(caller: Look<Caller>) -> Facts {
    const WHY: &str = "There are no credentials to ask with.";
    Facts {
        caller,
        pool: PoolFacts {
            group: Look::Idle(WHY),
            instances: Look::Idle(WHY),
            policies: Look::Idle(WHY),
            refreshes: Look::Idle(WHY),
            activities: Look::Idle(WHY),
            scheduled_actions: Look::Idle(WHY),
            templates: Look::Idle(WHY),
            versions: Look::Idle(WHY),
            object: Look::Idle(WHY),
            images: Look::Idle(WHY),
        },
        subnets: Look::Idle(WHY),
        security_groups: Look::Idle(WHY),
        key_pair: Look::Idle(WHY),
        instance_type: Look::Idle(WHY),
        offered: Look::Idle(WHY),
        instance_profile: Look::Idle(WHY),
        roles: BTreeMap::new(),
        quota: Look::Idle(WHY),
        limits: Look::Idle(WHY),
        rehearsals: Vec::new(),
    }
}

/// What every command reads of the pool.
async fn pool(cloud: &dyn Cloud, request: &Request) -> PoolFacts {
    let names = Names::of(&request.scope);
    let by_prefix = TemplateQuery::NamePrefix(names.template_prefix());
    let by_name = VersionQuery::CurrentByName(names.template(&roll_key(request)));
    let bucket = request.exports.bootstrap_bucket.as_str();
    let (
        group,
        instances,
        policies,
        refreshes,
        activities,
        scheduled_actions,
        templates,
        versions,
        object,
        images,
    ) = join!(
        cloud.group(&names.group),
        cloud.instances(&names.group),
        cloud.policies(&names.group),
        cloud.refreshes(&names.group),
        cloud.activities(&names.group),
        cloud.scheduled_actions(&names.group),
        cloud.templates(&by_prefix),
        cloud.versions(&by_name),
        cloud.object(bucket, &names.object_key),
        images(cloud, request),
    );
    PoolFacts {
        group: looked(group),
        instances: looked(instances),
        policies: looked(policies),
        refreshes: looked(refreshes),
        activities: looked(activities),
        scheduled_actions: looked(scheduled_actions),
        templates: looked(templates),
        versions: looked(versions),
        object: looked(object),
        images,
    }
}

async fn images(cloud: &dyn Cloud, request: &Request) -> Look<Vec<Image>> {
    match image::query(request) {
        Some(query) => looked(cloud.images(&query).await),
        None => Look::Idle("Neither kubernetes_version nor machine_image.id is set."),
    }
}

fn security_groups(request: &Request) -> Vec<String> {
    let all = request.exports.worker_security_groups.iter().chain(&request.additional_security_group_ids);
    let mut ids: Vec<String> = all.map(ToString::to_string).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

async fn roles(cloud: &dyn Cloud, request: &Request) -> BTreeMap<&'static str, Look<bool>> {
    let spot = request.spot.then_some(SPOT_ROLE);
    let asked = std::iter::once(AUTOSCALING_ROLE).chain(spot);
    join_all(asked.map(async |name| (name, ask(cloud, Question::Role(name.to_owned())).await)))
        .await
        .into_iter()
        .collect()
}

/// What can be tried: of a pool that has a template, its next version, its deletion, a launch; else a
/// template.
async fn rehearse(cloud: &dyn Cloud, request: &Request, pool: &PoolFacts) -> Vec<(Rehearsal, Look<()>)> {
    let Look::Seen(templates) = &pool.templates else { return Vec::new() };
    let wanted = Names::of(&request.scope).template(&roll_key(request));
    let Some(template) = in_use(request, pool, templates, &wanted) else {
        let identity = request.scope.identity.clone();
        return vec![attempt(cloud, Rehearsal::NewTemplate { name: wanted, tags: identity }).await];
    };
    let template_id = &template.id;
    let (version, deletion, launch) = join!(
        attempt(cloud, Rehearsal::NewVersion { template_id: template_id.clone() }),
        attempt(cloud, Rehearsal::DeleteTemplate { template_id: template_id.clone() }),
        launch(cloud, request, pool, template),
    );
    vec![version, deletion, launch]
}

/// The template that the group launches from; without a group, the one that an apply would use again.
fn in_use<'a>(
    request: &Request,
    pool: &PoolFacts,
    templates: &'a [Template],
    wanted: &str,
) -> Option<&'a Template> {
    let group = pool.group.seen().and_then(Option::as_ref);
    let used = group.and_then(target::current_use);
    let mut ours =
        templates.iter().filter(|template| ownership::is_ours(&request.scope.identity, &template.tags));
    let is_used = |template: &&Template| used.is_some_and(|used| used.id == template.id);
    ours.clone().find(is_used).or_else(|| ours.find(|template| template.name == wanted))
}

/// A launch from the template, as its group launches: with the subnet in the template's network interface, or
/// alone where it has none.
async fn launch(
    cloud: &dyn Cloud,
    request: &Request,
    pool: &PoolFacts,
    template: &Template,
) -> (Rehearsal, Look<()>) {
    let rehearsal = |subnet: Option<String>, interface| Rehearsal::Launch {
        template_id: template.id.clone(),
        subnet: subnet.unwrap_or_default(),
        interface,
    };
    let subnet = checkup::launch_subnet(request, pool);
    if subnet.is_none() {
        return (rehearsal(None, None), Look::Idle("It is not known which zones the pool spans."));
    }
    let latest = |versions: &[TemplateVersion]| {
        let of_template = versions.iter().filter(|version| version.template_id == template.id);
        of_template.max_by_key(|version| version.number).cloned()
    };
    let mut version = pool.versions.seen().and_then(|versions| latest(versions));
    if version.is_none() {
        let read = cloud.versions(&VersionQuery::CurrentById(template.id.clone())).await;
        version = read.ok().and_then(|versions| latest(&versions));
    }
    match version {
        None => (rehearsal(subnet, None), Look::Idle("The template's latest version could not be read.")),
        Some(version) => {
            let interface = version.data.interfaces.into_values().next();
            attempt(cloud, rehearsal(subnet, interface.map(|first| first.security_groups))).await
        }
    }
}

async fn attempt(cloud: &dyn Cloud, rehearsal: Rehearsal) -> (Rehearsal, Look<()>) {
    let answer = cloud.answer(&Question::Rehearsal(rehearsal.clone())).await;
    (rehearsal, looked(answer).map(|_| ()))
}

async fn maybe<T: FromReply>(
    cloud: &dyn Cloud,
    question: Option<Question>,
    why_not: &'static str,
) -> Look<T> {
    match question {
        Some(question) => ask(cloud, question).await,
        None => Look::Idle(why_not),
    }
}

async fn ask<T: FromReply>(cloud: &dyn Cloud, question: Question) -> Look<T> {
    match looked(cloud.answer(&question).await) {
        Look::Seen(reply) => T::from_reply(reply).map_or_else(
            || Look::Failed {
                call: operations::of_question(&question),
                kind: Trouble::Other,
                words: "the answer was to another question".to_owned(),
            },
            Look::Seen,
        ),
        Look::Denied { call } => Look::Denied { call },
        Look::Failed { call, kind, words } => Look::Failed { call, kind, words },
        Look::Idle(why) => Look::Idle(why),
    }
}

fn looked<T>(answer: Result<T, CloudError>) -> Look<T> {
    let error = match answer {
        Ok(seen) => return Look::Seen(seen),
        Err(error) => error,
    };
    let kind = match error.kind {
        ErrorKind::AccessDenied => return Look::Denied { call: error.operation },
        ErrorKind::Credentials => Trouble::Credentials,
        ErrorKind::Network => Trouble::Network,
        ErrorKind::NotFound => Trouble::Missing,
        ErrorKind::WrongRegion => Trouble::Elsewhere,
        ErrorKind::Throttled | ErrorKind::Server | ErrorKind::Interrupted => Trouble::Unjudged,
        _ => Trouble::Other,
    };
    let words = words(&error.message);
    let words = if error.code.is_empty() { words } else { format!("{}: {words}", error.code) };
    Look::Failed { call: error.operation, kind, words }
}

/// The part of a reply that a question is about.
trait FromReply: Sized {
    fn from_reply(reply: Reply) -> Option<Self>;
}

macro_rules! from_reply {
    ($($variant:ident => $part:ty),+ $(,)?) => {
        $(impl FromReply for $part {
            fn from_reply(reply: Reply) -> Option<Self> {
                match reply {
                    Reply::$variant(part) => Some(part),
                    _ => None,
                }
            }
        })+
    };
}

from_reply! {
    Caller => Caller,
    Subnets => Vec<checkup::Subnet>,
    SecurityGroups => Vec<checkup::SecurityGroup>,
    There => bool,
    InstanceType => Option<checkup::InstanceType>,
    Zones => std::collections::BTreeSet<String>,
    InstanceProfile => Option<checkup::InstanceProfile>,
    Quota => Option<f64>,
    Limits => Limits,
}
