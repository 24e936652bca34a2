use std::collections::BTreeSet;

use super::{
    compare::{Finding, Verdict, compare},
    *,
};
use crate::model::{names::Names, testing};

fn grant(change: impl FnOnce(&mut Grant)) -> Grant {
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

fn document(text: &str) -> Document {
    Document::parse(text.as_bytes()).unwrap()
}

fn allow(statements: &str) -> Document {
    document(&format!(r#"{{"Version": "2012-10-17", "Statement": {statements}}}"#))
}

fn lacking(findings: &[Finding]) -> BTreeSet<&'static str> {
    findings.iter().filter(|finding| finding.is_lacking()).map(|finding| finding.action).collect()
}

#[test]
fn a_policy_allows_all_of_itself() {
    for pools in [None, Some(Pools::All)] {
        let grant = grant(|grant| grant.pools = pools.unwrap_or_else(|| grant.pools.clone()));
        let ours = Policy::of(&grant);
        let mut bare = serde_json::to_value(&ours).unwrap();
        assert!(lacking(&compare(&ours, &document(&bare.to_string()))).is_empty());
        for statement in bare["Statement"].as_array_mut().unwrap() {
            statement.as_object_mut().unwrap().remove("Condition");
        }
        assert_eq!(compare(&ours, &document(&bare.to_string())), []);
    }
}

#[test]
fn everything_is_told_that_nobody_allows() {
    let ours = Policy::of(&grant(|_| {}));
    let all: BTreeSet<&str> = ours.statements.iter().flat_map(|s| s.actions.iter().copied()).collect();
    assert_eq!(lacking(&compare(&ours, &allow("[]"))), all);
    for admin in [
        r#"{"Effect": "Allow", "Action": "*", "Resource": "*"}"#,
        r#"[{"Effect": "Allow", "NotAction": "sts:*", "NotResource": "arn:aws:kms:*:*:*"}]"#,
        r#"{"Effect": "Allow", "Action": ["EC2:*", "autoscaling:*", "s3:*", "iam:*", "ServiceQuotas:*"], "Resource": ["*"]}"#,
    ] {
        assert_eq!(compare(&ours, &allow(admin)), [], "{admin}");
    }
}

#[test]
fn what_cannot_be_judged_is_told_apart_from_what_is_lacking() {
    let ours = Policy::of(&grant(|_| {}));
    let only = |statements: &str, action: &str| -> Vec<Verdict> {
        let found = compare(&ours, &allow(statements)).into_iter();
        found.filter(|finding| finding.action == action).map(|finding| finding.verdict).collect()
    };
    let unclear = |text: &str| vec![Verdict::Unclear(vec![text.to_owned()])];
    let rest = r#"{"Effect": "Allow", "Action": "*", "Resource": "*"}"#;

    let tagged = r#"{"Sid": "T", "Effect": "Allow", "Action": "iam:PassRole", "Resource": "*",
                     "Condition": {"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}}}"#;
    assert_eq!(
        only(tagged, "iam:PassRole"),
        unclear("statement T allows it under a condition on iam:PassedToService")
    );
    assert_eq!(only(&format!("[{tagged}, {rest}]"), "iam:PassRole"), []);

    let other = r#"[{"Effect": "Allow", "Action": "s3:PutObject", "Resource": "arn:aws:s3:::another/*"}]"#;
    assert_eq!(only(other, "s3:PutObject"), [Verdict::Lacking]);
    // What takes no resource is allowed for all or not at all.
    let arn = r#"{"Effect": "Allow", "Action": "ec2:*", "Resource": "arn:aws:ec2:*:*:*"}"#;
    assert_eq!(only(arn, "ec2:DescribeInstances"), [Verdict::Lacking]);
    let narrow = r#"{"Effect": "Allow", "Action": "ec2:CreateLaunchTemplate",
                     "Resource": "arn:aws:ec2:*:123456789012:launch-template/lt-0a"}"#;
    let told = "statement number 1 allows it on arn:aws:ec2:*:123456789012:launch-template/lt-0a";
    assert_eq!(only(narrow, "ec2:CreateLaunchTemplate"), unclear(told));
    let variable =
        r#"{"Effect": "Allow", "Action": "s3:PutObject", "Resource": "arn:aws:s3:::${aws:username}/*"}"#;
    let told = "statement number 1 allows it on arn:aws:s3:::${aws:username}/*";
    assert_eq!(only(variable, "s3:PutObject"), unclear(told));

    let denied = r#"{"Sid": "No", "Effect": "Deny", "NotAction": "s3:*", "Resource": "*"}"#;
    assert_eq!(only(&format!("[{rest}, {denied}]"), "iam:GetRole"), [Verdict::Denied("No".to_owned())]);
    assert_eq!(only(&format!("[{rest}, {denied}]"), "s3:PutObject"), []);
    let unless = r#"{"Sid": "Mfa", "Effect": "Deny", "Action": "*", "Resource": "*",
                     "Condition": {"Bool": {"aws:MultiFactorAuthPresent": "false"}}}"#;
    let told = "statement Mfa denies it under a condition on aws:MultiFactorAuthPresent";
    assert_eq!(only(&format!("[{rest}, {unless}]"), "s3:PutObject"), unclear(told));
    assert_eq!(only(unless, "s3:PutObject"), [Verdict::Lacking]);
}

#[test]
fn a_document_comes_in_every_form_that_aws_gives_it() {
    let bare =
        r#"{"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}}"#;
    let wanted = document(bare);
    let encoded = bare.replace('{', "%7B").replace('"', "%22").replace(' ', "%20").replace('*', "%2a");
    for text in [
        format!("\u{feff}{bare}"),
        format!(
            r#"{{"PolicyVersion": {{"Document": {bare}, "VersionId": "v3", "IsDefaultVersion": true}}}}"#
        ),
        format!(r#"{{"RoleName": "r", "PolicyName": "p", "PolicyDocument": {bare}}}"#),
        format!(r#"{{"PolicyVersion": {{"Document": "{encoded}"}}}}"#),
        format!("[{bare}]"),
    ] {
        assert_eq!(Document::parse(text.as_bytes()), Ok(wanted.clone()), "{text}");
    }
    for text in [
        "",
        "nonsense",
        "3",
        "{}",
        r#"{"Statement": [{"Effect": "Allow"}]}"#,
        r#"{"Statement": [{"Effect": "Maybe", "Action": "*", "Resource": "*"}]}"#,
        r#"{"Statement": [{"Effect": "Allow", "Action": 3, "Resource": "*"}]}"#,
        r#"{"Statement": [{"Effect": "Allow", "Action": "*", "NotAction": "*", "Resource": "*"}]}"#,
        r#"{"PolicyVersion": {"Document": "%7B"}}"#,
    ] {
        assert!(Document::parse(text.as_bytes()).is_err(), "{text}");
    }
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
