//! Reduction and digits against plain division.

use super::*;
use crate::shape::Radix;

const RADICES: [u32; 14] = [
    2, 3, 7, 10, 16, 26, 36, 62, 255, 256, 1_626, 1_627, 65_535, 65_536,
];

/// Multiples of the modulus and their neighbours, at both ends and between.
fn traps(modulus: u128, bits: u32) -> impl Iterator<Item = u128> {
    let greatest = u128::MAX >> (128 - bits);
    let last = greatest / modulus;
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let between = (0..200).map(move |_| {
        seed = seed.wrapping_mul(0xD134_2543_DE82_EF95).wrapping_add(1);
        (u128::from(seed) * u128::from(seed.rotate_left(17))) % (last + 1)
    });
    let factors = (0..=3).chain(last.saturating_sub(3)..=last).chain(between);
    factors
        .flat_map(move |k| {
            let multiple = k * modulus;
            [
                multiple.wrapping_sub(1) & greatest,
                multiple,
                multiple.wrapping_add(1) & greatest,
            ]
        })
        .chain([greatest])
}

fn judge<M: Modulus<Half: TryFrom<u128>>>(modulus: M, m: u128, bits: u32) {
    let half = |number| M::Half::try_from(number).ok().unwrap();
    for y in traps(m, bits) {
        for a in [0, 1, m / 2, m - 1] {
            let sum: u128 = modulus.add(half(a), y).into();
            assert_eq!(sum, (a + y % m) % m, "{a} + {y} mod {m}");
            let difference: u128 = modulus.subtract(half(a), y).into();
            assert_eq!(difference, (a + m - y % m) % m, "{a} - {y} mod {m}");
        }
    }
}

#[test]
fn reduction_is_exact_at_both_ends_and_around_multiples() {
    for radix in RADICES {
        let wide = u128::from(radix);
        let powers = (1..).map_while(|digits| wide.checked_pow(digits));
        for m in powers.take_while(|power| *power <= 1 << 96) {
            if m <= 1 << 32 {
                judge(Narrow::new(u64::try_from(m).unwrap()), m, 64);
            }
            if m <= Middle::LARGEST {
                judge(Middle::new(u64::try_from(m).unwrap()), m, 128);
                judge(Middle::new(u64::try_from(m).unwrap()), m, 96);
            }
            judge(Wide::new(m), m, 128);
            judge(Wide::new(m), m, 96);
        }
    }
}

#[test]
fn digits_and_numbers_are_inverse() {
    let orders = [
        DigitOrder::MostSignificantFirst,
        DigitOrder::LeastSignificantFirst,
    ];
    for radix in RADICES {
        let digits = Digits::new(Radix::new(radix).unwrap());
        let wide = u128::from(radix);
        let mut power = wide;
        for length in 1.. {
            for number in traps(power, 96).map(|y| y % power).take(100) {
                for order in orders {
                    let mut written = [0_u32; 96];
                    let out = &mut written[..length];
                    digits.write_wide(number, out, order);
                    assert_eq!(digits.number_wide(out, order), number);
                    assert_eq!(slow(radix, out, order), number, "radix {radix}");
                    let Ok(small) = u64::try_from(number) else {
                        continue;
                    };
                    let mut again = [0_u32; 96];
                    digits.write(small, &mut again[..length], order);
                    assert_eq!(written, again, "radix {radix}, {length} digits");
                    assert_eq!(digits.number(&again[..length], order), small);
                }
            }
            power *= wide;
            if power > 1 << 96 {
                break;
            }
        }
    }
}

fn slow(radix: u32, digits: &[u32], order: DigitOrder) -> u128 {
    let mut digits = std::vec::Vec::from(digits);
    if order == DigitOrder::LeastSignificantFirst {
        digits.reverse();
    }
    digits.iter().fold(0, |number, digit| {
        assert!(*digit < radix);
        number * u128::from(radix) + u128::from(*digit)
    })
}
