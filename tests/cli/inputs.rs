//! Where inputs come from, and what is said about bad ones.

use super::{Bench, demo, status::running_pool};

#[test]
fn without_inputs_the_error_says_what_to_give() {
    let bench = Bench::new();
    for command in ["validate", "plan", "apply -auto-approve", "destroy -auto-approve", "outputs"] {
        let outcome = bench.run(command).fails("Error: No inputs given\n\n");
        assert!(
            outcome.err.contains("-var-file") && outcome.err.contains("terraform.tfvars.json"),
            "{command}"
        );
    }
    // Neither a file of Terraform's own language nor one of another name counts.
    bench.write("terraform.tfvars", "replicas = 3");
    bench.write("pool.tfvars.json", "{}");
    bench.run("validate").fails("No inputs given");
}

#[test]
fn files_that_cannot_be_read_are_told_together() {
    let bench = Bench::new();
    bench.write("broken.json", "{\"replicas\": 3");
    std::fs::create_dir(bench.path("directory")).unwrap();
    let outcome = bench
        .run("validate -var-file=missing.json -var-file=broken.json -var-file=directory -var novalue")
        .fails("Error: Cannot read the inputs from missing.json\n\n");
    for part in ["broken.json", "Cannot read the inputs from directory", "-var"] {
        assert!(outcome.err.contains(part), "{part}: {}", outcome.err);
    }
    assert_eq!(outcome.err.matches("Error: ").count(), 4, "{}", outcome.err);
}

#[test]
fn validate_tells_programs_what_is_wrong() {
    let bench = Bench::new();
    for line in ["validate -json", "validate -json -var-file=missing.json", "validate -json -var a=1"] {
        let outcome = bench.run(line);
        assert_eq!((outcome.code, outcome.err.as_str()), (1, ""), "{line}");
        let verdict: serde_json::Value = serde_json::from_str(&outcome.out).unwrap();
        assert_eq!(verdict["format_version"], "1.0");
        assert_eq!(verdict["valid"], false);
        let found = verdict["diagnostics"].as_array().unwrap();
        assert!(!found.is_empty() && verdict["error_count"] == found.len(), "{line}: {verdict}");
        assert!(
            found.iter().all(|one| one["severity"] == "error" && one["summary"].is_string()),
            "{verdict}"
        );
    }
}

#[test]
fn the_demo_is_valid_from_every_source() {
    let bench = Bench::new();
    let text = std::fs::read_to_string(demo()).unwrap();
    let success = "Success! The inputs are valid.\n";
    let named = format!("validate -var-file {}", demo().display());
    assert_eq!(bench.run(&named).ok(), success);
    assert_eq!(bench.run_with_input("validate -var-file=-", text.as_bytes()).ok(), success);
    bench.write("terraform.tfvars.json", &text);
    assert_eq!(bench.run("validate").ok(), success);
    std::fs::create_dir(bench.path("elsewhere")).unwrap();
    bench.run("validate -chdir=elsewhere").fails("No inputs given");
    bench.run("-chdir elsewhere validate").fails("No inputs given");
    let verdict: serde_json::Value = serde_json::from_str(&bench.run("validate -json").ok()).unwrap();
    assert_eq!(verdict["valid"], true);
    assert_eq!(verdict["error_count"], 0);
}

#[test]
fn a_later_source_wins() {
    let bench = Bench::new();
    bench.write("terraform.tfvars.json", &std::fs::read_to_string(demo()).unwrap());
    bench.write("b.auto.tfvars.json", "{\"replicas\": 2}");
    bench.write("a.auto.tfvars.json", "{\"replicas\": -1}");
    bench.run("validate").ok();
    bench.write("c.auto.tfvars.json", "{\"replicas\": -1}");
    bench.run("validate").fails("replicas");

    let base = format!("-var-file={}", demo().display());
    bench.run(&format!("validate -var replicas=-1 {base}")).ok();
    bench.run(&format!("validate {base} -var replicas=-1")).fails("replicas");
    bench.run(&format!("validate {base} -var=replicas=-1 -var-file=b.auto.tfvars.json")).ok();
    bench.run("validate -var replicas=1").fails("captf_contract");
}

