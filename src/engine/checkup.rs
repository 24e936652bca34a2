//! Asks AWS all that a check-up looks at: everything in one round trip, then what is only tried.

use std::{collections::BTreeMap, pin::pin, time::Duration};

use futures_util::{
    future::{Either, join_all, select},
    join,
};
use tokio::time::timeout;

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

/// Looks at everything and says what was found. No failed call is an error: it is part of what is found, and so is
/// one without an answer within `limit`, retries included.
pub async fn checkup(cloud: &dyn Cloud, request: &Request, limit: Duration) -> Checkup {
    let asking = Asking { cloud, request, limit };
    // Without an answer of STS the others need not fail: a private network often has no way to it. So nobody waits
    // for it, but without credentials every call would only wait for the same failure.
    let caller = pin!(asking.answer(Question::Caller));
    // Boxed, because it is large and would be part of every caller's future.
    let others = Box::pin(asking.facts());
    let facts = match select(caller, others).await {
        Either::Left((caller @ Look::Failed { kind: Trouble::Credentials, .. }, _)) => {
            return checkup::without_credentials(&caller);
        }
        Either::Left((caller, others)) => Facts { caller, ..others.await },
        Either::Right((others, caller)) => Facts { caller: caller.await, ..others },
    };
    checkup::checkup(request, &facts)
}

/// All fields of a structure, looked up side by side.
macro_rules! side_by_side {
    ($facts:ident { $($field:ident: $look:expr),+ $(,)? }) => {{
        let ($($field),+) = join!($($look),+);
        $facts { $($field),+ }
    }};
}

/// Who is asked, for which pool, and how long an answer may take.
struct Asking<'a> {
    cloud: &'a dyn Cloud,
    request: &'a Request,
    limit: Duration,
}

