//! Every kernel against the text of the standard in plain numbers with `%`, over the portable
//! cipher.

use std::vec::Vec;

use super::*;
use crate::arithmetic::Digits;
use crate::cipher::{Algorithm, Backend, Cipher};
use crate::feistel::Family;
use crate::shape::Radix;

#[cfg(feature = "std")]
mod broad;
#[cfg(target_arch = "x86_64")]
mod conversion;
mod texts;

const KEY: [u8; 32] = *b"an example key of 32 bytes, in a";

/// A deterministic stream of numbers.
struct Stream(u64);

impl Stream {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn base(&mut self, family: Family) -> Base {
        match family {
            Family::Ff1 => {
                let number = u128::from(self.next()) << 64 | u128::from(self.next());
                Base([number, number])
            }
            Family::Ff3 => Base([0, 1].map(|_| u128::from(self.next() >> 32) << 96)),
        }
    }

    /// Records with all-zero and all-greatest ones among them.
    fn digits(&mut self, radix: u32, length: usize, count: usize) -> Vec<u32> {
        let mut digits = Vec::new();
        for record in 0..count {
            for _ in 0..length {
                let random = u32::try_from(self.next() >> 33).unwrap() % radix;
                digits.push(match record % 8 {
                    1 => 0,
                    3 => radix - 1,
                    _ => random,
                });
            }
        }
        digits
    }
}

pub(super) fn plan(family: Family, radix: u32, length: usize) -> Plan {
    let (short, long) = (length / 2, length - length / 2);
    let (first, second) = match family {
        Family::Ff1 => (short, long),
        Family::Ff3 => (long, short),
    };
    let power = |digits: usize| u128::from(radix).pow(u32::try_from(digits).unwrap());
    let bits = 128 - (power(long) - 1).leading_zeros();
    let b = bits.div_ceil(8);
    let d = 4 * b.div_ceil(4) + 4;
    let (counter_shift, discard) = match family {
        Family::Ff1 => (8 * b, 128 - 8 * d),
        Family::Ff3 => (96, 0),
    };
    Plan {
        family,
        first,
        second,
        counter_shift,
        discard,
        moduli: Moduli::of([power(first), power(second)], 128 - discard),
        digits: Digits::new(Radix::new(radix).unwrap()),
    }
}

/// The rounds as the standard writes them, on numbers.
fn judge(
    cipher: &Schedule,
    plan: &Plan,
    base: &Base,
    direction: Direction,
    value: &[u32],
) -> Vec<u32> {
    let radix = u128::from(plan.digits.radix());
    let fold = |digits: &mut dyn Iterator<Item = &u32>| {
        digits.fold(0u128, |number, digit| number * radix + u128::from(*digit))
    };
    let number = |digits: &[u32]| match plan.family {
        Family::Ff1 => fold(&mut digits.iter()),
        Family::Ff3 => fold(&mut digits.iter().rev()),
    };
    let (mut a, mut b) = (number(&value[..plan.first]), number(&value[plan.first..]));
    let power = |digits: usize| radix.pow(u32::try_from(digits).unwrap());
    let moduli = [power(plan.first), power(plan.second)];
    let rounds = plan.family.rounds();
    for step in 0..rounds {
        let encrypt = direction == Direction::Encrypt;
        let round = if encrypt { step } else { rounds - 1 - step };
        let parity = usize::try_from(round % 2).unwrap();
        let input = if encrypt { b } else { a };
        let block = base.0[parity] ^ u128::from(round) << plan.counter_shift ^ input;
        let output = plan.family.number(cipher.encrypt(plan.family.block(block)));
        let (y, m) = (output >> plan.discard, moduli[parity]);
        if encrypt {
            (a, b) = (b, (a + y % m) % m);
        } else {
            (a, b) = ((b + m - y % m) % m, a);
        }
    }
    let mut out = Vec::new();
    for (mut half, digits) in [(a, plan.first), (b, plan.second)] {
        let mut written: Vec<u32> = (0..digits)
            .map(|_| {
                let digit = u32::try_from(half % radix).unwrap();
                half /= radix;
                digit
            })
            .collect();
        if plan.family == Family::Ff1 {
            written.reverse();
        }
        out.extend(written);
    }
    out
}

/// Every backend that this machine has, with its algorithm.
fn backends() -> impl Iterator<Item = (Algorithm, Backend)> {
    [Algorithm::Aes, Algorithm::Sm4]
        .into_iter()
        .flat_map(|algorithm| {
            Backend::ALL
                .into_iter()
                .filter(move |backend| backend.serves(algorithm) && backend.is_available())
                .map(move |backend| (algorithm, backend))
        })
}

fn key_sizes(algorithm: Algorithm) -> &'static [usize] {
    match algorithm {
        Algorithm::Aes => &[16, 24, 32],
        Algorithm::Sm4 => &[16],
    }
}

