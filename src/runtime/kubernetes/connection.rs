//! From settings to a client: which API server, whom it is asked as, how it is recognized.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hyper_util::client::proxy::matcher::Matcher;
use kube::{
    Client, Config,
    config::{AuthInfo, Cluster, ExecConfig, ExecInteractiveMode, Kubeconfig, KubeconfigError},
};
use rustls_pki_types::{CertificateDer, pem::PemObject as _};
use secrecy::{ExposeSecret as _, SecretString};

use crate::{
    contract::problem::Diagnostic,
    runtime::backend::{Environment, Exec, Settings},
};

mod timeouts {
    use std::time::Duration;

    pub(super) const CONNECT: Duration = Duration::from_secs(10);
    /// Longer than the 30 s that an API server gives its admission webhooks.
    pub(super) const ANSWER: Duration = Duration::from_secs(35);
    /// A program that gets credentials may ask somebody who is slow.
    pub(super) const PROGRAM: Duration = Duration::from_mins(1);
}

/// What is settled before single settings are put in.
#[derive(Default)]
struct Base {
    cluster: Cluster,
    user: AuthInfo,
}

/// The client's configuration, and warnings. Nothing else is looked at: neither `KUBECONFIG` nor
/// `~/.kube`, as in Terraform, and there is no address to fall back on.
pub(super) fn config(
    settings: &Settings,
    environment: Environment<'_>,
    service_account: &Path,
) -> Result<(Config, Vec<Diagnostic>), String> {
    let Base { mut cluster, mut user } = base(settings, environment, service_account)?;
    point(&mut cluster, settings);
    identify(&mut user, settings)?;
    settle_token(&mut user)?;
    let server = cluster.server.as_deref().filter(|server| !server.is_empty());
    let server = server.ok_or("neither the setting host nor the kubeconfig names an API server")?;
    let server = if server.contains("://") { server.to_owned() } else { format!("https://{server}") };
    let no_url = || format!("the address {:?} of the API server is no URL", shown(&server));
    let mut config = Config::new(server.parse().map_err(|_| no_url())?);
    if config.cluster_url.host().is_none_or(str::is_empty) {
        return Err(no_url());
    }
    config.tls_server_name.clone_from(&cluster.tls_server_name);
    config.accept_invalid_certs = settings.insecure == Some(true);
    let is_checked = config.cluster_url.scheme_str() == Some("https") && !config.accept_invalid_certs;
    config.root_cert = match authorities(&cluster)? {
        // To read the system's authorities would be most of what a short run costs.
        None if !is_checked => Some(Vec::new()),
        authorities => authorities,
    };
    config.proxy_url = proxy(&cluster, &config, environment)?;
    if let Some(exec) = user.exec.as_mut().filter(|exec| exec.provide_cluster_info) {
        exec.cluster = Some((&cluster).try_into().map_err(|error| kubeconfig_fault(&error))?);
    }
    user.token = user.token.map(|token| usable(&token)).transpose()?;
    config.auth_info = user;
    config.connect_timeout = Some(timeouts::CONNECT);
    config.read_timeout = Some(timeouts::ANSWER);
    config.write_timeout = Some(timeouts::ANSWER);
    config.reset_reader_on_write = true;
    // Its retries go on for minutes; ours know what can be repeated.
    config.default_retry = false;
    let unchecked = config.accept_invalid_certs && config.cluster_url.scheme_str() == Some("https");
    let warning = unchecked.then(|| {
        Diagnostic::warning(
            "The certificate of the Kubernetes API is not checked",
            "The backend setting insecure is true: whoever is on the way can read and change the state.",
        )
    });
    Ok((config, warning.into_iter().collect()))
}

/// The client; a program that gets its credentials is run first. It is run on a thread of its own: somebody must
/// hear signals meanwhile. Whoever gives up leaves the program running.
pub(super) async fn client(config: Config) -> Result<Client, String> {
    if config.auth_info.exec.is_none() && config.auth_info.auth_provider.is_none() {
        return Client::try_from(config).map_err(|error| client_fault(&error));
    }
    let setting_up = tokio::task::spawn_blocking(|| Client::try_from(config));
    match tokio::time::timeout(timeouts::PROGRAM, setting_up).await {
        Ok(Ok(client)) => client.map_err(|error| client_fault(&error)),
        Ok(Err(_)) => Err("the client cannot be set up".to_owned()),
        Err(_) => Err(format!(
            "the exec program that gets credentials has not ended after {} s",
            timeouts::PROGRAM.as_secs()
        )),
    }
}

