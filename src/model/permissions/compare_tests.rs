use std::collections::BTreeSet;

use crate::model::testing;
use serde_json::{Value, json};

use super::{
    compare::{Finding, Verdict, compare},
    tests::grant,
    *,
};

fn document(text: &str) -> Document {
    Document::parse(text.as_bytes()).unwrap()
}

fn allow(statements: &str) -> Document {
    document(&format!(r#"{{"Version": "2012-10-17", "Statement": {statements}}}"#))
}

fn lacking(findings: &[Finding]) -> BTreeSet<&'static str> {
    findings.iter().filter(|finding| finding.is_lacking()).map(|finding| finding.action).collect()
}

/// What iam-policy prints in these regions: for one pool or all, with doctor or without.
fn printed(regions: &[&str]) -> Vec<Policy> {
    let mut policies = Vec::new();
    for all_pools in [false, true] {
        for doctor in [false, true] {
            for &region in regions {
                policies.push(Policy::of(&grant(|grant| {
                    if all_pools {
                        grant.pools = Pools::All;
                    }
                    grant.doctor = doctor;
                    grant.region = region.to_owned();
                    grant.partition = partition(region);
                })));
            }
        }
    }
    policies
}

/// Changes to a policy's text that change nothing of what it allows.
fn in_other_words(policy: &Policy) -> Vec<(&'static str, String)> {
    let value = serde_json::to_value(policy).unwrap();
    let edited = |edit: fn(&mut Value)| {
        let mut edited = value.clone();
        edited["Statement"].as_array_mut().unwrap().iter_mut().for_each(edit);
        edited.to_string()
    };
    let mut reversed = value.clone();
    reversed["Statement"].as_array_mut().unwrap().reverse();
    let one_an_action: Vec<Value> = value["Statement"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|one| {
            one["Action"].as_array().unwrap().iter().map(|action| {
                let mut alone = one.clone();
                alone["Action"] = action.clone();
                alone.as_object_mut().unwrap().remove("Sid");
                alone
            })
        })
        .collect();
    vec![
        ("minified", value.to_string()),
        ("pretty", serde_json::to_string_pretty(policy).unwrap()),
        ("reversed", reversed.to_string()),
        ("one action a statement", json!({"Statement": one_an_action}).to_string()),
        ("without conditions", edited(|one| drop(one.as_object_mut().unwrap().remove("Condition")))),
        ("on everything", edited(|one| one["Resource"] = "*".into())),
        (
            "upper case",
            edited(|one| {
                let upper = one["Action"].to_string().to_uppercase();
                one["Action"] = upper.parse().unwrap();
            }),
        ),
        (
            "lists",
            edited(|one| {
                if one["Resource"].is_string() {
                    one["Resource"] = json!([one["Resource"]]);
                }
            }),
        ),
        (
            "all of a service",
            edited(|one| {
                let actions = one["Action"].as_array().unwrap().iter().map(|one| one.as_str().unwrap());
                let services: BTreeSet<&str> = actions.map(|one| one.split_once(':').unwrap().0).collect();
                one["Action"] = services.into_iter().map(|service| format!("{service}:*")).collect();
            }),
        ),
        (
            "patterns",
            edited(|one| {
                let actions = one["Action"].as_array().unwrap().iter();
                one["Action"] = actions
                    .map(|one| one.as_str().unwrap().replace("Describe", "D*be").replace("Launch", "L?unch"))
                    .collect();
            }),
        ),
        ("version", json!({"PolicyVersion": {"Document": value, "VersionId": "v1"}}).to_string()),
        ("role", json!({"RoleName": "r", "PolicyDocument": value}).to_string()),
    ]
}

#[test]
fn a_policy_allows_all_of_itself_however_it_is_written() {
    for ours in printed(&["*", "cn-north-1", "us-gov-*"]) {
        assert_eq!(compare(&ours, &document(&serde_json::to_string(&ours).unwrap())), []);
    }
    for ours in printed(&["eu-*"]) {
        for (how, text) in in_other_words(&ours) {
            assert_eq!(compare(&ours, &document(&text)), [], "{how}: {text}");
        }
    }
}

/// What is allowed for all pools is allowed for one; and with doctor, without.
#[test]
fn a_wider_policy_of_the_program_allows_a_narrower_one() {
    let text = |policy: &Policy| serde_json::to_string(policy).unwrap();
    let all = Policy::of(&grant(|grant| grant.pools = Pools::All));
    for doctor in [false, true] {
        let one = Policy::of(&grant(|grant| grant.doctor = doctor));
        assert_eq!(compare(&one, &document(&text(&all))), []);
        let anywhere = Policy::of(&grant(|grant| {
            grant.pools = Pools::All;
            grant.region = "us-*".to_owned();
            grant.account = "*".to_owned();
            grant.buckets = vec!["demo-*".to_owned()];
            grant.worker_roles = vec!["arn:aws:iam::*:role/demo-*".to_owned()];
        }));
        assert_eq!(compare(&one, &document(&text(&anywhere))), []);
        // But not the other way round, and nothing of it is said to be lacking that may be there.
        let back = compare(&anywhere, &document(&text(&one)));
        assert!(!back.is_empty());
        if doctor {
            assert_eq!(lacking(&back), BTreeSet::new(), "{back:#?}");
        }
    }
    let elsewhere = Policy::of(&grant(|grant| grant.region = "eu-west-1".to_owned()));
    let found = compare(&Policy::of(&grant(|_| {})), &document(&text(&elsewhere)));
    let shut = Verdict::Shut(vec![
        "statement ReadPools allows it under a condition that does not hold (aws:RequestedRegion)".to_owned(),
    ]);
    assert!(found.iter().any(|one| one.action == "ec2:DescribeImages" && one.verdict == shut), "{found:#?}");
    // Another pool's policy is for another pool.
    let another = Policy::of(&grant(|grant| {
        grant.pools = Pools::One {
            group: "captf-team-b-other-0123abcd".to_owned(),
            object_key: "pool/other".to_owned(),
            identity: testing::tags(&[("captf.io/namespace", "team-b"), ("captf.io/name", "other")]),
        };
    }));
    let found = lacking(&compare(&Policy::of(&grant(|_| {})), &document(&text(&another))));
    for action in
        ["autoscaling:UpdateAutoScalingGroup", "ec2:CreateLaunchTemplate", "ec2:RunInstances", "s3:PutObject"]
    {
        assert!(found.contains(action), "{action}: {found:?}");
    }
    assert!(!found.contains("ec2:DescribeImages"));
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
    assert_eq!(only(tagged, "iam:PassRole"), []);
    let narrower = tagged.replace("iam:PassedToService", "aws:SourceIp");
    let told = "statement T allows it under a condition that may not hold (aws:SourceIp)";
    assert_eq!(only(&narrower, "iam:PassRole"), unclear(told));
    assert_eq!(only(&format!("[{narrower}, {rest}]"), "iam:PassRole"), []);
    let wrong = tagged.replace("ec2.amazonaws.com", "lambda.amazonaws.com");
    let told = "statement T allows it under a condition that does not hold (iam:PassedToService)";
    assert_eq!(only(&wrong, "iam:PassRole"), [Verdict::Shut(vec![told.to_owned()])]);
    assert_eq!(only(&format!("[{wrong}, {narrower}]"), "iam:PassRole").len(), 1);
    assert_eq!(only(&format!("[{wrong}, {rest}]"), "iam:PassRole"), []);

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
    let told = "statement Mfa denies it under a condition that may hold (aws:MultiFactorAuthPresent)";
    assert_eq!(only(&format!("[{rest}, {unless}]"), "s3:PutObject"), unclear(told));
    assert_eq!(only(unless, "s3:PutObject"), [Verdict::Lacking]);

    // A guard that this pool passes is no doubt, and one that it does not pass is a denial.
    let guard = |regions: &str| {
        format!(
            r#"{{"Sid": "Guard", "Effect": "Deny", "NotAction": ["iam:*", "s3:*"], "Resource": "*",
                "Condition": {{"StringNotEquals": {{"aws:RequestedRegion": {regions}}}}}}}"#
        )
    };
    for action in ["ec2:DescribeImages", "autoscaling:DeleteAutoScalingGroup", "ec2:RunInstances"] {
        let passed = guard(r#"["eu-west-1", "us-east-1"]"#);
        assert_eq!(only(&format!("[{rest}, {passed}]"), action), [], "{action}");
        let stopped = only(&format!("[{rest}, {}]", guard(r#""eu-west-1""#)), action);
        assert!(
            stopped.iter().all(|one| *one == Verdict::Denied("Guard".to_owned())),
            "{action}: {stopped:?}"
        );
        assert!(!stopped.is_empty());
    }
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
        format!(r#"[{{"Document": {{"Statement": []}}, "IsDefaultVersion": false}}, {bare}]"#),
        encoded.clone(),
        format!("\n{encoded}\n"),
        json!(bare).to_string(),
        json!({"PolicyDocument": encoded}).to_string(),
        json!({"PolicyDocument": bare}).to_string(),
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
        "%7B",
        "\"nonsense\"",
        r#"{"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*", "Condition": "x"}}"#,
        r#"{"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*", "Condition": {"StringEquals": "x"}}}"#,
        r#"{"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*", "Condition": {"StringEquals": {"x": null}}}}"#,
    ] {
        assert!(Document::parse(text.as_bytes()).is_err(), "{text}");
    }
}
