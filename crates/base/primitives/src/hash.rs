//! SHA-256 (FIPS 180-4).

use aws_lc_rs::digest::{Context, Digest, SHA256, digest};

/// A SHA-256 value.
pub type Sha256Digest = [u8; 32];

/// SHA-256 of `bytes`.
#[must_use]
pub fn sha256(bytes: &[u8]) -> Sha256Digest {
    to_array(&digest(&SHA256, bytes))
}

/// SHA-256 of bytes that come in pieces.
#[derive(Clone)]
pub struct Sha256(Context);

impl Sha256 {
    /// Nothing hashed yet.
    #[must_use]
    pub fn new() -> Self {
        Self(Context::new(&SHA256))
    }

    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The value over everything added.
    #[must_use]
    pub fn finish(self) -> Sha256Digest {
        to_array(&self.0.finish())
    }
}

impl Default for Sha256 {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sha256")
    }
}

fn to_array(digest: &Digest) -> Sha256Digest {
    let mut out = [0; 32];
    out.copy_from_slice(digest.as_ref());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_and_whole_agree() {
        let mut pieces = Sha256::new();
        pieces.update(b"ab");
        pieces.update(b"c");
        assert_eq!(pieces.finish(), sha256(b"abc"));
        assert_eq!(sha256(b"abc")[..4], [0xba, 0x78, 0x16, 0xbf]);
    }
}
