//! Ways to the API, and ways that lead nowhere.

use std::{fs, net::TcpListener};

use machinepool::contract::problem::Diagnostic;

use super::*;

type Connected = Result<(Store, Vec<Diagnostic>), StoreError>;

async fn connect(flags: &[&str], environment: &[(&str, &str)]) -> Connected {
    let mut all = vec!["secret_suffix=pool".to_owned(), format!("namespace={NAMESPACE}")];
    all.extend(flags.iter().map(ToString::to_string));
    let get = |name: &str| environment.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
    let settings =
        Settings::given(&[], &all, &|_| panic!("no file")).unwrap().with_environment(&get).unwrap();
    Store::connect(&settings, settings.names("default").unwrap(), &get, Path::new(NO_POD)).await
}

async fn asked(flags: &[&str], environment: &[(&str, &str)]) -> Result<(), StoreError> {
    connect(flags, environment).await?.0.read().await.map(drop)
}

#[tokio::test]
async fn with_nothing_configured_and_no_pod_around_there_is_no_default() {
    let home = tempfile::tempdir().unwrap();
    let double = Double::start();
    fs::create_dir(home.path().join(".kube")).unwrap();
    let config = kubeconfig(home.path(), "config", &double.address, "t");
    fs::copy(&config, home.path().join(".kube/config")).unwrap();
    let (home, config) = (home.path().to_str().unwrap(), config.as_str());
    for environment in [&[][..], &[("HOME", home)], &[("KUBECONFIG", config)], &[("KUBE_TOKEN", "x")]] {
        told(
            &asked(&[], environment).await.unwrap_err(),
            StoreErrorKind::Settings,
            &["in_cluster_config", "host"],
        );
    }
    let half = [("KUBERNETES_SERVICE_HOST", "10.0.0.1")];
    told(&asked(&[], &half).await.unwrap_err(), StoreErrorKind::Settings, &["KUBERNETES_SERVICE_PORT"]);
    let no_files = [("KUBERNETES_SERVICE_HOST", "10.0.0.1"), ("KUBERNETES_SERVICE_PORT", "443")];
    for flags in [&[][..], &["in_cluster_config=true"]] {
        told(&asked(flags, &no_files).await.unwrap_err(), StoreErrorKind::Settings, &["service account"]);
    }
    assert_eq!(double.calls(), <[String; 0]>::default());
}

#[tokio::test]
async fn a_token_with_a_line_end_behind_it_is_taken_and_one_that_no_header_can_hold_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let double = Double::start();
    double.require_token("t0k3n");
    let host = format!("host={}", double.address);
    for token in ["t0k3n", "t0k3n\n", " t0k3n\r\n"] {
        asked(&[&host, &format!("token={token}")], &[]).await.unwrap();
        asked(&[&host], &[("KUBE_TOKEN", token)]).await.unwrap();
    }
    let config = kubeconfig(home.path(), "config", &double.address, "\"t0k3n\\n\"");
    asked(&[&format!("config_path={config}"), "config_context=good"], &[]).await.unwrap();
    for token in ["t0\nk3n", "t0k3n\n\nX-Other: 1", "t0\0k3n", "\u{1b}t0k3n"] {
        let error = asked(&[&host, &format!("token={token}")], &[]).await.unwrap_err();
        told(&error, StoreErrorKind::Settings, &["the token", "control characters"]);
        assert!(!format!("{error:?}").contains("k3n"), "{error:?}");
    }
}

