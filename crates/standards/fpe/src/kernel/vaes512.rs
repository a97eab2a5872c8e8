//! AES with four blocks per instruction: two sets of sixteen values, software-pipelined.
//!
//! While one set is in its AES rounds, the other does the arithmetic of its round (order of bytes,
//! reduction, addition, exchange of halves, next input), one small step between two AES rounds;
//! then they change places. A walk of n rounds is 2 n half steps, with the first AES and the last
//! arithmetic standing alone.
#![expect(
    unsafe_code,
    reason = "the step into target features, loads and stores"
)]

use core::arch::x86_64::*;

use super::chunks512::{self as chunks, Bases, Set};
use super::lanes512::{self as lanes, Modulus, range};
use super::short::Orders;
use super::{Walk, wipe};
use crate::cipher::Backend;
use crate::feistel::{Direction, Family, Plan};

/// Registers of eight values in a set.
const GROUPS: usize = 2;

/// Calls `$run::<K, FF3, RANGE, ENCRYPT>` for what the arguments say at run time.
macro_rules! dispatch {
    ($keys:expr, $family:expr, $direction:expr, [$($range:ident)+], $chosen:expr, $run:ident $args:tt) => {
        match ($family, $chosen, $direction) {
            $(
                (Family::Ff1, range::$range, Direction::Encrypt) => dispatch!(@keys $keys, $run, false, range::$range, true, $args),
                (Family::Ff1, range::$range, Direction::Decrypt) => dispatch!(@keys $keys, $run, false, range::$range, false, $args),
            )+
            (Family::Ff3, range::PLAIN, Direction::Encrypt) => dispatch!(@keys $keys, $run, true, range::PLAIN, true, $args),
            (Family::Ff3, range::PLAIN, Direction::Decrypt) => dispatch!(@keys $keys, $run, true, range::PLAIN, false, $args),
            (Family::Ff3, range::SMALL, Direction::Encrypt) => dispatch!(@keys $keys, $run, true, range::SMALL, true, $args),
            (Family::Ff3, range::SMALL, Direction::Decrypt) => dispatch!(@keys $keys, $run, true, range::SMALL, false, $args),
            _ => return false,
        }
    };
    (@keys $keys:expr, $run:ident, $ff3:expr, $range:expr, $encrypt:expr, ($($arg:expr),*)) => {
        // SAFETY: the caller has checked that the schedule is one of the VAES-512 backend, which
        // exists only where the processor has what the function asks for.
        unsafe {
            match $keys.len() {
                11 => $run::<11, $ff3, { $range }, $encrypt>($keys, $($arg),*),
                13 => $run::<13, $ff3, { $range }, $encrypt>($keys, $($arg),*),
                15 => $run::<15, $ff3, { $range }, $encrypt>($keys, $($arg),*),
                _ => return false,
            }
        }
    };
}

/// Values of sixteen decimal digits in place, where `zero` is the byte of the digit 0; `false` if
/// this kernel does not serve the schedule.
pub(crate) fn decimal16(walk: &Walk<'_>, values: &mut [[u8; 16]], zero: u8) -> bool {
    if walk.schedule.backend() != Backend::Vaes512 {
        return false;
    }
    let Some(keys) = walk.schedule.aes_keys() else {
        return false;
    };
    let family = walk.plan.family;
    dispatch!(
        keys,
        family,
        walk.direction,
        [PLAIN],
        range::PLAIN,
        run_text(walk, values, zero)
    );
    true
}

/// Values of fewer than sixteen decimal digits; `false` as above.
pub(super) fn short(walk: &Walk<'_>, digits: &mut [u8], orders: &Orders, zero: u8) -> bool {
    if walk.schedule.backend() != Backend::Vaes512 {
        return false;
    }
    let Some(keys) = walk.schedule.aes_keys() else {
        return false;
    };
    let Some(chosen) = lanes::range_of(walk.plan) else {
        return false;
    };
    let family = walk.plan.family;
    dispatch!(
        keys,
        family,
        walk.direction,
        [PLAIN SMALL],
        chosen,
        run_short(walk, digits, orders, zero)
    );
    true
}

