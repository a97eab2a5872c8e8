//! The SM4 kernel over one width of registers, as text for `super::sm4_256` and `super::sm4_512` to fill in: the
//! blocks of two sets are transposed so that a register holds the same state word of many of them.

/// Defines the kernel of one backend. The ranges are those that its lanes serve for FF1.
macro_rules! sm4_kernel {
    (
        $features:literal, $backend:path, $Register:ty, $zero:ident, $shuffle:ident, $each:path,
        $encrypt:ident, [$($range:ident)+]
    ) => {
        /// Registers of a set; the blocks of a set fill as many groups of four registers as the set has
        /// pairs of these.
        const GROUPS: usize = 4;

        /// Values of sixteen decimal digits in place, where `zero` is the byte of the digit 0; `false` if
        /// this kernel does not serve the schedule.
        pub(crate) fn decimal16(walk: &Walk<'_>, values: &mut [[u8; 16]], zero: u8) -> bool {
            if walk.schedule.backend() != $backend {
                return false;
            }
            let Some(keys) = walk.schedule.sm4_keys() else {
                return false;
            };
            dispatch!(walk, range::PLAIN, [PLAIN], text(keys, walk, values, zero));
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
            let Some(keys) = walk.schedule.sm4_keys() else {
                return false;
            };
            let Some(chosen) = lanes::range_of(walk.plan) else {
                return false;
            };
            dispatch!(walk, chosen, [PLAIN SMALL], short_text(keys, walk, digits, orders, zero));
            true
        }

        /// Halves in 64-bit words, in place; `false` if this kernel does not serve the schedule
        /// or the moduli. Both slices are of one length.
        pub(crate) fn halves(walk: &Walk<'_>, halves: [&mut [u64]; 2]) -> bool {
            if walk.schedule.backend() != $backend {
                return false;
            }
            let Some(keys) = walk.schedule.sm4_keys() else {
                return false;
            };
            let Some(chosen) = lanes::range_of(walk.plan) else {
                return false;
            };
            dispatch!(walk, chosen, [$($range)+], numbers(keys, walk, halves));
            true
        }

        /// What stays the same for a whole batch.
        struct Constants<'a> {
            keys: &'a [u32; 32],
            counters: [$Register; 10],
            moduli: [Modulus; 2],
        }

        impl<'a> Constants<'a> {
            #[target_feature(enable = $features)]
            fn new(keys: &'a [u32; 32], plan: &Plan, direction: Direction) -> Self {
                let [even, odd] = plan.moduli.values();
                Self {
                    keys,
                    counters: lanes::counters(plan, $zero(), direction),
                    moduli: [lanes::modulus(even), lanes::modulus(odd)],
                }
            }
        }

        #[target_feature(enable = $features)]
        fn text<const FF3: bool, const RANGE: u8, const ENCRYPT: bool>(
            keys: &[u32; 32],
            walk: &Walk<'_>,
            values: &mut [[u8; 16]],
            zero: u8,
        ) {
            let c = Constants::new(keys, walk.plan, walk.direction);
            let rounds = |bases: &_, sets: &mut _| rounds::<FF3, RANGE, ENCRYPT>(&c, bases, sets);
            chunks::text::<GROUPS, FF3, ENCRYPT>(rounds, walk.bases, values, zero);
        }

        #[target_feature(enable = $features)]
        fn short_text<const FF3: bool, const RANGE: u8, const ENCRYPT: bool>(
            keys: &[u32; 32],
            walk: &Walk<'_>,
            digits: &mut [u8],
            orders: &Orders,
            zero: u8,
        ) {
            let c = Constants::new(keys, walk.plan, walk.direction);
            let rounds = |bases: &_, sets: &mut _| rounds::<FF3, RANGE, ENCRYPT>(&c, bases, sets);
            chunks::short::<GROUPS, FF3, ENCRYPT>(rounds, walk.bases, digits, orders, zero);
        }

        #[target_feature(enable = $features)]
        fn numbers<const FF3: bool, const RANGE: u8, const ENCRYPT: bool>(
            keys: &[u32; 32],
            walk: &Walk<'_>,
            halves: [&mut [u64]; 2],
        ) {
            let c = Constants::new(keys, walk.plan, walk.direction);
            let rounds = |bases: &_, sets: &mut _| rounds::<FF3, RANGE, ENCRYPT>(&c, bases, sets);
            chunks::halves::<GROUPS, FF3, RANGE, ENCRYPT>(rounds, walk.bases, halves);
        }

        /// All rounds of both sets, whose blocks are encrypted together.
        #[target_feature(enable = $features)]
        fn rounds<const FF3: bool, const RANGE: u8, const ENCRYPT: bool>(
            c: &Constants<'_>,
            bases: &[Bases<GROUPS>; 2],
            sets: &mut [Set<GROUPS>; 2],
        ) {
            let words = $each(&WORDS);
            let mut blocks = [[$zero(); 4]; GROUPS];
            for step in 0..if FF3 { 8 } else { 10 } {
                let parity = if ENCRYPT { step & 1 } else { (step & 1) ^ 1 };
                for s in 0..2 {
                    for g in 0..GROUPS {
                        let [even, odd] =
                            lanes::inputs::<FF3>(sets[s].input[g], c.counters[step], &bases[s][parity][g]);
                        let at = s * GROUPS + g;
                        blocks[at / 2][2 * (at % 2)] = $shuffle(even, words);
                        blocks[at / 2][2 * (at % 2) + 1] = $shuffle(odd, words);
                    }
                }
                $encrypt(c.keys, &mut blocks);
                let modulus = &c.moduli[parity];
                for s in 0..2 {
                    for g in 0..GROUPS {
                        let at = s * GROUPS + g;
                        let even = $shuffle(blocks[at / 2][2 * (at % 2)], words);
                        let odd = $shuffle(blocks[at / 2][2 * (at % 2) + 1], words);
                        let rest = lanes::rests::<FF3, RANGE>(even, odd, modulus);
                        let set = &mut sets[s];
                        let sum = lanes::combine::<RANGE, ENCRYPT>(set.other[g], rest, modulus);
                        set.other[g] = set.input[g];
                        set.input[g] = sum;
                    }
                }
            }
            wipe(&mut blocks);
        }
    };
}
pub(super) use sm4_kernel;

