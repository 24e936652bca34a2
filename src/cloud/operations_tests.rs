//! Calls, the list of what AWS checks behind them, and the policy that `iam-policy` prints, held together.

#![allow(clippy::unwrap_used)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use super::*;
use crate::{
    contract::{payload::Payload, request::Tags},
    model::{
        permissions::{BEHIND, Grant, NO_ACTIONS, Policy, Pools, Statement},
        resources::{CreateGroup, TemplateData, TemplateRef, UpdateGroup},
    },
};

/// One write of each kind. A new kind does not compile until it has a number here, and fails until it is
/// in the list.
fn every_write() -> Vec<Write> {
    let (group, template_id) = ("g".to_owned(), "lt-0".to_owned());
    let (bucket, key, name) = ("b".to_owned(), "k".to_owned(), "n".to_owned());
    let process = "AZRebalance".to_owned();
    vec![
        Write::PutObject {
            bucket: bucket.clone(),
            key: key.clone(),
            body: Payload::new(vec![]),
            tags: Tags::new(),
        },
        Write::DeleteObject { bucket, key },
        Write::CreateTemplate {
            name: name.clone(),
            description: String::new(),
            data: Box::new(TemplateData::default()),
            tags: Tags::new(),
        },
        Write::CreateTemplateVersion {
            template_id: template_id.clone(),
            description: String::new(),
            data: Box::new(TemplateData::default()),
        },
        Write::SetDefaultVersion { template_id: template_id.clone(), version: None },
        Write::DeleteTemplateVersions { template_id: template_id.clone(), versions: vec![] },
        Write::DeleteTemplate { template_id: template_id.clone() },
        Write::TagTemplate { template_id: template_id.clone(), tags: Tags::new() },
        Write::UntagTemplate { template_id, keys: BTreeSet::new() },
        Write::CreateGroup(CreateGroup {
            name: group.clone(),
            template: TemplateRef::Named(name.clone()),
            min: 0,
            max: 0,
            desired: 0,
            subnets: vec![],
            capacity_rebalance: false,
            tags: Tags::new(),
        }),
        Write::UpdateGroup(UpdateGroup::default()),
        Write::TagGroup { group: group.clone(), tags: Tags::new() },
        Write::UntagGroup { group: group.clone(), keys: BTreeSet::new() },
        Write::SuspendProcess { group: group.clone(), process: process.clone() },
        Write::ResumeProcess { group: group.clone(), process },
        Write::PutPolicy { group: group.clone(), name: name.clone(), target: 1.0 },
        Write::DeletePolicy { group: group.clone(), name: name.clone() },
        Write::StartRefresh { group: group.clone(), warmup_seconds: 0 },
        Write::CancelRefresh { group: group.clone() },
        Write::Unprotect { group: group.clone(), instances: vec![] },
        Write::DeleteScheduledAction { group: group.clone(), name },
        Write::DeleteWarmPool { group: group.clone() },
        Write::DeleteGroup { group, force: false },
    ]
}

const KINDS_OF_WRITES: usize = 23;

fn number(write: &Write) -> usize {
    match write {
        Write::PutObject { .. } => 0,
        Write::DeleteObject { .. } => 1,
        Write::CreateTemplate { .. } => 2,
        Write::CreateTemplateVersion { .. } => 3,
        Write::SetDefaultVersion { .. } => 4,
        Write::DeleteTemplateVersions { .. } => 5,
        Write::DeleteTemplate { .. } => 6,
        Write::TagTemplate { .. } => 7,
        Write::UntagTemplate { .. } => 8,
        Write::CreateGroup(_) => 9,
        Write::UpdateGroup(_) => 10,
        Write::TagGroup { .. } => 11,
        Write::UntagGroup { .. } => 12,
        Write::SuspendProcess { .. } => 13,
        Write::ResumeProcess { .. } => 14,
        Write::PutPolicy { .. } => 15,
        Write::DeletePolicy { .. } => 16,
        Write::StartRefresh { .. } => 17,
        Write::CancelRefresh { .. } => 18,
        Write::Unprotect { .. } => 19,
        Write::DeleteScheduledAction { .. } => 20,
        Write::DeleteWarmPool { .. } => 21,
        Write::DeleteGroup { .. } => 22,
    }
}

fn writes() -> BTreeSet<&'static str> {
    let all = every_write();
    let numbers: BTreeSet<usize> = all.iter().map(number).collect();
    assert_eq!(numbers, (0..KINDS_OF_WRITES).collect());
    all.iter().map(of_write).collect()
}

