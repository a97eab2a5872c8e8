//! The shape of a value: radix and number of digits, and the sizes that the standard derives from them.
//!
//! All of it is integer arithmetic. A logarithm in floating point gives a wrong number of bytes for some
//! shapes (radix 256 with 29 digits in a half is one), and with it wrong ciphertext.

use core::fmt;

use crate::arithmetic::multiply_wide;
use crate::error::Error;
use crate::policy::{DomainFloor, Mode};

/// The most digits of a value under FF1.
pub(crate) const FF1_LONGEST: u32 = 1 << 20;

/// The number of different digits, 2 to 65,536.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Radix(u32);

impl Radix {
    /// Two digits.
    pub const BINARY: Self = Self(2);
    /// Ten digits.
    pub const DECIMAL: Self = Self(10);
    /// The largest radix, 65,536.
    pub const MAX: Self = Self(65_536);

    /// Takes a radix.
    ///
    /// # Errors
    /// [`Error::Radix`] outside 2..=65,536.
    pub const fn new(radix: u32) -> Result<Self, Error> {
        if radix < 2 || radix > 65_536 {
            return Err(Error::Radix { radix });
        }
        Ok(Self(radix))
    }

    /// The number.
    #[must_use]
    pub const fn value(self) -> u32 {
        self.0
    }

    /// The least number of digits that gives `floor` values or more; never below 2.
    #[must_use]
    pub const fn shortest(self, floor: DomainFloor) -> u32 {
        let (mut domain, mut digits) = (self.wide(), 1);
        while domain < floor.value() as u128 || digits < 2 {
            domain *= self.wide();
            digits += 1;
        }
        digits
    }

    /// The most digits that a mode takes: 2^20 for FF1 (2^96 values of a half without the heap), twice the
    /// largest `h` with radix^h <= 2^96 for the FF3 family.
    #[must_use]
    pub const fn longest(self, mode: Mode) -> u32 {
        let half = self.most_digits_of_96_bits();
        match mode {
            Mode::Ff1 if cfg!(feature = "std") => FF1_LONGEST,
            _ => 2 * half,
        }
    }

    const fn most_digits_of_96_bits(self) -> u32 {
        let (mut power, mut digits) = (1_u128, 0);
        while power * self.wide() <= 1 << 96 {
            power *= self.wide();
            digits += 1;
        }
        digits
    }

    const fn wide(self) -> u128 {
        self.0 as u128
    }
}

impl fmt::Display for Radix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A number of digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Length(u32);

impl Length {
    /// Takes a number of digits, which `mode` and `floor` must allow for this radix.
    ///
    /// # Errors
    /// [`Error::Domain`] if there are fewer values than the floor, [`Error::Length`] beyond the longest.
    pub fn new(mode: Mode, radix: Radix, digits: usize, floor: DomainFloor) -> Result<Self, Error> {
        let (shortest, longest) = (radix.shortest(floor), radix.longest(mode));
        match u32::try_from(digits) {
            Ok(length) if length < shortest => Err(Error::Domain {
                radix: radix.0,
                length: digits,
                domain: u64::from(radix.0).saturating_pow(length),
                floor: floor.value(),
                shortest,
            }),
            Ok(length) if length <= longest => Ok(Self(length)),
            _ => Err(Error::Length {
                mode,
                radix: radix.0,
                length: digits,
                longest,
            }),
        }
    }

    /// A length that no rule has judged: of values that a foreign library wrote.
    pub(crate) const fn unjudged(digits: u32) -> Self {
        Self(digits)
    }

    /// The number.
    #[must_use]
    pub const fn value(self) -> u32 {
        self.0
    }

    /// The number, to index with.
    #[must_use]
    pub const fn digits(self) -> usize {
        self.0 as usize
    }
}

/// Radix and length of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    radix: Radix,
    length: Length,
}

impl Shape {
    /// Both together.
    #[must_use]
    pub const fn new(radix: Radix, length: Length) -> Self {
        Self { radix, length }
    }

    /// The radix.
    #[must_use]
    pub const fn radix(self) -> Radix {
        self.radix
    }

