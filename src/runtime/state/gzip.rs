//! The state as its Secret holds it: gzip.

use std::io::{Read as _, Write as _};

use flate2::{Compression, GzBuilder, read::MultiGzDecoder};

use super::{State, StateError};

/// The largest state that is read, in bytes before packing.
pub const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Packs a state. The same state gives the same bytes: no name, no time.
pub fn pack(state: &State) -> Vec<u8> {
    let mut encoder = GzBuilder::new().write(Vec::new(), Compression::default());
    // Writing to memory cannot fail.
    let _ = encoder.write_all(&state.render());
    encoder.finish().unwrap_or_default()
}

/// Unpacks a state of at most [`MAX_BYTES`]. One that was cut into parts is joined by the caller first:
/// the parts are pieces of one gzip stream.
pub fn unpack(packed: &[u8]) -> Result<State, StateError> {
    if packed.is_empty() {
        return Err(StateError::Gzip("It is empty"));
    }
    if !packed.starts_with(&[0x1f, 0x8b]) {
        return Err(StateError::Gzip("It does not begin as gzip does"));
    }
    let mut plain = Vec::new();
    let limit = MAX_BYTES as u64 + 1;
    MultiGzDecoder::new(packed).take(limit).read_to_end(&mut plain).map_err(|error| {
        StateError::Gzip(match error.kind() {
            std::io::ErrorKind::UnexpectedEof => "It is cut off: a part is missing",
            _ => "It is damaged",
        })
    })?;
    State::parse(&plain)
}
