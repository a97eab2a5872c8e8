//! Strings over alphabets.

use keywright_fpe::{Algorithm, Alphabet, Mode};

use crate::scene::{self, Sequence};

fn random(seed: &mut Sequence, alphabet: &[char], length: usize) -> String {
    (0..length)
        .map(|_| alphabet[seed.below(alphabet.len())])
        .collect()
}

#[test]
fn text_is_what_its_digits_are() {
    let alphabets = [
        "01",
        "0123456789",
        "qwertyuiopasdfghjklzxcvbnm",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "αβγδεζηθικλμνξοπρστυφχψω",
        "a€😀z",
    ];
    let mut seed = Sequence::new(11);
    for symbols in alphabets {
        let alphabet = Alphabet::new(symbols).unwrap();
        let all: Vec<char> = symbols.chars().collect();
        let key = scene::key(Mode::Ff1, Algorithm::Aes, alphabet.symbols());
        for length in [8, 16, 31, 70, 300] {
            let text = random(&mut seed, &all, length);
            let place = |symbol| all.iter().position(|own| *own == symbol).unwrap();
            let mut digits: Vec<u32> = text
                .chars()
                .map(|symbol| u32::try_from(place(symbol)).unwrap())
                .collect();
            key.encrypt_in_place(b"tweak", &mut digits).unwrap();
            let expected: String = digits
                .iter()
                .map(|digit| all[usize::try_from(*digit).unwrap()])
                .collect();
            let made = key.encrypt_string(b"tweak", &alphabet, &text).unwrap();
            assert_eq!(made, expected);
            let mut room = vec![0; 4 * length];
            let used = key
                .encrypt_text(b"tweak", &alphabet, &text, &mut room)
                .unwrap();
            assert_eq!(room[..used], *made.as_bytes());
            let used = key
                .decrypt_text(b"tweak", &alphabet, &made, &mut room)
                .unwrap();
            assert_eq!(room[..used], *text.as_bytes());
            assert_eq!(
                key.decrypt_string(b"tweak", &alphabet, &made).unwrap(),
                text
            );
        }
    }
}

#[test]
fn a_large_alphabet_in_no_order_works() {
    // Every third code point from the end of the plane back: no two are neighbours.
    let symbols: String = (0x3000..0x9000_u32)
        .rev()
        .step_by(3)
        .filter_map(char::from_u32)
        .collect();
    let alphabet = Alphabet::new(&symbols).unwrap();
    let all: Vec<char> = symbols.chars().collect();
    let key = scene::key(Mode::Ff1, Algorithm::Aes, alphabet.symbols());
    let text = random(&mut Sequence::new(12), &all, 20);
    let made = key.encrypt_string(b"t", &alphabet, &text).unwrap();
    assert_ne!(made, text);
    assert_eq!(made.chars().count(), 20);
    assert_eq!(key.decrypt_string(b"t", &alphabet, &made).unwrap(), text);
}
