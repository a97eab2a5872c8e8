//! Digits of numbers two by two, from tables.

/// Pairs of digits of a radix, in their order.
pub(super) struct Pairs<const RADIX: u64, const COUNT: usize>([[u16; 2]; COUNT]);

pub(super) static DIGITS: Pairs<10, 100> = Pairs::new();
pub(super) static EITHER: Pairs<36, 1_296> = Pairs::new();
pub(super) static LETTERS: Pairs<26, 676> = Pairs::new();

impl<const RADIX: u64, const COUNT: usize> Pairs<RADIX, COUNT> {
    #[expect(clippy::cast_possible_truncation, reason = "digits below 36")]
    const fn new() -> Self {
        let mut pairs = [[0; 2]; COUNT];
        let mut place = 0;
        while place < COUNT {
            pairs[place] = [(place as u64 / RADIX) as u16, (place as u64 % RADIX) as u16];
            place += 1;
        }
        Self(pairs)
    }
}

/// The digits of a number, most significant first. The radix is part of the type, so that divisions become
/// multiplications.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "remainders below the square of a radix of at most 36"
)]
pub(super) fn spread<const RADIX: u64, const COUNT: usize>(
    mut number: u64,
    pairs: &Pairs<RADIX, COUNT>,
    out: &mut [u16],
) {
    let (first, places) = out.as_rchunks_mut::<2>();
    for place in places.iter_mut().rev() {
        let pair = (number % (RADIX * RADIX)) as usize;
        *place = pairs.0.get(pair).copied().unwrap_or_default();
        number /= RADIX * RADIX;
    }
    if let [place] = first {
        *place = (number % RADIX) as u16;
    }
}
