//! Lower-case hexadecimal.

/// The text form of `bytes`.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 15)]));
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
    for (byte, pair) in out.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
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
    text.as_bytes()
        .chunks_exact(2)
        .map(|pair| Ok(value(pair[0])? << 4 | value(pair[1])?))
        .collect()
}

/// Not hexadecimal in our one spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not lower-case hexadecimal of the expected length")]
#[non_exhaustive]
pub struct Malformed;

const fn value(digit: u8) -> Result<u8, Malformed> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(Malformed),
    }
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_survives_the_round_trip() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&all)), Ok(all));
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
