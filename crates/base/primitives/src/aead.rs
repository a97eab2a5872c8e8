//! Authenticated encryption.
//!
//! Sealing works in place: the plaintext's buffer becomes the ciphertext's, and the tag comes back.
//! Opening verifies before it shows anything; on failure the buffer is wiped.
//!
//! * [`Aes128Gcm`], [`Aes256Gcm`], [`ChaCha20Poly1305`]: nonces of 96 bits, which the caller must not repeat.
//! * [`Xaes256Gcm`], [`XChaCha20Poly1305`]: nonces of 192 bits, which may be random.
//! * [`Aes256Siv`]: no nonce; equal texts have equal ciphertexts.

pub(crate) mod extended;
mod siv;
mod standard;

pub use extended::{Ahead, MOST_AHEAD, XChaCha20Poly1305, Xaes256Gcm};
pub use siv::{Aes256Siv, SIV_KEY_LEN};
pub use standard::{Aes128Gcm, Aes256Gcm, ChaCha20Poly1305};

/// Bytes in a tag of every AEAD here.
pub const TAG_LEN: usize = 16;
/// Bytes in a nonce of the two extended-nonce AEADs.
pub const EXTENDED_NONCE_LEN: usize = 24;

/// A tag.
pub type Tag = [u8; TAG_LEN];
/// A nonce long enough to be random.
pub type ExtendedNonce = [u8; EXTENDED_NONCE_LEN];
