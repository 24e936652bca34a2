#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::Path,
};

use super::*;
use crate::contract::{json::Json, problem::Problems};

/// A value that must never come back in an error.
const TOKEN: &str = "s3cr3t-t0ken";

fn block(text: &str) -> Vec<(String, Json)> {
    match Json::parse(text.as_bytes()).unwrap() {
        Json::Object(fields) => fields,
        other => panic!("{other:?}"),
    }
}

fn with_files(text: &str, flags: &[&str], files: &[(&str, &str)]) -> Result<Settings, Problems> {
    let flags: Vec<String> = flags.iter().map(ToString::to_string).collect();
    Settings::given(&block(text), &flags, &|path: &Path| {
        let found = files.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, text)| text.as_bytes().to_vec()).ok_or(io::ErrorKind::NotFound.into())
    })
}

fn given(text: &str, flags: &[&str]) -> Settings {
    with_files(text, flags, &[]).unwrap_or_else(|problems| panic!("{problems:?}"))
}

#[track_caller]
fn refused(text: &str, flags: &[&str], part: &str) {
    let problems = with_files(text, flags, &[]).unwrap_err();
    let all = format!("{problems:?}");
    assert!(all.contains(part), "{part:?} is not in {all}");
    assert!(!all.contains(TOKEN), "{all}");
}

fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn environment(variables: &'static [(&str, &str)]) -> impl Fn(&str) -> Option<String> {
    move |name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
}

#[test]
fn the_runners_flags_are_read() {
    let settings = given(
        "{}",
        &[
            "secret_suffix=captf-pool-a",
            "namespace=clusters",
            "in_cluster_config=true",
            r#"labels={"captf.io/object"="pool","app"="x"}"#,
        ],
    );
    assert_eq!(settings.secret_suffix.as_deref(), Some("captf-pool-a"));
    assert_eq!(settings.namespace(), "clusters");
    assert_eq!(settings.in_cluster_config, Some(true));
    assert_eq!(settings.labels, Some(labels(&[("app", "x"), ("captf.io/object", "pool")])));
}

