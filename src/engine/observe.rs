//! Reads AWS: everything a plan needs in one round trip, a second one only for templates of other names.

use futures_util::join;

use super::explain::together;
use crate::{
    cloud::{Cloud, CloudError, ErrorKind, ImageQuery, TemplateQuery, VersionQuery},
    contract::{
        outputs::Outputs,
        problem::words,
        request::{Request, Scope},
    },
    error::{Failure, Kind},
    model::{
        desired::roll_key,
        image,
        launching::{self, Launching},
        members,
        names::{Names, RollKey},
        observed::{Activity, Group, Images, Instance, Known, Object, Observed, Template, TemplateVersion},
        outputs,
        ownership::{self, Resource},
        records, target,
    },
};

/// Everything a plan looks at. A single failed call fails the whole reading, and all failures are told.
pub async fn for_plan(cloud: &dyn Cloud, request: &Request) -> Result<Observed, Failure> {
    let names = Names::of(&request.scope);
    let key = roll_key(request);
    let wanted = names.template(&key);
    let by_prefix = TemplateQuery::NamePrefix(names.template_prefix());
    let by_name = VersionQuery::CurrentByName(wanted.clone());
    let image = image::query(request);
    let (group, instances, policies, refreshes, templates, versions, object, images) = join!(
        cloud.group(&names.group),
        cloud.instances(&names.group),
        cloud.policies(&names.group),
        cloud.refreshes(&names.group),
        cloud.templates(&by_prefix),
        cloud.versions(&by_name),
        cloud.object(request.exports.bootstrap_bucket.as_str(), &names.object_key),
        images(cloud, image.as_ref()),
    );
    let mut errors = Vec::new();
    let mut observed = Observed {
        group: keep(group, &mut errors).flatten(),
        instances: keep(instances, &mut errors).unwrap_or_default(),
        policies: keep(policies, &mut errors).unwrap_or_default(),
        refreshes: keep(refreshes, &mut errors).unwrap_or_default(),
        templates: keep(templates, &mut errors).unwrap_or_default(),
        versions: keep(versions, &mut errors).unwrap_or_default(),
        object: keep(object, &mut errors).unwrap_or(Object::Missing),
        images: keep(images, &mut errors).unwrap_or(Images::NotAsked),
        known: Known::default(),
    };
    if !errors.is_empty() {
        return Err(together(errors));
    }
    other_templates(cloud, &mut observed, &wanted, &key).await?;
    Ok(observed)
}

fn keep<T>(result: Result<T, CloudError>, errors: &mut Vec<CloudError>) -> Option<T> {
    result.map_err(|error| errors.push(error)).ok()
}

/// A pinned image that cannot be described is no failure of the reading: it may still launch, or be launched already.
async fn images(cloud: &dyn Cloud, query: Option<&ImageQuery>) -> Result<Images, CloudError> {
    let Some(query) = query else { return Ok(Images::NotAsked) };
    match (cloud.images(query).await, query) {
        (Ok(found), ImageQuery::Id(id)) if found.iter().all(|image| image.id != *id) => {
            Ok(Images::Missing("nothing of that id".to_owned()))
        }
        (Ok(found), _) => Ok(Images::Found(found)),
        (Err(error), ImageQuery::Id(_)) if error.kind == ErrorKind::AccessDenied => {
            Ok(Images::Undescribed(format!("{}: {}", error.code, words(&error.message))))
        }
        (Err(error), ImageQuery::Id(_)) if error.kind == ErrorKind::NotFound => {
            Ok(Images::Missing(format!("{}: {}", error.code, words(&error.message))))
        }
        (Err(error), _) => Err(error),
    }
}

