//! Numbers in their notations.

use super::{Reading, SpellingError};
use crate::Named;

/// A number in one of the notations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number<'a> {
    /// Digits only.
    Decimal(&'a str),
    /// Digits of base 16, after `0x`, before `h`, or with a letter among them and 8 or 16 of them.
    Hexadecimal(&'a str),
    /// Digits after a minus.
    Negative(&'a str),
}

impl<'a> Number<'a> {
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let decimal =
            |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        let hexadecimal =
            |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let prefixed = text.strip_prefix("0x").or(text.strip_prefix("0X"));
        // Else "each" would be a number.
        let has_digit = text.bytes().any(|b| b.is_ascii_digit());
        let suffixed = text.strip_suffix(['h', 'H']).filter(|_| has_digit);
        if decimal(text) {
            Some(Self::Decimal(text))
        } else if let Some(digits) = prefixed.filter(|digits| hexadecimal(digits)) {
            Some(Self::Hexadecimal(digits))
        } else if let Some(digits) = suffixed.filter(|digits| hexadecimal(digits)) {
            Some(Self::Hexadecimal(digits))
        } else if let Some(digits) = text.strip_prefix('-').filter(|digits| decimal(digits)) {
            Some(Self::Negative(digits))
        } else if has_digit && matches!(text.len(), 8 | 16) && hexadecimal(text) {
            Some(Self::Hexadecimal(text))
        } else {
            None
        }
    }

    pub(super) fn value(self) -> Result<u64, SpellingError> {
        match self {
            Self::Decimal(digits) => digits.parse().map_err(|_| SpellingError::TooLarge),
            Self::Hexadecimal(digits) => {
                u64::from_str_radix(digits, 16).map_err(|_| SpellingError::TooLarge)
            }
            // What a 32-bit number looks like when it is printed as a signed one.
            Self::Negative(digits) => {
                let size: u64 = digits.parse().map_err(|_| SpellingError::TooLarge)?;
                (1_u64 << 32)
                    .checked_sub(size)
                    .filter(|_| size <= 1 << 31)
                    .map(|number| number & 0xffff_ffff)
                    .ok_or(SpellingError::TooLarge)
            }
        }
    }

    pub(super) fn reading<T: Named>(self) -> Result<Reading<T>, SpellingError> {
        let value = T::from_number(self.value()?);
        let other = match self {
            Self::Decimal(digits) => u64::from_str_radix(digits, 16)
                .ok()
                .map(T::from_number)
                .filter(|other| *other != value && other.name().is_some()),
            Self::Hexadecimal(_) | Self::Negative(_) => None,
        };
        Ok(Reading { value, other })
    }
}