/// An address as it may be shown: without a user and password, also if they are not written as in a URL.
pub(super) fn shown(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
    if scheme.is_empty() { place.to_owned() } else { format!("{scheme}://{place}") }
}

fn base(settings: &Settings, environment: Environment<'_>, service_account: &Path) -> Result<Base, String> {
    if settings.in_cluster_config == Some(true) {
        return pod(environment, service_account)
            .map_err(|fault| format!("in_cluster_config is true, but {fault}"));
    }
    let paths = match (&settings.config_path, &settings.config_paths) {
        (Some(path), _) => std::slice::from_ref(path),
        (None, Some(paths)) => paths.as_slice(),
        (None, None) => &[],
    };
    if !paths.is_empty() {
        return kubeconfig(paths, settings, environment);
    }
    if settings.host.is_some() {
        return Ok(Base::default());
    }
    pod(environment, service_account).map_err(|fault| {
        format!(
            "none of in_cluster_config, config_path and host is set in the backend settings or as KUBE_... \
             variable (KUBECONFIG and ~/.kube are not read), and {fault}"
        )
    })
}

fn pod(environment: Environment<'_>, service_account: &Path) -> Result<Base, String> {
    let variable = |name: &str| {
        environment(name)
            .filter(|value| !value.is_empty())
            .ok_or_else(|| format!("there is no pod around: {name} is not set"))
    };
    let (host, port) = (variable("KUBERNETES_SERVICE_HOST")?, variable("KUBERNETES_SERVICE_PORT")?);
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    let file = |name: &str| {
        let path = service_account.join(name);
        if path.is_file() {
            Ok(path.to_string_lossy().into_owned())
        } else {
            Err(format!("the pod has no service account token: {} is not there", path.display()))
        }
    };
    let cluster = Cluster {
        server: Some(format!("https://{host}:{port}")),
        certificate_authority: Some(file("ca.crt")?),
        ..Cluster::default()
    };
    Ok(Base { cluster, user: AuthInfo { token_file: Some(file("token")?), ..AuthInfo::default() } })
}

fn kubeconfig(paths: &[String], settings: &Settings, environment: Environment<'_>) -> Result<Base, String> {
    let merged = merged(paths, settings, environment)?;
    let name =
        settings.config_context.as_ref().or(merged.current_context.as_ref()).filter(|name| !name.is_empty());
    let context = name.map(|name| {
        let found = merged.contexts.iter().find(|context| context.name == *name);
        found
            .and_then(|found| found.context.clone())
            .ok_or_else(|| format!("the kubeconfig has no context {name:?}"))
    });
    let context = context.transpose()?;
    let cluster =
        settings.config_context_cluster.as_ref().or(context.as_ref().map(|context| &context.cluster));
    let cluster = match cluster {
        Some(name) => {
            let found = merged.clusters.iter().find(|cluster| cluster.name == *name);
            found
                .and_then(|found| found.cluster.clone())
                .ok_or_else(|| format!("the kubeconfig has no cluster {name:?}"))?
        }
        None if settings.host.is_some() => Cluster::default(),
        None => {
            return Err("the kubeconfig names no current context, and config_context is not set".to_owned());
        }
    };
    let user = settings
        .config_context_auth_info
        .as_ref()
        .or(context.as_ref().and_then(|context| context.user.as_ref()));
    let user = match user.filter(|name| !name.is_empty()) {
        Some(name) => {
            let found = merged.auth_infos.iter().find(|user| user.name == *name);
            found
                .and_then(|found| found.auth_info.clone())
                .ok_or_else(|| format!("the kubeconfig has no user {name:?}"))?
        }
        None => AuthInfo::default(),
    };
    Ok(Base { cluster, user })
}

