//! For tests only: nonces and salts chosen by the caller.
//!
//! A nonce used twice under one key gives away the texts and lets anybody forge. Vectors need the same
//! bytes each time; nothing else may call this.

use crate::chunked::{ChunkOpener, ChunkSealer};
use crate::key::Input;
use crate::stream::StreamSealer;
use crate::{Aad, Binding, Error, Rejected, Sealing, SealingKey};

/// [`SealingKey::seal_into`] with this nonce or salt, of which suite 3 takes the first 12 bytes.
///
/// # Errors
/// As there.
pub fn seal_with_nonce(
    key: &SealingKey,
    binding: Binding,
    aad: &Aad<'_>,
    plaintext: &[u8],
    nonce: &[u8; 24],
) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    let sealing = Sealing {
        binding,
        aad,
        plaintext,
    };
    let input = Input { sealing, nonce };
    key.seal_with(&input, &mut out)?;
    Ok(out)
}

/// [`StreamSealer::new`] with this salt.
///
/// # Errors
/// As there.
pub fn stream_with_salt(
    key: &SealingKey,
    binding: Binding,
    aad: &Aad<'_>,
    salt: &[u8; 24],
    out: &mut Vec<u8>,
) -> Result<StreamSealer, Error> {
    StreamSealer::with_salt(key, binding, aad, salt, out)
}

/// Chunked encryption without our header: salt, commitment, chunks.
///
/// # Errors
/// As [`SealingKey::seal_into`].
pub fn seal_chunked(
    key: &[u8; 32],
    salt: &[u8; 24],
    context: &[u8],
    plaintext: &[u8],
) -> Result<Vec<u8>, Error> {
    let (mut sealer, commitment) = ChunkSealer::new(key, salt, context)?;
    let mut out = [&salt[..], &commitment].concat();
    sealer.update(plaintext, &mut out)?;
    sealer.finish(&mut out)?;
    Ok(out)
}

/// Opens what [`seal_chunked`] seals.
///
/// # Errors
/// [`Rejected`] if it does not fit, or is too short.
pub fn open_chunked(key: &[u8; 32], context: &[u8], sealed: &[u8]) -> Result<Vec<u8>, Rejected> {
    let (salt, rest) = sealed.split_first_chunk().ok_or(Rejected)?;
    let (commitment, chunks) = rest.split_first_chunk().ok_or(Rejected)?;
    let mut opener = ChunkOpener::new(key, salt, context, commitment)?;
    let mut out = Vec::new();
    opener.update(chunks, &mut out)?;
    opener.finish(&mut out)?;
    Ok(out)
}
