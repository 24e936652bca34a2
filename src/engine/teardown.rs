//! Finds what a pool owns, with little to go by: names, and tags that say whose things are.

use std::collections::BTreeSet;

use futures_util::join;

use super::{explain::together, perform};
use crate::{
    cloud::{Cloud, CloudError, ErrorKind, TemplateQuery},
    contract::{
        problem::{Diagnostic, Severity},
        request::{IDENTITY_TAGS, Scope, Tags},
    },
    error::{Failure, Kind},
    model::{
        names::{self, Names, RollKey},
        observed::{Group, GroupMember, Object, Template},
        ownership::{self, Resource},
        plan::{Action, Address, Change, Plan},
        records, roll, target,
    },
};

/// What a destroy is going to delete.
#[derive(Clone, Debug, PartialEq)]
pub struct Teardown {
    /// What is deleted, to be shown and counted.
    pub plan: Plan,
    pub(super) names: Names,
    pub(super) identity: Tags,
    pub(super) group: Option<Group>,
    pub(super) refreshing: bool,
    pub(super) has_policy: bool,
    pub(super) scheduled: Vec<String>,
    pub(super) templates: Vec<Template>,
    /// Buckets in which an object of the pool lies.
    pub(super) buckets: Vec<String>,
    /// The bucket that the inputs name; others are known from templates only.
    pub(super) named_bucket: Option<String>,
    /// Buckets that could not be looked into.
    pub(super) unreadable: Vec<String>,
    /// What is known already to be impossible; told at the end.
    pub(super) problems: Vec<Diagnostic>,
}

impl Teardown {
    /// The ARN of the group, if there is one.
    pub fn group_arn(&self) -> Option<&str> {
        self.group.as_ref().map(|group| group.arn.as_str())
    }

    /// What is left of a pool as far as could be seen; what could not be looked for counts as left, and the
    /// records of a pool that AWS does not hold yet are left as long as what they tell of.
    pub fn left(&self) -> BTreeSet<Address> {
        let mut left: BTreeSet<Address> = self.plan.changes.iter().map(|change| change.address).collect();
        if !self.problems.is_empty() {
            left.insert(Address::Object);
        }
        if left.contains(&Address::Template) {
            left.insert(Address::VersionRoll);
        }
        if left.contains(&Address::Template) || left.contains(&Address::Group) {
            left.insert(Address::InheritedZones);
        }
        left
    }
}

/// Finds what the pool owns. Resources of strangers are refused; nothing else about the inputs matters.
pub async fn plan_destroy(cloud: &dyn Cloud, scope: &Scope) -> Result<Teardown, Failure> {
    let names = Names::of(scope);
    let by_prefix = TemplateQuery::NamePrefix(names.template_prefix());
    let (group, policies, refreshes, scheduled, by_prefix, by_tags) = join!(
        cloud.group(&names.group),
        cloud.policies(&names.group),
        cloud.refreshes(&names.group),
        cloud.scheduled_actions(&names.group),
        cloud.templates(&by_prefix),
        tagged_templates(cloud, &scope.identity),
    );
    let mut errors: Vec<CloudError> = Vec::new();
    let group = keep(group, &mut errors).flatten();
    let policies = keep(policies, &mut errors).unwrap_or_default();
    let refreshes = keep(refreshes, &mut errors).unwrap_or_default();
    let scheduled = keep(scheduled, &mut errors).unwrap_or_default();
    let mut templates = keep(by_prefix, &mut errors).unwrap_or_default();
    templates.extend(keep(by_tags, &mut errors).unwrap_or_default());
    if !errors.is_empty() {
        return Err(together(errors));
    }
    if let Some(used) = group.as_ref().and_then(target::current_use)
        && !templates.iter().any(|t| t.id == used.id)
    {
        templates.extend(cloud.templates(&TemplateQuery::Id(used.id.clone())).await?);
    }
    templates.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
    templates.dedup_by(|a, b| a.id == b.id);
    let group_tags = group.as_ref().map(Group::tags).unwrap_or_default();
    let identity = ownership::completed(&scope.identity, &group_tags);
    refuse_strangers(&identity, &names, group.as_ref(), &templates)?;
    refuse_protected(group.as_ref())?;
    let (templates, foreign): (Vec<Template>, Vec<Template>) =
        templates.into_iter().partition(|t| ownership::is_ours(&identity, &t.tags));

    let mut teardown = Teardown {
        plan: Plan::default(),
        identity,
        refreshing: roll::active(&refreshes).is_some(),
        has_policy: policies.iter().any(|p| p.name == names::POLICY),
        buckets: Vec::new(),
        named_bucket: scope.bucket.as_ref().map(ToString::to_string),
        unreadable: Vec::new(),
        problems: Vec::new(),
        names,
        group,
        scheduled,
        templates,
    };
    let mut owned = vec![group_tags];
    owned.extend(teardown.templates.iter().map(|template| template.tags.clone()));
    owned.extend(find_objects(cloud, &mut teardown).await?);
    name_strangers(scope, &foreign, &mut teardown)?;
    teardown.plan = plan(&teardown);
    teardown.plan.warnings.splice(0..0, ownership::unsaid(&scope.identity, &owned));
    Ok(teardown)
}