/// A kubeconfig with two contexts: `good` leads to the address, `bad` nowhere.
fn kubeconfig(directory: &Path, name: &str, address: &str, token: &str) -> String {
    let path = directory.join(name);
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: bad\n\
         clusters:\n- name: here\n  cluster:\n    server: {address}\n- name: nowhere\n  cluster:\n    server: http://127.0.0.1:9\n\
         users:\n- name: me\n  user:\n    token: {token}\n- name: other\n  user:\n    token: wrong\n\
         contexts:\n- name: good\n  context:\n    cluster: here\n    user: me\n\
         - name: bad\n  context:\n    cluster: nowhere\n    user: other\n"
    );
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[tokio::test]
async fn kubeconfigs_lead_where_their_context_does() {
    let directory = tempfile::tempdir().unwrap();
    let double = Double::start();
    double.require_token("right");
    let path = kubeconfig(directory.path(), "config", &double.address, "right");
    let flag = format!("config_path={path}");
    asked(&[&flag, "config_context=good"], &[]).await.unwrap();
    asked(&[&flag, "config_context_cluster=here", "config_context_auth_info=me"], &[]).await.unwrap();
    asked(&[], &[("KUBE_CONFIG_PATH", &path), ("KUBE_CTX", "good")]).await.unwrap();
    let home = directory.path().to_str().unwrap();
    asked(&["config_path=~/config", "config_context=good"], &[("HOME", home)]).await.unwrap();
    // Single settings beat the file.
    let host = format!("host={}", double.address);
    asked(&[&flag, &host, "token=right"], &[]).await.unwrap();
    // The first file to say something wins.
    let second = kubeconfig(directory.path(), "second", "http://127.0.0.1:9", "wrong");
    let paths = format!("config_paths=[{path:?},{second:?}]");
    asked(&[&paths, "config_context=good"], &[]).await.unwrap();
    let both = format!("{path}:{second}");
    asked(&[], &[("KUBE_CONFIG_PATHS", &both), ("KUBE_CTX", "good")]).await.unwrap();
    assert!(double.calls().iter().all(|call| call.ends_with("secrets")), "something was discovered");

    told(&asked(&[&flag], &[]).await.unwrap_err(), StoreErrorKind::Unreachable, &["127.0.0.1:9", "refused"]);
    let fault = asked(&[&flag, "config_context=ugly"], &[]).await.unwrap_err();
    told(&fault, StoreErrorKind::Settings, &["no context \"ugly\""]);
    let fault = asked(&["config_path=/no/such/file"], &[]).await.unwrap_err();
    told(&fault, StoreErrorKind::Settings, &["/no/such/file"]);
}

#[tokio::test]
async fn of_several_kubeconfigs_some_may_be_missing() {
    let directory = tempfile::tempdir().unwrap();
    let double = Double::start();
    let there = kubeconfig(directory.path(), "config", &double.address, "t");
    let missing = directory.path().join("missing").to_str().unwrap().to_owned();
    for paths in [[&missing, &there], [&there, &missing]] {
        let flag = format!("config_paths={paths:?}");
        asked(&[&flag, "config_context=good"], &[]).await.unwrap();
        let variable = format!("{}:{}", paths[0], paths[1]);
        asked(&[], &[("KUBE_CONFIG_PATHS", &variable), ("KUBE_CTX", "good")]).await.unwrap();
    }
    let other = format!("{missing}2");
    let none = format!("config_paths={:?}", [&missing, &other]);
    let fault = asked(&[&none], &[]).await.unwrap_err();
    told(&fault, StoreErrorKind::Settings, &["none of the kubeconfigs", &missing, &other]);
    // With a host, they need not say anything.
    asked(&[&none, &format!("host={}", double.address)], &[]).await.unwrap();
    // A single one must be there, and one that is there must be one.
    for flag in [format!("config_path={missing}"), format!("config_paths={:?}", [&missing])] {
        told(
            &asked(&[&flag], &[]).await.unwrap_err(),
            StoreErrorKind::Settings,
            &[&missing, "cannot be read"],
        );
    }
    fs::write(&other, "users: [").unwrap();
    let fault = asked(&[&format!("config_paths={:?}", [&there, &other])], &[]).await.unwrap_err();
    told(&fault, StoreErrorKind::Settings, &["not in the YAML"]);
}

/// A kubeconfig whose user is this.
fn with_user(directory: &Path, address: &str, user: &str) -> String {
    let path = directory.join("with-user");
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{{name: c, cluster: {{server: '{address}'}}}}]\n\
         users: [{{name: c, user: {user}}}]\ncontexts: [{{name: c, context: {{cluster: c, user: c}}}}]\n"
    );
    fs::write(&path, text).unwrap();
    format!("config_path={}", path.to_str().unwrap())
}

