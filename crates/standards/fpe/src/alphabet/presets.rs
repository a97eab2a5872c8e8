//! The alphabets that texts and vector files name.

use super::{Alphabet, Run, Runs};

macro_rules! presets {
    ($($(#[$doc:meta])* $name:ident = $($first:literal..=$last:literal),+;)+) => {
        impl Alphabet {
            $($(#[$doc])* pub const $name: &'static Self = {
                const RUNS: &[Run] = &runs([$(($first, $last)),+]);
                const ALPHABET: &Alphabet = &Alphabet::preset(RUNS);
                ALPHABET
            };)+
        }

        #[cfg(all(test, feature = "std"))]
        pub(super) fn names() -> std::vec::Vec<(&'static str, &'static Alphabet)> {
            std::vec![$((stringify!($name), Alphabet::$name)),+]
        }
    };
}

presets! {
    /// Radix 10: `0-9`.
    DIGITS = b'0'..=b'9';
    /// Radix 2: `0-1`.
    BITS = b'0'..=b'1';
    /// Radix 16: `0-9a-f`.
    HEX_LOWER = b'0'..=b'9', b'a'..=b'f';
    /// Radix 16: `0-9A-F`.
    HEX_UPPER = b'0'..=b'9', b'A'..=b'F';
    /// Radix 26: `a-z`.
    LOWER = b'a'..=b'z';
    /// Radix 26: `A-Z`.
    UPPER = b'A'..=b'Z';
    /// Radix 26: `0-9a-p`, as the worked examples of FF3 have it.
    BASE26 = b'0'..=b'9', b'a'..=b'p';
    /// Radix 32 of RFC 4648: `A-Z2-7`.
    BASE32 = b'A'..=b'Z', b'2'..=b'7';
    /// Radix 36: `0-9a-z`.
    BASE36_LOWER = b'0'..=b'9', b'a'..=b'z';
    /// Radix 36: `0-9A-Z`.
    BASE36_UPPER = b'0'..=b'9', b'A'..=b'Z';
    /// Radix 45 of RFC 9285: `0-9A-Z $%*+-./:`.
    BASE45 = b'0'..=b'9', b'A'..=b'Z', b' '..=b' ', b'$'..=b'%', b'*'..=b'+', b'-'..=b'/', b':'..=b':';
    /// Radix 62: `0-9A-Za-z`.
    BASE62 = b'0'..=b'9', b'A'..=b'Z', b'a'..=b'z';
    /// Radix 62: `0-9a-zA-Z`.
    BASE62_LOWER_FIRST = b'0'..=b'9', b'a'..=b'z', b'A'..=b'Z';
    /// Radix 64 of RFC 4648: `A-Za-z0-9+/`.
    BASE64 = b'A'..=b'Z', b'a'..=b'z', b'0'..=b'9', b'+'..=b'+', b'/'..=b'/';
    /// Radix 64 of RFC 4648 for addresses: `A-Za-z0-9-_`.
    BASE64_URL = b'A'..=b'Z', b'a'..=b'z', b'0'..=b'9', b'-'..=b'-', b'_'..=b'_';
    /// Radix 64 as NIST's validation server has it: `0-9A-Za-z+/`.
    BASE64_ACVP = b'0'..=b'9', b'A'..=b'Z', b'a'..=b'z', b'+'..=b'+', b'/'..=b'/';
    /// Radix 94: all visible ASCII characters.
    VISIBLE = b'!'..=b'~';
    /// Radix 95: all printable ASCII characters, the space among them.
    PRINTABLE = b' '..=b'~';
}

impl Alphabet {
    const fn preset(runs: &'static [Run]) -> Self {
        let (mut symbols, mut at) = (0, 0);
        while at < runs.len() {
            symbols += runs[at].count;
            at += 1;
        }
        Self {
            runs: Runs::Preset(runs),
            symbols,
            ascii: true,
        }
    }
}

const fn runs<const N: usize>(ends: [(u8, u8); N]) -> [Run; N] {
    let mut runs = [Run {
        first: 0,
        digit: 0,
        count: 0,
    }; N];
    let (mut digit, mut at) = (0, 0);
    while at < N {
        let (first, last) = ends[at];
        let count = (last - first) as u32 + 1;
        runs[at] = Run {
            first: first as u32,
            digit,
            count,
        };
        digit += count;
        at += 1;
    }
    runs
}

#[cfg(all(test, feature = "std"))]
pub(super) fn all() -> std::vec::Vec<(&'static str, &'static Alphabet, &'static str)> {
    let texts = [
        "0123456789",
        "01",
        "0123456789abcdef",
        "0123456789ABCDEF",
        "abcdefghijklmnopqrstuvwxyz",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "0123456789abcdefghijklmnop",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        "0123456789abcdefghijklmnopqrstuvwxyz",
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:",
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/",
        "!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~",
        " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~",
    ];
    let names = names();
    assert_eq!(names.len(), texts.len());
    names
        .into_iter()
        .zip(texts)
        .map(|((name, preset), text)| (name, preset, text))
        .collect()
}
