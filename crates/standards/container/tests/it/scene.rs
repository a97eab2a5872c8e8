//! Files that the other modules seal and open.

use keywright_container::{DataKey, Error, FileHeader, Slot, hazmat, open};
use keywright_envelope::{Aad, Binding, Identity, OpeningKey, SealingKey, derive};
use keywright_password::{Cost, Limits, hazmat as password_hazmat};
use keywright_primitives::random::RandomStream;
use keywright_secret::{Secret, SecretBytes};
use keywright_types::{DataKeyId, KeyId, KeyVersion, Kind, SlotType, Suite};

pub(crate) const CHUNK: usize = 16 << 10;

pub(crate) fn key(byte: u8) -> DataKey {
    let secret = Secret::copy_from(&[byte; 32]).unwrap();
    DataKey::new(DataKeyId::from_bytes([byte; 16]), secret)
}

pub(crate) fn wrapping(version: u32, kind: Kind) -> (SealingKey, OpeningKey) {
    let identity = Identity {
        suite: Suite::Xaes256Gcm,
        kind,
        key: KeyId::from_bytes([0x77; 16]),
        version: KeyVersion::from_number(version),
    };
    derive(&[0x66; 32], identity).unwrap()
}

pub(crate) fn envelope_slot(key: &DataKey, version: u32) -> Slot {
    let (sealing, _) = wrapping(version, Kind::Key);
    let mut random = RandomStream::new().unwrap();
    Slot::envelope(key, &sealing, Binding::None, &Aad::EMPTY, &mut random).unwrap()
}

pub(crate) fn password(text: &str) -> SecretBytes {
    SecretBytes::from_vec(text.as_bytes().to_vec())
}

/// A container of the smallest cost: what is tested here is the file.
pub(crate) fn password_slot(key: &DataKey, text: &str) -> Slot {
    let cost = Cost {
        memory_kib: 8,
        passes: 1,
        lanes: 1,
    };
    let content =
        password_hazmat::seal_with_nonce(&key.to_bytes(), &password(text), cost, [4; 16], [5; 24]);
    Slot::from_parts(SlotType::Password, content.unwrap(), key.id()).unwrap()
}

pub(crate) fn text(length: usize) -> Vec<u8> {
    (0..=250_u8).cycle().take(length).collect()
}

pub(crate) fn sealed(key: &DataKey, slots: &[Slot], text: &[u8]) -> Vec<u8> {
    hazmat::seal_with_salt(text, key, slots, &Aad::EMPTY, &[9; 24]).unwrap()
}

pub(crate) fn opened(file: &[u8], key: &DataKey, aad: &Aad<'_>) -> Result<Vec<u8>, Error> {
    let mut reader = file;
    let header = FileHeader::read_from(&mut reader)?;
    let mut out = Vec::new();
    open(&mut reader, &mut out, &header, key, aad, &mut |_| ())?;
    Ok(out)
}

pub(crate) fn opened_with_password(file: &[u8], text: &str) -> Result<Vec<u8>, Error> {
    let (header, _) = FileHeader::parse(file)?;
    let (key, _) = header.open_with_password(&password(text), &Limits::standard())?;
    opened(file, &key, &Aad::EMPTY)
}
