//! Names that go into API calls and into a shell script, checked once and then trusted.

use std::{fmt, str::FromStr};

use serde::Serialize;

/// Why a name was refused: what it must look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be {0}")]
pub struct Malformed(pub &'static str);

macro_rules! checked_name {
    ($(#[$doc:meta])* $name:ident, $rule:literal, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = Malformed;

            fn from_str(text: &str) -> Result<Self, Malformed> {
                let check: fn(&str) -> bool = $check;
                if check(text) { Ok(Self(text.to_owned())) } else { Err(Malformed($rule)) }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

checked_name!(
    /// An AWS region, such as `us-east-1` or `us-gov-west-1`.
    Region,
    "an AWS region such as us-east-1 (a zone such as us-east-1a is not one)",
    is_region
);
checked_name!(
    /// The name of a general purpose S3 bucket: 3 to 63 of `[a-z0-9.-]`, first and last a letter or digit,
    /// and nothing that looks like an IPv4 address.
    BucketName,
    "an S3 bucket name: 3 to 63 lower-case letters, digits, dots and hyphens, and no IP address",
    is_bucket_name
);
checked_name!(
    /// `subnet-` and hex digits.
    SubnetId,
    "a subnet id such as subnet-0a1b2c3d4e5f60718",
    |text| has_hex_suffix(text, "subnet-")
);
checked_name!(
    /// `sg-` and hex digits.
    SecurityGroupId,
    "a security group id such as sg-0a1b2c3d4e5f60718",
    |text| has_hex_suffix(text, "sg-")
);
checked_name!(
    /// `ami-` and hex digits.
    ImageId,
    "an AMI id such as ami-0a1b2c3d4e5f60718",
    |text| has_hex_suffix(text, "ami-")
);

fn has_hex_suffix(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|hex| {
        !hex.is_empty() && hex.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    })
}

/// Two to four groups of lower-case letters, then one number: `eu-west-1`, `us-iso-east-1`.
fn is_region(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let Some((number, words)) = parts.split_last() else { return false };
    (2..=4).contains(&words.len())
        && words.iter().all(|w| !w.is_empty() && w.bytes().all(|b| b.is_ascii_lowercase()))
        && (1..=2).contains(&number.len())
        && number.bytes().all(|b| b.is_ascii_digit())
}

/// Four numbers with dots between them, whatever their size.
fn is_address(text: &str) -> bool {
    text.split('.').count() == 4 && text.bytes().all(|b| b == b'.' || b.is_ascii_digit())
}

fn is_bucket_name(text: &str) -> bool {
    let alphanumeric = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = text.as_bytes();
    (3..=63).contains(&bytes.len())
        && bytes.iter().all(|&b| alphanumeric(b) || b == b'.' || b == b'-')
        && alphanumeric(bytes[0])
        && alphanumeric(bytes[bytes.len() - 1])
        && !text.contains("..")
        && !is_address(text)
}