#[test]
fn files_left_unread_for_an_option_are_told_where_inputs_are_missing() {
    let bench = Bench::new();
    let told = |line: &str| bench.run(line).fails("Error: ").err.contains("terraform.tfvars.json in the");
    assert!(!told("validate -var replicas=1"));
    bench.write("terraform.tfvars.json", &std::fs::read_to_string(demo()).unwrap());
    assert!(told("validate -var replicas=1") && told("destroy -auto-approve -var replicas=1"));
    bench.write("more.json", "{}");
    assert!(!told("validate -var replicas=1 -var-file=more.json"));
    bench.run("validate -var-file=terraform.tfvars.json -var replicas=1").ok();
}

#[test]
fn an_unknown_name_is_an_error_with_a_suggestion() {
    let bench = Bench::new();
    let line = format!("validate -var-file={} -var instance_typ=m6i.large", demo().display());
    let outcome = bench.run(&line).fails("instance_typ");
    assert!(outcome.err.contains("instance_type"), "{}", outcome.err);
}

#[test]
fn values_of_secrets_are_never_repeated() {
    let bench = Bench::new();
    let line = format!("-var-file={} -var bootstrap_data=cGxhbnRlZA!!", demo().display());
    for command in ["validate", "validate -json", "plan --sandbox s.json"] {
        let outcome = bench.run(&format!("{command} {line}"));
        assert_eq!(outcome.code, 1, "{command}");
        let all = outcome.out + &outcome.err;
        assert!(all.contains("bootstrap_data") && !all.contains("cGxhbnRlZA"), "{command}: {all}");
    }
}

#[test]
fn an_odd_version_is_taken_with_a_warning_and_shown_as_it_is() {
    let bench = Bench::new();
    let pool = format!("--sandbox account.json -var-file={}", demo().display());
    let warning = "Warning: kubernetes_version does not look like a version\n";
    let without_v = "Warning: kubernetes_version has no \"v\" before it\n";
    for (version, expected) in [
        ("banana", Some(warning)),
        ("v1.34", Some(warning)),
        ("v1.034.1", Some(warning)),
        ("v1.35.1~rc1", Some(warning)),
        ("1.34.1", Some(without_v)),
        ("v1.31.4+rke2r1", None),
        ("v1.35.0-rc.1", None),
    ] {
        let outcome =
            bench.run(&format!("validate -var-file={} -var kubernetes_version={version}", demo().display()));
        assert_eq!(outcome.code, 0, "{version}: {}", outcome.err);
        for one in [warning, without_v] {
            assert_eq!(outcome.err.contains(one), expected == Some(one), "{version}: {}", outcome.err);
        }
        let named = outcome.err.contains(&format!("kubernetes_version is \"{version}\""));
        assert_eq!(named, expected.is_some(), "{}", outcome.err);
    }
    let bench = running_pool();
    let plan = bench.run(&format!("plan {pool} -var kubernetes_version=v1.35.1~rc1")).ok();
    assert!(plan.contains(warning.trim_end()), "{plan}");
    let words = plan.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("because the launch template was made for v1.35.0, wanted for v1.35.1~rc1"),
        "{plan}"
    );
    // From there on, nobody knows it but as a digest.
    bench.run(&format!("apply -auto-approve --wait {pool} -var kubernetes_version=v1.35.1~rc1")).ok();
    bench.run(&format!("plan -detailed-exitcode {pool} -var kubernetes_version=v1.35.1~rc1")).ok();
    let long = "v1.35.1-".to_owned() + &"x".repeat(200) + "~";
    for (version, shown) in [("v1.35.2", "v1.35.2"), (&long, "v1.35.1-xxx")] {
        let plan = bench.run(&format!("plan {pool} -var kubernetes_version={version}")).ok();
        let (verdict, _) = plan.split_once("\n\n").unwrap();
        let verdict = verdict.split_whitespace().collect::<Vec<_>>().join(" ");
        let made = format!("made for a version that its tag holds as a digest, wanted for {shown}");
        assert!(verdict.contains(&made) && verdict.len() < 600, "{verdict}");
    }
}
