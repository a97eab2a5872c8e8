//! Files (design 7.10): a data key in one or more slots, then a stream under it.
//!
//! ```text
//! 29 61 75 | slot count u8 | per slot: type u8, length u32, content (at most 4 KiB)
//!          | suite 6 envelope, kind 1, no binding, the data key's id, version 0
//! ```
//!
//! | slot | holds the data key's 48 bytes as | here |
//! |---|---|---|
//! | 1 | an envelope of kind 2 under some key | written and opened |
//! | 2 | a password container | written and opened |
//! | 3 | HPKE to a public key | written and opened |
//!
//! Slots are outside the associated data: another password or recipient means [`rewrite_slots`], and the
//! stream stays as it is. Memory is constant, whatever the file's length.
//!
//! **What [`open`] writes is complete only when it has returned `Ok`.** Each piece was verified, but until
//! the end a file that was cut off looks like a shorter one. [`open_to_path`] keeps to that by itself.
//!
//! Not here: which key or password opens a file, and asking for it.
#![forbid(unsafe_code)]

mod data_key;
mod file;
#[doc(hidden)]
pub mod fuzzing;
#[doc(hidden)]
pub mod hazmat;
mod header;
mod recipient;
mod slot;
mod staged;

pub use data_key::DataKey;
pub use file::{open, open_to_path, rewrite_slots, rewrite_slots_at, seal, seal_to_path};
pub use header::{FileHeader, MAX_SLOTS};
pub use slot::{SLOT_LIMIT, Slot};

use std::io;

use keywright_envelope::stream::TransferError;
use keywright_envelope::{Malformed, Rejected};

/// Why a file was not made, opened or rewritten.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The caller's: a file has between 1 and 255 slots.
    #[error("a file has between 1 and 255 slots, not {0}")]
    SlotCount(usize),
    /// The caller's: a slot's content is longer than 4 KiB.
    #[error("a slot of {0} bytes is longer than 4096")]
    SlotTooLong(usize),
    /// The caller's: a slot of another data key than the file's.
    #[error("a slot belongs to another data key")]
    SlotOfAnotherKey,
    /// The caller's: the key does not seal keys.
    #[error("the key seals messages, a slot needs one that seals keys")]
    SlotKeyKind,
    /// The data's: the bytes are no file of this version.
    #[error("the bytes are no protected file of a known form")]
    Malformed,
    /// The data's: the file has no slot that this key or a password could open.
    #[error("the file has no slot for this key or password")]
    NoSlot,
    /// The data's: key, associated data or file do not fit. There is no further reason, by design.
    #[error("the file does not open")]
    Rejected,
    /// A password slot could not be opened or made.
    #[error(transparent)]
    Password(keywright_password::Error),
    /// A slot for a public key could not be made, or its suite is not admitted.
    #[error(transparent)]
    Hpke(keywright_hpke::Error),
    /// Sealing failed.
    #[error(transparent)]
    Seal(#[from] keywright_envelope::Error),
    /// The environment's: no randomness.
    #[error("the crypto backend failed")]
    Backend(#[from] keywright_primitives::Error),
    /// The environment's: the source could not be read.
    #[error("cannot read")]
    Read(#[source] io::Error),
    /// The environment's: the destination could not be written.
    #[error("cannot write")]
    Write(#[source] io::Error),
}

impl From<Malformed> for Error {
    fn from(_: Malformed) -> Self {
        Self::Malformed
    }
}

impl From<Rejected> for Error {
    fn from(_: Rejected) -> Self {
        Self::Rejected
    }
}

impl From<keywright_password::Error> for Error {
    fn from(error: keywright_password::Error) -> Self {
        match error {
            keywright_password::Error::Malformed => Self::Malformed,
            keywright_password::Error::Rejected => Self::Rejected,
            other => Self::Password(other),
        }
    }
}

impl From<keywright_hpke::Error> for Error {
    fn from(error: keywright_hpke::Error) -> Self {
        match error {
            keywright_hpke::Error::Rejected => Self::Rejected,
            keywright_hpke::Error::Backend(error) => Self::Backend(error),
            other => Self::Hpke(other),
        }
    }
}

impl From<TransferError> for Error {
    fn from(error: TransferError) -> Self {
        match error {
            TransferError::Malformed => Self::Malformed,
            TransferError::Seal(error) => Self::Seal(error),
            TransferError::Read(error) => Self::Read(error),
            TransferError::Write(error) => Self::Write(error),
            _ => Self::Rejected,
        }
    }
}
