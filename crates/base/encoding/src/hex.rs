//! Lower-case hexadecimal, for secrets as well: neither direction branches on a digit or looks one up in a
//! table, so its time tells the length and whether the text was well-formed, and nothing of the bytes.

/// The text form of `bytes`.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        out.push(digit(byte >> 4));
        out.push(digit(byte & 15));
    }
    out
}

/// Reads exactly `N` bytes; upper case, separators and any other length are refused.
///
/// # Errors
/// [`Malformed`] if the text is not `2 * N` lower-case hexadecimal digits.
pub fn decode_array<const N: usize>(text: &str) -> Result<[u8; N], Malformed> {
    if text.len() != N * 2 {
        return Err(Malformed);
    }
    let mut out = [0; N];
    read(text, &mut out)?;
    Ok(out)
}

/// Reads any number of bytes.
///
/// # Errors
/// [`Malformed`] for an odd length or a character that is not a lower-case hexadecimal digit.
pub fn decode(text: &str) -> Result<Vec<u8>, Malformed> {
    if !text.len().is_multiple_of(2) {
        return Err(Malformed);
    }
    let mut out = vec![0; text.len() / 2];
    read(text, &mut out)?;
    Ok(out)
}

/// Not hexadecimal in our one spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not lower-case hexadecimal of the expected length")]
#[non_exhaustive]
pub struct Malformed;

/// Reads to the end whatever it finds; one wrong digit anywhere, and nothing is left in `out`.
fn read(text: &str, out: &mut [u8]) -> Result<(), Malformed> {
    let mut wrong = 0;
    let (pairs, _) = text.as_bytes().as_chunks::<2>();
    for (byte, [high, low]) in out.iter_mut().zip(pairs) {
        let (high, low) = (value(*high), value(*low));
        wrong |= high | low;
        let [_, both] = (high << 4 | low).to_be_bytes();
        *byte = both;
    }
    if wrong < 0 {
        out.fill(0);
        return Err(Malformed);
    }
    Ok(())
}

/// All ones if `low <= x <= high`, else zero; all three below 256.
pub(crate) const fn between(low: i16, x: i16, high: i16) -> i16 {
    ((low - 1 - x) & (x - high - 1)) >> 15
}

/// What a digit stands for, or -1.
const fn value(digit: u8) -> i16 {
    let digit = i16::from_be_bytes([0, digit]);
    let decimal = between(48, digit, 57) & (digit - 47);
    let letter = between(97, digit, 102) & (digit - 86);
    decimal + letter - 1
}

/// The digit of a number below 16.
fn digit(number: u8) -> char {
    // From '0' on, and from 'a' on what is beyond nine: a carry into the fifth bit says which.
    char::from(b'0' + number + ((number + 6) >> 4) * 39)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_survives_the_round_trip() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&all)), Ok(all));
    }

    #[test]
    fn exactly_sixteen_characters_are_digits() {
        let good = |byte: u8| decode_array::<1>(&format!("0{}", char::from(byte)));
        for byte in 0..=127_u8 {
            let expected = match byte {
                b'0'..=b'9' => Ok([byte - b'0']),
                b'a'..=b'f' => Ok([byte - b'a' + 10]),
                _ => Err(Malformed),
            };
            assert_eq!(good(byte), expected, "{byte}");
        }
    }

    #[test]
    fn other_spellings_are_refused() {
        for text in ["0", "0G", "AB", "0x", " 0", "a-", "é"] {
            assert_eq!(decode(text), Err(Malformed), "{text}");
            assert_eq!(decode_array::<1>(text), Err(Malformed), "{text}");
        }
        assert_eq!(decode_array::<2>("ab"), Err(Malformed));
    }
}
