//! How the API server is recognized, and how it recognizes us.

use machinepool::contract::json::Json;

use super::{authority::Authority, mounted::mounted, *};

/// The double behind TLS: its address.
fn serve(authority: &Authority, double: &Double, name: &str, mutual: bool) -> String {
    let double = double.clone();
    format!("https://127.0.0.1:{}", authority.listen(name, mutual, move |stream| double.serve(stream)))
}

async fn asked(address: &str, settings: &[(&str, &str)]) -> Result<(), StoreError> {
    let text = |value: &str| Json::String(value.to_owned());
    let mut block = vec![("secret_suffix".to_owned(), text("pool")), ("host".to_owned(), text(address))];
    block.extend(settings.iter().map(|(name, value)| ((*name).to_owned(), text(value))));
    let settings = Settings::given(&block, &[], &|_| panic!("no file")).unwrap();
    let names = settings.names("default").unwrap();
    Store::connect(&settings, names, &|_| None, Path::new(NO_POD)).await?.0.read().await.map(drop)
}

#[tokio::test]
async fn the_server_must_be_signed_by_the_authority_that_is_set() {
    let (double, authority, stranger) = (Double::start(), Authority::new(), Authority::new());
    let address = serve(&authority, &double, "127.0.0.1", false);
    let (ca, other) = (authority.pem(), stranger.pem());
    asked(&address, &[("cluster_ca_certificate", &ca)]).await.unwrap();
    asked(&address, &[("cluster_ca_certificate", &format!("{other}{ca}"))]).await.unwrap();
    let before = double.calls().len();
    assert!(before > 0);
    // Neither another authority nor none will do.
    for settings in [&[("cluster_ca_certificate", other.as_str())][..], &[]] {
        let fault = asked(&address, settings).await.unwrap_err();
        told(&fault, StoreErrorKind::Unreachable, &["TLS failed", "cluster_ca_certificate", &address]);
    }
    assert_eq!(double.calls(), <[String; 0]>::default());
    asked(&address, &[("insecure", "true")]).await.unwrap();
    let fault = asked(&address, &[("cluster_ca_certificate", "no PEM")]).await.unwrap_err();
    told(&fault, StoreErrorKind::Settings, &["CA certificate", "PEM"]);
}

#[tokio::test]
async fn the_server_must_have_the_name_that_is_set() {
    let (double, authority) = (Double::start(), Authority::new());
    let address = serve(&authority, &double, "kubernetes.example", false);
    let ca = authority.pem();
    let fault = asked(&address, &[("cluster_ca_certificate", &ca)]).await.unwrap_err();
    told(&fault, StoreErrorKind::Unreachable, &["TLS failed", "tls_server_name"]);
    let named = [("cluster_ca_certificate", ca.as_str()), ("tls_server_name", "kubernetes.example")];
    asked(&address, &named).await.unwrap();
}

#[tokio::test]
async fn a_client_certificate_is_shown() {
    let (double, authority) = (Double::start(), Authority::new());
    let address = serve(&authority, &double, "127.0.0.1", true);
    let ca = authority.pem();
    let (certificate, key) = authority.sign("captf");
    let (certificate, key) = (certificate.pem(), key.serialize_pem());
    let ca = ("cluster_ca_certificate", ca.as_str());
    asked(&address, &[ca, ("client_certificate", &certificate), ("client_key", &key)]).await.unwrap();
    assert!(asked(&address, &[ca]).await.is_err());
    let fault = asked(&address, &[ca, ("client_certificate", &certificate)]).await.unwrap_err();
    told(&fault, StoreErrorKind::Settings, &["client_key"]);
    let fault = asked(&address, &[ca, ("client_certificate", &certificate), ("client_key", "s3cr3t")]).await;
    let fault = fault.unwrap_err();
    assert_eq!(fault.kind, StoreErrorKind::Settings);
    assert!(!format!("{fault:?}").contains("s3cr3t"), "{fault:?}");
}

/// A pod's service account, as kubelet mounts it.
fn service_account(directory: &Path, authority: &str, token: &str) {
    mounted(directory, &[("ca.crt", authority), ("namespace", NAMESPACE), ("token", token)], None);
}

#[tokio::test]
async fn a_pod_asks_as_its_service_account_and_follows_its_rotation() {
    let (double, authority, pod) = (Double::start(), Authority::new(), tempfile::tempdir().unwrap());
    let address = serve(&authority, &double, "127.0.0.1", false);
    let port = address.rsplit(':').next().unwrap();
    let flags = ["secret_suffix=pool", "namespace=clusters", "in_cluster_config=true"].map(str::to_owned);
    let settings = Settings::given(&[], &flags, &|_| panic!("no file")).unwrap();
    let environment = |name: &str| match name {
        "KUBERNETES_SERVICE_HOST" => Some("127.0.0.1".to_owned()),
        "KUBERNETES_SERVICE_PORT" => Some(port.to_owned()),
        _ => None,
    };
    let connect = async || {
        let names = settings.names("default").unwrap();
        Store::connect(&settings, names, &environment, pod.path()).await.unwrap().0
    };
    for token in ["first", "second"] {
        service_account(pod.path(), &authority.pem(), &format!("{token}\n"));
        double.require_token(token);
        assert!(connect().await.read().await.unwrap().is_none());
    }
    double.require_token("third");
    told(&connect().await.read().await.unwrap_err(), StoreErrorKind::Unauthenticated, &["list secrets"]);
    // Another authority than the pod's is not believed.
    service_account(pod.path(), &Authority::new().pem(), "third");
    told(&connect().await.read().await.unwrap_err(), StoreErrorKind::Unreachable, &["TLS failed"]);
}
