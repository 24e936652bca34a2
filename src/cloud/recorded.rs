//! A wrapper around any [`Cloud`] that counts calls, keeps writes, and can make calls fail or go unanswered.

use std::{cell::RefCell, collections::BTreeMap};

use async_trait::async_trait;

use super::{Cloud, CloudError, ErrorKind, ImageQuery, TemplateQuery, VersionQuery, operations};
use crate::model::{
    checkup::{Question, Reply},
    observed::{Activity, Group, Image, Instance, Object, Policy, Refresh, Template, TemplateVersion},
    resources::{Answer, Write},
};

/// When a hook is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Before the call: an error means that it never took effect.
    Before,
    /// After the call, whatever it answered: an error means that its answer was lost.
    After,
}

/// One call, as a hook sees it.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Counts calls from 0.
    pub index: usize,
    /// Service and operation in IAM's spelling; of `object`, the `s3:HeadObject`.
    pub operation: &'static str,
    /// The write, if it is one.
    pub write: Option<&'a Write>,
}

impl Call<'_> {
    /// An error of this call, for a hook to answer.
    pub fn error(&self, region: &str, code: &str, message: &str) -> CloudError {
        CloudError {
            operation: self.operation,
            resource: self.write.map(operations::resource_of_write).unwrap_or_default(),
            region: region.to_owned(),
            kind: ErrorKind::classify(code, message),
            code: code.to_owned(),
            message: message.to_owned(),
            request_id: None,
        }
    }
}

type Silence = Box<dyn Fn(&str) -> bool>;
type Hook = Box<dyn Fn(Moment, &Call<'_>) -> Option<CloudError>>;

/// Counts the calls of the cloud that it wraps and keeps its writes.
pub struct Recorded<C> {
    inner: C,
    hook: Option<Hook>,
    silent: Option<Silence>,
    log: RefCell<Log>,
}

#[derive(Default)]
struct Log {
    operations: Vec<&'static str>,
    writes: Vec<Write>,
}

impl<C: Cloud> Recorded<C> {
    /// Wraps a cloud.
    pub fn new(inner: C) -> Self {
        Self { inner, hook: None, silent: None, log: RefCell::default() }
    }

    /// Asks `hook` before and after each call; an error that it answers is the call's.
    #[must_use]
    pub fn with_hook(mut self, hook: impl Fn(Moment, &Call<'_>) -> Option<CloudError> + 'static) -> Self {
        self.hook = Some(Box::new(hook));
        self
    }

    /// Never answers calls of the operations that `silent` takes.
    #[must_use]
    pub fn with_silence(mut self, silent: impl Fn(&str) -> bool + 'static) -> Self {
        self.silent = Some(Box::new(silent));
        self
    }

    /// What is wrapped.
    pub fn inner(&self) -> &C {
        &self.inner
    }

    /// Operations called so far, in order, failed ones included. `object` is two operations.
    pub fn operations(&self) -> Vec<&'static str> {
        self.log.borrow().operations.clone()
    }

    /// How often each operation was called.
    pub fn counts(&self) -> BTreeMap<&'static str, usize> {
        self.log.borrow().operations.iter().fold(BTreeMap::new(), |mut counts, operation| {
            *counts.entry(*operation).or_default() += 1;
            counts
        })
    }

    /// Writes called so far, in order, failed ones included.
    pub fn writes(&self) -> Vec<Write> {
        self.log.borrow().writes.clone()
    }

    /// Forgets what was recorded.
    pub fn clear(&self) {
        *self.log.borrow_mut() = Log::default();
    }

    async fn call<T>(
        &self,
        operation: &'static str,
        write: Option<&Write>,
        answer: impl Future<Output = Result<T, CloudError>>,
    ) -> Result<T, CloudError> {
        let index = {
            let mut log = self.log.borrow_mut();
            log.operations.push(operation);
            log.writes.extend(write.cloned());
            log.operations.len() - 1
        };
        let call = Call { index, operation, write };
        let ask = |moment| self.hook.as_ref().and_then(|hook| hook(moment, &call));
        if let Some(error) = ask(Moment::Before) {
            return Err(error);
        }
        if self.silent.as_ref().is_some_and(|silent| silent(operation)) {
            return std::future::pending().await;
        }
        let answer = answer.await;
        ask(Moment::After).map_or(answer, Err)
    }
}

#[async_trait(?Send)]
impl<C: Cloud> Cloud for Recorded<C> {
    fn region(&self) -> &str {
        self.inner.region()
    }

    async fn group(&self, name: &str) -> Result<Option<Group>, CloudError> {
        self.call(operations::DESCRIBE_GROUPS, None, self.inner.group(name)).await
    }

    async fn instances(&self, group: &str) -> Result<Vec<Instance>, CloudError> {
        self.call(operations::DESCRIBE_INSTANCES, None, self.inner.instances(group)).await
    }

    async fn policies(&self, group: &str) -> Result<Vec<Policy>, CloudError> {
        self.call(operations::DESCRIBE_POLICIES, None, self.inner.policies(group)).await
    }

    async fn refreshes(&self, group: &str) -> Result<Vec<Refresh>, CloudError> {
        self.call(operations::DESCRIBE_REFRESHES, None, self.inner.refreshes(group)).await
    }

    async fn activities(&self, group: &str) -> Result<Vec<Activity>, CloudError> {
        self.call(operations::DESCRIBE_ACTIVITIES, None, self.inner.activities(group)).await
    }

    async fn scheduled_actions(&self, group: &str) -> Result<Vec<String>, CloudError> {
        let answer = self.inner.scheduled_actions(group);
        self.call(operations::DESCRIBE_SCHEDULED_ACTIONS, None, answer).await
    }

    async fn templates(&self, query: &TemplateQuery) -> Result<Vec<Template>, CloudError> {
        self.call(operations::DESCRIBE_TEMPLATES, None, self.inner.templates(query)).await
    }

    async fn versions(&self, query: &VersionQuery) -> Result<Vec<TemplateVersion>, CloudError> {
        self.call(operations::DESCRIBE_TEMPLATE_VERSIONS, None, self.inner.versions(query)).await
    }

    async fn images(&self, query: &ImageQuery) -> Result<Vec<Image>, CloudError> {
        self.call(operations::DESCRIBE_IMAGES, None, self.inner.images(query)).await
    }

    async fn object(&self, bucket: &str, key: &str) -> Result<Object, CloudError> {
        let answer = self.call(operations::HEAD_OBJECT, None, self.inner.object(bucket, key)).await;
        self.log.borrow_mut().operations.push(operations::GET_OBJECT_TAGGING);
        answer
    }

    async fn answer(&self, question: &Question) -> Result<Reply, CloudError> {
        self.call(operations::of_question(question), None, self.inner.answer(question)).await
    }

    async fn perform(&self, write: &Write) -> Result<Answer, CloudError> {
        self.call(operations::of_write(write), Some(write), self.inner.perform(write)).await
    }
}
