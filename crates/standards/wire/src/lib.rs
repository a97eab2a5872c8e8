//! Frames of a session, and padding that hides lengths.
//!
//! * [`InitFrame`]: the first frame: which suites were offered, which was chosen, to which record, the
//!   encapsulated key, and the first message. [`InitHead`] is the same without the message.
//! * [`PrekeyHead`]: the head of a first frame that begins with prekeys.
//! * [`MessageFrame`]: every further frame.
//! * [`padding`]: content, 0x80 and zeros up to one of few lengths, inside the encryption.
//! * [`compat`]: the first frame of an older program, for migration only.
//!
//! Every length follows from the suite, the number of offered suites or the end of the frame, so that no
//! two fields can disagree. What is parsed would be written the same way: unknown versions, other orders
//! and trailing bytes are errors. Nothing allocates but the buffer that a frame is appended to.
//!
//! Not here: any key. Encapsulated keys, encrypted headers and ciphertexts are bytes of a stated length;
//! `keywright-hpke` and `keywright-ratchet` make and open them, `keywright-session` puts them together.
//!
//! ```
//! use keywright_wire::{HeaderForm, MessageFrame, padding};
//!
//! let mut padded = Vec::new();
//! padding::pad_into(b"hello", &mut padded)?;
//! assert_eq!(padded.len(), 64);
//! assert_eq!(padding::unpad(&padded)?, b"hello");
//!
//! // What the ratchet makes of it: an encrypted header, a ciphertext of the same length, a tag.
//! let frame = MessageFrame::new(HeaderForm::Fenced, &[1; 56], &padded, &[2; 16])?;
//! let mut bytes = Vec::new();
//! frame.encode_into(&mut bytes);
//! assert_eq!(bytes.len(), 73 + 64);
//! assert_eq!(MessageFrame::parse(&bytes, HeaderForm::Fenced)?, frame);
//! # Ok::<(), keywright_wire::Error>(())
//! ```
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

pub mod compat;
#[doc(hidden)]
pub mod fuzzing;
mod init;
mod message;
pub mod padding;
mod prekey;
mod suite;

pub use init::{InitFrame, InitHead, InitParts, ML_KEM_768_CIPHERTEXT_LEN, RecordId, SenderKeyId};
pub use message::{HeaderForm, MESSAGE_OVERHEAD, MessageFrame, TAG_LEN};
pub use prekey::PrekeyHead;
pub use suite::{MAX_OFFERED, Mode, Offer, SuiteIds};

/// The version of both frames.
pub const VERSION: u8 = 3;

/// Why bytes are no frame, or parts make none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The data's: the ciphertext's length is none that padding makes.
    #[error("{0} bytes are no length of a padded message")]
    BodyLength(usize),
    /// The caller's: the content is longer than [`padding::MAX_CONTENT`].
    #[error("the content has {0} bytes, more than 16 MiB")]
    ContentTooLong(usize),
    /// An encapsulated key that is not as long as its suite says.
    #[error("the encapsulated key has {found} bytes instead of {expected}")]
    EncapsulationLength {
        /// What the suite says.
        expected: usize,
        /// What there is.
        found: usize,
    },
    /// The caller's: the encrypted header is not as long as its form says.
    #[error("the encrypted header has {found} bytes instead of {expected}")]
    HeaderLength {
        /// What the form says.
        expected: usize,
        /// What there is.
        found: usize,
    },
    /// The caller's: the mode has an ML-KEM ciphertext and none was given, or the other way round.
    #[error("the mode and the ML-KEM ciphertext do not go together")]
    KemCiphertext,
    /// The mode has no meaning for the chosen suite: authentication with a KEM that offers none.
    #[error("the mode {0:?} does not exist for the chosen suite")]
    ModeForSuite(Mode),
    /// The data's: a mode that is not known.
    #[error("the mode {0} is unknown")]
    ModeUnknown(u8),
    /// The chosen suite is not among those offered.
    #[error("the chosen suite {0} was not offered")]
    NotOffered(SuiteIds),
    /// No suite or more than eight are offered.
    #[error("{0} suites are offered instead of 1 to 8")]
    OfferCount(usize),
    /// A suite is offered twice.
    #[error("a suite is offered twice")]
    OfferRepeats,
    /// The data's: what was opened does not end as padding does, or has another length than its content
    /// would have been given.
    #[error("the padding is malformed")]
    Padding,
    /// The caller's: the mode names a sender and none was given, or the other way round.
    #[error("the mode and the sender's key id do not go together")]
    Sender,
    /// The chosen suite is not known.
    #[error("the suite {0} is unknown")]
    SuiteUnknown(SuiteIds),
    /// The data's: bytes stand behind the end of the frame.
    #[error("{0} bytes stand behind the frame")]
    Trailing(usize),
    /// The data's: the frame ends inside a field.
    #[error("the frame ends inside a field")]
    Truncated,
    /// The data's: a version or type that is not known.
    #[error("the version {0} is unknown")]
    Version(u8),
}

impl From<keywright_encoding::Truncated> for Error {
    fn from(_: keywright_encoding::Truncated) -> Self {
        Self::Truncated
    }
}