    /// The length.
    #[must_use]
    pub const fn length(self) -> Length {
        self.length
    }

    /// u of FF1: digits of the shorter half, floor(n/2).
    #[must_use]
    pub const fn u(self) -> u32 {
        self.length.0 / 2
    }

    /// v of FF1: digits of the longer half, n - u.
    #[must_use]
    pub const fn v(self) -> u32 {
        self.length.0 - self.u()
    }

    /// b of FF1: the bytes that radix^v - 1 needs.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a value of so many bytes would not fit the memory either"
    )]
    pub const fn b(self) -> usize {
        bits_of_greatest(self.radix, self.v()).div_ceil(8) as usize
    }

    /// d of FF1: the bytes of y, 4 * ceil(b/4) + 4.
    #[must_use]
    pub const fn d(self) -> usize {
        4 * self.b().div_ceil(4) + 4
    }

    /// Number of values, if it fits 128 bits.
    #[must_use]
    pub const fn domain(self) -> Option<u128> {
        self.radix.wide().checked_pow(self.length.0)
    }
}

/// The bit length of radix^digits - 1.
pub(crate) const fn bits_of_greatest(radix: Radix, digits: u32) -> u64 {
    if radix.0.is_power_of_two() {
        return radix.0.trailing_zeros() as u64 * digits as u64;
    }
    // No other power of the radix is a power of two, so radix^digits has as many bits as the number below.
    if let Some(power) = radix.wide().checked_pow(digits) {
        return (128 - power.leading_zeros()) as u64;
    }
    Bounds::power(radix.wide(), digits).bits()
}

/// low * 2^exponent <= x <= high * 2^exponent, in 128-bit integers.
///
/// The two ends of a power agree in their bit length unless the power lies within one part in 2^90 of a
/// power of two. The continued fractions of log2(radix) of all radices show that no exponent up to 2^31
/// comes nearer than one part in 2^49, so the ends always agree.
#[derive(Clone, Copy)]
struct Bounds {
    low: u128,
    high: u128,
    exponent: u64,
}

impl Bounds {
    const fn power(radix: u128, digits: u32) -> Self {
        let base = Self::exactly(radix);
        let mut result = base;
        let mut bit = 31 - digits.leading_zeros();
        while bit > 0 {
            bit -= 1;
            result = result.times(result);
            if digits >> bit & 1 == 1 {
                result = result.times(base);
            }
        }
        result
    }

    const fn exactly(value: u128) -> Self {
        Self {
            low: value,
            high: value,
            exponent: 0,
        }
    }

    const fn times(self, other: Self) -> Self {
        let (low_top, low_rest) = multiply_wide(self.low, other.low);
        let (high_top, high_rest) = multiply_wide(self.high, other.high);
        let exponent = self.exponent + other.exponent;
        // As many bits as needed leave at the bottom for the upper end to fit 127 bits.
        let surplus = 129 - high_top.leading_zeros();
        if high_top == 0 && high_rest >> 127 == 0 {
            return Self {
                low: low_rest,
                high: high_rest,
                exponent,
            };
        }
        Self {
            low: shift(low_top, low_rest, surplus),
            high: shift(high_top, high_rest, surplus) + 1,
            exponent: exponent + surplus as u64,
        }
    }

    const fn bits(self) -> u64 {
        let (low, high) = (self.low.leading_zeros(), self.high.leading_zeros());
        debug_assert!(low == high, "the ends agree, see the type's own words");
        (128 - high) as u64 + self.exponent
    }
}