fn keep<T>(result: Result<T, CloudError>, errors: &mut Vec<CloudError>) -> Option<T> {
    result.map_err(|error| errors.push(error)).ok()
}

/// Templates of any name that carry the whole identity: a pool that Terraform made may have one. With
/// less than all of it, such a search could find somebody else's.
async fn tagged_templates(cloud: &dyn Cloud, identity: &Tags) -> Result<Vec<Template>, CloudError> {
    if IDENTITY_TAGS.iter().any(|key| !identity.contains_key(*key)) {
        return Ok(Vec::new());
    }
    cloud.templates(&TemplateQuery::Tagged(identity.clone().into_iter().collect())).await
}

fn refuse_strangers(
    identity: &Tags,
    names: &Names,
    group: Option<&Group>,
    templates: &[Template],
) -> Result<(), Failure> {
    let mut diagnostics = Vec::new();
    if let Some(group) = group {
        let owned = ownership::check(Resource::Group(&group.name), identity, &group.tags());
        diagnostics.extend(owned.err());
    }
    let used = group.and_then(target::current_use);
    for template in templates {
        let ours_by_name = template.name.starts_with(&names.template_prefix());
        if ours_by_name && used.is_some_and(|used| used.id == template.id) {
            let resource = Resource::Template { id: &template.id, name: &template.name };
            diagnostics.extend(ownership::check(resource, identity, &template.tags).err());
        }
    }
    if diagnostics.is_empty() { Ok(()) } else { Err(Failure { kind: Kind::Refused, diagnostics }) }
}

/// Templates under the pool's names that are somebody else's, or have lost the tags that say whose they are. The one
/// that the inputs name is refused as long as anything of the pool is left: it is most likely the pool's, and a new pool
/// would be refused because of it. Others are named, and so are all where there is no pool, whose deletion has to end.
fn name_strangers(scope: &Scope, foreign: &[Template], teardown: &mut Teardown) -> Result<(), Failure> {
    let names = Names::of(scope);
    let key = RollKey {
        kubernetes_version: scope.kubernetes_version.clone(),
        machine_image_id: scope.machine_image_id.clone(),
    };
    let is_there = teardown.group.is_some() || !teardown.templates.is_empty() || !teardown.buckets.is_empty();
    let identity = &teardown.identity;
    let mut refused = Vec::new();
    for template in foreign.iter().filter(|t| t.name.starts_with(&names.template_prefix())) {
        let resource = Resource::Template { id: &template.id, name: &template.name };
        if is_there && template.name == names.template(&key) {
            refused.extend(ownership::check(resource, identity, &template.tags).err());
        } else {
            teardown.plan.warnings.extend(ownership::kept(resource, identity, &template.tags));
        }
    }
    if refused.is_empty() { Ok(()) } else { Err(Failure { kind: Kind::Refused, diagnostics: refused }) }
}

/// Somebody has said that the group must not be deleted: no member may be terminated first, either.
fn refuse_protected(group: Option<&Group>) -> Result<(), Failure> {
    let Some(group) = group.filter(|g| g.deletion_protection.as_deref() == Some(PREVENT_ALL)) else {
        return Ok(());
    };
    Err(Failure::new(
        Kind::Refused,
        format!("Auto Scaling group {} is protected from deletion", group.name),
        format!(
            "Nothing was changed. If it may go, lift the protection first:\n\n  aws autoscaling \
             update-auto-scaling-group --auto-scaling-group-name {} --deletion-protection none",
            group.name
        ),
    ))
}

/// Deletion protection that forbids any deletion.
const PREVENT_ALL: &str = "prevent-all-deletion";

