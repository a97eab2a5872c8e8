//! Base64 (RFC 4648 section 4): standard alphabet, padding required, canonical last digit.
//!
//! [`encode`] and [`decode`] take many digits at once where the processor can, and look the rest up in tables, whose
//! place in the caches shows in their time; they are for what everybody may see. Secrets go through [`encode_secret`]
//! and [`decode_secret`], which compute each digit without a branch: many times slower, and their time tells the
//! length alone.

use base64_simd::STANDARD;

use crate::hex::between;

/// The text form of `bytes`.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode_to_string(bytes)
}

/// Appends the text form of `bytes` to `out`.
pub fn encode_into(bytes: &[u8], out: &mut String) {
    STANDARD.encode_append(bytes, out);
}

/// Reads `text`.
///
/// # Errors
/// [`Malformed`] for a foreign character, missing padding, or bits left over in the last digit.
pub fn decode(text: &str) -> Result<Vec<u8>, Malformed> {
    STANDARD.decode_to_vec(text).map_err(|_| Malformed)
}

/// Appends the bytes of `text` to `out`, which is unchanged on failure.
///
/// # Errors
/// As [`decode`].
pub fn decode_into(text: &str, out: &mut Vec<u8>) -> Result<(), Malformed> {
    let start = out.len();
    STANDARD.decode_append(text, out).map_err(|_| {
        out.truncate(start);
        Malformed
    })
}

/// The text form of secret bytes; the caller wipes it.
#[must_use]
pub fn encode_secret(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for part in bytes.chunks(3) {
        let mut three = [0; 3];
        three[..part.len()].copy_from_slice(part);
        let [a, b, c] = three;
        let digits = [
            a >> 2,
            (a & 3) << 4 | b >> 4,
            (b & 15) << 2 | c >> 6,
            c & 63,
        ];
        for number in &digits[..=part.len()] {
            out.push(digit(*number));
        }
        for _ in part.len()..3 {
            out.push('=');
        }
    }
    out
}

/// Reads the text form of secret bytes: what [`decode`] reads, and nothing else.
///
/// # Errors
/// As [`decode`].
pub fn decode_secret(text: &str) -> Result<Vec<u8>, Malformed> {
    if !text.len().is_multiple_of(4) {
        return Err(Malformed);
    }
    let digits = text.strip_suffix('=').unwrap_or(text);
    let digits = digits.strip_suffix('=').unwrap_or(digits);
    read(digits.as_bytes(), [b'+', b'/'])
}

/// Reads secret bytes in the alphabet for addresses, without padding (RFC 4648 section 5), as JSON Web Keys
/// are written.
///
/// # Errors
/// [`Malformed`] for a foreign character, padding, or bits left over in the last digit.
pub fn decode_url_secret(text: &str) -> Result<Vec<u8>, Malformed> {
    read(text.as_bytes(), [b'-', b'_'])
}

/// Reads digits to the end whatever they are; one wrong digit anywhere, and nothing is left of the rest.
fn read(digits: &[u8], last_two: [u8; 2]) -> Result<Vec<u8>, Malformed> {
    let mut out = vec![0; digits.len() * 3 / 4];
    let mut wrong = -i32::from(digits.len() % 4 == 1);
    for (given, part) in digits.chunks(4).zip(out.chunks_mut(3)) {
        let mut four = [b'A'; 4];
        four[..given.len()].copy_from_slice(given);
        let [a, b, c, d] = four.map(|digit| i32::from(value(digit, last_two)));
        wrong |= a | b | c | d;
        let [_, three @ ..] = (a << 18 | b << 12 | c << 6 | d).to_be_bytes();
        let (kept, left_over) = three.split_at(part.len());
        part.copy_from_slice(kept);
        wrong |= -left_over.iter().fold(0, |all, byte| all | i32::from(*byte));
    }
    if wrong < 0 {
        out.fill(0);
        return Err(Malformed);
    }
    Ok(out)
}

/// What a digit stands for, or -1.
const fn value(digit: u8, [plus, stroke]: [u8; 2]) -> i16 {
    let digit = i16::from_be_bytes([0, digit]);
    let (plus, stroke) = (
        i16::from_be_bytes([0, plus]),
        i16::from_be_bytes([0, stroke]),
    );
    let capital = between(65, digit, 90) & (digit - 64);
    let small = between(97, digit, 122) & (digit - 70);
    let decimal = between(48, digit, 57) & (digit + 5);
    let plus = between(plus, digit, plus) & 63;
    let stroke = between(stroke, digit, stroke) & 64;
    capital + small + decimal + plus + stroke - 1
}

/// The digit of a number below 64.
fn digit(number: u8) -> char {
    let number = i16::from_be_bytes([0, number]);
    let shift = (between(0, number, 25) & 65)
        + (between(26, number, 51) & 71)
        + (between(52, number, 61) & -4)
        + (between(62, number, 62) & -19)
        + (between(63, number, 63) & -16);
    let [_, digit] = (number + shift).to_be_bytes();
    char::from(digit)
}

