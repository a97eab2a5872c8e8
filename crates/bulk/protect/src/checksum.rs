//! What a stretch of a file is known by: XXH3 with 128 bits.
//!
//! It finds what a crash left behind, a file that somebody worked on in between, a disk that does not give back what it
//! was given. It does not stop anybody who makes two stretches look alike on purpose, and need not: whoever can change a
//! file between two parts of a run can change it before the first and after the last. A digest that did would cost more
//! time than the encryption of a column.

use twox_hash::XxHash3_128;

/// The checksum of a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checksum([u8; Self::LENGTH]);

impl Checksum {
    pub(crate) const LENGTH: usize = 16;

    /// Of bytes that are all there.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(XxHash3_128::oneshot(bytes).to_be_bytes())
    }

    pub(crate) const fn as_bytes(&self) -> &[u8; Self::LENGTH] {
        &self.0
    }

    pub(crate) const fn from_bytes(bytes: [u8; Self::LENGTH]) -> Self {
        Self(bytes)
    }
}

/// A checksum on its way, of bytes that come one after the other.
pub struct Summing(XxHash3_128);

impl Default for Summing {
    fn default() -> Self {
        Self(XxHash3_128::new())
    }
}

impl Summing {
    /// Goes on with these.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// Of everything up to here. What comes now begins anew.
    #[must_use]
    pub fn finish(&mut self) -> Checksum {
        let made = std::mem::take(self).0.finish_128();
        Checksum(made.to_be_bytes())
    }
}

impl std::fmt::Debug for Summing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Summing")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference implementation's value for no bytes, seed 0.
    const OF_NOTHING: &str = "99aa06d3014798d86001c324468d497f";

    #[test]
    fn the_published_value_of_nothing() {
        let made = Checksum::of(&[]).0.map(|byte| format!("{byte:02x}"));
        assert_eq!(made.concat(), OF_NOTHING);
        assert_eq!(Summing::default().finish(), Checksum::of(&[]));
    }

    #[test]
    fn pieces_make_what_the_whole_makes_and_the_next_begins_anew() {
        let bytes: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        let mut summing = Summing::default();
        for length in [0, 1, 63, 64, 65, 239, 240, 241, 1_024, 300_000] {
            let (text, _) = bytes.split_at(length);
            for piece in text.chunks(97) {
                summing.update(piece);
            }
            assert_eq!(summing.finish(), Checksum::of(text), "{length}");
        }
    }

    #[test]
    fn a_bit_a_byte_less_and_two_bytes_in_turn_are_seen() {
        let bytes: Vec<u8> = (0..5_000_u32).flat_map(u32::to_le_bytes).collect();
        let whole = Checksum::of(&bytes);
        for place in (0..bytes.len()).step_by(37) {
            let mut changed = bytes.clone();
            changed[place] ^= 1 << (place % 8);
            assert_ne!(Checksum::of(&changed), whole);
            changed[place] = bytes[place];
            if place + 4 < bytes.len() && bytes[place] != bytes[place + 4] {
                changed.swap(place, place + 4);
                assert_ne!(Checksum::of(&changed), whole);
            }
        }
        assert_ne!(Checksum::of(&bytes[1..]), whole);
        assert_ne!(Checksum::of(&bytes[..bytes.len() - 1]), whole);
        assert_ne!(Checksum::of(&[0]), Checksum::of(&[0, 0]));
    }
}
