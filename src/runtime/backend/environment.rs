//! `KUBE_*` variables: what fills in for settings that are not given.

use super::{Environment, Settings};
use crate::contract::{
    json::Json,
    problem::{Diagnostic, Problems},
};

/// Which variable stands for which setting.
const VARIABLES: [(&str, &str); 17] = [
    ("namespace", "KUBE_NAMESPACE"),
    ("in_cluster_config", "KUBE_IN_CLUSTER_CONFIG"),
    ("host", "KUBE_HOST"),
    ("username", "KUBE_USER"),
    ("password", "KUBE_PASSWORD"),
    ("insecure", "KUBE_INSECURE"),
    ("tls_server_name", "KUBE_TLS_SERVER_NAME"),
    ("client_certificate", "KUBE_CLIENT_CERT_DATA"),
    ("client_key", "KUBE_CLIENT_KEY_DATA"),
    ("cluster_ca_certificate", "KUBE_CLUSTER_CA_CERT_DATA"),
    ("config_path", "KUBE_CONFIG_PATH"),
    ("config_paths", "KUBE_CONFIG_PATHS"),
    ("config_context", "KUBE_CTX"),
    ("config_context_auth_info", "KUBE_CTX_AUTH_INFO"),
    ("config_context_cluster", "KUBE_CTX_CLUSTER"),
    ("token", "KUBE_TOKEN"),
    ("proxy_url", "KUBE_PROXY_URL"),
];

impl Settings {
    /// These settings, and for those that are not given what the environment says. An empty variable
    /// says nothing, and what a setting rules out is not read: a variable never beats a setting.
    pub fn with_environment(&self, environment: Environment<'_>) -> Result<Self, Problems> {
        let mut complete = self.clone();
        let mut problems = Vec::new();
        for (name, variable) in VARIABLES {
            let Some(value) = environment(variable).filter(|value| !value.is_empty()) else { continue };
            if self.has(name) || self.rules_out(name) {
                continue;
            }
            let value = match name {
                "config_paths" => paths(&value),
                _ => Json::String(value),
            };
            if let Err(fault) = complete.set(name, &value) {
                problems.push(Diagnostic::error(format!("{variable} in the environment {fault}"), ""));
            }
        }
        if problems.is_empty() { Ok(complete) } else { Err(Problems(problems)) }
    }

    fn has(&self, name: &str) -> bool {
        match name {
            "namespace" => self.namespace.is_some(),
            "in_cluster_config" => self.in_cluster_config.is_some(),
            "host" => self.host.is_some(),
            "username" => self.username.is_some(),
            "password" => self.password.is_some(),
            "insecure" => self.insecure.is_some(),
            "tls_server_name" => self.tls_server_name.is_some(),
            "client_certificate" => self.client_certificate.is_some(),
            "client_key" => self.client_key.is_some(),
            "cluster_ca_certificate" => self.cluster_ca_certificate.is_some(),
            "config_path" => self.config_path.is_some(),
            "config_paths" => self.config_paths.is_some(),
            "config_context" => self.config_context.is_some(),
            "config_context_auth_info" => self.config_context_auth_info.is_some(),
            "config_context_cluster" => self.config_context_cluster.is_some(),
            "token" => self.token.is_some(),
            _ => self.proxy_url.is_some(),
        }
    }

    /// Whether a setting of the same purpose is given, which a variable would push aside.
    fn rules_out(&self, name: &str) -> bool {
        let kubeconfig = self.config_path.is_some() || self.config_paths.is_some();
        match name {
            "config_path" | "config_paths" => kubeconfig || self.in_cluster_config == Some(true),
            "in_cluster_config" => kubeconfig,
            "token" => self.username.is_some() || self.exec.is_some(),
            "username" | "password" => self.token.is_some() || self.exec.is_some(),
            _ => false,
        }
    }
}

fn paths(list: &str) -> Json {
    let paths = std::env::split_paths(list).filter(|path| !path.as_os_str().is_empty());
    Json::Array(paths.map(|path| Json::String(path.to_string_lossy().into_owned())).collect())
}
