//! What holds for every value: it comes back, keeps its length, stays below the radix, and depends on key and
//! tweak. That all backends agree is shown in `tests/fpe-gates`.

use keywright_fpe::{Algorithm, Key, Mode, Policy};

use crate::scene::{self, Sequence};

const MODES: [Mode; 3] = [Mode::Ff1, Mode::Ff3, Mode::Ff31];
const RADICES: [u32; 14] = [
    2, 3, 5, 10, 16, 26, 36, 62, 64, 95, 256, 1_000, 65_535, 65_536,
];

fn tweak(mode: Mode, seed: &mut Sequence) -> Vec<u8> {
    let bytes = match mode {
        Mode::Ff1 => seed.below(40),
        Mode::Ff3 => 8,
        _ => 7,
    };
    seed.bytes(bytes)
}

#[test]
fn values_come_back_keep_their_length_and_stay_below_the_radix() {
    let mut seed = Sequence::new(1);
    for mode in MODES {
        for radix in RADICES {
            for algorithm in [Algorithm::Aes, Algorithm::Sm4] {
                let key = scene::key(mode, algorithm, radix);
                let (least, most) = key.lengths().into_inner();
                for length in least..=most.min(200) {
                    let plain = seed.digits(radix, usize::try_from(length).unwrap());
                    let tweak = tweak(mode, &mut seed);
                    let mut cipher = vec![u32::MAX; plain.len()];
                    key.encrypt(&tweak, &plain, &mut cipher).unwrap();
                    assert!(cipher.iter().all(|digit| *digit < radix));
                    let mut back = cipher.clone();
                    key.decrypt_in_place(&tweak, &mut back).unwrap();
                    assert_eq!(back, plain, "{mode}, radix {radix}, {length} digits");
                }
            }
        }
    }
}

#[test]
fn the_width_of_the_integers_changes_nothing() {
    let mut seed = Sequence::new(2);
    for radix in [2, 10, 62, 256] {
        let key = scene::key(Mode::Ff1, Algorithm::Aes, radix);
        for length in [7, 16, 33, 57, 90, 200] {
            let plain = seed.digits(radix, length);
            let tweak = seed.bytes(9);
            let mut long = vec![0; length];
            key.encrypt(&tweak, &plain, &mut long).unwrap();
            let mut word: Vec<u16> = plain.iter().map(|d| u16::try_from(*d).unwrap()).collect();
            let mut byte: Vec<u8> = plain.iter().map(|d| u8::try_from(*d).unwrap()).collect();
            key.encrypt_in_place(&tweak, &mut word).unwrap();
            key.encrypt_in_place(&tweak, &mut byte).unwrap();
            assert!(word.iter().zip(&long).all(|(a, b)| u32::from(*a) == *b));
            assert!(byte.iter().zip(&long).all(|(a, b)| u32::from(*a) == *b));
        }
    }
}

#[test]
fn one_bit_of_key_or_tweak_changes_the_value() {
    let mut seed = Sequence::new(3);
    for mode in MODES {
        for length in [20, 55] {
            let plain = seed.digits(10, length);
            let tweak = tweak(mode, &mut seed);
            let key = scene::key(mode, Algorithm::Aes, 10);
            let mut first = vec![0; length];
            key.encrypt(&tweak, &plain, &mut first).unwrap();
            let mut out = vec![0; length];
            for bit in 0..8 * tweak.len() {
                let mut other = tweak.clone();
                other[bit / 8] ^= 1 << (bit % 8);
                key.encrypt(&other, &plain, &mut out).unwrap();
                assert_ne!(out, first, "{mode}: bit {bit} of the tweak");
            }
            for bit in 0..128 {
                let mut secret = scene::SECRET;
                secret[bit / 8] ^= 1 << (bit % 8);
                let other = Key::new(scene::options(mode, Algorithm::Aes, 10), &secret).unwrap();
                other.encrypt(&tweak, &plain, &mut out).unwrap();
                assert_ne!(out, first, "{mode}: bit {bit} of the key");
            }
        }
    }
}

#[test]
fn trailing_zeros_of_an_ff1_tweak_count_and_an_empty_one_is_a_value_of_its_own() {
    let key = scene::key(Mode::Ff1, Algorithm::Aes, 10);
    let images: Vec<[u8; 16]> = (0..40)
        .map(|zeros| {
            let mut value = [4; 16];
            key.encrypt_in_place(&vec![0; zeros], &mut value).unwrap();
            value
        })
        .collect();
    for (place, image) in images.iter().enumerate() {
        assert!(!images[..place].contains(image), "{place} zero bytes");
    }
}

#[test]
fn every_tweak_length_and_value_length_comes_back() {
    let mut seed = Sequence::new(4);
    for radix in [10, 65_536] {
        let policy = Policy::STANDARD_2016;
        let options = scene::options(Mode::Ff1, Algorithm::Aes, radix).with_policy(policy);
        let key = Key::new(options, &scene::SECRET).unwrap();
        for length in (2..300).step_by(7) {
            for bytes in (0..=1_024).step_by(41).chain([252, 255, 256]) {
                let (plain, tweak) = (seed.digits(radix, length), seed.bytes(bytes));
                let mut value = plain.clone();
                let tweaked = key.tweaked(length, &tweak).unwrap();
                tweaked.encrypt_in_place(&mut value).unwrap();
                tweaked.decrypt_in_place(&mut value).unwrap();
                assert_eq!(value, plain);
            }
        }
    }
}

#[test]
fn a_million_digits_come_back_and_so_does_the_longest_value() {
    let mut seed = Sequence::new(6);
    for (radix, length) in [
        (10, 1_000_000),
        (10, 1 << 20),
        (65_536, 1 << 20),
        (7, 300_001),
    ] {
        let key = scene::strict(radix);
        let plain: Vec<u16> = seed
            .digits(radix, length)
            .into_iter()
            .map(|digit| u16::try_from(digit).unwrap())
            .collect();
        let mut value = plain.clone();
        let tweaked = key.tweaked(length, b"tweak").unwrap();
        tweaked.encrypt_in_place(&mut value).unwrap();
        assert!(value != plain);
        assert!(value.iter().all(|digit| u32::from(*digit) < radix));
        tweaked.decrypt_in_place(&mut value).unwrap();
        assert!(value == plain, "radix {radix}, {length} digits");
    }
}
