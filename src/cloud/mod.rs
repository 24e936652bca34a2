//! Everything of AWS that this program uses, behind one trait. One method is one API operation (with
//! all its pages); every write is a [`Write`] value that holds each field AWS receives.

use async_trait::async_trait;

use crate::model::{
    checkup::{Question, Reply},
    observed::{Activity, Group, Image, Instance, Object, Policy, Refresh, Template, TemplateVersion},
    resources::{Answer, Write},
};

#[cfg(feature = "aws")]
pub mod aws;
pub mod error;
pub mod operations;
pub mod recorded;
pub mod sandbox;
pub mod watched;

pub use crate::model::image::ImageQuery;
pub use error::{CloudError, ErrorKind};

/// Which launch templates to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateQuery {
    /// Names that begin so.
    NamePrefix(String),
    /// One id; an unknown id is an empty answer.
    Id(String),
    /// All of these tags.
    Tagged(Vec<(String, String)>),
}

/// Which versions of one launch template to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VersionQuery {
    /// The latest and the default one, by template name.
    CurrentByName(String),
    /// The latest and the default one, by template id.
    CurrentById(String),
    /// All, by template id.
    All(String),
}

/// AWS as far as a pool needs it. "Not found" is an answer (`None`, empty), never an error, except
/// where a write names something that is not there.
#[async_trait(?Send)]
pub trait Cloud {
    /// The region that calls go to.
    fn region(&self) -> &str;

    /// Why the latest attempt at a call had no answer, if that is known: it is going to be tried again.
    fn trouble(&self) -> Option<String> {
        None
    }

    /// `autoscaling:DescribeAutoScalingGroups` for one name; a group being deleted is still one.
    async fn group(&self, name: &str) -> Result<Option<Group>, CloudError>;

    /// `ec2:DescribeInstances`, filter `tag:aws:autoscaling:groupName`, all pages, all states.
    async fn instances(&self, group: &str) -> Result<Vec<Instance>, CloudError>;

    /// `autoscaling:DescribePolicies` of a group; none for a group that is not there.
    async fn policies(&self, group: &str) -> Result<Vec<Policy>, CloudError>;

    /// `autoscaling:DescribeInstanceRefreshes`, newest first; none for a group that is not there.
    async fn refreshes(&self, group: &str) -> Result<Vec<Refresh>, CloudError>;

    /// `autoscaling:DescribeScalingActivities`, the newest 20, newest first.
    async fn activities(&self, group: &str) -> Result<Vec<Activity>, CloudError>;

    /// `autoscaling:DescribeScheduledActions`: names.
    async fn scheduled_actions(&self, group: &str) -> Result<Vec<String>, CloudError>;

    /// `ec2:DescribeLaunchTemplates`, all pages, sorted by name.
    async fn templates(&self, query: &TemplateQuery) -> Result<Vec<Template>, CloudError>;

    /// `ec2:DescribeLaunchTemplateVersions`, all pages, oldest first, without duplicates; none for a
    /// template that is not there.
    async fn versions(&self, query: &VersionQuery) -> Result<Vec<TemplateVersion>, CloudError>;

    /// `ec2:DescribeImages`, all pages. An unknown id is an [`ErrorKind::NotFound`] error.
    async fn images(&self, query: &ImageQuery) -> Result<Vec<Image>, CloudError>;

    /// `s3:HeadObject` (checksum mode on) and `s3:GetObjectTagging`, in flight together. A bucket
    /// that is not there, or lies elsewhere, is an error.
    async fn object(&self, bucket: &str, key: &str) -> Result<Object, CloudError>;

    /// What only a check-up asks. Nothing changes by it.
    async fn answer(&self, question: &Question) -> Result<Reply, CloudError>;

    /// Writes.
    async fn perform(&self, write: &Write) -> Result<Answer, CloudError>;
}
