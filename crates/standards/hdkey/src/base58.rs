//! Base58Check: a content in base 58 with the first four bytes of a double SHA-256 behind it.
//!
//! For contents of one known length of at most 78 bytes.

use keywright_encoding::base58::{self, Malformed};
use keywright_primitives::hash::sha256;
use keywright_secret::wipe;

/// Bytes in the longest content, an extended key.
const LONGEST: usize = 78;

const SUM: usize = 4;

/// Why a text is not the content that was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// The byte of the text, from 0, that is no digit.
    Character(usize),
    Checksum,
    Length,
}

/// The content of exactly `N` bytes.
pub(crate) fn decode<const N: usize>(text: &str) -> Result<[u8; N], Wrong> {
    let mut whole = [0; LONGEST + SUM];
    let read = whole
        .get_mut(..N + SUM)
        .ok_or(Wrong::Length)
        .and_then(|bytes| checked(text, bytes));
    wipe(&mut whole);
    read
}

fn checked<const N: usize>(text: &str, bytes: &mut [u8]) -> Result<[u8; N], Wrong> {
    base58::decode_into(text, bytes).map_err(|malformed| match malformed {
        Malformed::Digit(position) => Wrong::Character(position),
        _ => Wrong::Length,
    })?;
    let (content, sum) = bytes.split_first_chunk::<N>().ok_or(Wrong::Length)?;
    match checksum(content) == sum {
        true => Ok(*content),
        false => Err(Wrong::Checksum),
    }
}

/// The text of a content of at most 78 bytes.
pub(crate) fn encode(content: &[u8]) -> String {
    let mut whole = [0; LONGEST + SUM];
    let (bytes, _) = whole.split_at_mut((content.len() + SUM).min(LONGEST + SUM));
    let sum = checksum(content);
    for (byte, given) in bytes.iter_mut().zip(content.iter().chain(&sum)) {
        *byte = *given;
    }
    let text = base58::encode(bytes);
    wipe(&mut whole);
    text
}

fn checksum(content: &[u8]) -> [u8; 4] {
    let [a, b, c, d, ..] = sha256(&sha256(content));
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text that is known everywhere: the address of the first block, 21 bytes that begin with zero.
    const FIRST: &str = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa";

    #[test]
    fn a_known_address_goes_both_ways() {
        let content = decode::<21>(FIRST).unwrap();
        assert_eq!(content[..4], [0x00, 0x62, 0xE9, 0x07]);
        assert_eq!(encode(&content), FIRST);
    }

    #[test]
    fn every_content_has_one_text() {
        for zeros in 0..=78 {
            for fill in [0x00, 0x01, 0x7F, 0xFF] {
                let mut content = [fill; 78];
                content[..zeros].fill(0);
                let text = encode(&content);
                assert_eq!(decode::<78>(&text), Ok(content));
                assert_eq!(decode::<78>(&format!("1{text}")), Err(Wrong::Length));
                assert!(decode::<77>(&text).is_err());
                assert_eq!(decode::<79>(&text), Err(Wrong::Length));
            }
        }
    }

    #[test]
    fn what_is_not_in_the_digits_too_long_or_changed_is_refused() {
        assert_eq!(
            decode::<21>("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfN0"),
            Err(Wrong::Character(33))
        );
        for (position, bad) in [(0, "0"), (0, "O"), (0, "I"), (0, "l"), (1, "1 "), (1, "1é")] {
            assert_eq!(decode::<21>(bad), Err(Wrong::Character(position)));
        }
        assert_eq!(
            decode::<21>("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb"),
            Err(Wrong::Checksum)
        );
        assert_eq!(decode::<21>(""), Err(Wrong::Length));
        assert_eq!(decode::<21>(&"z".repeat(160)), Err(Wrong::Length));
        assert_eq!(decode::<21>(&"z".repeat(161)), Err(Wrong::Length));
        assert_eq!(decode::<21>(&FIRST[1..]), Err(Wrong::Length));
    }
}
