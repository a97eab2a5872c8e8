//! Sessions of two parties: a handshake, the ratchet, its frames, and the state on disk, put together.
//!
//! * A responder publishes a signed [`Record`] ([`Responder::publish`]): who he is, which suites he takes, his
//!   prekeys, and how sessions are to be protected. An initiator reads it and begins ([`Identity::initiate`])
//!   with one of the [`Handshake`]s, all of which prove both sides to each other.
//! * A [`Session`] sends and receives frames: content padded for length (`keywright-wire`), encrypted with
//!   its header by the Double Ratchet (`keywright-ratchet`), bound to both cards and to everything that the
//!   handshake negotiated. [`Session::binder`] stands for all of it, for a token or another channel to name.
//! * Frames carry the handshake until the first answer has come, so the first may get lost.
//! * [`Files`] keeps states: encrypted, replaced in one step, and written before a frame goes out or content
//!   is handed over. [`FileFence`] is the counter that finds older states and copies.
//!
//! Opening fails with one [`Error::Rejected`] and leaves the session as it was.
//!
//! Not here: transport, order of delivery, who may talk to whom, and more than two parties.
//!
//! ```
//! use keywright_clock::WallTime;
//! use keywright_hpke::{Kem, Policy, Suite};
//! use keywright_primitives::random::RandomStream;
//! use keywright_session::{
//!     Bundle, First, Handshake, Identity, Mode, Peer, PrekeySecrets, Responder, Setting, Terms,
//! };
//!
//! let (policy, now) = (Policy::default(), WallTime::from_unix_seconds(1_000));
//! let alice = Identity::generate(b"alice", Kem::X25519HkdfSha256)?;
//! let bob = Identity::generate(b"bob", Kem::X25519HkdfSha256)?;
//! let terms = Terms {
//!     suites: &[Suite::X25519.ids()],
//!     mode: Mode::Hedged,
//!     first: First::Deniable,
//!     not_before: now,
//!     not_after: WallTime::from_unix_seconds(100_000),
//! };
//! let mut bob = Responder::publish(bob, &PrekeySecrets::generate()?, &terms)?;
//! let setting = Setting { policy: &policy, application: b"example", now };
//! let mut random = RandomStream::new()?;
//!
//! let bundle = Bundle { record: bob.record(), one_time: None };
//! let mut one = alice.initiate(&bundle, Handshake::X3dh, &setting, &mut random)?;
//! let frame = one.send(b"hello", b"", now, &mut random)?;
//!
//! let known = |id| (id == alice.card().id()).then(|| Peer { card: alice.card(), psk: None });
//! let accepted = bob.accept(&frame, b"", &known, (&setting, &mut random))?;
//! assert_eq!(accepted.first.content.expose(), b"hello");
//! # Ok::<(), keywright_session::Error>(())
//! ```
#![forbid(unsafe_code)]

mod disk;
mod files;
#[doc(hidden)]
pub mod fuzzing;
#[doc(hidden)]
pub mod hazmat;
mod identity;
mod initiate;
mod kept;
mod marks;
mod offered;
mod opening;
mod prekeys;
mod record;
mod respond;
mod rest;
mod session;
mod x3dh;

pub use files::Files;
pub use identity::{Card, CardId, Identity, MAX_NAME_LEN};
pub use initiate::{Bundle, Handshake, Setting};
pub use kept::Kept;
pub use keywright_ratchet::{Incarnation, Mode, Reserve, SessionId};
pub use keywright_wire::RecordId;
pub use marks::FileFence;
pub use offered::named_record;
pub use prekeys::PrekeySecrets;
pub use record::{First, OneTime, Record, Terms};
pub use respond::{Accepted, MAX_SEEN, Peer, Responder};
pub use rest::StoreKey;
pub use session::{Received, Role, Session};

