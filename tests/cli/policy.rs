//! `iam-policy`: what it prints, and that it asks nobody.

use serde_json::Value;

use super::{Bench, demo, testdata};

fn pool() -> String {
    format!("-var-file={}", demo().display())
}

fn json(text: &str) -> Value {
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
    let policy = json(&outcome.out);
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
    let policy = bench.run(&format!("iam-policy --worker-role demo-worker {}", pool())).ok();
    bench.write("policy.json", &policy);
    let told =
        bench.run(&format!("iam-policy --compare policy.json --worker-role demo-worker {}", pool())).ok();
    assert!(told.starts_with("No action is lacking.\n"), "{told}");
    let admin = br#"{"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}}"#;
    let told = bench.run_with_input(&format!("iam-policy --doctor --compare - {}", pool()), admin).ok();
    assert_eq!(told, "No action is lacking.\n");
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
