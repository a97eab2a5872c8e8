//! The kernel of one AES instruction set with arithmetic on AVX2 registers, as text for
//! `super::eightway` and `super::vaes256` to fill in.

/// Defines the kernel of one AES instruction set: two sets, of which one is in its AES rounds while
/// the other does arithmetic. There are too few registers to interleave the two by hand; the
/// processor does it, as neither depends on the other.
macro_rules! aes_kernel {
    (
        $features:literal, $backend:path, $Block:ty, $Key:ty, $key:path, $wide_key:path,
        $split:ident, $join:ident, $round:ident, $last:ident
    ) => {
        /// What stays the same for a whole batch.
        struct Constants<const K: usize> {
            keys: [$Key; K],
            counters: [__m256i; 10],
            moduli: [Modulus; 2],
        }

        impl<const K: usize> Constants<K> {
            #[target_feature(enable = $features)]
            fn new(keys: &[[u8; 16]; K], plan: &Plan, direction: Direction) -> Self {
                let mut round_keys = [$key(&keys[0]); K];
                for (key, bytes) in round_keys.iter_mut().zip(keys) {
                    *key = $key(bytes);
                }
                let [even, odd] = plan.moduli.values();
                Self {
                    counters: lanes::counters(plan, $wide_key(&keys[0]), direction),
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

        /// Values of sixteen decimal digits in place, where `zero` is the byte of the digit 0;
        /// `false` if this kernel does not serve the schedule.
        pub(crate) fn decimal16(walk: &Walk<'_>, values: &mut [[u8; 16]], zero: u8) -> bool {
            if walk.schedule.backend() != $backend {
                return false;
            }
            let Some(keys) = walk.schedule.aes_keys() else { return false };
            dispatch!(keys, walk, range::PLAIN, [PLAIN], text(walk, values, zero));
            true
        }

        /// Values of fewer than sixteen decimal digits; `false` as above.
        pub(super) fn short(
            walk: &Walk<'_>,
            digits: &mut [u8],
            orders: &Orders,
            zero: u8,
        ) -> bool {
            if walk.schedule.backend() != $backend {
                return false;
            }
            let Some(keys) = walk.schedule.aes_keys() else { return false };
            let Some(chosen) = lanes::range_of(walk.plan) else { return false };
            dispatch!(keys, walk, chosen, [PLAIN SMALL], short_text(walk, digits, orders, zero));
            true
        }

        /// Halves in 64-bit words, in place; `false` if this kernel does not serve the schedule or
        /// the moduli. Both slices are of one length.
        pub(crate) fn halves(walk: &Walk<'_>, halves: [&mut [u64]; 2]) -> bool {
            if walk.schedule.backend() != $backend {
                return false;
            }
            let Some(keys) = walk.schedule.aes_keys() else { return false };
            let Some(chosen) = lanes::range_of(walk.plan) else { return false };
            dispatch!(keys, walk, chosen, [PLAIN SMALL], numbers(walk, halves));
            true
        }

        #[target_feature(enable = $features)]
        fn text<const K: usize, const FF3: bool, const RANGE: u8, const ENCRYPT: bool>(
            keys: &[[u8; 16]; K],
            walk: &Walk<'_>,
            values: &mut [[u8; 16]],
            zero: u8,
        ) {
            let c = Constants::new(keys, walk.plan, walk.direction);
            let rounds = |bases: &_, sets: &mut _| rounds::<K, FF3, RANGE, ENCRYPT>(&c, bases, sets);
            chunks::text::<GROUPS, FF3, ENCRYPT>(rounds, walk.bases, values, zero);
        }

        #[target_feature(enable = $features)]
        fn short_text<const K: usize, const FF3: bool, const RANGE: u8, const ENCRYPT: bool>(
            keys: &[[u8; 16]; K],
            walk: &Walk<'_>,
            digits: &mut [u8],
            orders: &Orders,
            zero: u8,
        ) {
            let c = Constants::new(keys, walk.plan, walk.direction);
            let rounds = |bases: &_, sets: &mut _| rounds::<K, FF3, RANGE, ENCRYPT>(&c, bases, sets);
            chunks::short::<GROUPS, FF3, ENCRYPT>(rounds, walk.bases, digits, orders, zero);
        }

        #[target_feature(enable = $features)]
        fn numbers<const K: usize, const FF3: bool, const RANGE: u8, const ENCRYPT: bool>(
            keys: &[[u8; 16]; K],
            walk: &Walk<'_>,
            halves: [&mut [u64]; 2],
        ) {
            let c = Constants::new(keys, walk.plan, walk.direction);
            let rounds = |bases: &_, sets: &mut _| rounds::<K, FF3, RANGE, ENCRYPT>(&c, bases, sets);
            chunks::halves::<GROUPS, FF3, RANGE, ENCRYPT>(rounds, walk.bases, halves);
        }

        /// All rounds of both sets.
        #[target_feature(enable = $features)]
        fn rounds<const K: usize, const FF3: bool, const RANGE: u8, const ENCRYPT: bool>(
            c: &Constants<K>,
            bases: &[Bases<GROUPS>; 2],
            sets: &mut [Set<GROUPS>; 2],
        ) {
            let steps = if FF3 { 8 } else { 10 };
            let mut blocks = encrypted::<K, FF3, ENCRYPT>(c, &bases[0], &sets[0], 0);
            for step in 0..steps {
                let other = encrypted::<K, FF3, ENCRYPT>(c, &bases[1], &sets[1], step);
                absorb::<K, FF3, RANGE, ENCRYPT>(c, &mut sets[0], &blocks, step);
                if step + 1 < steps {
                    blocks = encrypted::<K, FF3, ENCRYPT>(c, &bases[0], &sets[0], step + 1);
                }
                absorb::<K, FF3, RANGE, ENCRYPT>(c, &mut sets[1], &other, step);
            }
        }

        /// The output blocks of a step.
        #[inline]
        #[target_feature(enable = $features)]
        fn encrypted<const K: usize, const FF3: bool, const ENCRYPT: bool>(
            c: &Constants<K>,
            bases: &Bases<GROUPS>,
            set: &Set<GROUPS>,
            step: usize,
        ) -> [[$Block; 2]; GROUPS] {
            let parity = if ENCRYPT { step & 1 } else { (step & 1) ^ 1 };
            let mut blocks = [[$split(_mm256_setzero_si256()); 2]; GROUPS];
            for g in 0..GROUPS {
                let [even, odd] =
                    lanes::inputs::<FF3>(set.input[g], c.counters[step], &bases[parity][g]);
                blocks[g] = [$split(even), $split(odd)];
            }
            for key in &c.keys[1..K - 1] {
                for group in &mut blocks {
                    *group = [$round(group[0], *key), $round(group[1], *key)];
                }
            }
            for group in &mut blocks {
                *group = [$last(group[0], c.keys[K - 1]), $last(group[1], c.keys[K - 1])];
            }
            blocks
        }

        /// The arithmetic of a step, and the exchange of halves.
        #[inline]
        #[target_feature(enable = $features)]
        fn absorb<const K: usize, const FF3: bool, const RANGE: u8, const ENCRYPT: bool>(
            c: &Constants<K>,
            set: &mut Set<GROUPS>,
            blocks: &[[$Block; 2]; GROUPS],
            step: usize,
        ) {
            let modulus = &c.moduli[if ENCRYPT { step & 1 } else { (step & 1) ^ 1 }];
            for g in 0..GROUPS {
                let (even, odd) = ($join(blocks[g][0]), $join(blocks[g][1]));
                let rest = lanes::rests::<FF3, RANGE>(even, odd, modulus);
                let sum = lanes::combine::<RANGE, ENCRYPT>(set.other[g], rest, modulus);
                set.other[g] = set.input[g];
                set.input[g] = sum;
            }
        }
    };
}
pub(super) use aes_kernel;

/// Calls `$run::<K, FF3, RANGE, ENCRYPT>` for what the arguments say at run time.
macro_rules! dispatch {
    ($keys:expr, $walk:expr, $chosen:expr, [$($range:ident)+], $run:ident $args:tt) => {
        match ($walk.plan.family, $chosen, $walk.direction) {
            $(
                (Family::Ff1, range::$range, Direction::Encrypt) => dispatch!(@keys $keys, $run, false, range::$range, true, $args),
                (Family::Ff1, range::$range, Direction::Decrypt) => dispatch!(@keys $keys, $run, false, range::$range, false, $args),
                (Family::Ff3, range::$range, Direction::Encrypt) => dispatch!(@keys $keys, $run, true, range::$range, true, $args),
                (Family::Ff3, range::$range, Direction::Decrypt) => dispatch!(@keys $keys, $run, true, range::$range, false, $args),
            )+
            _ => return false,
        }
    };
    (@keys $keys:expr, $run:ident, $ff3:expr, $range:expr, $encrypt:expr, ($($arg:expr),*)) => {
        // SAFETY: the caller has checked that the schedule is one of this backend, which exists
        // only where the processor has what the function asks for.
        unsafe {
            if let Ok(keys) = <&[[u8; 16]; 11]>::try_from($keys) {
                $run::<11, $ff3, { $range }, $encrypt>(keys, $($arg),*);
            } else if let Ok(keys) = <&[[u8; 16]; 13]>::try_from($keys) {
                $run::<13, $ff3, { $range }, $encrypt>(keys, $($arg),*);
            } else if let Ok(keys) = <&[[u8; 16]; 15]>::try_from($keys) {
                $run::<15, $ff3, { $range }, $encrypt>(keys, $($arg),*);
            } else {
                return false;
            }
        }
    };
}
pub(super) use dispatch;
