//! Vocabularies whose entries have a number for machines and a name for people.

/// A number or name that this version does not know. Readers refuse it (design 7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {vocabulary}")]
#[non_exhaustive]
pub struct UnknownNumber {
    /// Which vocabulary was asked.
    pub vocabulary: &'static str,
}

impl UnknownNumber {
    /// Nothing of this vocabulary.
    #[must_use]
    pub const fn of(vocabulary: &'static str) -> Self {
        Self { vocabulary }
    }
}

/// Declares an enum whose variants each have a number and a stable name (design 7.1).
///
/// A crate of a higher floor that owns a vocabulary declares it with the same words, so that there is
/// one way to write a registry's entry:
///
/// ```
/// keywright_types::numbered! {
///     /// What a light can show.
///     Light: u8, "light" {
///         /// Wait.
///         Red = 1, "red";
///         /// Go.
///         Green = 2, "green";
///     }
/// }
/// assert_eq!(Light::from_number(2), Ok(Light::Green));
/// assert!(Light::from_number(3).is_err());
/// ```
#[macro_export]
macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident: $repr:ty, $vocabulary:literal {
        $($(#[$variant_doc:meta])* $variant:ident = $number:literal, $text:literal;)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr($repr)]
        #[non_exhaustive]
        pub enum $name { $($(#[$variant_doc])* $variant = $number,)* }

        impl $name {
            /// Every entry, in the order of the registry.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];
            /// The registry's heading for this vocabulary.
            pub const VOCABULARY: &'static str = $vocabulary;

            /// The number, as it is written into bytes.
            #[must_use]
            pub const fn number(self) -> $repr {
                self as $repr
            }

            /// The stable name, as it is written into text.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// The entry with this number.
            ///
            /// # Errors
            /// `UnknownNumber` if this version does not know the number.
            pub const fn from_number(number: $repr) -> Result<Self, $crate::UnknownNumber> {
                match number {
                    $($number => Ok(Self::$variant),)*
                    _ => Err($crate::UnknownNumber::of($vocabulary)),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownNumber;

            fn from_str(text: &str) -> Result<Self, $crate::UnknownNumber> {
                match text {
                    $($text => Ok(Self::$variant),)*
                    _ => Err($crate::UnknownNumber::of($vocabulary)),
                }
            }
        }

        impl $crate::numbered::serde::Serialize for $name {
            fn serialize<S: $crate::numbered::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> $crate::numbered::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::numbered::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str> as $crate::numbered::serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err($crate::numbered::serde::de::Error::custom)
            }
        }
    };
}

// What the macro's expansion names, wherever it stands.
#[doc(hidden)]
pub use serde;
