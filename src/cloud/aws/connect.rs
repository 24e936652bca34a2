//! From the environment to an SDK configuration: region, credentials, retries, time-outs.

use std::time::Duration;

use aws_config::{
    AppName, BehaviorVersion, Region, SdkConfig, environment::EnvironmentVariableRegionProvider,
    meta::region::RegionProviderChain, profile::ProfileFileRegionProvider, retry::RetryConfig,
    stalled_stream_protection::StalledStreamProtectionConfig, timeout::TimeoutConfig,
};

use super::http::LazyTls;
use crate::{
    cloud::{CloudError, ErrorKind},
    contract::ids,
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a call is tried again and again before it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// About half a minute of throttling or of failing connections is sat out.
    Long,
    /// A burst of throttling is, and not much more.
    Short,
}

impl Patience {
    /// Attempts of one call, with the pauses below.
    fn attempts(self) -> u32 {
        match self {
            Self::Long => 10,
            Self::Short => 6,
        }
    }
}

const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(20);

/// The SDK's default chain with our region, retries and HTTP client.
pub(super) async fn sdk_config(region: Option<&str>, patience: Patience) -> Result<SdkConfig, CloudError> {
    let region = match region {
        Some(region) => region.to_owned(),
        None => environment_region().await.ok_or_else(|| {
            region_error(
                "none is set, and the cluster's exports give none. Set AWS_REGION, or `region` in the profile \
                 that AWS_PROFILE names"
                    .to_owned(),
            )
        })?,
    };
    // Nothing answers under a wrong name, and to find that out takes all the retries.
    if let Err(malformed) = region.parse::<ids::Region>() {
        return Err(region_error(format!("{region:?} {malformed}")));
    }
    let mut loader = aws_config::defaults(BehaviorVersion::latest())
        .region(Region::new(region))
        .http_client(LazyTls::new())
        .timeout_config(
            TimeoutConfig::builder().connect_timeout(CONNECT_TIMEOUT).read_timeout(READ_TIMEOUT).build(),
        )
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled());
    // Somebody who sets the SDK's own variable means it.
    if std::env::var_os("AWS_MAX_ATTEMPTS").is_none() {
        loader = loader.retry_config(
            RetryConfig::standard()
                .with_max_attempts(patience.attempts())
                .with_initial_backoff(FIRST_PAUSE)
                .with_max_backoff(LONGEST_PAUSE),
        );
    }
    if let Ok(name) = AppName::new(concat!("machinepool-", env!("CARGO_PKG_VERSION"))) {
        loader = loader.app_name(name);
    }
    Ok(loader.load().await)
}

/// Variables, then the profile. Not the instance metadata service: off EC2 it takes seconds to find
/// out that there is none, and the machine's own region need not be the pool's.
async fn environment_region() -> Option<String> {
    RegionProviderChain::first_try(EnvironmentVariableRegionProvider::new())
        .or_else(ProfileFileRegionProvider::new())
        .region()
        .await
        .map(|region| region.to_string())
        .filter(|region| !region.is_empty())
}

fn region_error(message: String) -> CloudError {
    CloudError {
        operation: "looking up the region",
        resource: "the pool".to_owned(),
        region: "the environment".to_owned(),
        kind: ErrorKind::Validation,
        code: String::new(),
        message,
        request_id: None,
    }
}

/// Whether S3 is reached through an address of the user's own. Such servers seldom answer under a
/// host name per bucket.
pub(super) fn s3_endpoint_is_own(config: &SdkConfig) -> bool {
    let own_s3 = std::env::var_os("AWS_ENDPOINT_URL_S3").is_some_and(|url| !url.is_empty());
    own_s3 || config.endpoint_url().is_some()
}
