//! Launch templates and their versions.

use std::collections::BTreeSet;

use super::{
    echo,
    fault::Fault,
    tags,
    world::{StoredTemplate, StoredVersion, World},
};
use crate::{
    clock::Timestamp,
    cloud::{TemplateQuery, VersionQuery},
    contract::request::Tags,
    model::{
        observed::{Template, TemplateVersion},
        resources::TemplateData,
        userdata,
    },
};

/// Versions that one call may delete.
const DELETE_LIMIT: usize = 200;
/// Versions that one template may have.
const VERSION_LIMIT: usize = 10_000;

fn check_data(data: &TemplateData) -> Result<(), Fault> {
    if data.user_data.as_ref().is_some_and(|text| text.len() > userdata::LIMIT) {
        let message = format!("User data is limited to {} bytes", userdata::LIMIT);
        return Err(Fault::new("InvalidUserData.Malformed", message));
    }
    data.tags.values().try_for_each(|tags| tags::check_ec2(tags, tags.len()))
}

fn check_name(name: &str) -> Result<(), Fault> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "().-/_".contains(c);
    if (3..=128).contains(&name.len()) && name.chars().all(allowed) {
        return Ok(());
    }
    Err(Fault::new(
        "InvalidLaunchTemplateName.MalformedException",
        format!("The launch template name {name} is malformed: 3 to 128 letters, digits and ( ) . - / _"),
    ))
}

fn described(id: &str, template: &StoredTemplate) -> Template {
    Template {
        id: id.to_owned(),
        name: template.name.clone(),
        created: template.created,
        default_version: template.default_version,
        latest_version: template.latest_version(),
        tags: template.tags.clone(),
    }
}

fn described_version(id: &str, template: &StoredTemplate, number: u64) -> Option<TemplateVersion> {
    let version = template.versions.get(&number)?;
    Some(TemplateVersion {
        template_id: id.to_owned(),
        template_name: template.name.clone(),
        number,
        created: version.created,
        is_default: number == template.default_version,
        description: version.description.clone(),
        data: version.data.clone(),
    })
}

