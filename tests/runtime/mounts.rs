//! What the Job finds mounted: settings, credentials, a service account whose token changes.

use std::{fs, os::unix::fs::symlink};

use super::runner::{
    NAMESPACE, Runner, SECRET,
    pod::{CONFIG, TOKEN},
};

/// Applies with settings and a kubeconfig that are mounted, and finds the state where they lead.
#[test]
fn backend_settings_and_a_kubeconfig_are_mounted_files() {
    let runner = Runner::new();
    let settings = "secret_suffix = \"demo-pool\"\nnamespace = \"team-a\"\nlabels = { team = \"a\" }\n";
    let kubeconfig = runner.pod.kubeconfig(TOKEN);
    let mut files = vec![("backend.hcl", settings)];
    files.extend(kubeconfig.iter().map(|(name, text)| (*name, text.as_str())));
    runner.pod.mount(CONFIG, &files);
    runner.kubernetes.require_token(TOKEN);
    let file = |name: &str| runner.pod.inside(CONFIG).join(name).display().to_string();
    runner
        .run(&[
            "init",
            "-input=false",
            &format!("-backend-config={}", file("backend.hcl")),
            &format!("-backend-config=config_path={}", file("kubeconfig")),
        ])
        .ok();
    let apply = ["apply", "-input=false", "-auto-approve", "-var-file=terraform.tfvars.json"];
    runner.run(&apply).ok();
    let secret = runner.kubernetes.object("secrets", NAMESPACE, SECRET).unwrap();
    assert_eq!(secret["metadata"]["labels"]["team"], "a");

    // Another token comes with the next version of the mount; nothing of it was recorded.
    runner.kubernetes.require_token("another");
    runner.run(&apply).fails("does not accept the credentials");
    let kubeconfig = runner.pod.kubeconfig("another");
    let files: Vec<(&str, &str)> = kubeconfig.iter().map(|(name, text)| (*name, text.as_str())).collect();
    runner.pod.mount(CONFIG, &files);
    runner.run(&apply).ok();
}

#[test]
fn the_rendered_files_may_be_links_into_a_mount() {
    let runner = Runner::new();
    let names = ["main.tf.json", "terraform.tfvars.json"];
    let texts = names.map(|name| fs::read_to_string(runner.work("root").join(name)).unwrap());
    runner.pod.mount(CONFIG, &[(names[0], &texts[0]), (names[1], &texts[1])]);
    for name in names {
        fs::remove_file(runner.work("root").join(name)).unwrap();
        symlink(runner.pod.inside(CONFIG).join(name), runner.work("root").join(name)).unwrap();
    }
    runner.apply().ok();
    assert_eq!(runner.destroy().ok(), "Destroy complete! Resources: 5 destroyed.\n");
}

/// A profile whose files are mounted, as an identity's Secret with the keys `config` and `credentials` is.
#[cfg(feature = "aws")]
#[test]
fn an_identity_is_a_profile_in_mounted_files() {
    use std::{
        io::{BufRead as _, BufReader, Write as _},
        net::TcpListener,
    };

    use super::runner::pod::CREDENTIALS;

    let mut runner = Runner::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let config = format!("[profile pool]\nendpoint_url = http://{}\n", listener.local_addr().unwrap());
    let credentials = "[pool]\naws_access_key_id = AKIAMOUNTED\naws_secret_access_key = s3cr3t\n";
    runner.pod.mount(CREDENTIALS, &[("config", &config), ("credentials", credentials)]);
    let file = |name: &str| runner.pod.inside(CREDENTIALS).join(name).display().to_string();
    runner.variables = vec![
        ("AWS_CONFIG_FILE", file("config")),
        ("AWS_SHARED_CREDENTIALS_FILE", file("credentials")),
        ("AWS_PROFILE", "pool".to_owned()),
        ("MACHINEPOOL_SANDBOX", String::new()),
    ];
    // Whoever asks is sent away.
    let (signed, signatures) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let lines = BufReader::new(&stream).lines().map_while(Result::ok);
            for line in lines.take_while(|line| !line.is_empty()) {
                if line.to_ascii_lowercase().starts_with("authorization:") {
                    signed.send(line).unwrap();
                }
            }
            let _ = (&stream).write_all(b"HTTP/1.1 403 X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
    });
    runner.init();
    let mut command = runner.command(&["plan", "-input=false", "-var-file=terraform.tfvars.json"]);
    command.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY");
    let outcome = super::runner::Outcome::of(&command.output().unwrap());
    assert!(!outcome.err.contains("s3cr3t"), "{}", outcome.err);
    outcome.fails("DescribeAutoScalingGroups");
    let signed = signatures.recv().unwrap();
    assert!(signed.contains("Credential=AKIAMOUNTED/"), "{signed}");
}
