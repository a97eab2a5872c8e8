//! What stands before the chunks of a file: slots, and the prefix of the stream.

use std::io::{ErrorKind, Read};

use keywright_encoding::put_lp;
use keywright_envelope::stream::Prefix;
use keywright_envelope::{Aad, Binding, MessageId, OpeningKey};
use keywright_hpke::{Policy, PrivateKey};
use keywright_password::Limits;
use keywright_secret::SecretBytes;
use keywright_secret::locked::Locking;
use keywright_types::{DataKeyId, KeyVersion, SlotType};

use crate::{DataKey, Error, SLOT_LIMIT, Slot};

/// Most slots in a file.
pub const MAX_SLOTS: usize = 255;

/// Magic and version 1; in base64 it begins `KWF1` where the file has one slot.
const MAGIC: [u8; 3] = [0x29, 0x61, 0x75];

/// How many password slots one password is tried on: each costs a whole derivation, and the file says how
/// many there are.
const PASSWORD_TRIALS: usize = 4;

/// A file's header, parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileHeader {
    slots: Vec<Slot>,
    prefix: Prefix,
}

impl FileHeader {
    /// Reads the header and leaves `reader` at the first chunk.
    ///
    /// # Errors
    /// [`Error::Malformed`] for another magic, an unknown number, a slot that is too long, no slot at all,
    /// a stream that is not a file's, or an end before the chunks; [`Error::Read`].
    pub fn read_from(reader: &mut impl Read) -> Result<Self, Error> {
        let [magic @ .., count] = array::<4>(reader)?;
        if magic != MAGIC || count == 0 {
            return Err(Error::Malformed);
        }
        let mut raw = Vec::with_capacity(usize::from(count));
        for _ in 0..count {
            let [kind] = array(reader)?;
            let kind = SlotType::from_number(kind).map_err(|_| Error::Malformed)?;
            let length = usize::try_from(u32::from_be_bytes(array(reader)?));
            let length = length.map_err(|_| Error::Malformed)?;
            if length > SLOT_LIMIT {
                return Err(Error::Malformed);
            }
            let mut content = vec![0; length];
            fill(reader, &mut content)?;
            raw.push((kind, content));
        }
        let prefix = read_prefix(reader)?;
        let data_key = id(&prefix);
        let slots = raw
            .into_iter()
            .map(|(kind, content)| Slot::from_parts(kind, content, data_key))
            .collect::<Result<_, _>>()?;
        Ok(Self { slots, prefix })
    }

    /// Takes a header off the front of `bytes`; also says how long it is.
    ///
    /// # Errors
    /// As [`FileHeader::read_from`].
    pub fn parse(bytes: &[u8]) -> Result<(Self, usize), Error> {
        let mut rest = bytes;
        let header = Self::read_from(&mut rest)?;
        Ok((header, bytes.len() - rest.len()))
    }

    /// The header's bytes.
    ///
    /// # Errors
    /// None for a header that was read; otherwise as [`crate::seal`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut out = encode_slots(&self.slots, self.data_key())?;
        self.prefix.encode_into(&mut out);
        Ok(out)
    }

    /// The slots in the order of the file.
    #[must_use]
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The data key that all slots yield.
    #[must_use]
    pub fn data_key(&self) -> DataKeyId {
        id(&self.prefix)
    }

    /// What names this sealing in an audit record.
    #[must_use]
    pub fn message_id(&self) -> MessageId {
        self.prefix.message_id()
    }

    /// Opens the first slot 1 that names the key.
    ///
    /// # Errors
    /// [`Error::NoSlot`] if none does, else as [`Slot::open_envelope`].
    pub fn open_with_key(&self, key: &OpeningKey, aad: &Aad<'_>) -> Result<DataKey, Error> {
        let held = key.identity();
        let names_it = |slot: &&Slot| {
            let header = slot.envelope_header();
            header.is_some_and(|header| (header.key, header.version) == (held.key, held.version))
        };
        let slot = self.slots.iter().find(names_it).ok_or(Error::NoSlot)?;
        slot.open_envelope(key, aad)
    }

    /// Tries the password on the first few slots 2, and says whether the memory for it was locked.
    ///
    /// # Errors
    /// [`Error::NoSlot`] if there is none, else the last answer of [`Slot::open_password`].
    pub fn open_with_password(
        &self,
        password: &SecretBytes,
        limits: &Limits,
    ) -> Result<(DataKey, Locking), Error> {
        let slots = self
            .slots
            .iter()
            .filter(|slot| slot.kind() == SlotType::Password);
        let mut answer = Err(Error::NoSlot);
        for slot in slots.take(PASSWORD_TRIALS) {
            answer = slot.open_password(password, limits);
            if answer.is_ok() {
                break;
            }
        }
        answer
    }

    /// Tries the private key on every slot 3 of its KEM; a slot does not say whose it is.
    ///
    /// # Errors
    /// [`Error::NoSlot`] if there is none, else the last answer of [`Slot::open_hpke`].
    pub fn open_with_private_key(
        &self,
        key: &PrivateKey,
        policy: &Policy,
    ) -> Result<DataKey, Error> {
        let fits = |slot: &&Slot| slot.suite().is_some_and(|suite| suite.kem == key.kem());
        let mut answer = Err(Error::NoSlot);
        for slot in self.slots.iter().filter(fits) {
            answer = slot.open_hpke(key, policy);
            if answer.is_ok() {
                break;
            }
        }
        answer
    }

    pub(crate) const fn prefix(&self) -> &Prefix {
        &self.prefix
    }
}

/// Magic, count and slots, which must all be for `data_key`.
pub(crate) fn encode_slots(slots: &[Slot], data_key: DataKeyId) -> Result<Vec<u8>, Error> {
    let count = u8::try_from(slots.len()).ok().filter(|count| *count > 0);
    let count = count.ok_or(Error::SlotCount(slots.len()))?;
    let mut out = MAGIC.to_vec();
    out.push(count);
    for slot in slots {
        if slot.data_key() != data_key {
            return Err(Error::SlotOfAnotherKey);
        }
        out.push(slot.kind().number());
        let length = slot.content().len();
        put_lp(&mut out, slot.content()).map_err(|_| Error::SlotTooLong(length))?;
    }
    Ok(out)
}

/// The prefix of the stream, if its header is that of a file: no binding, version 0.
fn read_prefix(reader: &mut impl Read) -> Result<Prefix, Error> {
    let first = array::<{ Prefix::PEEK_LEN }>(reader)?;
    let mut bytes = vec![0; Prefix::length(&first)?];
    bytes[..Prefix::PEEK_LEN].copy_from_slice(&first);
    fill(reader, &mut bytes[Prefix::PEEK_LEN..])?;
    let prefix = Prefix::parse(&bytes)?;
    let header = prefix.header();
    if header.binding != Binding::None || header.version != KeyVersion::NONE {
        return Err(Error::Malformed);
    }
    Ok(prefix)
}

const fn id(prefix: &Prefix) -> DataKeyId {
    DataKeyId::from_bytes(*prefix.header().key.as_bytes())
}

fn array<const N: usize>(reader: &mut impl Read) -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    fill(reader, &mut bytes)?;
    Ok(bytes)
}

fn fill(reader: &mut impl Read, bytes: &mut [u8]) -> Result<(), Error> {
    reader
        .read_exact(bytes)
        .map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => Error::Malformed,
            _ => Error::Read(error),
        })
}
