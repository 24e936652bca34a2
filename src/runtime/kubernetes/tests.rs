#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{fs, path::Path};

use kube::Config;

use super::{connection, packing};
use crate::runtime::backend::Settings;

/// Base64 of something; whether it is a certificate only matters to TLS.
const PEM: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

fn config(flags: &[&str], environment: &[(&str, &str)], service_account: &Path) -> Result<Config, String> {
    let flags: Vec<String> = flags.iter().map(ToString::to_string).collect();
    let get = |name: &str| environment.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
    let settings = Settings::given(&[], &flags, &|_| panic!("no file")).unwrap();
    let settings = settings.with_environment(&get).unwrap();
    connection::config(&settings, &get, service_account).map(|(config, _)| config)
}

fn pod() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("token"), "service-account-token").unwrap();
    fs::write(directory.path().join("ca.crt"), PEM).unwrap();
    directory
}

const POD: [(&str, &str); 2] = [("KUBERNETES_SERVICE_HOST", "10.96.0.1"), ("KUBERNETES_SERVICE_PORT", "443")];

#[test]
fn a_pod_is_its_service_account() {
    let pod = pod();
    for flags in [&["in_cluster_config=true"][..], &[]] {
        let config = config(flags, &POD, pod.path()).unwrap();
        assert_eq!(config.cluster_url.to_string(), "https://10.96.0.1:443/");
        assert_eq!(config.root_cert.as_ref().map(Vec::len), Some(1));
        assert!(config.auth_info.token_file.unwrap().ends_with("/token"));
        assert!(!config.accept_invalid_certs && !config.default_retry);
        assert_eq!(config.proxy_url, None);
    }
    let six = [("KUBERNETES_SERVICE_HOST", "fd00::1"), ("KUBERNETES_SERVICE_PORT", "6443")];
    assert_eq!(config(&[], &six, pod.path()).unwrap().cluster_url.to_string(), "https://[fd00::1]:6443/");
    fs::remove_file(pod.path().join("token")).unwrap();
    assert!(config(&["in_cluster_config=true"], &POD, pod.path()).unwrap_err().contains("token"));
    assert!(
        config(&["in_cluster_config=true"], &[], pod.path()).unwrap_err().contains("KUBERNETES_SERVICE_HOST")
    );
}

#[test]
fn in_a_pod_settings_still_come_first() {
    let pod = pod();
    let config = config(&["host=https://api.example", "token=t"], &POD, pod.path()).unwrap();
    assert_eq!(config.cluster_url.host(), Some("api.example"));
    assert_eq!((config.root_cert, config.auth_info.token_file), (None, None));
    let flags = ["in_cluster_config=true", "token=t", "config_path=/no/such/file"];
    let config = self::config(&flags, &POD, pod.path()).unwrap();
    assert!(config.auth_info.token.is_some() && config.auth_info.token_file.is_none());
}

#[test]
fn the_systems_authorities_are_left_unread_where_nobody_is_checked_by_them() {
    let nowhere = Path::new("/no/such/directory");
    let authorities = |flags: &[&str]| config(flags, &[], nowhere).unwrap().root_cert;
    let pem = format!("cluster_ca_certificate={PEM}");
    // None is the system's.
    assert_eq!(authorities(&["host=https://api.example"]), None);
    assert_eq!(authorities(&["host=api.example"]), None);
    assert_eq!(authorities(&["host=http://127.0.0.1:8001"]), Some(Vec::new()));
    assert_eq!(authorities(&["host=https://api.example", "insecure=true"]), Some(Vec::new()));
    assert_eq!(authorities(&["host=https://api.example", &pem]).map(|all| all.len()), Some(1));
}

#[test]
fn proxies_of_the_environment_spare_what_no_proxy_names() {
    let nowhere = Path::new("/no/such/directory");
    let proxy = |host: &str, environment: &[(&str, &str)]| {
        config(&[&format!("host={host}")], environment, nowhere).unwrap().proxy_url.map(|url| url.to_string())
    };
    let set = [("HTTPS_PROXY", "http://u:p@proxy:3128"), ("NO_PROXY", "10.0.0.0/8,.svc,exact.example")];
    assert_eq!(proxy("https://api.example", &set).as_deref(), Some("http://u:p@proxy:3128/"));
    assert_eq!(
        proxy("https://api.example", &[("https_proxy", "proxy:3128")]).as_deref(),
        Some("http://proxy:3128/")
    );
    for spared in [
        "https://10.96.0.1:443",
        "https://kubernetes.default.svc",
        "https://exact.example",
        "http://api.example",
    ] {
        assert_eq!(proxy(spared, &set), None, "{spared}");
    }
    for here in ["https://localhost:6443", "https://127.0.0.1:6443", "https://[::1]:6443"] {
        assert_eq!(proxy(here, &set[..1]), None, "{here}");
    }
}

#[test]
fn what_is_packed_unpacks_and_bombs_do_not() {
    let packed = packing::pack(b"{}").unwrap();
    let unpacked = packing::unpack(&[&packed[..], b"x"].concat()).unwrap();
    assert_eq!((unpacked.state.as_slice(), unpacked.taken), (&b"{}"[..], packed.len()));
    assert!(packing::unpack(&packed[..packed.len() - 1]).is_err());
    let bomb = packing::pack(&vec![0; 64 * 1024 * 1024 + 1]).unwrap();
    assert!(packing::unpack(&bomb).is_err());
}
