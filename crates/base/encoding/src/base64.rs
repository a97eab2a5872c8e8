//! Base64 (RFC 4648 section 4): standard alphabet, padding required, canonical last digit.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The text form of `bytes`.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Appends the text form of `bytes` to `out`.
pub fn encode_into(bytes: &[u8], out: &mut String) {
    STANDARD.encode_string(bytes, out);
}

/// Reads `text`.
///
/// # Errors
/// [`Malformed`] for a foreign character, missing padding, or bits left over in the last digit.
pub fn decode(text: &str) -> Result<Vec<u8>, Malformed> {
    STANDARD.decode(text).map_err(|_| Malformed)
}

/// Appends the bytes of `text` to `out`, which is unchanged on failure.
///
/// # Errors
/// As [`decode`].
pub fn decode_into(text: &str, out: &mut Vec<u8>) -> Result<(), Malformed> {
    let start = out.len();
    STANDARD.decode_vec(text, out).map_err(|_| {
        out.truncate(start);
        Malformed
    })
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
