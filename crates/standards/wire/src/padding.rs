//! Padding that leaves few lengths to be seen.
//!
//! ```text
//! padded = content | 80 | zeros           L = length of content + 1
//! L up to 256:   64, 128, 192 or 256
//! above:         Padme: E = floor(log2 L), S = floor(log2 E) + 1, up to a multiple of 2^(E-S)
//! ```
//!
//! Padme is from Nikitin and others, "Reducing Metadata Leakage from Encrypted Files and Communication with
//! PURBs" (2019), section 4. It adds at most 6.25 % above 256 bytes; below, it alone would tell eight
//! lengths apart in each power of two, hence the four fixed ones.
//!
//! Padding is applied before encryption and taken off after the tag was verified, so nobody without the
//! key can change it.

use crate::Error;

/// Bytes of the longest content: 16 MiB.
pub const MAX_CONTENT: usize = 16 << 20;

/// The shortest padded length, and the step up to [`LARGEST_FIXED`].
const FIXED_STEP: usize = 64;
/// Up to here lengths are multiples of [`FIXED_STEP`].
const LARGEST_FIXED: usize = 256;
/// What stands behind the content.
const MARKER: u8 = 0x80;

/// How many bytes content of this length has when it is padded.
///
/// # Errors
/// [`Error::ContentTooLong`] beyond [`MAX_CONTENT`].
pub const fn padded_len(content: usize) -> Result<usize, Error> {
    if content > MAX_CONTENT {
        return Err(Error::ContentTooLong(content));
    }
    let length = content + 1;
    Ok(length.next_multiple_of(step(length)))
}

/// Whether content of some length is padded to this one.
#[must_use]
pub const fn is_padded_len(length: usize) -> bool {
    content_range(length).is_some()
}

/// Appends `content`, the marker and zeros to `out`, which is as it was if this fails.
///
/// # Errors
/// [`Error::ContentTooLong`] beyond [`MAX_CONTENT`].
pub fn pad_into(content: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    let length = padded_len(content.len())?;
    let end = out.len() + length;
    out.reserve(length);
    out.extend_from_slice(content);
    out.push(MARKER);
    out.resize(end, 0);
    Ok(())
}

/// The content of what [`pad_into`] made. Looks at the same bytes whatever the content is: at those in
/// which the marker can stand for this length.
///
/// # Errors
/// [`Error::Padding`] if no content is padded to these bytes.
pub fn unpad(padded: &[u8]) -> Result<&[u8], Error> {
    let shortest = content_range(padded.len()).ok_or(Error::Padding)?;
    let (_, window) = padded.split_at_checked(shortest).ok_or(Error::Padding)?;
    let (mut place, mut byte) = (0_usize, 0_u8);
    for (at, &here) in window.iter().enumerate() {
        let mask = all_ones_unless_zero(here);
        place ^= (place ^ at) & usize_mask(mask);
        byte ^= (byte ^ here) & mask;
    }
    // The last byte that is not zero is the marker, and all before it is content.
    if byte != MARKER || shortest + place > MAX_CONTENT {
        return Err(Error::Padding);
    }
    padded.get(..shortest + place).ok_or(Error::Padding)
}

/// The shortest content that is padded to `length`; the longest is one byte shorter than `length`.
const fn content_range(length: usize) -> Option<usize> {
    // L = 256 gives the smallest length at which the step changes, MAX_CONTENT + 1 the largest.
    let largest = (MAX_CONTENT + 1).next_multiple_of(step(MAX_CONTENT + 1));
    if length == 0 || length > largest {
        return None;
    }
    // All contents of one padded length share the step of the longest, whose L is the length itself or,
    // where that is a power of two, belongs to the power before it.
    let step = step(length - 1);
    if length.is_multiple_of(step) {
        Some(length - step)
    } else {
        None
    }
}

/// The distance of allowed lengths about L.
const fn step(length: usize) -> usize {
    if length <= LARGEST_FIXED {
        return FIXED_STEP;
    }
    let e = length.ilog2();
    let s = e.ilog2() + 1;
    1 << (e - s)
}

/// 0xFF, or 0 for 0, without a branch.
const fn all_ones_unless_zero(byte: u8) -> u8 {
    let top = (byte | byte.wrapping_neg()) >> 7;
    std::hint::black_box(top).wrapping_neg()
}

/// The mask in every byte.
fn usize_mask(mask: u8) -> usize {
    usize::from(mask & 1).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Padme by its text, in floating point, for the lengths of a test.
    fn by_the_text(length: usize) -> usize {
        if length <= 256 {
            return length.div_ceil(64) * 64;
        }
        let e = (f64::from(u32::try_from(length).unwrap())).log2().floor();
        let s = e.log2().floor() + 1.0;
        let mut step = 1;
        let mut bits = e - s;
        while bits >= 1.0 {
            step *= 2;
            bits -= 1.0;
        }
        length.div_ceil(step) * step
    }

    #[test]
    fn every_length_is_that_of_the_text() {
        for content in (0..5000).chain([65_535, 65_536, 1 << 20, MAX_CONTENT - 1, MAX_CONTENT]) {
            assert_eq!(
                padded_len(content),
                Ok(by_the_text(content + 1)),
                "{content}"
            );
        }
    }

    #[test]
    fn a_length_is_allowed_if_and_only_if_some_content_has_it() {
        let made: std::collections::BTreeSet<usize> = (0..70_000)
            .map(|content| padded_len(content).unwrap())
            .collect();
        for length in 0..70_000 {
            assert_eq!(is_padded_len(length), made.contains(&length), "{length}");
        }
        let largest = padded_len(MAX_CONTENT).unwrap();
        assert!(is_padded_len(largest));
        for length in [largest + 1, 2 * largest, usize::MAX] {
            assert!(!is_padded_len(length), "{length}");
        }
    }

    #[test]
    fn the_shortest_content_of_a_length_is_the_first_that_has_it() {
        let mut before = 0;
        for content in 0..70_000 {
            let length = padded_len(content).unwrap();
            if length != before {
                assert_eq!(content_range(length), Some(content), "{length}");
                before = length;
            }
        }
    }

    #[test]
    fn above_256_bytes_a_sixteenth_is_added_at_most() {
        for content in 256..200_000 {
            let length = padded_len(content).unwrap();
            assert!((length - content - 1) * 16 <= content + 1, "{content}");
        }
    }
}
