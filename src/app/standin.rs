//! A stand-in for the sandbox, which is about to come; this file goes when it is there.
#![allow(missing_docs, clippy::unused_async, clippy::missing_panics_doc)]

pub mod sandbox {
    use std::{
        collections::{BTreeMap, BTreeSet},
        path::Path,
        rc::Rc,
        time::Duration,
    };

    use async_trait::async_trait;

    use crate::{
        clock::{Clock, SystemClock, Timestamp},
        cloud::{Cloud, CloudError, ImageQuery, TemplateQuery, VersionQuery},
        model::{
            observed::{
                Activity, Group, Image, Instance, Object, Policy, Refresh, Template, TemplateVersion,
            },
            resources::{Answer, Write},
        },
    };

    #[derive(Default)]
    pub struct Seed {
        pub region: String,
        pub subnets: BTreeMap<String, String>,
        pub security_groups: BTreeSet<String>,
        pub instance_profiles: BTreeSet<String>,
        pub key_pairs: BTreeSet<String>,
        pub buckets: BTreeSet<String>,
        pub images: Vec<OwnedImage>,
    }
    pub struct OwnedImage {
        pub owner: String,
        pub image: Image,
    }
    #[derive(Default)]
    pub struct SandboxClock;
    impl SandboxClock {
        pub fn new() -> Self {
            Self
        }
    }
    #[async_trait(?Send)]
    impl Clock for SandboxClock {
        fn now(&self) -> Timestamp {
            SystemClock.now()
        }
        async fn sleep(&self, duration: Duration) {
            SystemClock.sleep(duration).await;
        }
    }
    pub struct Sandbox(String);
    impl Sandbox {
        pub fn open(_: &Path, seed: &Seed, _: Rc<SandboxClock>) -> Result<Self, CloudError> {
            Ok(Self(seed.region.clone()))
        }
    }
    #[async_trait(?Send)]
    impl Cloud for Sandbox {
        fn region(&self) -> &str {
            &self.0
        }
        async fn group(&self, _: &str) -> Result<Option<Group>, CloudError> {
            Ok(None)
        }
        async fn instances(&self, _: &str) -> Result<Vec<Instance>, CloudError> {
            Ok(vec![])
        }
        async fn policies(&self, _: &str) -> Result<Vec<Policy>, CloudError> {
            Ok(vec![])
        }
        async fn refreshes(&self, _: &str) -> Result<Vec<Refresh>, CloudError> {
            Ok(vec![])
        }
        async fn activities(&self, _: &str) -> Result<Vec<Activity>, CloudError> {
            Ok(vec![])
        }
        async fn scheduled_actions(&self, _: &str) -> Result<Vec<String>, CloudError> {
            Ok(vec![])
        }
        async fn templates(&self, _: &TemplateQuery) -> Result<Vec<Template>, CloudError> {
            Ok(vec![])
        }
        async fn versions(&self, _: &VersionQuery) -> Result<Vec<TemplateVersion>, CloudError> {
            Ok(vec![])
        }
        async fn images(&self, _: &ImageQuery) -> Result<Vec<Image>, CloudError> {
            Ok(vec![])
        }
        async fn object(&self, _: &str, _: &str) -> Result<Object, CloudError> {
            Ok(Object::Missing)
        }
        async fn perform(&self, _: &Write) -> Result<Answer, CloudError> {
            Ok(Answer::Done)
        }
    }
}