const fn shift(top: u128, rest: u128, by: u32) -> u128 {
    match by {
        0 => rest,
        128.. => top >> (by - 128),
        _ => top << (128 - by) | rest >> by,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn radix(value: u32) -> Radix {
        Radix::new(value).unwrap()
    }

    /// Bit length of the number that multiplying and subtracting one give, limb by limb.
    struct Counter(Vec<u64>);

    impl Counter {
        fn times(&mut self, factor: u32) {
            let mut carry = 0_u128;
            for limb in &mut self.0 {
                carry += u128::from(*limb) * u128::from(factor);
                *limb = u64::try_from(carry & u128::from(u64::MAX)).unwrap();
                carry >>= 64;
            }
            if carry > 0 {
                self.0.push(u64::try_from(carry).unwrap());
            }
        }

        fn bits_less_one(&self) -> u64 {
            let mut less = self.0.clone();
            for limb in &mut less {
                *limb = limb.wrapping_sub(1);
                if *limb != u64::MAX {
                    break;
                }
            }
            let top = less.iter().rposition(|limb| *limb > 0).unwrap();
            let whole = 64 * u64::try_from(top).unwrap();
            whole + 64 - u64::from(less[top].leading_zeros())
        }
    }

    #[test]
    fn b_is_exact_for_every_radix_up_to_64_digits() {
        for value in 2..=65_536 {
            let mut counter = Counter(std::vec![1]);
            for digits in 1..=64 {
                counter.times(value);
                assert_eq!(
                    bits_of_greatest(radix(value), digits),
                    counter.bits_less_one(),
                    "radix {value}, {digits} digits"
                );
            }
        }
    }

    #[test]
    fn b_is_exact_for_long_halves() {
        for value in [2, 3, 7, 10, 26, 36, 62, 255, 256, 999, 65_535, 65_536] {
            let mut counter = Counter(std::vec![1]);
            for digits in 1..=2_000 {
                counter.times(value);
                assert_eq!(
                    bits_of_greatest(radix(value), digits),
                    counter.bits_less_one(),
                    "radix {value}, {digits} digits"
                );
            }
        }
    }

    #[test]
    fn longest_and_shortest_are_those_of_the_published_table() {
        let rows = [
            (2, 7, 20, 192),
            (10, 2, 6, 56),
            (16, 2, 5, 48),
            (26, 2, 5, 40),
            (32, 2, 4, 38),
            (36, 2, 4, 36),
            (45, 2, 4, 34),
            (62, 2, 4, 32),
            (64, 2, 4, 32),
            (85, 2, 4, 28),
            (94, 2, 4, 28),
            (128, 2, 3, 26),
            (256, 2, 3, 24),
            (1_000, 2, 2, 18),
            (65_535, 2, 2, 12),
            (65_536, 2, 2, 12),
        ];
        for (value, hundred, million, longest) in rows {
            let radix = radix(value);
            assert_eq!(radix.shortest(DomainFloor::Hundred), hundred, "{value}");
            assert_eq!(radix.shortest(DomainFloor::Million), million, "{value}");
            assert_eq!(radix.longest(Mode::Ff3), longest, "{value}");
            assert_eq!(radix.longest(Mode::Ff31), longest, "{value}");
        }
    }

    #[test]
    fn y_has_8_12_or_16_bytes_up_to_the_published_lengths() {
        let rows = [
            (2, [64, 128, 192]),
            (10, [18, 38, 56]),
            (16, [16, 32, 48]),
            (26, [12, 26, 40]),
            (36, [12, 24, 36]),
            (62, [10, 20, 32]),
            (94, [8, 18, 28]),
            (256, [8, 16, 24]),
            (1_000, [6, 12, 18]),
            (65_536, [4, 8, 12]),
        ];
        for (value, ends) in rows {
            for (end, bytes) in ends.into_iter().zip([8, 12, 16]) {
                let at = |digits| Shape::new(radix(value), Length(digits));
                assert_eq!(at(end).d(), bytes, "radix {value}, {end} digits");
                assert_eq!(
                    at(end + 1).d(),
                    bytes + 4,
                    "radix {value}, {end} digits and one"
                );
            }
        }
    }

    #[test]
    fn the_error_below_the_floor_names_all_four_numbers() {
        let error = Length::new(Mode::Ff1, Radix::DECIMAL, 5, DomainFloor::Million);
        let error = error.unwrap_err();
        assert_eq!(error.code(), "domain_floor");
        let text = std::format!("{error}");
        for part in [
            "radix 10",
            "5 digits",
            "100000 values",
            "1000000",
            "6 digits",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }
}
