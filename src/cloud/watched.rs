//! A wrapper around any [`Cloud`] that tells of calls that take long, and of every call for those who
//! trace. What was sent or answered is never part of it.
//!
//! All that AWS says in words comes through here, and loses the credentials in it: AWS repeats what it was sent, and
//! somebody may have set a token in the place of a name.

use std::{cell::Cell, future::Future, time::Duration};

use async_trait::async_trait;

use super::{Cloud, CloudError, ImageQuery, TemplateQuery, VersionQuery, operations};
use crate::{
    contract::mask::mask,
    model::{
        checkup::{Question, Reply},
        observed::{Activity, Group, Image, Instance, Object, Policy, Refresh, Template, TemplateVersion},
        resources::{Answer, Write},
    },
};

/// After so long without an answer somebody is told: the SDK is repeating the call, or AWS is slow.
const SLOW: Duration = Duration::from_secs(5);

/// News of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News<'a> {
    /// It has had no answer for a while, and goes on.
    Slow {
        /// Service and operation in IAM's spelling.
        operation: &'static str,
        /// How long.
        waited: Duration,
        /// Why the latest attempt failed, if one did.
        cause: Option<&'a str>,
    },
    /// It is over, with all its retries.
    Over {
        /// Service and operation in IAM's spelling.
        operation: &'static str,
        /// How long it took.
        took: Duration,
        /// Why it failed, if it did.
        error: Option<&'a CloudError>,
    },
}

/// Tells of calls.
pub struct Watched<'a> {
    inner: Box<dyn Cloud>,
    tell: Box<dyn Fn(News<'_>) + 'a>,
    slow: Duration,
    /// Whether it has been told that calls take long: calls that go on together have one cause, as a rule.
    told: Cell<bool>,
}

impl<'a> Watched<'a> {
    /// Wraps a cloud; `tell` must not block.
    pub fn new(inner: Box<dyn Cloud>, tell: impl Fn(News<'_>) + 'a) -> Self {
        Self { inner, tell: Box::new(tell), slow: SLOW, told: Cell::new(false) }
    }

    async fn watch<T>(
        &self,
        operation: &'static str,
        call: impl Future<Output = Result<T, CloudError>>,
    ) -> Result<T, CloudError> {
        let begin = tokio::time::Instant::now();
        tokio::pin!(call);
        let answer = tokio::select! {
            answer = &mut call => answer,
            () = tokio::time::sleep(self.slow) => {
                self.tell_slow(operation, begin.elapsed());
                call.await
            }
        };
        if answer.is_ok() {
            self.told.set(false);
        }
        let answer = answer.map_err(without_credentials);
        (self.tell)(News::Over { operation, took: begin.elapsed(), error: answer.as_ref().err() });
        answer
    }
}

impl Watched<'_> {
    /// Once, until something is answered again.
    fn tell_slow(&self, operation: &'static str, waited: Duration) {
        if self.told.replace(true) {
            return;
        }
        let mut cause = self.inner.trouble();
        cause.iter_mut().for_each(mask);
        (self.tell)(News::Slow { operation, waited, cause: cause.as_deref() });
    }
}

/// An error whose words can be shown.
fn without_credentials(mut error: CloudError) -> CloudError {
    mask(&mut error.resource);
    mask(&mut error.message);
    error
}

