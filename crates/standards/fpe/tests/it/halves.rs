//! Records that are given as the numbers of their halves come out as their digits do, and refuse as a whole.

use keywright_fpe::{Algorithm, Batch, Error, Key, Layout, Mode, Tweaks};

use crate::scene::{self, Sequence};

/// Moduli on both sides of every bound that chooses a reduction, and powers of two.
const SHAPES: [(u32, usize); 18] = [
    (10, 6),
    (10, 9),
    (10, 16),
    (10, 19),
    (10, 33),
    (10, 38),
    (2, 20),
    (2, 128),
    (16, 32),
    (36, 23),
    (256, 15),
    (1_912, 2),
    (29_815, 2),
    (282, 4),
    (4_355, 8),
    (65_535, 7),
    (65_536, 3),
    (65_536, 8),
];

fn numbers(key: &Key, mode: Mode, digits: &[u32]) -> [u64; 2] {
    let radix = u64::from(key.radix().value());
    let add = |number: u64, digit: &u32| number.wrapping_mul(radix).wrapping_add(u64::from(*digit));
    if mode == Mode::Ff1 {
        let (first, second) = digits.split_at(digits.len() / 2);
        [first, second].map(|half| half.iter().fold(0, add))
    } else {
        let (first, second) = digits.split_at(digits.len().div_ceil(2));
        [first, second].map(|half| half.iter().rev().fold(0, add))
    }
}

fn all(key: &Key, mode: Mode, length: usize, digits: &[u32]) -> Vec<[u64; 2]> {
    let values = digits.chunks(length);
    values.map(|value| numbers(key, mode, value)).collect()
}

#[test]
fn halves_come_out_as_digits_do_on_every_backend() {
    let mut seed = Sequence::new(41);
    for mode in [Mode::Ff1, Mode::Ff31] {
        for algorithm in [Algorithm::Aes, Algorithm::Sm4] {
            for backend in scene::backends(algorithm) {
                for (radix, length) in SHAPES {
                    let longest = scene::radix(radix).longest(mode);
                    if u32::try_from(length).unwrap() > longest {
                        continue;
                    }
                    let options = scene::options(mode, algorithm, radix).with_backend(backend);
                    let key = Key::new(options, &scene::SECRET).unwrap();
                    for count in [0, 1, 5, 33, 128, 200] {
                        compare(&key, mode, (length, count), &mut seed);
                    }
                }
            }
        }
    }
}

fn compare(key: &Key, mode: Mode, (length, count): (usize, usize), seed: &mut Sequence) {
    let plain = seed.digits(key.radix().value(), length * count);
    let tweaks = seed.bytes(7 * count);
    let each = Tweaks::Each {
        bytes: &tweaks,
        width: 7,
    };
    let batch = Batch::new(key);
    for tweaks in [Tweaks::Same(b"7 bytes"), each] {
        let mut made = plain.clone();
        batch
            .encrypt(tweaks, Layout::Fixed(length), &mut made)
            .unwrap();
        let mut records = all(key, mode, length, &plain);
        batch.encrypt_halves(tweaks, length, &mut records).unwrap();
        let context = (mode, key.radix(), length, count);
        assert_eq!(records, all(key, mode, length, &made), "{context:?}");
        batch.decrypt_halves(tweaks, length, &mut records).unwrap();
        assert_eq!(records, all(key, mode, length, &plain), "{context:?}");
    }
}

#[test]
fn a_half_beyond_its_power_is_named_and_nothing_is_written() {
    for (radix, length, powers) in [
        (10, 9, [10_000_u64, 100_000]),
        (1_912, 2, [1_912, 1_912]),
        (36, 23, [36_u64.pow(11), 36_u64.pow(12)]),
    ] {
        let key = scene::key(Mode::Ff1, Algorithm::Aes, radix);
        for (half, power) in powers.into_iter().enumerate() {
            for wrong in [power, power + 1, u64::MAX] {
                let mut records = vec![[0, powers[1] - 1]; 70];
                records[69][half] = wrong;
                records[66][half] = wrong;
                let before = records.clone();
                let batch = Batch::new(&key);
                let refused = batch.encrypt_halves(Tweaks::Same(b"t"), length, &mut records);
                let refused = refused.unwrap_err();
                let position = if half == 0 { 0 } else { length / 2 };
                assert_eq!(refused.record(), Some(66));
                assert_eq!(refused.error(), Error::Digit { position, radix });
                assert_eq!(records, before);
            }
        }
    }
}

#[test]
fn longer_halves_other_lengths_and_missing_tweaks_are_refused() {
    let refused = |radix, length, tweaks: Tweaks<'_>| {
        let key = scene::strict(radix);
        let mut records = vec![[0, 0]; 3];
        let refused = Batch::new(&key).encrypt_halves(tweaks, length, &mut records);
        refused.unwrap_err().error()
    };
    let same = Tweaks::Same(b"t");
    for (radix, length, longest) in [(10, 39, 38), (10, 200, 38), (2, 129, 128), (65_536, 9, 8)] {
        let expected = Error::Length {
            mode: Mode::Ff1,
            radix,
            length,
            longest,
        };
        assert_eq!(refused(radix, length, same), expected);
    }
    assert!(matches!(refused(10, 5, same), Error::Domain { .. }));
    assert_eq!(refused(10, 16, Tweaks::Same(b"")), Error::TweakEmpty);
    let two = Tweaks::Each {
        bytes: b"12",
        width: 1,
    };
    let expected = Error::BatchShape {
        expected: 3,
        given: 2,
    };
    assert_eq!(refused(10, 16, two), expected);
}