/// Halves below 2^32 in 64-bit words, in place; `false` if this kernel does not serve the schedule
/// or the moduli. Both slices are of one length.
pub(crate) fn halves(walk: &Walk<'_>, halves: [&mut [u64]; 2]) -> bool {
    if walk.schedule.backend() != Backend::Vaes512 {
        return false;
    }
    let Some(keys) = walk.schedule.aes_keys() else {
        return false;
    };
    let Some(chosen) = lanes::range_of(walk.plan) else {
        return false;
    };
    let family = walk.plan.family;
    dispatch!(
        keys, family, walk.direction, [PLAIN SMALL LARGE], chosen, run_halves(walk, halves)
    );
    true
}

/// What stays the same for a whole batch.
struct Constants<const K: usize> {
    keys: [__m512i; K],
    counters: [__m512i; 10],
    moduli: [Modulus; 2],
}

macro_rules! aes_round {
    ($c:ident, $busy:expr, $key:expr) => {
        for group in &mut $busy.blocks {
            for block in group {
                *block = _mm512_aesenc_epi128(*block, $c.keys[$key]);
            }
        }
    };
}

macro_rules! last_round {
    ($c:ident, $busy:expr) => {
        for group in &mut $busy.blocks {
            for block in group {
                *block = _mm512_aesenclast_epi128(*block, $c.keys[K - 1]);
            }
        }
    };
}

macro_rules! prepare {
    ($c:ident, $set:expr, $bases:expr, $step:expr) => {
        for g in 0..GROUPS {
            let parity = if ENCRYPT { $step & 1 } else { ($step & 1) ^ 1 };
            $set.blocks[g] =
                lanes::inputs::<FF3>($set.input[g], $c.counters[$step], &$bases[parity][g]);
        }
    };
}

/// AES of the busy set; arithmetic of step `$done` and input of the next step for the idle one.
macro_rules! half_step {
    ($c:ident, $busy:expr, $idle:expr, $bases:expr, $done:expr) => {{
        let modulus = &$c.moduli[if ENCRYPT { $done & 1 } else { ($done & 1) ^ 1 }];
        let zero = _mm512_setzero_si512();
        let mut y = [zero; GROUPS];
        let mut rest = [zero; GROUPS];
        let mut estimate = [_mm512_setzero_pd(); GROUPS];
        aes_round!($c, $busy, 1);
        for g in 0..GROUPS {
            y[g] = lanes::outputs::<FF3>($idle.blocks[g][0], $idle.blocks[g][1], modulus);
        }
        aes_round!($c, $busy, 2);
        aes_round!($c, $busy, 3);
        for g in 0..GROUPS {
            estimate[g] = lanes::estimate(y[g], modulus);
        }
        aes_round!($c, $busy, 4);
        aes_round!($c, $busy, 5);
        for g in 0..GROUPS {
            rest[g] = lanes::rest::<RANGE>(y[g], estimate[g], modulus);
        }
        aes_round!($c, $busy, 6);
        aes_round!($c, $busy, 7);
        for g in 0..GROUPS {
            let sum = lanes::combine::<RANGE, ENCRYPT>($idle.other[g], rest[g], modulus);
            $idle.other[g] = $idle.input[g];
            $idle.input[g] = sum;
        }
        aes_round!($c, $busy, 8);
        aes_round!($c, $busy, 9);
        if $done + 1 < steps::<FF3>() {
            prepare!($c, $idle, $bases, $done + 1);
        }
        for key in 10..K - 1 {
            aes_round!($c, $busy, key);
        }
        last_round!($c, $busy);
    }};
}

const fn steps<const FF3: bool>() -> usize {
    if FF3 { 8 } else { 10 }
}

