//! Stand-ins for what other rooms are about to bring; this file goes when they are there.
#![allow(missing_docs, clippy::unused_async, clippy::default_trait_access, clippy::missing_panics_doc)]

pub use crate::contract::request::{Request, Scope};
use crate::{
    cloud::ImageQuery,
    contract::problem::{Diagnostic, Problems},
};

#[derive(Default)]
pub struct Inputs(());
impl Inputs {
    pub fn add_file(&mut self, origin: &str, text: &[u8]) -> Result<(), Diagnostic> {
        match serde_json::from_slice::<serde_json::Value>(text) {
            Ok(_) => Ok(()),
            Err(e) => Err(Diagnostic::error(format!("Invalid input file {origin}"), e.to_string())),
        }
    }
    pub fn add_var(&mut self, text: &str) -> Result<(), Diagnostic> {
        if text.contains('=') { Ok(()) } else { Err(Diagnostic::error("Invalid -var option", "NAME=VALUE")) }
    }
}
fn missing() -> Diagnostic {
    Diagnostic::error("captf_contract is missing", "")
}
impl Request {
    pub fn parse(_: &Inputs) -> Result<Self, Problems> {
        Err(missing().into())
    }
}
impl Scope {
    pub fn parse(_: &Inputs) -> Result<Self, Problems> {
        Ok(Self {
            namespace: "team-a".into(),
            name: "demo-pool-0".into(),
            identity: Default::default(),
            region: None,
            bucket: None,
            replicas: None,
            node_labels: Default::default(),
        })
    }
}
pub fn check(_: &Request) -> Result<(), Problems> {
    Ok(())
}
pub fn image_query(_: &Request) -> Option<ImageQuery> {
    None
}

pub mod schema {
    pub fn inputs() -> &'static str {
        "{}\n"
    }
    pub fn outputs() -> &'static str {
        "{}\n"
    }
    pub fn variables() -> &'static str {
        "{}\n"
    }
    pub fn variables_markdown() -> String {
        "| name |\n".into()
    }
}

pub mod engine {
    use super::{Request, Scope};
    use crate::{
        cloud::Cloud,
        contract::outputs::{Health, Outputs},
        engine::context::Context,
        error::{Failure, Kind},
        model::plan::{Counts, Plan},
    };
    pub struct Planned {
        pub plan: Plan,
    }
    pub struct Teardown {
        pub plan: Plan,
    }
    pub struct Applied {
        pub counts: Counts,
        pub outputs: Outputs,
    }
    fn not_there<T>() -> Result<T, Failure> {
        Err(Failure::new(Kind::Local, "No engine yet", ""))
    }
    pub async fn plan(_: &dyn Cloud, _: &Request) -> Result<Planned, Failure> {
        Ok(Planned { plan: Plan::default() })
    }
    pub async fn apply(_: &Context<'_>, _: &Request, _: &Planned) -> Result<Applied, Failure> {
        not_there()
    }
    pub async fn await_roll(_: &Context<'_>, _: &str) -> Result<(), Failure> {
        not_there()
    }
    pub async fn outputs(_: &dyn Cloud, _: &Scope) -> Result<Outputs, Failure> {
        Ok(Outputs {
            provider_id: None,
            provider_id_list: vec![],
            replicas: 0,
            instances: vec![],
            health: Health {
                state: "terminated".into(),
                healthy: false,
                message: "No group.".into(),
                reasons: vec!["GroupNotFound".into()],
            },
            autoscaling_group_name: "g".into(),
            dropped_node_labels: vec![],
            launch_template_id: None,
        })
    }
    pub async fn plan_destroy(_: &dyn Cloud, _: &Scope) -> Result<Teardown, Failure> {
        Ok(Teardown { plan: Plan::default() })
    }
    pub async fn destroy(_: &Context<'_>, _: &Scope, _: &Teardown) -> Result<Counts, Failure> {
        Ok(Counts::default())
    }
}

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
