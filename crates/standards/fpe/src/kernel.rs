//! Many values of one shape at once, and the fast walk of one value.
//!
//! [`run`] takes a group of records as the batch driver made it and chooses: up to sixteen decimal digits
//! go through kernels that read and write the text themselves; other shapes are turned into halves,
//! a tile at a time, which go through vector arithmetic where the moduli fit 32 bits and through
//! [`wave`] where they do not. What the kernels leave (a few records at the end, or everything where
//! no kernel serves) is the driver's.
//!
//! The kernels compute what `crate::feistel` says, on the same [`Plan`] and [`Base`]s; they differ
//! in how many values go through a step together. None of them branches on, divides by or looks up
//! anything with a digit, a half or a key.

#[cfg(target_arch = "x86_64")]
mod aes256;
#[cfg(target_arch = "aarch64")]
mod arm;
#[cfg(target_arch = "x86_64")]
mod blocks;
#[cfg(feature = "std")]
pub(crate) mod broad;
#[cfg(target_arch = "x86_64")]
mod chunks;
#[cfg(target_arch = "x86_64")]
mod chunks256;
#[cfg(target_arch = "x86_64")]
mod chunks512;
#[cfg_attr(not(target_arch = "x86_64"), path = "kernel/digits_none.rs")]
mod digits;
#[cfg(target_arch = "x86_64")]
mod eightway;
#[cfg(target_arch = "x86_64")]
mod lanes256;
#[cfg(target_arch = "x86_64")]
mod lanes512;
mod numbers;
mod octets;
mod quick;
#[cfg(target_arch = "x86_64")]
mod short;
#[cfg(target_arch = "x86_64")]
pub(crate) mod single;
#[cfg(target_arch = "x86_64")]
mod sm4_256;
#[cfg(target_arch = "x86_64")]
mod sm4_512;
#[cfg(target_arch = "x86_64")]
mod sm4_lanes;
#[cfg_attr(
    not(all(target_arch = "x86_64", feature = "std")),
    path = "kernel/symbols_plain.rs"
)]
mod symbols;
mod tiles;
#[cfg(target_arch = "x86_64")]
mod vaes256;
#[cfg(target_arch = "x86_64")]
pub(crate) mod vaes512;
mod wave;
mod waves;

pub(crate) use symbols::Symbols;

use crate::alphabet::Alphabet;
use crate::batch::{Bases, Group, Records};
use crate::cipher::Schedule;
use crate::feistel::{Base, Direction, Moduli, Plan};
use crate::numerals::Numeral;

/// What the kernels know of a group besides its records.
#[derive(Clone, Copy)]
pub(crate) struct Walk<'a> {
    /// The key.
    pub(crate) schedule: &'a Schedule,
    /// Public numbers of the shape.
    pub(crate) plan: &'a Plan,
    /// One base for all records, or one for each.
    pub(crate) bases: &'a [Base],
    /// Which way.
    pub(crate) direction: Direction,
}

impl<'a> Walk<'a> {
    /// For the records from `start` on.
    fn from(&self, start: usize) -> Self {
        let bases = if self.bases.len() == 1 {
            self.bases
        } else {
            self.bases.get(start..).unwrap_or_default()
        };
        Self { bases, ..*self }
    }
}

/// Takes records from the front through all rounds, in place, and returns how many.
pub(crate) fn run(group: &Group<'_>, records: Records<'_>) -> usize {
    let walk = walk_of(group);
    if walk.bases.is_empty() {
        return 0;
    }
    match records {
        Records::Text(text, alphabet) => {
            if is_decimal(alphabet) {
                decimal(&walk, text, b'0')
            } else {
                0
            }
        }
        Records::Bytes(digits) => match decimal(&walk, digits, 0) {
            0 => tiles::run(&walk, digits),
            done => done,
        },
        Records::Words(digits) => tiles::run(&walk, digits),
        Records::Longs(digits) => tiles::run(&walk, digits),
    }
}

/// The same for records that are given as the numbers of their halves; takes them all.
pub(crate) fn run_numbers(group: &Group<'_>, records: &mut [[u64; 2]]) {
    let walk = walk_of(group);
    if !walk.bases.is_empty() {
        numbers::run(&walk, records);
    }
}

