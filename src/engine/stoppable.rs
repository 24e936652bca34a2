//! A wrapper around any [`Cloud`] that ends with an interrupt: nothing new is begun, a read is dropped, a write
//! may finish, but not for long. So nothing that the engine waits for can outlast a signal.

use std::{future::Future, time::Duration};

use async_trait::async_trait;

use super::context::Context;
use crate::{
    cloud::{Cloud, CloudError, ErrorKind, ImageQuery, TemplateQuery, VersionQuery, operations},
    model::{
        checkup::{Question, Reply},
        observed::{Activity, Group, Image, Instance, Object, Policy, Refresh, Template, TemplateVersion},
        resources::{Answer, Write},
    },
};

/// How long a write in flight may still take once the run is interrupted. The SDK's own retries could go on
/// for minutes, and whoever sent the signal kills after a while.
pub(super) const GRACE: Duration = Duration::from_secs(6);

/// Calls that end with an interrupt.
pub(super) struct Stoppable<'a>(Context<'a>);

impl<'a> Stoppable<'a> {
    /// The calls of a run.
    pub(super) fn of(ctx: &Context<'a>) -> Self {
        Self(*ctx)
    }

    async fn read<T>(
        &self,
        operation: &'static str,
        call: impl Future<Output = Result<T, CloudError>>,
    ) -> Result<T, CloudError> {
        tokio::select! {
            biased;
            () = self.0.interrupt.raised() => Err(self.interrupted(operation, NOTHING_NEW.to_owned())),
            answer = call => answer,
        }
    }

    async fn write<T>(
        &self,
        operation: &'static str,
        call: impl Future<Output = Result<T, CloudError>>,
    ) -> Result<T, CloudError> {
        if self.0.interrupt.is_raised() {
            return Err(self.interrupted(operation, NOTHING_NEW.to_owned()));
        }
        tokio::pin!(call);
        tokio::select! {
            biased;
            answer = &mut call => return answer,
            () = self.0.interrupt.raised() => {}
        }
        tokio::select! {
            biased;
            answer = call => answer,
            () = self.0.clock.sleep(GRACE) => Err(self.interrupted(operation, format!(
                "{operation} had no answer {} s after the interrupt and was given up: it may or may not have taken \
                 effect. The next run looks.",
                GRACE.as_secs()
            ))),
        }
    }

    fn interrupted(&self, operation: &'static str, message: String) -> CloudError {
        CloudError {
            operation,
            resource: "the pool".to_owned(),
            region: self.0.cloud.region().to_owned(),
            kind: ErrorKind::Interrupted,
            code: String::new(),
            message,
            request_id: None,
        }
    }
}

/// What an interrupt means for everything that comes after it.
pub(super) const NOTHING_NEW: &str = "Nothing new was begun.";

