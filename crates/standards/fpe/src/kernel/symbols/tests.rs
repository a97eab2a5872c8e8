//! Every way of looking up against the alphabet itself.

use super::*;
use crate::cipher::Algorithm;
use std::vec::Vec;

const MIXED: &str = "qwertyuiopasdfghjklzxcvbnmQWERTYUIOPASDFGHJKLZXCVBNM0192837465~\u{0}";

fn each(mut check: impl FnMut(&Alphabet, &Symbols<'_>)) {
    let own = [MIXED, "10", "\u{7f}\u{0}", "acegikmo", "zyxabc0"];
    let own = own.map(|text| Alphabet::new(text).unwrap());
    let presets = [
        Alphabet::DIGITS,
        Alphabet::BASE62,
        Alphabet::BASE45,
        Alphabet::BASE64_URL,
        Alphabet::PRINTABLE,
    ];
    let backends = || {
        Backend::ALL
            .into_iter()
            .filter(|backend| backend.is_available())
    };
    for alphabet in presets.into_iter().chain(&own) {
        for backend in backends() {
            check(alphabet, &Symbols::new(alphabet, backend));
        }
    }
    assert!(Backend::Portable.serves(Algorithm::Aes));
}

fn text_of(alphabet: &Alphabet, length: usize) -> Vec<u8> {
    let points = (0..alphabet.symbols()).map(|digit| alphabet.point_of(digit));
    let bytes: Vec<u8> = points.map(|point| u8::try_from(point).unwrap()).collect();
    bytes.into_iter().cycle().take(length).collect()
}

#[test]
fn tables_translate_as_the_alphabet_does_at_every_length() {
    each(|alphabet, symbols| {
        for length in (0..=130).chain([191, 192, 193, 1000]) {
            let text = text_of(alphabet, length);
            let (mut own, mut other) = (text.clone(), text.clone());
            assert!(symbols.known(&text), "{:?} {length}", symbols.way);
            alphabet.read_bytes(&mut own);
            symbols.read(&mut other);
            assert_eq!(own, other, "{:?} {length}", symbols.way);
            symbols.write(&mut other);
            assert_eq!(other, text, "{:?} {length}", symbols.way);
        }
    });
}

#[test]
fn a_byte_that_is_no_symbol_is_found_wherever_it_stands() {
    each(|alphabet, symbols| {
        for length in [1, 31, 32, 33, 64, 100, 130] {
            let text = text_of(alphabet, length);
            for byte in 0..=255 {
                let known = alphabet.has_bytes(&[byte]);
                for place in [0, length / 2, length - 1] {
                    let mut other = text.clone();
                    other[place] = byte;
                    let label = (symbols.way, byte, place, length);
                    assert_eq!(symbols.known(&other), known, "{label:?}");
                }
            }
        }
    });
}
