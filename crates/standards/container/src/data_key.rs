//! The key of one file (design 7.9): an id of its own and 32 bytes.

use keywright_envelope::{Identity, OpeningKey, SealingKey, derive};
use keywright_primitives::random::RandomStream;
use keywright_secret::Secret;
use keywright_types::{DataKeyId, KeyId, KeyVersion, Kind, Suite};

use crate::Error;

/// A data key.
#[derive(Debug)]
pub struct DataKey {
    id: DataKeyId,
    secret: Secret<32>,
}

impl DataKey {
    /// A new one.
    ///
    /// # Errors
    /// [`Error::Backend`] without randomness.
    pub fn generate(random: &mut RandomStream) -> Result<Self, Error> {
        Ok(Self {
            id: DataKeyId::from_bytes(random.array()?),
            secret: random.secret()?,
        })
    }

    /// The key with this id and secret.
    #[must_use]
    pub const fn new(id: DataKeyId, secret: Secret<32>) -> Self {
        Self { id, secret }
    }

    /// Takes the 48 bytes that a slot yields: id, then secret.
    #[must_use]
    pub fn from_bytes(bytes: &Secret<48>) -> Self {
        let (id, secret) = bytes.expose().split_at(16);
        let mut plain_id = [0; 16];
        plain_id.copy_from_slice(id);
        Self {
            id: DataKeyId::from_bytes(plain_id),
            secret: Secret::from_fill(|buffer| buffer.copy_from_slice(secret)),
        }
    }

    /// The 48 bytes that a slot holds.
    #[must_use]
    pub fn to_bytes(&self) -> Secret<48> {
        Secret::from_fill(|bytes| {
            bytes[..16].copy_from_slice(self.id.as_bytes());
            bytes[16..].copy_from_slice(self.secret.expose());
        })
    }

    /// The key's id.
    #[must_use]
    pub const fn id(&self) -> DataKeyId {
        self.id
    }

    /// The key's 32 bytes.
    #[must_use]
    pub const fn secret(&self) -> &Secret<32> {
        &self.secret
    }

    /// The keys of a file's stream.
    pub(crate) fn stream_keys(&self) -> Result<(SealingKey, OpeningKey), Error> {
        let identity = Identity {
            suite: Suite::Chunked,
            kind: Kind::Message,
            key: KeyId::from_bytes(*self.id.as_bytes()),
            version: KeyVersion::NONE,
        };
        Ok(derive(self.secret.expose(), identity)?)
    }
}
