//! The promises of reading what the seed service sealed, as one function that the fuzz target and a plain test both call.

use keywright_custody::Items;
use keywright_custody::reader::{FormerName, NonceLen, OldCiphertext};
use keywright_custody::{Detail, Identity, KeyMaterial, ReaderDetail};
use keywright_primitives::aead::Aes256Gcm;
use keywright_secret::Secret;
use keywright_types::{Code, KeyId, KeySpec, KeyVersion, TenantId};

use crate::readers::ReadingKey;

/// Reads `data` as a ciphertext under a key of either length of nonce, and checks that
///
/// * what was not sealed does not open, in one way, and leaves nothing behind;
/// * what was sealed opens, and no longer when the byte that `data` begins with is changed in it.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
pub fn old_ciphertext(data: &[u8]) {
    for length in [NonceLen::Twelve, NonceLen::Sixteen] {
        refused(length, data, &[0; 32]);
        for digests in [0, 31, 32 * 8, 32 * 9] {
            refused(length, data, &vec![1; digests]);
        }
    }
    let [place, text @ ..] = data else { return };
    let key = Aes256Gcm::new(&KEY).unwrap_or_else(|_| unreachable());
    let (nonce, mut body) = ([3; 12], text.to_vec());
    let Ok(tag) = key.seal(&nonce, &[5; 32], &mut body) else {
        return;
    };
    let mut sealed = [&nonce[..], &body, &tag].concat();
    let aads = [[4; 32], [5; 32]].concat();
    let (opened, left) = open(NonceLen::Twelve, &sealed, &aads);
    assert!(
        opened.is_ok() && left == text,
        "what was sealed does not open"
    );
    refused(NonceLen::Sixteen, &sealed, &aads);
    let place = usize::from(*place) % sealed.len();
    sealed[place] ^= 1;
    refused(NonceLen::Twelve, &sealed, &aads);
}

#[expect(clippy::panic, reason = "the backend takes any key of 32 bytes")]
fn unreachable() -> ! {
    panic!("the backend refuses a key")
}

fn refused(length: NonceLen, sealed: &[u8], aad: &[u8]) {
    let (opened, left) = open(length, sealed, aad);
    assert_eq!(opened, Err(Code::DecryptionFailed), "it opens");
    assert!(left.is_empty(), "something is left of it");
    if let Some(parts) = OldCiphertext::parse(sealed, length) {
        let joined = [parts.nonce.as_bytes(), parts.body, parts.tag].concat();
        assert_eq!(joined, sealed, "parts are lost");
    }
}

fn open(length: NonceLen, sealed: &[u8], aad: &[u8]) -> (Result<[u8; 16], Code>, Vec<u8>) {
    let reader = ReaderDetail {
        label: "k".to_owned(),
        context: "c".to_owned(),
        name: FormerName::CommonName,
        nonce: length,
        object: None,
    };
    let identity = Identity {
        tenant: TenantId::NONE,
        key: KeyId::from_bytes([1; 16]),
        version: KeyVersion::FIRST,
        spec: KeySpec::seal(),
        created: keywright_clock::WallTime::from_unix_millis(0),
    };
    let detail = Some(std::sync::Arc::new(Detail::Reader(reader)));
    let material = KeyMaterial::new(identity, Vec::new(), None).with_detail(detail);
    let secret = Secret::from_fill(|key: &mut [u8; 32]| *key = KEY);
    let (mut items, mut out) = (Items::default(), Vec::new());
    let opened = ReadingKey::new(&material, &secret).map_err(|_| Code::Internal);
    let opened = opened.and_then(|key| {
        let pushed = items.push_slices(0, sealed, aad);
        pushed.map_err(|_| Code::BodyTooLarge)?;
        let item = items.item(0).ok_or(Code::Internal)?;
        key.open(&item, &mut out)
    });
    (opened, out)
}

const KEY: [u8; 32] = [9; 32];
