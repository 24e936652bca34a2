//! What Terraform would take from the environment.

use super::Bench;

#[test]
fn options_in_the_environment_are_named_once_and_not_taken() {
    let bench = Bench::new();
    let run = |words: &[&str], variables: &[(&str, &str)]| {
        let output = bench.command(words).envs(variables.iter().copied()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let plain = run(&["version", "-json"], &[]);
    for (words, variable) in [
        (&["version", "-json"][..], "TF_CLI_ARGS"),
        (&["version", "-json"], "TF_CLI_ARGS_version"),
        (&["validate", "-json"], "TF_CLI_ARGS_validate"),
        (&["init"], "TF_CLI_ARGS_init"),
        (&["state", "list"], "TF_CLI_ARGS_state_list"),
        (&["state", "push", "x"], "TF_CLI_ARGS_state_push"),
        (&["force-unlock", "x"], "TF_CLI_ARGS_force_unlock"),
    ] {
        let (code, out, err) = run(words, &[(variable, "-var=token=s3cr3t")]);
        let before = run(words, &[]);
        assert_eq!((code, &out), (before.0, &before.1), "{words:?}: {err}");
        assert!(
            err.contains(&format!("Warning: {variable} in the environment is ignored\n")),
            "{words:?}: {err}"
        );
        assert_eq!(err.matches("TF_CLI_ARGS").count(), 1, "{err}");
        assert!(!err.contains("s3cr3t"), "{err}");
    }
    let both = [("TF_CLI_ARGS", "-x"), ("TF_CLI_ARGS_version", "-y")];
    let (_, _, err) = run(&["version", "-json"], &both);
    assert!(err.contains("TF_CLI_ARGS and TF_CLI_ARGS_version in the environment are ignored"), "{err}");
    // Nothing is said of what is none, of another command's, and by commands that Terraform does not have.
    for variables in [[("TF_CLI_ARGS", "")], [("TF_CLI_ARGS_plan", "-x")]] {
        assert_eq!(run(&["version", "-json"], &variables), plain);
    }
    assert_eq!(run(&["schema"], &[("TF_CLI_ARGS", "-x")]).2, "");
}

#[test]
fn values_in_the_environment_are_named_once_and_not_taken() {
    let bench = Bench::new();
    let demo = format!("-var-file={}", super::demo().display());
    let run = |words: &[&str], variables: &[(&str, &str)]| {
        let output = bench.command(words).envs(variables.iter().copied()).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    for words in
        [&["plan", "--sandbox", "a.json", &demo][..], &["validate", &demo], &["validate", "-json", &demo]]
    {
        let err = run(words, &[("TF_VAR_replicas", "9s3cr3t"), ("TF_VAR_bootstrap_data", "s3cr3t")]);
        let told = "TF_VAR_bootstrap_data and TF_VAR_replicas in the environment are ignored";
        assert!(err.contains(told), "{words:?}: {err}");
        assert_eq!(err.matches("TF_VAR_").count(), 2, "{err}");
        assert!(!err.contains("s3cr3t"), "{err}");
    }
    assert_eq!(run(&["schema"], &[("TF_VAR_replicas", "9")]), "");
    assert_eq!(run(&["validate", &demo], &[("TF_VAR_", "9")]), run(&["validate", &demo], &[]));
}
