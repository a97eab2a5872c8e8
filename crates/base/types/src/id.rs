//! Sixteen random bytes, one type for each thing they can name (design 7.2).

use std::fmt;
use std::str::FromStr;

use keywright_encoding::hex;

/// Text that is not 32 lower-case hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an id is 32 lower-case hexadecimal digits")]
#[non_exhaustive]
pub struct MalformedId;

macro_rules! id {
    ($(#[$doc:meta] $name:ident)*) => { $(
        #[$doc]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name([u8; 16]);

        impl $name {
            /// The id of nothing: all zero.
            pub const NONE: Self = Self([0; 16]);

            /// Takes 16 bytes as they are.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(bytes)
            }

            /// The 16 bytes.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; 16] {
                &self.0
            }

            /// Whether this is [`Self::NONE`].
            #[must_use]
            pub fn is_none(&self) -> bool {
                *self == Self::NONE
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&hex::encode(&self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }

        impl FromStr for $name {
            type Err = MalformedId;

            fn from_str(text: &str) -> Result<Self, MalformedId> {
                hex::decode_array(text).map(Self).map_err(|_| MalformedId)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )* };
}

id! {
    /// One order that waits for another principal's word (design 7.23).
    ApprovalId
    /// One start of one node's process.
    BootId
    /// A data key handed to a caller (design 7.9).
    DataKeyId
    /// A group of principals inside one tenant.
    GroupId
    /// One installation: all nodes that share a store.
    InstallationId
    /// A key and, because a context is exactly one key, a context.
    KeyId
    /// One node of an installation.
    NodeId
    /// Who acts: what a certificate is mapped to (design 7.25).
    PrincipalId
    /// One request.
    RequestId
    /// A tenant.
    TenantId
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_one_spelling() {
        let id = KeyId::from_bytes([0xAB; 16]);
        assert_eq!(id.to_string(), "ab".repeat(16));
        assert_eq!("ab".repeat(16).parse(), Ok(id));
        for text in [
            "",
            "ab",
            &"AB".repeat(16),
            &"ab".repeat(17),
            &format!("{{{}}}", "ab".repeat(16)),
        ] {
            assert_eq!(text.parse::<KeyId>(), Err(MalformedId), "{text}");
        }
    }

    #[test]
    fn only_all_zero_is_none() {
        assert!(KeyId::default().is_none());
        let mut bytes = [0; 16];
        bytes[15] = 1;
        assert!(!KeyId::from_bytes(bytes).is_none());
    }
}
