//! The reductions against `%`.

use super::*;

/// Multiples of the modulus and their neighbours, at both ends and between.
fn traps(m: u128, greatest: u128) -> impl Iterator<Item = u128> {
    let last = greatest / m;
    let mut seed = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835_u128;
    let between = (0..500).map(move |_| {
        seed = seed.wrapping_mul(0xd134_2543_de82_ef95_2545_f491_4f6c_dd1d) | 1;
        (seed >> 1) % (last + 1)
    });
    (0..4)
        .chain(last - 3..=last)
        .chain(between)
        .flat_map(move |k| [(k * m).saturating_sub(1), k * m, (k * m).saturating_add(1)])
        .map(move |y| y.min(greatest))
        .chain([greatest])
}

fn judge<M: Modulus<Half: TryFrom<u128>>>(modulus: M, m: u128, greatest: u128) {
    for y in traps(m, greatest) {
        for a in [0, 1, m / 2, m - 1] {
            let Ok(half) = M::Half::try_from(a) else {
                panic!("half below the modulus")
            };
            assert_eq!(
                modulus.add(half, y).into(),
                (a + y % m) % m,
                "{a} + {y} mod {m}"
            );
            let difference = (a + m - y % m) % m;
            assert_eq!(
                modulus.subtract(half, y).into(),
                difference,
                "{a} - {y} mod {m}"
            );
        }
    }
}

#[test]
fn reductions_are_exact_at_both_ends_and_around_multiples() {
    for radix in [2u128, 3, 7, 10, 26, 36, 62, 255, 256, 1000, 65_535, 65_536] {
        let powers = core::iter::successors(Some(radix), |power: &u128| power.checked_mul(radix));
        for m in powers.take_while(|power| *power <= 1 << 96) {
            Mask64::new(m)
                .into_iter()
                .for_each(|x| judge(x, m, u128::MAX));
            Mask128::new(m)
                .into_iter()
                .for_each(|x| judge(x, m, u128::MAX));
            Quick64::new(m)
                .into_iter()
                .for_each(|x| judge(x, m, u128::MAX >> 32));
            Full64::new(m)
                .into_iter()
                .for_each(|x| judge(x, m, u128::MAX >> 32));
            Quick128::new(m)
                .into_iter()
                .for_each(|x| judge(x, m, u128::MAX));
            Tight128::new(m)
                .into_iter()
                .for_each(|x| judge(x, m, u128::MAX));
        }
    }
}

#[test]
fn estimates_hold_at_the_ends_of_their_ranges() {
    for k in 45..=64 {
        for m in [
            (1 << k) + 1,
            (1 << k) - 1,
            (1 << k) + (1 << (k - 1)) - 1,
            (1 << k) - (1 << 36) - 1,
        ] {
            Full64::new(m)
                .into_iter()
                .for_each(|x| judge(x, m, u128::MAX >> 32));
        }
    }
    for k in 68..96 {
        for m in [(1 << k) + 1, (1 << k) - 1, (1 << k) + (1 << (k - 1)) - 1] {
            Tight128::new(m)
                .into_iter()
                .for_each(|x| judge(x, m, u128::MAX));
        }
    }
}

#[test]
fn moduli_outside_the_range_of_a_reduction_are_refused() {
    assert!(Mask64::new(10).is_none() && Mask64::new(1 << 65).is_none());
    assert!(Mask128::new((1 << 70) + 1).is_none());
    assert!(Quick64::new(1 << 32).is_none() && Quick64::new((1 << 61) + 1).is_none());
    assert!(Full64::new(1 << 44).is_none() && Full64::new((1 << 64) - (1 << 36)).is_none());
    assert!(Tight128::new(1 << 68).is_none() && Tight128::new((1 << 96) + 1).is_none());
    assert!(Quick128::new(1 << 64).is_none() && Quick128::new((1 << 96) + 1).is_none());
}