#[async_trait(?Send)]
impl Cloud for Stoppable<'_> {
    fn region(&self) -> &str {
        self.0.cloud.region()
    }

    async fn group(&self, name: &str) -> Result<Option<Group>, CloudError> {
        self.read(operations::DESCRIBE_GROUPS, self.0.cloud.group(name)).await
    }

    async fn instances(&self, group: &str) -> Result<Vec<Instance>, CloudError> {
        self.read(operations::DESCRIBE_INSTANCES, self.0.cloud.instances(group)).await
    }

    async fn policies(&self, group: &str) -> Result<Vec<Policy>, CloudError> {
        self.read(operations::DESCRIBE_POLICIES, self.0.cloud.policies(group)).await
    }

    async fn refreshes(&self, group: &str) -> Result<Vec<Refresh>, CloudError> {
        self.read(operations::DESCRIBE_REFRESHES, self.0.cloud.refreshes(group)).await
    }

    async fn activities(&self, group: &str) -> Result<Vec<Activity>, CloudError> {
        self.read(operations::DESCRIBE_ACTIVITIES, self.0.cloud.activities(group)).await
    }

    async fn scheduled_actions(&self, group: &str) -> Result<Vec<String>, CloudError> {
        self.read(operations::DESCRIBE_SCHEDULED_ACTIONS, self.0.cloud.scheduled_actions(group)).await
    }

    async fn templates(&self, query: &TemplateQuery) -> Result<Vec<Template>, CloudError> {
        self.read(operations::DESCRIBE_TEMPLATES, self.0.cloud.templates(query)).await
    }

    async fn versions(&self, query: &VersionQuery) -> Result<Vec<TemplateVersion>, CloudError> {
        self.read(operations::DESCRIBE_TEMPLATE_VERSIONS, self.0.cloud.versions(query)).await
    }

    async fn images(&self, query: &ImageQuery) -> Result<Vec<Image>, CloudError> {
        self.read(operations::DESCRIBE_IMAGES, self.0.cloud.images(query)).await
    }

    async fn object(&self, bucket: &str, key: &str) -> Result<Object, CloudError> {
        self.read(operations::HEAD_OBJECT, self.0.cloud.object(bucket, key)).await
    }

    async fn answer(&self, question: &Question) -> Result<Reply, CloudError> {
        self.read(operations::of_question(question), self.0.cloud.answer(question)).await
    }

    async fn perform(&self, write: &Write) -> Result<Answer, CloudError> {
        self.write(operations::of_write(write), self.0.cloud.perform(write)).await
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::{cell::Cell, future::pending, rc::Rc};

    use super::*;
    use crate::{
        clock::Clock as _,
        cloud::sandbox::{ManualClock, Sandbox, Seed},
        engine::context::{Interrupt, Silent},
    };

    #[tokio::test(flavor = "current_thread")]
    async fn an_interrupt_drops_reads_and_lets_writes_finish_for_a_while() {
        let clock = Rc::new(ManualClock::default());
        let seed = Seed { region: "us-east-1".into(), ..Seed::default() };
        let sandbox = Sandbox::in_memory(&seed, clock.clone());
        let (interrupter, interrupt) = Interrupt::new();
        let deadline = clock.now().plus(Duration::from_hours(1));
        let ctx =
            Context { cloud: &sandbox, clock: &*clock, progress: &Silent, interrupt: &interrupt, deadline };
        let calls = Stoppable::of(&ctx);
        assert_eq!(calls.read("a", async { Ok(1) }).await.unwrap(), 1);
        assert_eq!(calls.write("a", async { Ok(2) }).await.unwrap(), 2);

        let before = clock.now();
        let in_flight = async {
            interrupter.raise();
            pending().await
        };
        let dropped = calls.read::<()>("a", in_flight).await.unwrap_err();
        assert_eq!(
            (dropped.kind, clock.now()),
            (ErrorKind::Interrupted, before),
            "a read is dropped at once"
        );

        let begun = Cell::new(false);
        let begins = async {
            begun.set(true);
            Ok(())
        };
        let refused = calls.write("a", begins).await.unwrap_err();
        assert_eq!((refused.kind, begun.get()), (ErrorKind::Interrupted, false), "nothing new is begun");
        assert!(calls.group("captf-x").await.is_err());
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_write_in_flight_is_waited_for_and_then_given_up() {
        let clock = Rc::new(ManualClock::default());
        let seed = Seed { region: "us-east-1".into(), ..Seed::default() };
        let sandbox = Sandbox::in_memory(&seed, clock.clone());
        for answered in [true, false] {
            let (interrupter, interrupt) = Interrupt::new();
            let deadline = clock.now().plus(Duration::from_hours(1));
            let ctx = Context {
                cloud: &sandbox,
                clock: &*clock,
                progress: &Silent,
                interrupt: &interrupt,
                deadline,
            };
            let before = clock.now();
            let in_flight = async {
                interrupter.raise();
                tokio::task::yield_now().await;
                if answered { Ok(()) } else { pending().await }
            };
            let outcome = Stoppable::of(&ctx).write("ec2:CreateLaunchTemplate", in_flight).await;
            match outcome {
                Ok(()) => assert!(answered),
                Err(error) => {
                    assert!(!answered && error.message.contains("ec2:CreateLaunchTemplate"), "{error}");
                    assert_eq!(clock.now().since(before), GRACE);
                }
            }
        }
    }
}
