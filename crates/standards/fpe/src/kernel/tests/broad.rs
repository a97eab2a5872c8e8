//! Halves of 97 to 128 bits through the batch against one value at a time, which goes through the long
//! arithmetic of `crate::ff1::long`.

use std::vec::Vec;

use super::{KEY, Stream, backends};
use crate::alphabet::Alphabet;
use crate::batch::{Batch, Layout, Tweaks};
use crate::cipher::{Algorithm, Backend};
use crate::key::{Key, Options};
use crate::policy::{Mode, Policy};
use crate::shape::Radix;

/// Shapes with 13, 14, 15 and 16 bytes in a half; the last of each radix has 128 bits or just fewer, and
/// those of 193 and 257 binary digits stand outside and next to the range.
const SHAPES: [(u32, usize); 18] = [
    (2, 193),
    (2, 200),
    (2, 240),
    (2, 255),
    (2, 256),
    (2, 257),
    (8, 70),
    (16, 50),
    (16, 64),
    (64, 42),
    (256, 25),
    (256, 26),
    (256, 28),
    (256, 29),
    (256, 31),
    (256, 32),
    (65_536, 13),
    (65_536, 16),
];

fn key(algorithm: Algorithm, backend: Backend, radix: u32) -> Key {
    let options = Options::new(Mode::Ff1, algorithm, Radix::new(radix).unwrap())
        .with_policy(Policy::STRICT.allow_empty_tweak())
        .with_backend(backend);
    Key::new(options, &KEY[..16]).unwrap()
}

/// One batch in both directions against single calls.
fn check(
    key: &Key,
    digits: &[u32],
    length: usize,
    tweaks: Tweaks<'_>,
    of: &dyn Fn(usize) -> Vec<u8>,
) {
    let want: Vec<u32> = digits
        .chunks(length)
        .enumerate()
        .flat_map(|(record, value)| {
            let mut value = value.to_vec();
            key.encrypt_in_place(&of(record), &mut value).unwrap();
            value
        })
        .collect();
    let label = (key.backend(), key.radix(), length, digits.len() / length);
    let batch = Batch::new(key);
    let mut longs = digits.to_vec();
    batch
        .encrypt(tweaks, Layout::Fixed(length), &mut longs)
        .unwrap();
    assert_eq!(longs, want, "{label:?}");
    batch
        .decrypt(tweaks, Layout::Fixed(length), &mut longs)
        .unwrap();
    assert_eq!(longs, digits, "{label:?}");
    let narrow = |digits: &[u32]| -> Option<Vec<u8>> {
        digits
            .iter()
            .map(|digit| u8::try_from(*digit).ok())
            .collect()
    };
    if let (Some(mut bytes), Some(want)) = (narrow(digits), narrow(&want)) {
        let before = bytes.clone();
        batch
            .encrypt(tweaks, Layout::Fixed(length), &mut bytes)
            .unwrap();
        assert_eq!(bytes, want, "{label:?}");
        batch
            .decrypt(tweaks, Layout::Fixed(length), &mut bytes)
            .unwrap();
        assert_eq!(bytes, before, "{label:?}");
    }
}

#[test]
fn broad_halves_come_out_as_the_long_arithmetic_has_them() {
    let mut stream = Stream(0x0f0f_1234_5678_9abd);
    for (algorithm, backend) in backends() {
        for (radix, length) in SHAPES {
            let key = key(algorithm, backend, radix);
            for (count, width) in [(5, 7), (6, 16), (39, 1), (70, 17)] {
                let digits = stream.digits(radix, length, count);
                let bytes: Vec<u8> = (0..count * width)
                    .map(|_| stream.next().to_le_bytes()[7])
                    .collect();
                let same = bytes[..width].to_vec();
                check(&key, &digits, length, Tweaks::Same(&same), &|_| {
                    same.clone()
                });
                let each = Tweaks::Each {
                    bytes: &bytes,
                    width,
                };
                let of = |record: usize| bytes[record * width..][..width].to_vec();
                check(&key, &digits, length, each, &of);
            }
        }
    }
}

#[test]
fn tweaks_of_every_length_end_in_the_right_block() {
    let mut stream = Stream(0x1357_9bdf_0246_8ace);
    let backend = Backend::detect(Algorithm::Aes);
    for (radix, length) in [(256, 25), (256, 27), (256, 30), (256, 32)] {
        let key = key(Algorithm::Aes, backend, radix);
        let digits = stream.digits(radix, length, 40);
        let all: Vec<u8> = (0..40).map(|_| stream.next().to_le_bytes()[7]).collect();
        for width in 0..=34 {
            let tweak = all[..width].to_vec();
            check(&key, &digits, length, Tweaks::Same(&tweak), &|_| {
                tweak.clone()
            });
        }
        let offsets: Vec<usize> = (0..=40).collect();
        let tweaks = Tweaks::Offsets {
            bytes: &all,
            offsets: &offsets,
        };
        check(&key, &digits, length, tweaks, &|record| {
            all[record..=record].to_vec()
        });
    }
}

#[test]
fn broad_text_is_what_its_digits_say() {
    let mut stream = Stream(0x2468_1357_9bdf_eca1);
    for backend in [Backend::Portable, Backend::detect(Algorithm::Aes)] {
        let key = key(Algorithm::Aes, backend, 64);
        let digits: Vec<u8> = stream
            .digits(64, 40, 45)
            .iter()
            .map(|digit| u8::try_from(*digit).unwrap())
            .collect();
        let (mut plain, mut text) = (digits.clone(), digits);
        Alphabet::BASE64.write_bytes(&mut text);
        let (tweak, layout) = (Tweaks::Same(b"tweak"), Layout::Fixed(40));
        Batch::new(&key).encrypt(tweak, layout, &mut plain).unwrap();
        let batch = Batch::new(&key).over(Alphabet::BASE64);
        batch.encrypt(tweak, layout, &mut text).unwrap();
        Alphabet::BASE64.write_bytes(&mut plain);
        assert_eq!(text, plain);
    }
}
