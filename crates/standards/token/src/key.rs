//! Keys: those that issue and those that verify, and the session a token is bound to.

use std::fmt;
use std::sync::Arc;

use keywright_primitives::random::RandomStream;
use keywright_primitives::signature;
use keywright_secret::Secret;

use crate::Error;
use crate::claims::Claims;
use crate::format::{Header, KeyId, Suite};
use crate::revoke::RevocationId;
use crate::tag::{MacBase, signed_base};

/// 32 bytes that both ends of a session have and nobody else: what the handshake exports. It is
/// authenticated with the token and never sent.
pub struct Binder(Secret<32>);

impl Binder {
    /// Keeps a copy of the bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        Self(Secret::from_fill(|room| *room = *bytes))
    }

    pub(crate) fn expose(&self) -> &[u8] {
        self.0.expose()
    }
}

impl fmt::Debug for Binder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Binder")
    }
}

/// Issues tokens.
pub struct IssuingKey {
    id: KeyId,
    kind: Issuing,
}

enum Issuing {
    Mac(Arc<MacBase>),
    Ed25519(signature::SigningKey),
}

impl IssuingKey {
    /// Issues tokens of suite 0x01. The key that is used is derived from the secret, once.
    #[must_use]
    pub fn blake3(id: KeyId, secret: &Secret<32>) -> Self {
        let kind = Issuing::Mac(Arc::new(MacBase::blake3(id, secret)));
        Self { id, kind }
    }

    /// Issues tokens of suite 0x02. The key that is used is derived from the secret, once.
    #[must_use]
    pub fn hmac_sha256(id: KeyId, secret: &Secret<32>) -> Self {
        let kind = Issuing::Mac(Arc::new(MacBase::hmac_sha256(id, secret)));
        Self { id, kind }
    }

    /// Issues tokens of suite 0x11. The key signs nothing else.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses the seed.
    pub fn ed25519(id: KeyId, seed: &Secret<32>) -> Result<Self, Error> {
        let kind = Issuing::Ed25519(signature::SigningKey::from_seed(seed)?);
        Ok(Self { id, kind })
    }

    /// The id by which verifiers find the other half.
    #[must_use]
    pub const fn id(&self) -> KeyId {
        self.id
    }

    /// The suite of its tokens.
    #[must_use]
    pub fn suite(&self) -> Suite {
        match &self.kind {
            Issuing::Mac(key) => key.suite(),
            Issuing::Ed25519(_) => Suite::Ed25519,
        }
    }

    /// What verifies its tokens: the public key, or for a MAC something that is as secret as the key itself.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn verifying_key(&self) -> Result<VerifyingKey, Error> {
        let kind = match &self.kind {
            Issuing::Mac(key) => Verifying::Mac(Arc::clone(key)),
            Issuing::Ed25519(key) => Verifying::Ed25519(key.verifying_key()),
        };
        Ok(VerifyingKey { id: self.id, kind })
    }

    /// Issues a token and appends it to `out`, which is as it was if this fails. Its random id comes back: by
    /// it the token can be revoked. With a binder it is accepted in that session only.
    ///
    /// # Errors
    /// [`Error::TooLong`], [`Error::Empty`] or [`Error::DelegationWithMac`] for claims that make no token,
    /// [`Error::Backend`] without randomness.
    pub fn issue_into(
        &self,
        claims: &Claims<'_>,
        binder: Option<&Binder>,
        random: &mut RandomStream,
        out: &mut Vec<u8>,
    ) -> Result<RevocationId, Error> {
        let id = RevocationId::from_bytes(random.array()?);
        self.issue_with_id(claims, binder, id, out)?;
        Ok(id)
    }

    pub(crate) fn issue_with_id(
        &self,
        claims: &Claims<'_>,
        binder: Option<&Binder>,
        id: RevocationId,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let header = Header {
            suite: self.suite(),
            bound: binder.is_some(),
            key: self.id,
            id,
        };
        let claims = claims.for_suite(header.suite)?;
        let start = out.len();
        header.encode_into(claims, out)?;
        let base = out.get(start..).unwrap_or_default();
        match &self.kind {
            Issuing::Mac(key) => {
                let tag = key.tag(base, binder);
                out.extend_from_slice(&tag);
            }
            Issuing::Ed25519(key) => {
                let Some(tag) = signed_base(base, binder, |message| key.sign(message)) else {
                    out.truncate(start);
                    return Err(Error::TooLong);
                };
                out.extend_from_slice(&tag);
            }
        }
        Ok(())
    }
}

impl fmt::Debug for IssuingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IssuingKey({}, {})", self.suite(), self.id)
    }
}

/// Verifies the tokens of one issuing key.
#[derive(Clone)]
pub struct VerifyingKey {
    pub(crate) id: KeyId,
    pub(crate) kind: Verifying,
}

#[derive(Clone)]
pub(crate) enum Verifying {
    Mac(Arc<MacBase>),
    Ed25519(signature::VerifyingKey),
}

impl VerifyingKey {
    /// Verifies the tokens of [`IssuingKey::ed25519`].
    #[must_use]
    pub const fn ed25519(id: KeyId, key: signature::VerifyingKey) -> Self {
        Self {
            id,
            kind: Verifying::Ed25519(key),
        }
    }

    /// The id of the key.
    #[must_use]
    pub const fn id(&self) -> KeyId {
        self.id
    }

    /// The suite of the tokens that it verifies.
    #[must_use]
    pub fn suite(&self) -> Suite {
        match &self.kind {
            Verifying::Mac(key) => key.suite(),
            Verifying::Ed25519(_) => Suite::Ed25519,
        }
    }
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerifyingKey({}, {})", self.suite(), self.id)
    }
}

/// The keys that a verifier accepts, by id.
#[derive(Clone, Debug, Default)]
pub struct VerifyingKeys(Vec<VerifyingKey>);

impl VerifyingKeys {
    /// No key: nothing is accepted.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// One key.
    #[must_use]
    pub fn of(key: VerifyingKey) -> Self {
        Self(vec![key])
    }

    /// Adds a key.
    ///
    /// # Errors
    /// [`Error::KeyIdTaken`] if its id has one already, of whatever suite.
    pub fn insert(&mut self, key: VerifyingKey) -> Result<(), Error> {
        match self.place(key.id) {
            Ok(_) => Err(Error::KeyIdTaken(key.id)),
            Err(place) => {
                self.0.insert(place, key);
                Ok(())
            }
        }
    }

    /// Takes a key out, whose tokens are refused from now on.
    pub fn remove(&mut self, id: KeyId) -> Option<VerifyingKey> {
        self.place(id).ok().map(|place| self.0.remove(place))
    }

    pub(crate) fn find(&self, id: KeyId) -> Option<&VerifyingKey> {
        self.place(id).ok().and_then(|place| self.0.get(place))
    }

    /// Where the key is, or would be: they stand in order of their ids.
    fn place(&self, id: KeyId) -> Result<usize, usize> {
        self.0.binary_search_by_key(&id, |key| key.id)
    }
}
