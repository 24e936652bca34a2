//! The bootstrap data: opaque bytes with a join token inside, so nothing here can print them.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use secrecy::{ExposeSecret, SecretSlice};
use sha2::{Digest, Sha256};

/// The decoded bootstrap data of one pool. `Debug` shows its length only.
#[derive(Clone)]
pub struct Payload(SecretSlice<u8>);

impl Payload {
    /// Wraps bytes that are already decoded.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(SecretSlice::from(bytes))
    }

    /// Decodes standard padded base64; `None` if it is none, or holds nothing.
    pub fn from_base64(text: &str) -> Option<Self> {
        STANDARD.decode(text).ok().filter(|bytes| !bytes.is_empty()).map(Self::new)
    }

    /// The bytes themselves, for the one call that uploads them.
    pub fn expose(&self) -> &[u8] {
        self.0.expose_secret()
    }

    /// Whether the bytes begin as gzip does (RFC 1952: `1f 8b`).
    pub fn is_gzip(&self) -> bool {
        self.expose().starts_with(&[0x1f, 0x8b])
    }

    /// SHA-256 of the bytes in base64, as S3 stores and answers it (`ChecksumSHA256`).
    pub fn sha256(&self) -> String {
        STANDARD.encode(Sha256::digest(self.expose()))
    }
}

impl PartialEq for Payload {
    fn eq(&self, other: &Self) -> bool {
        self.expose() == other.expose()
    }
}

impl Eq for Payload {}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Payload({} bytes)", self.expose().len())
    }
}