/// Why nothing was begun, sent, received or stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The caller's, or the peer's: record and handshake do not fit together.
    #[error("the handshake does not fit the record")]
    Handshake,
    /// The caller's: a name is empty or too long.
    #[error("a name has 1 to 255 bytes")]
    Name,
    /// The caller's: the two keys of a party are one key, or one of them proves nobody.
    #[error("the keys make no identity")]
    Keys,
    /// The caller's: no record can be made of these terms.
    #[error("the terms make no record")]
    Terms,
    /// The caller's: content, context or application is too long.
    #[error("the content or context is too long")]
    TooLong,
    /// The caller's: the responder sends only after he has received.
    #[error("nothing has been received yet")]
    NothingReceived,
    /// The caller's: a fenced session must be saved before it sends more. [`Files`] does that by itself.
    #[error("the session must be saved before it sends more")]
    SaveFirst,
    /// The caller's: the operation belongs to the other [`Mode`].
    #[error("the session is of the other mode")]
    WrongMode,
    /// The caller's: the session is open already, here or in another process.
    #[error("the session is in use")]
    InUse,
    /// The caller's: there is no such session in the folder.
    #[error("there is no such session")]
    NotFound,
    /// The caller's: an earlier failure has left it open whether the state was stored. Load it again.
    #[error("the session has to be loaded again")]
    Broken,
    /// The peer's: a chain is used up until an answer comes.
    #[error("the chain is used up until the peer answers")]
    ChainUsedUp,
    /// The peer's, or the caller's: no suite is in both lists, or another one was stated than the rule gives.
    #[error("no suite is admitted on both sides")]
    Suite,
    /// The peer's: the first frame names a record that is not this one, or a one-time prekey that is used.
    #[error("the record or one-time prekey is not known")]
    UnknownRecord,
    /// The record is not valid at this time.
    #[error("the record is not valid at this time")]
    RecordExpired,
    /// The peer's: nobody of this card may begin a session.
    #[error("the sender is not known")]
    UnknownSender,
    /// The peer's: a copy of a first frame that has begun a session.
    #[error("the first frame has begun a session before")]
    Repeated,
    /// The environment's: so many sessions were begun without one-time prekeys that a copy could not be told
    /// any more. Publish a new record.
    #[error("the record has begun too many sessions")]
    SeenFull,
    /// The data's, by what everybody can see: no frame, record or state of this version.
    #[error("the bytes are no frame, record or state of this version")]
    Malformed,
    /// The data's: it does not open, or a signature does not fit. There is no further reason, by design.
    #[error("it does not open")]
    Rejected,
    /// The environment's: the counter has moved past this state. It is an older one, or a copy.
    #[error("the session's state is an older one or a copy")]
    StateRolledBack,
    /// The environment's: the counter did not answer.
    #[error("the counter that protects the session did not answer")]
    FenceUnavailable,
    /// The environment's: a file could not be read or written.
    #[error("a file of the session could not be read or written")]
    File(#[source] std::io::Error),
    /// The environment's: no randomness, or the backend refused.
    #[error("the crypto backend failed")]
    Backend(#[from] keywright_primitives::Error),
}

impl From<keywright_encoding::Truncated> for Error {
    fn from(_: keywright_encoding::Truncated) -> Self {
        Self::Malformed
    }
}

impl From<keywright_wire::Error> for Error {
    fn from(_: keywright_wire::Error) -> Self {
        Self::Malformed
    }
}

impl From<keywright_hpke::Error> for Error {
    fn from(error: keywright_hpke::Error) -> Self {
        use keywright_hpke::Error as Hpke;
        match error {
            Hpke::SuiteRefused | Hpke::SuiteUnknown => Self::Suite,
            Hpke::TooLong(_) => Self::TooLong,
            Hpke::KeyMismatch | Hpke::ModeUnsupported | Hpke::ExportOnly => Self::Handshake,
            Hpke::PskInconsistent | Hpke::PskTooShort => Self::Handshake,
            Hpke::Backend(fault) => Self::Backend(fault),
            _ => Self::Rejected,
        }
    }
}

impl From<keywright_ratchet::Error> for Error {
    fn from(error: keywright_ratchet::Error) -> Self {
        use keywright_ratchet::Error as Ratchet;
        match error {
            Ratchet::NothingReceived => Self::NothingReceived,
            Ratchet::SaveFirst => Self::SaveFirst,
            Ratchet::TooLong => Self::TooLong,
            Ratchet::WrongMode => Self::WrongMode,
            Ratchet::ChainUsedUp => Self::ChainUsedUp,
            Ratchet::Malformed => Self::Malformed,
            Ratchet::StateRolledBack => Self::StateRolledBack,
            Ratchet::FenceUnavailable => Self::FenceUnavailable,
            Ratchet::Backend(fault) => Self::Backend(fault),
            _ => Self::Rejected,
        }
    }
}