/// Not base64 in our one spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not standard base64 with padding")]
#[non_exhaustive]
pub struct Malformed;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_survives_the_round_trip() {
        for length in 0..70 {
            let bytes = vec![0xA5; length];
            assert_eq!(decode(&encode(&bytes)), Ok(bytes));
        }
    }

    #[test]
    fn secrets_are_written_and_read_like_everything_else() {
        let bytes: Vec<u8> = (0..=255_u8)
            .flat_map(|byte| [byte, byte.wrapping_mul(167)])
            .collect();
        for start in 0..9 {
            for end in [
                start,
                start + 1,
                start + 2,
                start + 3,
                start + 47,
                510,
                511,
                512,
            ] {
                let part = &bytes[start..end];
                let text = encode(part);
                assert_eq!(encode_secret(part), text);
                assert_eq!(decode_secret(&text).as_deref(), Ok(part));
            }
        }
    }

    /// Bytes without a pattern.
    fn noise(length: usize) -> Vec<u8> {
        let mut state = 0x9E37_79B9_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        };
        std::iter::repeat_with(&mut next).take(length).collect()
    }

    /// Another library, which takes one digit after the other.
    fn other(text: &str) -> Result<Vec<u8>, Malformed> {
        use ::base64::Engine as _;
        use ::base64::engine::general_purpose::STANDARD;
        STANDARD.decode(text).map_err(|_| Malformed)
    }

    #[test]
    fn another_library_writes_and_reads_the_same() {
        use ::base64::Engine as _;
        use ::base64::engine::general_purpose::STANDARD;
        let bytes = noise(1_000);
        for length in (0..300).chain([998, 999, 1_000]) {
            let part = &bytes[bytes.len() - length..];
            let text = STANDARD.encode(part);
            assert_eq!(encode(part), text);
            let (mut written, mut read) = ("\u{e9}".to_owned(), vec![7]);
            encode_into(part, &mut written);
            assert_eq!(written.strip_prefix('\u{e9}'), Some(text.as_str()));
            decode_into(&text, &mut read).unwrap();
            assert_eq!(read.split_first(), Some((&7, part)));
        }
    }

    /// Every byte at every place of texts that are long enough for every way through the decoder.
    #[test]
    fn another_library_refuses_the_same() {
        for length in [1, 2, 3, 11, 12, 23, 24, 35, 46, 47, 48, 71, 94, 97] {
            let text = encode(&noise(length));
            for place in 0..text.len() {
                for byte in 0..128_u8 {
                    let mut changed = text.clone().into_bytes();
                    changed[place] = byte;
                    let changed = String::from_utf8(changed).unwrap();
                    assert_eq!(decode(&changed), other(&changed), "{changed}");
                }
                let (before, behind) = text.split_at(place);
                for changed in [format!("{before}\u{e9}{behind}"), before.to_owned()] {
                    assert_eq!(decode(&changed), other(&changed), "{changed}");
                }
            }
        }
    }

    /// Every character at every place of the last four, against the decoder without tables.
    #[test]
    fn what_one_decoder_refuses_the_other_refuses() {
        for base in ["QUJDRA==", "QUJDREU=", "QUJDREVG", "////++++"] {
            for place in 0..8 {
                for byte in 0..128_u8 {
                    let mut text = base.as_bytes().to_vec();
                    text[place] = byte;
                    let text = String::from_utf8(text).unwrap();
                    assert_eq!(decode_secret(&text), decode(&text), "{text}");
                }
            }
        }
        for text in ["A", "AA", "AAA", "AA=", "=", "====", "AA==AA==", "AAAAé"] {
            assert_eq!(decode_secret(text), decode(text), "{text}");
        }
    }

    #[test]
    fn addresses_have_two_digits_of_their_own_and_no_padding() {
        for length in 0..40_u8 {
            let bytes: Vec<u8> = (0..length).map(|byte| byte.wrapping_mul(91)).collect();
            let text = encode(&bytes).replace('+', "-").replace('/', "_");
            let bare = text.trim_end_matches('=');
            assert_eq!(decode_url_secret(bare), Ok(bytes));
            assert_eq!(decode_url_secret(&text).is_ok(), text == bare);
        }
        for text in ["A", "+A", "/A", "AB", "AAB", "-", "AA A", "AA\n"] {
            assert_eq!(decode_url_secret(text), Err(Malformed), "{text}");
        }
    }

    #[test]
    fn other_spellings_are_refused_and_append_nothing() {
        for text in [
            "A", "AA", "AA=", "AB==", "AAF=", "AA==A", "AA\n==", "__==", "====", " AA=",
        ] {
            let mut out = vec![1];
            assert_eq!(decode_into(text, &mut out), Err(Malformed), "{text}");
            assert_eq!(out, [1]);
        }
    }
}
