//! What the gates must find. Every function breaks one rule on a secret, in the plainest way.

/// A byte for each digit of radix 10, in an order of its own.
static TABLE: [u8; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "modulo 251")]
        let byte = (i * 167 % 251) as u8;
        table[i] = byte;
        i += 1;
    }
    table
};

/// Branches on each digit, with work behind the branch.
#[inline(never)]
#[must_use]
pub fn branches(digits: &[u8]) -> u64 {
    let mut sum = 0_u64;
    for digit in digits {
        if core::hint::black_box(*digit) >= 5 {
            for step in 0..8_u64 {
                sum = core::hint::black_box(sum ^ step);
            }
        }
    }
    sum
}

/// Looks each digit up in a table.
#[inline(never)]
#[must_use]
pub fn looks_up(digits: &[u8]) -> u8 {
    digits
        .iter()
        .fold(0, |sum, digit| sum ^ TABLE[usize::from(*digit ^ sum)])
}

/// Divides by a number that only the caller knows.
#[inline(never)]
#[must_use]
pub fn divides(dividend: u64, divisor: u64) -> u64 {
    dividend.checked_rem(divisor).unwrap_or_default()
}
