//! How the API server is recognized, and how it recognizes us.

use std::{net::TcpListener, sync::Arc, thread};

use machinepool::contract::json::Json;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{
    RootCertStore, ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer},
    server::WebPkiClientVerifier,
};

use super::*;

/// An authority that signs servers and clients.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// A certificate for a name or an address, and its key.
    fn sign(&self, name: &str) -> (rcgen::Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new([name.to_owned()]).unwrap();
        (params.signed_by(&key, &self.0).unwrap(), key)
    }

    /// The double behind TLS, with a certificate for `name`; it wants one of its clients, too, if `mutual`.
    fn serve(&self, double: &Double, name: &str, mutual: bool) -> String {
        let (certificate, key) = self.sign(name);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder =
            ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
        let builder = if mutual {
            let mut roots = RootCertStore::empty();
            roots.add(CertificateDer::from(self.0.der().to_vec())).unwrap();
            let verifier =
                WebPkiClientVerifier::builder_with_provider(roots.into(), provider).build().unwrap();
            builder.unwrap().with_client_cert_verifier(verifier)
        } else {
            builder.unwrap().with_no_client_auth()
        };
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = Arc::new(builder.with_single_cert(vec![certificate.der().clone()], key).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("https://{}", listener.local_addr().unwrap());
        let double = double.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let connection = ServerConnection::new(config.clone()).unwrap();
                double.serve(StreamOwned::new(connection, stream));
            }
        });
        address
    }
}

async fn asked(address: &str, settings: &[(&str, &str)]) -> Result<(), StoreError> {
    let text = |value: &str| Json::String(value.to_owned());
    let mut block = vec![("secret_suffix".to_owned(), text("pool")), ("host".to_owned(), text(address))];
    block.extend(settings.iter().map(|(name, value)| ((*name).to_owned(), text(value))));
    let settings = Settings::given(&block, &[], &|_| panic!("no file")).unwrap();
    let names = settings.names("default").unwrap();
    Store::connect(&settings, names, &|_| None).await?.0.read().await.map(drop)
}

#[tokio::test]
async fn the_server_must_be_signed_by_the_authority_that_is_set() {
    let (double, authority, stranger) = (Double::start(), Authority::new(), Authority::new());
    let address = authority.serve(&double, "127.0.0.1", false);
    let (ca, other) = (authority.0.pem(), stranger.0.pem());
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
    let address = authority.serve(&double, "kubernetes.example", false);
    let ca = authority.0.pem();
    let fault = asked(&address, &[("cluster_ca_certificate", &ca)]).await.unwrap_err();
    told(&fault, StoreErrorKind::Unreachable, &["TLS failed", "tls_server_name"]);
    let named = [("cluster_ca_certificate", ca.as_str()), ("tls_server_name", "kubernetes.example")];
    asked(&address, &named).await.unwrap();
}

#[tokio::test]
async fn a_client_certificate_is_shown() {
    let (double, authority) = (Double::start(), Authority::new());
    let address = authority.serve(&double, "127.0.0.1", true);
    let ca = authority.0.pem();
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
