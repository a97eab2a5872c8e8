//! The names of schemes. They travel with every seed, node and key, because the same seed and path give a
//! different key under each, and "Ed25519 derivation" alone names at least five of them.

use std::fmt;
use std::str::FromStr;

/// How keys are made from a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Scheme {
    /// BIP-32 over secp256k1: an invalid child is an error, and its caller takes the next index.
    Bip32Secp256k1,
    /// SLIP-0010 over secp256k1: as BIP-32, but what is invalid is hashed again.
    Slip10Secp256k1,
    /// SLIP-0010 over P-256.
    Slip10NistP256,
    /// SLIP-0010 over Ed25519: hardened only; each key is an Ed25519 seed.
    Slip10Ed25519,
    /// SLIP-0010 over Curve25519: hardened only; each key is an X25519 key.
    Slip10Curve25519,
    /// BIP32-Ed25519 with the derivation of version 2: each key is a scalar and a nonce prefix.
    Bip32Ed25519V2,
    /// SLIP-0021: symmetric keys by labels.
    Slip21,
}

/// What a key of a scheme is a key of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Curve {
    /// Montgomery form: agreement.
    Curve25519,
    /// Edwards form: signatures.
    Ed25519,
    /// The prime field curve of NIST.
    P256,
    /// The curve of SEC 2.
    Secp256k1,
}

/// How a seed came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SeedScheme {
    /// Words and a salt as the library of Identus uses them: no prefix, no normalisation.
    Apollo,
    /// BIP-39.
    Bip39,
    /// None: the tree was given as a node.
    Node,
    /// Bytes as they are.
    Raw,
}

/// A name that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no scheme of this name")]
#[non_exhaustive]
pub struct UnknownScheme;

impl Scheme {
    /// Every scheme.
    pub const ALL: [Self; 7] = [
        Self::Bip32Secp256k1,
        Self::Slip10Secp256k1,
        Self::Slip10NistP256,
        Self::Slip10Ed25519,
        Self::Slip10Curve25519,
        Self::Bip32Ed25519V2,
        Self::Slip21,
    ];

    /// The name that stays the same for ever.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bip32Secp256k1 => "bip32-secp256k1",
            Self::Slip10Secp256k1 => "slip10-secp256k1",
            Self::Slip10NistP256 => "slip10-nist256p1",
            Self::Slip10Ed25519 => "slip10-ed25519",
            Self::Slip10Curve25519 => "slip10-curve25519",
            Self::Bip32Ed25519V2 => "bip32-ed25519-v2",
            Self::Slip21 => "slip21",
        }
    }

    /// The curve; none for symmetric keys.
    #[must_use]
    pub const fn curve(self) -> Option<Curve> {
        match self {
            Self::Bip32Secp256k1 | Self::Slip10Secp256k1 => Some(Curve::Secp256k1),
            Self::Slip10NistP256 => Some(Curve::P256),
            Self::Slip10Ed25519 | Self::Bip32Ed25519V2 => Some(Curve::Ed25519),
            Self::Slip10Curve25519 => Some(Curve::Curve25519),
            Self::Slip21 => None,
        }
    }

    /// Whether the scheme knows children that are not hardened.
    #[must_use]
    pub const fn has_soft_children(self) -> bool {
        matches!(
            self,
            Self::Bip32Secp256k1
                | Self::Slip10Secp256k1
                | Self::Slip10NistP256
                | Self::Bip32Ed25519V2
        )
    }
}

impl SeedScheme {
    /// Every way.
    pub const ALL: [Self; 4] = [Self::Apollo, Self::Bip39, Self::Node, Self::Raw];

    /// The name that stays the same for ever.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Apollo => "apollo",
            Self::Bip39 => "bip39",
            Self::Node => "node",
            Self::Raw => "raw",
        }
    }
}

macro_rules! by_name {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl FromStr for $name {
            type Err = UnknownScheme;

            fn from_str(text: &str) -> Result<Self, UnknownScheme> {
                let found = Self::ALL.into_iter().find(|one| one.name() == text);
                found.ok_or(UnknownScheme)
            }
        }
    };
}
by_name!(Scheme);
by_name!(SeedScheme);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_different_lead_back_and_nothing_else_is_one() {
        for (place, scheme) in Scheme::ALL.into_iter().enumerate() {
            assert_eq!(scheme.name().parse(), Ok(scheme));
            assert!(
                Scheme::ALL[..place]
                    .iter()
                    .all(|other| other.name() != scheme.name())
            );
        }
        for scheme in SeedScheme::ALL {
            assert_eq!(scheme.name().parse(), Ok(scheme));
        }
        for text in [
            "",
            "ed25519",
            "bip32",
            "BIP32-secp256k1",
            "slip10-ed25519 ",
            "slip10",
        ] {
            assert_eq!(text.parse::<Scheme>(), Err(UnknownScheme));
            assert_eq!(text.parse::<SeedScheme>(), Err(UnknownScheme));
        }
    }
}
