//! What the other modules seal and open.

use keywright_envelope::{
    Aad, Binding, Envelope, Identity, OpeningKey, Rejected, SealingKey, derive, hazmat,
};
use keywright_types::{GroupId, KeyId, KeyVersion, Kind, PrincipalId, Suite};

pub(crate) const K: [u8; 32] = [0x42; 32];

/// The suites that seal here, with the length of their nonce.
pub(crate) const SEALING: [(Suite, usize); 5] = [
    (Suite::Xaes256Gcm, 24),
    (Suite::XChaCha20Poly1305, 24),
    (Suite::TokenGcm12, 12),
    (Suite::Siv, 0),
    (Suite::Chunked, 24),
];

pub(crate) fn identity(suite: Suite) -> Identity {
    Identity {
        suite,
        kind: Kind::Message,
        key: KeyId::from_bytes([0x11; 16]),
        version: KeyVersion::FIRST,
    }
}

pub(crate) fn keys(suite: Suite) -> (SealingKey, OpeningKey) {
    derive(&K, identity(suite)).unwrap()
}

pub(crate) fn principal(byte: u8) -> Binding {
    Binding::Principal(PrincipalId::from_bytes([byte; 16]))
}

pub(crate) fn group(byte: u8) -> Binding {
    Binding::Group(GroupId::from_bytes([byte; 16]))
}

pub(crate) fn sealed(suite: Suite, binding: Binding, aad: &Aad<'_>, plaintext: &[u8]) -> Vec<u8> {
    hazmat::seal_with_nonce(&keys(suite).0, binding, aad, plaintext, &[0x22; 24]).unwrap()
}

/// The text; whatever fails, nothing may be left behind what was in the buffer before.
pub(crate) fn open(key: &OpeningKey, bytes: &[u8], aad: &Aad<'_>) -> Option<Vec<u8>> {
    let envelope = Envelope::parse(bytes).ok()?;
    let mut out = b"before".to_vec();
    match key.open_into(&envelope, aad, &mut out) {
        Ok(()) => Some(out.split_off(6)),
        Err(Rejected { .. }) => {
            assert_eq!(out, b"before", "a refusal left something behind");
            None
        }
    }
}
