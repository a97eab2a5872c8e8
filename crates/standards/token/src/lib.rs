//! Compact tokens: who may do what until when, in 40 bytes more than the claims themselves.
//!
//! ```text
//! suite u8 | flags u8 | key id 4 | token id 16 | length u16 | claims | blocks ... | tag 16 or 64
//! ```
//!
//! | suite | tag | who can verify | who can narrow |
//! |---|---|---|---|
//! | 0x01 keyed BLAKE3, 0x02 HMAC-SHA-256 | 16 | whoever can issue | every holder, offline |
//! | 0x11 Ed25519 | 64 | everybody with the public key | the holder of the key that the token names |
//!
//! * [`IssuingKey`] issues, [`VerifyingKeys`] verify. Verification takes the time as an argument, wants an
//!   audience unless told otherwise, and ends in [`Verified`] or in one opaque [`Rejected`].
//! * [`attenuate_into`] adds a block to a token with a MAC: the tag becomes the key of the block's tag, so a
//!   block can be added without any key and none can be taken off. [`delegate_into`] does the same with a
//!   signature.
//! * A block only narrows: an earlier end, a later beginning, a smaller scope, an audience where there was none.
//! * A token may be bound to a session: a [`Binder`] is authenticated and not sent.
//! * [`DenySet`]: tokens, and single branches of them, that are revoked before they expire.
//!
//! A token is a secret of whoever holds it: it is not encrypted and its claims can be read by everybody who
//! sees it. Not here: what a scope means, where keys are kept, encrypted claims.
//!
//! ```
//! use keywright_primitives::random::RandomStream;
//! use keywright_secret::Secret;
//! use keywright_token::{
//!     Audience, Check, Claims, DenySet, IssuingKey, KeyId, Narrowing, Scope, UnixSeconds, VerifyingKeys,
//!     attenuate_into,
//! };
//!
//! let key = IssuingKey::blake3(KeyId::new(*b"2026"), &Secret::from_fill(|key| *key = [7; 32]));
//! let now = UnixSeconds::new(1_800_000_000)?;
//! let claims = Claims::until(UnixSeconds::new(1_800_003_600)?)
//!     .audience("api")?
//!     .scope(Scope::parse("read write")?);
//! let mut token = Vec::new();
//! key.issue_into(&claims, None, &mut RandomStream::new()?, &mut token)?;
//!
//! // Its holder passes on a token that can only read, without asking anybody.
//! let mut narrower = Vec::new();
//! attenuate_into(&token, &Narrowing::new().scope(Scope::parse("read")?), &mut narrower)?;
//!
//! let keys = VerifyingKeys::of(key.verifying_key()?);
//! let check = Check::at(now, Audience::Is("api"));
//! let verified = keys.verify(&narrower, &check, &DenySet::new())?;
//! assert!(verified.scope().contains("read") && !verified.scope().contains("write"));
//! assert!(keys.verify(&token, &Check::at(now, Audience::Is("mail")), &DenySet::new()).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]

mod attenuate;
mod blocks;
mod claims;
mod error;
mod format;
#[doc(hidden)]
pub mod fuzzing;
#[doc(hidden)]
pub mod hazmat;
mod key;
mod peek;
mod revoke;
mod scope;
mod tag;
mod tlv;
mod verify;

pub use attenuate::{Narrowing, Next, attenuate_into, delegate_into};
pub use claims::{Claims, MAX_DATA, MAX_NAME, UnixSeconds};
pub use error::{Error, Reason, Rejected};
pub use format::{KeyId, MAC_OVERHEAD, MAX_BLOCKS, MAX_LEN, SIGNED_OVERHEAD, Suite};
pub use key::{Binder, IssuingKey, VerifyingKey, VerifyingKeys};
pub use peek::Peek;
pub use revoke::{DenySet, RevocationId, Revocations};
pub use scope::{MAX_SCOPE, Scope, ScopeText, Words};
pub use verify::{Audience, Channel, Check, Skew, Verified};
