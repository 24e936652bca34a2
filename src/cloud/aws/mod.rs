//! AWS itself, through its SDK. Every call passes `Aws::attempt`; every SDK value becomes one of ours in
//! `convert`; every SDK error becomes a [`CloudError`] in `errors`.

// The trait fixes the error's type, and a failed call costs more than the copy of a few words.
#![allow(clippy::result_large_err)]
// The SDK's full type paths would hide what is read from them.
#![allow(clippy::redundant_closure_for_method_calls)]

use std::{error::Error, future::Future, sync::OnceLock};

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_ec2::error::ProvideErrorMetadata;
use aws_smithy_runtime_api::client::{orchestrator::HttpResponse, result::SdkError};

use self::errors::{Asked, Failure};
use super::{Cloud, CloudError, ErrorKind, ImageQuery, TemplateQuery, VersionQuery};
use crate::model::{
    checkup::{Question, Reply},
    observed::{Activity, Group, Image, Instance, Object, Policy, Refresh, Template, TemplateVersion},
    resources::{Answer, Write},
};

mod autoscaling;
mod connect;
mod convert;
mod ec2;
mod errors;
mod http;
mod inspect;
mod profiles;
mod s3;
#[cfg(test)]
mod tests;
mod thin;
mod write;

pub use connect::Patience;

/// The clients of one account and region, each made when it is first used.
#[derive(Debug)]
pub struct Aws {
    config: SdkConfig,
    region: String,
    trouble: http::Trouble,
    autoscaling: OnceLock<aws_sdk_autoscaling::Client>,
    ec2: OnceLock<aws_sdk_ec2::Client>,
    iam: OnceLock<aws_sdk_iam::Client>,
    s3: OnceLock<aws_sdk_s3::Client>,
    servicequotas: OnceLock<aws_sdk_servicequotas::Client>,
    sts: OnceLock<aws_sdk_sts::Client>,
}

impl Aws {
    /// Sets up what is needed to call AWS; calls nothing yet. Credentials, profiles, endpoints and
    /// proxies are the SDK's default chain; without `region`, `AWS_REGION`, `AWS_DEFAULT_REGION` or
    /// the profile decides.
    ///
    /// # Errors
    /// [`ErrorKind::Settings`] if no region is known, or what is given is none, or how calls are repeated.
    pub async fn connect(region: Option<&str>, patience: Patience) -> Result<Self, CloudError> {
        let trouble = http::Trouble::default();
        let config = connect::sdk_config(region, patience, trouble.clone()).await?;
        Ok(Self { trouble, ..Self::from_config(config) })
    }

    fn from_config(config: SdkConfig) -> Self {
        let region = config.region().map(ToString::to_string).unwrap_or_default();
        Self {
            config,
            region,
            trouble: http::Trouble::default(),
            autoscaling: OnceLock::new(),
            ec2: OnceLock::new(),
            iam: OnceLock::new(),
            s3: OnceLock::new(),
            servicequotas: OnceLock::new(),
            sts: OnceLock::new(),
        }
    }

    fn autoscaling(&self) -> &aws_sdk_autoscaling::Client {
        self.autoscaling.get_or_init(|| {
            let config = aws_sdk_autoscaling::config::Builder::from(&self.config);
            aws_sdk_autoscaling::Client::from_conf(config.interceptor(thin::WholeAnswers).build())
        })
    }

    fn ec2(&self) -> &aws_sdk_ec2::Client {
        self.ec2.get_or_init(|| {
            let config = aws_sdk_ec2::config::Builder::from(&self.config);
            aws_sdk_ec2::Client::from_conf(config.interceptor(thin::WholeAnswers).build())
        })
    }

    fn iam(&self) -> &aws_sdk_iam::Client {
        self.iam.get_or_init(|| aws_sdk_iam::Client::new(&self.config))
    }

    fn servicequotas(&self) -> &aws_sdk_servicequotas::Client {
        self.servicequotas.get_or_init(|| aws_sdk_servicequotas::Client::new(&self.config))
    }

