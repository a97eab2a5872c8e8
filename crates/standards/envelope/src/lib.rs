//! The self-describing ciphertext (design 7.4 to 7.6).
//!
//! | suite | construction | here |
//! |---|---|---|
//! | 1 | XAES-256-GCM (C2SP) under a subkey, with a commitment; the default | sealed and opened |
//! | 2 | XChaCha20-Poly1305 under a subkey, with a commitment | sealed and opened |
//! | 3 | AES-256-GCM inside a token, nonce from us, 32 zero bytes in front | with a key in a device ([`DeviceKey`]) or in software |
//! | 4 | the same with a nonce of 16 bytes that the token makes | with a key in a device |
//! | 5 | AES-256-SIV under a subkey, with a commitment; equal texts have equal envelopes | sealed and opened |
//! | 6 | C2SP chunked-encryption with AES-256-GCM: [`stream`] | sealed and opened |
//!
//! [`derive()`] runs the one HKDF of a key; after it a message costs no hash, and one of many ([`Batch`]) less than a single one. The sealer makes the nonce, where the suite has one.
//! Opening fails with one [`Rejected`], whatever the reason, and hands out nothing.
//!
//! The commitment is to the key, not to the associated data: a ciphertext opens under one key only, but
//! whoever holds that key can seal the same text again for other associated data.
//!
//! Not here: who may open what (the binding is read, never judged), key storage and life cycle.
//!
//! ```
//! use keywright_envelope::{Aad, Binding, Envelope, Identity, derive};
//! use keywright_primitives::random::RandomStream;
//! use keywright_types::{KeyId, KeyVersion, Kind, Suite};
//!
//! let identity = Identity {
//!     suite: Suite::Xaes256Gcm,
//!     kind: Kind::Message,
//!     key: KeyId::from_bytes([1; 16]),
//!     version: KeyVersion::FIRST,
//! };
//! let (sealing, opening) = derive(&[7; 32], identity)?;
//! let aad = Aad::EMPTY.caller(b"row 7")?;
//! let mut sealed = Vec::new();
//! sealing.seal_into(Binding::None, &aad, b"hello", &mut RandomStream::new()?, &mut sealed)?;
//!
//! let mut opened = Vec::new();
//! opening.open_into(&Envelope::parse(&sealed)?, &aad, &mut opened)?;
//! assert_eq!(opened, b"hello");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod aad;
mod batch;
mod chunked;
mod device;
mod envelope;
#[doc(hidden)]
pub mod fuzzing;
#[doc(hidden)]
pub mod hazmat;
mod header;
mod key;
pub mod stream;
mod transfer;

pub use aad::{Aad, AadTooLong, CALLER_AAD_LIMIT};
pub use batch::Batch;
pub use device::{DeviceKey, Sealed, Sealing};
pub use envelope::{Envelope, Malformed, MessageId};
pub use header::{Binding, Header};
pub use key::{Identity, OpeningKey, SealingKey, derive};

use keywright_types::{Kind, Suite};

/// Why nothing was sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The caller's: keys of this suite are not used in this process, or not by this call.
    #[error("keys of the suite {0} are not usable here")]
    SuiteUnsupported(Suite),
    /// The caller's: the suite cannot hold this kind.
    #[error("the suite {suite} does not hold the kind {kind}")]
    KindUnsupported {
        /// The suite.
        suite: Suite,
        /// The kind.
        kind: Kind,
    },
    /// The caller's: the plaintext or a field of the associated data is beyond the format's limit.
    #[error("the input is longer than the format allows")]
    TooLong,
    /// The environment's: a device gave an answer of another length than it must have.
    #[error("the device's answer has the wrong length")]
    Device,
    /// The environment's: no randomness, or the backend refused.
    #[error("the crypto backend failed")]
    Backend(#[source] keywright_primitives::Error),
}

impl From<keywright_primitives::Error> for Error {
    fn from(error: keywright_primitives::Error) -> Self {
        match error {
            keywright_primitives::Error::TooLong => Self::TooLong,
            other => Self::Backend(other),
        }
    }
}

/// The envelope does not open here. There is no further reason, by design (7.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the ciphertext does not open")]
#[non_exhaustive]
pub struct Rejected;

impl From<keywright_primitives::Rejected> for Rejected {
    fn from(_: keywright_primitives::Rejected) -> Self {
        Self
    }
}
