use std::collections::BTreeSet;

use super::*;
use crate::model::{names::Names, testing};

pub(super) fn grant(change: impl FnOnce(&mut Grant)) -> Grant {
    let scope = testing::request(|_| {}).scope;
    let names = Names::of(&scope);
    let mut grant = Grant {
        partition: "aws",
        region: "us-east-1".to_owned(),
        account: "123456789012".to_owned(),
        buckets: vec!["demo-bootstrap".to_owned()],
        worker_roles: vec!["arn:aws:iam::123456789012:role/demo-worker".to_owned()],
        pools: Pools::One { group: names.group, object_key: names.object_key, identity: scope.identity },
        doctor: true,
    };
    change(&mut grant);
    grant
}

#[test]
fn partitions_follow_regions() {
    for (region, wanted) in [
        ("us-east-1", "aws"),
        ("eu-*", "aws"),
        ("*", "aws"),
        ("cn-north-1", "aws-cn"),
        ("us-gov-west-1", "aws-us-gov"),
        ("us-iso-east-1", "aws-iso"),
        ("us-isob-east-1", "aws-iso-b"),
        ("eu-isoe-west-1", "aws-iso-e"),
        ("us-isof-south-1", "aws-iso-f"),
        ("eusc-de-east-1", "aws-eusc"),
    ] {
        assert_eq!(partition(region), wanted, "{region}");
    }
    let grant = grant(|grant| (grant.partition, grant.region) = ("aws-cn", "cn-north-1".to_owned()));
    let text = serde_json::to_string(&Policy::of(&grant)).unwrap();
    assert!(text.contains("arn:aws-cn:ec2:cn-north-1:") && text.contains("ec2.amazonaws.com.cn"));
    assert!(!text.replace("arn:aws:iam::123456789012:role/demo-worker", "").contains("arn:aws:"), "{text}");
}

#[test]
fn a_policy_fits_a_managed_policy() {
    let pools = || Pools::One {
        group: "captf-a-namespace-with-a-name-a-cluster-with-a-name-pool-0-43c6d828".to_owned(),
        object_key: "pool/a-cluster-with-a-name-pool-0".to_owned(),
        identity: testing::tags(&[
            ("captf.io/cluster", "a-cluster-with-a-name"),
            ("captf.io/namespace", "a-namespace-with-a-name"),
            ("captf.io/kind", "TerraformMachinePool"),
            ("captf.io/name", "a-cluster-with-a-name-pool-0"),
        ]),
    };
    let policy = |pools| Policy::of(&grant(|grant| (grant.pools, grant.doctor) = (pools, false)));
    assert!(policy(pools()).fits_managed_policy(), "{}", policy(pools()).length());
    let demo = Policy::of(&grant(|_| {}));
    assert!(demo.fits_managed_policy(), "{}", demo.length());
    assert!(policy(Pools::All).fits_managed_policy());
    let mut many = policy(Pools::All);
    many.statements[0].resources = vec!["x".repeat(5_000)];
    assert!(!many.fits_managed_policy());
}

#[test]
fn names_of_statements_are_unique_and_lists_are_sorted() {
    let policy = Policy::of(&grant(|_| {}));
    let sids: BTreeSet<&str> = policy.statements.iter().map(|statement| statement.sid).collect();
    assert_eq!(sids.len(), policy.statements.len());
    for statement in &policy.statements {
        assert!(statement.sid.bytes().all(|b| b.is_ascii_alphanumeric()), "{}", statement.sid);
        assert!(statement.actions.is_sorted(), "{}", statement.sid);
        assert!(!statement.resources.is_empty());
    }
}

/// Nothing is allowed on every resource but what takes no resource.
#[test]
fn only_reads_go_without_resources() {
    for statement in Policy::of(&grant(|_| {})).statements {
        if statement.resources == ["*"] {
            let reads =
                |action: &&str| action.contains(":Describe") || *action == "servicequotas:GetServiceQuota";
            assert!(statement.actions.iter().all(reads), "{statement:?}");
            assert_eq!(statement.conditions["StringEquals"]["aws:RequestedRegion"], ["us-east-1"]);
        }
    }
}

#[test]
fn templates_of_others_and_templates_without_tags_stay_closed() {
    let policy = Policy::of(&grant(|_| {}));
    let change = policy.statements.iter().find(|s| s.sid == "ChangeLaunchTemplate").unwrap();
    assert_eq!(change.conditions["StringEquals"]["aws:ResourceTag/captf.io/namespace"], ["team-a"]);
    assert_eq!(change.conditions["StringEquals"]["aws:ResourceTag/captf.io/name"], ["demo-pool-0"]);
    assert_eq!(change.conditions["StringEqualsIfExists"]["aws:ResourceTag/captf.io/cluster"], ["demo"]);
    let group = policy.statements.iter().find(|s| s.sid == "ChangeGroup").unwrap();
    assert_eq!(group.conditions.keys().collect::<Vec<_>>(), [&"StringEqualsIfExists"]);
    let all = Policy::of(&grant(|grant| grant.pools = Pools::All));
    assert!(!all.statements.iter().any(|s| format!("{s:?}").contains("IfExists") && s.sid != "ChangeGroup"));
    let change = all.statements.iter().find(|s| s.sid == "ChangeLaunchTemplate").unwrap();
    assert_eq!(change.conditions["StringEquals"]["aws:ResourceTag/captf.io/kind"], ["TerraformMachinePool"]);
}

#[test]
fn a_tag_value_cannot_be_read_as_a_variable() {
    let pools = Pools::One {
        group: "g".to_owned(),
        object_key: "pool/x".to_owned(),
        identity: testing::tags(&[("captf.io/namespace", "a${aws:username}")]),
    };
    let text = serde_json::to_string(&Policy::of(&grant(|grant| grant.pools = pools))).unwrap();
    assert!(text.contains("a${$}{aws:username}") && !text.contains("a${aws:username}"), "{text}");
}