/// Calls `$run::<FF3, RANGE, ENCRYPT>` for what the arguments say at run time.
macro_rules! dispatch {
    ($walk:expr, $chosen:expr, [$($range:ident)+], $run:ident $args:tt) => {
        match ($walk.plan.family, $chosen, $walk.direction) {
            $(
                (Family::Ff1, range::$range, Direction::Encrypt) => dispatch!(@ $run, false, $range, true, $args),
                (Family::Ff1, range::$range, Direction::Decrypt) => dispatch!(@ $run, false, $range, false, $args),
            )+
            (Family::Ff3, range::PLAIN, Direction::Encrypt) => dispatch!(@ $run, true, PLAIN, true, $args),
            (Family::Ff3, range::PLAIN, Direction::Decrypt) => dispatch!(@ $run, true, PLAIN, false, $args),
            (Family::Ff3, range::SMALL, Direction::Encrypt) => dispatch!(@ $run, true, SMALL, true, $args),
            (Family::Ff3, range::SMALL, Direction::Decrypt) => dispatch!(@ $run, true, SMALL, false, $args),
            _ => return false,
        }
    };
    (@ $run:ident, $ff3:expr, $range:ident, $encrypt:expr, ($($arg:expr),*)) => {
        // SAFETY: the caller has checked that the schedule is one of this backend, which exists
        // only where the processor has what the function asks for.
        unsafe { $run::<$ff3, { range::$range }, $encrypt>($($arg),*) }
    };
}
pub(super) use dispatch;
