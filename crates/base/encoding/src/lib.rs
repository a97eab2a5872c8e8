//! Bytes and text in exactly one spelling each.
//!
//! * [`hex`], [`base64`] and [`base58`]: strict decoders; what they accept, they would have written the same way.
//! * [`der`]: values of X.690 in their one spelling, and PEM around them.
//! * [`lp`]: length-prefixed joining, the only way bytes of different fields are put side by side.
//! * [`terminal`]: foreign text written so that a terminal obeys nothing in it.
//! * [`Reader`]: a cursor over foreign bytes that cannot run past their end.
//!
//! Integers are big-endian throughout (design 7).
#![forbid(unsafe_code)]

pub mod base58;
pub mod base64;
pub mod der;
#[doc(hidden)]
pub mod fuzzing;
pub mod hex;
mod reader;
pub mod terminal;

pub use reader::{Reader, Truncated};

/// Appends `lp(bytes)`: the length as u32, then the bytes.
///
/// # Errors
/// [`TooLong`] if the length does not fit 32 bits; nothing is appended then.
pub fn put_lp(out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), TooLong> {
    let length = u32::try_from(bytes.len()).map_err(|_| TooLong)?;
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(bytes);
    Ok(())
}

/// `lp` of each part, joined: an injective encoding of a list of byte strings.
///
/// # Errors
/// [`TooLong`] if a part's length does not fit 32 bits.
pub fn lp(parts: &[&[u8]]) -> Result<Vec<u8>, TooLong> {
    let mut out = Vec::with_capacity(parts.iter().map(|part| part.len() + 4).sum());
    parts.iter().try_for_each(|part| put_lp(&mut out, part))?;
    Ok(out)
}

/// A byte string longer than a u32 can count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a field is longer than 4 GiB")]
#[non_exhaustive]
pub struct TooLong;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moving_a_byte_across_a_boundary_changes_the_encoding() {
        assert_ne!(lp(&[b"ab", b"c"]), lp(&[b"a", b"bc"]));
        assert_ne!(lp(&[b"", b"a"]), lp(&[b"a", b""]));
        assert_ne!(lp(&[b"a"]), lp(&[b"a", b""]));
        assert_eq!(lp(&[b"ab"]).unwrap(), [0, 0, 0, 2, b'a', b'b']);
    }
}