#[test]
fn labels_are_an_hcl_map_however_it_is_spelled() {
    let same = Some(labels(&[("a", "1"), ("b/c", "x=y,z")]));
    for text in [
        r#"{"a"="1","b/c"="x=y,z"}"#,
        r#"{"a":"1","b/c":"x=y,z"}"#,
        r#" { a = 1, "b/c" = "x=y,z", } "#,
        "{\n  a = \"1\"\n  \"b/c\" = \"x=y,z\"\n}",
    ] {
        assert_eq!(given("{}", &[&format!("labels={text}")]).labels, same, "{text}");
    }
    assert_eq!(given("{}", &["labels={}"]).labels, Some(labels(&[])));
    assert_eq!(given("{}", &["labels="]).labels, None);
    assert_eq!(given("{}", &[r#"labels={"a"="q\"\\u"}"#]).labels, Some(labels(&[("a", "q\"\\u")])));
    for text in [r#"{"a"="1""#, r#"["a"]"#, "a", r#"{"a"=["1"]}"#, r#"{"a"=var.x}"#, r#"{"a"="${x}"}"#] {
        refused("{}", &[&format!("labels={text}")], "labels");
    }
}

#[test]
fn values_on_the_command_line_are_taken_as_they_are() {
    let settings = given("{}", &["token=a=b \"c\" ${d}", "insecure=true", r#"config_paths=["/a","/b"]"#]);
    assert!(settings.token.is_some_and(|token| token.expose() == "a=b \"c\" ${d}"));
    assert_eq!(settings.insecure, Some(true));
    assert_eq!(settings.config_paths, Some(vec!["/a".to_owned(), "/b".to_owned()]));
}

#[test]
fn flags_beat_the_block_and_the_last_flag_wins() {
    let text = r#"{"secret_suffix": "block", "namespace": "block", "host": "https://block"}"#;
    let files = [("b.hcl", "namespace = \"file\"\nhost = \"https://file\"\n")];
    let settings = with_files(text, &["namespace=flag", "b.hcl", "host=https://flag"], &files).unwrap();
    assert_eq!(settings.secret_suffix.as_deref(), Some("block"));
    assert_eq!(settings.namespace(), "file");
    assert_eq!(settings.host.as_deref(), Some("https://flag"));
}

#[test]
fn files_are_hcl_or_json() {
    let hcl = "# where\nsecret_suffix = \"a\" // why\nlabels = {\n  \"x\" = \"y\"\n}\ninsecure = false\n\
               cluster_ca_certificate = <<-EOT\n  -----BEGIN\n  abc\n  EOT\n\
               exec {\n  api_version = \"v1\"\n  command = \"get-token\"\n  args = [\"-q\"]\n  env = { A = \"b\" }\n}\n";
    let json = r#"{"secret_suffix": "a", "labels": {"x": "y"}, "insecure": false,
        "cluster_ca_certificate": "-----BEGIN\nabc\n",
        "exec": [{"api_version": "v1", "command": "get-token", "args": ["-q"], "env": {"A": "b"}}]}"#;
    let files = [("a.hcl", hcl), ("a.json", json)];
    let from_hcl = with_files("{}", &["a.hcl"], &files).unwrap();
    assert_eq!(from_hcl.cluster_ca_certificate.as_deref(), Some("-----BEGIN\nabc\n"));
    assert!(from_hcl.exec.as_ref().is_some_and(|exec| exec.env["A"].expose() == "b"));
    assert!(from_hcl == with_files("{}", &["a.json"], &files).unwrap());
}

#[test]
fn nothing_null_and_empty_are_the_same() {
    let text = r#"{"namespace": null, "host": "", "labels": null, "exec": [], "insecure": null}"#;
    assert!(given(text, &["token=", "config_paths="]) == Settings::default());
    assert!(given("{}", &[""]) == Settings::default());
    assert_eq!(Settings::default().namespace(), "default");
}

#[test]
fn what_cannot_be_a_setting_is_refused_by_name_and_never_quoted() {
    refused(r#"{"bucket": "s3cr3t-t0ken"}"#, &[], "bucket");
    refused(r#"{"name_space": "x"}"#, &[], "namespace");
    refused("{}", &["suffix=s3cr3t-t0ken"], "suffix");
    refused("{}", &["insecure=s3cr3t-t0ken"], "insecure");
    refused(r#"{"token": ["s3cr3t-t0ken"]}"#, &[], "token");
    refused(r#"{"exec": {"api_version": "v1", "token": "s3cr3t-t0ken"}}"#, &[], "exec");
    refused(r#"{"exec": {"command": "s3cr3t-t0ken"}}"#, &[], "api_version");
    refused("{}", &["no-such-file"], "no-such-file");
    let files = [("a.hcl", "token = \"s3cr3t-t0ken\" \"\n"), ("a.json", "{\"token\": \"s3cr3t-t0ken\",}")];
    for (name, _) in files {
        let all = format!("{:?}", with_files("{}", &[name], &files).unwrap_err());
        assert!(all.contains(name) && !all.contains(TOKEN), "{all}");
    }
}

#[test]
fn hostile_hcl_is_refused() {
    let nested =
        |open: &str, close: &str, depth: usize| format!("{}{}", open.repeat(depth), close.repeat(depth));
    let mut texts: Vec<String> = [1000, 10_000]
        .iter()
        .flat_map(|&depth| {
            [
                nested("[", "]", depth),
                nested("{a=", "}", depth),
                nested("(", ")", depth),
                nested("f(", ")", depth),
                nested("\"${", "}\"", depth),
                nested("[for a in b: ", "]", depth),
                "[".repeat(depth),
                format!("{}1", "!".repeat(depth)),
                format!("{}1", "-".repeat(depth)),
                format!("{}1", "a?b:".repeat(depth)),
                format!("{}1", "1+".repeat(depth)),
                format!("a{}", "[0]".repeat(depth)),
                format!("a{}", "[a".repeat(depth)),
                format!("a{}", ".b".repeat(depth)),
            ]
        })
        .collect();
    texts.extend(
        ["1e400", "1e1000000", "\u{feff}{}", "{\0=1}", "{\"a\"=\"\\ud800\"}", "\"", "<<-E\n", "{a=\"%{\"}"]
            .map(str::to_owned),
    );
    texts.push("9".repeat(100_000));
    for text in texts {
        let shown: String = text.chars().take(12).collect();
        for name in ["labels", "config_paths", "exec"] {
            assert!(with_files("{}", &[&format!("{name}={text}")], &[]).is_err(), "{name}={shown}");
        }
        let file = format!("labels = {text}\n");
        assert!(with_files("{}", &["a.hcl"], &[("a.hcl", &file)]).is_err(), "{shown}");
    }
    let large = (0..5_000).fold("labels = {".to_owned(), |text, n| format!("{text}k{n} = {n}\n")) + "}\n";
    assert!(with_files("{}", &["a.hcl"], &[("a.hcl", &large)]).is_ok());
}

#[test]
fn all_faults_are_told_at_once() {
    let problems =
        with_files(r#"{"bucket": "b", "insecure": "maybe"}"#, &["x=y", "nowhere"], &[]).unwrap_err();
    assert_eq!(problems.0.len(), 4, "{problems:?}");
}

#[test]
fn the_environment_fills_in_and_never_beats_a_setting() {
    let variables = environment(&[
        ("KUBE_NAMESPACE", "env"),
        ("KUBE_IN_CLUSTER_CONFIG", "1"),
        ("KUBE_HOST", "https://env"),
        ("KUBE_USER", "env"),
        ("KUBE_PASSWORD", "env"),
        ("KUBE_INSECURE", "true"),
        ("KUBE_TLS_SERVER_NAME", "env"),
        ("KUBE_CLIENT_CERT_DATA", "env"),
        ("KUBE_CLIENT_KEY_DATA", "env"),
        ("KUBE_CLUSTER_CA_CERT_DATA", "env"),
        ("KUBE_CONFIG_PATH", "/env"),
        ("KUBE_CONFIG_PATHS", "/a:/b"),
        ("KUBE_CTX", "env"),
        ("KUBE_CTX_AUTH_INFO", "env"),
        ("KUBE_CTX_CLUSTER", "env"),
        ("KUBE_TOKEN", "env"),
        ("KUBE_PROXY_URL", "http://env"),
    ]);
    let all = Settings::default().with_environment(&variables).unwrap();
    assert_eq!(all.namespace(), "env");
    assert_eq!((all.in_cluster_config, all.insecure), (Some(true), Some(true)));
    assert_eq!(all.config_paths, Some(vec!["/a".to_owned(), "/b".to_owned()]));
    for text in [&all.host, &all.username, &all.tls_server_name, &all.client_certificate, &all.config_path] {
        assert!(text.as_deref().is_some_and(|text| text.contains("env")));
    }
    for text in [&all.config_context, &all.config_context_auth_info, &all.config_context_cluster] {
        assert_eq!(text.as_deref(), Some("env"));
    }
    for secret in [&all.password, &all.client_key, &all.token, &all.proxy_url] {
        assert!(secret.as_ref().is_some_and(|secret| secret.expose().contains("env")));
    }

    let set = given(
        r#"{"namespace": "set", "insecure": false, "token": "set", "config_paths": ["/set"]}"#,
        &["host=https://set"],
    );
    let merged = set.with_environment(&variables).unwrap();
    assert_eq!((merged.namespace(), merged.host.as_deref()), ("set", Some("https://set")));
    assert_eq!(merged.insecure, Some(false));
    assert!(merged.token.is_some_and(|token| token.expose() == "set"));
    assert!(
        merged.username.is_none() && merged.password.is_none(),
        "another way to log in came from outside"
    );
    assert_eq!((merged.config_path, merged.in_cluster_config), (None, None));
}

#[test]
fn empty_variables_say_nothing_and_bad_ones_are_named() {
    let empty = environment(&[("KUBE_NAMESPACE", ""), ("KUBE_INSECURE", "")]);
    assert!(Settings::default().with_environment(&empty).unwrap() == Settings::default());
    let bad = environment(&[("KUBE_INSECURE", "perhaps")]);
    let all = format!("{:?}", Settings::default().with_environment(&bad).unwrap_err());
    assert!(all.contains("KUBE_INSECURE") && !all.contains("perhaps"), "{all}");
}

#[test]
fn names_and_labels_are_terraforms() {
    let settings = given("{}", &["secret_suffix=pool.a-x1", "namespace=ns", r#"labels={"team"="b"}"#]);
    let names = settings.names("default").unwrap();
    assert_eq!(names.secret, "tfstate-default-pool.a-x1");
    assert_eq!(names.lease, "lock-tfstate-default-pool.a-x1");
    let expected = [
        ("app.kubernetes.io/managed-by", "terraform"),
        ("team", "b"),
        ("tfstate", "true"),
        ("tfstateSecretSuffix", "pool.a-x1"),
        ("tfstateWorkspace", "default"),
    ];
    assert_eq!(names.labels, labels(&expected));
    assert_eq!(names.selector(), "tfstate=true,tfstateSecretSuffix=pool.a-x1,tfstateWorkspace=default");
    assert_eq!(names.part(0), names.secret);
    assert_eq!(names.part(2), "tfstate-default-pool.a-x1-part-2");
    let index = |rest: &str| names.part_index(&format!("{}{rest}", names.secret));
    assert_eq!(index(""), Some(0));
    assert_eq!(index("-part-12"), Some(12));
    for rest in ["-part-0", "-part-01", "-part-", "-part-+1", "-part-1x", "-copy", "x"] {
        assert_eq!(index(rest), None, "{rest}");
    }
}

#[test]
fn names_that_cannot_be_are_refused_with_the_reason() {
    let long = "x".repeat(64);
    for (suffix, reason) in [
        ("pool-1", "-<number>"),
        ("pool-007", "-<number>"),
        ("a-part-1", "-<number>"),
        ("12", "-<number>"),
        ("Pool", "upper-case"),
        (long.as_str(), "at most 63"),
        ("pool_a", "only a-z"),
        ("-pool", "only a-z"),
        ("pool-", "only a-z"),
        ("pool/x", "only a-z"),
        ("pöol", "only a-z"),
        ("a..b", "dot"),
        ("a-.b", "dot"),
    ] {
        let settings = given("{}", &[&format!("secret_suffix={suffix}")]);
        let all = format!("{:?}", settings.names("default").unwrap_err());
        assert!(all.contains(reason), "{suffix}: {all}");
    }
    assert!(format!("{:?}", Settings::default().names("default").unwrap_err()).contains("secret_suffix"));
    let good = given("{}", &["secret_suffix=pool"]);
    for workspace in ["", "Prod", "a b", "a/b", "../x", long.as_str(), "-x"] {
        let all = format!("{:?}", good.names(workspace).unwrap_err());
        assert!(all.contains("workspace"), "{workspace}: {all}");
    }
    let sixty_three = "x".repeat(63);
    assert!(given("{}", &[&format!("secret_suffix={sixty_three}")]).names(&sixty_three).is_ok());
    for namespace in ["Ns", "a.b", "-"] {
        assert!(
            given("{}", &["secret_suffix=x", &format!("namespace={namespace}")]).names("default").is_err()
        );
    }
}

#[test]
fn labels_that_cannot_be_are_refused() {
    for label in [
        r#""tfstate"="false""#,
        r#""tfstateSecretSuffix"="x""#,
        r#""a b"="x""#,
        r#""a"="x y""#,
        r#""A.b/"="x""#,
        r#""a"="-""#,
    ] {
        let settings = given("{}", &["secret_suffix=x", &format!("labels={{{label}}}")]);
        assert!(settings.names("default").is_err(), "{label}");
    }
    let fine =
        given("{}", &["secret_suffix=x", r#"labels={"a.io/B_c"="", "app.kubernetes.io/managed-by"="me"}"#]);
    assert_eq!(fine.names("default").unwrap().labels["app.kubernetes.io/managed-by"], "me");
}

#[test]
fn what_was_recorded_comes_back_for_its_owner_alone() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("deep/.terraform");
    let settings = given(
        r#"{"exec": {"api_version": "v1", "command": "c", "args": ["a"], "env": {"A": "b"}}}"#,
        &["secret_suffix=a", "token=s3cr3t-t0ken", "insecure=false", r#"labels={"a"="b"}"#],
    );
    settings.record(&data).unwrap();
    assert!(Settings::recorded(&data).unwrap() == settings);
    let files: Vec<_> = fs::read_dir(&data).unwrap().map(|entry| entry.unwrap()).collect();
    assert_eq!(files.len(), 1);
    assert_eq!(files[0].metadata().unwrap().mode() & 0o777, 0o600);

    // A second init replaces it, also one with another mode.
    fs::set_permissions(files[0].path(), fs::Permissions::from_mode(0o644)).unwrap();
    let other = given("{}", &["secret_suffix=b"]);
    other.record(&data).unwrap();
    assert!(Settings::recorded(&data).unwrap() == other);
    assert_eq!(fs::metadata(files[0].path()).unwrap().mode() & 0o777, 0o600);
}

#[test]
fn without_a_usable_record_the_way_out_is_init() {
    let directory = tempfile::tempdir().unwrap();
    let told = |directory: &Path| format!("{:?}", Settings::recorded(directory).unwrap_err());
    assert!(told(directory.path()).contains("run init"));
    given("{}", &["token=s3cr3t-t0ken"]).record(directory.path()).unwrap();
    let path = fs::read_dir(directory.path()).unwrap().next().unwrap().unwrap().path();
    let whole = fs::read_to_string(&path).unwrap();
    for broken in [
        "",
        "{}",
        &whole[..whole.len() - 3],
        &whole.replace("\"format\":1", "\"format\":2"),
        &whole.replace("\"token\"", "\"later\""),
        r#"{"format":1,"settings":{"token":{"s3cr3t-t0ken":1}}}"#,
    ] {
        fs::write(&path, broken).unwrap();
        let told = told(directory.path());
        assert!(told.contains("run init again") && !told.contains(TOKEN), "{broken}: {told}");
    }
}

#[test]
fn debug_shows_no_secret() {
    let settings = given(
        r#"{"exec": {"api_version": "v1", "command": "c", "args": ["s3cr3t-t0ken"], "env": {"A": "s3cr3t-t0ken"}}}"#,
        &[
            "secret_suffix=a",
            "token=s3cr3t-t0ken",
            "password=s3cr3t-t0ken",
            "proxy_url=http://u:s3cr3t-t0ken@p",
        ],
    );
    assert!(!format!("{settings:?}").contains(TOKEN));
}
