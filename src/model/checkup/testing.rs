//! Facts of an account in which all is well, for tests: one line changes one thing.

use std::collections::BTreeMap;

use super::{
    AUTOSCALING_ROLE, Caller, Facts, InstanceProfile, InstanceType, Limits, Look, PoolFacts, Rehearsal,
    SPOT_ROLE, SecurityGroup, Subnet,
};
use crate::{
    contract::request::{Request, Tags},
    model::{
        observed::{Images, Object},
        testing,
    },
};

/// All is well for `request`.
pub(crate) fn facts(request: &Request) -> Facts {
    let Images::Found(images) = testing::nothing().images else { unreachable!("an image is there") };
    let exports = &request.exports;
    let subnet = |(zone, id): (&String, &crate::contract::ids::SubnetId)| Subnet {
        id: id.to_string(),
        zone: zone.clone(),
        vpc: "vpc-01".to_owned(),
        free_addresses: 200,
    };
    let groups = exports.worker_security_groups.iter().chain(&request.additional_security_group_ids);
    Facts {
        caller: Look::Seen(Caller {
            account: "123456789012".to_owned(),
            arn: "arn:aws:iam::123456789012:user/tests".to_owned(),
        }),
        pool: PoolFacts {
            group: Look::Seen(None),
            instances: Look::Seen(Vec::new()),
            policies: Look::Seen(Vec::new()),
            refreshes: Look::Seen(Vec::new()),
            activities: Look::Seen(Vec::new()),
            scheduled_actions: Look::Seen(Vec::new()),
            templates: Look::Seen(Vec::new()),
            versions: Look::Seen(Vec::new()),
            object: Look::Seen(Object::Missing),
            images: Look::Seen(images),
        },
        subnets: Look::Seen(exports.failure_domains.iter().map(subnet).collect()),
        security_groups: Look::Seen(
            groups.map(|id| SecurityGroup { id: id.to_string(), vpc: "vpc-01".to_owned() }).collect(),
        ),
        key_pair: Look::Seen(true),
        instance_type: Look::Seen(Some(InstanceType {
            architectures: ["x86_64".to_owned()].into(),
            vcpus: 2,
        })),
        offered: Look::Seen(exports.failure_domains.keys().cloned().collect()),
        instance_profile: Look::Seen(Some(InstanceProfile { roles: vec!["demo-worker".to_owned()] })),
        roles: BTreeMap::from([(AUTOSCALING_ROLE, Look::Seen(true)), (SPOT_ROLE, Look::Seen(true))]),
        quota: Look::Seen(Some(64.0)),
        limits: Look::Seen(Limits { max_groups: 500, groups: 3 }),
        rehearsals: vec![(
            Rehearsal::NewTemplate { name: "t".to_owned(), tags: Tags::new() },
            Look::Seen(()),
        )],
    }
}
