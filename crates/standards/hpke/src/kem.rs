//! Key encapsulation: the keys of recipients and senders, and what goes between them.

mod dh;
mod lattice;

use std::fmt;

use keywright_primitives::agreement::X25519PrivateKey;
use keywright_secret::SecretBytes;

use crate::short::Short;
use crate::{Error, Kem};
use dh::{DhPrivate, DhPublic, MAX_PUBLIC_LEN};
use lattice::{LatticePrivate, LatticePublic};

/// A public key of one KEM, checked and ready for use.
pub struct PublicKey {
    kem: Kem,
    bytes: Box<[u8]>,
    parts: PublicParts,
}

enum PublicParts {
    Dh(DhPublic),
    Lattice(Box<LatticePublic>),
}

/// A private key of one KEM.
///
/// It keeps beside it everything that opening would otherwise compute again: the public key and, of the
/// drafts, the long form of the seed. Making one is dear, using it is not; keep it.
pub struct PrivateKey {
    public: PublicKey,
    parts: PrivateParts,
}

enum PrivateParts {
    Dh(DhPrivate),
    Lattice(Box<LatticePrivate>),
}

impl PublicKey {
    /// Reads a key as the standard writes it (`DeserializePublicKey`); points are uncompressed.
    ///
    /// A key of small order on X25519 is read, and makes no secret later.
    ///
    /// # Errors
    /// [`Error::KeyRejected`] if the length is another, the point is not on the curve, or a coefficient of
    /// ML-KEM is not reduced.
    pub fn from_bytes(kem: Kem, bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() != kem.public_key_len() {
            return Err(Error::KeyRejected);
        }
        let parts = if kem.authenticates() {
            PublicParts::Dh(DhPublic::parse(kem, bytes)?)
        } else {
            PublicParts::Lattice(Box::new(LatticePublic::parse(kem, bytes)?))
        };
        Ok(Self {
            kem,
            bytes: bytes.into(),
            parts,
        })
    }

    /// The key as the standard writes it.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its KEM.
    #[must_use]
    pub const fn kem(&self) -> Kem {
        self.kem
    }

    /// `Encap(pkR)`, or `AuthEncap(pkR, skS)` if there is a sender.
    pub(crate) fn encap(
        &self,
        sender: Option<&PrivateKey>,
        randomness: Randomness<'_>,
    ) -> Result<(Enc, Short), Error> {
        match &self.parts {
            PublicParts::Lattice(key) => key.encap(randomness),
            PublicParts::Dh(key) => self.dh_encap(key, sender, randomness),
        }
    }

    fn dh_encap(
        &self,
        own: &DhPublic,
        sender: Option<&PrivateKey>,
        randomness: Randomness<'_>,
    ) -> Result<(Enc, Short), Error> {
        let ephemeral = match randomness.given()? {
            None => DhPrivate::generate(self.kem)?,
            Some(ikm) => dh::derive(self.kem, ikm)?,
        };
        let enc = Enc::small(ephemeral.public_bytes()?.as_slice());
        let mut dh = Short::empty();
        ephemeral.agree(own, &mut dh)?;
        let mut sender_public: &[u8] = &[];
        if let Some(sender) = sender {
            let PrivateParts::Dh(key) = &sender.parts else {
                return Err(Error::ModeUnsupported);
            };
            key.agree(own, &mut dh)?;
            sender_public = sender.public.as_bytes();
        }
        // kem_context = concat(enc, pkRm) or concat(enc, pkRm, pkSm)
        let context = [enc.as_bytes(), self.as_bytes(), sender_public];
        let shared = dh::shared_secret(self.kem, &dh, context)?;
        Ok((enc, shared))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.kem)
    }
}

/// Whether they are the same key of the same KEM.
impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.kem == other.kem && self.bytes == other.bytes
    }
}

impl Eq for PublicKey {}

impl PrivateKey {
    /// A new key.
    ///
    /// # Errors
    /// [`Error::Backend`] if there is no randomness, or the backend refuses.
    pub fn generate(kem: Kem) -> Result<Self, Error> {
        Self::of(
            kem,
            if kem.authenticates() {
                PrivateParts::Dh(DhPrivate::generate(kem)?)
            } else {
                PrivateParts::Lattice(Box::new(LatticePrivate::generate(kem)?))
            },
        )
    }

    /// The key that belongs to secret bytes (`DeriveKeyPair`): the same bytes, the same key. They must have
    /// the entropy of a key; a password has not.
    ///
    /// # Errors
    /// [`Error::IkmLength`] if there are fewer bytes than a private key has.
    pub fn derive(kem: Kem, ikm: &SecretBytes) -> Result<Self, Error> {
        let ikm = ikm.expose();
        if ikm.len() < kem.private_key_len() {
            return Err(Error::IkmLength);
        }
        Self::of(
            kem,
            if kem.authenticates() {
                PrivateParts::Dh(dh::derive(kem, ikm)?)
            } else {
                PrivateParts::Lattice(Box::new(LatticePrivate::derive(kem, ikm)?))
            },
        )
    }

