#![allow(clippy::unwrap_used)]

use super::{testing::facts, *};
use crate::{
    contract::request::Autoscaler,
    model::{
        desired,
        names::Names,
        observed::{Group, GroupTag, Instance, Object, Template},
        records,
        testing::{self, request},
    },
};

mod access;
mod launch;
mod network;
mod running;

fn found(edit: impl FnOnce(&mut Request), change: impl FnOnce(&mut Facts)) -> Checkup {
    let request = request(edit);
    let mut facts = facts(&request);
    change(&mut facts);
    checkup(&request, &facts)
}

#[track_caller]
fn check<'a>(found: &'a Checkup, id: &str) -> &'a Check {
    found.checks.iter().find(|check| check.id == id).unwrap_or_else(|| panic!("{id}: {found:#?}"))
}

/// Exactly this check has this status, and all others pass.
#[track_caller]
fn only(found: &Checkup, id: &str, status: Status, words: &str) {
    let others: Vec<&Check> =
        found.checks.iter().filter(|check| check.id != id && check.status != Status::Pass).collect();
    assert!(others.is_empty(), "{others:#?}");
    let check = check(found, id);
    assert_eq!(check.status, status, "{check:#?}");
    assert!(check.title.contains(words) || check.detail.contains(words), "{words}: {check:#?}");
    assert!(
        status != Status::Fail || id == "ownership" || id == "image" || check.fix.is_some(),
        "{check:#?}"
    );
}

#[test]
fn where_all_is_well_everything_passes() {
    let found = found(
        |r| {
            r.spot = true;
            r.ssh_key_name = Some("ops".into());
            r.root_volume_kms_key_id = Some("arn:aws:kms:us-east-1:123456789012:key/1".into());
        },
        |_| {},
    );
    assert_eq!(found.count(Status::Pass), found.checks.len(), "{found:#?}");
    let ids: std::collections::BTreeSet<&str> = found.checks.iter().map(|check| check.id).collect();
    assert_eq!(ids.len(), found.checks.len());
    assert!(found.checks.iter().all(|check| check.fix.is_none()));
}

fn failed<T>(call: &'static str, kind: Trouble) -> Look<T> {
    Look::Failed { call, kind, words: "no luck".into() }
}

/// A template of this name, with this owner's cluster and a record of these zones.
fn template(name: &str, cluster: &str, zones: &str) -> Template {
    let mut tags = request(|_| {}).scope.identity;
    tags.insert("captf.io/cluster".into(), cluster.into());
    tags.insert(records::ZONES.into(), zones.into());
    Template { id: format!("lt-{name}"), name: name.into(), tags, ..Template::default() }
}

#[test]
fn buckets_groups_and_roles() {
    let object = |look| found(|_| {}, |f| f.pool.object = look);
    let call = "s3:HeadObject";
    let failed = |kind, words: &str| Look::Failed { call, kind, words: words.into() };
    only(&object(failed(Trouble::Missing, "NoSuchBucket")), "bucket", Status::Fail, "does not exist");
    only(
        &object(failed(Trouble::Elsewhere, "the bucket is in eu-west-1")),
        "bucket",
        Status::Fail,
        "eu-west-1",
    );
    let denied = object(Look::Denied { call });
    assert_eq!(check(&denied, "bucket").status, Status::Fail);
    assert!(check(&denied, "bucket").fix.as_ref().unwrap().contains("s3:ListBucket"), "{denied:#?}");

    let limits = Look::Seen(Limits { max_groups: 3, groups: 3 });
    only(&found(|_| {}, |f| f.limits = limits.clone()), "limits.groups", Status::Fail, "3 of 3");
    let missing = |name| found(|r| r.spot = true, move |f| drop(f.roles.insert(name, Look::Seen(false))));
    only(&missing(AUTOSCALING_ROLE), "roles.autoscaling", Status::Warning, "does not exist yet");
    only(&missing(SPOT_ROLE), "roles.spot", Status::Warning, "does not exist yet");
}

#[test]
fn a_name_in_somebody_elses_hands() {
    let theirs = |pool: &mut PoolFacts| {
        let tag = GroupTag { value: "another".into(), propagate: false };
        let tags = [("captf.io/namespace".to_owned(), tag)].into();
        pool.group = Look::Seen(Some(Group { name: "captf-x".into(), tags, ..Group::default() }));
    };
    only(&found(|_| {}, |f| theirs(&mut f.pool)), "ownership", Status::Fail, "belongs to somebody else");
    let object = Object::Present {
        sha256: None,
        content_type: None,
        encryption: None,
        tags: testing::tags(&[("captf.io/name", "another")]),
    };
    let with_object = found(|_| {}, |f| f.pool.object = Look::Seen(object));
    only(&with_object, "ownership", Status::Fail, "belongs to somebody else");

    // Of templates, those that an apply would use, as for a plan.
    let templates = |template: Template| found(|_| {}, |f| f.pool.templates = Look::Seen(vec![template]));
    let names = Names::of(&request(|_| {}).scope);
    let wanted = names.template(&desired::roll_key(&request(|_| {})));
    only(&templates(template(&wanted, "another", "")), "ownership", Status::Fail, "belongs to somebody else");
    let other = format!("{}older", names.template_prefix());
    only(&templates(template(&other, "another", "")), "ownership", Status::Pass, "is free");
}
