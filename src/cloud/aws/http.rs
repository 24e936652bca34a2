//! One HTTP client for all services. The system's CA roots are parsed when the first https URL is
//! called, not before: that parsing is most of what a short run would otherwise spend.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use aws_smithy_http_client::{
    Builder, Connector,
    proxy::ProxyConfig,
    tls::{Provider, rustls_provider::CryptoMode},
};
use aws_smithy_runtime_api::client::{
    http::{
        HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
        SharedHttpConnector,
    },
    orchestrator::HttpRequest,
    runtime_components::RuntimeComponents,
};

use super::errors;

/// Plain HTTP at once, TLS (rustls with ring) on demand. Both honour `HTTP_PROXY`, `HTTPS_PROXY`,
/// `ALL_PROXY` and `NO_PROXY`.
#[derive(Clone, Debug)]
pub(super) struct LazyTls(Arc<Clients>);

#[derive(Debug)]
struct Clients {
    trouble: Trouble,
    plain: SharedHttpClient,
    tls: OnceLock<SharedHttpClient>,
}

/// Why the latest attempt to reach anything failed, whichever call it was for; nothing once one has an answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Trouble(Arc<Mutex<Option<String>>>);

impl Trouble {
    pub(super) fn latest(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, cause: Option<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = cause;
    }
}

impl LazyTls {
    /// What goes wrong is told to `trouble`.
    pub(super) fn new(trouble: Trouble) -> Self {
        Self(Arc::new(Clients { trouble, plain: client(false), tls: OnceLock::new() }))
    }

    fn for_uri(&self, uri: &str) -> &SharedHttpClient {
        let https = uri.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
        if https { self.0.tls.get_or_init(|| client(true)) } else { &self.0.plain }
    }
}

impl HttpClient for LazyTls {
    fn http_connector(
        &self,
        settings: &HttpConnectorSettings,
        components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(Lazy {
            clients: self.clone(),
            settings: settings.clone(),
            components: components.clone(),
        })
    }
}

/// Picks the client when the URL is known; the clients keep their connections between calls.
#[derive(Debug)]
struct Lazy {
    clients: LazyTls,
    settings: HttpConnectorSettings,
    components: RuntimeComponents,
}

impl HttpConnector for Lazy {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let client = self.clients.for_uri(request.uri());
        let answer = client.http_connector(&self.settings, &self.components).call(request);
        let trouble = self.clients.0.trouble.clone();
        HttpConnectorFuture::new(async move {
            let answer = answer.await;
            trouble.set(answer.as_ref().err().map(|error| errors::root_cause(error)));
            answer
        })
    }
}

fn client(tls: bool) -> SharedHttpClient {
    Builder::new().build_with_connector_fn(move |settings, components| {
        let mut builder = Connector::builder().proxy_config(ProxyConfig::from_env());
        builder.set_connector_settings(settings.cloned());
        if let Some(components) = components {
            builder.set_sleep_impl(components.sleep_impl());
        }
        if tls {
            builder.tls_provider(Provider::Rustls(CryptoMode::Ring)).build()
        } else {
            builder.build_http()
        }
    })
}