impl Asking<'_> {
    /// All but who calls.
    async fn facts(&self) -> Facts {
        let Self { request, .. } = *self;
        let subnets = request.exports.failure_domains.values().map(ToString::to_string).collect();
        let kind = || request.instance_type.clone();
        let profile = request.exports.worker_instance_profile.clone();
        let quota = checkup::quota_code(request).map(|code| Question::Quota(code.to_owned()));
        let mut facts = side_by_side!(Facts {
            caller: async { Look::Idle("It is asked for elsewhere.") },
            pool: self.pool(),
            subnets: self.answer(Question::Subnets(subnets)),
            security_groups: self.answer(Question::SecurityGroups(security_groups(request))),
            key_pair: self
                .answer_if(request.ssh_key_name.clone().map(Question::KeyPair), "No key pair is asked for."),
            instance_type: self.answer(Question::InstanceType(kind())),
            offered: self.answer(Question::Offerings(kind())),
            instance_profile: self.answer(Question::InstanceProfile(profile)),
            roles: self.roles(),
            quota: self.answer_if(quota, "The quota of this family is not known to this program."),
            limits: self.answer::<Limits>(Question::Limits),
            rehearsals: async { Vec::new() },
        });
        facts.rehearsals = self.rehearse(&facts.pool).await;
        facts
    }

    /// What every command reads of the pool.
    async fn pool(&self) -> PoolFacts {
        let Self { cloud, request, .. } = *self;
        let names = Names::of(&request.scope);
        let group = names.group.as_str();
        let by_prefix = TemplateQuery::NamePrefix(names.template_prefix());
        let by_name = VersionQuery::CurrentByName(names.template(&roll_key(request)));
        let bucket = request.exports.bootstrap_bucket.as_str();
        side_by_side!(PoolFacts {
            group: self.look(operations::DESCRIBE_GROUPS, cloud.group(group)),
            instances: self.look(operations::DESCRIBE_INSTANCES, cloud.instances(group)),
            policies: self.look(operations::DESCRIBE_POLICIES, cloud.policies(group)),
            refreshes: self.look(operations::DESCRIBE_REFRESHES, cloud.refreshes(group)),
            activities: self.look(operations::DESCRIBE_ACTIVITIES, cloud.activities(group)),
            scheduled_actions: self
                .look(operations::DESCRIBE_SCHEDULED_ACTIONS, cloud.scheduled_actions(group)),
            templates: self.look(operations::DESCRIBE_TEMPLATES, cloud.templates(&by_prefix)),
            versions: self.versions(&by_name),
            object: self.look(operations::HEAD_OBJECT, cloud.object(bucket, &names.object_key)),
            images: self.images(),
        })
    }

    async fn versions(&self, query: &VersionQuery) -> Look<Vec<TemplateVersion>> {
        self.look(operations::DESCRIBE_TEMPLATE_VERSIONS, self.cloud.versions(query)).await
    }

    async fn images(&self) -> Look<Vec<Image>> {
        match image::query(self.request) {
            Some(query) => self.look(operations::DESCRIBE_IMAGES, self.cloud.images(&query)).await,
            None => Look::Idle("Neither kubernetes_version nor machine_image.id is set."),
        }
    }

    async fn roles(&self) -> BTreeMap<&'static str, Look<bool>> {
        let spot = self.request.spot.then_some(SPOT_ROLE);
        let asked = std::iter::once(AUTOSCALING_ROLE).chain(spot);
        join_all(asked.map(async |name| (name, self.answer(Question::Role(name.to_owned())).await)))
            .await
            .into_iter()
            .collect()
    }

    /// What can be tried: of a pool that has a template, its next version, its deletion, a launch; else a
    /// template.
    async fn rehearse(&self, pool: &PoolFacts) -> Vec<(Rehearsal, Look<()>)> {
        let Look::Seen(templates) = &pool.templates else { return Vec::new() };
        let wanted = Names::of(&self.request.scope).template(&roll_key(self.request));
        let Some(template) = in_use(self.request, pool, templates, &wanted) else {
            let identity = self.request.scope.identity.clone();
            let new = self.attempt(Rehearsal::NewTemplate { name: wanted, tags: identity }).await;
            let others = matches!(pool.group, Look::Seen(Some(_))).then(without_template);
            return std::iter::once(new).chain(others.into_iter().flatten()).collect();
        };
        let template_id = &template.id;
        let (version, deletion, launch) = join!(
            self.attempt(Rehearsal::NewVersion { template_id: template_id.clone() }),
            self.attempt(Rehearsal::DeleteTemplate { template_id: template_id.clone() }),
            self.launch(pool, template),
        );
        vec![version, deletion, launch]
    }

    /// A launch from the template, as its group launches: with the subnet in the template's network interface, or
    /// alone where it has none.
    async fn launch(&self, pool: &PoolFacts, template: &Template) -> (Rehearsal, Look<()>) {
        let rehearsal = |subnet: Option<String>, interface| Rehearsal::Launch {
            template_id: template.id.clone(),
            subnet: subnet.unwrap_or_default(),
            interface,
        };
        let subnet = checkup::launch_subnet(self.request, pool);
        if subnet.is_none() {
            return (rehearsal(None, None), Look::Idle("It is not known which zones the pool spans."));
        }
        let latest = |versions: &[TemplateVersion]| {
            let of_template = versions.iter().filter(|version| version.template_id == template.id);
            of_template.max_by_key(|version| version.number).cloned()
        };
        let mut version = pool.versions.seen().and_then(|versions| latest(versions));
        if version.is_none() {
            let read = self.versions(&VersionQuery::CurrentById(template.id.clone())).await;
            version = read.seen().and_then(|versions| latest(versions));
        }
        match version {
            None => (rehearsal(subnet, None), Look::Idle("The template's latest version could not be read.")),
            Some(version) => {
                let interface = version.data.interfaces.into_values().next();
                self.attempt(rehearsal(subnet, interface.map(|first| first.security_groups))).await
            }
        }
    }

    async fn attempt(&self, rehearsal: Rehearsal) -> (Rehearsal, Look<()>) {
        let question = Question::Rehearsal(rehearsal.clone());
        let answer = self.look(operations::of_question(&question), self.cloud.answer(&question)).await;
        (rehearsal, answer.map(|_| ()))
    }

    async fn answer_if<T: FromReply>(&self, question: Option<Question>, why_not: &'static str) -> Look<T> {
        match question {
            Some(question) => self.answer(question).await,
            None => Look::Idle(why_not),
        }
    }

    async fn answer<T: FromReply>(&self, question: Question) -> Look<T> {
        let call = operations::of_question(&question);
        match self.look(call, self.cloud.answer(&question)).await.map(T::from_reply) {
            Look::Seen(Some(reply)) => Look::Seen(reply),
            Look::Seen(None) => {
                let words = "the answer was to another question".to_owned();
                Look::Failed { call, kind: Trouble::Other, words }
            }
            Look::Denied { call } => Look::Denied { call },
            Look::Failed { call, kind, words } => Look::Failed { call, kind, words },
            Look::Idle(why) => Look::Idle(why),
        }
    }

    /// What came of a call, which is given up without an answer in time.
    async fn look<T>(
        &self,
        call: &'static str,
        answer: impl Future<Output = Result<T, CloudError>>,
    ) -> Look<T> {
        timeout(self.limit, answer).await.map_or_else(
            |_| {
                let words = format!("no answer within {} s", self.limit.as_secs_f64());
                Look::Failed { call, kind: Trouble::Network, words }
            },
            looked,
        )
    }
}

/// What cannot be tried of a group whose template is gone.
fn without_template() -> [(Rehearsal, Look<()>); 3] {
    let template_id = String::new;
    [
        Rehearsal::NewVersion { template_id: template_id() },
        Rehearsal::DeleteTemplate { template_id: template_id() },
        Rehearsal::Launch { template_id: template_id(), subnet: String::new(), interface: None },
    ]
    .map(|rehearsal| (rehearsal, Look::Idle("The pool has no launch template to try it with.")))
}

fn security_groups(request: &Request) -> Vec<String> {
    let all = request.exports.worker_security_groups.iter().chain(&request.additional_security_group_ids);
    let mut ids: Vec<String> = all.map(ToString::to_string).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
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

fn looked<T>(answer: Result<T, CloudError>) -> Look<T> {
    let error = match answer {
        Ok(seen) => return Look::Seen(seen),
        Err(error) => error,
    };
    let kind = match error.kind {
        // Of an S3 that denies a HEAD, no code is known.
        _ if error.is_without_code() && error.operation != operations::HEAD_OBJECT => Trouble::NotAws,
        ErrorKind::AccessDenied => return Look::Denied { call: error.operation },
        ErrorKind::Credentials => Trouble::Credentials,
        ErrorKind::Network => Trouble::Network,
        ErrorKind::NotAws => Trouble::NotAws,
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
