//! Reads what a status shows: five calls in one round trip, or those of a plan and one more.

use futures_util::join;

use super::{Planned, explain::together, plan_with};
use crate::{
    clock::Timestamp,
    cloud::{Cloud, CloudError, ErrorKind, TemplateQuery, VersionQuery},
    contract::request::{Request, Scope},
    error::Failure,
    model::{
        names::Names,
        observed::{Activity, Group, Known, Template},
        roll,
        status::Seen,
        target,
    },
};

/// What AWS showed, and the plan of an apply if there was one to make.
#[derive(Debug)]
pub struct Looked {
    /// What AWS showed.
    pub seen: Seen,
    /// What an apply would do, or why that cannot be told; `None` if it was not asked.
    pub planned: Option<Result<Planned, Failure>>,
}

/// Looks at a pool, and compares it with its inputs if there are any: whatever hinders the comparison does not
/// hinder the look.
pub async fn look(cloud: &dyn Cloud, scope: &Scope, request: Option<&Request>) -> Result<Looked, Failure> {
    let Some(request) = request else {
        return Ok(Looked { seen: pool(cloud, scope).await?, planned: None });
    };
    let group = Names::of(scope).group;
    let known = Known::default();
    let (planned, activities) = join!(plan_with(cloud, request, &known), cloud.activities(&group));
    let seen = match &planned {
        Ok(planned) => {
            let observed = &planned.observed;
            Seen {
                group: observed.group.clone(),
                instances: observed.instances.clone(),
                refreshes: observed.refreshes.clone(),
                templates: observed.templates.clone(),
                version_created: of_group(observed.group.as_ref(), &observed.templates)
                    .and_then(|template| target::latest(observed, template))
                    .map(|version| version.created),
                activities: allowed(activities)?,
            }
        }
        Err(_) => pool(cloud, scope).await?,
    };
    Ok(Looked { seen, planned: Some(planned) })
}

/// The pool itself.
pub(super) async fn pool(cloud: &dyn Cloud, scope: &Scope) -> Result<Seen, Failure> {
    let names = Names::of(scope);
    let by_prefix = TemplateQuery::NamePrefix(names.template_prefix());
    let (group, instances, refreshes, templates, activities) = join!(
        cloud.group(&names.group),
        cloud.instances(&names.group),
        cloud.refreshes(&names.group),
        cloud.templates(&by_prefix),
        cloud.activities(&names.group),
    );
    let mut errors: Vec<CloudError> = Vec::new();
    let mut seen = Seen {
        group: keep(group, &mut errors).flatten(),
        instances: keep(instances, &mut errors).unwrap_or_default(),
        refreshes: keep(refreshes, &mut errors).unwrap_or_default(),
        templates: keep(templates, &mut errors).unwrap_or_default(),
        version_created: None,
        activities: keep(allowed(activities), &mut errors).flatten(),
    };
    if !errors.is_empty() {
        return Err(together(errors));
    }
    // A pool that Terraform's module made has a template of another name.
    if let Some(used) = seen.group.as_ref().and_then(target::current_use)
        && !seen.templates.iter().any(|template| template.id == used.id)
    {
        seen.templates.extend(cloud.templates(&TemplateQuery::Id(used.id.clone())).await?);
    }
    seen.version_created = version_created(cloud, &seen).await?;
    Ok(seen)
}

/// The template that a group launches from.
fn of_group<'a>(group: Option<&Group>, templates: &'a [Template]) -> Option<&'a Template> {
    let used = target::current_use(group?)?;
    templates.iter().find(|template| template.id == used.id)
}

/// When the latest version of the group's template was made. Only where a roll has failed so often that an apply may
/// have given up does it matter, so that only then it is asked.
async fn version_created(cloud: &dyn Cloud, seen: &Seen) -> Result<Option<Timestamp>, CloudError> {
    let Some(template) = of_group(seen.group.as_ref(), &seen.templates) else { return Ok(None) };
    let failed = seen.refreshes.iter().take_while(|refresh| refresh.status == "Failed").count();
    if failed < roll::FAILURES_MAX || template.latest_version == 1 {
        return Ok(None);
    }
    match cloud.versions(&VersionQuery::CurrentById(template.id.clone())).await {
        Err(error) if error.kind == ErrorKind::AccessDenied => Ok(None),
        answer => Ok(answer?.iter().max_by_key(|version| version.number).map(|version| version.created)),
    }
}

fn keep<T>(result: Result<T, CloudError>, errors: &mut Vec<CloudError>) -> Option<T> {
    result.map_err(|error| errors.push(error)).ok()
}

/// Only the reasons of failed launches are missing without this permission.
fn allowed(answer: Result<Vec<Activity>, CloudError>) -> Result<Option<Vec<Activity>>, CloudError> {
    match answer {
        Err(error) if error.kind == ErrorKind::AccessDenied => Ok(None),
        answer => answer.map(Some),
    }
}