/// Looks for the object in the exports' bucket and in those that templates record. What hinders a look
/// is told at the end, and does not stop the rest; with its bucket gone, an object is gone. The tags of those found.
async fn find_objects(cloud: &dyn Cloud, teardown: &mut Teardown) -> Result<Vec<Tags>, Failure> {
    let mut found = Vec::new();
    let key = teardown.names.object_key.clone();
    let recorded = teardown.templates.iter().flat_map(|t| records::buckets(&t.tags)).map(str::to_owned);
    let buckets: BTreeSet<String> = teardown.named_bucket.iter().cloned().chain(recorded).collect();
    if buckets.is_empty() {
        unknown_bucket(&key, teardown);
    }
    for bucket in buckets {
        match cloud.object(&bucket, &key).await {
            Ok(Object::Missing) => {}
            Ok(Object::Present { tags, .. }) => {
                ownership::check(Resource::Object { bucket: &bucket, key: &key }, &teardown.identity, &tags)
                    .map_err(|problem| Failure { kind: Kind::Refused, diagnostics: vec![problem] })?;
                teardown.buckets.push(bucket);
                found.push(tags);
            }
            Err(error) if error.kind == ErrorKind::NotFound => {
                teardown.plan.warnings.push(Diagnostic::warning(
                    format!("Bucket {bucket} does not exist"),
                    "So the bootstrap object is gone with it.",
                ));
            }
            Err(error)
                if matches!(
                    error.kind,
                    ErrorKind::Credentials | ErrorKind::Network | ErrorKind::Settings
                ) =>
            {
                return Err(error.into());
            }
            Err(error) => {
                teardown.problems.push(perform::as_error(&error));
                teardown.unreadable.push(bucket);
            }
        }
    }
    Ok(found)
}

/// Nobody knows the bucket. A pool of which there is nothing else most likely never was, and its
/// deletion must be able to end; otherwise there is an object somewhere.
fn unknown_bucket(key: &str, teardown: &mut Teardown) {
    let summary = format!("Bootstrap object {key} may remain");
    let detail = "Neither the cluster exports nor a launch template of the pool say in which bucket it lies. If it \
                  was ever made, delete it by hand.";
    if teardown.group.is_some() || !teardown.templates.is_empty() {
        teardown.problems.push(Diagnostic::error(summary, detail));
    } else {
        teardown.plan.warnings.push(Diagnostic::warning(summary, detail));
    }
}

fn plan(teardown: &Teardown) -> Plan {
    let names = &teardown.names;
    let mut changes = Vec::new();
    let mut delete = |address, name: &str| {
        let (fields, reason) = (Vec::new(), None);
        changes.push(Change { address, name: name.to_owned(), action: Action::Delete, fields, reason });
    };
    if !teardown.buckets.is_empty() {
        let places: Vec<String> =
            teardown.buckets.iter().map(|bucket| format!("s3://{bucket}/{}", names.object_key)).collect();
        delete(Address::Object, &places.join(", "));
    }
    if !teardown.templates.is_empty() {
        let list: Vec<&str> = teardown.templates.iter().map(|t| t.name.as_str()).collect();
        delete(Address::Template, &list.join(", "));
    }
    if teardown.group.is_some() {
        delete(Address::Group, &names.group);
    }
    if teardown.has_policy {
        delete(Address::Policy, names::POLICY);
    }
    if teardown.templates.iter().any(|t| records::has_key(&t.tags)) {
        delete(Address::VersionRoll, &names.group);
    }
    let on_group = teardown.group.as_ref().is_some_and(|g| g.tags.contains_key(records::ZONES));
    if on_group || teardown.templates.iter().any(|t| t.tags.contains_key(records::ZONES)) {
        delete(Address::InheritedZones, &names.group);
    }
    let mut warnings = teardown.plan.warnings.clone();
    let known = teardown.problems.iter();
    warnings.extend(known.map(|p| Diagnostic { severity: Severity::Warning, ..p.clone() }));
    let terminated = u32::try_from(ending(teardown.group.as_ref()).count()).unwrap_or(u32::MAX);
    Plan { changes, warnings, terminated, notes: notes(teardown), ..Plan::default() }
}

/// The members that end with the group: those that are not on their way out already.
fn ending(group: Option<&Group>) -> impl Iterator<Item = &GroupMember> {
    let members = group.map_or(&[][..], |group| &group.members);
    members.iter().filter(|member| !roll::is_leaving(&member.lifecycle))
}

/// What others have put on the group, and what goes with it.
fn notes(teardown: &Teardown) -> Vec<String> {
    let Some(group) = &teardown.group else { return Vec::new() };
    let mut notes = Vec::new();
    match ending(Some(group)).filter(|member| member.protected).count() {
        0 => {}
        1 => notes.push("1 member is protected from scale-in; it is terminated all the same.".to_owned()),
        many => notes
            .push(format!("{many} members are protected from scale-in; they are terminated all the same.")),
    }
    match &teardown.scheduled[..] {
        [] => {}
        [only] => notes.push(format!("Scheduled action {only} is deleted with the group.")),
        many => notes.push(format!("Scheduled actions {} are deleted with the group.", many.join(", "))),
    }
    if group.warm_pool {
        notes.push("The group's warm pool is deleted with it, with its instances.".to_owned());
    }
    notes
}