#[async_trait(?Send)]
impl Cloud for Watched<'_> {
    fn region(&self) -> &str {
        self.inner.region()
    }

    async fn group(&self, name: &str) -> Result<Option<Group>, CloudError> {
        self.watch(operations::DESCRIBE_GROUPS, self.inner.group(name)).await
    }

    async fn instances(&self, group: &str) -> Result<Vec<Instance>, CloudError> {
        self.watch(operations::DESCRIBE_INSTANCES, self.inner.instances(group)).await
    }

    async fn policies(&self, group: &str) -> Result<Vec<Policy>, CloudError> {
        self.watch(operations::DESCRIBE_POLICIES, self.inner.policies(group)).await
    }

    async fn refreshes(&self, group: &str) -> Result<Vec<Refresh>, CloudError> {
        let mut refreshes = self.watch(operations::DESCRIBE_REFRESHES, self.inner.refreshes(group)).await?;
        refreshes.iter_mut().filter_map(|refresh| refresh.reason.as_mut()).for_each(mask);
        Ok(refreshes)
    }

    async fn activities(&self, group: &str) -> Result<Vec<Activity>, CloudError> {
        let mut activities =
            self.watch(operations::DESCRIBE_ACTIVITIES, self.inner.activities(group)).await?;
        for activity in &mut activities {
            mask(&mut activity.description);
            activity.message.iter_mut().for_each(mask);
        }
        Ok(activities)
    }

    async fn scheduled_actions(&self, group: &str) -> Result<Vec<String>, CloudError> {
        self.watch(operations::DESCRIBE_SCHEDULED_ACTIONS, self.inner.scheduled_actions(group)).await
    }

    async fn templates(&self, query: &TemplateQuery) -> Result<Vec<Template>, CloudError> {
        self.watch(operations::DESCRIBE_TEMPLATES, self.inner.templates(query)).await
    }

    async fn versions(&self, query: &VersionQuery) -> Result<Vec<TemplateVersion>, CloudError> {
        self.watch(operations::DESCRIBE_TEMPLATE_VERSIONS, self.inner.versions(query)).await
    }

    async fn images(&self, query: &ImageQuery) -> Result<Vec<Image>, CloudError> {
        self.watch(operations::DESCRIBE_IMAGES, self.inner.images(query)).await
    }

    async fn object(&self, bucket: &str, key: &str) -> Result<Object, CloudError> {
        self.watch(operations::HEAD_OBJECT, self.inner.object(bucket, key)).await
    }

    async fn answer(&self, question: &Question) -> Result<Reply, CloudError> {
        self.watch(operations::of_question(question), self.inner.answer(question)).await
    }

    async fn perform(&self, write: &Write) -> Result<Answer, CloudError> {
        self.watch(operations::of_write(write), self.inner.perform(write)).await
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, rc::Rc};

    use super::*;
    use crate::cloud::{
        recorded::{Moment, Recorded},
        sandbox::{ManualClock, Sandbox, Seed, StoredActivity, StoredGroup, StoredRefresh},
    };

    fn sandbox() -> Sandbox {
        let seed = Seed { region: "us-east-1".to_owned(), ..Seed::default() };
        Sandbox::in_memory(&seed, Rc::new(ManualClock::default()))
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_slow_call_is_told_once_and_every_call_at_its_end() {
        let heard = RefCell::new(Vec::new());
        let hear = |news: News<'_>| heard.borrow_mut().push(format!("{news:?}"));
        let watched = Watched { slow: Duration::from_millis(5), ..Watched::new(Box::new(sandbox()), hear) };
        watched
            .watch("ec2:Slow", async {
                tokio::time::sleep(Duration::from_millis(40)).await;
                Ok(())
            })
            .await
            .unwrap();
        watched.group("captf-x").await.unwrap();
        let heard = heard.borrow();
        assert_eq!(heard.len(), 3, "{heard:?}");
        assert!(heard[0].starts_with("Slow"), "{heard:?}");
        assert!(heard[1].starts_with("Over") && heard[1].contains("ec2:Slow"), "{heard:?}");
        assert!(heard[2].contains("DescribeAutoScalingGroups"));
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_failed_call_is_told_with_its_error() {
        let failing = Recorded::new(sandbox()).with_hook(|moment, call| {
            (moment == Moment::Before).then(|| call.error("us-east-1", "AccessDenied", "no"))
        });
        let heard = RefCell::new(Vec::new());
        let hear = |news: News<'_>| {
            if let News::Over { error: Some(error), .. } = news {
                heard.borrow_mut().push(error.code.clone());
            }
        };
        let watched = Watched::new(Box::new(failing), hear);
        assert!(watched.instances("captf-x").await.is_err());
        assert_eq!(*heard.borrow(), ["AccessDenied"]);
    }

    #[tokio::test(flavor = "current_thread")]
    async fn no_words_of_aws_repeat_a_credential() {
        const TOKEN: &str = "abcdef.0123456789abcdef";
        let failing = Recorded::new(sandbox()).with_hook(|moment, call| {
            let words = format!("The key pair '{TOKEN}' does not exist");
            (moment == Moment::Before).then(|| CloudError {
                resource: format!("images of {TOKEN}"),
                ..call.error("us-east-1", "InvalidKeyPair.NotFound", &words)
            })
        });
        let heard = RefCell::new(Vec::new());
        let watched = Watched::new(Box::new(failing), |news| heard.borrow_mut().push(format!("{news:?}")));
        let error = watched.instances("captf-x").await.unwrap_err();
        assert_eq!(error.resource, "images of (23 bytes, not shown)");
        assert_eq!(error.message, "The key pair '(23 bytes, not shown)' does not exist");
        assert!(heard.borrow().iter().all(|news| !news.contains(TOKEN)));
    }

    #[tokio::test(flavor = "current_thread")]
    async fn no_refresh_and_no_activity_repeats_a_credential() {
        const TOKEN: &str = "abcdef.0123456789abcdef";
        let told = format!("because of {TOKEN}.");
        let sandbox = sandbox();
        sandbox.edit(|world| {
            let refreshes =
                [Some(told.clone()), None].map(|reason| StoredRefresh { reason, ..StoredRefresh::default() });
            let activities = [Some(told.clone()), None].map(|message| StoredActivity {
                description: told.clone(),
                message,
                ..StoredActivity::default()
            });
            let group = StoredGroup {
                refreshes: refreshes.to_vec(),
                activities: activities.to_vec(),
                ..StoredGroup::default()
            };
            world.groups.insert("captf-x".to_owned(), group);
        });
        let watched = Watched::new(Box::new(sandbox), |_| {});
        let shown = Some("because of (23 bytes, not shown).".to_owned());
        let refreshes = watched.refreshes("captf-x").await.unwrap();
        let reasons: Vec<_> = refreshes.into_iter().map(|refresh| refresh.reason).collect();
        assert_eq!(reasons, [None, shown.clone()]);
        let activities = watched.activities("captf-x").await.unwrap();
        assert!(activities.iter().all(|activity| Some(&activity.description) == shown.as_ref()));
        let messages: Vec<_> = activities.into_iter().map(|activity| activity.message).collect();
        assert_eq!(messages, [None, shown]);
    }
}
