//! The promises of [`FileHeader`] and of opening over arbitrary bytes, as one function that the fuzz
//! target and a plain test of this crate both call.

use keywright_envelope::Aad;
use keywright_secret::Secret;

use crate::{DataKey, Error, FileHeader, SLOT_LIMIT, open, rewrite_slots};

/// The secret of the data key under which the function looks at every file.
pub const SECRET: [u8; 32] = [0x5A; 32];

/// Parses `data` and tries to open it under [`SECRET`], and checks that
///
/// * the header that was read is the header that would be written;
/// * no slot is beyond its limit;
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