/// Reads templates and versions that the first round trip could not name: the group's own template if
/// it has another name, one that records the wanted roll key, and what AWS did not show yet.
async fn other_templates(
    cloud: &dyn Cloud,
    observed: &mut Observed,
    wanted: &str,
    key: &RollKey,
) -> Result<(), Failure> {
    let known = |templates: &[Template], id: &str| templates.iter().any(|t| t.id == id);
    let used = observed.group.as_ref().and_then(target::current_use).map(|used| used.id.clone());
    let shown = observed.versions.first().map(|v| v.template_id.clone());
    for id in used.iter().chain(&shown) {
        if !known(&observed.templates, id) {
            observed.templates.extend(cloud.templates(&TemplateQuery::Id(id.clone())).await?);
        }
    }
    observed.templates.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
    let unread: Vec<&Template> = observed
        .templates
        .iter()
        .filter(|t| used.as_ref() == Some(&t.id) || t.name == wanted || records::holds_key(&t.tags, key))
        .filter(|t| !shows_latest(&observed.versions, t))
        .collect();
    let mut read: Vec<TemplateVersion> = Vec::new();
    for template in unread {
        read.extend(versions_of(cloud, template).await?);
    }
    observed.versions.retain(|v| !read.iter().any(|r| r.template_id == v.template_id));
    observed.versions.extend(read);
    Ok(())
}

/// Whether the newest version that a template is known to have was read.
fn shows_latest(versions: &[TemplateVersion], template: &Template) -> bool {
    versions.iter().any(|v| v.template_id == template.id && v.number >= template.latest_version)
}

async fn versions_of(cloud: &dyn Cloud, template: &Template) -> Result<Vec<TemplateVersion>, Failure> {
    for _ in 0..READS_OF_A_LAGGING_VERSION {
        let versions = cloud.versions(&VersionQuery::CurrentById(template.id.clone())).await?;
        if shows_latest(&versions, template) {
            return Ok(versions);
        }
    }
    Err(Failure::new(
        Kind::Aws,
        format!("AWS does not show the versions of launch template {} yet", template.name),
        "The latest was made a moment ago. Run the command again.",
    ))
}

/// A version made a moment ago may not be readable yet: a plan from an older one would make it twice.
const READS_OF_A_LAGGING_VERSION: usize = 5;

/// The two reads that outputs need.
pub(super) async fn membership(
    cloud: &dyn Cloud,
    group: &str,
) -> Result<(Option<Group>, Vec<Instance>), Failure> {
    let (group, instances) = join!(cloud.group(group), cloud.instances(group));
    let mut errors = Vec::new();
    match (keep(group, &mut errors), keep(instances, &mut errors)) {
        (Some(group), Some(instances)) => Ok((group, instances)),
        _ => Err(together(errors)),
    }
}

/// Outputs from what is live now.
pub(super) async fn outputs(cloud: &dyn Cloud, scope: &Scope) -> Result<Outputs, Failure> {
    let (group, instances) = membership(cloud, &Names::of(scope).group).await?;
    outputs_of(cloud, scope, group.as_ref(), &instances).await
}

/// Outputs from a reading; asks for scaling activities while the group should be launching. A stranger's group has none:
/// whoever records them goes on with those of the pool.
pub(super) async fn outputs_of(
    cloud: &dyn Cloud,
    scope: &Scope,
    group: Option<&Group>,
    instances: &[Instance],
) -> Result<Outputs, Failure> {
    if let Some(group) = group {
        ownership::check_to_look(Resource::Group(&group.name), &scope.identity, &group.tags())
            .map_err(|problem| Failure { kind: Kind::Refused, diagnostics: vec![problem] })?;
    }
    let launching = launching::launching(group, &members::members(group, instances));
    let activities = match group {
        Some(group) if launching != Launching::Idle => {
            // Only the message gets better by it: without permission there is none.
            match cloud.activities(&group.name).await {
                Err(error) if error.kind == ErrorKind::AccessDenied => Vec::new(),
                answer => answer?,
            }
        }
        _ => Vec::new(),
    };
    outputs_from(scope, group, instances, &activities)
}

/// Outputs from a reading and nothing else.
pub(super) fn outputs_from(
    scope: &Scope,
    group: Option<&Group>,
    instances: &[Instance],
    activities: &[Activity],
) -> Result<Outputs, Failure> {
    outputs::outputs(scope, group, instances, activities)
        .map_err(|problem| Failure { kind: Kind::Aws, diagnostics: vec![problem] })
}
