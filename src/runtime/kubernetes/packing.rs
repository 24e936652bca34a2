//! A state as it lies in a Secret: one gzip member.

use std::io::{self, Read as _, Write as _};

use flate2::{Compression, bufread::GzDecoder, write::GzEncoder};

/// The largest state that is unpacked, in bytes; far more than a Secret of a pool holds.
const MAX_STATE_BYTES: u64 = 64 * 1024 * 1024;

/// A state that was unpacked.
pub(super) struct Unpacked {
    pub(super) state: Vec<u8>,
    /// How many bytes of what was given the gzip member takes.
    pub(super) taken: usize,
}

pub(super) fn pack(state: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(state)?;
    encoder.finish()
}

/// Unpacks the first gzip member; its checksum and length are verified.
pub(super) fn unpack(packed: &[u8]) -> io::Result<Unpacked> {
    let mut decoder = GzDecoder::new(packed);
    let mut state = Vec::new();
    if decoder.by_ref().take(MAX_STATE_BYTES + 1).read_to_end(&mut state)? as u64 > MAX_STATE_BYTES {
        return Err(io::Error::other(format!("it is larger than {} MiB", MAX_STATE_BYTES / 1024 / 1024)));
    }
    Ok(Unpacked { state, taken: packed.len() - decoder.into_inner().len() })
}