/// The files as one. Of more than one, as kubectl has it, those that are not there say nothing; a single one must be
/// there.
fn merged(paths: &[String], settings: &Settings, environment: Environment<'_>) -> Result<Kubeconfig, String> {
    let mut merged = None;
    for path in paths {
        let file = match Kubeconfig::read_from(expanded(path, environment)) {
            Ok(file) => file,
            Err(KubeconfigError::ReadConfig(error, _))
                if paths.len() > 1 && error.kind() == ErrorKind::NotFound =>
            {
                continue;
            }
            Err(error) => return Err(kubeconfig_fault(&error)),
        };
        let together = Kubeconfig::merge(merged.unwrap_or_default(), file);
        merged = Some(together.map_err(|error| kubeconfig_fault(&error))?);
    }
    match merged {
        Some(merged) => Ok(merged),
        None if settings.host.is_some() => Ok(Kubeconfig::default()),
        None => Err(format!("none of the kubeconfigs {} is there", paths.join(", "))),
    }
}

fn expanded(path: &str, environment: Environment<'_>) -> PathBuf {
    match (path.strip_prefix("~/"), environment("HOME")) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        _ => PathBuf::from(path),
    }
}

/// Which API server, and how it is recognized.
fn point(cluster: &mut Cluster, settings: &Settings) {
    if settings.host.is_some() {
        cluster.server.clone_from(&settings.host);
    }
    if let Some(pem) = &settings.cluster_ca_certificate {
        cluster.certificate_authority_data = Some(STANDARD.encode(pem));
    }
    if settings.tls_server_name.is_some() {
        cluster.tls_server_name.clone_from(&settings.tls_server_name);
    }
    if let Some(proxy) = &settings.proxy_url {
        cluster.proxy_url = Some(proxy.expose().to_owned());
    }
    cluster.insecure_skip_tls_verify = Some(settings.insecure == Some(true));
}

/// Whom the API server is asked as. A way to log in that the settings name replaces all others.
fn identify(user: &mut AuthInfo, settings: &Settings) -> Result<(), String> {
    match (&settings.client_certificate, &settings.client_key) {
        (None, None) => {}
        (Some(certificate), Some(key)) => {
            user.client_certificate_data = Some(STANDARD.encode(certificate));
            user.client_key_data = Some(STANDARD.encode(key.expose()).into());
        }
        _ => return Err("client_certificate and client_key go together, only one is set".to_owned()),
    }
    let others = AuthInfo {
        username: None,
        password: None,
        token: None,
        token_file: None,
        auth_provider: None,
        exec: None,
        ..user.clone()
    };
    if let Some(token) = &settings.token {
        *user = AuthInfo { token: Some(token.expose().to_owned().into()), ..others };
    } else if settings.username.is_some() || settings.password.is_some() {
        let password = settings.password.as_ref().map_or("", |password| password.expose());
        *user = AuthInfo {
            username: Some(settings.username.clone().unwrap_or_default()),
            password: Some(password.to_owned().into()),
            ..others
        };
    } else if let Some(exec) = &settings.exec {
        *user = AuthInfo { exec: Some(program(exec)), ..others };
    }
    if let Some(exec) = &mut user.exec {
        // Nobody is there to answer.
        exec.interactive_mode = Some(ExecInteractiveMode::Never);
    }
    Ok(())
}

/// Decides for one way to log in. A token's file beats the token beside it, which is as old as the kubeconfig; that
/// one stands in where the file holds none.
///
/// A token file may end with a newline, as in Terraform; the client would send that along. Its token is then
/// read once. Another is left to the client, which follows a rotation and tells of a file that is not there.
fn settle_token(user: &mut AuthInfo) -> Result<(), String> {
    let said = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.is_empty());
    user.token = user.token.take().filter(|token| !token.expose_secret().is_empty());
    user.token_file = user.token_file.take().filter(|path| !path.is_empty());
    let has_password = user.password.as_ref().is_some_and(|password| !password.expose_secret().is_empty());
    if (user.token.is_some() || user.token_file.is_some()) && (said(&user.username) || has_password) {
        return Err("the user of the kubeconfig has more than one way to log in: a token, and a name with a password. \
                    Leave one of them away"
            .to_owned());
    }
    let text = user.token_file.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
    if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
        user.token = (text.trim() != text).then(|| text.trim().to_owned().into());
    }
    Ok(())
}

/// A token as a header can hold it: a file or a variable often has a line end behind it.
fn usable(token: &SecretString) -> Result<SecretString, String> {
    let token = token.expose_secret().trim();
    if token.contains(char::is_control) {
        return Err("the token is none: there are line ends or other control characters in it".to_owned());
    }
    Ok(token.to_owned().into())
}