    fn sts(&self) -> &aws_sdk_sts::Client {
        self.sts.get_or_init(|| aws_sdk_sts::Client::new(&self.config))
    }

    fn s3(&self) -> &aws_sdk_s3::Client {
        self.s3.get_or_init(|| {
            // Over https the SDK itself uses the path for bucket names with dots in them.
            let path_style = connect::s3_endpoint_is_own(&self.config);
            let config = aws_sdk_s3::config::Builder::from(&self.config).force_path_style(path_style).build();
            aws_sdk_s3::Client::from_conf(config)
        })
    }

    fn asked(&self, operation: &'static str, resource: impl Into<String>) -> Asked<'_> {
        Asked { operation, resource: resource.into(), region: &self.region }
    }

    /// One operation, with all its pages and retries.
    async fn call<T, E, F>(&self, asked: &Asked<'_>, send: impl FnOnce() -> F) -> Result<T, CloudError>
    where
        F: Future<Output = Result<T, SdkError<E, HttpResponse>>>,
        E: ProvideErrorMetadata + Error + 'static,
    {
        self.attempt(asked, send).await.map_err(|failure| failure.error)
    }

    /// The gate that every call goes through: whoever watches calls stands here.
    async fn attempt<T, E, F>(&self, asked: &Asked<'_>, send: impl FnOnce() -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, SdkError<E, HttpResponse>>>,
        E: ProvideErrorMetadata + Error + 'static,
    {
        // Boxed, because the SDK's futures are large and would be copied from caller to caller.
        match Box::pin(send()).await {
            Ok(answer) => Ok(answer),
            Err(error) => Err(profiles::explained(asked.failure(&error)).await),
        }
    }
}

/// "Not there" as an answer: nothing, rather than an error.
fn empty_if_missing<T: Default>(result: Result<T, CloudError>) -> Result<T, CloudError> {
    match result {
        Err(error) if error.kind == ErrorKind::NotFound => Ok(T::default()),
        other => other,
    }
}

#[async_trait(?Send)]
impl Cloud for Aws {
    fn region(&self) -> &str {
        &self.region
    }

    fn trouble(&self) -> Option<String> {
        self.trouble.latest()
    }

    async fn group(&self, name: &str) -> Result<Option<Group>, CloudError> {
        self.describe_group(name).await
    }

    async fn instances(&self, group: &str) -> Result<Vec<Instance>, CloudError> {
        self.describe_instances(group).await
    }

    async fn policies(&self, group: &str) -> Result<Vec<Policy>, CloudError> {
        empty_if_missing(self.describe_policies(group).await)
    }

    async fn refreshes(&self, group: &str) -> Result<Vec<Refresh>, CloudError> {
        empty_if_missing(self.describe_refreshes(group).await)
    }

    async fn activities(&self, group: &str) -> Result<Vec<Activity>, CloudError> {
        empty_if_missing(self.describe_activities(group).await)
    }

    async fn scheduled_actions(&self, group: &str) -> Result<Vec<String>, CloudError> {
        empty_if_missing(self.describe_scheduled_actions(group).await)
    }

    async fn templates(&self, query: &TemplateQuery) -> Result<Vec<Template>, CloudError> {
        empty_if_missing(self.describe_templates(query).await)
    }

    async fn versions(&self, query: &VersionQuery) -> Result<Vec<TemplateVersion>, CloudError> {
        empty_if_missing(self.describe_versions(query).await)
    }

    async fn images(&self, query: &ImageQuery) -> Result<Vec<Image>, CloudError> {
        self.describe_images(query).await
    }

    async fn object(&self, bucket: &str, key: &str) -> Result<Object, CloudError> {
        self.read_object(bucket, key).await
    }

    async fn answer(&self, question: &Question) -> Result<Reply, CloudError> {
        self.inspect(question).await
    }

    async fn perform(&self, write: &Write) -> Result<Answer, CloudError> {
        self.write(write).await
    }
}
