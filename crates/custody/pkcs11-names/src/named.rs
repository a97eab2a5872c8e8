//! The kinds of numbers that have names.
//!
//! Each is a number of its own type, so that an attribute cannot be taken for a mechanism. Any number can be held:
//! vendors have their own above `0x80000000`, and later versions of the standard add more.

use std::fmt;
use std::str::FromStr;

use crate::spelling::{self, Reading, SpellingError};
use crate::tables;

/// A kind of number with names: `CKR_`, `CKM_`, `CKA_` ... Implemented by this crate alone.
pub trait Named: Copy + Eq + fmt::Debug + fmt::Display + sealed::Sealed + 'static {
    /// What the names begin with, without the underscore: `CKR`.
    const PREFIX: &'static str;
    /// In words: `return code`.
    const KIND: &'static str;

    /// Of this number.
    fn from_number(number: u64) -> Self;

    /// The number, as it is in a `CK_ULONG`.
    fn number(self) -> u64;

    /// Every name with its number, ascending; of several names of one number the header's first comes first.
    fn names() -> &'static [(&'static str, u64)];

    /// The name in the header, if it has one.
    fn name(self) -> Option<&'static str> {
        let names = Self::names();
        let at = names.partition_point(|&(_, number)| number < self.number());
        names
            .get(at)
            .filter(|&&(_, number)| number == self.number())
            .map(|&(name, _)| name)
    }

    /// Further names that the header has for this number, deprecated ones mostly.
    fn aliases(self) -> impl Iterator<Item = &'static str> {
        let names = Self::names();
        let at = names.partition_point(|&(_, number)| number < self.number());
        names
            .iter()
            .skip(at)
            .take_while(move |&&(_, number)| number == self.number())
            .skip(1)
            .map(|&(name, _)| name)
    }

    /// Every number that has a name, once, ascending.
    #[must_use]
    fn all() -> impl Iterator<Item = Self> {
        let mut last = None;
        Self::names().iter().filter_map(move |&(_, number)| {
            let is_new = last != Some(number);
            last = Some(number);
            is_new.then(|| Self::from_number(number))
        })
    }

    /// For a number of a vendor: how far it is above `0x80000000`. Numbers that do not fit 32 bits are the
    /// vendor's as well.
    fn vendor_offset(self) -> Option<u64> {
        self.number().checked_sub(VENDOR)
    }

    /// What a text says: a name with or without prefix, in capitals, small or camel case, with underscores,
    /// hyphens or spaces; a number in decimal, hexadecimal (`0xA0`, `A0h`) or as a signed one of 32 bits; or a
    /// whole message that holds one of them. Case never matters.
    ///
    /// # Errors
    /// [`SpellingError`] if it says nothing, or too much; a name that is not known comes with the nearest ones.
    fn read(text: &str) -> Result<Reading<Self>, SpellingError> {
        spelling::read(text)
    }

    /// Up to three names that are spelt like this one, the nearest first.
    #[must_use]
    fn nearest(name: &str) -> Vec<&'static str> {
        spelling::nearest::<Self>(name)
    }
}

/// Where the numbers of vendors begin.
const VENDOR: u64 = 0x8000_0000;

mod sealed {
    /// Keeps [`Named`](super::Named) to this crate.
    #[expect(
        unnameable_types,
        reason = "what cannot be named cannot be implemented"
    )]
    pub trait Sealed {}
}

