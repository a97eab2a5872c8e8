//! The only crate that names the crypto backend (aws-lc).
//!
//! | module | what | source |
//! |---|---|---|
//! | [`aead`] | AES-256-GCM, XAES-256-GCM, XChaCha20-Poly1305 | SP 800-38D, C2SP XAES-256-GCM, draft-irtf-cfrg-xchacha |
//! | [`hash`] | SHA-256 | FIPS 180-4 |
//! | [`mac`] | HMAC-SHA-256 | RFC 2104 |
//! | [`kdf`] | HKDF-Expand with SHA-256 and SHA-512 | RFC 5869 |
//! | [`signature`] | Ed25519 | RFC 8032 |
//! | [`random`] | the kernel and the backend together, stretched by AES-256-CTR | design 7.24 |
//!
//! Keys have their lengths in their types, nonces are arrays, and opening fails with one opaque
//! [`Rejected`]. Nonces are arguments here, because this is the floor that formats stand on; whoever
//! seals for a caller uses `keywright-envelope`, which makes them.
#![forbid(unsafe_code)]

pub mod aead;
pub mod hash;
pub mod kdf;
pub mod mac;
pub mod random;
pub mod signature;

/// A tag, signature or MAC that does not fit. There is no further reason, by design.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("verification failed")]
#[non_exhaustive]
pub struct Rejected;

/// The backend or the operating system refused to work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The backend refused an input whose length was already checked: a bug, or its self-test failed.
    #[error("the crypto backend refused the operation")]
    Backend,
    /// The kernel gave no random bytes.
    #[error("the operating system gave no random bytes")]
    Randomness,
    /// An input is longer than the algorithm's limit.
    #[error("the input is longer than the algorithm allows")]
    TooLong,
}