#[tokio::test]
async fn a_file_of_a_token_beats_the_token_beside_it() {
    let directory = tempfile::tempdir().unwrap();
    let double = Double::start();
    let file = directory.path().join("token");
    let flag = with_user(directory.path(), &double.address, "{token: stale, tokenFile: token}");
    let sent = async |flags: &[&str]| {
        double.seen();
        asked(flags, &[]).await.unwrap();
        double.seen()[0].authorization.clone()
    };
    for content in ["fresh", "fresh\n"] {
        fs::write(&file, content).unwrap();
        assert_eq!(sent(&[&flag]).await, "Bearer fresh", "{content:?}");
    }
    assert_eq!(sent(&[&flag, "token=ours"]).await, "Bearer ours");
    assert_eq!(
        sent(&[&flag, "username=me", "password=pw"]).await,
        format!("Basic {}", STANDARD.encode("me:pw"))
    );
    // Where the file holds none, the other one stands in.
    fs::write(&file, "\n").unwrap();
    assert_eq!(sent(&[&flag]).await, "Bearer stale");
    fs::remove_file(&file).unwrap();
    assert_eq!(sent(&[&flag]).await, "Bearer stale");
}

#[tokio::test]
async fn two_ways_to_log_in_are_refused_unless_the_settings_name_one() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("token"), "s3cr3t").unwrap();
    let double = Double::start();
    for user in [
        "{token: s3cr3t, username: me}",
        "{token: s3cr3t, username: me, password: s3cr3t}",
        "{token: s3cr3t, password: s3cr3t}",
        "{tokenFile: token, username: me, password: s3cr3t}",
    ] {
        let flag = with_user(directory.path(), &double.address, user);
        let error = asked(&[&flag], &[]).await.unwrap_err();
        told(&error, StoreErrorKind::Settings, &["more than one way to log in"]);
        assert!(!format!("{error:?}").contains("s3cr3t"), "{error:?}");
        asked(&[&flag, "token=ours"], &[]).await.unwrap();
        asked(&[&flag, "username=you", "password=pw"], &[]).await.unwrap();
    }
    for user in ["{token: s3cr3t, username: '', password: ''}", "{token: '', username: me, password: pw}"] {
        asked(&[&with_user(directory.path(), &double.address, user)], &[]).await.unwrap();
    }
}

#[tokio::test]
async fn a_broken_kubeconfig_is_not_quoted() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config");
    for text in ["token: [s3cr3t-t0ken", "users:\n- name: x\n  user: s3cr3t-t0ken\n"] {
        fs::write(&path, text).unwrap();
        let flag = format!("config_path={}", path.display());
        let fault = asked(&[&flag], &[]).await.unwrap_err();
        assert_eq!(fault.kind, StoreErrorKind::Settings);
        assert!(!format!("{fault:?}").contains("s3cr3t-t0ken"), "{fault:?}");
    }
}

/// Settings, variables, and the header that comes of them.
type Case<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], &'a str);

#[tokio::test]
async fn settings_and_variables_say_who_asks() {
    let basic = format!("Basic {}", STANDARD.encode("me:pw"));
    let cases: [Case; 6] = [
        (&["token=t1"], &[], "Bearer t1"),
        (&["username=me", "password=pw"], &[], &basic),
        (&["username=me"], &[("KUBE_PASSWORD", "pw"), ("KUBE_TOKEN", "env")], &basic),
        (
            &["token=t1"],
            &[("KUBE_USER", "env"), ("KUBE_PASSWORD", "env"), ("KUBE_TOKEN", "env")],
            "Bearer t1",
        ),
        (&[], &[("KUBE_TOKEN", "env")], "Bearer env"),
        (&[], &[], ""),
    ];
    for (flags, environment, wanted) in cases {
        let double = Double::start();
        let host = format!("host={}", double.address);
        let flags: Vec<&str> = flags.iter().copied().chain([host.as_str()]).collect();
        asked(&flags, environment).await.unwrap();
        assert_eq!(double.seen()[0].authorization, wanted);
    }
}