impl World {
    pub(super) fn describe_templates(&mut self, query: &TemplateQuery) -> Vec<Template> {
        let wanted = |template: &Template| match query {
            TemplateQuery::NamePrefix(prefix) => template.name.starts_with(prefix),
            TemplateQuery::Id(id) => template.id == *id,
            TemplateQuery::Tagged(tags) => {
                tags.iter().all(|(key, value)| template.tags.get(key) == Some(value))
            }
        };
        let shown = echo::show_all(&self.templates, &mut self.echoes.templates);
        let mut found: Vec<Template> =
            shown.iter().map(|(id, template)| described(id, template)).filter(wanted).collect();
        found.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| a.id.cmp(&b.id)));
        found
    }

    pub(super) fn describe_versions(&mut self, query: &VersionQuery) -> Vec<TemplateVersion> {
        let shown = echo::show_all(&self.templates, &mut self.echoes.versions);
        let found = shown.iter().find(|(id, template)| match query {
            VersionQuery::CurrentByName(name) => template.name == *name,
            VersionQuery::CurrentById(wanted) | VersionQuery::All(wanted) => *id == wanted,
        });
        let Some((id, template)) = found else { return Vec::new() };
        let numbers: BTreeSet<u64> = match query {
            VersionQuery::All(_) => template.versions.keys().copied().collect(),
            _ => [template.default_version, template.latest_version()].into(),
        };
        numbers.iter().filter_map(|number| described_version(id, template, *number)).collect()
    }

    pub(super) fn create_template(
        &mut self,
        name: &str,
        description: &str,
        data: &TemplateData,
        tags: &Tags,
        now: Timestamp,
    ) -> Result<String, Fault> {
        check_name(name)?;
        if self.template_named(name).is_some() {
            return Err(Fault::new(
                "InvalidLaunchTemplateName.AlreadyExistsException",
                "Launch template name already in use.",
            ));
        }
        check_data(data)?;
        tags::check_ec2(tags, tags.len())?;
        let id = self.next_id("lt-");
        self.remember_template(&id);
        let version =
            StoredVersion { created: now, description: description_of(description)?, data: data.clone() };
        let template = StoredTemplate {
            name: name.to_owned(),
            created: now,
            default_version: 1,
            last_version: 1,
            tags: tags.clone(),
            versions: [(1, version)].into(),
        };
        self.templates.insert(id.clone(), template);
        Ok(id)
    }

    pub(super) fn create_version(
        &mut self,
        id: &str,
        description: &str,
        data: &TemplateData,
        now: Timestamp,
    ) -> Result<u64, Fault> {
        let stored = self.templates.get(id).ok_or_else(|| Fault::no_such_template_id(id))?;
        check_data(data)?;
        if stored.versions.len() >= VERSION_LIMIT {
            return Err(Fault::new(
                "VersionLimitExceeded",
                format!("The limit of {VERSION_LIMIT} launch template versions has been reached."),
            ));
        }
        let description = description_of(description)?;
        let template = self.changing_template(id)?;
        template.last_version += 1;
        let version = StoredVersion { created: now, description, data: data.clone() };
        template.versions.insert(template.last_version, version);
        Ok(template.last_version)
    }

    pub(super) fn set_default_version(&mut self, id: &str, version: Option<u64>) -> Result<(), Fault> {
        let template = self.templates.get(id).ok_or_else(|| Fault::no_such_template_id(id))?;
        let Some(number) = version else {
            let message = "The request must contain the parameter SetDefaultVersion";
            return Err(Fault::new("MissingParameter", message));
        };
        if !template.versions.contains_key(&number) {
            return Err(Fault::new(
                "InvalidLaunchTemplateId.VersionNotFound",
                format!(
                    "Could not find the specified version {number} for the launch template with ID {id}."
                ),
            ));
        }
        self.changing_template(id)?.default_version = number;
        Ok(())
    }

    /// Deletes what may be deleted; the first version that may not is the error, as the API
    /// reports success and failure side by side.
    pub(super) fn delete_versions(&mut self, id: &str, numbers: &[u64]) -> Result<(), Fault> {
        if numbers.is_empty() || numbers.len() > DELETE_LIMIT {
            let message = format!("Between 1 and {DELETE_LIMIT} versions can be deleted in a request.");
            return Err(Fault::new("InvalidParameterValue", message));
        }
        let template = self.changing_template(id)?;
        let mut refused = Ok(());
        for number in numbers {
            let fault = if *number == template.default_version {
                Some(Fault::new("OperationNotPermitted", "The default version cannot be deleted."))
            } else if template.versions.remove(number).is_none() {
                let message = format!("Version {number} of launch template {id} does not exist.");
                Some(Fault::new("launchTemplateVersionDoesNotExist", message))
            } else {
                None
            };
            refused = refused.and(fault.map_or(Ok(()), Err));
        }
        refused
    }

    /// EC2 deletes a template whether or not a group uses it; the group's launches fail from then on.
    pub(super) fn delete_template(&mut self, id: &str) -> Result<(), Fault> {
        self.changing_template(id)?;
        self.templates.remove(id);
        Ok(())
    }

    pub(super) fn tag_template(&mut self, id: &str, tags: &Tags) -> Result<(), Fault> {
        let stored = self.templates.get(id).ok_or_else(|| Fault::no_such_template_id(id))?;
        let added = tags.keys().filter(|key| !stored.tags.contains_key(*key)).count();
        tags::check_ec2(tags, stored.tags.len() + added)?;
        self.changing_template(id)?.tags.extend(tags.clone());
        Ok(())
    }

    pub(super) fn untag_template(&mut self, id: &str, keys: &BTreeSet<String>) -> Result<(), Fault> {
        self.changing_template(id)?.tags.retain(|key, _| !keys.contains(key));
        Ok(())
    }

    /// A template that is about to change; lagging reads remember how it was.
    fn changing_template(&mut self, id: &str) -> Result<&mut StoredTemplate, Fault> {
        if !self.templates.contains_key(id) {
            return Err(Fault::no_such_template_id(id));
        }
        self.remember_template(id);
        self.templates.get_mut(id).ok_or_else(|| Fault::no_such_template_id(id))
    }
}

fn description_of(text: &str) -> Result<Option<String>, Fault> {
    if text.chars().count() > 255 {
        let message = "The version description exceeds the maximum length of 255 characters.";
        return Err(Fault::new("InvalidParameterValue", message));
    }
    Ok(Some(text.to_owned()).filter(|text| !text.is_empty()))
}
