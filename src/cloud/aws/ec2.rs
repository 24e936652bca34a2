//! Reads of EC2.

use std::collections::BTreeMap;

use aws_sdk_ec2::types::Filter;

use super::{Aws, convert};
use crate::{
    cloud::{CloudError, ErrorKind, ImageQuery, TemplateQuery, VersionQuery},
    model::observed::{Image, Instance, Template, TemplateVersion},
};

/// The largest page of instances and of images.
const LARGE_PAGE: i32 = 1000;

/// The largest page of launch templates and of their versions.
const TEMPLATE_PAGE: i32 = 200;

/// How a launch template is named in errors.
pub(super) fn template_text(id_or_name: &str) -> String {
    format!("launch template {id_or_name}")
}

impl Aws {
    pub(super) async fn describe_instances(&self, group: &str) -> Result<Vec<Instance>, CloudError> {
        let asked = self.asked("ec2:DescribeInstances", format!("the members of {group}"));
        let request =
            self.ec2().describe_instances().filters(exactly("tag:aws:autoscaling:groupName", group));
        let mut pages = request.into_paginator().page_size(LARGE_PAGE).send();
        let mut instances = BTreeMap::new();
        // Page by page: what EC2 says of an instance is many times what is kept of it.
        while let Some(page) = self.call(&asked, || pages.try_next()).await? {
            let found = page.reservations().iter().flat_map(|reservation| reservation.instances());
            instances.extend(found.filter_map(convert::instance).map(|found| (found.id.clone(), found)));
        }
        Ok(instances.into_values().collect())
    }

    pub(super) async fn describe_templates(
        &self,
        query: &TemplateQuery,
    ) -> Result<Vec<Template>, CloudError> {
        let request = self.ec2().describe_launch_templates();
        let (resource, request) = match query {
            TemplateQuery::NamePrefix(prefix) => (
                format!("launch templates {prefix}*"),
                request.filters(matching("launch-template-name", format!("{}*", literal(prefix)))),
            ),
            TemplateQuery::Id(id) => (template_text(id), request.launch_template_ids(id)),
            TemplateQuery::Tagged(tags) => (
                "the launch templates of the pool's tags".to_owned(),
                tags.iter().fold(request, |request, (key, value)| {
                    request.filters(exactly(&format!("tag:{key}"), value))
                }),
            ),
        };
        // A page size and ids exclude each other.
        let page = (!matches!(query, TemplateQuery::Id(_))).then_some(TEMPLATE_PAGE);
        let asked = self.asked("ec2:DescribeLaunchTemplates", resource);
        let pages = request.set_max_results(page).into_paginator().items().send();
        let mut templates: Vec<Template> =
            self.call(&asked, || pages.try_collect()).await?.iter().map(convert::template).collect();
        templates.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
        templates.dedup_by(|a, b| a.id == b.id);
        Ok(templates)
    }

    pub(super) async fn describe_versions(
        &self,
        query: &VersionQuery,
    ) -> Result<Vec<TemplateVersion>, CloudError> {
        const LATEST: &str = "$Latest";
        const DEFAULT: &str = "$Default";
        let request = self.ec2().describe_launch_template_versions();
        let (name, request) = match query {
            VersionQuery::CurrentByName(name) => {
                (name, request.launch_template_name(name).versions(LATEST).versions(DEFAULT))
            }
            VersionQuery::CurrentById(id) => {
                (id, request.launch_template_id(id).versions(LATEST).versions(DEFAULT))
            }
            VersionQuery::All(id) => (id, request.launch_template_id(id).max_results(TEMPLATE_PAGE)),
        };
        let asked = self.asked("ec2:DescribeLaunchTemplateVersions", template_text(name));
        let pages = request.into_paginator().items().send();
        let versions: BTreeMap<u64, TemplateVersion> = self
            .call(&asked, || pages.try_collect())
            .await?
            .iter()
            .map(convert::version)
            .map(|version| (version.number, version))
            .collect();
        Ok(versions.into_values().collect())
    }

    pub(super) async fn describe_images(&self, query: &ImageQuery) -> Result<Vec<Image>, CloudError> {
        let request = self.ec2().describe_images().include_deprecated(true);
        let (resource, request) = match query {
            ImageQuery::Id(id) => (format!("image {id}"), request.image_ids(id)),
            ImageQuery::Name { owner, name, architecture } => (
                format!("images of {owner} named {name}"),
                request
                    .owners(owner)
                    .filters(matching("name", name.as_str()))
                    .filters(matching("architecture", architecture.as_str()))
                    .filters(matching("state", "available"))
                    .max_results(LARGE_PAGE),
            ),
        };
        let asked = self.asked("ec2:DescribeImages", resource);
        let pages = request.into_paginator().items().send();
        let images: Vec<Image> =
            self.call(&asked, || pages.try_collect()).await?.iter().map(convert::image).collect();
        match query {
            ImageQuery::Id(id) if images.is_empty() => {
                Err(asked.failed(ErrorKind::NotFound, format!("there is no image {id}, or none to see")))
            }
            _ => Ok(images),
        }
    }
}

/// A filter that the value passes as it is.
fn exactly(name: &str, value: &str) -> Filter {
    matching(name, literal(value))
}

/// A filter in which `*` and `?` are wildcards and `\` takes that meaning off.
fn matching(name: &str, pattern: impl Into<String>) -> Filter {
    Filter::builder().name(name).values(pattern).build()
}

pub(super) fn literal(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '*' | '?' | '\\') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}
