//! Luhn's check over numbers that stand in two words, a digit a byte: no branch and no address depends on one.
//!
//! All eight digits of a word go through a step at once. As long as they are digits nothing is carried from one
//! byte into the next; where a byte is none, the verdict says so, and nothing else of the result is used.

/// The first digit in the lowest byte of the first word; zeros behind the last.
pub(super) type Words = [u64; 2];

/// A byte in all places.
pub(super) const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// A byte in the places of `N` digits.
pub(super) const fn of<const N: usize>(byte: u8) -> Words {
    [each(byte), each(byte) >> (8 * (16 - N))]
}

/// The bytes of a number of 9 to 16.
#[inline(always)]
pub(super) fn load<const N: usize>(bytes: &[u8; N]) -> Words {
    let (Some(front), Some(back)) = (bytes.first_chunk(), bytes.last_chunk()) else {
        return [0; 2];
    };
    let back = u64::from_le_bytes(*back) >> (8 * (16 - N));
    [u64::from_le_bytes(*front), back]
}

/// The inverse; what stands in the words behind `N` bytes is left out.
#[inline(always)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "the last eight bytes of a number"
)]
pub(super) fn store<const N: usize>([low, high]: Words, bytes: &mut [u8; N]) {
    let back = (u128::from(high) << 64 | u128::from(low)) >> (8 * (N - 8));
    if let Some(place) = bytes.first_chunk_mut() {
        *place = low.to_le_bytes();
    }
    if let Some(place) = bytes.last_chunk_mut() {
        *place = (back as u64).to_le_bytes();
    }
}

/// Luhn's sum mod 10 of `N` digits; `from_end` is the place of the last, counted from the end of the number.
#[inline(always)]
pub(super) const fn sum<const N: usize>([low, high]: Words, from_end: usize) -> u64 {
    // Digits at odd places from the end of the number count double.
    let twice = if (N - 1 + from_end).is_multiple_of(2) {
        0xff00_ff00_ff00_ff00
    } else {
        0x00ff_00ff_00ff_00ff
    };
    let sum = counted(low, twice).wrapping_add(counted(high, twice));
    // At most sixteen nines: the sum of all bytes fits the highest.
    (sum.wrapping_mul(each(1)) >> 56) % 10
}

/// What each digit adds.
#[inline(always)]
const fn counted(digits: u64, twice: u64) -> u64 {
    let again = digits & twice;
    // 5 and more have their highest bit set by this, and of their doubles the digits are added: 9 less.
    let above = (again.wrapping_add(each(0x80 - 5)) >> 7) & each(1);
    digits
        .wrapping_add(again)
        .wrapping_sub(above.wrapping_mul(9))
}

/// From `W` characters to `N` digits, one fewer; whether all are digits and the last is Luhn's, or `mark` more.
pub(super) fn read<const W: usize, const N: usize>(
    bytes: &[u8],
    mark: u8,
    digits: &mut [u8],
) -> bool {
    let (values, _) = bytes.as_chunks::<W>();
    let (numbers, _) = digits.as_chunks_mut::<N>();
    let zeros = const { of::<W>(b'0') };
    let (mut beyond, mut wrong) = (0, 0);
    for (value, number) in values.iter().zip(numbers) {
        let [low, high] = load(value);
        let own = [low ^ zeros[0], high ^ zeros[1]];
        for word in own {
            beyond |= word | word.wrapping_add(each(0x80 - 10));
        }
        wrong |= sum::<W>(own, 0) ^ u64::from(mark);
        store(own, number);
    }
    beyond & each(0x80) == 0 && wrong == 0
}

/// From `N` digits to `W` characters, one more.
pub(super) fn write<const W: usize, const N: usize>(digits: &[u8], mark: u8, out: &mut [u8]) {
    let (numbers, _) = digits.as_chunks::<N>();
    let (values, _) = out.as_chunks_mut::<W>();
    let zeros = const { of::<W>(b'0') };
    for (number, value) in numbers.iter().zip(values) {
        let mut own = load(number);
        let check = (10 - sum::<N>(own, 1) + u64::from(mark)) % 10;
        own[N / 8] |= check << (8 * (N % 8));
        store([own[0] | zeros[0], own[1] | zeros[1]], value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the whole number, with its check digit.
    fn plain(digits: &[u8]) -> u64 {
        let from_end = digits.iter().rev().enumerate();
        let sum: u64 = from_end
            .map(|(place, digit)| match (place % 2, u64::from(*digit)) {
                (0, digit) => digit,
                (_, digit) if digit > 4 => 2 * digit - 9,
                (_, digit) => 2 * digit,
            })
            .sum();
        sum % 10
    }

    fn of_width<const W: usize, const N: usize>() {
        let mut dice = keywright_mutate::SplitMix::new(W as u64);
        for _ in 0..500 {
            let number: [u8; N] = core::array::from_fn(|_| (dice.next_u64() % 10) as u8);
            for mark in [0, 1] {
                let mut text = [0; W];
                write::<W, N>(&number, mark, &mut text);
                let digits = text.map(|byte| byte - b'0');
                assert_eq!(digits[..N], number);
                assert_eq!(plain(&digits), u64::from(mark));
                let mut back = [0; N];
                assert!(read::<W, N>(&text, mark, &mut back));
                assert_eq!(back, number);
                assert!(!read::<W, N>(&text, 1 - mark, &mut back));
                for place in 0..W {
                    let mut other = text;
                    other[place] = b'0' + (other[place] - b'0' + 1) % 10;
                    assert!(!read::<W, N>(&other, mark, &mut back), "{place}");
                }
            }
        }
        // A byte that is no digit is seen at every place, whatever the sum.
        for byte in (0..=u8::MAX).filter(|byte| !byte.is_ascii_digit()) {
            for place in 0..W {
                let mut text = [b'0'; W];
                text[place] = byte;
                assert!(!read::<W, N>(&text, 0, &mut [0; N]), "{byte} at {place}");
                assert!(!read::<W, N>(&text, 1, &mut [0; N]), "{byte} at {place}");
            }
        }
    }

    #[test]
    fn check_digits_are_made_and_judged_at_every_width_and_no_other_byte_passes() {
        of_width::<10, 9>();
        of_width::<11, 10>();
        of_width::<12, 11>();
        of_width::<13, 12>();
        of_width::<14, 13>();
        of_width::<15, 14>();
        of_width::<16, 15>();
    }
}
