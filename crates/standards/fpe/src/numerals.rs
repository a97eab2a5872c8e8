//! The integers that digits may stand in, and the check that they lie below the radix.

use crate::batch::Records;
use crate::error::Error;
use crate::shape::Radix;

pub(crate) use sealed::Sealed;

/// An unsigned integer that holds one digit: `u8` (to radix 256), `u16` or `u32`.
pub trait Numeral: Sealed {}

pub(crate) mod sealed {
    use zeroize::Zeroize;

    use crate::batch::Records;

    /// What the engine needs of a numeral.
    #[expect(unnameable_types, reason = "that is what sealing is")]
    pub trait Sealed: Copy + Default + Send + Sync + Zeroize + 'static {
        /// The largest radix whose digits fit.
        const MOST: u32;
        /// The digit.
        fn digit(self) -> u32;
        /// A digit that is known to fit.
        fn of(digit: u32) -> Self;
        /// Whether a digit lies above `top`. Looks at all of them, always.
        fn any_above(digits: &[Self], top: u32) -> bool;
        /// The same as a kernel takes it.
        #[expect(private_interfaces, reason = "nobody outside can name this trait")]
        fn records(digits: &mut [Self]) -> Records<'_>;
        /// The same if it is bytes.
        fn bytes(digits: &[Self]) -> Option<&[u8]>;
        /// The same if it is bytes.
        fn bytes_mut(digits: &mut [Self]) -> Option<&mut [u8]>;
    }
}

macro_rules! numeral {
    ($own:ty, $wide:ty, $most:expr, $form:ident, $bytes:expr, $bytes_mut:expr) => {
        impl Numeral for $own {}

        impl sealed::Sealed for $own {
            const MOST: u32 = $most;

            #[inline(always)]
            fn digit(self) -> u32 {
                self.into()
            }

            #[inline(always)]
            #[allow(
                trivial_numeric_casts,
                clippy::cast_possible_truncation,
                reason = "digits lie below a radix that fits; one of the three types is u32 itself"
            )]
            fn of(digit: u32) -> Self {
                digit as Self
            }

            #[inline]
            #[allow(
                trivial_numeric_casts,
                clippy::cast_possible_truncation,
                reason = "bounded by the line itself; one of the three types is u32"
            )]
            fn any_above(digits: &[Self], top: u32) -> bool {
                let top = <$wide>::from(top.min($most - 1) as $own);
                // The subtraction borrows into the upper half exactly for a digit above the top.
                let borrowed = digits.iter().fold(0, |seen: $wide, digit| {
                    seen | top.wrapping_sub(<$wide>::from(*digit))
                });
                borrowed >> (<$wide>::BITS - 1) != 0
            }

            #[expect(private_interfaces, reason = "nobody outside can name this trait")]
            fn records(digits: &mut [Self]) -> Records<'_> {
                Records::$form(digits)
            }

            fn bytes(digits: &[Self]) -> Option<&[u8]> {
                $bytes(digits)
            }

            fn bytes_mut(digits: &mut [Self]) -> Option<&mut [u8]> {
                $bytes_mut(digits)
            }
        }
    };
}

numeral!(u8, u16, 256, Bytes, Some, Some);
numeral!(u16, u32, 65_536, Words, |_| None, |_| None);
numeral!(u32, u64, 65_536, Longs, |_| None, |_| None);

/// Whether all digits lie below the radix; the place of the first that does not is sought only afterwards.
#[inline]
pub(crate) fn check<T: Numeral>(radix: Radix, digits: &[T]) -> Result<(), Error> {
    let top = radix.value() - 1;
    if T::any_above(digits, top) {
        let position = digits.iter().position(|digit| digit.digit() > top);
        return Err(Error::Digit {
            position: position.unwrap_or_default(),
            radix: radix.value(),
        });
    }
    Ok(())
}

/// Whether every digit of the radix fits the integer.
#[inline]
pub(crate) fn check_width<T: Numeral>(radix: Radix) -> Result<(), Error> {
    if radix.value() > T::MOST {
        return Err(Error::NumeralWidth {
            radix: radix.value(),
            most: T::MOST,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digit_that_is_too_large_is_found_wherever_it_stands() {
        for radix in [2, 10, 255, 256, 65_535, 65_536] {
            let radix = Radix::new(radix).unwrap();
            for position in 0..40 {
                for bad in [radix.value(), radix.value() + 1, u32::MAX] {
                    let mut digits = [radix.value() - 1; 40];
                    assert!(check(radix, &digits).is_ok());
                    digits[position] = bad;
                    let found = Err(Error::Digit {
                        position,
                        radix: radix.value(),
                    });
                    assert_eq!(check(radix, &digits), found);
                }
            }
        }
        assert!(check(Radix::new(256).unwrap(), &[255_u8; 9]).is_ok());
        assert!(check(Radix::new(255).unwrap(), &[254_u8, 255]).is_err());
        assert!(check(Radix::MAX, &[u16::MAX; 9]).is_ok());
        assert!(check(Radix::new(65_535).unwrap(), &[1, u16::MAX]).is_err());
    }
}
