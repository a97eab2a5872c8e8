//! Hybrid public key encryption: RFC 9180 in all modes, and the drafts that follow it.
//!
//! | module or type | what | source |
//! |---|---|---|
//! | [`Suite`], [`Policy`] | which algorithms there are, and which may be used | RFC 9180, section 7 |
//! | [`PrivateKey`], [`PublicKey`] | keys that keep what opening would compute again | section 4, draft-ietf-hpke-pq |
//! | [`Initiator`], [`Acceptor`] | the two ends: contexts, single messages, many at once | sections 5 and 6 |
//! | [`Sender`], [`Recipient`], [`Exporter`] | contexts | sections 5.2 and 5.3 |
//! | [`binder`] | a transcript of a negotiation, bound to the keys | our own |
//! | [`authpsk_pq`] | sender authentication, and secrecy from a quantum computer | our own, over both |
//! | [`replay`], [`response`] | refusing a message twice, answering one | section 9.7.3; RFC 9458, section 4.4 |
//! | [`compat`] | the binder of an older program, with its weakness stated | |
//!
//! The sender makes the ephemeral key and counts the nonces; nobody can hand either in. A context seals, or
//! opens, or only exports, and these are different types. Opening fails with one [`Error::Rejected`],
//! whatever the reason, leaves zeros in the caller's buffer and the counter where it was.
//!
//! A recipient cannot tell a message from a copy of it: `enc` sent twice gives the same keys twice, so
//! whoever acts on a message needs [`replay::Guard`]. Recipients whose private key is stolen lose all that
//! was ever sent to it; for forward secrecy there is the ratchet.
//!
//! Not here: files (`keywright-container`), and sessions of many messages in both directions.
//!
//! ```
//! use keywright_hpke::{Aad, Info, Kem, Policy, PrivateKey, RecipientMode, SenderMode, Suite};
//!
//! let recipient = PrivateKey::generate(Kem::X25519HkdfSha256)?;
//! let suite = Policy::default().admit(Suite::X25519)?;
//!
//! let to = suite.initiator(recipient.public_key(), SenderMode::Base, Info(b"example"))?;
//! let (enc, mut sender) = to.initiate()?;
//! let first = sender.seal(Aad(b"row 7"), b"hello")?;
//!
//! let from = suite.acceptor(&recipient, RecipientMode::Base, Info(b"example"))?;
//! let mut receiver = from.accept(enc.as_bytes())?;
//! assert_eq!(receiver.open(Aad(b"row 7"), &first)?, b"hello");
//! # Ok::<(), keywright_hpke::Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod authpsk_pq;
pub mod binder;
pub mod compat;
mod context;
mod error;
#[doc(hidden)]
pub mod fuzzing;
#[doc(hidden)]
pub mod hazmat;
mod kdf;
mod kem;
mod mode;
mod policy;
pub mod replay;
pub mod response;
mod schedule;
mod setup;
mod short;
mod suite;

pub use context::{Exporter, Recipient, Sender};
pub use error::{Error, Input};
pub use kem::{Enc, PrivateKey, PublicKey};
pub use mode::{MIN_PSK_LEN, Mode, Psk, PskSecret, RecipientMode, SenderMode};
pub use policy::{Admitted, Limits, Policy};
pub use setup::{Acceptor, Initiator, Sealed};
pub use suite::{Aead, Kdf, Kem, Suite};

/// Bytes that a sealed message is longer than its plaintext.
pub const TAG_LEN: usize = keywright_primitives::aead::TAG_LEN;

/// The application's `info`: both sides must name the same, and it is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a name for an argument")]
pub struct Info<'a>(pub &'a [u8]);

/// Associated data of one message: authenticated, not encrypted, not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a name for an argument")]
pub struct Aad<'a>(pub &'a [u8]);