fn walk_of<'a>(group: &Group<'a>) -> Walk<'a> {
    Walk {
        schedule: group.schedule,
        plan: group.plan,
        bases: match group.bases {
            Bases::One(base) => core::slice::from_ref(base),
            Bases::Each(bases) => bases,
        },
        direction: group.direction,
    }
}

/// Takes one value through all rounds, in place; `false` if it is left to the common walk.
#[inline]
pub(crate) fn one<T: Numeral>(
    schedule: &Schedule,
    plan: &Plan,
    base: &Base,
    direction: Direction,
    value: &mut [T],
) -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        if plan.length() == 16 && plan.digits.radix() == 10 {
            let digits = T::bytes_mut(value).and_then(|digits| digits.try_into().ok());
            if let Some(digits) = digits {
                return single::decimal16(schedule, (plan.family, direction), base, digits, 0);
            }
        }
        let walk = Walk {
            schedule,
            plan,
            bases: &[],
            direction,
        };
        single::any(&walk, base, value)
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (schedule, plan, base, direction, value);
        false
    }
}

/// The same for text, whose symbols the caller has found in the alphabet; `false` if it is left to
/// the caller, for any alphabet but the decimal digits among others.
#[inline]
pub(crate) fn one_text(walk: &Walk<'_>, base: &Base, alphabet: &Alphabet, text: &mut [u8]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if is_decimal(alphabet) && walk.plan.length() == 16 && walk.plan.digits.radix() == 10 {
        let shape = (walk.plan.family, walk.direction);
        return text
            .try_into()
            .is_ok_and(|text| single::decimal16(walk.schedule, shape, base, text, b'0'));
    }
    let _ = (walk, base, alphabet, text);
    false
}

/// Whether the symbols are the ASCII digits in their order.
fn is_decimal(alphabet: &Alphabet) -> bool {
    matches!(
        alphabet.runs(),
        [run] if run.first == u32::from(b'0') && run.digit == 0 && run.count == 10
    )
}

/// Up to sixteen decimal digits, where `zero` is the byte of the digit 0.
fn decimal(walk: &Walk<'_>, digits: &mut [u8], zero: u8) -> usize {
    if walk.plan.digits.radix() != 10 {
        return 0;
    }
    #[cfg(target_arch = "x86_64")]
    if walk.plan.length() != 16 {
        return short::run(walk, digits, zero);
    }
    let (values, _) = digits.as_chunks_mut::<16>();
    #[cfg(target_arch = "x86_64")]
    if vaes512::decimal16(walk, values, zero)
        || vaes256::decimal16(walk, values, zero)
        || eightway::decimal16(walk, values, zero)
        || sm4_512::decimal16(walk, values, zero)
        || sm4_256::decimal16(walk, values, zero)
    {
        return values.len();
    }
    let _ = (values, zero);
    0
}

impl Moduli {
    /// The two moduli as numbers, that of even rounds first.
    pub(crate) fn values(&self) -> [u128; 2] {
        match self {
            Self::Narrow(moduli) => moduli.map(|m| m.modulus.into()),
            Self::Middle(moduli) => moduli.map(|m| m.modulus.into()),
            Self::Wide(moduli) => moduli.map(|m| m.modulus),
        }
    }
}

/// Overwrites plain data, so that the compiler cannot leave it out.
#[inline(always)]
#[expect(
    unsafe_code,
    reason = "zeros for types that zero is a value of, and a barrier"
)]
pub(crate) fn wipe<T>(value: &mut T) {
    let value: *mut T = value;
    // SAFETY: used on integers, on arrays and SIMD registers of them, and on schedules of round keys; for
    // each of them zeros are a value.
    unsafe { value.write_bytes(0, 1) };
    // Element by element, as `zeroize` does it, would cost more than the arithmetic of a tile. The
    // empty assembly may read all memory as far as the compiler knows, so the zeros are written.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: there is no instruction.
    unsafe {
        core::arch::asm!("/* {0} */", in(reg) value, options(nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    core::hint::black_box(value);
}

#[cfg(test)]
mod tests;
