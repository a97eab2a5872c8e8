//! Eight places of an account number in a word, the first in the lowest byte: their number, the decimal digits that
//! they are to MOD 97, and the way back.
//!
//! All bytes go through a step at once: two become one number of 16 bits, two of those one of 32, and so on. Where
//! fewer than eight places are in a word they fill it from behind, and zeros stand before them.

const EACH: u64 = 0x0101_0101_0101_0101;
const BYTES: u64 = 0x00ff_00ff_00ff_00ff;
const PAIRS: u64 = 0x0000_ffff_0000_ffff;
const QUADS: u64 = 0x0000_0000_ffff_ffff;

/// A byte in all places.
pub(super) const fn each(byte: u8) -> u64 {
    EACH * byte as u64
}

/// The numbers that two places each are, four in a word. Of codes up to 35, for a radix up to 100.
#[inline(always)]
pub(super) const fn pairs<const RADIX: u64>(word: u64) -> u64 {
    (word & BYTES)
        .wrapping_mul(RADIX)
        .wrapping_add(word >> 8 & BYTES)
}

/// The number that four pairs are.
#[inline(always)]
pub(super) const fn joined<const RADIX: u64>(pairs: u64) -> u64 {
    let quads = (pairs & PAIRS)
        .wrapping_mul(const { RADIX.pow(2) })
        .wrapping_add(pairs >> 16 & PAIRS);
    (quads & QUADS)
        .wrapping_mul(const { RADIX.pow(4) })
        .wrapping_add(quads >> 32)
}

/// The number that eight places are.
#[inline(always)]
pub(super) const fn number<const RADIX: u64>(word: u64) -> u64 {
    joined::<RADIX>(pairs::<RADIX>(word))
}

/// How many of eight codes are letters.
#[inline(always)]
pub(super) const fn letters(word: u64) -> u64 {
    let each = word.wrapping_add(each(0x80 - 10)) >> 7 & EACH;
    each.wrapping_mul(EACH) >> 56
}

/// The eight decimal digits of a number.
#[inline(always)]
pub(super) const fn decimal(number: u64) -> u64 {
    let upper = number / 10_000;
    let quads = upper | number.wrapping_sub(upper.wrapping_mul(10_000)) << 32;
    // Exact below 43,698 and below 179.
    let upper = quads.wrapping_mul(5_243) >> 19 & 0x0000_007f_0000_007f;
    let pairs = upper | quads.wrapping_sub(upper.wrapping_mul(100)) << 16;
    let upper = pairs.wrapping_mul(103) >> 10 & 0x000f_000f_000f_000f;
    upper | pairs.wrapping_sub(upper.wrapping_mul(10)) << 8
}

/// The four pairs of a number below `RADIX`^8.
#[inline(always)]
pub(super) const fn split<const RADIX: u64>(number: u64) -> [u64; 4] {
    let upper = number / const { RADIX.pow(4) };
    let lower = number.wrapping_sub(upper.wrapping_mul(const { RADIX.pow(4) }));
    let (a, c) = (
        upper / const { RADIX.pow(2) },
        lower / const { RADIX.pow(2) },
    );
    let square = const { RADIX.pow(2) };
    let b = upper.wrapping_sub(a.wrapping_mul(square));
    let d = lower.wrapping_sub(c.wrapping_mul(square));
    [a, b, c, d]
}

/// What two places of a radix up to 36 are.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    /// The two, the first in the lower byte.
    places: u16,
    /// The decimal digits of both codes, as a number.
    text: u16,
    /// 10 to the power of how many these are.
    factor: u16,
}

/// By the number of a pair; beyond the last are zeros.
pub(super) type Table = [Pair; 2_048];

pub(super) static EITHER: Table = table(36);
pub(super) static LETTERS: Table = table(26);

const fn table(radix: u16) -> Table {
    let none = Pair {
        places: 0,
        text: 0,
        factor: 0,
    };
    let mut table = [none; 2_048];
    let mut pair = 0;
    while pair < radix * radix {
        let (first, second) = (pair / radix, pair % radix);
        let first_factor = if first > 9 { 100 } else { 10 };
        let second_factor = if second > 9 { 100 } else { 10 };
        table[pair as usize] = Pair {
            places: first | second << 8,
            text: first * second_factor + second,
            factor: first_factor * second_factor,
        };
        pair += 1;
    }
    table
}

#[inline(always)]
fn entry(table: &Table, pair: u64) -> Pair {
    let place = usize::try_from(pair).unwrap_or_default() % table.len();
    table[place]
}

/// The places of four pairs.
#[inline(always)]
pub(super) fn places(table: &Table, pairs: [u64; 4]) -> u64 {
    let [a, b, c, d] = pairs.map(|pair| u64::from(entry(table, pair).places));
    a | b << 16 | c << 32 | d << 48
}

/// The decimal digits of the codes of four pairs of radix 36, as a number.
#[inline(always)]
pub(super) fn text(pairs: [u64; 4]) -> u64 {
    pairs.into_iter().fold(0, |text: u64, pair| {
        let pair = entry(&EITHER, pair);
        text.wrapping_mul(pair.factor.into())
            .wrapping_add(pair.text.into())
    })
}

/// The four pairs of a word of them.
#[inline(always)]
pub(super) const fn apart(pairs: u64) -> [u64; 4] {
    [
        pairs & 0xffff,
        pairs >> 16 & 0xffff,
        pairs >> 32 & 0xffff,
        pairs >> 48,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight codes below a radix, at random and at its ends.
    fn words(radix: u8) -> impl Iterator<Item = [u8; 8]> {
        let mut dice = keywright_mutate::SplitMix::new(radix.into());
        let random = (0..5_000).map(move |_| core::array::from_fn(|_| dice.byte() % radix));
        random.chain([[0; 8], [radix - 1; 8]])
    }

    fn plain(radix: u64, codes: [u8; 8]) -> u64 {
        codes.iter().fold(0, |n, code| n * radix + u64::from(*code))
    }

    #[test]
    fn words_and_numbers_are_each_others_inverse_in_every_radix() {
        for codes in words(10) {
            let word = u64::from_le_bytes(codes);
            assert_eq!(number::<10>(word), plain(10, codes));
            assert_eq!(decimal(plain(10, codes)), word);
            assert_eq!(letters(word), 0);
        }
        for codes in words(26) {
            let word = u64::from_le_bytes(codes);
            assert_eq!(number::<26>(word), plain(26, codes));
            assert_eq!(places(&LETTERS, split::<26>(plain(26, codes))), word);
        }
        for codes in words(36) {
            let word = u64::from_le_bytes(codes);
            assert_eq!(number::<36>(word), plain(36, codes));
            assert_eq!(places(&EITHER, split::<36>(plain(36, codes))), word);
            assert_eq!(number::<100>(word), plain(100, codes));
            let many = codes.iter().filter(|code| **code > 9).count() as u64;
            assert_eq!(letters(word), many);
        }
    }

    #[test]
    fn codes_are_the_decimal_digits_that_they_are_written_as() {
        for codes in words(36) {
            let expected: String = codes.iter().map(u8::to_string).collect();
            let found = apart(pairs::<36>(u64::from_le_bytes(codes)));
            assert_eq!(text(found), expected.parse::<u64>().unwrap());
        }
    }
}
