//! From records in memory to registers and back, a chunk at a time, as text for `super::chunks256` and
//! `super::chunks512` to fill in.
//!
//! What happens in between is the caller's: a walk over two sets of values. The last chunk is filled up with
//! dummy values that are never written out, so there is no second arithmetic for tails.

/// Defines chunks over one width of registers. With `blocks`, a set has room for its blocks as well.
macro_rules! chunks {
    (
        $features:literal, $Register:ty, $zero:ident, $load:ident, $store:ident, $and:ident,
        $shuffle:ident, $set_bytes:ident, $set_lanes:ident, $each:path $(, $blocks:ident)?
    ) => {
        /// Registers of a set, at most.
        const MOST: usize = 4;
        /// Values of a chunk, at most.
        const WIDEST: usize = 2 * MOST * LANES;

        /// Values on their way, in `G` registers for each half.
        pub(super) struct Set<const G: usize> {
            /// The halves that go into the blocks.
            pub(super) input: [$Register; G],
            /// The halves that y is added to.
            pub(super) other: [$Register; G],
            $(
                /// Blocks of even and of odd lanes.
                pub(super) $blocks: [[$Register; 2]; G],
            )?
        }

        /// Bases of one set: by parity of the round, group, and parity of the lane.
        pub(super) type Bases<const G: usize> = [[[$Register; 2]; G]; 2];

        impl<const G: usize> Set<G> {
            #[inline]
            #[target_feature(enable = $features)]
            fn empty() -> Self {
                let zero = [$zero(); G];
                Self {
                    input: zero,
                    other: zero,
                    $($blocks: [[$zero(); 2]; G],)?
                }
            }

            /// Puts first and second halves where the direction wants them.
            #[inline]
            #[target_feature(enable = $features)]
            fn put<const ENCRYPT: bool>(&mut self, g: usize, first: $Register, second: $Register) {
                (self.input[g], self.other[g]) = if ENCRYPT {
                    (second, first)
                } else {
                    (first, second)
                };
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn take<const ENCRYPT: bool>(&self, g: usize) -> ($Register, $Register) {
                if ENCRYPT {
                    (self.other[g], self.input[g])
                } else {
                    (self.input[g], self.other[g])
                }
            }
        }

        /// The bases of a chunk of values, in the order that the lanes have.
        #[inline]
        #[target_feature(enable = $features)]
        fn chunk_bases<const G: usize, const FF3: bool>(
            bases: &[Base],
            start: usize,
            order: Order,
        ) -> [Bases<G>; 2] {
            let base = |i: usize| bases.get(start + i).unwrap_or(&bases[bases.len() - 1]);
            let mut out = [[[[$zero(); 2]; G]; 2]; 2];
            for (s, set) in out.iter_mut().enumerate() {
                for g in 0..G {
                    let at = (s * G + g) * LANES;
                    for lane in 0..2 {
                        let values = order.of(lane).map(|i| base(at + i));
                        set[0][g][lane] = lanes::bases::<FF3>(values, 0);
                        set[1][g][lane] = if FF3 {
                            lanes::bases::<FF3>(values, 1)
                        } else {
                            set[0][g][lane]
                        };
                    }
                }
            }
            out
        }

        #[target_feature(enable = $features)]
        pub(super) fn text<const G: usize, const FF3: bool, const ENCRYPT: bool>(
            rounds: impl Fn(&[Bases<G>; 2], &mut [Set<G>; 2]),
            bases: &[Base],
            values: &mut [[u8; 16]],
            zero: u8,
        ) {
            let mut constant = chunk_bases::<G, FF3>(bases, 0, Order::Text);
            let mut sets = [Set::empty(), Set::empty()];
            let width = const { 2 * G * LANES };
            let mut start = 0;
            for chunk in values.chunks_mut(width) {
                if bases.len() > 1 {
                    constant = chunk_bases::<G, FF3>(bases, start, Order::Text);
                }
                if chunk.len() == width {
                    text_chunk::<G, FF3, ENCRYPT>(&rounds, &constant, &mut sets, chunk, zero);
                } else {
                    let mut padded = [[zero; 16]; WIDEST];
                    padded[..chunk.len()].copy_from_slice(chunk);
                    text_chunk::<G, FF3, ENCRYPT>(
                        &rounds,
                        &constant,
                        &mut sets,
                        &mut padded[..width],
                        zero,
                    );
                    chunk.copy_from_slice(&padded[..chunk.len()]);
                    wipe(&mut padded);
                }
                start += width;
            }
            wipe(&mut constant);
            wipe(&mut sets);
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn text_chunk<const G: usize, const FF3: bool, const ENCRYPT: bool>(
            rounds: &impl Fn(&[Bases<G>; 2], &mut [Set<G>; 2]),
            bases: &[Bases<G>; 2],
            sets: &mut [Set<G>; 2],
            values: &mut [[u8; 16]],
            zero: u8,
        ) {
            let zero = $set_bytes(zero.cast_signed());
            assert!(values.len() == 2 * G * LANES, "a chunk fills all lanes");
            let registers: *mut $Register = values.as_mut_ptr().cast();
            for s in 0..2 {
                for g in 0..G {
                    let at = 2 * (s * G + g);
                    // SAFETY: the chunk was found to have as many values as 4 G registers hold, and
                    // `at + 1` is below 4 G.
                    let text = unsafe {
                        [
                            $load(registers.add(at)),
                            $load(registers.add(at + 1)),
                        ]
                    };
                    let (first, second) = lanes::parse::<FF3>(text, zero);
                    sets[s].put::<ENCRYPT>(g, first, second);
                }
            }
            rounds(bases, sets);
            for s in 0..2 {
                for g in 0..G {
                    let at = 2 * (s * G + g);
                    let (first, second) = sets[s].take::<ENCRYPT>(g);
                    let [low, high] = lanes::print::<FF3>(first, second, zero);
                    // SAFETY: as above.
                    unsafe {
                        $store(registers.add(at), low);
                        $store(registers.add(at + 1), high);
                    }
                }
            }
        }

        /// Values that a register holds as text.
        const TEXTS: usize = LANES / 2;

        /// Constants of a shape of fewer than sixteen decimal digits.
        struct Form {
            length: usize,
            read: $Register,
            write: $Register,
            behind: __m128i,
            /// The digit 0 wherever a digit was read to.
            zero_in: $Register,
            zero_out: $Register,
        }

        impl Form {
            #[target_feature(enable = $features)]
            fn new(orders: &Orders, zero: u8) -> Self {
                let (read, zero_out) = ($each(&orders.read), $set_bytes(zero.cast_signed()));
                Self {
                    length: orders.length,
                    read,
                    write: $each(&orders.write),
                    behind: load(&orders.behind),
                    zero_in: $shuffle(zero_out, read),
                    zero_out,
                }
            }
        }

        /// As [`text`] for values of fewer than sixteen digits, one after the other.
        #[target_feature(enable = $features)]
        pub(super) fn short<const G: usize, const FF3: bool, const ENCRYPT: bool>(
            rounds: impl Fn(&[Bases<G>; 2], &mut [Set<G>; 2]),
            bases: &[Base],
            digits: &mut [u8],
            orders: &Orders,
            zero: u8,
        ) {
            let form = Form::new(orders, zero);
            let mut constant = chunk_bases::<G, FF3>(bases, 0, Order::Text);
            let mut sets = [Set::empty(), Set::empty()];
            let (width, whole) = (const { 2 * G * LANES }, 2 * G * LANES * form.length);
            let (mut rest, mut start) = (digits, 0);
            while !rest.is_empty() {
                if bases.len() > 1 {
                    constant = chunk_bases::<G, FF3>(bases, start, Order::Text);
                }
                let used = whole.min(rest.len());
                if rest.len() >= whole + 16 - form.length {
                    short_chunk::<G, ENCRYPT>(&rounds, &constant, &mut sets, rest, &form);
                } else {
                    let mut padded = [zero; 16 * WIDEST];
                    padded[..used].copy_from_slice(&rest[..used]);
                    short_chunk::<G, ENCRYPT>(&rounds, &constant, &mut sets, &mut padded, &form);
                    rest[..used].copy_from_slice(&padded[..used]);
                    wipe(&mut padded);
                }
                rest = rest.split_at_mut(used).1;
                start += width;
            }
            wipe(&mut constant);
            wipe(&mut sets);
        }

        /// A chunk of values at the front of `digits`, and as many bytes more as its last value is shorter than
        /// sixteen: they are loaded with it, and stored as they were.
        #[inline]
        #[target_feature(enable = $features)]
        fn short_chunk<const G: usize, const ENCRYPT: bool>(
            rounds: &impl Fn(&[Bases<G>; 2], &mut [Set<G>; 2]),
            bases: &[Bases<G>; 2],
            sets: &mut [Set<G>; 2],
            digits: &mut [u8],
            form: &Form,
        ) {
            let length = form.length;
            assert!(
                length <= 16 && digits.len() >= (2 * G * LANES - 1) * length + 16,
                "a chunk fills all lanes, and the last value can be loaded whole"
            );
            let at: *mut u8 = digits.as_mut_ptr();
            // SAFETY: the load begins at the last value of the chunk, behind which there are sixteen bytes.
            let last = unsafe { _mm_loadu_si128(at.add((2 * G * LANES - 1) * length).cast()) };
            for s in 0..2 {
                for g in 0..G {
                    let mut text = [$zero(); 2];
                    for half in 0..2 {
                        let mut parts = [_mm_setzero_si128(); TEXTS];
                        for (i, part) in parts.iter_mut().enumerate() {
                            let value = (2 * (s * G + g) + half) * TEXTS + i;
                            // SAFETY: a value of the chunk, from which on there are sixteen bytes.
                            *part = unsafe { _mm_loadu_si128(at.add(value * length).cast()) };
                        }
                        text[half] = $shuffle(lanes::join(parts), form.read);
                    }
                    let (first, second) = lanes::parse::<false>(text, form.zero_in);
                    sets[s].put::<ENCRYPT>(g, first, second);
                }
            }
            rounds(bases, sets);
            for s in 0..2 {
                for g in 0..G {
                    let (first, second) = sets[s].take::<ENCRYPT>(g);
                    let text = lanes::print::<false>(first, second, form.zero_out);
                    for half in 0..2 {
                        let parts = lanes::split($shuffle(text[half], form.write));
                        for (i, part) in parts.into_iter().enumerate() {
                            let value = (2 * (s * G + g) + half) * TEXTS + i;
                            // What is stored behind a value, the next one overwrites.
                            let whole = if value == 2 * G * LANES - 1 {
                                _mm_blendv_epi8(part, last, form.behind)
                            } else {
                                part
                            };
                            // SAFETY: as above.
                            unsafe { _mm_storeu_si128(at.add(value * length).cast(), whole) }
                        }
                    }
                }
            }
        }

        #[target_feature(enable = $features)]
        pub(super) fn halves<const G: usize, const FF3: bool, const RANGE: u8, const ENCRYPT: bool>(
            rounds: impl Fn(&[Bases<G>; 2], &mut [Set<G>; 2]),
            bases: &[Base],
            halves: [&mut [u64]; 2],
        ) {
            let mut constant = chunk_bases::<G, FF3>(bases, 0, Order::Natural);
            let mut sets = [Set::empty(), Set::empty()];
            let width = const { 2 * G * LANES };
            let mut start = 0;
            let [first, second] = halves;
            for (a, b) in first.chunks_mut(width).zip(second.chunks_mut(width)) {
                if bases.len() > 1 {
                    constant = chunk_bases::<G, FF3>(bases, start, Order::Natural);
                }
                let mut padded = [[0u64; WIDEST]; 2];
                padded[0][..a.len()].copy_from_slice(a);
                padded[1][..b.len()].copy_from_slice(b);
                halves_chunk::<G, RANGE, ENCRYPT>(&rounds, &constant, &mut sets, &mut padded);
                a.copy_from_slice(&padded[0][..a.len()]);
                b.copy_from_slice(&padded[1][..b.len()]);
                wipe(&mut padded);
                start += width;
            }
            wipe(&mut constant);
            wipe(&mut sets);
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn halves_chunk<const G: usize, const RANGE: u8, const ENCRYPT: bool>(
            rounds: &impl Fn(&[Bases<G>; 2], &mut [Set<G>; 2]),
            bases: &[Bases<G>; 2],
            sets: &mut [Set<G>; 2],
            halves: &mut [[u64; WIDEST]; 2],
        ) {
            let [first, second] = halves
                .each_mut()
                .map(|half| half.as_mut_ptr().cast::<$Register>());
            for s in 0..2 {
                for g in 0..G {
                    let at = s * G + g;
                    // SAFETY: each array holds 2 MOST registers, and `at` is below 2 G.
                    let (a, b) = unsafe {
                        (
                            $load(first.add(at)),
                            $load(second.add(at)),
                        )
                    };
                    sets[s].put::<ENCRYPT>(g, a, b);
                }
            }
            rounds(bases, sets);
            let whole = $set_lanes(if RANGE == super::lanes512::range::LARGE {
                -1
            } else {
                0xffff_ffff
            });
            for s in 0..2 {
                for g in 0..G {
                    let at = s * G + g;
                    let (a, b) = sets[s].take::<ENCRYPT>(g);
                    // SAFETY: as above.
                    unsafe {
                        $store(first.add(at), $and(a, whole));
                        $store(second.add(at), $and(b, whole));
                    }
                }
            }
        }
    };
}
pub(super) use chunks;
