//! `iam-policy`: what it prints, and that it asks nobody.

use serde_json::{Value, json};

use super::{Bench, demo, testdata};

fn pool() -> String {
    format!("-var-file={}", demo().display())
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn statement<'a>(policy: &'a Value, sid: &str) -> &'a Value {
    policy["Statement"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["Sid"] == sid)
        .unwrap_or_else(|| panic!("{sid}"))
}

#[test]
fn a_pools_policy_names_its_resources() {
    let bench = Bench::new();
    let outcome =
        bench.run(&format!("iam-policy --account 123456789012 --worker-role demo-worker {}", pool()));
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""), "{}", outcome.out);
    let policy = parsed(&outcome.out);
    assert_eq!(policy["Version"], "2012-10-17");
    assert_eq!(
        statement(&policy, "CreateGroup")["Resource"],
        "arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:*:autoScalingGroupName/captf-team-a-demo-pool-0-43c6d828"
    );
    assert_eq!(
        statement(&policy, "PassWorkersRole")["Resource"],
        "arn:aws:iam::123456789012:role/demo-worker"
    );
    let object = statement(&policy, "WriteBootstrapObject")["Resource"].as_str().unwrap();
    assert!(object.starts_with("arn:aws:s3:::") && object.ends_with("/pool/demo-pool-0"), "{object}");
    assert!(!outcome.out.contains("Doctor"), "{}", outcome.out);
    let with = bench.run(&format!("iam-policy --doctor --worker-role demo-worker {}", pool())).ok();
    assert!(with.contains("ec2:DescribeSubnets"), "{with}");
}

#[test]
fn all_pools_need_no_inputs_and_wide_is_said_to_be_wide() {
    let bench = Bench::new();
    let outcome = bench.run("iam-policy --all-pools");
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    for warning in ["any role", "any bucket", "any region"] {
        assert!(outcome.err.contains(warning), "{}", outcome.err);
    }
    assert!(outcome.out.contains("autoScalingGroupName/captf-*"));
    let line =
        "iam-policy --all-pools --region cn-* --bucket captf-* --worker-role captf-* --account 123456789012";
    let outcome = bench.run(line);
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
    assert!(outcome.out.contains("arn:aws-cn:s3:::captf-*/pool/*"), "{}", outcome.out);
    bench.run("iam-policy").fails("No inputs given");
    bench.run("iam-policy --all-pools --account 12").fails("12 digits");
}

#[test]
fn the_policy_of_the_program_lacks_nothing() {
    let bench = Bench::new();
    for options in [
        "--worker-role demo-worker",
        "--doctor",
        "--doctor --account 123456789012 --worker-role demo-worker",
        "--all-pools",
        "--all-pools --doctor --region eu-* --bucket captf-* --worker-role captf-*",
    ] {
        let place = if options.contains("--region") { String::new() } else { pool() };
        let policy = bench.run(&format!("iam-policy {options} {place}")).ok();
        bench.write("pretty.json", &policy);
        let value = parsed(&policy);
        bench.write("minified.json", &value.to_string());
        bench.write("answer.json", &json!({"PolicyVersion": {"Document": value}}).to_string());
        for file in ["pretty.json", "minified.json", "answer.json"] {
            let told = bench.run(&format!("iam-policy --compare {file} {options} {place}")).ok();
            assert_eq!(told, "No action is lacking.\n", "{options} {file}");
        }
    }
    let admin = br#"{"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}}"#;
    let told = bench.run_with_input(&format!("iam-policy --doctor --compare - {}", pool()), admin).ok();
    assert_eq!(told, "No action is lacking.\n");
}

/// A policy of the same text but for one statement.
fn altered(policy: &Value, sid: &str, alter: impl FnOnce(&mut Value)) -> String {
    let mut altered = policy.clone();
    let statements = altered["Statement"].as_array_mut().unwrap();
    alter(statements.iter_mut().find(|one| one["Sid"] == sid).unwrap());
    altered.to_string()
}

#[test]
fn conditions_are_fulfilled_or_not_or_nobody_can_say() {
    let bench = Bench::new();
    let options = format!("--account 123456789012 --worker-role demo-worker {}", pool());
    let policy = parsed(&bench.run(&format!("iam-policy {options}")).ok());
    let compare = |text: &str| {
        bench.write("theirs.json", text);
        bench.run(&format!("iam-policy --compare theirs.json {options}"))
    };
    let narrower = altered(&policy, "CreateGroup", |one| {
        one["Condition"]["IpAddress"] = json!({"aws:SourceIp": "10.0.0.0/8"});
    });
    let outcome = compare(&narrower);
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
    let words = outcome.out.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
    assert!(words.contains("autoscaling:CreateAutoScalingGroup"), "{}", outcome.out);
    for part in ["No action is lacking.", "1 permission cannot be judged", "may not hold", "(aws:SourceIp)"] {
        assert!(words.contains(part), "{part}: {}", outcome.out);
    }
    let elsewhere = altered(&policy, "ReadPools", |one| {
        one["Condition"]["StringEquals"]["aws:RequestedRegion"] = "eu-west-1".into();
    });
    let outcome = compare(&elsewhere);
    assert_eq!(outcome.code, 1);
    assert!(outcome.out.starts_with("9 permissions are lacking:\n"), "{}", outcome.out);
    let denying = altered(&policy, "ReadPools", |one| one["Effect"] = "Deny".into());
    let outcome = compare(&denying);
    assert_eq!(outcome.code, 1);
    assert!(outcome.out.contains("Denied by statement ReadPools"), "{}", outcome.out);
    // Another account cannot be told from this one as long as this one is not known.
    bench.write("theirs.json", &policy.to_string());
    let outcome =
        bench.run(&format!("iam-policy --compare theirs.json --worker-role demo-worker {}", pool()));
    assert_eq!(outcome.code, 0);
    assert!(outcome.err.contains("Give --account ID"), "{}", outcome.err);
}

#[test]
fn an_identity_of_the_module_lacks_actions_and_the_exit_code_says_so() {
    let bench = Bench::new();
    let module = testdata("policies/terraform-module.json");
    let outcome = bench.run(&format!("iam-policy --compare {} {}", module.display(), pool()));
    assert_eq!(outcome.code, 1, "{}", outcome.err);
    assert!(outcome.out.contains("autoscaling:DescribeInstanceRefreshes"), "{}", outcome.out);
    bench.write(
        "more.json",
        r#"{"Statement": {"Effect": "Allow", "Action": ["autoscaling:*", "ec2:*"], "Resource": "*"}}"#,
    );
    let told =
        bench.run(&format!("iam-policy --compare {} --compare more.json {}", module.display(), pool())).ok();
    assert_eq!(told, "No action is lacking.\n");
}

#[test]
fn what_is_no_policy_is_named() {
    let bench = Bench::new();
    bench.write("x.json", "{}");
    for (file, part) in
        [("x.json", "no policy document"), ("none.json", "Cannot read the policy in none.json")]
    {
        bench.run(&format!("iam-policy --compare {file} {}", pool())).fails(part);
    }
    bench.run(&format!("iam-policy --explain --compare x.json {}", pool())).fails("cannot be used with");
}

#[test]
fn explanations_fit_where_there_is_no_terminal() {
    let told = Bench::new().run(&format!("iam-policy --explain --doctor {}", pool())).ok();
    assert!(told.lines().all(|line| line.chars().count() <= 100), "{told}");
    assert!(told.contains("PassWorkersRole") && told.contains("DoctorReads"), "{told}");
}