#[tokio::test]
async fn an_exec_program_gets_credentials_and_what_it_prints_is_never_shown() {
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("get-token");
    let credential = r#"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"'$1$TAIL'"}}"#;
    fs::write(&script, format!("echo '{credential}'\n")).unwrap();
    let exec = |path: &str, first: &str| {
        format!(
            "exec={{api_version=\"client.authentication.k8s.io/v1\",command=\"/bin/sh\",\
             args=[{path:?},{first:?}],env={{TAIL=\"-tail\"}}}}"
        )
    };
    let double = Double::start();
    let host = format!("host={}", double.address);
    asked(&[&host, &exec(script.to_str().unwrap(), "head")], &[]).await.unwrap();
    assert_eq!(double.seen()[0].authorization, "Bearer head-tail");

    fs::write(&script, "echo s3cr3t-t0ken; echo s3cr3t-t0ken >&2; exit 3\n").unwrap();
    let fault = asked(&[&host, &exec(script.to_str().unwrap(), "s3cr3t-t0ken")], &[]).await.unwrap_err();
    told(&fault, StoreErrorKind::Settings, &["exec program", "3"]);
    assert!(!format!("{fault:?}").contains("s3cr3t-t0ken"), "{fault:?}");
}

#[tokio::test]
async fn nobody_there_and_no_tls_there_are_told_apart() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let fault = asked(&[&format!("host=http://{free}")], &[]).await.unwrap_err();
    told(&fault, StoreErrorKind::Unreachable, &["list secrets", &free.to_string(), "refused"]);
    let double = Double::start();
    // No scheme means TLS, which the double does not speak.
    for host in [double.address.replace("http:", "https:"), double.address.replace("http://", "")] {
        let fault = asked(&[&format!("host={host}")], &[]).await.unwrap_err();
        told(&fault, StoreErrorKind::Unreachable, &["TLS", "cluster_ca_certificate"]);
    }
    for host in ["http://", "http://a b", "https://:443"] {
        let fault = asked(&[&format!("host={host}")], &[]).await.unwrap_err();
        told(&fault, StoreErrorKind::Settings, &["no URL"]);
    }
}

#[tokio::test]
async fn insecure_is_worth_a_warning_and_only_with_tls() {
    let warnings = async |flags: &[&str]| connect(flags, &[]).await.unwrap().1;
    assert_eq!(warnings(&["host=https://api.example"]).await, []);
    assert_eq!(warnings(&["host=http://api.example", "insecure=true"]).await, []);
    let told = warnings(&["host=https://api.example", "insecure=true"]).await;
    assert!(told[0].summary.contains("not checked"));
}

#[tokio::test]
async fn requests_go_through_the_proxy_that_is_set() {
    // The double is the proxy here: asked for a host that does not exist, it sees the whole URL or a tunnel.
    let double = Double::start();
    let proxy = double.address.clone();
    let host = "host=http://api.example.invalid";
    let fault = asked(&[host, &format!("proxy_url={proxy}")], &[]).await;
    assert!(fault.is_err());
    assert!(!double.seen().is_empty(), "the setting");
    assert!(asked(&[host], &[("HTTP_PROXY", &proxy)]).await.is_err());
    assert!(!double.seen().is_empty(), "the environment");
    assert!(asked(&[host], &[("HTTP_PROXY", &proxy), ("NO_PROXY", ".example.invalid")]).await.is_err());
    assert_eq!(double.seen(), []);
    // This machine is never asked through a proxy of the environment.
    let here = Double::start();
    asked(&[&format!("host={}", here.address)], &[("HTTP_PROXY", &proxy)]).await.unwrap();
    assert_eq!(double.seen(), []);
}

#[tokio::test]
async fn a_password_in_the_address_is_not_shown() {
    for host in [
        "http://me:s3cr3t@127.0.0.1:9",
        "me:s3cr3t@no where",
        "https://me:s3cr3t/x@no where",
        "https://me:s3cr3t@",
    ] {
        let error = asked(&[&format!("host={host}")], &[]).await.unwrap_err();
        assert!(!format!("{error:?}").contains("s3cr3t"), "{error:?}");
    }
    let (store, _) = connect(&["host=https://me:s3cr3t@api.example"], &[]).await.unwrap();
    assert!(format!("{store:?}").contains("https://api.example"), "{store:?}");
    assert!(!format!("{store:?}").contains("s3cr3t"), "{store:?}");
}
