//! What only an image can show: `.ci/image-smoke` runs these, too.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
};

use super::runner::{Runner, pod::TOKEN};

#[test]
#[ignore = "needs an image: .ci/image-smoke"]
fn the_service_accounts_token_changes_between_commands() {
    let runner = Runner::new();
    runner.apply().ok();
    assert!(runner.kubernetes.seen().iter().all(|seen| seen.authorization == format!("Bearer {TOKEN}")));
    runner.kubernetes.require_token("another");
    let refresh = ["apply", "-refresh-only", "-auto-approve", "-var-file=terraform.tfvars.json"];
    runner.run(&refresh).fails("does not accept the credentials");
    runner.pod.rotate("another");
    runner.run(&refresh).ok();
}

#[test]
#[ignore = "needs an image: .ci/image-smoke"]
fn what_is_not_mounted_cannot_be_written() {
    let runner = Runner::new();
    fs::remove_file(runner.work("root/main.tf.json")).unwrap();
    for file in ["/account.json", "/captf/account.json", "/captf/config/account.json"] {
        let outcome = runner.run(&["apply", "-auto-approve", "--sandbox", file]).fails(file);
        assert!(outcome.err.contains("Read-only file system"), "{}", outcome.err);
    }
    runner.run(&["plan", "-out=/a.tfplan"]).fails("/a.tfplan");
    runner.run(&["apply", "-auto-approve", "--sandbox", "/tmp/account.json"]).ok();
    let made = fs::metadata(runner.pod.host("tmp/account.json")).unwrap();
    assert_eq!((made.uid(), made.gid(), made.mode() & 0o777), (65532, 65532, 0o600));
    runner.run(&["destroy", "-auto-approve", "--sandbox", "/tmp/account.json"]).ok();
}

#[test]
#[ignore = "needs an image: .ci/image-smoke"]
fn nobody_at_the_address_of_aws_is_told_in_words() {
    let mut runner = Runner::new();
    runner.variables = vec![
        ("MACHINEPOOL_SANDBOX", String::new()),
        ("AWS_ENDPOINT_URL", "https://localhost:9".to_owned()),
        ("AWS_MAX_ATTEMPTS", "1".to_owned()),
    ];
    runner.init();
    let outcome = runner.run(&["plan", "-input=false", "-var-file=terraform.tfvars.json"]).fails("no answer");
    // It found the address of a name, and certificates of authorities.
    assert!(outcome.err.contains("Connection refused"), "{}", outcome.err);
    assert!(!outcome.err.contains("panicked"), "{}", outcome.err);
    runner.assert_unlocked();
}

#[test]
#[ignore = "needs an image: .ci/image-smoke"]
fn what_is_not_allowed_names_the_user() {
    let runner = Runner::new();
    let tmp = runner.pod.host("tmp");
    fs::remove_file(runner.work("root/main.tf.json")).unwrap();
    fs::create_dir(tmp.join("closed")).unwrap();
    fs::write(tmp.join("inputs"), "{}").unwrap();
    fs::set_permissions(tmp.join("inputs"), fs::Permissions::from_mode(0o600)).unwrap();
    for args in [
        ["plan", "--sandbox=/tmp/closed/account.json"],
        ["plan", "-out=/tmp/closed/plan"],
        ["plan", "-var-file=/tmp/inputs"],
    ] {
        let outcome = runner.run(&args).fails("/tmp/");
        assert!(outcome.err.contains("the program runs as user 65532"), "{}", outcome.err);
    }
    let outcome = runner.run(&["plan", "--sandbox=/data/account.json"]).fails("/data/account.json");
    assert!(outcome.err.contains("there is no directory /data"), "{}", outcome.err);
}