macro_rules! named {
    ($($(#[$doc:meta])* $kind:ident, $prefix:literal, $words:literal, $table:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
        pub struct $kind(u64);

        impl $kind {
            /// Of this number.
            #[must_use]
            pub const fn new(number: u64) -> Self {
                Self(number)
            }

            /// The number.
            #[must_use]
            pub const fn value(self) -> u64 {
                self.0
            }
        }

        impl sealed::Sealed for $kind {}

        impl Named for $kind {
            const PREFIX: &'static str = $prefix;
            const KIND: &'static str = $words;

            fn from_number(number: u64) -> Self {
                Self(number)
            }

            fn number(self) -> u64 {
                self.0
            }

            fn names() -> &'static [(&'static str, u64)] {
                &tables::$table::TABLE
            }
        }

        /// The name, or the number in hexadecimal with at least eight digits. Either can be read back.
        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.name() {
                    Some(name) => f.pad(name),
                    None => f.pad(&format!("0x{:08x}", self.0)),
                }
            }
        }

        impl fmt::LowerHex for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::LowerHex::fmt(&self.0, f)
            }
        }

        impl FromStr for $kind {
            type Err = SpellingError;

            /// [`Named::read`] without the other reading.
            fn from_str(text: &str) -> Result<Self, SpellingError> {
                Ok(Self::read(text)?.value())
            }
        }

        impl From<u64> for $kind {
            fn from(number: u64) -> Self {
                Self(number)
            }
        }

        impl From<$kind> for u64 {
            fn from(number: $kind) -> Self {
                number.0
            }
        }
    )*};
}

named! {
    /// The type of an attribute, `CKA_`.
    AttributeType, "CKA", "attribute", attributes;
    /// The type of a certificate, `CKC_`.
    CertificateType, "CKC", "certificate type", certificate_types;
    /// The type of a hardware feature, `CKH_`.
    HardwareFeature, "CKH", "hardware feature", hardware_features;
    /// A key derivation function of ECDH and X9.42, `CKD_`.
    KeyDerivation, "CKD", "key derivation function", key_derivations;
    /// The type of a key, `CKK_`.
    KeyType, "CKK", "key type", key_types;
    /// A mask generation function of OAEP and PSS, `CKG_MGF1_`.
    MaskGeneration, "CKG", "mask generation function", mask_generations;
    /// The type of a mechanism, `CKM_`.
    MechanismType, "CKM", "mechanism", mechanisms;
    /// The class of an object, `CKO_`.
    ObjectClass, "CKO", "object class", object_classes;
    /// A profile that a token says it fits, `CKP_`.
    Profile, "CKP", "profile", profiles;
    /// What a function answers, `CKR_`.
    ReturnCode, "CKR", "return code", return_codes;
    /// The state of a session, `CKS_`.
    SessionState, "CKS", "session state", session_states;
    /// Who logs in, `CKU_`.
    UserType, "CKU", "user type", user_types;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_the_first_name_of_the_header_and_the_others_as_aliases() {
        assert_eq!(KeyType::new(3).name(), Some("CKK_EC"));
        assert_eq!(KeyType::new(3).aliases().collect::<Vec<_>>(), ["CKK_ECDSA"]);
        assert_eq!(
            MechanismType::ECDSA_KEY_PAIR_GEN,
            MechanismType::EC_KEY_PAIR_GEN
        );
        assert_eq!(ReturnCode::OK.aliases().count(), 0);
    }

    #[test]
    fn numbers_without_a_name_keep_their_number() {
        for number in [0x4, 0x99, 0x8000_0001, 0xffff_ffff, u64::MAX] {
            let code = ReturnCode::new(number);
            assert_eq!(code.name(), None);
            assert_eq!(code.aliases().count(), 0);
            assert_eq!(code.value(), number);
        }
        assert_eq!(ReturnCode::new(0x99).vendor_offset(), None);
        assert_eq!(ReturnCode::new(0x8000_0011).vendor_offset(), Some(0x11));
        assert_eq!(ReturnCode::VENDOR_DEFINED.vendor_offset(), Some(0));
        assert_eq!(ReturnCode::new(0x99).to_string(), "0x00000099");
        assert_eq!(format!("{:>12}", ReturnCode::new(0x99)), "  0x00000099");
        assert_eq!(format!("{:#x}", ReturnCode::new(0x99)), "0x99");
    }

    #[test]
    fn each_number_with_a_name_is_listed_once() {
        assert_eq!(ReturnCode::all().count(), 105);
        let all: Vec<_> = KeyType::all().collect();
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(all.len(), KeyType::names().len() - 2);
    }
}
