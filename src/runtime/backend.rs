//! Settings of Terraform's `kubernetes` backend: where the state and its lock are, and how to get there.
//!
//! They come from the root's backend block, from `-backend-config` and from the environment, in
//! Terraform's own spelling ([its documentation](https://developer.hashicorp.com/terraform/language/backend/kubernetes)).
//! `init` records what the first two say; the environment is read anew by each command.

mod environment;
mod given;
mod names;
mod record;
mod secret;
#[cfg(test)]
mod tests;
mod values;

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

pub use self::{
    given::OpenFile,
    names::{Names, TERRAFORM_LABELS},
    secret::Secret,
};

/// A look into the environment: the value of a variable, if it is set.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The namespace where nothing else is said, in a pod, too.
const DEFAULT_NAMESPACE: &str = "default";

/// The settings, as far as they are given. Empty text counts as not given, as it does in Terraform.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Ends the names of the Secret and of the Lease.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_suffix: Option<String>,
    /// Namespace of both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Further labels of both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, String>>,
    /// Whether to use the service account of the pod around.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_cluster_config: Option<bool>,
    /// Address of the API server; `https://` if it names no scheme.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// User of HTTP basic authentication.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    /// Password of HTTP basic authentication.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<Secret>,
    /// Whether the API server's certificate goes unchecked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insecure: Option<bool>,
    /// The name that the API server's certificate must have, if not the host's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_server_name: Option<String>,
    /// Client certificate, PEM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_certificate: Option<String>,
    /// Its key, PEM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_key: Option<Secret>,
    /// What the API server's certificate must be signed by, PEM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_ca_certificate: Option<String>,
    /// A kubeconfig file; `~/` is the home directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_path: Option<String>,
    /// Kubeconfig files, merged; the first to say something wins. Not read if there is a `config_path`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_paths: Option<Vec<String>>,
    /// Context of the kubeconfig.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_context: Option<String>,
    /// User of the kubeconfig, instead of the context's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_context_auth_info: Option<String>,
    /// Cluster of the kubeconfig, instead of the context's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_context_cluster: Option<String>,
    /// Bearer token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<Secret>,
    /// Proxy for all requests; its URL may hold a password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy_url: Option<Secret>,
    /// A program that gets credentials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exec: Option<Exec>,
}

/// A program that prints credentials, after the rules of client-go.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exec {
    /// `client.authentication.k8s.io/v1`, for one.
    pub api_version: String,
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<Secret>,
    /// Variables that it is given beside the environment.
    pub env: BTreeMap<String, Secret>,
}

impl Settings {
    /// The namespace of Secret and Lease.
    pub fn namespace(&self) -> &str {
        self.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE)
    }
}

/// Shows where, never how to get there.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("secret_suffix", &self.secret_suffix)
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}
