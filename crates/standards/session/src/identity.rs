//! Who takes part: a name and two keys, one that signs and one that agrees.
//!
//! ```text
//! card    = KEM u16 | length of the name u8, name | Ed25519 key 32 | key of the KEM
//! card id = the first 16 bytes of SHA-256("keywright/session/card/v1" + card)
//! ```
//!
//! The two keys are never one key in two shapes: they are drawn apart, and a card whose keys are the same
//! bytes is none.

use keywright_encoding::Reader;
use keywright_hpke::{Kem, PrivateKey, PublicKey};
use keywright_primitives::hash::sha256;
use keywright_primitives::random::RandomStream;
use keywright_primitives::signature::{SigningKey, VerifyingKey};
use keywright_secret::Secret;

use crate::Error;

/// Bytes in the longest name.
pub const MAX_NAME_LEN: usize = 255;

const CARD_LABEL: &[u8] = b"keywright/session/card/v1";

/// A party with its private keys.
#[derive(Debug)]
pub struct Identity {
    pub(crate) signing: SigningKey,
    pub(crate) agreement: PrivateKey,
    card: Card,
}

impl Identity {
    /// New keys under this name.
    ///
    /// # Errors
    /// As [`Identity::from_keys`], and [`Error::Backend`] if there is no randomness.
    pub fn generate(name: &[u8], kem: Kem) -> Result<Self, Error> {
        let seed = RandomStream::new()?.secret()?;
        Self::from_keys(name, &seed, PrivateKey::generate(kem)?)
    }

    /// The Ed25519 key of this seed, and a key that agrees.
    ///
    /// # Errors
    /// [`Error::Name`] for an empty name or one of more than [`MAX_NAME_LEN`] bytes; [`Error::Keys`] if the
    /// KEM authenticates nobody, or the two keys are one; [`Error::Backend`].
    pub fn from_keys(name: &[u8], seed: &Secret<32>, key: PrivateKey) -> Result<Self, Error> {
        let signing = SigningKey::from_seed(seed)?;
        if key.to_bytes()?.expose() == clamped(seed).expose() {
            return Err(Error::Keys);
        }
        let public = key.public_key();
        let card = Card::new(name, signing.verifying_key(), copied(public)?)?;
        Ok(Self {
            signing,
            agreement: key,
            card,
        })
    }

    /// What others know of this party.
    #[must_use]
    pub const fn card(&self) -> &Card {
        &self.card
    }
}

/// The seed as X25519 would write it as a private key: one secret must not be both.
fn clamped(seed: &Secret<32>) -> Secret<32> {
    Secret::from_fill(|bytes: &mut [u8; 32]| {
        bytes.copy_from_slice(seed.expose());
        bytes[0] &= 248;
        bytes[31] = bytes[31] & 127 | 64;
    })
}

/// The same public key once more.
pub(crate) fn copied(key: &PublicKey) -> Result<PublicKey, Error> {
    Ok(PublicKey::from_bytes(key.kem(), key.as_bytes())?)
}

/// What is known of a party: its name and its public keys. Whether it is true is for the reader to know.
#[derive(Debug)]
pub struct Card {
    name: Box<[u8]>,
    verifying: VerifyingKey,
    agreement: PublicKey,
    id: CardId,
}

/// Names a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CardId(pub(crate) [u8; 16]);

impl CardId {
    /// The 16 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl Card {
    /// A name and two keys.
    ///
    /// # Errors
    /// As [`Identity::from_keys`].
    pub fn new(name: &[u8], verifying: VerifyingKey, agreement: PublicKey) -> Result<Self, Error> {
        if name.is_empty() || name.len() > MAX_NAME_LEN {
            return Err(Error::Name);
        }
        if !agreement.kem().authenticates() || agreement.as_bytes() == verifying.as_bytes() {
            return Err(Error::Keys);
        }
        let mut card = Self {
            name: name.into(),
            verifying,
            agreement,
            id: CardId([0; 16]),
        };
        card.id = CardId(short_hash(&[CARD_LABEL, &card.to_bytes()]));
        Ok(card)
    }

    /// Reads all of `bytes`.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(bytes);
        let card = Self::read(&mut reader)?;
        match reader.is_empty() {
            true => Ok(card),
            false => Err(Error::Malformed),
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let kem = Kem::from_id(reader.u16()?).map_err(|_| Error::Malformed)?;
        let length = usize::from(reader.u8()?);
        let name = reader.take(length)?;
        let verifying = VerifyingKey::from_bytes(*reader.array()?);
        let key = reader.take(kem.public_key_len())?;
        let key = PublicKey::from_bytes(kem, key).map_err(|_| Error::Malformed)?;
        Self::new(name, verifying, key).map_err(|_| Error::Malformed)
    }

    /// The card's bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let key = self.agreement.as_bytes();
        let mut out = Vec::with_capacity(3 + self.name.len() + 32 + key.len());
        out.extend_from_slice(&self.agreement.kem().id().to_be_bytes());
        // A name has at most 255 bytes.
        out.push(u8::try_from(self.name.len()).unwrap_or(u8::MAX));
        out.extend_from_slice(&self.name);
        out.extend_from_slice(self.verifying.as_bytes());
        out.extend_from_slice(key);
        out
    }

    /// What the party is called.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// The key that verifies what it signs.
    #[must_use]
    pub const fn verifying_key(&self) -> &VerifyingKey {
        &self.verifying
    }

    /// The key that others agree with.
    #[must_use]
    pub const fn agreement_key(&self) -> &PublicKey {
        &self.agreement
    }

    /// The card's name in frames.
    #[must_use]
    pub const fn id(&self) -> CardId {
        self.id
    }
}

/// The first half of a SHA-256.
pub(crate) fn short_hash(parts: &[&[u8]]) -> [u8; 16] {
    sha256(&parts.concat()).as_chunks().0[0]
}
