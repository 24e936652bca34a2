//! A certificate authority, and servers that it vouches for.

use std::{
    net::{TcpListener, TcpStream},
    sync::Arc,
    thread,
};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{
    RootCertStore, ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer},
    server::WebPkiClientVerifier,
};

/// An authority that signs servers and clients.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// Its own certificate.
    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for a name or an address, and its key.
    pub(crate) fn sign(&self, name: &str) -> (rcgen::Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new([name.to_owned()]).unwrap();
        (params.signed_by(&key, &self.0).unwrap(), key)
    }

    /// Answers over TLS on loopback, with a certificate for `name`; wants one of the client's, too, if
    /// `mutual`. Returns the port.
    pub(crate) fn listen(
        &self,
        name: &str,
        mutual: bool,
        serve: impl Fn(StreamOwned<ServerConnection, TcpStream>) + Clone + Send + 'static,
    ) -> u16 {
        let config = self.server(name, mutual);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (connection, serve) = (ServerConnection::new(config.clone()).unwrap(), serve.clone());
                thread::spawn(move || serve(StreamOwned::new(connection, stream)));
            }
        });
        port
    }

    fn server(&self, name: &str, mutual: bool) -> Arc<ServerConfig> {
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
        Arc::new(builder.with_single_cert(vec![certificate.der().clone()], key).unwrap())
    }
}
