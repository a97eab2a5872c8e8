//! Base58: the digits of Bitcoin, without a checksum. For secrets as well: neither direction branches on a
//! digit or looks one up in a table, so its time tells the two lengths and whether the text was well-formed,
//! and nothing of the bytes.
//!
//! A text is a number in base 58, with a `1` for each zero byte before it. The work is quadratic, so this is
//! for a hundred bytes or so.

use crate::hex::between;

/// The text form of `bytes`.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    // A byte is less than 1.38 digits.
    let mut digits = vec![0_u8; bytes.len() * 138 / 100 + 1];
    for byte in bytes {
        let mut carry = u32::from(*byte);
        for digit in digits.iter_mut().rev() {
            carry += u32::from(*digit) << 8;
            *digit = low_byte(carry % 58);
            carry /= 58;
        }
    }
    let zeros = leading(bytes, 0);
    let kept = &digits[leading(&digits, 0)..];
    let mut text = String::with_capacity(zeros + kept.len());
    text.extend(std::iter::repeat_n('1', zeros));
    text.extend(kept.iter().map(|number| digit(*number)));
    digits.fill(0);
    // The buffer is not read again; without this the line above would be taken out.
    std::hint::black_box(&mut digits);
    text
}

/// Reads exactly as many bytes as `out` has.
///
/// # Errors
/// [`Malformed`], with nothing left in `out`, for a character that is no digit and for a text of another
/// length or with too few or too many leading `1`s.
pub fn decode_into(text: &str, out: &mut [u8]) -> Result<(), Malformed> {
    out.fill(0);
    if text.len() > out.len() * 2 {
        return Err(Malformed::Length);
    }
    let (mut wrong, mut over) = (0, 0);
    for character in text.bytes() {
        let digit = value(character);
        wrong |= digit;
        let [_, digit] = digit.to_be_bytes();
        let mut carry = u32::from(digit);
        for byte in out.iter_mut().rev() {
            carry += u32::from(*byte) * 58;
            *byte = low_byte(carry);
            carry >>= 8;
        }
        over |= carry;
    }
    let one_spelling = leading(out, 0) == leading(text.as_bytes(), b'1');
    if wrong >= 0 && over == 0 && one_spelling {
        return Ok(());
    }
    out.fill(0);
    // What is malformed is no secret any more.
    let position = text.bytes().position(|character| value(character) < 0);
    Err(position.map_or(Malformed::Length, Malformed::Digit))
}

/// Not the one text of so many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// The byte of the text, from 0, that is no digit.
    #[error("character {0} is no digit of base58")]
    Digit(usize),
    /// More or fewer bytes than were expected.
    #[error("not base58 of the expected length")]
    Length,
}

const fn low_byte(number: u32) -> u8 {
    let [low, ..] = number.to_le_bytes();
    low
}

/// How many of the first bytes are `one`, looking at all of them.
fn leading(bytes: &[u8], one: u8) -> usize {
    let (mut still, mut count) = (1, 0);
    for byte in bytes {
        let same = between(0, i16::from(*byte ^ one), 0) & 1;
        still &= same;
        count += usize::from(still != 0);
    }
    count
}

/// What a digit stands for, or -1. The digits leave out `0`, `I`, `O` and `l`.
const fn value(character: u8) -> i16 {
    let character = i16::from_be_bytes([0, character]);
    (between(49, character, 57) & (character - 48))
        + (between(65, character, 72) & (character - 55))
        + (between(74, character, 78) & (character - 56))
        + (between(80, character, 90) & (character - 57))
        + (between(97, character, 107) & (character - 63))
        + (between(109, character, 122) & (character - 64))
        - 1
}

/// The digit of a number below 58.
fn digit(number: u8) -> char {
    let number = i16::from_be_bytes([0, number]);
    let shift = 49
        + (between(9, number, 57) & 7)
        + (between(17, number, 57) & 1)
        + (between(22, number, 57) & 1)
        + (between(33, number, 57) & 6)
        + (between(44, number, 57) & 1);
    let [_, digit] = (number + shift).to_be_bytes();
    char::from(digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGITS: &str = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

    fn decode(text: &str, length: usize) -> Result<Vec<u8>, Malformed> {
        let mut out = vec![0xEE; length];
        let read = decode_into(text, &mut out);
        assert!(read.is_ok() || out.iter().all(|byte| *byte == 0));
        read.map(|()| out)
    }

    #[test]
    fn exactly_58_characters_are_digits() {
        for character in 0..=255_u8 {
            let expected = DIGITS.bytes().position(|digit| digit == character);
            let found = usize::try_from(value(character)).ok();
            assert_eq!(found, expected, "{character}");
        }
        for (number, character) in (0..).zip(DIGITS.chars()) {
            assert_eq!(digit(number), character);
        }
    }

    /// The examples of the Internet-Draft on Base58 (draft-msporny-base58-03, section 5).
    #[test]
    fn published_examples_go_both_ways() {
        for (bytes, text) in [
            (&b"Hello World!"[..], "2NEpo7TZRRrLZSi2U"),
            (
                b"The quick brown fox jumps over the lazy dog.",
                "USm3fpXnKG5EUBx2ndxBDMPVciP5hGey2Jh4NDv6gmeo1LkMeiKrLJUUBk6Z",
            ),
            (&[0x00, 0x00, 0x28, 0x7F, 0xB4, 0xCD], "11233QC4"),
        ] {
            assert_eq!(encode(bytes), text);
            assert_eq!(decode(text, bytes.len()).unwrap(), bytes);
        }
    }

    #[test]
    fn every_content_has_one_text() {
        for length in 0..=82 {
            for zeros in 0..=length {
                for fill in [0x01, 0x7F, 0xFF] {
                    let mut bytes = vec![fill; length];
                    bytes[..zeros].fill(0);
                    let text = encode(&bytes);
                    assert_eq!(decode(&text, length), Ok(bytes));
                    assert_eq!(decode(&format!("1{text}"), length), Err(Malformed::Length));
                    assert_eq!(decode(&text, length + 1), Err(Malformed::Length));
                    if length > 0 {
                        assert_eq!(decode(&text, length - 1), Err(Malformed::Length));
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_no_digit_is_named_by_its_place() {
        for (text, place) in [("0", 0), ("O", 0), ("I", 0), ("l", 0), ("1 ", 1), ("1é", 1)] {
            assert_eq!(decode(text, 2), Err(Malformed::Digit(place)), "{text}");
        }
        assert_eq!(decode("zz0z", 2), Err(Malformed::Digit(2)));
        assert_eq!(decode("zzzzz", 2), Err(Malformed::Length));
    }
}
