//! The account that the AWS on loopback answers from: the sandbox, which keeps AWS's rules, on a thread of its
//! own. Of a write's parameters nothing is read: which writes a command makes is known from doing the same with
//! the engine, and each one that comes in is the next of its operation.

use std::{
    sync::mpsc::{self, Sender},
    thread,
    time::Duration,
};

use machinepool::{
    cloud::{Cloud as _, operations},
    contract::request::Request,
    model::{
        observed::{Group, GroupMember, Instance},
        resources::{Answer, Write},
    },
};
use serde_json::Value;

use super::lab::{self, GROUP, Lab};

type Job = Box<dyn FnOnce(&mut Account) + Send>;

/// A handle on the account; any thread may ask.
#[derive(Clone)]
pub(crate) struct Office(Sender<Job>);

/// The account and what is expected to come.
pub(crate) struct Account {
    lab: Lab,
    empty: Lab,
    settled: Lab,
    expected: Vec<Write>,
    /// What the commands ask for.
    pub(crate) request: Request,
    /// Members that the pool is shown with, in the place of those it has.
    crowd: Option<Vec<Instance>>,
}

/// Where a command begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// There is no pool.
    Nothing,
    /// The pool of three, in service.
    Settled,
}

impl Office {
    pub(crate) fn open() -> Self {
        let (sender, jobs) = mpsc::channel::<Job>();
        thread::spawn(move || {
            let mut account = Account::new();
            for job in jobs {
                job(&mut account);
            }
        });
        Self(sender)
    }

    pub(crate) fn with<T: Send + 'static>(&self, work: impl FnOnce(&mut Account) -> T + Send + 'static) -> T {
        let (sender, answer) = mpsc::channel();
        self.0.send(Box::new(move |account| drop(sender.send(work(account))))).unwrap();
        answer.recv().expect("the account's thread has panicked")
    }

    /// Puts the account into a state, and expects an apply of `inputs` there.
    pub(crate) fn expect(&self, start: Start, inputs: &Value) {
        let inputs = inputs.clone();
        self.with(move |account| account.expect(start, &inputs));
    }

    /// From now on the pool has so many members; `None` is those it has.
    pub(crate) fn crowd(&self, size: Option<u32>) {
        self.with(move |account| account.crowd = size.map(|size| (0..size).map(member).collect()));
    }
}

impl Account {
    fn new() -> Self {
        let empty = Lab::new();
        let settled = empty.fork();
        let request = lab::request(&lab::base_inputs());
        settled.apply(&request).unwrap();
        settled.wait(Duration::from_mins(10));
        Self { lab: settled.fork(), empty, settled, expected: Vec::new(), request, crowd: None }
    }

    fn expect(&mut self, start: Start, inputs: &Value) {
        let from = match start {
            Start::Nothing => &self.empty,
            Start::Settled => &self.settled,
        };
        self.lab = from.fork();
        self.request = lab::request(inputs);
        let rehearsal = from.fork();
        rehearsal.apply(&self.request).unwrap();
        self.expected = rehearsal.cloud.writes();
    }

    pub(crate) fn cloud(&self) -> &impl machinepool::cloud::Cloud {
        &self.lab.cloud
    }

    /// Does the next expected write of an operation; `None` if none is expected.
    pub(crate) fn write(&mut self, operation: &str) -> Option<Answer> {
        let is_it = |write: &Write| {
            operations::of_write(write).split_once(':').is_some_and(|(_, name)| name == operation)
        };
        let write = self.expected.remove(self.expected.iter().position(is_it)?);
        lab::run(self.lab.cloud.perform(&write)).ok()
    }

    pub(crate) fn group(&self) -> Option<Group> {
        let mut group = lab::run(self.lab.cloud.group(GROUP)).unwrap()?;
        if let Some(crowd) = &self.crowd {
            let size = u32::try_from(crowd.len()).unwrap();
            (group.min, group.max, group.desired) = (size, size, size);
            let template = group.members.first().and_then(|member| member.template.clone());
            let shown = |instance: &Instance| GroupMember {
                id: instance.id.clone(),
                zone: instance.zone.clone(),
                lifecycle: "InService".to_owned(),
                health: "Healthy".to_owned(),
                protected: false,
                template: template.clone(),
            };
            group.members = crowd.iter().map(shown).collect();
        }
        Some(group)
    }

    pub(crate) fn instances(&self) -> Vec<Instance> {
        match &self.crowd {
            Some(crowd) => crowd.clone(),
            None => lab::run(self.lab.cloud.instances(GROUP)).unwrap(),
        }
    }
}

/// The `n`th of a crowd.
fn member(n: u32) -> Instance {
    Instance {
        id: format!("i-0{n:016x}"),
        state: "running".to_owned(),
        zone: ["us-east-1a", "us-east-1b", "us-east-1c"][n as usize % 3].to_owned(),
        launched: None,
        addresses: vec![format!("10.{}.{}.{}", n >> 16 & 255, n >> 8 & 255, n & 255)],
    }
}