fn program(exec: &Exec) -> ExecConfig {
    let variable = |(name, value): (&String, &crate::runtime::backend::Secret)| {
        [("name".to_owned(), name.clone()), ("value".to_owned(), value.expose().to_owned())].into()
    };
    ExecConfig {
        api_version: Some(exec.api_version.clone()),
        command: Some(exec.command.clone()),
        args: Some(exec.args.iter().map(|arg| arg.expose().to_owned()).collect()),
        env: Some(exec.env.iter().map(variable).collect()),
        ..ExecConfig::default()
    }
}

fn authorities(cluster: &Cluster) -> Result<Option<Vec<Vec<u8>>>, String> {
    let pem = match (&cluster.certificate_authority_data, &cluster.certificate_authority) {
        (Some(data), _) => STANDARD
            .decode(data)
            .map_err(|_| "the CA certificate of the kubeconfig is not base64".to_owned())?,
        (None, Some(path)) => std::fs::read(path)
            .map_err(|error| format!("the CA certificate {path} cannot be read: {error}"))?,
        (None, None) => return Ok(None),
    };
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    match certificates {
        Ok(certificates) if !certificates.is_empty() => {
            Ok(Some(certificates.into_iter().map(|certificate| certificate.to_vec()).collect()))
        }
        _ => Err("the CA certificate of the API server is not PEM".to_owned()),
    }
}

/// The proxy that is set, else the environment's, which spares this machine and what `NO_PROXY` names.
fn proxy<U>(cluster: &Cluster, config: &Config, environment: Environment<'_>) -> Result<Option<U>, String>
where
    U: std::str::FromStr,
{
    let fault = |what: &str| format!("the proxy's address in {what} is no URL");
    if let Some(url) = cluster.proxy_url.as_deref().filter(|url| !url.is_empty()) {
        return url.parse().map(Some).map_err(|_| fault("proxy_url"));
    }
    let variable = |name: &str| {
        let lower = name.to_ascii_lowercase();
        [name, &lower].into_iter().find_map(|name| environment(name).filter(|value| !value.is_empty()))
    };
    let name = if config.cluster_url.scheme_str() == Some("https") { "HTTPS_PROXY" } else { "HTTP_PROXY" };
    let Some(url) = variable(name) else { return Ok(None) };
    let spared = format!("localhost,127.0.0.0/8,::1,{}", variable("NO_PROXY").unwrap_or_default());
    let matcher = Matcher::builder().all(url.clone()).no(spared).build();
    if matcher.intercept(&config.cluster_url).is_none() {
        return Ok(None);
    }
    let url = if url.contains("://") { url } else { format!("http://{url}") };
    url.parse().map(Some).map_err(|_| fault(name))
}

/// Words for a kubeconfig that cannot be used; its parser would quote the text.
fn kubeconfig_fault(error: &KubeconfigError) -> String {
    match error {
        KubeconfigError::ReadConfig(error, path) => {
            format!("the kubeconfig {} cannot be read: {error}", path.display())
        }
        KubeconfigError::Parse(_) => "a kubeconfig is not in the YAML of one".to_owned(),
        error => error.to_string(),
    }
}

/// Words for a configuration that no client can be made of; what an exec program printed is left out.
fn client_fault(error: &kube::Error) -> String {
    use kube::client::AuthError;
    match error {
        kube::Error::Auth(AuthError::AuthExecRun { out, .. }) => {
            format!("the exec program that gets credentials failed ({})", out.status)
        }
        kube::Error::Auth(AuthError::AuthExecStart(error)) => {
            format!("the exec program that gets credentials cannot be run: {error}")
        }
        kube::Error::Auth(AuthError::ReadTokenFile(error, path)) => {
            format!("the token file {} cannot be read: {error}", path.display())
        }
        kube::Error::Auth(_) => "the credentials cannot be used".to_owned(),
        kube::Error::InferKubeconfig(error) => kubeconfig_fault(error),
        kube::Error::RustlsTls(error) => format!("TLS cannot be set up: {error}"),
        kube::Error::ProxyProtocolUnsupported { .. } => {
            "proxy_url must begin with http://, https:// or socks5://".to_owned()
        }
        _ => "the client cannot be set up".to_owned(),
    }
}