    /// Reads a key as the standard writes it (`DeserializePrivateKey`): a scalar, or the seed of a draft.
    ///
    /// # Errors
    /// [`Error::KeyRejected`] if the length is another, or a scalar is zero or not below the order.
    pub fn from_bytes(kem: Kem, bytes: &SecretBytes) -> Result<Self, Error> {
        let bytes = bytes.expose();
        Self::of(
            kem,
            if kem.authenticates() {
                PrivateParts::Dh(DhPrivate::parse(kem, bytes)?)
            } else {
                PrivateParts::Lattice(Box::new(LatticePrivate::parse(kem, bytes)?))
            },
        )
    }

    fn of(kem: Kem, parts: PrivateParts) -> Result<Self, Error> {
        let public = match &parts {
            PrivateParts::Dh(key) => PublicKey::from_bytes(kem, key.public_bytes()?.as_slice()),
            PrivateParts::Lattice(key) => PublicKey::from_bytes(kem, &key.public_bytes()?),
        }?;
        Ok(Self { public, parts })
    }

    /// The key as the standard writes it (`SerializePrivateKey`), which for X25519 means clamped.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn to_bytes(&self) -> Result<SecretBytes, Error> {
        match &self.parts {
            PrivateParts::Lattice(key) => Ok(key.to_bytes()),
            PrivateParts::Dh(key) => {
                let mut bytes = key.to_bytes()?;
                if self.kem() == Kem::X25519HkdfSha256
                    && let [first, .., last] = bytes.expose_mut()
                {
                    *first &= 248;
                    *last = *last & 127 | 64;
                }
                Ok(bytes)
            }
        }
    }

    /// The key as its group knows it, for a handshake that agrees with it outside of HPKE; nothing of a KEM
    /// other than X25519.
    #[must_use]
    pub const fn as_x25519(&self) -> Option<&X25519PrivateKey> {
        match &self.parts {
            PrivateParts::Dh(DhPrivate::X25519(key)) => Some(key),
            PrivateParts::Dh(_) | PrivateParts::Lattice(_) => None,
        }
    }

    /// The public half.
    #[must_use]
    pub const fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// Its KEM.
    #[must_use]
    pub const fn kem(&self) -> Kem {
        self.public.kem
    }

    /// `Decap(enc, skR)`, or `AuthDecap(enc, skR, pkS)` if there is a sender. Every fault that lies in
    /// foreign bytes is [`Error::Rejected`].
    pub(crate) fn decap(&self, enc: &[u8], sender: Option<&PublicKey>) -> Result<Short, Error> {
        let key = match &self.parts {
            PrivateParts::Lattice(key) => return key.decap(enc, self.public.as_bytes()),
            PrivateParts::Dh(key) => key,
        };
        if enc.len() != self.kem().enc_len() {
            return Err(Error::Rejected);
        }
        let ephemeral = DhPublic::parse(self.kem(), enc).map_err(|_| Error::Rejected)?;
        let mut dh = Short::empty();
        key.agree(&ephemeral, &mut dh)
            .map_err(|_| Error::Rejected)?;
        let mut sender_public: &[u8] = &[];
        if let Some(sender) = sender {
            let PublicParts::Dh(theirs) = &sender.parts else {
                return Err(Error::ModeUnsupported);
            };
            key.agree(theirs, &mut dh).map_err(|_| Error::Rejected)?;
            sender_public = sender.as_bytes();
        }
        dh::shared_secret(
            self.kem(),
            &dh,
            [enc, self.public.as_bytes(), sender_public],
        )
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({})", self.kem())
    }
}

/// An encapsulation (`enc`): what the sender sends along so that the recipient can find the keys.
#[derive(Clone, PartialEq, Eq)]
pub struct Enc(Kept);

/// Points stay where they are made; what a lattice makes is too long for that.
#[derive(Clone, PartialEq, Eq)]
enum Kept {
    Large(Box<[u8]>),
    Small {
        bytes: [u8; MAX_PUBLIC_LEN],
        len: usize,
    },
}

impl Enc {
    fn small(point: &[u8]) -> Self {
        let mut bytes = [0; MAX_PUBLIC_LEN];
        bytes[..point.len()].copy_from_slice(point);
        Self(Kept::Small {
            bytes,
            len: point.len(),
        })
    }

    fn large(ciphertext: &[u8]) -> Self {
        Self(Kept::Large(ciphertext.into()))
    }

    /// The bytes to send.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Kept::Large(bytes) => bytes,
            Kept::Small { bytes, len } => &bytes[..*len],
        }
    }
}

impl AsRef<[u8]> for Enc {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl fmt::Debug for Enc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Enc({})", self.as_bytes().len())
    }
}

/// Where an encapsulation takes its ephemeral key from.
#[derive(Clone, Copy)]
pub(crate) enum Randomness<'a> {
    /// A new one, always.
    Fresh,
    /// What published vectors state as `ikmE`.
    Given(&'a [u8]),
    /// A generator that has failed.
    #[cfg(test)]
    Failing,
}

impl<'a> Randomness<'a> {
    #[cfg_attr(
        not(test),
        expect(
            clippy::unnecessary_wraps,
            reason = "fails only where a test asks for it"
        )
    )]
    const fn given(self) -> Result<Option<&'a [u8]>, Error> {
        match self {
            Self::Fresh => Ok(None),
            Self::Given(bytes) => Ok(Some(bytes)),
            #[cfg(test)]
            Self::Failing => Err(Error::Backend(keywright_primitives::Error::Randomness)),
        }
    }
}
