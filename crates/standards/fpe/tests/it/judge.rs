//! FF1 against the `fpe` crate, which shares no code with this one.

use aes::{Aes128, Aes192, Aes256};
use fpe::ff1::{FF1, FlexibleNumeralString, NumeralString};
use keywright_fpe::{Algorithm, Key, Mode};

use crate::scene::{self, Sequence};

fn theirs(secret: &[u8], radix: u32, tweak: &[u8], plain: &[u32]) -> Vec<u32> {
    let digits: Vec<u16> = plain
        .iter()
        .map(|digit| u16::try_from(*digit).unwrap())
        .collect();
    let value = FlexibleNumeralString::from(digits);
    let made = match secret.len() {
        16 => FF1::<Aes128>::new(secret, radix)
            .unwrap()
            .encrypt(tweak, &value),
        24 => FF1::<Aes192>::new(secret, radix)
            .unwrap()
            .encrypt(tweak, &value),
        _ => FF1::<Aes256>::new(secret, radix)
            .unwrap()
            .encrypt(tweak, &value),
    };
    Vec::<u16>::from(made.unwrap())
        .into_iter()
        .map(u32::from)
        .collect()
}

fn compare(seed: &mut Sequence, radix: u32, length: usize) {
    let size = 16 + 8 * seed.below(3);
    let (secret, bytes) = (seed.bytes(size), seed.below(50));
    let (tweak, plain) = (seed.bytes(bytes), seed.digits(radix, length));
    let key = Key::new(scene::options(Mode::Ff1, Algorithm::Aes, radix), &secret).unwrap();
    let mut ours = vec![0; length];
    key.encrypt(&tweak, &plain, &mut ours).unwrap();
    assert_eq!(
        ours,
        theirs(&secret, radix, &tweak, &plain),
        "radix {radix}, {length} digits"
    );
}

#[test]
fn the_judge_has_the_interface_that_is_used_here() {
    let value = FlexibleNumeralString::from(vec![1, 2, 3]);
    assert!(value.is_valid(10) && !value.is_valid(3));
}

#[test]
fn short_values_of_random_radices_agree() {
    let mut seed = Sequence::new(31);
    for _ in 0..20_000 {
        let radix = match seed.below(3) {
            0 => 2 + u32::try_from(seed.below(100)).unwrap(),
            1 => 1 << (1 + seed.below(16)),
            _ => 2 + u32::try_from(seed.below(65_535)).unwrap(),
        };
        let least =
            usize::try_from(scene::radix(radix).shortest(keywright_fpe::DomainFloor::Million));
        let length = least.unwrap() + seed.below(60);
        compare(&mut seed, radix, length);
    }
}

#[test]
fn long_values_agree() {
    let mut seed = Sequence::new(32);
    for radix in [2, 10, 36, 62, 255, 256, 1_000, 65_535, 65_536] {
        for length in [100, 257, 511, 512, 513, 1_000, 2_311, 4_096, 7_000] {
            compare(&mut seed, radix, length);
        }
    }
    // Long enough for every way of multiplying.
    compare(&mut seed, 10, 45_000);
    compare(&mut seed, 1_000, 30_001);
}
