//! Reads what a status shows: five calls in one round trip and one behind it, or those of a plan and one more.

use futures_util::join;

use super::{
    Planned,
    explain::{diagnostic, together},
    plan_with,
};
use crate::{
    cloud::{Cloud, CloudError, ErrorKind, TemplateQuery, VersionQuery},
    contract::request::{Request, Scope},
    error::Failure,
    model::{
        names::Names,
        observed::{Group, Known, Template, TemplateVersion},
        status::{Seen, Untold},
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
    look_again(cloud, scope, request, &[]).await
}

/// As [`look`], where versions of launch templates are known from an earlier one: they never change.
pub async fn look_again(
    cloud: &dyn Cloud,
    scope: &Scope,
    request: Option<&Request>,
    versions: &[TemplateVersion],
) -> Result<Looked, Failure> {
    let Some(request) = request else {
        return Ok(Looked { seen: pool(cloud, scope, versions).await?, planned: None });
    };
    let group = Names::of(scope).group;
    let known = Known::default();
    let (planned, activities) = join!(plan_with(cloud, request, &known), cloud.activities(&group));
    let seen = match &planned {
        Ok(planned) => {
            let observed = &planned.observed;
            let mut untold = Untold::default();
            let mut seen = Seen {
                group: observed.group.clone(),
                instances: observed.instances.clone(),
                refreshes: observed.refreshes.clone(),
                templates: observed.templates.clone(),
                versions: Vec::new(),
                activities: if_told(activities, &mut untold.activities)?,
                untold,
            };
            // A plan reads what it may change: not the version that somebody has pinned the group to.
            let known: Vec<TemplateVersion> = observed.versions.iter().chain(versions).cloned().collect();
            read_versions(cloud, &mut seen, &known).await?;
            seen
        }
        Err(_) => pool(cloud, scope, versions).await?,
    };
    Ok(Looked { seen, planned: Some(planned) })
}

/// The pool itself.
pub(super) async fn pool(
    cloud: &dyn Cloud,
    scope: &Scope,
    versions: &[TemplateVersion],
) -> Result<Seen, Failure> {
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
    let mut untold = Untold::default();
    let mut seen = Seen {
        group: keep(group, &mut errors).flatten(),
        instances: keep(instances, &mut errors).unwrap_or_default(),
        refreshes: keep(refreshes, &mut errors).unwrap_or_default(),
        templates: keep(templates, &mut errors).unwrap_or_default(),
        versions: Vec::new(),
        activities: keep(if_told(activities, &mut untold.activities), &mut errors).flatten(),
        untold,
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
    read_versions(cloud, &mut seen, versions).await?;
    Ok(seen)
}

/// The template that a group launches from.
fn of_group<'a>(group: Option<&Group>, templates: &'a [Template]) -> Option<&'a Template> {
    let used = target::current_use(group?)?;
    templates.iter().find(|template| template.id == used.id)
}

/// The version of the group's template that the group launches, and the latest: what new members register, and how
/// often a roll may have failed for it. Without an answer neither is known.
async fn read_versions(
    cloud: &dyn Cloud,
    seen: &mut Seen,
    known: &[TemplateVersion],
) -> Result<(), CloudError> {
    known.clone_into(&mut seen.versions);
    let Some(template) = of_group(seen.group.as_ref(), &seen.templates) else { return Ok(()) };
    let in_use = seen.version_in_use().unwrap_or(template.latest_version);
    let is_known = |number: u64| known.iter().any(|v| v.template_id == template.id && v.number == number);
    if is_known(in_use) && is_known(template.latest_version) {
        return Ok(());
    }
    let query = if [template.latest_version, template.default_version].contains(&in_use) {
        VersionQuery::CurrentById(template.id.clone())
    } else {
        VersionQuery::All(template.id.clone())
    };
    let read = if_told(cloud.versions(&query).await, &mut seen.untold.versions)?;
    if let Some(read) = read {
        seen.versions = read;
    }
    Ok(())
}

fn keep<T>(result: Result<T, CloudError>, errors: &mut Vec<CloudError>) -> Option<T> {
    result.map_err(|error| errors.push(error)).ok()
}

/// What a status can do without: where AWS does not tell it, why it does not is noted. An interrupted run gets no
/// status, and what makes every call fail is an error.
fn if_told<T>(answer: Result<T, CloudError>, why: &mut Option<String>) -> Result<Option<T>, CloudError> {
    match answer {
        Ok(told) => Ok(Some(told)),
        Err(error) if is_of_all_calls(error.kind) => Err(error),
        Err(error) => {
            *why = Some(diagnostic(&error).detail);
            Ok(None)
        }
    }
}

fn is_of_all_calls(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Interrupted | ErrorKind::Credentials | ErrorKind::Settings)
}
