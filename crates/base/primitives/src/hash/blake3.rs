//! BLAKE3 without a key. The one hash here that the backend does not have.

use crate::opaque_debug;

/// A BLAKE3 value of the usual length.
pub type Blake3Digest = [u8; 32];

/// BLAKE3 of `bytes`, on the calling thread alone.
#[must_use]
pub fn blake3(bytes: &[u8]) -> Blake3Digest {
    blake3::hash(bytes).into()
}

/// BLAKE3 of bytes that come in pieces.
#[derive(Clone, Default)]
pub struct Blake3(blake3::Hasher);

impl Blake3 {
    /// Nothing hashed yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The value over everything added.
    #[must_use]
    pub fn finish(self) -> Blake3Digest {
        self.0.finalize().into()
    }

    /// Fills `out`, of whatever length, with the extended value; it begins with that of
    /// [`Blake3::finish`], and a longer value begins with a shorter one.
    pub fn finish_into(self, out: &mut [u8]) {
        self.0.finalize_xof().fill(out);
    }
}

opaque_debug! { Blake3 }
