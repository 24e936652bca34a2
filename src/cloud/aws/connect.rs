//! From the environment to an SDK configuration: region, credentials, retries, time-outs.

use std::time::Duration;

use aws_config::{
    AppName, BehaviorVersion, Region, SdkConfig,
    environment::EnvironmentVariableRegionProvider,
    meta::region::RegionProviderChain,
    profile::ProfileFileRegionProvider,
    retry::{RetryConfig, RetryMode},
    stalled_stream_protection::StalledStreamProtectionConfig,
    timeout::TimeoutConfig,
};

use super::http::{LazyTls, Trouble};
use crate::{
    cloud::{CloudError, ErrorKind},
    contract::ids,
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const READ_TIMEOUT: Duration = Duration::from_secs(30);

const ATTEMPTS_VARIABLE: &str = "AWS_MAX_ATTEMPTS";
const MODE_VARIABLE: &str = "AWS_RETRY_MODE";

/// How long a call is tried again and again before it fails, unless the environment says otherwise.
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

/// The SDK's default chain with our region, retries and HTTP client, which tells `trouble` what goes wrong.
pub(super) async fn sdk_config(
    region: Option<&str>,
    patience: Patience,
    trouble: Trouble,
) -> Result<SdkConfig, CloudError> {
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
        .retry_config(retries(
            patience,
            variable(ATTEMPTS_VARIABLE).as_deref(),
            variable(MODE_VARIABLE).as_deref(),
        )?)
        .http_client(LazyTls::new(trouble))
        .timeout_config(
            TimeoutConfig::builder().connect_timeout(CONNECT_TIMEOUT).read_timeout(READ_TIMEOUT).build(),
        )
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled());
    if let Ok(name) = AppName::new(concat!("machinepool-", env!("CARGO_PKG_VERSION"))) {
        loader = loader.app_name(name);
    }
    Ok(loader.load().await)
}

/// What a variable of the environment says; an empty one says nothing.
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().trim().to_owned()).filter(|v| !v.is_empty())
}

/// Ours, with what somebody who sets the SDK's own variables means instead. They are read here, because the SDK
/// ends the process over a value that it does not know.
fn retries(
    patience: Patience,
    attempts: Option<&str>,
    mode: Option<&str>,
) -> Result<RetryConfig, CloudError> {
    let attempts = match attempts {
        None => patience.attempts(),
        Some(text) => text
            .parse()
            .ok()
            .filter(|attempts| *attempts > 0)
            .ok_or_else(|| retry_error(ATTEMPTS_VARIABLE, "a whole number above zero"))?,
    };
    let mode = match mode {
        None => RetryMode::Standard,
        // What other SDKs call their old way; this one never had it.
        Some(text) if text.eq_ignore_ascii_case("legacy") => RetryMode::Standard,
        Some(text) => text.parse().map_err(|_| retry_error(MODE_VARIABLE, "standard or adaptive"))?,
    };
    Ok(RetryConfig::standard()
        .with_retry_mode(mode)
        .with_max_attempts(attempts)
        .with_initial_backoff(FIRST_PAUSE)
        .with_max_backoff(LONGEST_PAUSE))
}

fn retry_error(variable: &str, expected: &str) -> CloudError {
    setting_error("setting up retries", format!("{variable} in the environment is not {expected}"))
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
    setting_error("looking up the region", message)
}

fn setting_error(operation: &'static str, message: String) -> CloudError {
    CloudError {
        operation,
        resource: "the pool".to_owned(),
        region: "the environment".to_owned(),
        kind: ErrorKind::Settings,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_are_ours_unless_the_environment_says_otherwise() {
        let told = |attempts, mode| {
            let config = retries(Patience::Long, attempts, mode).ok()?;
            Some((config.max_attempts(), config.mode(), config.initial_backoff()))
        };
        let ours = |attempts, mode| Some((attempts, mode, FIRST_PAUSE));
        assert_eq!(told(None, None), ours(10, RetryMode::Standard));
        assert_eq!(told(Some("3"), None), ours(3, RetryMode::Standard));
        assert_eq!(told(None, Some("adaptive")), ours(10, RetryMode::Adaptive));
        assert_eq!(told(Some("1"), Some("Standard")), ours(1, RetryMode::Standard));
        assert_eq!(told(None, Some("legacy")), ours(10, RetryMode::Standard));
        let short = |attempts| retries(Patience::Short, attempts, None).unwrap().max_attempts();
        assert_eq!((short(None), short(Some("3"))), (6, 3));
        for wrong in ["0", "-1", "1.5", "many", "99999999999"] {
            let message = retries(Patience::Long, Some(wrong), None).map_err(|error| error.message).err();
            assert!(message.is_some_and(|told| told.contains("AWS_MAX_ATTEMPTS")), "{wrong}");
        }
        let message = retries(Patience::Long, None, Some("fast")).map_err(|error| error.message).err();
        assert!(message.is_some_and(|told| told.contains("AWS_RETRY_MODE")));
    }
}