/// All rounds of both sets.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,vaes,aes,avx2,bmi2")]
fn rounds<const K: usize, const FF3: bool, const RANGE: u8, const ENCRYPT: bool>(
    c: &Constants<K>,
    bases: &[Bases<GROUPS>; 2],
    sets: &mut [Set<GROUPS>; 2],
) {
    let [one, two] = sets;
    prepare!(c, one, bases[0], 0);
    prepare!(c, two, bases[1], 0);
    for key in 1..K - 1 {
        aes_round!(c, one, key);
    }
    last_round!(c, one);
    for step in 0..steps::<FF3>() - 1 {
        half_step!(c, two, one, bases[0], step);
        half_step!(c, one, two, bases[1], step);
    }
    let last = steps::<FF3>() - 1;
    half_step!(c, two, one, bases[0], last);
    let modulus = &c.moduli[usize::from(ENCRYPT)];
    for g in 0..GROUPS {
        let [even, odd] = two.blocks[g];
        let rest = lanes::rests::<FF3, RANGE>(even, odd, modulus);
        let sum = lanes::combine::<RANGE, ENCRYPT>(two.other[g], rest, modulus);
        two.other[g] = two.input[g];
        two.input[g] = sum;
    }
}

impl<const K: usize> Constants<K> {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn new(keys: &[[u8; 16]], plan: &Plan, direction: Direction) -> Self {
        let mut round_keys = [_mm512_setzero_si512(); K];
        for (key, bytes) in round_keys.iter_mut().zip(keys) {
            *key = lanes::all_blocks(bytes);
        }
        let [even, odd] = plan.moduli.values();
        Self {
            counters: lanes::counters(plan, round_keys[0], direction),
            keys: round_keys,
            moduli: [lanes::modulus(even), lanes::modulus(odd)],
        }
    }
}

impl<const K: usize> Drop for Constants<K> {
    fn drop(&mut self) {
        wipe(&mut self.keys);
        wipe(&mut self.counters);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,vaes,aes,avx2,bmi2")]
fn run_text<const K: usize, const FF3: bool, const RANGE: u8, const ENCRYPT: bool>(
    keys: &[[u8; 16]],
    walk: &Walk<'_>,
    values: &mut [[u8; 16]],
    zero: u8,
) {
    let c = Constants::<K>::new(keys, walk.plan, walk.direction);
    let rounds = |bases: &_, sets: &mut _| rounds::<K, FF3, RANGE, ENCRYPT>(&c, bases, sets);
    chunks::text::<GROUPS, FF3, ENCRYPT>(rounds, walk.bases, values, zero);
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,vaes,aes,avx2,bmi2")]
fn run_short<const K: usize, const FF3: bool, const RANGE: u8, const ENCRYPT: bool>(
    keys: &[[u8; 16]],
    walk: &Walk<'_>,
    digits: &mut [u8],
    orders: &Orders,
    zero: u8,
) {
    let c = Constants::<K>::new(keys, walk.plan, walk.direction);
    let rounds = |bases: &_, sets: &mut _| rounds::<K, FF3, RANGE, ENCRYPT>(&c, bases, sets);
    chunks::short::<GROUPS, FF3, ENCRYPT>(rounds, walk.bases, digits, orders, zero);
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,vaes,aes,avx2,bmi2")]
fn run_halves<const K: usize, const FF3: bool, const RANGE: u8, const ENCRYPT: bool>(
    keys: &[[u8; 16]],
    walk: &Walk<'_>,
    halves: [&mut [u64]; 2],
) {
    let c = Constants::<K>::new(keys, walk.plan, walk.direction);
    let rounds = |bases: &_, sets: &mut _| rounds::<K, FF3, RANGE, ENCRYPT>(&c, bases, sets);
    chunks::halves::<GROUPS, FF3, RANGE, ENCRYPT>(rounds, walk.bases, halves);
}
