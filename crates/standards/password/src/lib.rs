//! A data key under a password (docs/formats.md, "Password container").
//!
//! ```text
//! "KWPW" | 1 version | 1 KDF | 1 AEAD | 0 flags | memory u32 | passes u32 | lanes u32 | salt 16
//!        | commitment 32 | nonce 24 | ciphertext 48 | tag 16                           (156 bytes)
//! ```
//!
//! P = Argon2id 0x13 (RFC 9106) of password and salt; subkey and commitment = HKDF-Expand-SHA-256(P,
//! "keywright/password/v1" + all from magic to salt); XAES-256-GCM (C2SP) under the subkey with all from
//! magic to nonce as associated data. What is wrapped is always the 48 bytes of a data key (design 7.9),
//! so a new password or profile changes the container and nothing else.
//!
//! * The file's parameters are held against [`Limits`] before anything is allocated for them.
//! * All calls of the process share one [`budget`] of memory: one that does not fit waits, then is refused.
//! * The memory is kept out of swap and dumps where the system allows it, wiped, and the answer says which.
//! * A wrong password and a changed container give the same error.
//!
//! Not here: strength rules for passwords, and asking for them.
//!
//! ```
//! use keywright_password::{Container, Limits, Profile};
//! use keywright_primitives::random::RandomStream;
//! use keywright_secret::{Secret, SecretBytes};
//!
//! let mut random = RandomStream::new()?;
//! let data_key: Secret<48> = random.secret()?;
//! let password = SecretBytes::from_vec(b"correct horse battery staple".to_vec());
//! let container = Container::seal(&data_key, &password, Profile::Fast, &mut random)?;
//! let opened = Container::open(&container, &password, &Limits::standard())?;
//! assert!(opened.secret.ct_eq(&data_key));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod budget;
mod container;
mod cost;
#[doc(hidden)]
pub mod fuzzing;
#[doc(hidden)]
pub mod hazmat;
mod pool;
mod stretch;

pub use container::{CONTAINER_LEN, Container, Opened, Sealed};
pub use cost::{Cost, Limits, Profile};

/// Why a container was not made or opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The data's: the bytes are no container of this version.
    #[error("the bytes are no password container of a known form")]
    Malformed,
    /// The data's: the container asks for more work or memory than the limits allow, or for too little.
    #[error("the container's Argon2 parameters are outside the limits")]
    OutOfBounds,
    /// The data's: a wrong password or a changed container. There is no further reason, by design.
    #[error("the password does not open the container")]
    Rejected,
    /// The environment's: other calls hold the process's memory budget, and the wait is over.
    #[error("too many password operations at once")]
    Busy,
    /// The environment's: the memory is more than the process's budget, or the system has not got it.
    #[error("not enough memory for the container's Argon2 parameters")]
    OutOfMemory,
    /// The environment's: no randomness, or the backend refused.
    #[error("the crypto backend failed")]
    Backend(#[source] keywright_primitives::Error),
    /// A bug of ours: Argon2 refused parameters that were checked.
    #[error("argon2 refused parameters that were checked")]
    Argon2,
}

impl From<keywright_primitives::Error> for Error {
    fn from(error: keywright_primitives::Error) -> Self {
        Self::Backend(error)
    }
}

impl From<keywright_encoding::Truncated> for Error {
    fn from(_: keywright_encoding::Truncated) -> Self {
        Self::Malformed
    }
}