/// One shape and a number of records on one schedule, all forms of records, both kinds of bases.
fn check(schedule: &Schedule, soft: &Schedule, plan: &Plan, count: usize, stream: &mut Stream) {
    let (radix, length) = (plan.digits.radix(), plan.length());
    let digits = stream.digits(radix, length, count);
    let bases: Vec<Base> = (0..count).map(|_| stream.base(plan.family)).collect();
    for direction in [Direction::Encrypt, Direction::Decrypt] {
        for bases in [Bases::One(&bases[0]), Bases::Each(&bases)] {
            let group = Group {
                schedule,
                plan,
                bases,
                direction,
            };
            let want: Vec<u32> = digits
                .chunks(length)
                .enumerate()
                .flat_map(|(i, value)| judge(soft, plan, bases.of(i).unwrap(), direction, value))
                .collect();
            let label = (
                schedule.backend(),
                plan.family,
                radix,
                length,
                direction,
                count,
            );
            let mut longs = digits.clone();
            let done = run(&group, Records::Longs(&mut longs)) * length;
            assert_eq!(longs[..done], want[..done], "{label:?}");
            assert_eq!(longs[done..], digits[done..], "{label:?}");
            let narrow = |digits: &[u32]| -> Option<Vec<u8>> {
                digits
                    .iter()
                    .map(|digit| u8::try_from(*digit).ok())
                    .collect()
            };
            if let (Some(mut bytes), Some(want)) = (narrow(&digits), narrow(&want)) {
                let done = run(&group, Records::Bytes(&mut bytes)) * length;
                assert_eq!(bytes[..done], want[..done], "{label:?}");
            }
            let mut single = digits[..length].to_vec();
            let base = bases.of(0).unwrap();
            if one(schedule, plan, base, direction, &mut single) {
                assert_eq!(single, want[..length], "{label:?}");
            }
        }
    }
}

/// One or two shapes for each kernel, range of moduli and reduction, odd lengths among them.
const SHAPES: [(u32, usize); 61] = [
    (10, 2),
    (10, 3),
    (10, 6),
    (10, 7),
    (10, 8),
    (10, 9),
    (10, 10),
    (10, 11),
    (10, 12),
    (10, 13),
    (10, 14),
    (10, 15),
    (10, 16),
    (10, 17),
    (10, 18),
    (10, 19),
    (10, 20),
    (10, 33),
    (10, 35),
    (10, 37),
    (10, 38),
    (10, 39),
    (10, 40),
    (10, 42),
    (10, 56),
    (2, 20),
    (2, 37),
    (2, 63),
    (2, 64),
    (2, 65),
    (2, 128),
    (2, 129),
    (12, 35),
    (13, 34),
    (16, 16),
    (16, 32),
    (26, 5),
    (36, 5),
    (36, 10),
    (36, 11),
    (36, 12),
    (36, 20),
    (62, 7),
    (62, 13),
    (62, 24),
    (90, 20),
    (91, 20),
    (255, 7),
    (256, 3),
    (256, 8),
    (256, 9),
    (256, 15),
    (256, 16),
    (256, 17),
    (256, 23),
    (256, 24),
    (1000, 2),
    (1000, 17),
    (65_536, 3),
    (65_536, 7),
    (65_536, 8),
];

#[test]
fn every_kernel_computes_what_the_standard_says() {
    let mut stream = Stream(0x1234_5678_9abc_def1);
    for (algorithm, backend) in backends() {
        for &size in key_sizes(algorithm) {
            let soft = Schedule::new(algorithm, &KEY[..size], Backend::Portable).unwrap();
            let schedule = Schedule::new(algorithm, &KEY[..size], backend).unwrap();
            for family in [Family::Ff1, Family::Ff3] {
                for (radix, length) in SHAPES {
                    check(
                        &schedule,
                        &soft,
                        &plan(family, radix, length),
                        71,
                        &mut stream,
                    );
                }
            }
        }
    }
}

#[test]
fn every_number_of_records_comes_out_whole() {
    let mut stream = Stream(0x0bad_cafe_0bad_cafe);
    for (algorithm, backend) in backends() {
        let soft = Schedule::new(algorithm, &KEY[..16], Backend::Portable).unwrap();
        let schedule = Schedule::new(algorithm, &KEY[..16], backend).unwrap();
        for (radix, length) in [(10, 16), (10, 15), (10, 9), (36, 10), (36, 20)] {
            for count in [
                1, 2, 5, 6, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200,
            ] {
                check(
                    &schedule,
                    &soft,
                    &plan(Family::Ff1, radix, length),
                    count,
                    &mut stream,
                );
            }
        }
    }
}

#[test]
fn a_group_without_bases_is_left_alone() {
    for (algorithm, backend) in backends() {
        let schedule = Schedule::new(algorithm, &KEY[..16], backend).unwrap();
        let plan = plan(Family::Ff1, 10, 16);
        let group = Group {
            schedule: &schedule,
            plan: &plan,
            bases: Bases::Each(&[]),
            direction: Direction::Encrypt,
        };
        let mut digits = [3u8; 160];
        assert_eq!(run(&group, Records::Bytes(&mut digits)), 0);
        assert_eq!(digits, [3; 160]);
    }
}
