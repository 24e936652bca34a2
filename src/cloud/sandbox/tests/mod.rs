//! One test for each rule of AWS that the rest of the program leans on.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::result_large_err)]

use std::{future::Future, rc::Rc, time::Duration};

use super::*;
use crate::{
    contract::{payload::Payload, request::Tags},
    model::{
        observed::Launch,
        resources::{CreateGroup, Interface, TemplateData, TemplateRef, UpdateGroup},
    },
};

mod capacity;
mod files;
mod groups;
mod images;
mod invariants;
mod lag;
mod large;
mod objects;
mod recorded;
mod refreshes;
mod templates;

const GROUP: &str = "captf-team-a-demo-pool-0-43c6d828";

/// Futures of the sandbox never wait for anything but its clock.
fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

fn seed() -> Seed {
    let set = |name: &str| [name.to_owned()].into();
    Seed {
        region: "us-east-1".to_owned(),
        subnets: ["a", "b", "c"]
            .iter()
            .map(|zone| (format!("us-east-1{zone}"), format!("subnet-0{zone}")))
            .collect(),
        security_groups: set("sg-01"),
        instance_profiles: set("nodes"),
        key_pairs: set("key"),
        buckets: set("bootstrap"),
        images: Vec::new(),
    }
}

fn tags(pairs: &[(&str, &str)]) -> Tags {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// An account, its clock, and shorthand for what tests do most.
struct Lab {
    sandbox: Sandbox,
    clock: Rc<ManualClock>,
}

impl Lab {
    fn new() -> Self {
        let clock = Rc::new(ManualClock::default());
        Self { sandbox: Sandbox::in_memory(&seed(), clock.clone()), clock }
    }

    /// With a template and a group of `desired` members in all three zones, all in service.
    fn with_group(desired: u32) -> Self {
        let lab = Self::new();
        let template = lab.template("pool-1");
        lab.perform(&create_group(&template, desired)).unwrap();
        lab.wait(120);
        lab
    }

    fn perform(&self, write: &Write) -> Result<Answer, CloudError> {
        run(self.sandbox.perform(write))
    }

    /// The refusal that a write must meet.
    fn refusal(&self, write: &Write) -> CloudError {
        self.perform(write).expect_err("AWS refuses this")
    }

    fn template(&self, name: &str) -> String {
        match self.perform(&create_template(name, self.data())).unwrap() {
            Answer::Template { id } => id,
            other => panic!("{other:?}"),
        }
    }

    fn data(&self) -> TemplateData {
        data(&self.sandbox)
    }

    fn wait(&self, seconds: u64) {
        // Second by second, so that a test sees what a busy reader would.
        for _ in 0..seconds {
            self.clock.advance(Duration::from_secs(1));
            self.sandbox.edit_nothing();
        }
    }

    fn group(&self) -> Group {
        run(self.sandbox.group(GROUP)).unwrap().expect("the group is there")
    }

    fn instances(&self) -> Vec<Instance> {
        run(self.sandbox.instances(GROUP)).unwrap()
    }

    fn refresh(&self) -> Refresh {
        run(self.sandbox.refreshes(GROUP)).unwrap().remove(0)
    }

    fn members(&self) -> Vec<String> {
        self.group().members.into_iter().map(|member| member.id).collect()
    }

    /// Changes the one group by hand.
    fn edit_group(&self, change: impl FnOnce(&mut StoredGroup)) {
        self.sandbox.edit(|world| change(world.groups.get_mut(GROUP).unwrap()));
    }

    /// Changes one instance by hand.
    fn edit_instance(&self, id: &str, change: impl FnOnce(&mut StoredInstance)) {
        self.sandbox.edit(|world| change(world.instances.get_mut(id).unwrap()));
    }
}

impl Sandbox {
    /// Lets happen what is due.
    fn edit_nothing(&self) {
        run(self.scheduled_actions("none")).unwrap();
    }
}

fn data(sandbox: &Sandbox) -> TemplateData {
    let query = ImageQuery::Name {
        owner: CATALOGUE_OWNER.to_owned(),
        name: "capa-ami-ubuntu-24.04-?1.31.4-*".to_owned(),
        architecture: "x86_64".to_owned(),
    };
    let image = run(sandbox.images(&query)).unwrap().remove(0);
    let interface = Interface { security_groups: vec!["sg-01".to_owned()], ..Interface::default() };
    TemplateData {
        image_id: Some(image.id),
        instance_type: Some("m6i.large".to_owned()),
        instance_profile: Some("nodes".to_owned()),
        interfaces: [(0, interface)].into(),
        ..TemplateData::default()
    }
}

fn create_template(name: &str, data: TemplateData) -> Write {
    Write::CreateTemplate {
        name: name.to_owned(),
        description: "pool".to_owned(),
        data: Box::new(data),
        tags: tags(&[("captf.io/name", "demo-pool-0")]),
    }
}

fn new_group(template: &str, desired: u32) -> CreateGroup {
    CreateGroup {
        name: GROUP.to_owned(),
        template: TemplateRef::Id(template.to_owned()),
        min: 0,
        max: 10,
        desired,
        subnets: ["subnet-0a", "subnet-0b", "subnet-0c"].map(ToOwned::to_owned).to_vec(),
        capacity_rebalance: false,
        tags: tags(&[("captf.io/name", "demo-pool-0")]),
    }
}

fn create_group(template: &str, desired: u32) -> Write {
    Write::CreateGroup(new_group(template, desired))
}

fn update() -> UpdateGroup {
    UpdateGroup { name: GROUP.to_owned(), ..UpdateGroup::default() }
}

fn set_desired(desired: u32) -> Write {
    Write::UpdateGroup(UpdateGroup { desired: Some(desired), ..update() })
}

fn start_refresh() -> Write {
    Write::StartRefresh { group: GROUP.to_owned(), warmup_seconds: 30 }
}

fn delete_group(force: bool) -> Write {
    Write::DeleteGroup { group: GROUP.to_owned(), force }
}

fn payload(text: &str) -> Payload {
    Payload::new(text.as_bytes().to_vec())
}
