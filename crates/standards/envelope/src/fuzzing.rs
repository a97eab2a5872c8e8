//! The promises of [`Envelope::parse`] and of opening over arbitrary bytes, as one function that the fuzz
//! target and a plain test of this crate both call.

use keywright_types::Suite;

use crate::stream::{Prefix, StreamOpener};
use crate::{Aad, Envelope, OpeningKey, derive, hazmat};

/// The key under which the function looks at every envelope.
pub const KEY: [u8; 32] = [0x5A; 32];

/// Parses `data` and tries to open it under [`KEY`], and checks that
///
/// * the header that was read is the header that would be written;
/// * what opens has the stated length and is the only spelling: sealed again it gives the same bytes;
/// * what does not open appends nothing;
/// * a stream gives the same answer in one piece and in many.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
pub fn envelope(data: &[u8]) {
    let Ok(envelope) = Envelope::parse(data) else {
        return;
    };
    let mut header = Vec::new();
    envelope.header().encode_into(&mut header);
    assert!(data.starts_with(&header), "a header with two spellings");
    assert!(
        envelope.plaintext_len() < data.len(),
        "more text than bytes"
    );
    let Ok((sealing, opening)) = derive(&KEY, envelope.header().identity()) else {
        return;
    };
    let mut out = b"before".to_vec();
    let opened = opening.open_into(&envelope, &Aad::EMPTY, &mut out);
    if opened.is_err() {
        assert_eq!(out, b"before", "a refused envelope left something behind");
    } else {
        assert_eq!(
            out.len(),
            envelope.plaintext_len() + 6,
            "another length than stated"
        );
        let mut nonce = [0; 24];
        let length = sealing.nonce_len();
        nonce[..length].copy_from_slice(&data[header.len()..header.len() + length]);
        let binding = envelope.header().binding;
        let again = hazmat::seal_with_nonce(&sealing, binding, &Aad::EMPTY, &out[6..], &nonce);
        assert!(
            again.is_ok_and(|again| again == data),
            "a second spelling opened"
        );
    }
    if envelope.header().suite == Suite::Chunked {
        let pieces = in_pieces(&opening, data);
        let whole = opened.ok().map(|()| out[6..].to_vec());
        assert_eq!(pieces, whole, "pieces made a difference");
    }
}

fn in_pieces(opening: &OpeningKey, data: &[u8]) -> Option<Vec<u8>> {
    let length = Prefix::length(data.first_chunk()?).ok()?;
    let (prefix, chunks) = data.split_at_checked(length)?;
    let prefix = Prefix::parse(prefix).ok()?;
    let mut opener = StreamOpener::new(opening, &prefix, &Aad::EMPTY).ok()?;
    let mut out = Vec::new();
    for piece in chunks.chunks(7001) {
        opener.update(piece, &mut out).ok()?;
    }
    opener.finish(&mut out).ok()?;
    Some(out)
}