fn policy(pools: Pools, doctor: bool) -> Vec<Statement> {
    let grant = Grant {
        partition: "aws",
        region: "us-east-1".to_owned(),
        account: "*".to_owned(),
        buckets: vec!["b".to_owned()],
        worker_roles: vec!["arn:aws:iam::*:role/*".to_owned()],
        pools,
        doctor,
    };
    Policy::of(&grant).statements
}

fn one_pool() -> Pools {
    let identity = BTreeMap::from([("captf.io/namespace".to_owned(), "a".to_owned())]);
    Pools::One { group: "g".to_owned(), object_key: "pool/x".to_owned(), identity }
}

fn actions(statements: &[Statement]) -> BTreeSet<&'static str> {
    statements.iter().flat_map(|statement| statement.actions.iter().copied()).collect()
}

/// The actions behind a set of calls.
fn needed(calls: &BTreeSet<&'static str>) -> BTreeSet<&'static str> {
    calls.iter().flat_map(|call| crate::model::permissions::needed_for(call)).collect()
}

#[test]
fn the_policy_allows_what_is_called_and_what_is_checked_behind_it_and_no_more() {
    let mut calls = writes();
    calls.extend(READS);
    for (call, ..) in BEHIND {
        assert!(calls.contains(call), "{call} is no call of ours");
    }
    for pools in [one_pool(), Pools::All] {
        assert_eq!(actions(&policy(pools, false)), needed(&calls));
    }
}

#[test]
fn the_part_for_doctor_is_what_only_doctor_calls() {
    let with = actions(&policy(one_pool(), true));
    let without = actions(&policy(one_pool(), false));
    let doctors: BTreeSet<&str> =
        DOCTOR_READS.into_iter().filter(|call| !NO_ACTIONS.contains(call)).collect();
    assert_eq!(with.difference(&without).copied().collect::<BTreeSet<_>>(), doctors);
}

/// The names in the adapter's own sources: what is called there and in no list, and the other way round.
/// Writes and questions have their names from here.
#[test]
fn every_call_of_the_adapter_is_listed() {
    let mut called = BTreeSet::new();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cloud/aws");
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            called.extend(names_of_calls(&fs::read_to_string(path).unwrap()));
        }
    }
    let listed: BTreeSet<String> = READS.into_iter().map(str::to_owned).collect();
    let through_writes: BTreeSet<String> = writes().into_iter().map(str::to_owned).collect();
    let unlisted: Vec<_> =
        called.iter().filter(|c| !listed.contains(*c) && !through_writes.contains(*c)).collect();
    assert_eq!(unlisted, [""; 0]);
    let uncalled: Vec<_> = listed.difference(&called).collect();
    assert_eq!(uncalled, [""; 0]);
}

/// One question of each kind; a new kind does not compile until it is here.
fn every_question() -> Vec<Question> {
    let (name, template_id) = (String::new(), String::new());
    let rehearsals = vec![
        Rehearsal::NewTemplate { name: name.clone(), tags: Tags::new() },
        Rehearsal::NewVersion { template_id: template_id.clone() },
        Rehearsal::DeleteTemplate { template_id: template_id.clone() },
        Rehearsal::Launch { template_id, subnet: String::new(), interface: None },
    ];
    let mut all = vec![
        Question::Caller,
        Question::Subnets(vec![]),
        Question::SecurityGroups(vec![]),
        Question::KeyPair(name.clone()),
        Question::InstanceType(name.clone()),
        Question::Offerings(name.clone()),
        Question::InstanceProfile(name.clone()),
        Question::Role(name.clone()),
        Question::Quota(name),
        Question::Limits,
    ];
    all.extend(rehearsals.into_iter().map(Question::Rehearsal));
    all
}

#[test]
fn every_question_is_a_read_of_doctors_or_a_write_that_is_only_tried() {
    let writes = writes();
    let asked: BTreeSet<&str> = every_question().iter().map(of_question).collect();
    let reads: BTreeSet<&str> =
        asked.iter().copied().filter(|call| !writes.contains(call) && *call != RUN_INSTANCES).collect();
    assert_eq!(reads, DOCTOR_READS.into_iter().collect());
}

/// String literals such as `"ec2:DescribeInstances"`.
fn names_of_calls(text: &str) -> BTreeSet<String> {
    const SERVICES: [&str; 6] = ["autoscaling", "ec2", "iam", "s3", "servicequotas", "sts"];
    let is_call = |literal: &&str| {
        literal.split_once(':').is_some_and(|(service, operation)| {
            SERVICES.contains(&service)
                && operation.len() > 3
                && operation.starts_with(|c: char| c.is_ascii_uppercase())
                && operation.bytes().all(|b| b.is_ascii_alphanumeric())
        })
    };
    text.split('"').filter(is_call).map(str::to_owned).collect()
}
