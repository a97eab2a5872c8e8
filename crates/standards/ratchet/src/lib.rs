//! The Double Ratchet with encrypted headers: bounded, transactional, and aware of its own copies.
//!
//! After the public specification "The Double Ratchet Algorithm" (Perrin, Marlinspike; section 4, header
//! encryption), over X25519, HKDF-SHA-256, HMAC-SHA-256 and XChaCha20-Poly1305.
//!
//! ```text
//! packet = 3 | header 40 (48 hedged) + tag 16 | body | tag 16     (73 or 81 bytes more than the text)
//! header = ratchet key 32 | length of the previous chain u32 | number u32 [| incarnation 8]
//! ```
//!
//! | step | computation |
//! |---|---|
//! | T | SHA-256 over label, mode, both identities and the handshake's transcript, length-prefixed |
//! | root | HKDF-SHA-256(salt RK, ikm DH, info label + T, 96) = RK, CK, NHK |
//! | chain | MK = HMAC-SHA-256(CK, 01), CK = HMAC-SHA-256(CK, 02) |
//! | body | under MK, nonce = label 12 + number u32 + incarnation 8, aad = T, version, header, context, length-prefixed |
//! | header | under HK, nonce = the first 24 bytes of the encrypted body, aad = version |
//!
//! No nonce travels. That of a body belongs to a key that is used once. That of a header is the body's
//! ciphertext, which differs for each message of a chain, and is why a text has at least
//! [`MIN_TEXT_LEN`] bytes: whoever pads for length (`keywright-wire`) stays above that anyway.
//!
//! * **Receiving has two phases.** The first borrows the session immutably and ends with the tag of the
//!   body; the second only moves keys and cannot fail. What is forged, repeated or out of bounds leaves the
//!   session as it was, to the byte.
//! * **Bounds** ([`Limits`]): a jump of 1,000 numbers in one packet, 2,048 stored keys in all, five old
//!   chains, seven days. A packet costs at most seven header openings before anything else is computed.
//! * **Copies of a state** are fatal to derived nonces. A [`Mode::Fenced`] session claims a value of a
//!   counter ([`Fence`]) with every save and load, and sends only what a saved state has set aside. A
//!   [`Mode::Hedged`] one draws eight bytes when it is made or loaded that go into nonces and headers.
//! * **At rest** a state is encrypted under a committing key ([`Session::save`], [`Session::load`]).
//!
//! The sending half of a Diffie-Hellman step waits for the next message to be sent; the private key whose
//! step was received is gone at that moment, so a peer cannot turn the ratchet twice without an answer.
//!
//! Not here: the handshake that makes [`SessionSecret`] and the transcript, padding, files and counters.
//!
//! ```
//! use keywright_clock::WallTime;
//! use keywright_primitives::agreement::X25519PrivateKey;
//! use keywright_primitives::random::RandomStream;
//! use keywright_ratchet::{Context, Message, Mode, Packet, Session, SessionSecret, Start};
//! use keywright_secret::Secret;
//!
//! let (mut random, now) = (RandomStream::new()?, WallTime::from_unix_seconds(1));
//! let start = || Start {
//!     secret: SessionSecret::expand(&Secret::from_fill(|shared| shared.fill(7))).unwrap(),
//!     context: Context { initiator: b"alice", responder: b"bob", transcript: b"handshake" },
//!     mode: Mode::Hedged,
//! };
//! let prekey = X25519PrivateKey::generate()?;
//! let mut alice = Session::initiate(start(), &prekey.public_bytes()?, &mut random)?;
//! let mut bob = Session::respond(start(), prekey, &mut random)?;
//!
//! let message = Message { text: &[b'x'; 64], context: b"" };
//! let mut bytes = vec![0; alice.packet_len(64)];
//! alice.seal(&message, now, &mut random, &mut bytes)?;
//! let mut text = [0; 64];
//! bob.open(&Packet { bytes: &bytes, context: b"" }, now, &mut text)?;
//! assert_eq!(text, [b'x'; 64]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod codec;
mod fence;
#[doc(hidden)]
pub mod fuzzing;
#[doc(hidden)]
pub mod hazmat;
mod key;
mod limits;
mod packet;
mod receive;
mod rest;
mod send;
mod session;
mod start;
mod stored;

pub use fence::{Claim, Fence, Unavailable};
pub use limits::Limits;
pub use packet::{MAX_CONTEXT_LEN, MAX_TEXT_LEN, MIN_TEXT_LEN, Message, Packet, VERSION};
pub use receive::{Incarnation, Opened};
pub use rest::{Reserve, StateKey};
pub use session::Session;
pub use start::{Context, Mode, SessionId, SessionSecret, Start};

/// Why nothing was sent, opened, saved or loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The caller's: the output has no room. Nothing has changed.
    #[error("the output needs room for {needed} bytes")]
    BufferTooSmall {
        /// Bytes that it needs.
        needed: usize,
    },
    /// The caller's: the responder of a session sends only after it has opened a first packet.
    #[error("nothing has been received yet, so there is no chain to send on")]
    NothingReceived,
    /// The caller's: a fenced session has no number set aside. Save it with [`Reserve::Numbers`], store
    /// what comes back, and seal again.
    #[error("the session must be saved before it sends more")]
    SaveFirst,
    /// The caller's: the text is shorter than [`MIN_TEXT_LEN`].
    #[error("the text is shorter than a message may be")]
    TooShort,
    /// The caller's: text, context or identity is longer than its limit.
    #[error("the text, context or identity is too long")]
    TooLong,
    /// The caller's: the operation belongs to the other [`Mode`].
    #[error("the session is of the other mode")]
    WrongMode,
    /// The peer's: 2^31 messages were sent without an answer. Sending goes on after one.
    #[error("the chain is used up until the peer answers")]
    ChainUsedUp,
    /// The data's: not a packet or state of this version and mode, judged by what everybody can see; or a
    /// state that opens and contradicts itself.
    #[error("the bytes are no packet or state of this version and mode")]
    Malformed,
    /// The peer's: its ratchet key is of small order and makes no secret.
    #[error("the peer's ratchet key makes no secret")]
    PeerKey,
    /// The data's: forged, changed, repeated, expired or out of bounds; or a state under another key. There
    /// is no further reason, by design.
    #[error("the packet or state does not open")]
    Rejected,
    /// The environment's: the counter has moved past this state. It is an older one, or a copy of one that
    /// is in use. Only a new handshake helps.
    #[error("the session's state is an older one or a copy")]
    StateRolledBack,
    /// The environment's: the counter did not answer.
    #[error("the counter that protects the session did not answer")]
    FenceUnavailable,
    /// The environment's: no randomness, or the backend refused.
    #[error("the crypto backend failed")]
    Backend(#[source] keywright_primitives::Error),
}

impl From<keywright_primitives::Error> for Error {
    fn from(error: keywright_primitives::Error) -> Self {
        Self::Backend(error)
    }
}

impl From<keywright_primitives::Rejected> for Error {
    fn from(_: keywright_primitives::Rejected) -> Self {
        Self::Rejected
    }
}

impl From<keywright_encoding::Truncated> for Error {
    fn from(_: keywright_encoding::Truncated) -> Self {
        Self::Malformed
    }
}

impl From<Unavailable> for Error {
    fn from(_: Unavailable) -> Self {
        Self::FenceUnavailable
    }
}
