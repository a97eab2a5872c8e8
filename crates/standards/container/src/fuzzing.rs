//! The promises of [`FileHeader`] and of opening over arbitrary bytes, as one function that the fuzz
//! target and a plain test of this crate both call.

use keywright_envelope::Aad;
use keywright_hpke::{Kem, Policy, PrivateKey};
use keywright_secret::{Secret, SecretBytes};

use crate::{DataKey, Error, FileHeader, SLOT_LIMIT, open, rewrite_slots};

/// The secret of the data key under which the function looks at every file.
pub const SECRET: [u8; 32] = [0x5A; 32];

/// The private key with which the function looks at every slot 3.
///
/// # Errors
/// [`Error::Backend`] if the backend refuses.
pub fn recipient() -> Result<PrivateKey, Error> {
    let bytes = SecretBytes::from_vec(SECRET.to_vec());
    Ok(PrivateKey::from_bytes(Kem::X25519HkdfSha256, &bytes)?)
}

/// Parses `data` and tries to open it under [`SECRET`], and checks that
///
/// * the header that was read is the header that would be written;
/// * no slot is beyond its limit;
/// * a slot 3 that opens with [`recipient`] yields the key that the stream names;
/// * the same slots give the same file;
/// * what opens has the length that the chunks have without their tags.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
pub fn file(data: &[u8]) {
    let Ok((header, length)) = FileHeader::parse(data) else {
        return;
    };
    let (front, chunks) = data.split_at(length);
    assert!(
        header.to_bytes().is_ok_and(|bytes| bytes == front),
        "a header with two spellings"
    );
    let within = header
        .slots()
        .iter()
        .all(|slot| slot.content().len() <= SLOT_LIMIT);
    assert!(
        within && !header.slots().is_empty(),
        "slots beyond the limits"
    );
    slots_of_recipients(&header);
    let mut again = Vec::new();
    let rewritten = rewrite_slots(&mut &data[..], &mut again, header.slots());
    assert!(
        rewritten.is_ok() && again == data,
        "the same slots gave another file"
    );
    let secret = Secret::from_fill(|secret| *secret = SECRET);
    let key = DataKey::new(header.data_key(), secret);
    let mut text = Vec::new();
    match open(
        &mut &chunks[..],
        &mut text,
        &header,
        &key,
        &Aad::EMPTY,
        &mut |_| (),
    ) {
        Ok(total) => {
            let tags = (text.len() / (16 << 10) + 1) * 16;
            assert_eq!(
                text.len() + tags,
                chunks.len(),
                "another length than the chunks have"
            );
            assert!(usize::try_from(total).is_ok_and(|total| total == text.len()));
        }
        Err(error) => assert!(
            matches!(error, Error::Rejected | Error::Malformed),
            "another error: {error}"
        ),
    }
}

fn slots_of_recipients(header: &FileHeader) {
    let Ok(recipient) = recipient() else { return };
    match header.open_with_private_key(&recipient, &Policy::default()) {
        Ok(key) => assert_eq!(key.id(), header.data_key(), "the key of another file"),
        Err(error) => assert!(
            matches!(
                error,
                Error::Rejected | Error::Malformed | Error::NoSlot | Error::Hpke(_)
            ),
            "another error: {error}"
        ),
    }
}
