//! SHAKE128 and SHAKE256 (FIPS 202), which the backend keeps to itself.

use shake::{ExtendableOutput, Update, XofReader};

use crate::opaque_debug;

macro_rules! shake {
    ($name:ident, $spoken:literal) => {
        #[doc = concat!($spoken, " of bytes that come in pieces.")]
        #[derive(Clone, Default)]
        pub struct $name(shake::$name);

        impl $name {
            /// Nothing absorbed yet.
            #[must_use]
            pub fn new() -> Self {
                Self::default()
            }

            /// Absorbs bytes.
            pub fn update(&mut self, bytes: &[u8]) {
                self.0.update(bytes);
            }

            /// Fills `out` with the value over everything absorbed. A longer output begins with a shorter
            /// one, so two lengths of one input are no two independent values.
            pub fn finish_into(self, out: &mut [u8]) {
                self.0.finalize_xof().read(out);
            }
        }
    };
}

shake!(Shake128, "SHAKE128");
shake!(Shake256, "SHAKE256");
opaque_debug! { Shake128 Shake256 }

#[cfg(test)]
mod tests {
    use super::*;

    /// The beginnings of the values that NIST publishes for the empty message in FIPS 202.
    #[test]
    fn the_empty_message_gives_the_published_values() {
        let (mut short, mut long) = ([0; 8], [0; 8]);
        Shake128::new().finish_into(&mut short);
        Shake256::new().finish_into(&mut long);
        assert_eq!(short, [0x7F, 0x9C, 0x2B, 0xA4, 0xE8, 0x8F, 0x82, 0x7D]);
        assert_eq!(long, [0x46, 0xB9, 0xDD, 0x2B, 0x0B, 0xA8, 0x8D, 0x13]);
    }

    #[test]
    fn pieces_and_whole_agree_and_a_longer_output_begins_with_a_shorter() {
        let (mut pieces, mut whole) = (Shake256::new(), Shake256::new());
        pieces.update(b"ab");
        pieces.update(b"c");
        whole.update(b"abc");
        let (mut short, mut long) = ([0; 40], [0; 400]);
        pieces.finish_into(&mut short);
        whole.finish_into(&mut long);
        assert_eq!(short, long[..40]);
    }
}
