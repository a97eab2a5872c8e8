//! Keys of columns, and what proves that a key is the right one.
//!
//! ```text
//! id (of a key without one) = HKDF-Expand-SHA-256(K, "keywright/column-key/id/v1", 16)
//! check value               = HKDF-Expand-SHA-256(K, "keywright/column-key/check/v1" + id + version, 16)
//! MAC key                   = HKDF-Expand-SHA-256(K, "keywright/column-key/mac/v1", 32)
//! ```
//!
//! Where a key comes from is the caller's business: this crate takes bytes.

use keywright_primitives::Error as Backend;
use keywright_primitives::kdf::expand_sha256;
use keywright_primitives::mac::MacKey;
use keywright_secret::Secret;

use crate::error::Error;

/// The version key of which the keys of columns are derived.
#[derive(Debug)]
pub struct ColumnKey {
    id: [u8; 16],
    version: u32,
    secret: Secret<32>,
}

impl ColumnKey {
    /// A key with the id and version that its keeper knows it by.
    #[must_use]
    pub const fn new(id: [u8; 16], version: u32, secret: Secret<32>) -> Self {
        Self {
            id,
            version,
            secret,
        }
    }

    /// A key without an id, for instance from a file: the id is derived from it.
    ///
    /// # Errors
    /// [`Error::Backend`].
    pub fn without_id(version: u32, secret: Secret<32>) -> Result<Self, Error> {
        let mut id = [0; 16];
        expand_sha256(secret.expose(), &[b"keywright/column-key/id/v1"], &mut id)?;
        Ok(Self::new(id, version, secret))
    }

    /// The id.
    #[must_use]
    pub const fn id(&self) -> &[u8; 16] {
        &self.id
    }

    /// The version.
    #[must_use]
    pub const fn version(&self) -> u32 {
        self.version
    }

    pub(crate) const fn secret(&self) -> &Secret<32> {
        &self.secret
    }

    pub(crate) fn check(&self) -> Result<[u8; 16], Backend> {
        let mut check = [0; 16];
        let info: [&[u8]; 3] = [
            b"keywright/column-key/check/v1",
            &self.id,
            &self.version.to_be_bytes(),
        ];
        expand_sha256(self.secret.expose(), &info, &mut check)?;
        Ok(check)
    }

    /// What goes into the key of a journal.
    pub(crate) fn proof(&self) -> Result<[u8; 32], Backend> {
        let mut proof = [0; 32];
        let info: [&[u8]; 1] = [b"keywright/column-key/journal/v1"];
        expand_sha256(self.secret.expose(), &info, &mut proof)?;
        Ok(proof)
    }

    pub(crate) fn mac_key(&self) -> Result<MacKey, Backend> {
        let key = Secret::<32>::try_from_fill(|key| {
            expand_sha256(self.secret.expose(), &[b"keywright/column-key/mac/v1"], key)
        })?;
        Ok(MacKey::new(key.expose()))
    }
}

/// The keys of a run: one for columns whose rules name none, and those that rules name.
#[derive(Debug, Default)]
pub struct Keys {
    unnamed: Option<ColumnKey>,
    named: Vec<(String, ColumnKey)>,
}

impl Keys {
    /// No key at all, for files that are only masked.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// With a key for the columns whose rules name none.
    #[must_use]
    pub fn with_unnamed(mut self, key: ColumnKey) -> Self {
        self.unnamed = Some(key);
        self
    }

    /// With a key for the columns whose rules name it. The first of one name counts.
    #[must_use]
    pub fn with_named(mut self, name: &str, key: ColumnKey) -> Self {
        self.named.push((name.to_owned(), key));
        self
    }

    pub(crate) fn get(&self, name: Option<&str>) -> Option<&ColumnKey> {
        match name {
            None => self.unnamed.as_ref(),
            Some(name) => {
                let mut named = self.named.iter();
                named.find(|(known, _)| known == name).map(|(_, key)| key)
            }
        }
    }

    pub(crate) fn need(&self, column: &str, name: Option<&str>) -> Result<&ColumnKey, Error> {
        self.get(name).ok_or_else(|| Error::NoKey {
            column: column.to_owned(),
            key: name.map(str::to_owned),
        })
    }
}
