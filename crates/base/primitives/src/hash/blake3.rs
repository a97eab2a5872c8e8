//! BLAKE3 without a key. The one hash here that the backend does not have.

use crate::opaque_debug;

/// A BLAKE3 value of the usual length.
pub type Blake3Digest = [u8; 32];

/// BLAKE3 of `bytes`, on the calling thread alone.
#[must_use]
pub fn blake3(bytes: &[u8]) -> Blake3Digest {
    blake3::hash(bytes).into()
}

/// BLAKE3 of `bytes`, on as many threads as there are cores; of a few KiB, on the calling thread. The threads are
/// those of the process's pool and stay.
#[cfg(feature = "threads")]
#[must_use]
pub fn blake3_on_all_cores(bytes: &[u8]) -> Blake3Digest {
    blake3::Hasher::new().update_rayon(bytes).finalize().into()
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

#[cfg(all(test, feature = "threads"))]
mod tests {
    use super::*;

    #[test]
    fn threads_change_nothing() {
        for length in [0, 1, 1024, 1 << 16, (1 << 20) + 1] {
            let bytes = vec![0x5A; length];
            assert_eq!(blake3_on_all_cores(&bytes), blake3(&bytes), "{length}");
        }
    }
}
