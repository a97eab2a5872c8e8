//! A slot: the data key, sealed one way.

use keywright_envelope::{Aad, Binding, Envelope, Header, OpeningKey, SealingKey};
use keywright_password::{Container, Limits, Profile};
use keywright_primitives::random::RandomStream;
use keywright_secret::locked::Locking;
use keywright_secret::{Secret, SecretBytes};
use keywright_types::{DataKeyId, Kind, SlotType};

use crate::{DataKey, Error};

/// Most bytes in a slot.
pub const SLOT_LIMIT: usize = 4 * 1024;

/// One way to the data key of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    kind: SlotType,
    content: Vec<u8>,
    data_key: DataKeyId,
}

impl Slot {
    /// Seals `data_key` under a key of kind 2.
    ///
    /// # Errors
    /// [`Error::SlotKeyKind`] if the key seals messages, [`Error::Seal`] if sealing fails.
    pub fn envelope(
        data_key: &DataKey,
        key: &SealingKey,
        binding: Binding,
        aad: &Aad<'_>,
        random: &mut RandomStream,
    ) -> Result<Self, Error> {
        if key.identity().kind != Kind::Key {
            return Err(Error::SlotKeyKind);
        }
        let mut content = Vec::new();
        key.seal_into(
            binding,
            aad,
            data_key.to_bytes().expose(),
            random,
            &mut content,
        )?;
        Self::from_parts(SlotType::Envelope, content, data_key.id())
    }

    /// Seals `data_key` under a password.
    ///
    /// # Errors
    /// [`Error::Password`] if the password cannot be stretched now.
    pub fn password(
        data_key: &DataKey,
        password: &SecretBytes,
        profile: Profile,
        random: &mut RandomStream,
    ) -> Result<Self, Error> {
        let content = Container::seal(&data_key.to_bytes(), password, profile, random)?;
        Self::from_parts(SlotType::Password, content, data_key.id())
    }

    /// A slot that was made elsewhere, for instance by a key that does not leave its token.
    ///
    /// # Errors
    /// [`Error::SlotTooLong`] beyond [`SLOT_LIMIT`].
    pub fn from_parts(
        kind: SlotType,
        content: Vec<u8>,
        data_key: DataKeyId,
    ) -> Result<Self, Error> {
        if content.len() > SLOT_LIMIT {
            return Err(Error::SlotTooLong(content.len()));
        }
        Ok(Self {
            kind,
            content,
            data_key,
        })
    }

    /// How the data key is sealed.
    #[must_use]
    pub const fn kind(&self) -> SlotType {
        self.kind
    }

    /// The slot's bytes.
    #[must_use]
    pub fn content(&self) -> &[u8] {
        &self.content
    }

    /// The data key it is for.
    #[must_use]
    pub const fn data_key(&self) -> DataKeyId {
        self.data_key
    }

    /// The header of the envelope in a slot 1, which names the key that opens it and its binding.
    #[must_use]
    pub fn envelope_header(&self) -> Option<Header> {
        if self.kind != SlotType::Envelope {
            return None;
        }
        Envelope::parse(&self.content)
            .ok()
            .map(|envelope| *envelope.header())
    }

    /// Opens a slot 1.
    ///
    /// # Errors
    /// [`Error::NoSlot`] for another type of slot, [`Error::Malformed`] if it holds no envelope,
    /// [`Error::Rejected`] if it does not open or yields another data key than the file's.
    pub fn open_envelope(&self, key: &OpeningKey, aad: &Aad<'_>) -> Result<DataKey, Error> {
        if self.kind != SlotType::Envelope {
            return Err(Error::NoSlot);
        }
        let envelope = Envelope::parse(&self.content)?;
        if envelope.header().kind != Kind::Key {
            return Err(Error::Rejected);
        }
        // As large as the longest text will be, so that growing leaves no copy behind.
        let mut bytes = Vec::with_capacity(SLOT_LIMIT);
        let opened = key.open_into(&envelope, aad, &mut bytes);
        let bytes = SecretBytes::from_vec(bytes);
        opened?;
        self.yielded(Secret::copy_from(bytes.expose()).as_ref())
    }

    /// Opens a slot 2, and says whether the memory for it was locked.
    ///
    /// # Errors
    /// [`Error::NoSlot`] for another type of slot, [`Error::Malformed`] if it holds no container,
    /// [`Error::Password`] if its costs are refused, [`Error::Rejected`] for a wrong password.
    pub fn open_password(
        &self,
        password: &SecretBytes,
        limits: &Limits,
    ) -> Result<(DataKey, Locking), Error> {
        if self.kind != SlotType::Password {
            return Err(Error::NoSlot);
        }
        let opened = Container::open(&self.content, password, limits)?;
        Ok((self.yielded(Some(&opened.secret))?, opened.locking))
    }

    pub(crate) fn yielded(&self, bytes: Option<&Secret<48>>) -> Result<DataKey, Error> {
        let key = DataKey::from_bytes(bytes.ok_or(Error::Rejected)?);
        (key.id() == self.data_key)
            .then_some(key)
            .ok_or(Error::Rejected)
    }
}
