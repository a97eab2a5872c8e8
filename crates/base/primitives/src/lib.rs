//! The only crate that names the crypto backend (aws-lc).
//!
//! | module | what | source |
//! |---|---|---|
//! | [`aead`] | AES-GCM, ChaCha20-Poly1305, XAES-256-GCM, XChaCha20-Poly1305, AES-SIV | SP 800-38D, RFC 8439, C2SP XAES-256-GCM, draft-irtf-cfrg-xchacha, RFC 5297 |
//! | [`agreement`] | X25519, ECDH over P-256, P-384, P-521 | RFC 7748, SP 800-56A |
//! | `ed25519_extended` (feature `hd`) | Ed25519 with a key that is no seed: scalar, nonce prefix, tweaks | RFC 8032, BIP32-Ed25519 |
//! | [`hash`] | SHA-256, SHA-384, SHA-512, SHA3-256, SHAKE, BLAKE3 | FIPS 180-4, FIPS 202, the BLAKE3 paper |
//! | [`hazmat`] | what is there only for comparison and old formats: AES-CBC, RSA with PKCS#1 v1.5 encryption | SP 800-38A, RFC 8017 |
//! | [`kdf`] | HKDF, and its second half alone; BLAKE3 | RFC 5869, the BLAKE3 paper |
//! | [`kem`] | ML-KEM-768, ML-KEM-1024 | FIPS 203 |
//! | [`key_wrap`] | AES key wrap with padding | SP 800-38F, RFC 5649 |
//! | [`mac`] | HMAC, AES-CMAC, keyed BLAKE3 | RFC 2104, SP 800-38B, the BLAKE3 paper |
//! | `p256`, `secp256k1` (feature `hd`) | tweaks of keys, deterministic ECDSA with low s and recovery, BIP-340, ECDH | SEC 1, RFC 6979, BIP-340 |
//! | [`random`] | the kernel and the backend together, stretched by AES-256-CTR | design 7.24 |
//! | [`rsa`], [`rsa_encryption`] | sizes of RSA keys, RSA-OAEP | RFC 8017 |
//! | [`signature`] | Ed25519, ECDSA, RSA, ML-DSA-65 | RFC 8032, FIPS 186-5, RFC 8017, FIPS 204 |
//!
//! Keys have their lengths in their types, nonces are arrays, and opening fails with one opaque
//! [`Rejected`]. Nonces are arguments here, because this is the floor that formats stand on; whoever
//! seals for a caller uses `keywright-envelope`, which makes them.
//!
//! A `generate` takes its randomness from the backend alone, because the backend offers no other way to
//! make such a key; where a key is made of a seed there is a `from_seed` or `from_bytes`, and the seed can
//! come from [`random`].
#![forbid(unsafe_code)]

pub mod aead;
pub mod agreement;
#[cfg(feature = "hd")]
pub mod ed25519_extended;
mod encoding;
pub mod hash;
pub mod hazmat;
pub mod kdf;
pub mod kem;
pub mod key_wrap;
pub mod mac;
#[cfg(feature = "hd")]
pub mod p256;
pub mod random;
pub mod rsa;
pub mod rsa_encryption;
#[cfg(feature = "hd")]
mod scalar;
#[cfg(feature = "hd")]
pub mod secp256k1;
pub mod signature;

/// A tag, signature or MAC that does not fit. There is no further reason, by design.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("verification failed")]
#[non_exhaustive]
pub struct Rejected;

/// The backend or the operating system refused to work, or the caller gave it something it cannot take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The backend refused an input whose length was already checked: a bug, or its self-test failed.
    #[error("the crypto backend refused the operation")]
    Backend,
    /// A serialised key is malformed, of another algorithm or size, or not a valid key of its own.
    #[error("the key is malformed or of another algorithm or size")]
    KeyRejected,
    /// The kernel gave no random bytes.
    #[error("the operating system gave no random bytes")]
    Randomness,
    /// An input is longer than the algorithm's limit.
    #[error("the input is longer than the algorithm allows")]
    TooLong,
}

/// A `Debug` that shows the name of the type and nothing of what it holds.
macro_rules! opaque_debug {
    ($($name:ident)*) => { $(
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    )* };
}
use opaque_debug;
